"""The embedded demo [I/O]: WordNet as corpus, a synthetic town as users, groups at p = 0.4."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from anonymizer.methods import names_where
from anonymizer.terms.wordnet import open_wordnet

from .. import __version__
from ..errors import UsageError
from ..settings import DEFAULT_METHOD, Settings
from ..workspace.folder import RELEASE, Workspace, write_whole
from ..workspace.profile_choices import ProfilingChoices
from .indexing import Corpus, build_index_of
from .profiling import write_profiles_of
from .releasing import ReleaseRequest, write_release_of
from .serving import serve_release
from .town import write_town
from .warming import warming

USERS, SIZE, SEED = 720, 150, 0  # as in Zhu & Xiong; the town has 800 people
PARAMETERS = {"p": "0.4", "a": "1"}
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


def dial_plan() -> dict[str, tuple[str, dict[str, str]]]:
    """Return the releases of the dial, besides the one in use: name -> method and options.

    They stand in the order in which they are made, the quick ones first.
    """
    bounded = names_where(lambda promise: promise.bounds == "belief")
    # Rows that show their members' shares take longest: groups must be alike to begin with.
    slow = names_where(lambda promise: promise.bounds == "belief" and not promise.hides_members)
    quick = [name for name in bounded if name not in slow]
    wanted = [
        (DEFAULT_METHOD, "0.1"),
        *((name, p) for name in quick for p in ("0.1", "0.2", "0.4")),
    ]
    wanted += [(name, "0.2") for name in slow]
    return {f"{name}-{p}": (name, {"p": p}) for name, p in wanted}


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
        made = build_index_of(Corpus([], "wordnet"), "wordnet", settings)
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
        ReleaseRequest(DEFAULT_METHOD, PARAMETERS, SEED),
        settings,
    )
    serve_release(workspace, release, profiles)
    facts = made["facts"]
    yield (
        f"release: {facts['groups']} groups of {facts['smallest_group']} to "
        f"{facts['largest_group']} people at p = {PARAMETERS['p']}"
    )
    # Written last: a build that was killed has no marker and is built again.
    write_whole(workspace.root / _MARKER, json.dumps(_RECIPE) + "\n")
