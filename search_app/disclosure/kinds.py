"""Which Disclosure shows which rows: a line for each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymizer.promise import UNKNOWN

from .baselines import NoisyRows, WholeProfiles
from .disclosure import Disclosure
from .groups import Groups
from .hiding_groups import HidingGroups
from .query_rows import QueryRows
from .single_rows import SingleRows
from .vocabularies import Vocabularies

if TYPE_CHECKING:
    from anonymizer.model import Release
    from anonymizer.promise import Behind, Bounds, Promise

# By who stands behind a row, and whether rows hide their members' shares, or what is promised.
KINDS: dict[tuple[Behind, bool | Bounds], type[Disclosure]] = {
    ("group", False): Groups,
    ("group", True): HidingGroups,
    ("group", "vocabulary"): Vocabularies,
    ("group", "differential"): NoisyRows,
    ("person", False): SingleRows,
    ("person", "nothing"): WholeProfiles,
    ("query", False): QueryRows,
}
PICTURES = tuple(dict.fromkeys(name for kind in KINDS.values() for name in kind.pictures))


def kind_of(promise: Promise) -> type[Disclosure]:
    """Return the Disclosure for releases that make `promise`."""
    usual = KINDS[promise.behind, promise.hides_members]
    return KINDS.get((promise.behind, promise.bounds), usual)


def disclosure_of(release: Release | None) -> Disclosure:
    """Return the Disclosure of `release`; without a release, the one of groups' rows."""
    return kind_of(release.promise if release else UNKNOWN)(release)


def name_of(release: Release) -> str:
    """Return the method of `release` and the options that its kind of row is named by."""
    given = {name: release.parameters.get(name) for name in kind_of(release.promise).named_by}
    shown = (f"{name}={value}" for name, value in given.items() if value is not None)
    return " ".join([release.method, *shown])


def in_short(release: Release) -> str:
    """Return whose rows `release` has, how many people share one, and its name."""
    sizes = release.grouping.sizes[: release.groups].tolist()
    fewest, most = min(sizes), max(sizes)
    shared = "one person" if most == 1 else str(most) if fewest == most else f"{fewest} to {most}"
    return f"{kind_of(release.promise).words.units} of {shared} ({name_of(release)})"
