"""Supports of combinations of three and four terms, counted for a user's term and its partners."""
# A star is a term of a user with some other terms of theirs, its partners. For each user who
# shares the term and a partner, a row of bits says which partners they have. Then 64 triples are
# counted at once, in counters whose digits lie in words of bits, and no further than is needed.

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Ints, Marks, Numbers
from ..compiled import compiled
from .pair_supports import FOUR, THREE, ZERO, Supports, pairs_of

WORD = 64


class Star(NamedTuple):
    """Room for one star; all bits are 0 between uses."""

    partner: Ints  # position -> which of the user's cells at hand it is
    pair: Ints  # position -> number of the pair with the star's own term
    last: Ints  # position -> where that pair's list ended when the star was spread
    living: Ints  # words: positions whose terms are still kept
    fresh: Ints  # words: positions whose pair lost a user since the last visit
    open: Ints  # words: positions to look at that too few users have so far
    exact: Ints  # words: positions that exactly k users have
    enough: Ints  # words: positions that k or more users have
    bits: Ints  # user x word
    digits: Ints  # digit x word
    some: Numbers  # users


class Work(NamedTuple):
    """Memory for one visit to a user."""

    cells: Ints  # kept when the visit began
    alive: Marks  # whether they are still kept
    pairs: Ints  # numbers of the pairs of one of these cells with the others
    lost: Ints  # the same for a cell that is deleted
    combination: Ints  # positions among these cells, ascending
    terms: Ints  # and their terms
    counted_terms: Ints  # of a combination that is counted
    checked: Star  # the star whose combinations are checked
    counted: Star  # the star whose frequent combinations are counted
    disturbed: Ints  # user -> the last visit at which a triple of theirs fell below k users


def work_for(log: Supports, m: int) -> Work:
    """Return the memory that visits to the users of `log` need."""
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
    """List the kept partners of cell `i`, from the position `low` on; return their number."""
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
    """Note for each user who shares the star's term and a partner which partners they have."""
    words, owner, bits = -(-size // WORD), log.owner, star.bits
    for q in range(size):
        pair, word, bit = star.pair[q], q // WORD, 1 << q % WORD
        star.last[q] = log.first[pair] + log.support[pair]
        for e in range(begin[pair], star.last[q]):
            bits[owner[e] * words + word] |= bit


@compiled
def clear(user: int, size: int, begin: Any, log: Any, star: Any) -> None:
    """Clear what was spread, also for the visited `user`, who may have left the lists."""
    words, owner, bits = -(-size // WORD), log.owner, star.bits
    for q in range(size):
        pair, word = star.pair[q], q // WORD
        for e in range(begin[pair], star.last[q]):
            bits[owner[e] * words + word] = 0
    for word in range(words):
        bits[user * words + word] = 0


@compiled
def ask(after: int, words: int, wanted: Any, star: Any) -> Any:
    """Open the `wanted` positions that come after `after`; return whether there are any."""
    some = False
    for word in range(words):
        star.open[word] = 0
        if word >= after // WORD:
            star.open[word] = wanted[word]
            if word == after // WORD:
                star.open[word] &= ~((2 << after % WORD) - 1)
            some |= star.open[word] != 0
    return some


@compiled
def tally(users: Any, after: int, words: int, needed: int, star: Any) -> None:
    """Of the open positions after `after`, leave open those that fewer than `needed` users have."""
    bits, opened, digits, begin, depth = star.bits, star.open, star.digits, after // WORD, 0
    while 1 << depth < needed:
        depth += 1
    # Each counter starts so that it overflows when it has counted `needed` users.
    for digit in range(depth):
        for word in range(begin, words):
            digits[digit, word] = -(((1 << depth) - needed) >> digit & 1)
    for user in users:
        start, closed = user * words, False
        for word in range(begin, words):
            carry, digit = bits[start + word] & opened[word], 0
            while carry != 0 and digit < depth:
                old = digits[digit, word]
                digits[digit, word] = old ^ carry
                carry &= old
                digit += 1
            if carry != 0:
                opened[word] &= ~carry
                closed = True
        if closed and not _any(opened, begin, words):
            return


@compiled
def _any(row: Any, begin: int, words: int) -> Any:
    bits = 0
    for word in range(begin, words):
        bits |= row[word]
    return bits != 0


@compiled
def pick(low: int, high: int, words: int, q: int, log: Any, star: Any) -> Any:
    """List the users from `low` to `high` in a list who have partner `q`; return their number."""
    # Without a branch: each user is written, and the next one overwrites users without `q`.
    count = 0
    for e in range(low, high):
        star.some[count] = log.owner[e]
        count += star.bits[log.owner[e] * words + q // WORD] >> q % WORD & 1
    return count


@compiled
def count_larger(user: int, work: Any, log: Any, rules: Any, head: Any) -> None:
    """Count the combinations that stop being frequent with this `user` if all before are gone."""
    # When users go one by one, each frequent combination stops being so with exactly one of them.
    count = log.ends[user + 1] - log.ends[user]
    for i in range(count):
        work.cells[i], work.alive[i] = log.ends[user] + i, True
    for i in range(count):
        count_star(user, i, count, ZERO, work, log, rules, head)
        pairs_of(user, i, i + 1, count, rules.k, log, work, work.pairs)
        for j in range(i + 1, count):
            if work.pairs[j] >= 0:
                head[work.pairs[j]] += 1


@compiled
def count_star(
    user: int, i: int, count: int, visit: int, work: Any, log: Any, rules: Any, begin: Any
) -> None:
    """Count each combination of the star that exactly k users have; in a `visit`, subtract it."""
    # In a visit these combinations stop being frequent: this disturbs others who have a triple.
    star, low = work.counted, 0 if visit else i + 1
    size = gather(user, i, low, count, rules.k, work, log, star)
    if size < 2:
        return
    if size > WORD:
        # The rarest partners first: those with long lists come last, where few words are left.
        order = np.argsort(log.support[star.pair[:size]])
        star.partner[:size], star.pair[:size] = star.partner[order], star.pair[order]
    words, sign = -(-size // WORD), -1 if visit else 1
    work.counted_terms[0] = log.terms[work.cells[i]]
    spread(size, begin, log, star)
    for x in range(size - 1):
        start, end = begin[star.pair[x]], star.last[x]
        if end - start >= rules.k and ask(x, words, star.living, star):
            work.counted_terms[1] = log.terms[work.cells[star.partner[x]]]
            users = log.owner[start:end]
            exact = _count_exact(users, x, words, THREE, work, log, rules, sign)
            # In the first pass everybody is still to be visited, so nobody has to be disturbed.
            if exact and visit >= 2 * (log.ends.size - 1):
                _disturb(users, words, visit, work)
            if rules.m > 3:
                _count_fours(x, start, end, words, work, log, rules, sign)
    clear(user, size, begin, log, star)


@compiled
def _disturb(users: Any, words: int, visit: int, work: Any) -> None:
    """Note which of `users` have one of the combinations just found."""
    bits, exact = work.counted.bits, work.counted.exact
    for user in users:
        for word in range(words):
            if bits[user * words + word] & exact[word] != 0:
                work.disturbed[user] = visit


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
            _count_exact(star.some[:size], y, words, FOUR, work, log, rules, sign)


@compiled
def _count_exact(
    users: Any, after: int, words: int, length: int, work: Any, log: Any, rules: Any, sign: int
) -> Any:
    """Count the combinations of `length` terms that exactly k of `users` have; return if any do."""
    star, counts, terms, some = work.counted, log.frequent[length], work.counted_terms, False
    tally(users, after, words, rules.k + 1, star)
    depth = 0
    while 1 << depth < rules.k + 1:
        depth += 1
    # Counters overflow at k + 1 users, so after exactly k users all digits are 1.
    for word in range(words):
        exact = star.open[word]
        for digit in range(depth):
            exact &= star.digits[digit, word]
        star.exact[word] = exact
        some |= exact != 0
        for bit in range(WORD if exact != 0 else 0):
            if exact >> bit & 1:
                counts[log.terms[work.cells[star.partner[word * WORD + bit]]]] += sign
                for place in range(length - 1):
                    counts[terms[place]] += sign
    return some
