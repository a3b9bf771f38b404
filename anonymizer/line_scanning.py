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

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int32]


class Shape(NamedTuple):
    """A record's form: a literal before each of its values, and one at the end."""

    letters: Bytes
    at: Ints
    kinds: Ints


class Table(NamedTuple):
    """Byte strings by number: open addressing, with the strings end to end beside it."""

    slots: Numbers
    hashes: NDArray[np.uint64]
    letters: Bytes
    at: Ints
    size: Ints  # the one number: how many there are
    last_line: Ints  # string -> the last line that has it


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
    used = int(table.at[size])
    if size + entries <= table.hashes.size and used + letters <= table.letters.size:
        return table
    new = _table(2 * size + entries, 2 * used + letters)
    new.hashes[:size] = table.hashes[:size]
    new.last_line[:size] = table.last_line[:size]
    new.letters[:used] = table.letters[:used]
    new.at[: size + 1] = table.at[: size + 1]
    new.size[0] = size
    _fill(new.slots, new.hashes, size)
    return new


def forgotten(table: Table) -> None:
    """Empty a table and keep its room."""
    table.slots.fill(-1)
    table.size[0] = 0


def texts_of(table: Table, first: int) -> list[str]:
    """Return a table's strings from a number on; they are known to be UTF-8."""
    at = table.at[first : table.size[0] + 1]
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
    _scan(letters, starts, first_line, *shape, terms, weights, *scanned)
    return scanned, starts


def line_starts(letters: Bytes) -> Ints:
    """Return where each line starts, and the end."""
    ends = np.flatnonzero(letters == ord("\n")) + 1
    if letters[-1] != ord("\n"):
        ends = np.append(ends, letters.size)
    starts: Ints = np.concatenate([[0], ends])
    return starts


def _table(entries: int, letters: int) -> Table:
    slots = 1 << int(2 * entries).bit_length()
    return Table(
        np.full(slots, -1, dtype=np.int32),
        np.zeros(entries, dtype=np.uint64),
        np.empty(letters, dtype=np.uint8),
        np.zeros(entries + 1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.full(entries, -1, dtype=np.int64),
    )


@compiled
def _fill(slots: Any, hashes: Any, size: int) -> None:
    mask = np.uint64(slots.size - 1)
    for number in range(size):
        slot = (hashes[number] ^ (hashes[number] >> np.uint64(32))) & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = number


@compiled
def _number_of(block: Any, start: int, end: int, key: Any, table: Any) -> int:
    """Return the number of a string, which becomes known with it."""
    mask = np.uint64(table.slots.size - 1)
    slot = (key ^ (key >> np.uint64(32))) & mask
    number = table.slots[slot]
    while number >= 0:
        if table.hashes[number] == key and table.at[number + 1] - table.at[number] == end - start:
            low, i = table.at[number], 0
            while i < end - start and table.letters[low + i] == block[start + i]:
                i += 1
            if i == end - start:
                return int(number)
        slot = (slot + np.uint64(1)) & mask
        number = table.slots[slot]
    new = table.size[0]
    low = table.at[new]
    for i in range(end - start):
        table.letters[low + i] = block[start + i]
    table.slots[slot], table.hashes[new], table.at[new + 1] = new, key, low + end - start
    table.size[0] = new + 1
    return int(new)


@compiled
def _literal(block: Any, at: int, letters: Any, low: int, high: int) -> int:
    """Return where a literal that starts here ends, or -1."""
    for i in range(low, high):
        if block[at] != letters[i]:
            return -1
        at += 1
    return at


@compiled
def _text(block: Any, at: int) -> tuple[int, Any]:
    """Return where a text's closing quote is, or -1 if that takes more thought, and its hash."""
    key = np.uint64(14695981039346656037)
    while block[at] != 34:  # a quote
        if block[at] == 92 or block[at] < 32:  # a backslash, the line's end
            return -1, key
        key = (key ^ np.uint64(block[at])) * np.uint64(1099511628211)
        at += 1
    return at, key


@compiled
def _number(block: Any, at: int) -> tuple[int, Any]:
    """Return where what may be a number ends, or -1, and its hash."""
    key, start = np.uint64(14695981039346656037), at
    while 48 <= block[at] <= 57 or block[at] in (43, 45, 46, 69, 101):  # digits and +-.Ee
        key = (key ^ np.uint64(block[at])) * np.uint64(1099511628211)
        at += 1
    return (at if start < at <= start + LONGEST_NUMBER else -1), key


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
    while block[at] == 34:
        start = at + 1
        at, key = _text(block, start)
        if at <= start or block[at + 1] != 58 or block[at + 2] != 32:  # a colon and a blank
            return -1, used
        term = _number_of(block, start, at, key, terms)
        start = at + 3
        at, key = _number(block, start)
        if at < 0 or terms.last_line[term] == line:
            return -1, used
        terms.last_line[term] = line
        columns[used], tokens[used] = term, _number_of(block, start, at, key, weights)
        used += 1
        if block[at] == 125:  # the closing brace
            return at, used
        if block[at] != 44 or block[at + 1] != 32:  # a comma and a blank
            return -1, used
        at += 2
    return -1, used


@compiled
def _scan(
    block: Any,
    starts: Any,
    first_line: int,
    letters: Any,
    literal_at: Any,
    kinds: Any,
    terms: Any,
    weights: Any,
    fine: Any,
    spans: Any,
    cells: Any,
    columns: Any,
    tokens: Any,
) -> None:
    for line in range(starts.size - 1):
        at, end, used = starts[line], starts[line + 1], cells[line]
        if block[end - 1] == 10:  # all loops stop there
            for field in range(kinds.size):
                at = _literal(block, at, letters, literal_at[field], literal_at[field + 1])
                if at < 0:
                    break
                spans[line, 2 * field] = at
                if kinds[field] == TEXT:
                    at, _ = _text(block, at)
                    spans[line, 2 * field + 1] = at
                    if at == spans[line, 2 * field]:
                        at = -1
                elif kinds[field] == WHOLE:
                    at, spans[line, 2 * field + 1] = _whole(block, at)
                else:
                    at, used = _cells(
                        block, at, first_line + line, terms, weights, columns, tokens, used
                    )
                if at < 0:
                    break
            if at >= 0:
                last = kinds.size
                at = _literal(block, at, letters, literal_at[last], literal_at[last + 1])
            fine[line] = at == end
        cells[line + 1] = used if fine[line] else cells[line]
