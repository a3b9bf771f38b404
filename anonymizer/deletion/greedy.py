"""(k,m)-anonymity by greedy deletion, term by term of one user after the other.

Burghardt, Böhm, Guttmann and Clifton: Anonymous Search Histories Featuring Personalized
Advertisement, algorithm 1. Over and over, each user's combinations of at most m terms are looked
at: small ones first, each size in the order of its terms. If fewer than k users have one now, the
target function deletes one of its terms from this user's history. Combinations with a deleted term
are skipped: only so does the paper's example 8 come out.

A deletion lowers the supports only of combinations with the deleted term. So what a user loses in a
visit changes none of the user's other combinations, and a visit's supports can be counted at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats, Ints
from ..compiled import compiled
from ..errors import BadParameter
from ..model import Progress, silent
from . import pair_supports as km_supports
from .choice import FIS, choose, rules_of
from .histories import Histories, OnPass, unheard
from .larger_supports import (
    WORD,
    ask,
    clear,
    count_larger,
    count_star,
    gather,
    pick,
    spread,
    tally,
    work_for,
)
from .pair_supports import FOUR, THREE, TWO, ZERO, lose_from_list, pairs_of, supports_of

_SHARE = 1024  # users between two reports of progress


def delete_greedily(
    histories: Histories,
    *,
    k: int,
    m: int,
    by: str | Floats,
    ties: str,
    rng: np.random.Generator,
    progress: Progress = silent,
    on_pass: OnPass = unheard,
) -> Ints:
    """Return each cell's pass of deletion, 0 if kept; `by` is "random", "fis" or terms' values."""
    rules = rules_of(k, m, by, ties, rng)
    # Terms that fewer than k users have go first: no combination with them is ever frequent.
    enough = np.bincount(histories.terms, minlength=histories.span) >= k
    kept = enough[histories.terms]
    deleted = np.where(kept, 0, 1)
    if k > 1 and m > 1 and kept.any():
        ends = np.concatenate(([0], np.cumsum(kept)))[histories.ends]
        frequent = Histories(ends, histories.terms[kept], histories.span)
        rare = deleted.size - frequent.terms.size
        deleted[kept] = _run(frequent, rules, rare, progress, on_pass)
    else:
        on_pass(1, int(deleted.sum()))
    return deleted


def _run(histories: Histories, rules: Any, rare: int, progress: Progress, on_pass: OnPass) -> Ints:
    """Visit all users until a pass deletes nothing; `rare` cells count as the first pass's."""
    sizes = np.diff(histories.ends)
    needed = int((sizes * (sizes - 1) // 2).sum()) * (8 if rules.m > 2 else 4)
    if needed > km_supports.LIMIT:
        raise BadParameter(
            f"algorithm=greedy would take {needed / 1e9:,.1f} GB for the pairs of each user's "
            f"terms, and may take {km_supports.LIMIT / 1e9:,.1f} GB; set algorithm=insert"
        )
    log = supports_of(histories, rules.k, rules.m)
    work = work_for(log, rules.m)
    users, number, deletions = histories.users, 0, 1
    if rules.target == FIS and rules.m > 2:
        _count_all(users, work, log, rules)
    while deletions:
        number, deletions = number + 1, 0
        for low in range(0, users, _SHARE):
            high = min(low + _SHARE, users)
            deletions += _visit_all(low, high, number, work, log, rules)
            if number == 1:
                progress(high)
        on_pass(number, int(deletions) + (rare if number == 1 else 0))
    deleted: Ints = log.deleted
    return deleted


@compiled
def _count_all(users: int, work: Any, log: Any, rules: Any) -> None:
    head = log.first.copy()
    for user in range(users):
        count_larger(user, work, log, rules, head)


@compiled
def _visit_all(low: int, high: int, number: int, work: Any, log: Any, rules: Any) -> Any:
    """Visit the users from `low` to `high`; return how many cells they lose."""
    lost = 0
    for user in range(low, high):
        count = 0
        for cell in range(log.ends[user], log.ends[user + 1]):
            if log.deleted[cell] == 0:
                work.cells[count] = cell
                work.alive[count] = True
                count += 1
        lost += count
        count = _check_terms(count, number, work, log, rules)
        _check_pairs(user, count, number, work, log, rules)
        # From the second pass on, each deletion notes the users whose triples it broke.
        again = number > 2 and rules.m == 3
        calm = again and work.disturbed[user] <= _visit(user, number - 1, log)
        for length in range(3, 0 if calm else rules.m + 1):
            for i in range(count):
                if work.alive[i]:
                    _check_star(user, i, count, length, number, work, log, rules)
        for i in range(count):
            lost -= work.alive[i]
    return lost


@compiled
def _check_terms(count: int, number: int, work: Any, log: Any, rules: Any) -> Any:
    """Delete terms that fewer than k users have; they are in no frequent pair. Count the others."""
    left = 0
    for i in range(count):
        cell = work.cells[i]
        if log.frequent[1, log.terms[cell]] < rules.k:
            log.frequent[1, log.terms[cell]] -= 1
            log.deleted[cell] = number
        else:
            work.cells[left] = cell
            left += 1
    return left


@compiled
def _check_pairs(user: int, count: int, number: int, work: Any, log: Any, rules: Any) -> None:
    alive, pairs, combination = work.alive, work.pairs, work.combination
    for i in range(count):
        if alive[i]:
            pairs_of(user, i, i + 1, count, rules.k, log, work, pairs)
            combination[0] = i
            for j in range(i + 1, count):
                if alive[j] and pairs[j] < 0:
                    combination[1] = j
                    if _delete_one(user, TWO, count, number, work, log, rules) == 0:
                        break


@compiled
def _delete_one(
    user: int, size: int, count: int, number: int, work: Any, log: Any, rules: Any
) -> Any:
    """Delete one term of the combination at hand; return its position there."""
    for place in range(size):
        work.terms[place] = log.terms[work.cells[work.combination[place]]]
    place = choose(work.terms, size, log.frequent, rules)
    i = work.combination[place]
    _delete(user, i, count, number, work, log, rules)
    return place


@compiled
def _delete(user: int, i: int, count: int, number: int, work: Any, log: Any, rules: Any) -> None:
    """Delete a user's term, and lower the supports of all combinations it was in."""
    cell, k = work.cells[i], rules.k
    term, visit = log.terms[cell], _visit(user, number, log)
    if rules.m > 2 and (rules.target == FIS or (number > 1 and rules.m == 3)):
        count_star(user, i, count, visit, work, log, rules, log.first)
    work.alive[i] = False
    log.deleted[cell] = number
    log.frequent[1, term] -= 1
    pairs_of(user, i, ZERO, count, k, log, work, work.lost)
    for j in range(count):
        if work.alive[j] and work.lost[j] >= 0:
            pair = work.lost[j]
            if rules.m > 2 and log.support[pair] > k:
                lose_from_list(user, pair, log.first, log.owner, log.support)
                log.changed[pair] = visit
            log.support[pair] -= 1
            if log.support[pair] < k:
                log.frequent[2, term] -= 1
                log.frequent[2, log.terms[work.cells[j]]] -= 1


@compiled
def _visit(user: int, number: int, log: Any) -> Any:
    """Return the number of a visit; numbers are above 0 and grow with time."""
    return number * (log.ends.size - 1) + user


@compiled
def _check_star(
    user: int, i: int, count: int, length: int, number: int, work: Any, log: Any, rules: Any
) -> None:
    """Check a term's combinations of a length with later terms, all pairs of which are frequent."""
    # A user who loses one of three terms changes two of the three pairs. So a triple is looked at
    # only if its first or its second pair changed since the user's last visit.
    star = work.checked
    size = gather(user, i, i + 1, count, rules.k, work, log, star)
    if size < length - 1 or (not _note_fresh(user, size, number, log, star) and length == 3):
        return
    words = -(-size // WORD)
    work.combination[0] = i
    spread(size, log.first, log, star)
    for x in range(size - 1):
        if work.alive[i] and work.alive[star.partner[x]]:
            work.combination[1] = star.partner[x]
            if length > 3:
                _check_fours(user, x, words, count, number, work, log, rules)
                continue
            fresh = star.fresh[x // WORD] >> x % WORD & 1
            if ask(x, words, star.living if fresh else star.fresh, star):
                low = log.first[star.pair[x]]
                high = low + log.support[star.pair[x]]
                tally(log.owner[low:high], x, words, rules.k, star)
                _delete_open(user, THREE, words, count, number, work, log, rules)
    clear(user, size, log.first, log, star)


@compiled
def _note_fresh(user: int, size: int, number: int, log: Any, star: Any) -> Any:
    """Note which of a star's pairs lost a user since the last visit; return whether any did."""
    last, some = _visit(user, number - 1, log), False
    for word in range(-(-size // WORD)):
        star.fresh[word] = 0
    for q in range(size):
        if number == 1 or log.changed[star.pair[q]] > last:
            star.fresh[q // WORD] |= 1 << q % WORD
            some = True
    return some


@compiled
def _check_fours(
    user: int, x: int, words: int, count: int, number: int, work: Any, log: Any, rules: Any
) -> None:
    """Check combinations of four that begin with two terms; all their triples are frequent."""
    star = work.checked
    for y in range(x + 1, words * WORD):
        here = star.living[y // WORD] >> y % WORD & 1 and work.alive[star.partner[y]]
        if here and ask(y, words, star.living, star):
            work.combination[2] = star.partner[y]
            low = log.first[star.pair[x]]
            users = pick(low, low + log.support[star.pair[x]], words, y, log, star)
            tally(star.some[:users], y, words, rules.k, star)
            if _delete_open(user, FOUR, words, count, number, work, log, rules) < 2:
                return


@compiled
def _delete_open(
    user: int, length: int, words: int, count: int, number: int, work: Any, log: Any, rules: Any
) -> Any:
    """Delete a term per open position until one at hand goes; return its place, or `length`."""
    star = work.checked
    for word in range(words):
        left = star.open[word]
        for bit in range(WORD if left != 0 else 0):
            last = star.partner[word * WORD + bit]
            if left >> bit & 1 and work.alive[last]:
                work.combination[length - 1] = last
                place = _delete_one(user, length, count, number, work, log, rules)
                if place < length - 1:
                    return place
                star.living[word] &= ~(1 << bit)
                star.fresh[word] &= ~(1 << bit)
    return length
