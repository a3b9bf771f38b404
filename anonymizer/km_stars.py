"""Supports of combinations of three and four terms, found anew for a user's term and its partners.

A star is a term of a user with some other terms of theirs, its partners. For each user who shares
the term and a partner, a row of bits says which partners they have; 64 triples are then counted
at once, in counters whose digits lie in words of bits, and no further than is asked.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .compiled import compiled
from .km_supports import Supports, pairs_of

WORD = 64


class Star(NamedTuple):
    """Room for one star; all bits are 0 between uses."""

    partner: Any  # position -> which of the user's cells at hand it is
    pair: Any  # position -> number of the pair with the star's own term
    last: Any  # position -> where that pair's list ended when the star was spread
    living: Any  # words: positions whose terms are still kept
    fresh: Any  # words: positions whose pair lost a user since the last visit
    open: Any  # words: positions that are asked for and too few users have
    exact: Any  # words: positions that exactly k users have
    enough: Any  # words: positions that k or more users have
    bits: Any  # user x word
    digits: Any  # digit x word
    some: Any  # users


class Work(NamedTuple):
    """What belongs to one visit to a user."""

    cells: Any  # kept when the visit began
    alive: Any  # whether they still are
    pairs: Any  # numbers of one of these cells' pairs with the others
    lost: Any  # the same of a cell that is deleted
    combination: Any  # positions among these cells, ascending
    terms: Any  # and their terms
    counted_terms: Any  # of a combination that is counted
    checked: Any  # the star whose combinations are checked
    counted: Any  # the star whose frequent combinations are counted
    disturbed: Any  # user -> the last visit at which a triple of theirs fell below k users


def work_for(log: Supports, m: int) -> Work:
    """Return the room that visits need."""
    users, longest = log.ends.size - 1, int(np.diff(log.ends).max())
    cells, alive = np.empty(longest, dtype=np.int64), np.zeros(longest, dtype=np.bool_)
    checked = _star(users if m > 2 else 0, longest)
    counted = _star(users if m > 2 else 0, longest)
    few = np.zeros(4, dtype=np.int64)
    return Work(
        cells,
        alive,
        cells.copy(),
        cells.copy(),
        few,
        few.copy(),
        few.copy(),
        checked,
        counted,
        np.zeros(users, dtype=np.int64),
    )


def _star(users: int, longest: int) -> Star:
    words = -(-longest // WORD)
    row, ints = np.zeros(words, dtype=np.int64), np.empty(longest, dtype=np.int64)
    return Star(
        ints,
        ints.copy(),
        ints.copy(),
        row,
        row.copy(),
        row.copy(),
        row.copy(),
        row.copy(),
        np.zeros(users * words, dtype=np.int64),
        np.zeros((32, words), dtype=np.int64),
        np.empty(users, dtype=np.int32),
    )


@compiled
def gather(user: int, i: int, low: int, count: int, k: int, work: Any, log: Any, star: Any) -> Any:
    """Gather a cell's kept partners from a position on; return how many they are."""
    size, pairs, alive = 0, work.lost, work.alive
    pairs_of(user, i, low, count, k, log, work, pairs)
    for j in range(low, count):
        if alive[j] and j != i and pairs[j] >= 0:
            star.partner[size], star.pair[size] = j, pairs[j]
            size += 1
    for word in range(-(-size // WORD)):
        rest = size - word * WORD
        star.living[word] = -1 if rest >= WORD else (1 << rest) - 1
    return size


@compiled
def spread(size: int, begin: Any, log: Any, star: Any) -> None:
    """Note for each user who shares the star's term which partners they have."""
    words, owner, bits = -(-size // WORD), log.owner, star.bits
    for q in range(size):
        pair, word, bit = star.pair[q], q // WORD, 1 << q % WORD
        star.last[q] = log.first[pair] + log.support[pair]
        for e in range(begin[pair], star.last[q]):
            bits[owner[e] * words + word] |= bit


@compiled
def clear(user: int, size: int, begin: Any, log: Any, star: Any) -> None:
    """Forget what was spread, also of the user visited, who may stand in a list no longer."""
    words, owner, bits = -(-size // WORD), log.owner, star.bits
    for q in range(size):
        pair, word = star.pair[q], q // WORD
        for e in range(begin[pair], star.last[q]):
            bits[owner[e] * words + word] = 0
    for word in range(words):
        bits[user * words + word] = 0


@compiled
def ask(after: int, words: int, asked: Any, star: Any) -> Any:
    """Ask for those of some positions that come after one; tell whether there are any."""
    found = False
    for word in range(words):
        star.open[word] = 0
        if word >= after // WORD:
            star.open[word] = asked[word]
            if word == after // WORD:
                star.open[word] &= ~((2 << after % WORD) - 1)
            found |= star.open[word] != 0
    return found


@compiled
def tally(owner: Any, low: int, high: int, after: int, words: int, needed: int, star: Any) -> None:
    """Leave open the positions asked for, after one, that fewer than so many of some users have.

    A counter starts so that it runs over when it has reached what is needed.
    """
    bits, asked, digits, begin, depth = star.bits, star.open, star.digits, after // WORD, 0
    while 1 << depth < needed:
        depth += 1
    for digit in range(depth):
        for word in range(begin, words):
            digits[digit, word] = -(((1 << depth) - needed) >> digit & 1)
    for e in range(low, high):
        start, closed = owner[e] * words, False
        for word in range(begin, words):
            carry, digit = bits[start + word] & asked[word], 0
            while carry != 0 and digit < depth:
                old = digits[digit, word]
                digits[digit, word] = old ^ carry
                carry &= old
                digit += 1
            if carry != 0:
                asked[word] &= ~carry
                closed = True
        if closed and not _any(asked, begin, words):
            return


@compiled
def _any(row: Any, begin: int, words: int) -> Any:
    found = 0
    for word in range(begin, words):
        found |= row[word]
    return found != 0


@compiled
def pick(low: int, high: int, words: int, q: int, log: Any, star: Any) -> Any:
    """List those of some users who have a partner; count them."""
    count = 0
    for e in range(low, high):
        star.some[count] = log.owner[e]
        count += star.bits[log.owner[e] * words + q // WORD] >> q % WORD & 1
    return count


@compiled
def count_larger(user: int, work: Any, log: Any, rules: Any, head: Any) -> None:
    """Count the frequent combinations that would fall with this user if all before were gone.

    As users go one by one, each frequent combination falls with exactly one of them.
    """
    count = log.ends[user + 1] - log.ends[user]
    for i in range(count):
        work.cells[i], work.alive[i] = log.ends[user] + i, True
    for i in range(count):
        _count_star(user, i, i + 1, count, 0, work, log, rules, head)
        pairs_of(user, i, i + 1, count, rules.k, log, work, work.pairs)
        for j in range(i + 1, count):
            if work.pairs[j] >= 0:
                head[work.pairs[j]] += 1


@compiled
def lose_larger(user: int, i: int, count: int, visit: int, work: Any, log: Any, rules: Any) -> None:
    """Count no longer the combinations that stop being frequent when this user loses a term.

    Whoever else has such a triple is disturbed.
    """
    _count_star(user, i, 0, count, visit, work, log, rules, log.first)


@compiled
def _count_star(
    user: int, i: int, low: int, count: int, visit: int, work: Any, log: Any, rules: Any, begin: Any
) -> None:
    """Count each combination of the star that exactly k users have; in a visit, backwards."""
    star = work.counted
    size = gather(user, i, low, count, rules.k, work, log, star)
    if size < 2:
        return
    _sort(size, star.partner, star.pair, log.support)
    words, sign = -(-size // WORD), -1 if visit else 1
    work.counted_terms[0] = log.terms[work.cells[i]]
    spread(size, begin, log, star)
    for x in range(size - 1):
        start, end = begin[star.pair[x]], star.last[x]
        if end - start >= rules.k and ask(x, words, star.living, star):
            work.counted_terms[1] = log.terms[work.cells[star.partner[x]]]
            found = _count_exact(log.owner, start, end, x, words, 3, work, log, rules, sign)
            if found and visit >= 2 * (log.ends.size - 1):  # in the first pass all are still open
                _disturb(start, end, words, visit, work, log)
            if rules.m > 3:
                _count_fours(x, start, end, words, work, log, rules, sign)
    clear(user, size, begin, log, star)


@compiled
def _sort(size: int, partner: Any, pair: Any, support: Any) -> None:
    """Sort partners, the rarest first: long lists then have few words to count (Shell 1959)."""
    gap = size // 2 if size > WORD else 0
    while gap > 0:
        for i in range(gap, size):
            one, other, j = partner[i], pair[i], i
            while j >= gap and support[pair[j - gap]] > support[other]:
                partner[j], pair[j] = partner[j - gap], pair[j - gap]
                j -= gap
            partner[j], pair[j] = one, other
        gap = 1 if gap == 2 else gap * 5 // 11


@compiled
def _disturb(start: int, end: int, words: int, visit: int, work: Any, log: Any) -> None:
    """Note those of a list of users who have one of the combinations just found."""
    bits, exact, owner = work.counted.bits, work.counted.exact, log.owner
    for e in range(start, end):
        for word in range(words):
            if bits[owner[e] * words + word] & exact[word] != 0:
                work.disturbed[owner[e]] = visit


@compiled
def _count_fours(
    x: int, start: int, end: int, words: int, work: Any, log: Any, rules: Any, sign: int
) -> None:
    star = work.counted
    for word in range(words):
        star.enough[word] = star.living[word] & (star.exact[word] | ~star.open[word])
    for y in range(x + 1, words * WORD):
        if star.enough[y // WORD] >> y % WORD & 1 and ask(y, words, star.enough, star):
            work.counted_terms[2] = log.terms[work.cells[star.partner[y]]]
            size = pick(start, end, words, y, log, star)
            _count_exact(star.some, 0, size, y, words, 4, work, log, rules, sign)


@compiled
def _count_exact(
    owner: Any,
    low: int,
    high: int,
    after: int,
    words: int,
    length: int,
    work: Any,
    log: Any,
    rules: Any,
    sign: int,
) -> Any:
    """Count the combinations of a length that exactly k of some users have."""
    star, counts, terms, found = work.counted, log.frequent[length], work.counted_terms, False
    tally(owner, low, high, after, words, rules.k + 1, star)
    depth = 0
    while 1 << depth < rules.k + 1:
        depth += 1
    for word in range(words):
        exact = star.open[word]
        for digit in range(depth):
            exact &= star.digits[digit, word]
        star.exact[word] = exact
        found |= exact != 0
        for bit in range(WORD if exact != 0 else 0):
            if exact >> bit & 1:
                counts[log.terms[work.cells[star.partner[word * WORD + bit]]]] += sign
                for place in range(length - 1):
                    counts[terms[place]] += sign
    return found
