"""Runs of experiments as JSON: means over people, claims and figures, but no person's row."""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

from flask import Blueprint, url_for

from ...experiments.report.report import Figure, Report
from ..pages.experiments import operators_only, run_named, runs_of
from ..parameters import Parameter
from ..runs.reading import COUNTS, Run
from ..site import this_site
from .described import records
from .described.operations import Operation
from .described.schema import record_of

pages = Blueprint("api_experiments", __name__, url_prefix="/api/v1/experiments")
pages.before_request(operators_only)
EXPERIMENT = Parameter("experiment", "text", "A run, by the name of its folder.")


@pages.get("")
@Operation()
def every() -> records.ExperimentListJson:
    """Return the latest runs of experiments, at most 100.

    In private mode, only the operator may ask.
    """
    return {"experiments": [_summary(run) for run in runs_of(this_site())]}


@pages.get("/<experiment>")
@Operation(in_path=(EXPERIMENT,), refusals=(404,))
def one(experiment: str) -> records.ExperimentJson:
    """Return a run’s claims, figures and tables.

    In private mode, only the operator may ask. Rows, each about one person, stay in the folder of
    the experiment.
    """
    run = run_named(this_site(), experiment)
    report = run.report or Report("", "", (), (), (), ())
    return {
        "summary": _summary(run),
        "notes": list(report.notes),
        "claims": [record_of(records.ExperimentClaimJson, claim) for claim in report.claims],
        "figures": [_figure(run, figure) for figure in report.figures],
        "tables": [record_of(records.ExperimentTableJson, table) for table in report.tables],
    }


def _summary(run: Run) -> records.ExperimentSummaryJson:
    given: dict[str, object] = {name: run.counts.get(name) for name in COUNTS}
    given["claims"] = record_of(records.VerdictsJson, run.tally) if run.tally else None
    given |= {"experiment": run.name, "faults": list(run.faults)}
    return record_of(records.ExperimentSummaryJson, run, **given)


def _figure(run: Run, figure: Figure) -> records.ExperimentFigureJson:
    files = [
        url_for("experiments.figure", name=run.name, file=file)
        for file in run.files_of(figure.name)
    ]
    return cast(records.ExperimentFigureJson, {**asdict(figure), "files": files})
