"""Packed files as streams: .gz, .bz2, .zst, .Z, and the members of .tar and .zip.

What stands before a break is given first; memory stays flat whatever is packed.
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

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PEEK = 1 << 16  # bytes that tell what a stream is
PIECE = 1 << 18
DEEPEST = 4  # layers; a file can be made that unpacks to itself
LONGEST_NAME = 1 << 16  # bytes; tarfile reads a member's name whole

NOT_SEEKABLE = "a zip inside another archive; unpack it first"
NOT_A_FILE = "in an archive, but not a regular file"
TOO_DEEP = f"packed more than {DEEPEST} times over"

_TAR_MAGIC = slice(257, 262)
_ZIP_MAGICS = (b"PK\3\4", b"PK\5\6")
_BREAKS = (
    *(OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError),
    *(tarfile.TarError, zipfile.BadZipFile, zipfile.LargeZipFile, struct.error),
    *(RuntimeError, ValueError, LookupError, OverflowError),  # zipfile's and tarfile's, on rubbish
)

Pieces = Iterator[bytes]


class Broken(Exception):
    """A file can't be read further; its text says why."""


Opened = BufferedReader | Broken | str  # a stream, what breaks it, or why it is left out


def unpacked(raw: BufferedReader, name: str) -> Iterator[tuple[str, Opened]]:
    """Yield each file in a file, itself if it is no archive: its name, and its stream or why not.

    A stream is done with when the next is asked for; it raises Broken where it breaks.
    """
    lower = name.lower()
    forced = next((unpack for suffix, unpack in _SUFFIXES.items() if lower.endswith(suffix)), None)
    if forced:
        yield from _layers(_stream(forced(raw)), name, 1)
    else:
        yield from _layers(raw, name, 0)


def _layers(stream: BufferedReader, name: str, depth: int) -> Iterator[tuple[str, Opened]]:
    try:
        start = stream.peek(PEEK)
    except Broken as error:
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
    """Open what is in an archive, member by member."""
    try:
        for member, pieces in members:
            inside = f"{name}/{member}"
            if isinstance(pieces, str):
                yield inside, pieces
            else:
                yield from _layers(_stream(pieces), inside, depth + 1)
    except Broken as error:
        yield name, error
    except _BREAKS as error:
        yield name, _broken(error)


def _archive(
    start: bytes, name: str
) -> Callable[[BufferedReader], Iterator[tuple[str, Pieces | str]]] | None:
    """Tell an archive; a zip by its name too, since office files are zips as well."""
    if start[_TAR_MAGIC] == b"ustar":
        return _tar_members
    return _zip_members if start.startswith(_ZIP_MAGICS) and name.lower().endswith(".zip") else None


class _Header(tarfile.TarInfo):
    """A tar header that refuses names so long that they would fill the memory."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in (b"L", b"K", b"x", b"g", b"X") and self.size > LONGEST_NAME:
            raise tarfile.ReadError(f"a name of more than {LONGEST_NAME:,} bytes")
        return super()._proc_member(tar)  # type: ignore[misc, no-any-return]


def _tar_members(stream: BufferedReader) -> Iterator[tuple[str, Pieces | str]]:
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header) as tar:
        while member := tar.next():
            tar.members.clear()  # type: ignore[attr-defined]  # or it would keep them all
            if member.isreg():
                yield member.name, _tar_pieces(tar, member)
            elif not member.isdir():
                yield member.name, NOT_A_FILE


def _tar_pieces(tar: tarfile.TarFile, member: tarfile.TarInfo) -> Pieces:
    stream = tar.extractfile(member)
    while stream and (piece := stream.read(1 << 13)):  # a break loses the piece it is in
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
    """A stream of pieces; an error is raised only after all that came before it was read."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._piece = memoryview(b"")
        self._error: Broken | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer, unless the pieces end or break."""
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
        except Broken as error:
            self._error = error
        except _BREAKS as error:
            self._error = _broken(error)
        return self._error is None


def _broken(error: Exception) -> Broken:
    said = error.strerror if isinstance(error, OSError) and error.strerror else error
    return Broken(" ".join(str(said).split()) or type(error).__name__)


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Gunzipper:
    """zlib's unpacker with the manners of the others."""

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
    """Unpack one compressed stream after the other, as such files may be joined."""

    def pieces(packed: BufferedReader) -> Pieces:
        data = packed.read1(PIECE)
        while data:
            current = unpacker()
            while not current.eof:
                piece = current.decompress(data, PIECE)
                yield piece
                data = packed.read1(PIECE) if current.needs_input and not current.eof else b""
                if not (piece or data or current.eof) and current.needs_input:
                    raise EOFError("it is cut off")
            data = current.unused_data or packed.read1(PIECE)
            while data and not data.strip(b"\0"):  # tapes are filled up with zeros
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
