"""composition: groups whose members have each term about as often as all users do.

Ours. Of n users N_t have a term t, of a group's m members c_gt. Alike users are grouped so that
|c_gt / m - N_t / n| <= p for every group and every term, those that no member has included; a row
is the plain centroid of its members' sets of terms, and nothing is ever left out of it. Whoever
knows all profiles without their names, the algorithm, its draws, all rows and a victim's group
believes of each term that the victim has it with probability c_gt / m: at most p away from what
N_t / n told already. That is so because groups are made of profiles in the order of their content:
any names could be theirs. Who of several with the very same terms takes which place is settled by a
secret key, not by the seed; no row depends on it, and the key is not kept.

Where no size is given, sizes grow until a short annealing finds groups without a cell beyond p, and
on while that makes closer groups: room to keep the promise is worth more members, up to a point.
Groups have n // g or one more members, g their number: each keeps the promise with its own size,
and as all members of a group look alike to the attacker, what other groups have plays no part.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_matrix

from ..annealing import Annealed, anneal, steps_for
from ..bounded_shares import cells_beyond, counts_of, fraction_of, limits_of
from ..model import BadParameter, Grouping, Ints, Profiles, Progress, Release, Unsatisfiable, silent
from ..places import in_order_of_content
from ..representative import named_rows
from ..secret_order import refuse_no_key
from ..similarity import Documents, Likeness, likeness, refuse_bad_sampling

_GROWTH = Fraction(13, 10)  # from one size that is tried to the next
_TRIAL = 12  # a size is tried with one of so many steps
_MOST_STEPS = 24_000_000  # unless more are asked for: p bounds how close groups can be


@dataclass(frozen=True)
class _Task:
    """What groups are to be made of."""

    profiles: Profiles
    likeness: Likeness
    p: Fraction
    steps: int
    rng: np.random.Generator
    progress: Progress


def anonymize(
    profiles: Profiles,
    *,
    p: float = 0.4,
    size: int | None = None,
    documents: int = 2000,
    steps: int | None = None,
    sample: Documents | None = None,
    key: bytes | None = None,
    rng: np.random.Generator,
    progress: Progress = silent,
    **_others: object,
) -> Release:
    """Group alike users so that no group's share of any term is more than p off; release means."""
    share = fraction_of(p)
    if size is not None and size < 2:
        raise BadParameter(f"size={size} must be at least 2, or off")
    sample = refuse_bad_sampling(sample, documents, steps)
    most = len(profiles) // 2
    least = size or max(2, min(math.ceil(1 / share), most))
    if len(profiles) < 2 * least:  # without a size only where there are fewer than four
        remedy = "take a smaller size, or more users" if size else "take more users"
        raise Unsatisfiable(f"{len(profiles)} users make no two groups of {least}; {remedy}")
    people, order = in_order_of_content(profiles, refuse_no_key(key))
    alike = likeness(people, sample, rng)
    swaps = steps or min(steps_for(len(profiles)), _MOST_STEPS)
    task = _Task(people, alike, share, swaps, rng, progress)
    grouping = _of_size(task, size) if size else _of_best_size(task, least)
    _refuse_beyond(task, grouping)
    group_of = np.empty_like(order)
    group_of[order] = grouping.group_of
    rows = counts_of(people, grouping)
    shares = rows.data / np.repeat(grouping.sizes, np.diff(rows.indptr))
    centroids = csr_matrix((shares, rows.indices, rows.indptr), shape=rows.shape)
    parameters = {"p": p, "size": size, "documents": sample.vectors.shape[0], "steps": steps}
    released = named_rows(profiles, centroids)
    return Release(released, profiles.users, group_of, "composition", parameters)


def _of_size(task: _Task, size: int) -> Grouping:
    """Return groups of a given size, or of more where it does not divide the users."""
    found = _annealed(task, size, task.steps)
    if found.excess:
        raise Unsatisfiable(
            f"groups of {size} were found with {_beyond(task, found)} shares more than "
            f"{float(task.p)} off, none without; take a larger size, or size=off"
        )
    return Grouping(found.group_of)


def _of_best_size(task: _Task, least: int) -> Grouping:
    """Return groups of the size with the best objective among those that work."""
    best, tried = None, []
    for size in _growing(least, len(task.profiles) // 2):
        found = _annealed(task, size, max(1, task.steps // _TRIAL))
        if found.excess:
            tried.append((_beyond(task, found), size))
        elif best is None or found.objective > best[0].objective:
            best = found, size
        if best is not None and best[1] < size:
            break
    if best is not None:
        trial, size = best
        found = _annealed(task, size, task.steps)
        return Grouping((trial if found.excess else found).group_of)
    fewest, size = min(tried)
    raise Unsatisfiable(
        f"no size of groups was found that keeps every share within {float(task.p)} of all users'; "
        f"the best tried was {size}, with {fewest} shares beyond it; take a larger p, or more users"
    )


def _growing(least: int, most: int) -> Iterator[int]:
    """Yield sizes, each some more than the one before; the last makes two groups."""
    size = least
    while size < most:
        yield size
        size = max(size + 1, math.floor(size * _GROWTH))
    yield most


def _annealed(task: _Task, size: int, steps: int) -> Annealed:
    sizes = _sizes(len(task.profiles), size)
    limits = limits_of(task.profiles, task.p, int(sizes.min()))
    return anneal(
        task.likeness, sizes, task.rng, steps=steps, limits=limits, progress=task.progress
    )


def _sizes(users: int, size: int) -> Ints:
    """Return the members of each group: as many groups of at least this size as there can be."""
    groups = users // size
    return users // groups + (np.arange(groups) < users % groups).astype(np.int64)


def _beyond(task: _Task, found: Annealed) -> int:
    return cells_beyond(task.profiles, Grouping(found.group_of), task.p)


def _refuse_beyond(task: _Task, grouping: Grouping) -> None:
    """Count everything anew, in whole numbers, before anything is released."""
    beyond = cells_beyond(task.profiles, grouping, task.p)
    if beyond:
        raise Unsatisfiable(f"{beyond} shares would be more than {float(task.p)} off")
