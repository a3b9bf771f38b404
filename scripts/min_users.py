"""What `min_users` costs and brings: search quality, singling out and linking, on a query log.

usage: .venv/bin/python -m scripts.min_users LOG --workspace WORKSPACE [-o PAGE.md]

WORKSPACE must have an index. People, questions and the gold standard are those of the experiment
`promise`. The page holds means only, and no term, query or person.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from anonymizer.arrays import Floats, Ints
from anonymizer.model import Profiles, Release
from anonymizer.querylog.reading import read_log
from index.manifest import read_manifest
from index.opening import open_index
from search_app import __version__
from search_app.experiments.data import Data
from search_app.experiments.definition import read_definition
from search_app.experiments.design import Experiment, Unit, units_of
from search_app.experiments.pipeline import World, block_of, prepare, release_for, scored
from search_app.experiments.results.provenance import machine
from search_app.experiments.workers import Place, open_world
from search_app.measures.significance import by_person, interval
from search_app.settings import Settings, load_settings
from search_app.tasks.profiling import analysis
from search_app.workspace.folder import Workspace

KNOWN = 5  # terms of a victim that the attacker knows
DRAWS = 5  # of these terms, for each victim and release
POOLS = (100, 1000)
DEFINITION = """
name = "min-users"
title = "What min_users costs and brings"

[inputs]
queries_per_user = 4

[defaults]
modes = ["group"]
pools = [100, 1000]
seeds = [0, 1, 2]

[[variant]]
name = "p-linkability"
method = "p-linkability"
parameters = { p = 0.4, min_users = [1, 2, 3, 5, 10] }

[[variant]]
name = "composition"
method = "composition"
parameters = { p = 0.2, min_users = [1, 2, 3, 5, 10] }

[[variant]]
name = "pooled"
method = "pooled"
parameters = { p = 0.2, min_users = [1, 2, 3, 5, 10] }
"""
HEAD = (
    "| `min_users` | terms in rows | own terms in row | AP 100 | AP 1000 | change at 1000 "
    "| one term | two terms | row found |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)


class Outcome(NamedTuple):
    """What is measured of one release."""

    terms: int  # distinct terms in its rows
    kept: float  # mean share of a person's terms that the person's row has
    precision: dict[int, Floats]  # pool -> each person's mean AP
    single: float  # share of people whom some released term singles out
    pairs: float  # share of people whom some two released terms single out
    linked: float  # share of victims whose row an attacker names


def outcome(world: World, unit: Unit) -> Outcome:
    """Return what is measured of the release of `unit`."""
    release = release_for(world, unit)
    if release is None:
        raise ValueError("the definition names a method for each variant")
    profiles = world.data.profiles[unit.weights]
    person = world.data.questions.person
    precision = {}
    for pool in POOLS:
        scores = list(scored(world, unit, release, "group", pool))
        values = block_of(unit.name, "group", pool, scores, world.gold(unit)).values["AP"]
        precision[pool] = by_person(values, person)
    shares = released_shares(profiles, release)
    owned = np.repeat(np.arange(len(profiles)), profiles.sizes)
    row = release.row_of_user[owned]
    kept = np.bincount(owned, weights=shares[row, profiles.weights.indices] > 0) / profiles.sizes
    single, pairs = singled_out(profiles, shares.max(axis=0) > 0)
    return Outcome(
        int(np.count_nonzero(shares.max(axis=0))),
        float(kept.mean()),
        precision,
        single,
        pairs,
        linked(profiles, release, shares, np.random.default_rng(unit.seed)),
    )


def released_shares(profiles: Profiles, release: Release) -> Floats:
    """Return the rows of `release` over the terms of `profiles`: rows x terms."""
    number = {term: at for at, term in enumerate(profiles.terms)}
    shares = np.zeros((len(release.rows), len(profiles.terms)))
    columns = [number[term] for term in release.rows.terms]
    shares[:, columns] = release.rows.weights.toarray()
    return shares


def singled_out(profiles: Profiles, published: Ints) -> tuple[float, float]:
    """Return the shares of people who alone have a `published` term, or two such terms."""
    owns = profiles.weights.astype(bool).astype(np.int32).toarray()
    having = owns.sum(axis=0)
    one = [bool(np.any(having[(row > 0) & published] == 1)) for row in owns]
    two = []
    for row in owns:
        some = owns[:, (row > 0) & published].astype(np.float32)
        two.append(bool(some.shape[1]) and bool(np.any(some.T @ some == 1)))
    return float(np.mean(one)), float(np.mean(two))


def linked(profiles: Profiles, release: Release, shares: Floats, rng: np.random.Generator) -> float:
    """Return how often the likeliest row is the victim's, for somebody who knows KNOWN terms.

    A row is as likely as the product of what it publishes for these terms. Ties are shared.
    """
    sizes = release.grouping.sizes[: release.groups]
    rows = shares[: release.groups]
    prior = np.average(rows, axis=0, weights=sizes)
    # As if each group had one more member like everybody: no published share rules a row out.
    logs = np.log((rows * sizes[:, None] + prior + 1e-9) / (sizes[:, None] + 1))
    hits = []
    for victim in np.flatnonzero(release.row_of_user < release.groups).tolist():
        terms, _ = profiles.slice(victim)
        for _ in range(DRAWS):
            known = rng.choice(terms, min(KNOWN, terms.size), replace=False)
            likely = logs[:, known].sum(axis=1)
            best = np.flatnonzero(likely >= likely.max() - 1e-12)
            hits.append(np.isin(release.row_of_user[victim], best) / best.size)
    return float(np.mean(hits))


def prepared(experiment: Experiment, log: Path, settings: Settings) -> tuple[World, Data]:
    """Return the world in which the units of `experiment` are measured."""
    folder = Workspace(settings.workspace).find("index")
    lucene, _ = open_index(folder, heap=settings.heap)
    with closing(lucene):
        data = prepare(
            read_log([log])[0],
            analysis("wordnet", settings),
            lambda queries, limit: lucene.pools(queries, limit, threads=2),
            experiment.inputs,
            units_of(experiment.variants),
        )
    return open_world(data, Place(folder, settings.cache)), data


def table(experiment: Experiment, found: dict[str, Outcome]) -> Iterator[str]:
    """Yield a table for each method of `experiment`, from what was `found` of its units."""
    units, first = units_of(experiment.variants), dict[str, Floats]()
    method = ""
    for variant in experiment.variants:
        some = [found[unit.name] for unit in units if unit.serves(variant)]
        precision = {pool: np.mean([one.precision[pool] for one in some], axis=0) for pool in POOLS}
        if variant.method != method:
            method = variant.method
            first[method] = precision[1000]
            yield f"\n## {method}, p = {variant.p}\n\n{HEAD}"
        change = interval(precision[1000] - first[method])
        means = [
            np.mean([getattr(one, name) for one in some])
            for name in Outcome._fields
            if name != "precision"
        ]
        terms, kept, single, pairs, row = means
        yield (
            f"| {variant.given['min_users']} | {terms:,.0f} | {kept:.3f} "
            f"| {np.nanmean(precision[100]):.3f} | {np.nanmean(precision[1000]):.3f} "
            f"| {change.mean:+.4f} [{change.low:+.4f}, {change.high:+.4f}] "
            f"| {single:.1%} | {pairs:.1%} | {row:.3f} |"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args(arguments)
    began, settings = time.time(), load_settings(given.workspace)
    experiment = read_definition(DEFINITION, "min_users.py")
    world, data = prepared(experiment, given.log, settings)
    found = {}
    for unit in units_of(experiment.variants):
        found[unit.name] = outcome(world, unit)
        print(unit.label, unit.seed, found[unit.name]._replace(precision={}), flush=True)
    documents = read_manifest(Workspace(settings.workspace).find("index"))["counts"]["documents"]
    people = len(next(iter(data.profiles.values())))
    computer = machine()
    lines = [
        f"- Command: `python -m scripts.min_users {given.log.name} --workspace WORKSPACE`",
        f"- Date: {time.strftime('%Y-%m-%d')}, after {time.time() - began:,.0f} s",
        f"- Machine: {computer['system']} {computer['machine']}, {computer['cores']} cores, "
        f"{computer['memory_gb']:.0f} GB; veilsearch {__version__}",
        f"- {people} people of 150 terms, {len(data.questions):,} questions, "
        f"{documents:,} documents; means over three seeds",
        *table(experiment, found),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if given.output:
        given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
