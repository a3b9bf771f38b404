"""The embedded demo [I/O]: WordNet as corpus, a synthetic town as users, groups at p = 0.4."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from anonymizer.model import Release
from anonymizer.terms.wordnet import open_wordnet

from .. import __version__
from ..errors import UsageError
from ..settings import DEFAULT_METHOD, Settings
from ..workspace.folder import RELEASE, Workspace, write_whole
from ..workspace.lecture import PreparedSearch
from .indexing import build_index_of
from .profiling import ProfilingChoices, write_profiles_of
from .releasing import write_release_of
from .serving import serve_release
from .town import write_town
from .warming import warming

USERS, SIZE, SEED = 720, 150, 0  # as in Zhu & Xiong; the town has 800 people
PARAMETERS = {"p": "0.4", "a": "1"}
QUERY = "java"  # the lecture's example: two people mean different things by it
PAIR = ("coffee", "programming")
WORDS = (  # of several meanings, each with two interests that mean different things by it
    (QUERY, PAIR),
    ("bass", ("fishing", "guitar")),
    ("mercury", ("astronomy", "mythology")),
    ("python", ("snakes", "programming")),
    ("crane", ("birds", "ships")),
    ("court", ("tennis", "law")),
    ("coach", ("football", "trains")),
    ("bridge", ("poker", "bridges")),
)
# A demo with another recipe is built again; raise `format` when something else changes.
_RECIPE = {"version": __version__, "format": 4, "users": USERS, "size": SIZE, "seed": SEED}
_MARKER = "demo.json"
_LOG, _TRUTH = "town.tsv", "town.truth.json"


def is_built(workspace: Workspace) -> bool:
    """Return whether `workspace` holds the whole demo as this version builds it."""
    current = workspace.current()
    if not (current.index and current.profiles and current.release and current.truth):
        return False
    try:
        recipe = json.loads((workspace.root / _MARKER).read_text(encoding="utf-8"))
        return recipe == _RECIPE and workspace.truth() is not None
    except (OSError, ValueError, UsageError):
        return False


def refuse_other_data(workspace: Workspace) -> None:
    """Refuse a `workspace` whose profiles were not made for the demo."""
    current = workspace.current()
    if current.profiles and Path(current.truth).name != _TRUTH:
        raise UsageError(
            f"{workspace.root} holds profiles that are not the demo's; name another folder: "
            "veilsearch --workspace DIR demo"
        )


def build(workspace: Workspace, settings: Settings) -> Iterator[str]:
    """Build the demo in `workspace` and yield a line about each finished step."""
    log = workspace.root / _LOG
    with warming() as wait:
        wordnet = open_wordnet(settings.cache)
        yield f"WordNet: {wordnet.size:,} synsets, {len(wordnet.terms):,} terms"
        made = build_index_of([], "wordnet", "wordnet", settings)
        yield f"corpus: {made['documents']:,} entries of WordNet indexed"
        made = write_town(wordnet, log, users=None, queries=None, seed=SEED)
        yield f"town: {made['people']:,} people wrote {made['lines']:,} lines of query log"
        wait()  # the next steps run the compiled loops
    profiles = workspace.root / "profiles.jsonl"
    made = write_profiles_of([log], profiles, settings, ProfilingChoices(SIZE, USERS))
    yield f"profiles: {made['users']:,} people with {SIZE} terms each"
    release = workspace.root / RELEASE
    made = write_release_of(
        profiles,
        release,
        method=DEFAULT_METHOD,
        parameters=PARAMETERS,
        seed=SEED,
        settings=settings,
    )
    serve_release(workspace, release, profiles)
    facts = made["facts"]
    yield (
        f"release: {facts['groups']} groups of {facts['smallest_group']} to "
        f"{facts['largest_group']} people at p = {PARAMETERS['p']}"
    )
    # Written last: a build that was killed has no marker and is built again.
    write_whole(workspace.root / _MARKER, json.dumps(_RECIPE) + "\n")


def pair(
    truth: Mapping[str, Any], release: Release, labels: tuple[str, str] = PAIR
) -> dict[str, str]:
    """Return for each of two interests (`labels`) a fan in `release` who is no fan of the other."""
    # The one whose group has most fans of it, then the most devoted: they show what grouping does
    # for people whose group suits them. It suits others less; the pages list everybody.
    fans = {label: truth["interests"].get(label, []) for label in labels}
    row_of = dict(zip(release.users, release.row_of_user.tolist(), strict=True))
    chosen = {}
    for label, other in (labels, labels[::-1]):
        fans_in_row = Counter(row_of[user] for user in fans[label] if user in row_of)
        only = [user for user in fans[label] if user in row_of and user not in fans[other]]
        if only:
            chosen[label] = max(only, key=lambda user: fans_in_row[row_of[user]])
    return chosen


def searches(truth: Mapping[str, Any], release: Release) -> tuple[PreparedSearch, ...]:
    """Return the lecture's searches: each of `WORDS` by two people of `truth` who differ in it."""
    return tuple(
        PreparedSearch(word, user)
        for word, labels in WORDS
        for user in pair(truth, release, labels).values()
    )
