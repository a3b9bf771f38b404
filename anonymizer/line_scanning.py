"""Lines of JSON in exactly the form that is written, taken apart by compiled code.

A line of any other form is not judged here: it is marked, and the strict reader has the word.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled
from .model import Ints

ROOM = 1 << 12  # entries a table holds at first
LONGEST_NUMBER = 30  # bytes; a longer one has digits that don't count, or is none
LEAST_CELL = 6  # bytes; `"a": 1` and what follows it are more
TEXT, WHOLE, TERMS = 0, 1, 2  # the kinds of a record's values
NUMBER, LAST_LINE = 2, 3  # columns of a table's slots, after the keys
LONG = 1  # ends the second key of a string that doesn't fit in two; no text has this byte

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int32]


class Shape(NamedTuple):
    """A record's form: a literal before each of its values, and one at the end."""

    letters: Bytes
    at: Ints
    kinds: Ints


class Table(NamedTuple):
    """Byte strings by number: open addressing, with the strings end to end beside it."""

    slots: Ints  # slot -> a string's two keys, its number, the last line that has it
    ends: Ints  # string -> where it ends
    letters: Bytes
    size: Ints  # the one number: how many there are


class Scanned(NamedTuple):
    """What the lines of a block say; only that of fine lines counts."""

    fine: NDArray[np.bool_]
    spans: NDArray[np.int64]  # line, field -> start and end of a text, or a whole number
    cells: Ints  # line i has the cells cells[i]:cells[i + 1]
    terms: Numbers
    weights: Numbers


def shape_of(example: Mapping[str, object]) -> Shape:
    """Return the form of records that are like an example."""
    kinds = [{str: TEXT, int: WHOLE, dict: TERMS}[type(value)] for value in example.values()]
    opening, closing = ('"', "", "{"), ('"', "", "}")
    parts, before = [], "{"
    for name, kind in zip(example, kinds, strict=True):
        parts.append(f'{before}"{name}": {opening[kind]}'.encode())
        before = f"{closing[kind]}, "
    parts.append(f"{closing[kinds[-1]]}}}\n".encode())
    at = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return Shape(np.frombuffer(b"".join(parts), dtype=np.uint8), at, np.array(kinds))


def empty_table() -> Table:
    """Return a table without strings."""
    return _table(ROOM, 16 * ROOM)


def with_room(table: Table, entries: int, letters: int) -> Table:
    """Return a table with the same strings and room for more."""
    size = int(table.size[0])
    used = int(table.ends[size])
    if size + entries < table.ends.size and used + letters <= table.letters.size:
        return table
    new = _table(2 * size + entries, 2 * used + letters)
    new.ends[: size + 1] = table.ends[: size + 1]
    new.letters[:used] = table.letters[:used]
    new.size[0] = size
    _fill(new.slots, table.slots)
    return new


def forgotten(table: Table) -> None:
    """Empty a table and keep its room."""
    table.slots.fill(-1)
    table.size[0] = 0


def texts_of(table: Table, first: int) -> list[str]:
    """Return a table's strings from a number on; they are known to be UTF-8."""
    at = table.ends[first : table.size[0] + 1]
    return cut(table.letters[at[0] : at[-1]].tobytes(), (at - at[0]).tolist())


def cut(letters: bytes, marks: list[int]) -> list[str]:
    """Cut UTF-8 at the marks."""
    if letters.isascii():
        text = letters.decode()
        return [text[low:high] for low, high in pairwise(marks)]
    return [letters[low:high].decode() for low, high in pairwise(marks)]


def scan(
    block: bytes, shape: Shape, first_line: int, terms: Table, weights: Table
) -> tuple[Scanned, Ints]:
    """Take a block of whole lines apart; return also where each line starts."""
    letters = np.frombuffer(block, dtype=np.uint8)
    starts = line_starts(letters)
    lines, most = starts.size - 1, letters.size // LEAST_CELL + 1
    scanned = Scanned(
        np.zeros(lines, dtype=np.bool_),
        np.zeros((lines, 2 * shape.kinds.size), dtype=np.int64),
        np.zeros(lines + 1, dtype=np.int64),
        np.empty(most, dtype=np.int32),
        np.empty(most, dtype=np.int32),
    )
    _scan(letters, starts, first_line, shape, terms, weights, scanned)
    return scanned, starts


def line_starts(letters: Bytes) -> Ints:
    """Return where each line starts, and the end."""
    ends = np.flatnonzero(letters == ord("\n")) + 1
    if letters[-1] != ord("\n"):
        ends = np.append(ends, letters.size)
    starts: Ints = np.concatenate([[0], ends])
    return starts


def _table(entries: int, letters: int) -> Table:
    slots = 1 << int(entries).bit_length()  # hardly ever more than a quarter full
    return Table(
        np.full((slots, 4), -1, dtype=np.int64),
        np.zeros(entries + 1, dtype=np.int64),
        np.empty(letters, dtype=np.uint8),
        np.zeros(1, dtype=np.int64),
    )


@compiled
def _home(low: Any, high: Any) -> Any:
    """Mix a string's two keys."""
    key = (low ^ (high * 0x2545F4914F6CDD1D)) * 0x1E3779B97F4A7C15
    return key ^ (key >> 32)


@compiled
def _fill(slots: Any, old: Any) -> None:
    mask = len(slots) - 1
    for i in range(len(old)):
        if old[i, NUMBER] >= 0:
            slot = _home(old[i, 0], old[i, 1]) & mask
            while slots[slot, NUMBER] >= 0:
                slot = (slot + 1) & mask
            slots[slot] = old[i]


@compiled
def _slot_of(
    block: Any, start: int, end: int, slots: Any, ends: Any, letters: Any, size: Any
) -> Any:
    """Return the slot of a string, which becomes known with it."""
    mask = len(slots) - 1
    low, high = _keys(block, start, end)
    slot = _home(low, high) & mask
    while slots[slot, NUMBER] >= 0:
        if slots[slot, 0] == low and slots[slot, 1] == high:
            first = ends[slots[slot, NUMBER]]
            size_of = ends[slots[slot, NUMBER] + 1] - first
            if high & 255 != LONG or (
                size_of == end - start and _same(block, start, end, letters, first)
            ):
                return slot
        slot = (slot + 1) & mask
    new = size[0]
    for i in range(end - start):
        letters[ends[new] + i] = block[start + i]
    ends[new + 1], size[0] = ends[new] + end - start, new + 1
    slots[slot, 0], slots[slot, 1], slots[slot, NUMBER] = low, high, new
    return slot


@compiled
def _literal(block: Any, at: int, letters: Any, low: int, high: int) -> int:
    """Return where a literal that starts here ends, or -1."""
    for i in range(low, high):
        if block[at] != letters[i]:
            return -1
        at += 1
    return at


@compiled
def _keys(block: Any, start: int, end: int) -> tuple[Any, Any]:
    """Return two keys: up to 16 bytes themselves, or hashes of more."""
    low, high = 0, 0
    if end - start > 16:
        for i in range(start, end):
            low = (low ^ block[i]) * 1099511628211
        return low, low << 8 | LONG
    for i in range(start, min(end, start + 8)):
        low = low << 8 | block[i]
    for i in range(start + 8, end):
        high = high << 8 | block[i]
    return low, high


@compiled
def _same(block: Any, start: int, end: int, letters: Any, low: int) -> bool:
    """Compare a string with a known one, letter by letter."""
    for i in range(end - start):  # noqa: SIM110 (numba compiles no generator)
        if block[start + i] != letters[low + i]:
            return False
    return True


@compiled
def _text(block: Any, at: int) -> int:
    """Return where a text's closing quote is, or -1 if that takes more thought."""
    while block[at] != 34:  # a quote
        if block[at] == 92 or block[at] < 32:  # a backslash, the line's end
            return -1
        at += 1
    return at


@compiled
def _number(block: Any, start: int) -> int:
    """Return where what may be a number ends, or -1."""
    at = start
    while 48 <= block[at] <= 57 or block[at] in (43, 45, 46, 69, 101):  # digits and +-.Ee
        at += 1
    return at if start < at <= start + LONGEST_NUMBER else -1


@compiled
def _whole(block: Any, at: int) -> tuple[int, int]:
    """Return where a whole number of at most 18 digits ends, or -1, and its value."""
    start, value = at, 0
    while 48 <= block[at] <= 57 and at - start <= 18:
        value = 10 * value + block[at] - 48
        at += 1
    plain = start < at <= start + 18 and (block[start] != 48 or at == start + 1)
    return (at if plain else -1), value


@compiled
def _cells(
    block: Any, at: int, line: int, terms: Any, weights: Any, columns: Any, tokens: Any, used: int
) -> tuple[int, int]:
    """Read terms with their weights; return where they end, or -1, and how many cells are used."""
    slots, ends, letters, size = terms
    slots_, ends_, letters_, size_ = weights
    while block[at] == 34:
        start = at + 1
        at = _text(block, start)
        if at <= start or block[at + 1] != 58 or block[at + 2] != 32:  # a colon and a blank
            return -1, used
        slot = _slot_of(block, start, at, slots, ends, letters, size)
        start = at + 3
        at = _number(block, start)
        if at < 0 or slots[slot, LAST_LINE] == line:
            return -1, used
        slots[slot, LAST_LINE], columns[used] = line, slots[slot, NUMBER]
        slot = _slot_of(block, start, at, slots_, ends_, letters_, size_)
        tokens[used] = slots_[slot, NUMBER]
        used += 1
        if block[at] == 125:  # the closing brace
            return at, used
        if block[at] != 44 or block[at + 1] != 32:  # a comma and a blank
            return -1, used
        at += 2
    return -1, used


@compiled
def _record(
    block: Any, at: int, line: int, shape: Any, terms: Any, weights: Any, into: Any, used: int
) -> tuple[int, int]:
    """Read a line; return where it ends, or -1, and how many cells are used."""
    letters, literal_at, kinds = shape
    spans, columns, tokens = into
    for field in range(kinds.size):
        at = _literal(block, at, letters, literal_at[field], literal_at[field + 1])
        if at < 0:
            return -1, used
        spans[2 * field] = at
        if kinds[field] == TEXT:
            at = _text(block, at)
            spans[2 * field + 1] = at
            if at == spans[2 * field]:
                return -1, used
        elif kinds[field] == WHOLE:
            at, spans[2 * field + 1] = _whole(block, at)
        else:
            at, used = _cells(block, at, line, terms, weights, columns, tokens, used)
        if at < 0:
            return -1, used
    last = kinds.size
    return _literal(block, at, letters, literal_at[last], literal_at[last + 1]), used


@compiled
def _scan(
    block: Any, starts: Any, first_line: int, shape: Any, terms: Any, weights: Any, scanned: Any
) -> None:
    fine, spans, cells, columns, tokens = scanned
    for line in range(starts.size - 1):
        end, used = starts[line + 1], cells[line]
        if block[end - 1] == 10:  # all loops stop there
            into = (spans[line], columns, tokens)
            at, used = _record(
                block, starts[line], first_line + line, shape, terms, weights, into, used
            )
            fine[line] = at == end
        cells[line + 1] = used if fine[line] else cells[line]
