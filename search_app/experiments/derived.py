"""What is derived from the rows of a run: summary, report, page and figures, as files' bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from anonymizer.records import as_json

from . import burghardt, general, plots, promise, zhu_xiong
from .design import GENERAL
from .outcomes import Outcomes, PassSeconds
from .page import standalone
from .report import Report, as_record
from .summaries import Summary, as_csv

Reporter = Callable[[Outcomes, Sequence[Summary], PassSeconds], Report]
REPORTS: dict[str, Reporter] = {
    GENERAL: general.report,
    "burghardt": burghardt.report,
    "promise": promise.report,
    "zhu-xiong": zhu_xiong.report,
}


def report_of(
    outcomes: Outcomes, summaries: Sequence[Summary], seconds: PassSeconds | None = None
) -> Report:
    """Return what an experiment's rows say, in general if its report finds nothing to say of them.

    A report finds its variants by the names of their tables; an experiment may have none of them.
    Seconds are those measured in this run: they are no rows, and differ from run to run.
    """
    took = seconds or {}
    said = REPORTS[outcomes.experiment.report](outcomes, summaries, took)
    if said.claims or said.figures or said.tables:
        return said
    return REPORTS[GENERAL](outcomes, summaries, took)


def derived_files(
    report: Report, summaries: Sequence[Summary], provenance: Mapping[str, Any], rows: str
) -> dict[str, Iterable[bytes]]:
    """Return every derived file by its name in the run's folder; `rows` is the hash of the rows."""
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
