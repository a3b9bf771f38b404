"""(k,m)-anonymity by greedy deletion, term by term of one user after the other.

Burghardt, Böhm, Guttmann and Clifton: Anonymous Search Histories Featuring Personalized
Advertisement, algorithm 1. Over and over, each user's combinations of at most m terms are looked
at, small ones first, each size in the order of its terms; if fewer than k users have one now, the
target function deletes one of its terms from this user's history. Combinations that hold a term
already deleted are skipped: only so does the paper's example 8 come out.

A support changes only by deletions of users who have the combination; so what a user loses in
a visit changes no other combination of theirs, and the supports of a visit can be counted at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import km_supports
from .compiled import compiled
from .histories import MOST_TERMS, Histories
from .km_choice import DECIDERS, FIS, TIES, choose, rules_of
from .km_stars import (
    WORD,
    ask,
    clear,
    count_larger,
    gather,
    lose_larger,
    pick,
    spread,
    tally,
    work_for,
)
from .km_supports import FOUR, THREE, TWO, ZERO, bytes_for, lose_from_list, pairs_of, supports_of
from .model import BadParameter, Floats, Ints, Progress, silent

_SHARE = 1024  # users between two reports of progress
OnPass = Callable[[int, int], object]  # number of a pass that is over, from 1, and its deletions


def unheard(_number: int, _deletions: int) -> None:
    """Tell nobody of a pass."""


def delete_greedily(
    histories: Histories,
    *,
    k: int,
    m: int,
    target: str,
    values: Floats | None,
    ties: str,
    rng: np.random.Generator,
    progress: Progress = silent,
    on_pass: OnPass = unheard,
) -> Ints:
    """Return for each cell the pass, from 1, in which it was deleted; 0: it is kept."""
    _check(histories.span, k, m, target, values, ties)
    rules = rules_of(k, m, target, values, ties, rng)
    enough = np.bincount(histories.terms, minlength=histories.span) >= k
    kept = enough[histories.terms]
    deleted = np.where(kept, 0, 1)
    if k > 1 and m > 1 and kept.any():
        ends = np.concatenate(([0], np.cumsum(kept)))[histories.ends]
        frequent = Histories(ends, histories.terms[kept], histories.span)
        rare = deleted.size - frequent.terms.size
        deleted[kept] = _passes(frequent, rules, rare, progress, on_pass)
    else:
        on_pass(1, int(deleted.sum()))
    return deleted


def _check(span: int, k: int, m: int, target: str, values: Floats | None, ties: str) -> None:
    """Refuse what is not allowed, all of it at once."""
    allowed = {
        f"k={k} must be 1 or more": k >= 1,
        f"m={m} must be from 1 to {MOST_TERMS}": 1 <= m <= MOST_TERMS,
        f"target={target!r} must be one of {', '.join(DECIDERS)}": target in DECIDERS,
        f"ties={ties!r} must be one of {', '.join(TIES)}": ties in TIES,
    }
    if target == "value":
        fits = values is not None and values.shape == (span,) and bool(np.isfinite(values).all())
        allowed[f"values must be one finite number for each of {span} terms"] = fits
    if not all(allowed.values()):
        raise BadParameter("; ".join(fault for fault, holds in allowed.items() if not holds))


def _passes(
    histories: Histories, rules: Any, rare: int, progress: Progress, on_pass: OnPass
) -> Ints:
    """Visit all users, pass after pass, until a pass deletes nothing.

    The cells of rare terms, deleted before, count as deletions of the first pass.
    """
    needed = bytes_for(histories, rules.m)
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
    """Visit some users; count what they lose."""
    lost = 0
    for user in range(low, high):
        count = _gather_kept(user, work, log)
        lost += count
        count = _check_terms(count, number, work, log, rules)
        _check_pairs(user, count, number, work, log, rules)
        # From the second pass on each deletion says whose triples it broke.
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
def _gather_kept(user: int, work: Any, log: Any) -> Any:
    """Gather the cells a user has at the beginning of the visit; count them."""
    count = 0
    for cell in range(log.ends[user], log.ends[user + 1]):
        if log.deleted[cell] == 0:
            work.cells[count] = cell
            work.alive[count] = True
            count += 1
    return count


@compiled
def _check_terms(count: int, number: int, work: Any, log: Any, rules: Any) -> Any:
    """Delete the terms that fewer than k users have, which is in no frequent pair; count the rest.

    The cells that are left move up.
    """
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
    """Delete one term of the combination at hand; return which, as its position there."""
    for place in range(size):
        work.terms[place] = log.terms[work.cells[work.combination[place]]]
    place = choose(work.terms, size, log.frequent, rules)
    i = work.combination[place]
    _delete(user, i, count, number, work, log, rules)
    return place


@compiled
def _delete(user: int, i: int, count: int, number: int, work: Any, log: Any, rules: Any) -> None:
    """Delete a user's term and lower the supports of all it was in."""
    cell, k = work.cells[i], rules.k
    term, visit = log.terms[cell], _visit(user, number, log)
    if rules.m > 2 and (rules.target == FIS or (number > 1 and rules.m == 3)):
        lose_larger(user, i, count, visit, work, log, rules)
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
    """Return the number of a visit, in order of time, above 0."""
    return number * (log.ends.size - 1) + user


@compiled
def _check_star(
    user: int, i: int, count: int, length: int, number: int, work: Any, log: Any, rules: Any
) -> None:
    """Check a term's combinations of a length with later terms, all pairs of which are frequent.

    A user who lost a term of three that they had changed two of the three pairs. So three are
    asked for only if the first pair changed since the user's last visit, or the second one.
    """
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
                tally(log.owner, low, high, x, words, rules.k, star)
                _delete_open(user, THREE, words, count, number, work, log, rules)
    clear(user, size, log.first, log, star)


@compiled
def _note_fresh(user: int, size: int, number: int, log: Any, star: Any) -> Any:
    """Note which of a star's pairs lost a user since the last visit; tell whether any did."""
    last, found = _visit(user, number - 1, log), False
    for word in range(-(-size // WORD)):
        star.fresh[word] = 0
    for q in range(size):
        if number == 1 or log.changed[star.pair[q]] > last:
            star.fresh[q // WORD] |= 1 << q % WORD
            found = True
    return found


@compiled
def _check_fours(
    user: int, x: int, words: int, count: int, number: int, work: Any, log: Any, rules: Any
) -> None:
    """Check the combinations of four that begin with two terms, their triples being frequent."""
    star = work.checked
    for y in range(x + 1, words * WORD):
        here = star.living[y // WORD] >> y % WORD & 1 and work.alive[star.partner[y]]
        if here and ask(y, words, star.living, star):
            work.combination[2] = star.partner[y]
            low = log.first[star.pair[x]]
            users = pick(low, low + log.support[star.pair[x]], words, y, log, star)
            tally(star.some, ZERO, users, y, words, rules.k, star)
            if _delete_open(user, FOUR, words, count, number, work, log, rules) < 2:
                return


@compiled
def _delete_open(
    user: int, length: int, words: int, count: int, number: int, work: Any, log: Any, rules: Any
) -> Any:
    """Delete a term of each combination at hand with what stands open, until one at hand goes.

    Return which that was, or the length if they are all kept.
    """
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
