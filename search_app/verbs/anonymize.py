"""veilsearch anonymize: turn profiles into a release."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace import Workspace
from .profiles import analysis, choices_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from anonymizer.model import Profiles, Release
    from index.forward import Forward


P_LINKABILITY = """\
parameters of p-linkability (Zhu & Xiong 2010), each set by --set name=value:
  p=0.4                |U|avg / p distinct terms or more in each group; off: no such bound
  k, l, t=off          beside it: members; l-diversity; t-closeness of term weights
  guarantee=average    every-term: rows leave out terms that more than p of the members have
  representative=centroid  the members' mean weights; union: their largest
  first_seed=USER      who seeds the first group; else drawn by --seed
  linkage=seed         closest to the seed joins; centroid: to the mean of the members (slow:
                       the time grows with the square of the users)
  similarity=profiles  documents: alike are who score a sample of the index's documents alike
  documents=1000       size of that sample
  augment=wordnet      profiles are compared by synsets and hypernyms; cooccurrence: by terms
                       that go together; none: by their own terms
  a=1                  WordNet: hypernyms up to so many steps
  sense=profile        WordNet: the sense whose words fit the profile; first: the most usual
  combine=max          what two terms bring: the larger weight, or the sum
  network=profiles     cooccurrence: learnt from profiles, index, or log (of all its queries,
                       named by --log)
  neighbours=5         cooccurrence: terms that a term brings
  refine=none          swap: exchange members for closer groups while every bound holds
"""
COMPOSITION = """\
parameters of composition (ours): alike people, none of whose groups has any term, present or
absent, by more than p oftener or seldomer than all people have it:
  p=0.4                the most that a group's share may differ from all people's
  size=off             members a group; off: of growing sizes that work, the one of closest groups
  documents=2000       alike are who score a sample of the index's documents alike; its size
  steps=off            exchanges tried while the groups are annealed (a size is tried with a
                       twelfth); off: 8,000 a person, at most 24 million
"""
POOLED = """\
parameters of pooled (ours): groups of 1/p alike people, who publish the mean of a pool of groups
where a share would be more than p off; a secret key is drawn and kept in the private part:
  p=0.4                the most that a published share may differ from that of all in groups
  meet_paper=false     true: the least size that has |U|avg / p distinct terms in each group, too
  documents=2000       as above
  steps=off            as above; off: 8,000 a person, fewer where there are more than 10,000
"""
KM_ANONYMITY = """\
parameters of km-anonymity (Burghardt et al.): terms are deleted, nobody is grouped
  k=5                  rows in which what is promised stands: k of them or more
  m=2                  it is promised of any m terms of a row together, and of fewer; 1 to 4
  algorithm=insert     starts from nothing and gives terms back; greedy: the paper's, which deletes
  target=logsize       what is kept most of: logsize (uses of terms), users, fis (frequent
                       combinations), random (nothing), or what a marketing table says of terms:
                       bid, clicks, impressions, revenue
  ties=random          greedy: of equal terms one is drawn by --seed; first: the smallest goes
  reinsert=none        greedy: groups gives terms back where k people or more can have them
  frequencies=keep     rows have the profiles' weights, which nothing is promised of; drop: all 1
  marketing=none       the table: a file of term,bid,impressions,clicks, or synthetic
"""
COMPILING = (
    "The method is being compiled, which takes up to a minute: once, until veilsearch is updated."
)
PARAMETERS = {
    "p-linkability": P_LINKABILITY,
    "km-anonymity": KM_ANONYMITY,
    "composition": COMPOSITION,
    "pooled": POOLED,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(PARAMETERS.values())
    parser.add_argument("profiles", type=Path, nargs="?", metavar="PROFILES")
    parser.add_argument(
        "-m",
        "--method",
        default="p-linkability",
        metavar="METHOD",
        help=f"{', '.join(PARAMETERS)}; p-linkability when left out",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method"
    )
    parser.add_argument(
        "--log", type=Path, nargs="+", metavar="LOG", help="the queries of --set network=log"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("-o", "--output", type=Path, metavar="RELEASE/")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run the method, write the release, and make it the workspace's current one."""
    workspace = Workspace(settings.workspace)
    if not arguments.profiles:
        workspace.find("profiles")  # told before a folder is made
    with workspace.writing("anonymize"):
        made = write_release_of(
            arguments.profiles or workspace.find("profiles"),  # a killed run may be finished first
            arguments.output or settings.workspace / "release",
            method=arguments.method,
            parameters=assignments(arguments.set),
            seed=arguments.seed,
            settings=settings,
            logs=arguments.log or (),
        )
    _print(made, arguments.json)
    return 0


def assignments(texts: Sequence[str]) -> dict[str, str]:
    """Read name=value texts; the same name twice is a fault."""
    pairs = [text.partition("=") for text in texts]
    wrong = [
        text for text, (name, equals, _) in zip(texts, pairs, strict=True) if not name or not equals
    ]
    if wrong:
        raise UsageError(f"--set {wrong[0]} must be name=value, like --set p=0.4")
    names = [name for name, _, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"--set names {', '.join(twice)} twice")
    return {name: value for name, _, value in pairs}


def write_release_of(
    source: Path,
    output: Path,
    *,
    method: str,
    parameters: dict[str, str],
    seed: int,
    settings: Settings,
    logs: Sequence[Path] = (),
) -> dict[str, Any]:
    """Anonymize a profiles file into a release folder and return what release.json says."""
    from anonymizer.methods import idle_parameters, read_parameters
    from anonymizer.profile_file import fingerprint, read_profiles
    from anonymizer.release import write_release

    from ..ledger import note_made

    if seed < 0:
        raise UsageError(f"--seed {seed} must be 0 or more")
    values = read_parameters(method, parameters)
    for name in idle_parameters(method, values):
        console.say(f"Note: {name} has no effect beside the other parameters.")
    _refuse_idle_log(method, values, logs)
    profiles = read_profiles(source)
    made_from = fingerprint(profiles)
    choices = choices_of(source, made_from)
    release = _released(profiles, method, values, seed, settings, logs=logs, choices=choices)
    workspace = Workspace(settings.workspace)
    write_release(release, output, seed=seed, input_hash=made_from, profiles=choices)
    _make_current(workspace, source, output)
    note_made(workspace, output, users=len(release.users), rows=len(release.rows))
    return {
        "release": str(output),
        "method": method,
        "parameters": dict(release.parameters),
        "seed": seed,
        "profiles": choices,
        "facts": dict(release.facts),
    }


def remake_release(folder: Path, profiles: Profiles, output: Path, settings: Settings) -> Release:
    """Make a release anew from other profiles: by the same method, parameters and seed."""
    from anonymizer.measures.verification import PROMISES
    from anonymizer.profile_file import fingerprint
    from anonymizer.release import read_key, read_manifest, write_release

    manifest = read_manifest(folder)
    method, seed, choices = (manifest[name] for name in ("method", "seed", "profiles"))
    values = dict(manifest["parameters"])
    if values.pop("first_seed", "drawn") != "drawn":
        raise UsageError(f"{folder}: nobody knows any more whom first_seed named; make it by hand")
    if values.get("marketing") == "given":
        raise UsageError(f"{folder}: nobody knows its marketing table any more; make it by hand")
    key = read_key(folder)
    if key is None and method in PROMISES and PROMISES[method].keeps_key:
        # By another one others would be left over, and two releases together would tell of them.
        raise UsageError(f"{folder}: its key is gone, and with another one it would be another")
    release = _released(profiles, method, values, seed, settings, choices=choices, key=key)
    made_from = fingerprint(profiles)
    write_release(release, output, seed=seed, input_hash=made_from, profiles=choices)
    return release


def _released(
    profiles: Profiles,
    method: str,
    values: Mapping[str, Any],
    seed: int,
    settings: Settings,
    *,
    logs: Sequence[Path] = (),
    choices: Mapping[str, Any],
    key: bytes | None = None,
) -> Release:
    """Run the method on the workspace's index and add the measured facts."""
    from dataclasses import replace

    from anonymizer.compiled import when_compiling
    from anonymizer.measures.release_facts import facts
    from anonymizer.wordnet import open_wordnet

    from ..releasing import release_of

    waiting = when_compiling(lambda: console.remark(COMPILING))
    with console.progress(method, len(profiles)) as progress, waiting:
        release = release_of(
            profiles,
            method,
            values,
            seed=seed,
            wordnet=open_wordnet(settings.cache),
            forward=lambda: _forward(settings),
            queries=lambda: _queries(logs, choices, settings),
            key=key,
            progress=progress,
        )
    return replace(release, facts=facts(profiles, release))


def _refuse_idle_log(method: str, values: Mapping[str, Any], logs: Sequence[Path]) -> None:
    from anonymizer.methods import parameters_of

    given = {**parameters_of(method), **values}
    wanted = {"augment": "cooccurrence", "network": "log", "similarity": "profiles"}
    if logs and any(given.get(name) != value for name, value in wanted.items()):
        raise UsageError("--log is for --set augment=cooccurrence --set network=log")


def _queries(
    logs: Sequence[Path], choices: Mapping[str, Any], settings: Settings
) -> tuple[csr_matrix, list[str]]:
    """Return the distinct queries of logs over terms made as those of the profiles were."""
    from anonymizer.querylog import read_log

    from ..corpus_terms import queries_by_terms

    if not logs:
        raise UsageError("--set network=log needs the log: --log FILE")
    with console.progress("log") as progress:
        log, _ = read_log(logs, progress)
    phrases = bool(choices.get("phrases", False))
    counter = analysis(choices.get("terms", "wordnet"), settings, phrases=phrases)
    contexts = queries_by_terms(log, counter)
    return contexts, counter.terms


def _forward(settings: Settings) -> Forward:
    from index.build import open_forward

    return open_forward(Workspace(settings.workspace).find("index"))


def _make_current(workspace: Workspace, source: Path, output: Path) -> None:
    """Switch to the release and the profiles it was made from: search needs both of one kind."""
    profiles = workspace.relative(source)
    current = workspace.current()
    workspace.make_current(
        release=workspace.relative(output),
        profiles=profiles,
        truth=current.truth if profiles == current.profiles else "",
    )


def _print(made: dict[str, Any], as_json: bool) -> None:
    from ..release_lines import release_lines, warning

    if as_json:
        console.show_json(made)
        return
    for line in release_lines(made):
        console.show(line)
    if warned := warning(made):
        console.say(warned)
