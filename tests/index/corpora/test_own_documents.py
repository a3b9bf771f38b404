"""An archive's own files: each is a document, or it is skipped with the reason."""

from __future__ import annotations

import zipfile
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest

from index.corpora import pdf as pdfs
from index.corpora import records
from index.corpora.files import ABOUT
from index.corpora.lines import NO_TEXTS, OTHER_COLUMNS
from index.corpora.pdf import DAMAGED, ENCRYPTED, SCANNED, TOO_HARD, PdfTexts
from index.corpora.reading import EMPTY, read_documents
from index.model import Account, Document

from .pdfs import pdf


def read(*paths: Path, **how: object) -> tuple[list[Document], Account]:
    account = Account()
    return list(read_documents(paths, None, account, **how)), account  # type: ignore[arg-type]


def write(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


PAGE = """<!doctype html><html><head><title>Die M&uuml;hle</title><style>p {}</style></head>
<body><nav><a href="/">Home</a></nav><p>An old mill.</p><script>let x</script></body></html>"""


def test_each_file_of_a_folder_is_a_document_named_by_its_path(tmp_path: Path) -> None:
    write(tmp_path / "minutes" / "1990.pdf", pdf("The council met.", "Second page.", title="May"))
    write(tmp_path / "mill.html", PAGE)
    write(tmp_path / "notes.md", "intro\n\n# The *old* bridge\n\nSee [the map](m.png) `now`.\n")
    write(tmp_path / "a_letter.txt", "\ufeffDear Ms Gärtner")
    write(tmp_path / "README.txt", "about the folder")
    found, account = read(tmp_path)
    assert found == [
        Document("a_letter.txt", "a letter", "Dear Ms Gärtner"),
        Document("mill.html", "Die Mühle", "An old mill."),
        Document("minutes/1990.pdf", "May", "The council met.\nSecond page."),
        Document("notes.md", "The old bridge", "intro\n\nThe old bridge\n\nSee the map now."),
    ]
    assert account.skipped == {ABOUT: 1}
    assert account.sources[str(tmp_path / "mill.html")].ids == ["mill.html"]  # type: ignore[union-attr]
    assert read(tmp_path / "minutes" / "1990.pdf")[0][0].id == "1990.pdf"


@pytest.mark.parametrize(
    ("name", "data", "document"),
    [
        ("w.html", '<meta charset="windows-1252"><h1>“a”</h1>'.encode("cp1252"), ("“a”", "“a”")),
        ("w.txt", "Über".encode("utf-16"), ("w", "Über")),
        ("apart.txt", "U\u0308ber", ("apart", "Über")),
        ("apart.html", "<h1>U&#776;ber</h1>", ("Über", "Über")),
        ("apart.csv", "title,text\nA,U\u0308ber", ("A", "Über")),
        ("m.pdf", pdf("10 m\xb2"), ("m", "10 m2")),
        ("c.md", "## C# ##\ntext", ("C#", "C# ##\ntext")),
        ("old.txt", "Über".encode("latin-1"), ("old", "Über")),
        ("odd.html", '<meta charset="nonsense"><p>é', ("odd", "é")),
        ("hex.html", '<meta charset="hex"><p>é', ("hex", "é")),
        ("puny.html", '<meta charset="punycode"><p>é', ("puny", "é")),
        ("latin.html", b'<meta charset="iso-8859-1"><p>it\x92s \x80 5', ("latin", "it’s € 5")),
        ("wide.html", '<meta charset="utf-16"><p>é', ("wide", "é")),
        ("marked.html", '\ufeff<meta charset="windows-1252"><p>é', ("marked", "é")),
        ("how.md", 'é: <meta charset="iso-8859-1">', ("how", 'é: <meta charset="iso-8859-1">')),
        ("under.md", "A mill\n======\ntext", ("A mill", "A mill\n======\ntext")),
        (
            "split.pdf",
            pdf("The histo-\nrian of\nthe town"),
            ("split", "The historian of\nthe town"),
        ),
        ("(x).pdf", pdf(r"a (b) \c", title="(t)"), ("(t)", r"a (b) \c")),
    ],
)
def test_texts_are_read_as_they_are_written(
    tmp_path: Path, name: str, data: bytes | str, document: tuple[str, str]
) -> None:
    ((found,), _) = read(write(tmp_path / name, data))
    assert (found.title, found.text) == document


def test_files_in_archives_are_named_by_both_paths(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "box.zip", "w") as box:
        box.writestr("deep/a.pdf", pdf("in a box"))
    assert [document.id for document in read(tmp_path)[0]] == ["box.zip/deep/a.pdf"]


def test_tables_name_their_columns(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", 'Id,Title,Text\nx,"Tea, hot","two\nlines"\ny,only two\n')
    write(tmp_path / "b.csv", "Titel;Inhalt\nMühle;alt\n")
    found, account = read(tmp_path)
    assert found == [Document("x", "Tea, hot", "two\nlines")]
    assert account.skipped == {OTHER_COLUMNS: 1, NO_TEXTS: 1}
    found, account = read(tmp_path / "b.csv", columns={"title": "Titel", "text": "Inhalt"})
    assert found == [Document("b.csv#2", "Mühle", "alt")]
    missing = read(tmp_path / "b.csv", columns={"text": "Text"})[1].skipped
    assert missing == {"no column is called Text": 1}


def test_a_table_with_returns_or_a_long_header_ends_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "LIMIT", 64)
    write(tmp_path / "mac.csv", "id,text\r1,tea\r2,mill\r")
    write(tmp_path / "in.csv", "id,text\r\n1,te\ra\r\n2,mill\r\n")
    write(tmp_path / "long.csv", "text" * 20)
    found, account = read(tmp_path)
    assert found == [Document("1", "", "te a"), Document("2", "", "mill")]
    assert account.skipped == {NO_TEXTS: 1, records.TOO_LONG: 1}


def locked() -> bytes:
    from pypdf import PdfReader, PdfWriter

    writer, made = PdfWriter(PdfReader(BytesIO(pdf("secret"))), full=False), BytesIO()
    writer.append_pages_from_reader(PdfReader(BytesIO(pdf("secret"))))
    writer.encrypt("password", algorithm="RC4-128")
    writer.write(made)
    return made.getvalue()


def test_a_pdf_without_readable_text_is_skipped_with_the_reason(tmp_path: Path) -> None:
    whole = pdf("text")
    write(tmp_path / "a-scan.pdf", pdf("", ""))
    write(tmp_path / "cut.pdf", whole[: len(whole) // 4])
    write(tmp_path / "empty.pdf", "")
    write(tmp_path / "locked.pdf", locked())
    write(tmp_path / "noise.pdf", b"%PDF-1.7\n" + bytes(range(256)) * 40)
    write(tmp_path / "well.pdf", whole)
    found, account = read(tmp_path)
    assert [document.id for document in found] == ["well.pdf"]
    assert account.skipped == {SCANNED: 1, DAMAGED: 3, ENCRYPTED: 1}


def test_a_hostile_pdf_ends_with_its_own_process() -> None:
    """One page takes pypdf longer than is allowed; the next file is read all the same."""
    hard = pdf("x").replace(b"(x)Tj", b"(x)Tj T* " * 1_000_000)
    with closing(PdfTexts(seconds=1, patience=1)) as reader:
        assert reader.read(BytesIO(hard)) == TOO_HARD
    with closing(PdfTexts()) as reader:
        assert reader.read(BytesIO(pdf("next"))) == ("", "next", False)


def test_a_long_pdf_is_cut(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pdfs, "MOST_PAGES", 2)
    path = write(tmp_path / "a.pdf", pdf("1", "2", "3"))
    assert pdfs._content(path, 9.0) == ("", "1\n2", True)
    assert pdfs._content(path, -1.0) == ("", "1", True)


def test_an_empty_file_is_no_document(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", " \n")
    assert read(tmp_path) == ([], read(tmp_path)[1])
    assert read(tmp_path)[1].skipped == {EMPTY: 1}
