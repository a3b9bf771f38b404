"""What leaving and joining cost in search quality: frozen rows against a new release.

usage: .venv/bin/python -m scripts.erosion LOG --workspace WORKSPACE [-o PAGE.md]

WORKSPACE must have an index. People, questions and the gold standard are those of the experiment
`promise`. A sixth of the people come later. The page holds means only, no term, query or person.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from anonymizer.arrays import Floats, Ints
from anonymizer.errors import Unsatisfiable
from anonymizer.measures.facts import facts
from anonymizer.methods import promise_of
from anonymizer.model import Profiles, Release
from anonymizer.rows.closest import closest_row
from anonymizer.storage.changes import without_rows
from anonymizer.storage.parts import read_cohorts
from anonymizer.storage.releases import add_cohort, read_release, write_release
from index.manifest import read_manifest
from search_app import __version__
from search_app.experiments.definition import read_definition
from search_app.experiments.design import Unit, units_of
from search_app.experiments.modes import Interests, cosines
from search_app.experiments.pipeline import World, block_of, release_for
from search_app.experiments.results.provenance import machine
from search_app.measures.significance import by_person, interval
from search_app.settings import load_settings
from search_app.workspace.folder import Workspace

from .min_users import prepared

SHARES = (0, 0.01, 0.05, 0.1, 0.2)  # of the people of the first cohort
POOLS = (100, 1000)
STEPS = ("left", "left and joined")
HASH = "0" * 64  # of profiles, in releases that nobody keeps
DEFINITION = """
name = "erosion"
title = "What leaving and joining cost"

[inputs]
queries_per_user = 4

[defaults]
modes = ["group"]
pools = [100, 1000]
seeds = [0, 1, 2]

[[variant]]
name = "p-linkability"
method = "p-linkability"
parameters = { p = 0.4 }

[[variant]]
name = "pooled"
method = "pooled"
parameters = { p = 0.2 }
"""
HEAD = (
    "| people {0} | rows | without an own row | AP 100 | new release | change | AP 1000 "
    "| new release | change |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)


class Outcome(NamedTuple):
    """What is measured after some people left, and perhaps as many joined."""

    rows: int
    foreign: float  # share of the people whom another group's row serves, or no row
    frozen: dict[int, Floats]  # pool -> AP of each person; NaN for people who are not there
    fresh: dict[int, Floats]  # the same by a new release of the same people


def made(world: World, unit: Unit, people: Ints) -> Release:
    """Return the release of `people` alone by the method of `unit`."""
    whole = world.data.profiles[unit.weights]
    users = tuple(whole.users[at] for at in people.tolist())
    profiles = Profiles(users, whole.terms, whole.weights[people]).in_order()
    data = replace(world.data, profiles={unit.weights: profiles})
    release = release_for(replace(world, data=data), unit)
    if release is None:
        raise ValueError("the definition names a method for each variant")
    return replace(release, facts=facts(profiles, release))


def with_cohort(world: World, unit: Unit, folder: Path, people: Ints) -> Path:
    """Return the folder of the release in `folder` with a cohort of `people`, if it is possible."""
    try:
        cohort = made(world, unit, people)
    except Unsatisfiable:
        return folder
    if np.any(cohort.grouping.sizes[: cohort.groups] == 1):
        return folder  # as `admit` does: they wait
    output = folder.with_name(f"{folder.name} and joined")
    add_cohort(read_cohorts(folder), output, cohort, seed=unit.seed, input_hash=HASH)
    return output


def serving_rows(profiles: Profiles, release: Release, people: Ints) -> Ints:
    """Return the row of `release` that serves each of `people` as a server does; else -1."""
    own = dict(zip(release.users, release.row_of_user.tolist(), strict=True))
    rows = np.full(len(profiles), -1, dtype=np.int64)
    for at in people.tolist():
        row = own.get(profiles.users[at])
        if row is None:
            row = closest_row(profiles.at(at), release.group_rows).row
        if row is None and release.groups < len(release.rows):
            row = release.groups  # a fallback row
        rows[at] = -1 if row is None else row
    return rows


def precision(world: World, unit: Unit, release: Release, people: Ints) -> dict[int, Floats]:
    """Return the mean AP of each of `people` by the rows of `release`, for each pool."""
    profiles, questions = world.data.profiles[unit.weights], world.data.questions
    rows = serving_rows(profiles, release, people)
    interests = Interests(release.rows.weights, release.rows.terms, rows)
    scores = cosines(world.situation(unit, release, world.gold(unit).depth(max(POOLS))), interests)
    absent = ~np.isin(questions.user, people)
    found = {}
    for pool in POOLS:
        values = block_of(unit.name, "group", pool, [scores], world.gold(unit)).values["AP"]
        found[pool] = by_person(np.where(absent, np.nan, values), questions.person)
    return found


def outcomes(world: World, unit: Unit, place: Path) -> Iterator[tuple[tuple[str, float], Outcome]]:
    """Yield the outcome of each step and share for `unit`; releases are written to `place`."""
    users = world.data.profiles[unit.weights].users
    drawn = np.random.default_rng([unit.seed, 7]).permutation(len(users))
    first, later = np.split(drawn, [len(users) * 5 // 6])
    whole = place / "whole"
    write_release(made(world, unit, np.sort(first)), whole, seed=unit.seed, input_hash=HASH)
    for share in SHARES:
        count = round(share * first.size)
        folder, leaving = place / f"{share}", {users[at] for at in first[:count].tolist()}
        without_rows(read_cohorts(whole), folder, leaving, known=False, input_hash=HASH)
        remaining, joined = np.sort(first[count:]), np.sort(later[:count])
        for step in STEPS if count else STEPS[:1]:
            people = remaining
            if step != "left":
                people = np.sort(np.concatenate([remaining, joined]))
                folder = with_cohort(world, unit, folder, joined)
            release = read_release(folder, promise_of)
            foreign = 1 - np.isin(np.array(users)[people], release.users).mean()
            frozen = precision(world, unit, release, people)
            fresh = precision(world, unit, made(world, unit, people), people)
            yield (step, share), Outcome(len(release.rows), float(foreign), frozen, fresh)


def line(some: Sequence[Outcome], share: float) -> str:
    """Return the line of a table from the outcomes of all seeds."""
    cells = [f"{share:.0%}", f"{np.mean([one.rows for one in some]):.0f}"]
    cells.append(f"{np.mean([one.foreign for one in some]):.1%}")
    for pool in POOLS:
        frozen, fresh = (
            np.array([getattr(one, name)[pool] for one in some]) for name in ("frozen", "fresh")
        )
        there = ~np.isnan(frozen).all(axis=0)  # by some seed
        change = interval(np.nanmean((frozen - fresh)[:, there], axis=0))
        cells += [f"{np.nanmean(frozen):.3f}", f"{np.nanmean(fresh):.3f}"]
        cells.append(f"{change.mean:+.4f} [{change.low:+.4f}, {change.high:+.4f}]")
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args(arguments)
    began, settings = time.time(), load_settings(given.workspace)
    experiment = read_definition(DEFINITION, "erosion.py")
    world, data = prepared(experiment, given.log, settings)
    documents = read_manifest(Workspace(settings.workspace).find("index"))["counts"]["documents"]
    lines, people = list[str](), len(next(iter(data.profiles.values())))
    for variant in experiment.variants:
        found: dict[tuple[str, float], list[Outcome]] = {}
        for unit in (unit for unit in units_of(experiment.variants) if unit.serves(variant)):
            with TemporaryDirectory() as place:
                for key, outcome in outcomes(world, unit, Path(place)):
                    found.setdefault(key, []).append(outcome)
                    print(unit.label, unit.seed, *key, outcome.rows, outcome.foreign, flush=True)
        for step in STEPS:
            lines += [
                "",
                f"### {variant.method}, p = {variant.p}: people who {step}",
                "",
                HEAD.format(step),
            ]
            lines += [line(some, share) for (of, share), some in found.items() if of == step]
    computer = machine()
    about = [
        f"- Command: `python -m scripts.erosion {given.log.name} --workspace WORKSPACE`",
        f"- Date: {time.strftime('%Y-%m-%d')}, after {time.time() - began:,.0f} s",
        f"- Machine: {computer['system']} {computer['machine']}, {computer['cores']} cores, "
        f"{computer['memory_gb']:.0f} GB; veilsearch {__version__}",
        f"- {people} people of 150 terms, {len(data.questions):,} questions, "
        f"{documents:,} documents; means over three seeds",
    ]
    text = "\n".join([*about, *lines]) + "\n"
    print(text)
    if given.output:
        given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
