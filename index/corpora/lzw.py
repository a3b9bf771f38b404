"""Files of Unix compress (.Z), as on the TREC disks, unpacked in flat memory."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedIOBase

CLEAR = 256
NARROWEST, WIDEST = 9, 16  # bits of a code
STRINGS = 8192  # in a piece
# Longer strings refer to another code: a table of complete ones could fill 2 GB.
LONGEST_TAIL = 256


class BadCode(ValueError):
    """The file was not written by compress."""


def unpack_lzw(packed: BufferedIOBase) -> Iterator[bytes]:
    """Yield the unpacked pieces of the compressed file `packed`."""
    header = packed.read(3)
    if len(header) < 3:
        raise EOFError("it ends in its header")
    if not NARROWEST <= header[2] & 0x1F <= WIDEST:
        raise BadCode(f"codes of {header[2] & 0x1F} bits; {NARROWEST} to {WIDEST} are known")
    table = _Table(header[2] & 0x1F, clears=bool(header[2] & 0x80))
    strings: list[bytes] = []
    # Codes come in groups of 8, all of one width: 8 codes of n bits are n bytes.
    while group := packed.read(table.width):
        table.expand(group, strings)
        if len(strings) >= STRINGS or table.long:
            yield b"".join(strings)
            strings.clear()
            table.long = False
    yield b"".join(strings)


class _Table:
    """The strings that codes stand for: the string of another code, if any, and a tail."""

    def __init__(self, widest: int, clears: bool) -> None:
        self.widest = widest
        self.clear_code = CLEAR if clears else -1
        self.long = False  # whether a string longer than its tail was returned
        self._forget()

    def _forget(self) -> None:
        first = CLEAR + (self.clear_code >= 0)
        self.tails = [bytes((code,)) for code in range(256)] + [b""] * (first - 256)
        self.heads = [-1] * first
        self.width = NARROWEST
        self.before = -1  # the code that came before

    def expand(self, group: bytes, strings: list[bytes]) -> None:
        """Add the strings of the codes in `group` to `strings`; each code adds one to the table."""
        # The hot loop: local names are faster than attributes.
        tails, heads, before, width = self.tails, self.heads, self.before, self.width
        room = 1 << self.widest
        limit = 1 << width if width < self.widest else room + 1
        bits, mask = int.from_bytes(group, "little"), (1 << width) - 1
        for _ in range(len(group) * 8 // width):
            code = bits & mask
            bits >>= width
            if code == self.clear_code:
                self._forget()
                return
            size = len(tails)
            known = code if code < size else before
            if known < 0 or code > size or code >= room:
                raise BadCode(f"code {code} stands for nothing yet")
            string = tails[known] if heads[known] < 0 else self._whole(known)
            if before >= 0 and size < room:
                tail = tails[before]
                hangs = len(tail) >= LONGEST_TAIL
                tails.append(string[:1] if hangs else tail + string[:1])
                heads.append(before if hangs else heads[before])
            strings.append(string if code < size else string + string[:1])
            before = code
            if len(tails) == limit:
                self.width += 1
                break
        self.before = before

    def _whole(self, code: int) -> bytes:
        self.long = True
        parts = []
        while code >= 0:
            parts.append(self.tails[code])
            code = self.heads[code]
        return b"".join(reversed(parts))
