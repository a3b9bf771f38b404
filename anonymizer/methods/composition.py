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

In parts of the users, this key deals them to parts by their names, and each part is grouped by
itself with the shares of all users. So any names of a group could still be theirs.

If no size is given, sizes grow until a short annealing finds groups without a cell beyond p. They
grow on while that makes groups closer: room to keep the promise is worth more members, up to a
point. Each of g groups has n // g members or one more, and keeps the promise with its own size. All
members of a group look alike to the attacker, so what other groups have makes no difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Ints
from ..backends.everybody import Dealt, Made, Measure, part_seed
from ..errors import Unsatisfiable
from ..model import Grouping, Profiles, Progress, Release
from ..promise import Promise
from ..rows.representative import named_rows
from ..rows.secret_order import in_order_of_content, key_of_part, refuse_no_key
from ..similarity.documents import Likeness, likeness, refuse_no_sample
from .method import Inputs, Method, Options, exchanges, option, rare, sampled

if TYPE_CHECKING:
    from ..grouping.shares import Prior

S = TypeVar("S")
_GROWTH = Fraction(13, 10)  # from one size that is tried to the next
_TRIAL = 12  # the trial of a size takes one step in 12
# Larger groups must be closer by more than trials differ by chance: smaller ones serve better.
_CLOSER = 1.001
# Unless an option asks for more: p limits how close groups can be.
_MOST_STEPS = 12_000_000


@dataclass(frozen=True)
class _Task:
    """What groups are made from."""

    profiles: Profiles  # in the order of their content
    order: Ints  # the place that each had
    likeness: Likeness
    prior: Prior
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
        " (the trial of a size takes a twelfth); off: 200 a person, 4 to 12 million"
    )
    min_users: int = rare()


class _Reached(NamedTuple):
    """What annealing has reached: groups of everybody, or of each part."""

    groups: list[Ints]
    objective: float
    beyond: int  # shares beyond p


# Groups of a size, in 1 / this of all steps.
_Annealing = Callable[[int, int], _Reached]


def run(inputs: Inputs, options: Composition) -> Release:
    """Return the release of `inputs` in groups whose shares are within p of those of all users."""
    least, most = _least_size(options, len(inputs.profiles)), len(inputs.profiles) // 2
    sizes = [options.size] if options.size else _growing(range(least, most + 1))
    task = _task(inputs, options)
    [group_of] = _closest(partial(_annealed, task), options, sizes)
    return _released(inputs, options, group_of)


def in_parts(
    dealt: Dealt, inputs: Inputs, options: Composition, measure: Measure[S]
) -> Iterator[Made[S]]:
    """Yield the shard and its `measure` of each part of the `dealt` people.

    Groups have one size, and shares within p of everybody's.
    """
    least, fewest = _least_size(options, dealt.everybody.users), min(dealt.sizes)
    most = options.size or fewest // 2
    # Of other sizes, some groups of a part would need two members more.
    fit = [s for s in range(least, most + 1) if all(n % s <= n // s for n in dealt.sizes)]
    sizes = _growing(fit)
    if not sizes:
        raise Unsatisfiable(f"{fewest} users are too few for groups of {least} or {least + 1}")

    # One size for all parts: groups of a part that needs larger ones would be told by their size.
    # A trial reads all parts again, as how alike the users of all parts are would fill the memory.
    def annealed(size: int, divisor: int) -> _Reached:
        work = partial(_anneal_part, inputs, options, size, divisor)
        parts = list(dealt.each(work, range(len(dealt.sizes))))
        return _Reached(
            [group_of for one in parts for group_of in one.groups],
            sum(one.objective for one in parts),
            sum(one.beyond for one in parts),
        )

    groups = _closest(annealed, options, sizes)
    yield from dealt.each(partial(_release_part, inputs, options, measure), groups)


def _least_size(options: Composition, users: int) -> int:
    """Return the smallest size of groups that is tried for this number of `users`."""
    from ..grouping.shares import fraction_of

    size, most = options.size, users // 2
    least = size or max(2, min(math.ceil(1 / fraction_of(options.p)), most))
    # Without a size `least` is at most half of the users, so only fewer than four users fail.
    if users < 2 * least:
        remedy = "take a smaller size, or more users" if size else "take more users"
        raise Unsatisfiable(
            f"{users} users are too few for two groups of {least}; {remedy}", needs=2 * least
        )
    return least


def _task(inputs: Inputs, options: Composition) -> _Task:
    """Return what groups of the profiles of `inputs` are made from."""
    # Imported here, so that `--help` does not load the compiled loops.
    from ..grouping.annealing import steps_for
    from ..grouping.shares import fraction_of

    profiles = inputs.profiles
    sample = refuse_no_sample(inputs.sample)
    people, order = in_order_of_content(profiles, refuse_no_key(inputs.key))
    swaps = min(steps_for(len(profiles)), _MOST_STEPS)
    if options.steps:
        swaps = max(1, options.steps * len(profiles) // inputs.people)
    return _Task(
        people,
        order,
        likeness(people, sample, inputs.rng),
        _prior(inputs),
        fraction_of(options.p),
        swaps,
        inputs.rng,
        inputs.progress,
    )


def _anneal_part(
    inputs: Inputs,
    options: Composition,
    size: int,
    divisor: int,
    profiles: Profiles,
    part: int,
) -> _Reached:
    key = key_of_part(refuse_no_key(inputs.key), part)
    own = replace(inputs, profiles=profiles, seed=part_seed(inputs.seed, part), key=key)
    return _annealed(_task(own, options), size, divisor)


def _release_part(
    inputs: Inputs,
    options: Composition,
    measure: Measure[S],
    profiles: Profiles,
    group_of: Ints,
) -> Made[S]:
    release = _released(replace(inputs, profiles=profiles), options, group_of)
    return release, measure(inputs.everybody, profiles, release)


def _growing(sizes: Sequence[int]) -> list[int]:
    """Return some of the ascending `sizes`: the first, the last, and some between them."""
    some = list(sizes[:1])
    while some and some[-1] < sizes[-1]:
        next_ = min(sizes[-1], max(some[-1] + 1, math.floor(some[-1] * _GROWTH)))
        some.append(next(size for size in sizes if size >= next_))
    return some


def _closest(annealed: _Annealing, options: Composition, sizes: Sequence[int]) -> list[Ints]:
    """Return groups of the size that is chosen, or of the best one of `sizes`."""
    if not options.size:
        return _of_best_size(annealed, options, sizes)
    reached = annealed(options.size, 1)
    if reached.beyond:
        raise Unsatisfiable(
            f"the best groups of {options.size} have {reached.beyond} shares more "
            f"than {options.p} off; take a larger size, or size=off"
        )
    return reached.groups


def _of_best_size(annealed: _Annealing, options: Composition, sizes: Sequence[int]) -> list[Ints]:
    """Return groups of the size with the best objective among those of `sizes` that work."""
    best, tried = None, []
    for size in sizes:
        trial = annealed(size, _TRIAL)
        if trial.beyond:
            tried.append((trial.beyond, size))
        elif best is None or trial.objective > _CLOSER * best[0].objective:
            best = trial, size
        if best is not None and best[1] < size:
            break
    if best is not None:
        trial, size = best
        longer = annealed(size, 1)
        return (trial if longer.beyond else longer).groups
    fewest, size = min(tried)
    raise Unsatisfiable(
        f"no group size was found that keeps every share within {options.p} of all users'; "
        f"the best tried was {size}, with {fewest} shares beyond it; take a larger p, or more users"
    )


def _annealed(task: _Task, size: int, divisor: int) -> _Reached:
    from ..grouping.annealing import anneal
    from ..grouping.shares import limits_of

    users, groups = len(task.profiles), len(task.profiles) // size
    sizes = users // groups + (np.arange(groups) < users % groups).astype(np.int64)
    limits = limits_of(task.profiles, task.p, int(sizes.min()), task.prior)
    steps, progress = max(1, task.steps // divisor), task.progress
    annealed = anneal(task.likeness, sizes, task.rng, steps=steps, limits=limits, progress=progress)
    group_of = np.empty_like(task.order)
    group_of[task.order] = annealed.group_of
    beyond = 0
    if annealed.excess:
        beyond = _beyond(task.profiles, annealed.group_of, task.p, task.prior)
    return _Reached([group_of], annealed.objective, beyond)


def _beyond(profiles: Profiles, group_of: Ints, p: Fraction, prior: Prior) -> int:
    from ..grouping.shares import cells_beyond

    return cells_beyond(profiles, Grouping(group_of), p, prior)


def _prior(inputs: Inputs) -> Prior:
    """Return how common terms are among all users."""
    from ..grouping.shares import Prior, prior_of

    everybody = inputs.everybody
    return Prior(everybody.having, everybody.users) if everybody else prior_of(inputs.profiles)


def _released(inputs: Inputs, options: Composition, group_of: Ints) -> Release:
    """Return the release of the profiles of `inputs` in the groups `group_of`."""
    from ..grouping.shares import counts_of, fraction_of

    profiles = inputs.profiles
    # Counted again in whole numbers, as the annealing adds up floats.
    if beyond := _beyond(profiles, group_of, fraction_of(options.p), _prior(inputs)):
        raise Unsatisfiable(f"{beyond} shares would be more than {options.p} off")
    grouping = Grouping(group_of)
    rows = counts_of(profiles, grouping)
    shares = rows.data / np.repeat(grouping.sizes, np.diff(rows.indptr))
    centroids = csr_matrix((shares, rows.indices, rows.indptr), shape=rows.shape)
    settled = replace(options, documents=refuse_no_sample(inputs.sample).vectors.shape[0])
    return METHOD.release(settled, named_rows(profiles, centroids), profiles.users, group_of)


METHOD = Method(
    name="composition",
    paper="ours",
    about="groups of similar people; in each group the share of members who have a term, present "
    "or absent, is within p of the share of all people",
    promise=Promise("group", "belief", once=True),
    run=run,
    in_parts=in_parts,
    options=Composition,
    needs=frozenset({"sample", "key"}),
)
