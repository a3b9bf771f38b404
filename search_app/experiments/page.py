"""The report as one page that needs nothing else: no script, no network, no other file."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .. import __version__
from ..errors import UsageError
from .report import Report

_PAGE = "experiments/standalone.html"


def standalone(
    report: Report, provenance: Mapping[str, Any], pictures: Mapping[str, bytes], rows: str
) -> str:
    """Return the page of a report; pictures are the SVG of each figure by name.

    `rows` is the SHA-256 of the rows that it was made of.
    """
    return (
        _templates()
        .get_template(_PAGE)
        .render(
            report=report,
            provenance=list(_flat(provenance)),
            picture=lambda name: _address(pictures[name]),
            command=provenance.get("command", ""),
            rows=rows,
            version=__version__,
        )
    )


def _address(svg: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode("ascii")


def _flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """List nested values by their dotted names."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        elif isinstance(value, list | tuple):
            yield f"{above}{name}", ", ".join(map(str, value))
        else:
            yield f"{above}{name}", str(value)


@cache
def _templates() -> Environment:
    """Find the templates: in search_app/web when installed, else in the checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "web" / "templates", package.parent / "templates"):
        if (folder / _PAGE).is_file():
            return Environment(
                loader=FileSystemLoader(folder),
                autoescape=True,
                undefined=StrictUndefined,
                trim_blocks=True,
                lstrip_blocks=True,
            )
    raise UsageError("the page templates are missing; install veilsearch again")
