"""composition: groups whose members have each term about as often as all users do.

Ours. N_t of n users have a term t; c_gt of a group's m members have it. Similar users are grouped
so that |c_gt / m - N_t / n| <= p for every group and every term, also for terms that no member has.
A row is the plain centroid of its members' sets of terms, and no term is suppressed.

Take an attacker with all profiles without their names, the algorithm, its draws, all rows and a
victim's group. This attacker believes with probability c_gt / m that the victim has t: at most p
away from N_t / n. That is so because groups are made of profiles in the order of their content, so
any names could be theirs. Users with equal terms are ordered by a secret key, not by the seed; no
row depends on the key, and it is not kept. The attacker may know each exchange that was tried, so
these need not be drawn evenly.

If no size is given, sizes grow until a short annealing finds groups without a cell beyond p. They
grow on while that makes groups closer: room to keep the promise is worth more members, up to a
point. Each of g groups has n // g members or one more, and keeps the promise with its own size. All
members of a group look alike to the attacker, so what other groups have makes no difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Ints
from ..errors import Unsatisfiable
from ..model import Grouping, Profiles, Progress, Release
from ..promise import Promise
from ..rows.representative import named_rows
from ..rows.secret_order import in_order_of_content, refuse_no_key
from ..similarity.documents import Likeness, likeness, refuse_no_sample
from .method import Inputs, Method, Options, exchanges, option, rare, sampled

if TYPE_CHECKING:
    from ..grouping.annealing import Annealed

_GROWTH = Fraction(13, 10)  # from one size that is tried to the next
_TRIAL = 12  # the trial of a size takes one step in 12
# Unless an option asks for more or fewer: groups that keep p take longer to find, and p limits how
# close they can be.
_LEAST_STEPS, _MOST_STEPS = 3_000_000, 12_000_000


@dataclass(frozen=True)
class _Task:
    """What groups are made from."""

    profiles: Profiles
    likeness: Likeness
    p: Fraction
    steps: int
    rng: np.random.Generator
    progress: Progress


@dataclass(frozen=True)
class Composition(Options):
    """The options of a release by composition."""

    p: float = option(0.4, "how far, at most, a group's share may be from that of all people")
    size: int | None = option(
        None,
        "members of a group; off: growing sizes are tried, and the closest groups kept",
        least=2,
    )
    documents: int = sampled()
    steps: int | None = exchanges(
        " (the trial of a size takes a twelfth); off: 200 a person, 3 to 12 million"
    )
    min_users: int = rare()


def run(inputs: Inputs, options: Composition) -> Release:
    """Return the release of `inputs` in groups whose shares are within p of those of all users."""
    # Imported here, so that `--help` does not load the compiled loops.
    from ..grouping.annealing import steps_for
    from ..grouping.shares import counts_of, fraction_of

    profiles, share, size = inputs.profiles, fraction_of(options.p), options.size
    sample = refuse_no_sample(inputs.sample)
    most = len(profiles) // 2
    least = size or max(2, min(math.ceil(1 / share), most))
    # Without a size `least` is at most half of the users, so only fewer than four users fail.
    if len(profiles) < 2 * least:
        remedy = "take a smaller size, or more users" if size else "take more users"
        raise Unsatisfiable(
            f"{len(profiles)} users are too few for two groups of {least}; {remedy}",
            needs=2 * least,
        )
    people, order = in_order_of_content(profiles, refuse_no_key(inputs.key))
    alike = likeness(people, sample, inputs.rng)
    swaps = options.steps or min(max(_LEAST_STEPS, steps_for(len(profiles))), _MOST_STEPS)
    task = _Task(people, alike, share, swaps, inputs.rng, inputs.progress)
    if size:
        annealed = _annealed(task, size, task.steps)
        if annealed.excess:
            raise Unsatisfiable(
                f"the best groups of {size} have {_beyond(task, annealed.group_of)} shares more "
                f"than {float(task.p)} off; take a larger size, or size=off"
            )
        grouping = Grouping(annealed.group_of)
    else:
        grouping = _of_best_size(task, least)
    # Counted again in whole numbers, as the annealing adds up floats.
    if beyond := _beyond(task, grouping.group_of):
        raise Unsatisfiable(f"{beyond} shares would be more than {float(share)} off")
    group_of = np.empty_like(order)
    group_of[order] = grouping.group_of
    rows = counts_of(people, grouping)
    shares = rows.data / np.repeat(grouping.sizes, np.diff(rows.indptr))
    centroids = csr_matrix((shares, rows.indices, rows.indptr), shape=rows.shape)
    settled = replace(options, documents=sample.vectors.shape[0])
    return METHOD.release(settled, named_rows(profiles, centroids), profiles.users, group_of)


def _of_best_size(task: _Task, least: int) -> Grouping:
    """Return groups of the size with the best objective among those that work."""
    best, tried, most = None, [], len(task.profiles) // 2
    sizes = [least]  # each is larger than the one before; the last makes two groups
    while sizes[-1] < most:
        sizes.append(min(most, max(sizes[-1] + 1, math.floor(sizes[-1] * _GROWTH))))
    for size in sizes:
        annealed = _annealed(task, size, max(1, task.steps // _TRIAL))
        if annealed.excess:
            tried.append((_beyond(task, annealed.group_of), size))
        elif best is None or annealed.objective > best[0].objective:
            best = annealed, size
        if best is not None and best[1] < size:
            break
    if best is not None:
        trial, size = best
        annealed = _annealed(task, size, task.steps)
        return Grouping((trial if annealed.excess else annealed).group_of)
    fewest, size = min(tried)
    raise Unsatisfiable(
        f"no group size was found that keeps every share within {float(task.p)} of all users'; "
        f"the best tried was {size}, with {fewest} shares beyond it; take a larger p, or more users"
    )


def _annealed(task: _Task, size: int, steps: int) -> Annealed:
    from ..grouping.annealing import anneal
    from ..grouping.shares import limits_of

    users, groups = len(task.profiles), len(task.profiles) // size
    sizes = users // groups + (np.arange(groups) < users % groups).astype(np.int64)
    limits = limits_of(task.profiles, task.p, int(sizes.min()))
    return anneal(
        task.likeness, sizes, task.rng, steps=steps, limits=limits, progress=task.progress
    )


def _beyond(task: _Task, group_of: Ints) -> int:
    from ..grouping.shares import cells_beyond

    return cells_beyond(task.profiles, Grouping(group_of), task.p)


METHOD = Method(
    name="composition",
    paper="ours",
    about="groups of similar people; in each group the share of members who have a term, present "
    "or absent, is within p of the share of all people",
    promise=Promise("group", "belief", once=True),
    run=run,
    options=Composition,
    needs=frozenset({"sample", "key"}),
)
