"""PDF files to text, by pypdf in a process of its own, which hostile files can't harm. [I/O]"""

from __future__ import annotations

import json
import logging
import os
import re
import resource
import select
import subprocess
import sys
import time
import unicodedata
from contextlib import suppress
from io import BufferedIOBase
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, cast

from . import records

MOST_BYTES = 1 << 30
MOST_PAGES = 2000
MOST_CHARACTERS = 5_000_000
SECONDS = 30  # to read on; what was read by then is taken
PATIENCE = 30  # seconds more for one page; then the process is ended
MEMORY = 2 << 30  # bytes

DAMAGED = "a damaged PDF"
ENCRYPTED = "an encrypted PDF; save it without a password"
SCANNED = "a PDF without text, as a scan is; recognize its text first (OCR)"
TOO_HARD = f"a PDF that takes more than {SECONDS + PATIENCE} seconds or {MEMORY >> 30} GB"
TOO_LARGE = f"a PDF larger than {MOST_BYTES >> 30} GB"

_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[^\W\d_])")


class PdfTexts:
    """Reads one PDF after the other; the process begins with the first."""

    def __init__(self, seconds: float = SECONDS, patience: float = PATIENCE) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._seconds, self._patience = seconds, patience

    def read(self, stream: BufferedIOBase) -> tuple[str, str, bool] | str:
        """Return the title and text of the PDF in `stream`, and if it was cut; or why not."""
        with NamedTemporaryFile(prefix="veil", suffix=".pdf") as file:
            size = 0
            while piece := stream.read1(records.CHUNK):
                size += file.write(piece)
                if size > MOST_BYTES:
                    return TOO_LARGE
            file.flush()
            return self._answer(file.name)

    def _answer(self, name: str) -> tuple[str, str, bool] | str:
        if self._process is None:
            # The program's folders are not those of a fresh Python where they were added by hand.
            begin = f"import sys; sys.path[:] = {sys.path!r}; import {__name__} as m; m.work()"
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", begin],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # its buffers count as memory
                start_new_session=True,  # Ctrl+C is this process's to answer
            )
        sent, answers = (
            cast(IO[bytes], pipe) for pipe in (self._process.stdin, self._process.stdout)
        )
        line = b""
        with suppress(BrokenPipeError):
            sent.write(json.dumps([name, self._seconds]).encode() + b"\n")
            sent.flush()
            if select.select([answers], [], [], self._seconds + self._patience)[0]:
                line = answers.readline()
        if not line.endswith(b"\n"):  # it hangs, or its memory was full
            self.close()
            return TOO_HARD
        answer: list[Any] | str = json.loads(line)
        return answer if isinstance(answer, str) else (answer[0], answer[1], answer[2])

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def work() -> None:
    """Answer each line of standard input, a file's name and seconds, with what it holds."""
    logging.disable()
    with suppress(ValueError, OSError):  # some systems know no such limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for line in sys.stdin:
        name, seconds = json.loads(line)
        print(json.dumps(_content(Path(name), seconds)), flush=True)


def _content(path: Path, seconds: float) -> tuple[str, str, bool] | str:
    """Return title and text of the PDF at `path`, and if it was cut; or why it has none."""
    from pypdf import PdfReader

    until = time.monotonic() + seconds
    try:
        reader = PdfReader(path)
        # Many files forbid changes by an empty password, which opens them for readers.
        if reader.is_encrypted and not reader.decrypt(""):
            return ENCRYPTED
        title = str((reader.metadata and reader.metadata.title) or "")
        pages = len(reader.pages)
    except MemoryError:
        return TOO_HARD
    except Exception as fault:  # pypdf raises whatever garbage makes Python raise
        return ENCRYPTED if type(fault).__name__ == "DependencyError" else DAMAGED
    texts, length, number, faults = list[str](), 0, 0, 0
    for number in range(min(pages, MOST_PAGES)):
        try:
            texts.append(reader.pages[number].extract_text().strip())
        except MemoryError:
            return TOO_HARD
        except Exception:  # one damaged page must not hide the others
            faults += 1
            continue
        length += len(texts[-1])
        if length > MOST_CHARACTERS or time.monotonic() > until:
            break
    # Fonts have signs of their own for fi and ü, which nobody types.
    text = unicodedata.normalize("NFKC", "\n".join(texts)[:MOST_CHARACTERS])
    text = _HYPHEN.sub("", text).strip()
    if not text:
        return DAMAGED if faults or not pages else SCANNED
    return " ".join(title.split()), text, number + 1 < pages or length > MOST_CHARACTERS
