"""The API’s document, as JSON and as a page that the running site itself gives examples for."""

from __future__ import annotations

from flask import Blueprint, Response, current_app, jsonify

from .openapi import BASE, document
from .site import this_site

pages = Blueprint("docs", __name__)


@pages.get(f"{BASE}/openapi.json")
def machine() -> Response:
    """Show the document to machines."""
    return jsonify(document(current_app, this_site()))
