"""The style sheet, the script and the icon."""

from __future__ import annotations

from pathlib import Path

from flask import Blueprint, Response, send_from_directory

pages = Blueprint("assets", __name__)
_FOLDER = Path(__file__).resolve().parent / "static"
_SECONDS = 600


@pages.get("/static/<path:name>")
def file(name: str) -> Response:
    """Send a file, to be kept for some minutes and then asked for by its tag."""
    return send_from_directory(_FOLDER, name, max_age=_SECONDS)
