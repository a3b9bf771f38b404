"""Two runs compared: different settings, and the verdicts of both on each claim."""

from __future__ import annotations

from typing import NamedTuple

from ...experiments.report.report import Claim
from .reading import Pairs, Run

NOT_THERE = "–"
# Durations, times and load of the machine always differ, and are no settings.
_NO_SETTINGS = (
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


class ClaimPair(NamedTuple):
    """A claim, and what each of two runs says about it."""

    text: str
    one: Claim | None
    other: Claim | None

    @property
    def change(self) -> str:
        """Return whether the verdicts agree, in words."""
        if self.one is None or self.other is None:
            return "in one run only"
        return "same" if self.one.verdict == self.other.verdict else "changed"


def settings_beside(one: Run, other: Run) -> list[tuple[str, str, str]]:
    """Return settings and inputs that differ: the name, its value in `one` and in `other`."""
    first, second = (
        {
            **_named("Input", run.inputs),
            **{f"Counted: {name}": f"{count:,}" for name, count in run.counts.items()},
            **{
                f"Definition: hash of {name}": str(run.hashes[name])[:_SHOWN]
                for name in run.files
                if name == _DEFINITION
            },
            **_named("Provenance", run.provenance),
        }
        for run in (one, other)
    )
    return [
        (name, first.get(name, NOT_THERE), second.get(name, NOT_THERE))
        for name in dict.fromkeys([*first, *second])
        if first.get(name) != second.get(name)
    ]


def _named(kind: str, pairs: Pairs) -> dict[str, str]:
    return {f"{kind}: {name}": text for name, text in pairs if not name.startswith(_NO_SETTINGS)}


def claims_beside(one: Run, other: Run) -> list[ClaimPair]:
    """Return the claims of both runs, matched by name: `one`'s first, then `other`'s."""
    first, second = (
        {claim.name: claim for claim in (run.report.claims if run.report else ())}
        for run in (one, other)
    )
    return [
        ClaimPair((first.get(name) or second[name]).text, first.get(name), second.get(name))
        for name in dict.fromkeys([*first, *second])
    ]
