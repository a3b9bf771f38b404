"""Runs of experiments: a list, each one's report and figures, and two runs side by side.

Shown are means over people only. Rows, of which each is of one person, stay in the run's folder.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, abort, current_app, render_template, request, url_for
from flask.blueprints import BlueprintSetupState

from ..workspace import EXPERIMENTS
from .access import visitor
from .experiment_comparison import claims_beside, settings_beside
from .experiment_files import RunFolder, UnfitError
from .experiment_means import Beside, side_by_side
from .experiment_runs import FILES, KINDS, Run, Shelf, odd_names, runs_in
from .parameters import LARGEST_POOL, PAGE, Parameter, read_parameters
from .site import PRIVATE, Site, this_site

pages = Blueprint("experiments", __name__)
OPERATORS = "Only the operator may see the experiments."
NO_RUN = "There is no such run of an experiment."
NO_FILE = "There is no such file in this run, or it is not what the run wrote."
ALL = "all"  # measures
USUAL = "AP"
ROWS = 100  # means on a page
ONE = Parameter("one", "text", "A run by its folder’s name.", lambda _: "")
OTHER = Parameter("other", "text", "The run beside it.", lambda _: "")
MEASURE = Parameter("measure", "text", "Only means of this measure.", lambda _: "")
MEANS_POOL = Parameter(
    "pool", "whole", "Only means over a pool of this size.", lambda _: 0, 1, LARGEST_POOL
)
_KEY = "veilsearch.experiments"
_SVG = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"  # runs nothing


@pages.record_once
def _remember_in_memory(state: BlueprintSetupState) -> None:
    state.app.extensions[_KEY] = Shelf()


@pages.before_request
def operators_only() -> None:
    """Where people are real, show nothing of them to each other."""
    if this_site().access == PRIVATE and not visitor().admin:
        abort(403, OPERATORS)


@pages.get("/experiments")
def index() -> str:
    """List the runs."""
    site = this_site()
    runs, folder = runs_of(site), folder_of(site)
    return render_template(
        "experiments/index.html",
        runs=runs,
        more=len(runs_in(folder)) - len(runs),
        odd=odd_names(folder),
        sound=_comparable(runs),
    )


@pages.get("/experiments/<name>")
def show(name: str) -> str:
    """Show what a run says."""
    site = this_site()
    run = run_named(site, name)
    return render_template(
        "experiments/show.html",
        run=run,
        report=run.report,
        picture=lambda figure: _file_of_figure(name, figure, "svg"),
        file=lambda figure, kind: _file_of_figure(name, figure, kind),
        others=[each for each in _comparable(runs_of(site)) if each.name != name],
    )


def _file_of_figure(run: str, figure: str, kind: str) -> str:
    return url_for("experiments.figure", name=run, file=f"{figure}.{kind}")


@pages.get("/experiments/<name>/figures/<file>")
def figure(name: str, file: str) -> Response:
    """Send a file of a figure that the report names."""
    run = run_named(this_site(), name)
    if file not in run.pictures:
        abort(404, NO_FILE)
    kind = file.rpartition(".")[2]
    response = _sent(run, f"figures/{file}", KINDS[kind])
    if kind == "svg":
        response.headers["Content-Security-Policy"] = _SVG
    if kind == "csv":
        response.headers["Content-Disposition"] = f'attachment; filename="{file}"'
    return response


@pages.get("/experiments/<name>/files/<file>")
def download(name: str, file: str) -> Response:
    """Send the summary, the report or the definition of a run."""
    run = run_named(this_site(), name)
    if file not in run.files:
        abort(404, NO_FILE)
    response = _sent(run, file, FILES[file])
    response.headers["Content-Disposition"] = f'attachment; filename="{name}-{file}"'
    return response


def _sent(run: Run, file: str, kind: str) -> Response:
    """Read a file again, and hold it against its hash: it may have changed a moment ago."""
    try:
        content = RunFolder(folder_of(this_site()) / run.name, run.hashes).read(file)
    except UnfitError:
        abort(404, NO_FILE)
    return Response(content, mimetype=kind)


@pages.get("/experiments/compare")
def compare() -> str:
    """Show two runs side by side: settings that differ, claims, and means."""
    site = this_site()
    asked = read_parameters(request.args, (ONE, OTHER, MEASURE, MEANS_POOL, PAGE), site)
    known = _comparable(runs_of(site))
    if not (asked["one"] and asked["other"]):
        return render_template("experiments/choose.html", known=known, asked=asked)
    one, other = (run_named(site, asked[name]) for name in ("one", "other"))
    return render_template(
        "experiments/compare.html",
        one=one,
        other=other,
        known=known,
        settings=settings_beside(one, other),
        claims=claims_beside(one, other),
        **_means(side_by_side(one.means, other.means), asked),
    )


def _means(means: list[Beside], asked: dict[str, Any]) -> dict[str, Any]:
    """Choose the means of a measure and a pool, and a page of them."""
    measures = list(dict.fromkeys(mean.measure for mean in means))
    chosen = asked["measure"] or (USUAL if USUAL in measures else ALL)
    found = [
        mean for mean in means if chosen in (ALL, mean.measure) and asked["pool"] in (0, mean.pool)
    ]
    last = max(1, -(-len(found) // ROWS))
    page = asked["page"]
    if page > last:
        abort(404, f"There is no such page of the means; the last one is {last}.")
    kept = {"one": asked["one"], "other": asked["other"], "measure": chosen}
    kept |= {"pool": asked["pool"]} if asked["pool"] else {}
    return {
        "measures": [*measures, ALL],
        "measure": chosen,
        "pools": sorted({mean.pool for mean in means}),
        "pool": asked["pool"],
        "means": found[(page - 1) * ROWS : page * ROWS],
        "found": len(found),
        "page": page,
        "pages": last,
        "paging": _paging(page, last, lambda at: url_for("experiments.compare", **kept, page=at)),
    }


def _paging(page: int, last: int, address: Callable[[int], str]) -> dict[str, str]:
    wanted = {"first": 1, "previous": page - 1, "next": page + 1, "last": last}
    return {name: address(at) for name, at in wanted.items() if 1 <= at <= last and at != page}


def folder_of(site: Site) -> Path:
    """Return where the runs lie."""
    return site.settings.workspace / EXPERIMENTS


def runs_of(site: Site) -> list[Run]:
    """Return the latest runs, the latest first."""
    return _shelf().latest(folder_of(site))


def run_named(site: Site, name: str) -> Run:
    """Return a run by its folder's name."""
    run = _shelf().one(folder_of(site), name)
    if run is None:
        abort(404, NO_RUN)
    return run


def _comparable(runs: list[Run]) -> list[Run]:
    return [run for run in runs if run.report or run.means]


def _shelf() -> Shelf:
    shelf: Shelf = current_app.extensions[_KEY]
    return shelf
