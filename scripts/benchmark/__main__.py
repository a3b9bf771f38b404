"""The command `scripts/bench`: speed as ratios within one run, each next to its bar."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from search_app import console
from search_app.cli import Parser, finish
from search_app.errors import UsageError
from search_app.verbs.bench import add_arguments

from .bars import RATIOS
from .plan import FULL, LOAD, Plan


def main(words: Sequence[str] | None = None) -> NoReturn:
    """Measure what `words` ask for, and exit."""
    finish(lambda: run(parser().parse_args(words)))


def parser() -> argparse.ArgumentParser:
    """Return the parser of all options."""
    parser = Parser(
        prog="scripts/bench",
        description="Measure speed next to its bars: R1 to R11, R14 and R15. The ratios are of "
        "medians of calls in turns, over the demo and over invented people and logs. A bar that is "
        "missed while other programs keep the machine busy is reported as too busy to judge.",
    )
    add_arguments(parser)
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Measure what `arguments` ask for and print it; return 0, also where a bar is missed."""
    # A missed bar is no failure: the bars in seconds are of one machine.
    # Wrong use is refused before the heavy imports.
    plan = plan_of(arguments)
    from . import page, report, suite

    steps = suite.steps_of(plan)
    if unknown := [name for name in plan.only if name not in {*steps, *RATIOS}]:
        raise UsageError(
            f"--only: no bar or step {', '.join(unknown)}; there are: "
            f"{', '.join([*RATIOS, *suite.STEPS])}"
        )
    if not steps:
        raise UsageError(f"--only {arguments.only}: these take minutes; add --full or --load")
    if arguments.missing:
        kept = report.kept_in(page.KEPT)
        done = {name for name, one in kept.items() if one["settled"]}
        done &= {name for name, one in kept.items() if one["commit"] == report.commit()}
        steps = {name: step for name, step in steps.items() if name not in done}

    def keep(name: str, outcome: suite.Outcome) -> None:
        console.say(f"  {report.brief(outcome)}")
        if arguments.write:
            report.keep(page.KEPT, name, outcome, suite.STEPS)
            page.write()  # at once, too: a step is all tests, and one of these reads the page

    outcomes = suite.run(plan, console.say, steps, keep)
    if arguments.json:
        console.show_json({name: report.as_json(one) for name, one in outcomes.items()})
    else:
        for line in report.lines(outcomes):
            console.show(line)
    return 0


def plan_of(arguments: argparse.Namespace) -> Plan:
    """Return what `arguments` ask for."""
    if arguments.rounds < 1:
        raise UsageError(f"--rounds {arguments.rounds} must be at least 1")
    names = [name.strip() for name in (arguments.only or "").split(",") if name.strip()]
    return Plan(
        rounds=arguments.rounds,
        only=tuple(
            name.upper() if name[:1] in "rR" and name[1:].isdigit() else name for name in names
        ),
        kinds=tuple(kind for kind in (FULL, LOAD) if getattr(arguments, kind)),
        folder=arguments.folder,
    )


if __name__ == "__main__":
    main()
