"""The files derived from the rows of a run: summary, report, page and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from anonymizer.storage.records import as_json

from ..burghardt import figures as burghardt
from ..design import GENERAL
from ..frontier import figures as frontier
from ..liu_wang import figures as liu_wang
from ..outcomes import PassSeconds
from ..promise import figures as promise
from ..report import general
from ..report.report import Report, as_record
from ..report.summaries import SummaryLine, SummedUp, as_csv
from ..spi import figures as spi
from ..value import figures as value
from ..zhu_xiong import figures as zhu_xiong
from . import plots
from .page import standalone


class Reporter(NamedTuple):
    """What makes a report, and whether queries with relevance of their own are asked for it."""

    make: Callable[[SummedUp, PassSeconds], Report]
    town_truth: bool = False  # those of the invented town, where no log is given
    needs_relevance: bool = False  # also where a log is given


REPORTS = {
    GENERAL: Reporter(general.report),
    "burghardt": Reporter(burghardt.report),
    "frontier": Reporter(frontier.report, town_truth=True),
    "liu-wang": Reporter(liu_wang.report),
    "promise": Reporter(promise.report),
    "spi": Reporter(spi.report),
    "value": Reporter(value.report, town_truth=True, needs_relevance=True),
    "zhu-xiong": Reporter(zhu_xiong.report),
}


def report_of(summed: SummedUp, seconds: PassSeconds) -> Report:
    """Return the report of `summed`: the one that the experiment names, or the general one."""
    # Seconds come apart from the outcomes: they are no rows, and differ from run to run.
    report = REPORTS[summed.outcomes.experiment.report].make(summed, seconds)
    # A paper's report finds variants by the names of their tables, and may find none of them.
    if report.claims or report.figures or report.tables:
        return report
    return REPORTS[GENERAL].make(summed, seconds)


def derived_files(
    report: Report, summaries: Sequence[SummaryLine], provenance: Mapping[str, Any], rows: str
) -> dict[str, Iterable[bytes]]:
    """Return the derived files by their names in the run's folder; `rows` is the rows' hash."""
    files: dict[str, Iterable[bytes]] = {"summary.csv": [as_csv(summaries).encode()]}
    pictures = {}
    for figure in report.figures:
        svg, png = plots.draw(figure)
        pictures[figure.name] = svg
        files[f"figures/{figure.name}.svg"] = [svg]
        files[f"figures/{figure.name}.png"] = [png]
        files[f"figures/{figure.name}.csv"] = [plots.numbers(figure).encode()]
    files["report.json"] = [as_json(as_record(report), 1)]
    files["report.html"] = [standalone(report, provenance, pictures, rows).encode()]
    return files
