"""Unix compress: unpacked as its inventor's own program would."""

from __future__ import annotations

import contextlib
import io
import random
import shutil
import subprocess
import tracemalloc
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.corpora.lzw import BadCode, unpack_lzw


def compress(data: bytes, widest: int = 16, *, clear_at: int = 0) -> bytes:
    """Compress, naively; `clear_at` forgets the table after so many strings, 0 never."""
    return pack(runs(data, widest, clear_at), widest)


def pack(coded: Iterable[tuple[list[int], int, bool]], widest: int) -> bytes:
    """Pack runs in groups of 8 codes, all but the last filled up."""
    packed = bytearray((0x1F, 0x9D, 0x80 | widest))
    for codes, width, last in coded:
        for group in (codes[at : at + 8] for at in range(0, len(codes), 8)):
            bits = sum(code << width * place for place, code in enumerate(group))
            size = -(-len(group) * width // 8) if last else width
            packed += bits.to_bytes(size, "little")
    return bytes(packed)


def runs(data: bytes, widest: int, clear_at: int) -> Iterator[tuple[list[int], int, bool]]:
    """Yield the codes of one width, the width, and whether they are the last."""
    table, width, run, at = fresh_table(), 9, list[int](), 0
    while at < len(data):
        end = at + 1
        while end < len(data) and data[at : end + 1] in table:
            end += 1
        run.append(table[data[at:end]])
        known = len(table)  # to the reader, who learns a string one code later
        if known < 1 << widest:
            table[data[at : end + 1]] = known
        at = end
        if known == 1 << width and width < widest:
            yield run, width, False
            width, run = width + 1, []
        if clear_at and known >= 257 + clear_at:
            yield [*run, 256], width, False
            table, width, run = fresh_table(), 9, []
    yield run, width, True


def one_letter(strings: int) -> Iterator[tuple[list[int], int, bool]]:
    """Yield codes of which each stands for one letter more than the one before."""
    width, run = 9, [97]
    for code in range(257, 256 + strings):
        run.append(code)
        if code + 1 == 1 << width:
            yield run, width, False
            width, run = width + 1, []
    yield run, width, True


def fresh_table() -> dict[bytes, int]:
    return {bytes((code,)): code for code in range(256)} | {b"": 256}


def unpack(packed: bytes) -> bytes:
    return b"".join(unpack_lzw(io.BytesIO(packed)))


def test_a_file_written_out_by_hand() -> None:
    # "aaa": 97, then 257, which is learnt from it only now: 9 bits each, lowest first.
    assert unpack(b"\x1f\x9d\x90" + (97 | 257 << 9).to_bytes(3, "little")) == b"aaa"
    assert unpack(b"\x1f\x9d\x10" + (97 | 256 << 9).to_bytes(3, "little")) == b"aaa"
    assert unpack(b"\x1f\x9d\x90") == b""


SAMPLES = [
    b"",
    b"a",
    b"otter " * 3000,
    b"a" * 100_000,
    random.Random(1).randbytes(40_000),  # noqa: S311
    bytes(byte & 1 for byte in random.Random(2).randbytes(40_000)),  # noqa: S311
]


@pytest.mark.parametrize("widest", [9, 10, 12, 16])
@pytest.mark.parametrize("clear_at", [0, 30, 1000])
def test_what_was_compressed_comes_back(widest: int, clear_at: int) -> None:
    for data in SAMPLES:
        assert unpack(compress(data, widest, clear_at=clear_at)) == data


@pytest.mark.skipif(not shutil.which("gzip"), reason="gzip, which unpacks .Z too, is not here")
def test_gzip_unpacks_the_same() -> None:
    for data in SAMPLES[1:]:
        packed = compress(data, clear_at=700)
        done = subprocess.run(["gzip", "-dc"], input=packed, capture_output=True, check=True)
        assert done.stdout == unpack(packed) == data


@given(st.binary(max_size=2000), st.integers(9, 16), st.integers(0, 40))
def test_any_bytes_come_back(data: bytes, widest: int, clear_at: int) -> None:
    assert unpack(compress(data, widest, clear_at=clear_at)) == data


@given(st.binary(max_size=400), st.integers(0, 255))
def test_rubbish_is_unpacked_or_refused(data: bytes, flags: int) -> None:
    with contextlib.suppress(BadCode, EOFError):
        unpack(bytes((0x1F, 0x9D, flags)) + data)


@pytest.mark.parametrize("data", [b"", b"\x1f\x9d", b"\x1f\x9d\x88", b"\x1f\x9d\x91\xff\xff"])
def test_what_compress_never_writes_is_refused(data: bytes) -> None:
    with pytest.raises((BadCode, EOFError)):
        unpack(data)


def test_a_bomb_is_unpacked_in_flat_memory() -> None:
    packed = pack(one_letter(9000), 16)
    tracemalloc.start()
    try:
        size = sum(len(piece) for piece in unpack_lzw(io.BytesIO(packed)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == 9000 * 9001 // 2  # 40 MB, as would be all its strings
    assert peak < 4_000_000
