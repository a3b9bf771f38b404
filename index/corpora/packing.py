"""Packed files as streams: .gz, .bz2, .zst, .Z, and the members of .tar and .zip.

What comes before a break is read first. Memory stays flat, whatever is packed.
"""

from __future__ import annotations

import bz2
import lzma
import struct
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import BufferedReader, RawIOBase
from typing import Protocol, cast

from .lzw import unpack_lzw

# The standard library has it since Python 3.14.
if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PEEK = 1 << 16  # bytes that show what a stream is
PIECE = 1 << 18
DEEPEST = 4  # layers; there are files that unpack to themselves
LONGEST_NAME = 1 << 16  # bytes; tarfile reads the whole name of a member

NOT_SEEKABLE = "a zip inside another archive; unpack it first"
NOT_A_FILE = "in an archive, but not a regular file"
TOO_DEEP = f"packed more than {DEEPEST} times over"

_TAR_MAGIC = slice(257, 262)
_ZIP_MAGICS = (b"PK\3\4", b"PK\5\6")
_BREAKS = (
    *(OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError),
    *(tarfile.TarError, zipfile.BadZipFile, zipfile.LargeZipFile, struct.error),
    *(RuntimeError, ValueError, LookupError, OverflowError),  # of zipfile and tarfile for garbage
)

Pieces = Iterator[bytes]


class BrokenFile(Exception):
    """A file can't be read further; its text says why."""


Opened = BufferedReader | BrokenFile | str  # a stream, what breaks it, or why it is skipped


def unpacked(raw: BufferedReader, name: str) -> Iterator[tuple[str, Opened]]:
    """Yield the name of each file in `raw` and its stream, until the next, or why it has none."""
    lower = name.lower()
    forced = next((unpack for suffix, unpack in _SUFFIXES.items() if lower.endswith(suffix)), None)
    if forced:
        yield from _layers(_stream(forced(raw)), name, 1)
    else:
        yield from _layers(raw, name, 0)


def _layers(stream: BufferedReader, name: str, depth: int) -> Iterator[tuple[str, Opened]]:
    try:
        start = stream.peek(PEEK)
    except BrokenFile as error:
        yield name, error
        return
    unpack = next((how for magic, how in _MAGICS.items() if start.startswith(magic)), None)
    members = None if unpack else _archive(start, name)
    if depth == DEEPEST and (unpack or members):
        yield name, TOO_DEEP
    elif unpack:
        yield from _layers(_stream(unpack(stream)), name, depth + 1)
    elif members:
        yield from _inside(members(stream), name, depth)
    else:
        yield name, stream


def _inside(
    members: Iterator[tuple[str, Pieces | str]], name: str, depth: int
) -> Iterator[tuple[str, Opened]]:
    """Yield the files in an archive, member by member."""
    try:
        for member, pieces in members:
            inside = f"{name}/{member}"
            if isinstance(pieces, str):
                yield inside, pieces
            else:
                yield from _layers(_stream(pieces), inside, depth + 1)
    except BrokenFile as error:
        yield name, error
    except _BREAKS as error:
        yield name, _broken(error)


def _archive(
    start: bytes, name: str
) -> Callable[[BufferedReader], Iterator[tuple[str, Pieces | str]]] | None:
    """Return what reads the members of an archive that begins with `start`; None if it is none."""
    # A zip must also have the suffix, because office files are zips as well.
    if start[_TAR_MAGIC] == b"ustar":
        return _tar_members
    return _zip_members if start.startswith(_ZIP_MAGICS) and name.lower().endswith(".zip") else None


class _Header(tarfile.TarInfo):
    """A tar header that refuses names that would fill the memory."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in (b"L", b"K", b"x", b"g", b"X") and self.size > LONGEST_NAME:
            raise tarfile.ReadError(f"a name of more than {LONGEST_NAME:,} bytes")
        return super()._proc_member(tar)  # type: ignore[misc, no-any-return]


def _tar_members(stream: BufferedReader) -> Iterator[tuple[str, Pieces | str]]:
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header) as tar:
        while member := tar.next():
            # tarfile would keep all members in memory.
            tar.members.clear()  # type: ignore[attr-defined]
            if member.isreg():
                yield member.name, _tar_pieces(tar, member)
            elif not member.isdir():
                yield member.name, NOT_A_FILE


def _tar_pieces(tar: tarfile.TarFile, member: tarfile.TarInfo) -> Pieces:
    stream = tar.extractfile(member)
    # Small pieces, because a break loses the piece it is in.
    while stream and (piece := stream.read(1 << 13)):
        yield piece


def _zip_members(stream: BufferedReader) -> Iterator[tuple[str, Pieces | str]]:
    if not stream.seekable():
        yield "", NOT_SEEKABLE
        return
    with zipfile.ZipFile(stream) as archive:
        for member in sorted(archive.infolist(), key=lambda member: member.header_offset):
            if not member.is_dir():
                yield member.filename, _zip_pieces(archive, member)


def _zip_pieces(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Pieces:
    with cast(zipfile.ZipExtFile, archive.open(member)) as stream:
        while piece := stream.read1(PIECE):
            yield piece


def _stream(pieces: Pieces) -> BufferedReader:
    return BufferedReader(_Flow(pieces), PEEK)


class _Flow(RawIOBase):
    """A stream of pieces; an error is raised only after all bytes before it were read."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._piece = memoryview(b"")
        self._error: BrokenFile | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill `buffer`, unless the pieces end or break; return the number of bytes."""
        filled = 0
        while filled < len(buffer) and (self._piece or self._next()):
            size = min(len(buffer) - filled, len(self._piece))
            buffer[filled : filled + size] = self._piece[:size]
            self._piece = self._piece[size:]
            filled += size
        if self._error and not filled:
            raise self._error
        return filled

    def _next(self) -> bool:
        """Take the next piece that is not empty, if there is one."""
        try:
            while not self._piece and not self._error:
                self._piece = memoryview(next(self._pieces))
        except StopIteration:
            return False
        except BrokenFile as error:
            self._error = error
        except _BREAKS as error:
            self._error = _broken(error)
        return self._error is None


def _broken(error: Exception) -> BrokenFile:
    why = error.strerror if isinstance(error, OSError) and error.strerror else error
    return BrokenFile(" ".join(str(why).split()) or type(error).__name__)


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Gunzipper:
    """zlib's unpacker with the interface of the others."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


def _unpack(unpacker: Callable[[], _Unpacker]) -> Callable[[BufferedReader], Pieces]:
    """Return a function that unpacks all streams of a file, one after the other."""
    # Such files may be joined.

    def pieces(packed: BufferedReader) -> Pieces:
        data = packed.read1(PIECE)
        while data:
            current = unpacker()
            while not current.eof:
                piece = current.decompress(data, PIECE)
                yield piece
                data = packed.read1(PIECE) if current.needs_input and not current.eof else b""
                # The file ended, but its stream did not.
                if not (piece or data or current.eof) and current.needs_input:
                    raise EOFError("it is cut off")
            data = current.unused_data or packed.read1(PIECE)
            # Tapes are filled up with zeros.
            while data and not data.strip(b"\0"):
                data = packed.read1(PIECE)

    return pieces


_gunzip, _unbzip, _unzstd = (
    _unpack(unpacker) for unpacker in (_Gunzipper, bz2.BZ2Decompressor, zstd.ZstdDecompressor)
)
_MAGICS: dict[bytes, Callable[[BufferedReader], Pieces]] = {
    b"\x1f\x8b": _gunzip,
    b"BZh": _unbzip,
    b"\x28\xb5\x2f\xfd": _unzstd,
    b"\x1f\x9d": unpack_lzw,
}
_SUFFIXES = {".gz": _gunzip, ".tgz": _gunzip, ".bz2": _unbzip, ".zst": _unzstd}
PACKED = frozenset((*_SUFFIXES, ".z", ".0z", ".1z", ".2z", ".tar", ".zip"))
