"""Runs of experiments: a list, the report and figures of each, and two runs side by side.

The pages show only means over people. Rows, each of one person, stay in the run's folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flask import Blueprint, Response, abort, current_app, render_template, request, url_for
from flask.blueprints import BlueprintSetupState

from ...experiments.results.plots import looks
from ...settings import PRIVATE
from ...workspace.folder import EXPERIMENTS
from ..parameters import LARGEST_POOL, PAGE, Parameter, read_parameters
from ..question import paging, part_of
from ..runs.comparison import claims_beside, settings_beside
from ..runs.files import RunFolder, UnfitError, folders_in
from ..runs.means import MeanPair, side_by_side
from ..runs.reading import FILES, KINDS, Run, Shelf, runs_in
from ..site import Site, this_site
from ..visitors.access import visitor

pages = Blueprint("experiments", __name__)
OPERATORS = "Only the operator may see the experiments."
NO_RUN = "There is no such run of an experiment."
NO_FILE = "There is no such file in this run, or it is not what the run wrote."
ALL = "all"  # measures
USUAL = "AP"  # the measure that is shown first
ROWS = 100  # means on a page
ONE = Parameter("one", "text", "A run by its folder’s name.")
OTHER = Parameter("other", "text", "The run to compare it with.")
MEASURE = Parameter("measure", "text", "Only means of this measure.")
MEANS_POOL = Parameter(
    "pool", "whole", "Only means over a pool of this size.", 0, (1, LARGEST_POOL)
)
_KEY = "veilsearch.experiments"
_SVG = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"  # runs nothing


@pages.record_once
def _remember_in_memory(state: BlueprintSetupState) -> None:
    state.app.extensions[_KEY] = Shelf()


@pages.before_request
def operators_only() -> None:
    """Refuse everybody but the operator where people sign in."""
    if this_site().access == PRIVATE and not visitor().admin:
        abort(403, OPERATORS)


@pages.get("/experiments")
def index() -> str:
    """Return the page with the list of runs."""
    site = this_site()
    runs, folder = runs_of(site), folder_of(site)
    there = len(runs_in(folder))
    return render_template(
        "experiments/index.html",
        runs=runs,
        more=there - len(runs),
        odd=len(folders_in(folder)) - there,  # names that no page can show
        sound=_comparable(runs),
    )


@pages.get("/experiments/<name>")
def show(name: str) -> str:
    """Return the page of the run `name`."""
    site = this_site()
    run = run_named(site, name)
    return render_template(
        "experiments/show.html",
        run=run,
        report=run.report,
        looks=looks,
        picture=lambda of: url_for("experiments.figure", name=name, file=f"{of}.svg"),
        file=lambda of, kind: url_for("experiments.figure", name=name, file=f"{of}.{kind}"),
        opened=_opened(site),
        others=[other for other in _comparable(runs_of(site)) if other.name != name],
    )


def _opened(site: Site) -> dict[str, str]:
    """Return the address of the release that `site` serves, by its name in reports."""
    from ...experiments.definition import label_of  # with all methods, which no search needs

    release = site.modes.release_of("group")
    name = label_of(release.method, release.parameters) if release else ""
    return {name: url_for("groups.show")} if name else {}


@pages.get("/experiments/<name>/figures/<file>")
def figure(name: str, file: str) -> Response:
    """Return `file` of a figure that the report of the run `name` names."""
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
    """Return `file` of the run `name`: its summary, units, report or definition."""
    run = run_named(this_site(), name)
    if file not in run.files:
        abort(404, NO_FILE)
    response = _sent(run, file, FILES[file])
    response.headers["Content-Disposition"] = f'attachment; filename="{name}-{file}"'
    return response


def _sent(run: Run, file: str, kind: str) -> Response:
    """Return a response with `file` of `run`, of the type `kind`."""
    # The file is checked against its hash again, since it may have changed a moment ago.
    try:
        content = RunFolder(folder_of(this_site()) / run.name, run.hashes).read(file)
    except UnfitError:
        abort(404, NO_FILE)
    return Response(content, mimetype=kind)


@pages.get("/experiments/compare")
def compare() -> str:
    """Return the page of two runs side by side: settings that differ, claims, and means."""
    site = this_site()
    values = read_parameters(request.args, (ONE, OTHER, MEASURE, MEANS_POOL, PAGE), site)
    known = _comparable(runs_of(site))
    if not (values["one"] and values["other"]):
        return render_template("experiments/choose.html", known=known, chosen=values)
    one, other = (run_named(site, values[name]) for name in ("one", "other"))
    return render_template(
        "experiments/compare.html",
        one=one,
        other=other,
        known=known,
        settings=settings_beside(one, other),
        claims=claims_beside(one, other),
        **_means(side_by_side(one.means, other.means), values),
    )


def _means(means: list[MeanPair], values: dict[str, Any]) -> dict[str, Any]:
    """Return a page of those `means` that are of the measure and the pool in `values`."""
    measures = list(dict.fromkeys(mean.of.measure for mean in means))
    chosen = values["measure"] or (USUAL if USUAL in measures else ALL)
    matching = [
        mean
        for mean in means
        if chosen in (ALL, mean.of.measure) and values["pool"] in (0, mean.of.pool)
    ]
    page = values["page"]
    shown, last = part_of(matching, page, ROWS, "the means")
    kept = {"one": values["one"], "other": values["other"], "measure": chosen}
    kept |= {"pool": values["pool"]} if values["pool"] else {}
    return {
        "measures": [*measures, ALL],
        "measure": chosen,
        "pools": sorted({mean.of.pool for mean in means}),
        "pool": values["pool"],
        "means": shown,
        "found": len(matching),
        "page": page,
        "pages": last,
        "paging": paging(page, last, lambda at: url_for("experiments.compare", **kept, page=at)),
    }


def folder_of(site: Site) -> Path:
    """Return the folder of the runs of `site`."""
    return site.settings.workspace / EXPERIMENTS


def runs_of(site: Site) -> list[Run]:
    """Return the latest runs of `site`, newest first."""
    return _shelf().latest(folder_of(site))


def run_named(site: Site, name: str) -> Run:
    """Return the run of `site` whose folder has this `name`."""
    run = _shelf().one(folder_of(site), name)
    if run is None:
        abort(404, NO_RUN)
    return run


def _comparable(runs: list[Run]) -> list[Run]:
    return [run for run in runs if run.report or run.means]


def _shelf() -> Shelf:
    shelf: Shelf = current_app.extensions[_KEY]
    return shelf
