"""dp-rows: rows from one noisy count of terms, with user-level differential privacy.

Two data sets are neighbours if they have the same number of people, and one person's profile
differs. Of each profile at most `terms` terms of the domain count, each once. So the counts of two
neighbours differ by a vector of squared length 2 `terms` at most: one person's terms go, and the
other's come. Discrete Gaussian noise on all counts (`discrete_noise`) keeps (epsilon, delta)
(`accounting`). All that follows uses noisy counts and public data only, so it costs nothing more.

With base=corpus the domain is public: the terms of a sample of the index's documents. The share of
documents that have a term is the prior of its count. Weighing count z and prior b by their
variances gives b (300 z + v) / (300 b + v), where v is that of the noise. With several `rows` the
sample is clustered into topics, and each topic adds a part of its own shares. A row's weights are
such counts, rounded down to whole people, divided by the number of people.

A person gets the row whose topic is closest to the own profile. All rows serve equally many people,
so their numbers say nothing. Who has which row is private, and no row depends on it.

With base=off the domain is the terms that count for somebody. A term is published if its noisy
count reaches a threshold that a term of one person alone reaches too rarely. That takes a half of
delta: noise gets delta / 2, and the threshold delta / 2 (1 + e^epsilon) for the person's terms all
together.

The operating system draws the key of the noise, never the seed. A judge can repeat the noise by
the names "noise TERM", and which terms of a long profile count: those of the largest weight, of
equal ones those with the smaller number under "clip TERM".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_matrix

from ...arrays import Ints
from ...backends.everybody import Dealt, Made, Measure
from ...errors import Unsatisfiable
from ...model import SHORT, Grouping, Profiles, Release, row_names
from ...promise import Promise
from ...rows.representative import over_used
from ...rows.secret_order import refuse_no_key, secret_numbers_of
from ...similarity.documents import Documents, refuse_no_sample
from ..method import Inputs, Method, Options, option, sampled
from .accounting import threshold_for, variance_for
from .discrete_noise import Stream, gaussian
from .topics import places, shared_out, topics_of

S = TypeVar("S")
_MOST_EPSILON = 100
_MOST_VARIANCE = 10**12
# Chosen on two logs, see docs/methods.md: the variance of the prior in units of it, and how
# much of a topic's own shares its row gets, in tenths.
_SPREAD, _TENTHS = 300, 3


@dataclass(frozen=True)
class DpRows(Options):
    """The options of noisy rows."""

    epsilon: float = option(1.0, f"above 0 and at most {_MOST_EPSILON}; smaller is more private")
    delta: float = option(1e-6, "the chance that epsilon fails; below 1 / number of people")
    rows: int = option(1, "rows, each for a topic of the corpus", least=1, most=1000)
    base: str = option(
        "corpus",
        "terms of the index's documents; off: common terms of the people, which costs half of "
        "delta",
        choices=("corpus", "off"),
    )
    terms: int = option(150, "of a profile at most this many terms count", least=1, most=10_000)
    variance: int | None = option(
        None,
        "of the noise; off: the least that keeps epsilon and delta",
        least=1,
        most=_MOST_VARIANCE,
    )
    documents: int = sampled()

    def effects(self) -> dict[str, bool]:
        """Return that documents have no effect without a base."""
        return {"documents": self.base == "corpus"}

    def faults(self, inputs: Inputs) -> list[str]:
        """Return what is wrong with the values, for these `inputs`."""
        faults, people = self.own_faults(), inputs.people
        if not 0 < self.epsilon <= _MOST_EPSILON:
            faults.append(f"epsilon={self.epsilon} must be above 0 and at most {_MOST_EPSILON}")
        elif not 0 < self.delta * people < 1:
            faults.append(f"delta={self.delta} must be above 0 and below 1 / {people} people")
        elif not faults and self.least() > _MOST_VARIANCE:
            faults.append(
                f"epsilon={self.epsilon} needs more noise than there is; take a larger one"
            )
        elif not faults and self.variance is not None and self.variance < (least := self.least()):
            faults.append(f"variance={self.variance} must be {least} or more for this epsilon")
        if self.base == "off" and self.rows > 1:
            faults.append(f"rows={self.rows} needs base=corpus, whose topics they are")
        return faults

    @property
    def noise_delta(self) -> float:
        """Return the part of delta that is the noise's."""
        return self.delta / 2 if self.base == "off" else self.delta

    def least(self) -> int:
        """Return the least variance that keeps the promise."""
        return variance_for(self.epsilon, self.noise_delta, 2 * self.terms, SHORT)

    @property
    def noise(self) -> int:
        """Return the variance of the noise."""
        return self.variance or self.least()


def run(inputs: Inputs, options: DpRows) -> Release:
    """Return rows of noisy counts of the profiles of `inputs`."""
    profiles, key = inputs.profiles, refuse_no_key(inputs.key)
    settled, base = _settled(inputs, options)
    domain = base.terms if base else profiles.terms
    counts = clipped_counts(profiles, domain, options.terms, key)
    row_of_user = np.zeros(len(profiles), dtype=np.int64)
    if base is not None:
        row_of_user = _served(base, profiles, places(len(profiles), len(base)))
    return _released(settled, (domain, counts), base, key, profiles.users, row_of_user)


def in_parts(
    dealt: Dealt, inputs: Inputs, options: DpRows, measure: Measure[S]
) -> Iterator[Made[S]]:
    """Yield the one shard of a release of all `dealt` people, and its `measure`.

    The counts of all parts are added up before noise.
    """
    key, sizes = refuse_no_key(inputs.key), dealt.sizes
    settled, base = _settled(inputs, options)
    domain = base.terms if base else dealt.parts.terms
    # All rows together serve equally many people, so the places are dealt to the parts in turn.
    ends, topics = np.cumsum(sizes).tolist(), len(base) if base else 1
    room = np.diff([places(end, topics) for end in [0, *ends]], axis=0)
    work = partial(_count_part, domain, options.terms, key, base)
    parts = list(dealt.each(work, list(room)))
    # Noise comes once, after the sum. Noise in each part would be as much for far fewer people.
    counts = np.sum([one.counts for one in parts], axis=0)
    # Users stand in the order of the profiles, not by parts.
    order = np.argsort(np.argsort(dealt.parts.part_of, kind="stable"))
    names = [user for one in parts for user in one.users]
    users = tuple(names[at] for at in order.tolist())
    row_of_user = np.concatenate([one.row_of_user for one in parts])[order]
    release = _released(settled, (domain, counts), base, key, users, row_of_user)
    yield release, measure(None, None, release)


class _CountedPart(NamedTuple):
    """What is counted of a part, and who in it gets which row."""

    counts: Ints
    users: tuple[str, ...]
    row_of_user: Ints


def _count_part(
    domain: Sequence[str],
    most: int,
    key: bytes,
    base: Profiles | None,
    profiles: Profiles,
    room: Ints,
) -> _CountedPart:
    row_of_user = np.zeros(len(profiles), dtype=np.int64)
    if base is not None:
        row_of_user = _served(base, profiles, room)
    counts = clipped_counts(profiles, domain, most, key)
    return _CountedPart(counts, profiles.users, row_of_user)


def _settled(inputs: Inputs, options: DpRows) -> tuple[DpRows, Profiles | None]:
    """Return `options` as they take effect, and what documents say of the terms, if they do."""
    if inputs.people < 2 * options.rows:
        line = f"{inputs.people} users are too few for rows={options.rows} of two people or more"
        raise Unsatisfiable(line, needs=2 * options.rows)
    settled = replace(options, variance=options.noise)
    if options.base == "off":
        return settled, None
    sample = refuse_no_sample(inputs.sample)
    settled = replace(settled, documents=sample.vectors.shape[0])
    return settled, _base_of(sample, options.rows, inputs.seed)


def _released(
    settled: DpRows,
    counted: tuple[Sequence[str], Ints],
    base: Profiles | None,
    key: bytes,
    users: tuple[str, ...],
    row_of_user: Ints,
) -> Release:
    """Return the release of rows of what is `counted`: terms, and how many users have each."""
    domain, counts = counted
    if base is None:
        # Of one person's terms no more than count may be in the domain: others have no threshold.
        counting = np.flatnonzero(counts)
        domain, counts = tuple(domain[at] for at in counting.tolist()), counts[counting]
    noisy = [
        count + gaussian(Stream(key, f"noise {term}"), settled.noise)
        for term, count in zip(domain, counts.tolist(), strict=True)
    ]
    people = len(users)
    cells = _estimated(noisy, base, settled, people) if base else _common(noisy, settled)
    shares = csr_matrix(np.minimum(cells, people) / people)
    if not np.diff(shares.indptr).all():
        raise Unsatisfiable(
            f"at epsilon={settled.epsilon} no term stands out from the noise; take a larger "
            "epsilon, or more people"
        )
    rows = over_used(row_names(len(cells), set(users)), tuple(domain), shares)
    release = METHOD.release(settled, rows, users, row_of_user)
    return replace(release, key=key, base=base)


def _base_of(sample: Documents, rows: int, seed: int) -> Profiles:
    """Return how many documents of each topic have each term, for `rows` topics."""
    topic_of = topics_of(sample.vectors, rows, seed)
    topics = Grouping(topic_of)
    if topics.count < rows:
        raise Unsatisfiable(
            f"the documents make {topics.count} topics; take fewer rows than {rows}"
        )
    has = csr_matrix(sample.vectors, copy=True)
    has.eliminate_zeros()
    has.data = np.ones_like(has.data)
    having = csr_matrix(topics.indicator @ has)
    names = tuple(f"topic {number + 1}" for number in range(rows))
    return Profiles(names, sample.terms, having).in_order()


def clipped_counts(profiles: Profiles, domain: Sequence[str], most: int, key: bytes) -> Ints:
    """Return how many users of `profiles` have each term of `domain`, among the `most` that count.

    A user's terms of the largest weight count; of equal ones `key` decides.
    """
    column = {term: at for at, term in enumerate(domain)}
    columns = np.array([column.get(term, -1) for term in profiles.terms], dtype=np.int64)
    cells = profiles.weights
    term, user = columns[cells.indices], np.repeat(np.arange(len(profiles)), profiles.sizes)
    known = np.flatnonzero(term >= 0)
    if np.bincount(user[known], minlength=1).max() > most:
        drawn = secret_numbers_of(key, "clip", profiles.terms)[cells.indices[known]]
        known = known[np.lexsort((drawn, -cells.data[known], user[known]))]
        sizes = np.bincount(user[known], minlength=len(profiles))
        place = np.arange(known.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        known = known[place < most]
    return np.bincount(term[known], minlength=len(domain)).astype(np.int64)


def _common(noisy: Sequence[int], options: DpRows) -> Ints:
    """Return one row of those `noisy` counts that reach the threshold."""
    # The chance that a person's own terms show counts on either side of two neighbours.
    delta = options.delta / 2 / (1 + math.exp(options.epsilon))
    threshold = threshold_for(options.noise, options.terms, delta)
    return np.array([[count if count >= threshold else 0 for count in noisy]])


def _estimated(noisy: Sequence[int], base: Profiles, options: DpRows, people: int) -> Ints:
    """Return the rows of `noisy` counts, weighed against what documents say, in whole people."""
    having = base.weights.toarray().astype(np.int64)
    mass, noise = options.terms * people, options.noise
    every, total = having.sum(axis=0).tolist(), int(having.sum())
    # In whole numbers without a limit, so that the judge gets the same ones.
    common = [
        max(0, mass * of * (_SPREAD * count + noise) // (_SPREAD * mass * of + noise * total))
        for count, of in zip(noisy, every, strict=True)
    ]
    if len(base) == 1:
        return np.array([common])
    most = math.isqrt(noise)
    own = [
        [_TENTHS * min(most, mass * of // documents) // 10 for of in topic]
        for topic, documents in zip(having.tolist(), having.sum(axis=1).tolist(), strict=True)
    ]
    rows: Ints = np.array(common) + np.array(own)
    return rows


def _served(base: Profiles, profiles: Profiles, room: Ints) -> Ints:
    """Return a close topic of `base` for each user; each topic gets at most its `room`."""
    column = {term: at for at, term in enumerate(base.terms)}
    columns = np.array([column.get(term, -1) for term in profiles.terms], dtype=np.int64)
    known = np.flatnonzero(columns >= 0)
    own = csr_matrix(profiles.weights[:, known], copy=True)
    own.data = np.ones_like(own.data)
    topics = base.weights[:, columns[known]].toarray()
    lengths = np.sqrt(base.weights.multiply(base.weights).sum(axis=1))
    return shared_out(np.asarray(own @ (topics / np.asarray(lengths)).T), room)


METHOD = Method(
    name="dp-rows",
    paper="ours",
    about="rows of a noisy count of everybody's terms, with (epsilon, delta)-differential privacy; "
    "a secret key makes the noise, and is kept in the private part",
    promise=Promise("group", "differential", once=True, hides_members=True),
    run=run,
    in_parts=in_parts,
    options=DpRows,
    needs=frozenset({"sample", "key"}),
)
