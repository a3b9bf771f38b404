"""What a release by dp-rows promises: counts of clipped profiles, noise enough, and nothing else.

The release's own key made the noise, and the judge draws it again. Whether the noise is enough is
computed in two ways that its maker does not use. One tries many orders of Rényi divergence, each of
which gives a valid delta. The other is the analytic Gaussian mechanism (Balle & Wang 2018, theorem
8), which is exact for noise that is not rounded to whole numbers.

That the domain is public can't be seen in the release: the judge sees the terms, not the corpus.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from fractions import Fraction
from io import BytesIO
from itertools import count, pairwise
from typing import Any

import numpy as np

from ....promise import Promise
from ...choices import MOST, Numbers, parameter_faults
from ...facts import facts_of_rows
from ...files.evidence import BASE, KEY, MANIFEST, ROWS, Parts
from ...files.profiles import JudgedProfiles
from ...files.strict_lines import is_real, is_whole, read_lines, read_strictly
from ...finding import Broken, Finding, Findings, row_findings, settled
from ...recounts.pools import secret_numbers
from ...tally import Grounds, Tally
from ..pooled import key_of
from ..record import Judge
from .repeated_noise import noise_of

_WORDS = {"base": ("corpus", "off")}
_NUMBERS: Numbers = {
    "epsilon": (lambda e: is_real(e) and 0 < e <= 100, "above 0 and at most 100"),
    "delta": (lambda d: is_real(d) and 0 < d < 1, "above 0 and below 1"),
    "rows": (lambda n: is_whole(n, 1, 1000), "a whole number from 1 to 1000"),
    "terms": (lambda n: is_whole(n, 1, 10_000), "a whole number from 1 to 10000"),
    "variance": (lambda v: is_whole(v, 1, 10**12), f"a whole number from 1 to {10**12}"),
    "documents": (lambda n: is_whole(n, 2, 5000), "a whole number from 2 to 5000"),
}
_TOPIC = {"topic": "topic 1", "terms": {"kitten": 1.0}}
# Of any order the delta is valid, so a coarse search can only be too strict.
_ORDERS = 1 + np.exp(np.linspace(-10, 15, 200_001))
Row = dict[str, int]  # term -> people


def _judge(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Yield whether noise, key, sizes and all weights are as promised."""
    yield from _judge_budget(parameters, grounds.tally.users)
    key = key_of(grounds.parts)
    yield from _judge_key(key, grounds.parts)
    yield from _judge_profiles(grounds.parts)
    topics = _topics(parameters, grounds.parts)
    yield from _judge_sizes(parameters["rows"], grounds.tally)
    people = grounds.tally.users
    line = f"has a weight that is not a number of people out of {people}"
    weights = grounds.rows.cells.weights
    off = np.rint(weights * people) / people != weights
    off |= (weights <= 0) | (weights > 1)
    row = grounds.rows.keys // grounds.rows.span
    wrong = np.bincount(row[off], minlength=len(grounds.rows.names)) > 0
    yield from row_findings("grid", wrong, line, "each weight is a number of people out of all")
    if grounds.tally.edited is not None:
        line = "noisy counts are of all people of the making, and were checked then"
        yield Finding("counts", True, ROWS, line)
        return
    expected = _expected(parameters, grounds.people, key, topics)
    rows = _rows_in(grounds)
    if len(rows) != len(expected):
        return  # a breach already
    wrong = np.array(
        [
            row != {term: having / people for term, having in wanted.items()}
            for row, wanted in zip(rows, expected, strict=True)
        ]
    )
    line = "is not made of clipped counts and the noise that the key draws"
    good = f"{weights.size} weights are clipped counts with the noise that the key draws"
    yield from row_findings("counts", wrong, line, good)
    line = "it covers rows alone: who has which row stays private. It adds up over releases"
    yield Finding("guarantee", True, MANIFEST, line)
    if topics:
        line = "public only if these are: the terms of the documents that the rows begin with"
        yield Finding("base", True, BASE, line)


def _judge_budget(parameters: Mapping[str, Any], people: int) -> Findings:
    """Yield whether the variance keeps epsilon and delta, by two formulas."""
    epsilon, stated, variance = (parameters[name] for name in ("epsilon", "delta", "variance"))
    delta = stated if parameters["base"] == "corpus" else stated / 2
    squared = 2 * parameters["terms"]  # of a profile, the terms that go, and those that come
    by_orders, by_normal = (
        _by_orders(epsilon, squared / (2 * variance)),
        _by_normal(epsilon, math.sqrt(squared / variance)),
    )
    figures = f"{by_orders:.2e} by Rényi divergences, {by_normal:.2e} by the analytic Gaussian"
    faults = {
        f"a noise of variance {variance} needs a delta of {figures}": max(by_orders, by_normal)
        > delta,
        f"delta={stated} is not below 1 / {people} people": stated * people >= 1,
    }
    good = f"a noise of variance {variance} keeps epsilon={epsilon} with a delta of {figures}"
    yield from settled("epsilon", MANIFEST, faults, good)


def _by_orders(epsilon: float, rho: float) -> float:
    """Return the delta of `rho`-zCDP at `epsilon`, by the best of many orders."""
    orders = _ORDERS
    logs = (orders - 1) * (orders * rho - epsilon) - orders * np.log(orders / (orders - 1))
    return math.exp(min(0.0, float(np.min(logs - np.log(orders - 1)))))


def _by_normal(epsilon: float, ratio: float) -> float:
    """Return the delta of normal noise at `epsilon`; `ratio` is the sensitivity over its spread."""

    def below(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    near, far = ratio / 2 - epsilon / ratio, -ratio / 2 - epsilon / ratio
    return below(near) - math.exp(epsilon) * below(far)


def _judge_key(key: bytes, parts: Parts) -> Findings:
    """Yield whether `key` was not made from the seed that release.json states."""
    seed = read_strictly(parts[MANIFEST])["seed"]
    text = f"veilsearch: for measuring only, seed {seed}"  # as experiments make theirs
    made = hashlib.sha256(text.encode()).digest() == key
    faults = {"is made from the seed, so anybody can take the noise away": made}
    yield from settled("key", KEY, faults, "is there: 32 bytes, not made from the seed")


def _judge_profiles(parts: Parts) -> Findings:
    """Yield whether one person's part in other profiles, or in several, breaks the promise."""
    choices = read_strictly(parts[MANIFEST])["profiles"]
    faults = {
        "its weights depend on other people, and so does which terms of a long profile count; "
        "make profiles with --weights binary or tf": choices.get("weights") in ("tfidf", "recency"),
        "users are sessions, of which one person may have many; make profiles with --granularity "
        "user": choices.get("granularity") == "session",
    }
    yield from settled("profiles", MANIFEST, faults, "nobody has a part in profiles of others")


def _judge_sizes(rows: int, tally: Tally) -> Findings:
    """Yield whether there are `rows` rows, and all serve equally many people of `tally`."""
    people = tally.users
    wanted = [people // rows + (at >= rows - people % rows) for at in range(rows)]
    equal = tally.sizes.tolist() == wanted
    if tally.edited is not None:
        equal = {*tally.sizes.tolist()} <= {*wanted, *(size - 1 for size in wanted)}
    faults = {f"there must be {rows} rows, which serve equally many people": not equal}
    yield from settled("rows", ROWS, faults, "rows serve equally many people")


def _topics(parameters: Mapping[str, Any], parts: Parts) -> list[Row]:
    """Return the number of documents that have each term, of each topic; none with base off."""
    if (BASE in parts) != (parameters["base"] == "corpus"):
        raise Broken("base", BASE, "must be there with base corpus, and not with base off")
    topics: list[Row] = []
    if BASE not in parts:
        return topics
    try:
        for number, record in enumerate(read_lines(BytesIO(parts[BASE]), _TOPIC), 1):
            having = record["terms"]
            sound = record["topic"] == f"topic {number}" and having
            for value in having.values():
                sound = sound and is_real(value) and 1 <= value <= MOST and value.is_integer()
            if not sound:
                raise ValueError("a topic has no term, another number, or a count that is none")
            topics.append({term: int(value) for term, value in having.items()})
    except ValueError as fault:
        raise Broken("base", BASE, str(fault)) from fault
    if len(topics) != parameters["rows"]:
        raise Broken("base", BASE, f"there must be {parameters['rows']} topics, one for each row")
    return topics


def _expected(
    parameters: Mapping[str, Any], people: JudgedProfiles, key: bytes, topics: Sequence[Row]
) -> list[Row]:
    """Return the people that each row must state for each of its terms."""
    every = Counter[str]()
    for topic in topics:
        every.update(topic)
    domain = {*every} if topics else {*people.terms}
    variance, most = parameters["variance"], len(people.users)
    counts = _clipped(people, domain, parameters["terms"], key)
    noisy = {term: counts[term] + noise_of(key, f"noise {term}", variance) for term in domain}
    if not topics:
        least = _threshold(parameters)
        # The threshold allows for counted terms only, so a term with a count of 0 is never shown.
        return [{term: min(most, z) for term, z in noisy.items() if z >= least and counts[term]}]
    mass, total = parameters["terms"] * most, every.total()
    common = {}
    for term, z in noisy.items():
        prior = Fraction(mass * every[term], total)
        weighed = prior * (300 * z + variance) / (300 * prior + variance)
        common[term] = max(0, math.floor(weighed))
    rows = []
    for topic in topics:
        own = dict[str, int]()
        if len(topics) > 1:
            share = Fraction(mass, sum(topic.values()))
            own = {
                term: min(math.isqrt(variance), math.floor(of * share)) * 3 // 10
                for term, of in topic.items()
            }
        row = {term: min(most, z + own.get(term, 0)) for term, z in common.items()}
        rows.append({term: z for term, z in row.items() if z})
    return rows


def _clipped(people: JudgedProfiles, domain: Set[str], most: int, key: bytes) -> Counter[str]:
    """Return how many users have each term of `domain`, of at most `most` terms of each user."""
    counts = Counter[str]()
    drawn = {term: int(secret_numbers(key, f"clip {term}", 1)[0]) for term in people.terms}
    ends, columns, weights = people.cells
    for low, high in pairwise(ends.tolist()):
        terms = [people.terms[column] for column in columns[low:high].tolist()]
        own = zip(weights[low:high].tolist(), terms, strict=True)
        ranked = sorted((-weight, drawn[term], term) for weight, term in own if term in domain)
        counts.update(term for *_, term in ranked[:most])
    return counts


def _threshold(parameters: Mapping[str, Any]) -> int:
    """Return the least noisy count that shows a term if the terms come from the people."""
    allowed = parameters["delta"] / 2 / (1 + math.exp(parameters["epsilon"])) / parameters["terms"]
    spread = math.sqrt(parameters["variance"])
    reach = next(x for x in count() if math.erfc(x / spread / math.sqrt(2)) / 2 <= allowed)
    return reach + 2


def _rows_in(grounds: Grounds) -> list[dict[str, float]]:
    """Return the terms and weights of each row."""
    terms, (ends, columns, weights) = grounds.rows.terms, grounds.rows.cells
    cells = [
        (terms[at], weight) for at, weight in zip(columns.tolist(), weights.tolist(), strict=True)
    ]
    return [dict(cells[low:high]) for low, high in pairwise(ends.tolist())]


def _facts(grounds: Grounds) -> dict[str, int | float]:
    """Return the facts that this method states: of the rows alone, as if they had no noise."""
    tally, (ends, columns, weights) = grounds.tally, grounds.rows.cells
    members = weights * np.repeat(tally.sizes, np.diff(ends))
    span = max(tally.span, int(columns.max()) + 1)
    having = np.rint(np.bincount(columns, members, span)).astype(np.int64)
    served = int(tally.sizes.sum())
    as_shown = replace(
        tally, span=span, having=having, profile_terms=int(having.sum()), users=served
    )
    return facts_of_rows(as_shown, grounds.rows, tally.sizes.size)


def _faults(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with single parameters, and with several together."""
    yield from parameter_faults(parameters, _WORDS, _NUMBERS)
    if parameters.get("base") == "off" and parameters.get("rows") != 1:
        yield "rows must be 1 with base off"


JUDGE = Judge(
    "dp-rows",
    Promise("group", "differential", once=True, hides_members=True),
    _judge,
    None,
    {*_WORDS, *_NUMBERS, "corpus", "off"},
    _faults,
    frozenset({"documents"}),
    keeps=frozenset({KEY, BASE}),
    facts=_facts,
)
