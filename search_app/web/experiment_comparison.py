"""Two runs held against each other: what was set differently, and what each says of the claims."""

from __future__ import annotations

from typing import NamedTuple

from ..experiments.report import Claim
from .experiment_runs import Pairs, Run

NOT_THERE = "–"
# How long it took, when, and beside what: never the same, and no setting.
_ALWAYS_OTHERS = (
    "seconds",
    "finished",
    "load_average",
    "unit_seconds",
    "release_seconds",
    "pass_seconds",
    "units_reused",
)
_DEFINITION = "experiment.toml"
_SHOWN = 12  # digits of a hash


class Setting(NamedTuple):
    """A setting in which two runs differ."""

    name: str
    one: str
    other: str


class Beside(NamedTuple):
    """A claim, and what each run says of it."""

    text: str
    one: Claim | None
    other: Claim | None

    @property
    def change(self) -> str:
        """Say whether the verdicts agree."""
        if self.one is None or self.other is None:
            return "in one run only"
        return "same" if self.one.verdict == self.other.verdict else "changed"


def settings_beside(one: Run, other: Run) -> list[Setting]:
    """List what was set or given differently."""
    first, second = (
        {
            **_named("Input", run.inputs),
            **{f"Counted: {name}": f"{count:,}" for name, count in run.counts.items()},
            **_definition(run),
            **_named("Provenance", run.provenance),
        }
        for run in (one, other)
    )
    return [
        Setting(name, first.get(name, NOT_THERE), second.get(name, NOT_THERE))
        for name in dict.fromkeys([*first, *second])
        if first.get(name) != second.get(name)
    ]


def _named(kind: str, pairs: Pairs) -> dict[str, str]:
    return {f"{kind}: {name}": text for name, text in pairs if not name.startswith(_ALWAYS_OTHERS)}


def _definition(run: Run) -> dict[str, str]:
    if _DEFINITION not in run.files:
        return {}
    return {f"Definition: hash of {_DEFINITION}": str(run.hashes[_DEFINITION])[:_SHOWN]}


def claims_beside(one: Run, other: Run) -> list[Beside]:
    """Match the claims of two runs by their names; those of the first stand first, in its words."""
    first, second = (
        {claim.name: claim for claim in (run.report.claims if run.report else ())}
        for run in (one, other)
    )
    return [
        Beside((first.get(name) or second[name]).text, first.get(name), second.get(name))
        for name in dict.fromkeys([*first, *second])
    ]
