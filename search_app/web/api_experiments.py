"""Runs of experiments for machines: means over people, claims and figures; no row of anybody."""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

from flask import Blueprint, url_for

from ..experiments.report import Figure, Report
from .experiment_records import (
    Experiment,
    ExperimentClaim,
    ExperimentFigure,
    ExperimentList,
    ExperimentSummary,
    ExperimentTable,
    Verdicts,
)
from .experiment_runs import Run
from .experiments import operators_only, run_named, runs_of
from .operations import operation
from .parameters import Parameter
from .site import this_site

pages = Blueprint("api_experiments", __name__, url_prefix="/api/v1/experiments")
pages.before_request(operators_only)
EXPERIMENT = Parameter("experiment", "text", "A run by its folder’s name.", lambda _: "")


@pages.get("")
@operation()
def every() -> ExperimentList:
    """List the latest runs of experiments, at most 100.

    Where people sign in, only the operator may ask.
    """
    return {"experiments": [_summary(run) for run in runs_of(this_site())]}


@pages.get("/<experiment>")
@operation(in_path=(EXPERIMENT,), refusals=(404,))
def one(experiment: str) -> Experiment:
    """Return a run’s claims, figures and tables.

    Where people sign in, only the operator may ask. Rows, of which each is of one person, stay in
    the run’s folder.
    """
    run = run_named(this_site(), experiment)
    report = run.report or Report("", "", (), (), (), ())
    return {
        "summary": _summary(run),
        "notes": list(report.notes),
        "claims": [cast(ExperimentClaim, asdict(claim)) for claim in report.claims],
        "figures": [_figure(run, figure) for figure in report.figures],
        "tables": [cast(ExperimentTable, asdict(table)) for table in report.tables],
    }


def _summary(run: Run) -> ExperimentSummary:
    tally = run.tally
    return {
        "experiment": run.name,
        "title": run.title,
        "finished": run.finished,
        "people": run.counts.get("people"),
        "queries": run.counts.get("queries"),
        "units": run.counts.get("units"),
        "rows": run.counts.get("rows"),
        "claims": cast(Verdicts, tally._asdict()) if tally else None,
        "faults": list(run.faults),
    }


def _figure(run: Run, figure: Figure) -> ExperimentFigure:
    files = [
        url_for("experiments.figure", name=run.name, file=file)
        for file in run.files_of(figure.name)
    ]
    return cast(ExperimentFigure, {**asdict(figure), "files": files})
