"""What a report says of how everything was measured: on whom, against what, over whom means are."""

from __future__ import annotations

from .outcomes import Outcomes
from .unit_facts import UNSATISFIABLE

FEW = "With fewer than 30 people such intervals are too narrow: take them as a lower bound."


def _refused(outcomes: Outcomes) -> str:
    """Say how many releases were refused, of which tables tell that nothing is kept."""
    refused = sum(UNSATISFIABLE in facts for facts in outcomes.facts.values())
    if not refused:
        return ""
    what = "1 release is" if refused == 1 else f"{refused} releases are"
    return f"{what} not to be had, as nothing of these people could be kept: 0 % in all tables. "


def notes_on(outcomes: Outcomes) -> tuple[str, ...]:
    """Say on whom and how everything was measured."""
    inputs = outcomes.experiment.inputs
    size = f"{inputs.size} terms" if inputs.size else "all their terms"
    users = max(
        (facts["users"] for facts in outcomes.facts.values() if "users" in facts), default=0
    )
    served = f"{users:.0f} people have a row. " if users != 1 else "1 person has a row. "
    grouped = f"{served if users else ''}{_refused(outcomes)}"
    if not outcomes.people:
        told = "Nobody asked anything: units.csv tells what was measured of the releases."
        return (f"{grouped}{told}",)
    few = (FEW,) if outcomes.people < 30 else ()
    return (
        f"{grouped}{outcomes.people:,} people asked {outcomes.person.size:,} queries, drawn from "
        f"the last {inputs.test_share:.0%} of each person's by time; profiles of {size} are made "
        "of what came before.",
        "The gold standard of a query is the order of its pool by the person's own profile; its "
        "first 30 are relevant. AP is the mean precision where each relevant document stands, "
        "AP@r that of the first r found. AP_c is 0 for a random order and 1 for the gold standard: "
        "AP itself depends mostly on the size of the pool.",
        "Every mean is over people: first over seeds query by query, then over each person's "
        "queries. Intervals of such means are 95 %, by bootstrap over people.",
        *few,
    )
