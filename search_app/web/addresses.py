"""Addresses of our own pages, each built once: a page has dozens of them."""

from __future__ import annotations

from typing import Any

from flask import current_app, request, url_for

_KEPT = "veilsearch addresses"
_MOST = 4096


def link(endpoint: str, **values: Any) -> str:
    """Return the address of a page as Flask's url_for does."""
    known: dict[tuple[Any, ...], str] = current_app.extensions.setdefault(_KEPT, {})
    key = (request.script_root, endpoint, *sorted(values.items()))
    if key not in known:
        if len(known) >= _MOST:
            known.clear()
        known[key] = url_for(endpoint, **values)
    return known[key]
