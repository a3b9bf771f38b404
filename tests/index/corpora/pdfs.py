"""PDF files by hand: each page has lines of Latin-1 text."""

from __future__ import annotations


def pdf(*pages: str, title: str = "") -> bytes:
    """Return a PDF file with these `pages` and this `title`; a page may have several lines."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ]
    for number, page in enumerate(pages):
        shown = "".join(f"({_escaped(line)})Tj T*" for line in page.splitlines())
        stream = f"BT /F1 11 Tf 13 TL 50 780 Td {shown} ET" if shown else ""
        objects += [
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]"
            f"/Resources<</Font<</F1 3 0 R>>>>/Contents {5 + 2 * number} 0 R>>",
            f"<</Length {len(stream)}>>stream\n{stream}\nendstream",
        ]
    objects.append(f"<</Title({_escaped(title)})>>")
    made, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(made))
        made += f"{number} 0 obj{content}endobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer"
    end += f"<</Size {len(objects) + 1}/Root 1 0 R/Info {len(objects)} 0 R>>"
    return made + f"{end}\nstartxref\n{len(made)}\n%%EOF\n".encode("latin-1")


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
