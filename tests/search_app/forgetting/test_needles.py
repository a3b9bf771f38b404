"""Which files hold a word: in pieces, packed, as JSON writes it, in their names."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import re
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from search_app.forgetting import needles
from search_app.forgetting.needles import Needles, files_with


def test_words_are_found_whole_and_wherever_they_are(tmp_path: Path) -> None:
    (tmp_path / "indexes").mkdir()
    (tmp_path / "a" / "b").mkdir(parents=True)
    holding = {
        "start": b"u7 x",
        "end": b"x u7",
        "a/b/deep": b"\0u7#1\0",
        ".hidden": b'{"user": "u7"}',
        "z.gz": gzip.compress(b"u7\tcoffee"),
        "z.bz2": bz2.compress(b"u7\tcoffee"),
        "z.xz": lzma.compress(b"u7\tcoffee"),
        "u7.txt": b"",
        "broken.gz": gzip.compress(b"nothing")[:-9],  # nobody knows what is in it
        "log.parquet": b"PAR1 as little",
        "from-excel.txt": "u7\tcoffee".encode("utf-16"),
    }
    others = {"longer": b"u77 au7 u7_ _u7", "indexes/x": b"u7", "empty": b"", "gone": b"u 7"}
    others["z2.xz"] = lzma.compress(b"u77")
    for name, content in {**holding, **others}.items():
        (tmp_path / name).write_bytes(content)
    np.savez_compressed(tmp_path / "packed.npz", users=np.frombuffer(b'["u7"]', dtype=np.uint8))
    with zipfile.ZipFile(tmp_path / "other.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", "u8 u8 u8")
    assert set(files_with(tmp_path, {"u7"})) == {*holding, "packed.npz"}


def test_ids_are_found_as_json_may_write_them(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text('q "ärger" q', encoding="utf-8")
    (tmp_path / "escaped").write_text('q \\"\\u00e4rger\\" q')
    assert files_with(tmp_path, {'"ärger"'}) == ("escaped", "plain")
    assert files_with(tmp_path, {"("}) == ()


def test_many_texts_are_found_as_one_by_one() -> None:
    """The naive twin: a regular expression for each text."""
    chance = random.Random(7)  # noqa: S311
    for _ in range(300):
        draw = partial(chance.choices, "ab7_#é(")
        texts = {"".join(draw(k=chance.randint(1, 4))) for _ in range(9)}
        block = " ".join("".join(draw(k=chance.randint(1, 9))) for _ in range(20)).encode()
        expected = set()
        for text in map(str.encode, texts):
            whole = rb"(?<![0-9A-Za-z_])(?=%b(?![0-9A-Za-z_]))" % re.escape(text)
            starts = (match.start() for match in re.finditer(whole, block))
            expected |= {(start, start + len(text)) for start in starts}
        assert set(Needles(texts).places(block)) == expected, (texts, block)


@pytest.mark.parametrize("at_once", [1, 2, 3, 5, 8, 64])
def test_pieces_part_no_word_and_make_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(needles, "_AT_ONCE", at_once)
    for before in range(120):
        (tmp_path / "f").write_bytes(b"." * before + b"person-7" + b"." * (120 - before))
        assert files_with(tmp_path, {"person-7"}) == ("f",)
        (tmp_path / "f").write_bytes(b"." * before + b"person-77" + b"." * (120 - before))
        assert files_with(tmp_path, {"person-7"}) == ()
        (tmp_path / "f").write_bytes(b"." * before + b"xperson-7" + b"." * (120 - before))
        assert files_with(tmp_path, {"person-7"}) == ()
