"""What every response says to the browser, and which hosts are answered."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Flask, Response, abort, current_app, request

HOSTS = "VEILSEARCH_HOSTS"
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def guard(app: Flask) -> None:
    """Refuse foreign hosts and add the headers to whatever is answered."""
    app.config[HOSTS] = LOCAL
    app.before_request(_refuse_foreign_host)
    app.after_request(_add_headers)


def _refuse_foreign_host() -> None:
    if _host(request.headers.get("Host", "")) not in current_app.config[HOSTS]:
        abort(400, "This server does not answer under that host name.")


def _host(header: str) -> str:
    try:
        parts = urlsplit(f"//{header}")
        return "" if parts.netloc != header or parts.username else parts.hostname or ""
    except ValueError:
        return ""


def _add_headers(response: Response) -> Response:
    response.headers.update(HEADERS)
    if response.cache_control.max_age is None:
        response.headers["Cache-Control"] = "no-store"
    return response
