"""The report as one page that needs no network and no other file; a script only draws planes."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ... import __version__
from ...errors import UsageError
from ..report.report import Report
from .plots import looks

_SVG = "data:image/svg+xml;base64,"
_PAGE = "experiments/standalone.html"
_PACKAGE = Path(__file__).resolve().parents[2]


def standalone(
    report: Report, provenance: Mapping[str, Any], pictures: Mapping[str, bytes], rows: str
) -> str:
    """Return the page of `report`: `pictures` are SVG by figure, `rows` is the rows' SHA-256."""
    return (
        _templates()
        .get_template(_PAGE)
        .render(
            report=report,
            provenance=list(_flat(provenance)),
            picture=lambda name: _SVG + base64.b64encode(pictures[name]).decode(),
            command=provenance.get("command", ""),
            rows=rows,
            version=__version__,
            looks=looks,
            style=_static("style.css"),
            plane=_static("plane.js") if any(one.is_plane for one in report.figures) else "",
        )
    )


def _static(name: str) -> Markup:
    """Return the file `name` of the site's static files, as it is."""
    return Markup((_PACKAGE / "web" / "static" / name).read_text(encoding="utf-8"))  # noqa: S704


def _flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested `values` as texts with their dotted names."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        elif isinstance(value, list | tuple):
            yield f"{above}{name}", ", ".join(map(str, value))
        else:
            yield f"{above}{name}", str(value)


@cache
def _templates() -> Environment:
    """Return the templates: from search_app/web if installed, else from the checkout."""
    for folder in (_PACKAGE / "web" / "templates", _PACKAGE.parent / "templates"):
        if (folder / _PAGE).is_file():
            return Environment(
                loader=FileSystemLoader(folder),
                autoescape=True,
                # A misspelt name must fail instead of printing nothing.
                undefined=StrictUndefined,
                trim_blocks=True,
                lstrip_blocks=True,
            )
    raise UsageError("the page templates are missing; install veilsearch again")
