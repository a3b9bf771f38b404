"""Headers of every response, and checks of each request: its host, its origin, its body."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import SplitResult, urlsplit

from flask import Flask, Response, abort, current_app, request

from ..accounts.admission import is_loopback
from ..settings import Settings

HOSTS = "VEILSEARCH_HOSTS"
HTTPS = "VEILSEARCH_HTTPS"
TOKENS = "VEILSEARCH_TOKENS"  # what addresses begin with that take bearer tokens; "" for none
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
LARGEST_BODY = 1 << 16
SAFE = ("GET", "HEAD")
_BODIES = ("application/x-www-form-urlencoded", "application/json")
_PORTS = {"http": 80, "https": 443}
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Only abilities that Chromium knows: it prints a warning about any other.
_ABILITIES = (
    *("accelerometer", "autoplay", "camera", "clipboard-read", "clipboard-write"),
    *("display-capture", "encrypted-media", "fullscreen", "gamepad", "geolocation", "gyroscope"),
    *("hid", "idle-detection", "local-fonts", "magnetometer", "microphone", "midi", "payment"),
    *("picture-in-picture", "publickey-credentials-get", "screen-wake-lock", "serial"),
    *("storage-access", "sync-xhr", "usb", "xr-spatial-tracking"),
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(f"{ability}=()" for ability in _ABILITIES),
}
_HTTPS_ONLY = {"Strict-Transport-Security": "max-age=31536000"}  # a year, this host alone


def guard(app: Flask, settings: Settings | None = None, tokens: str = "") -> None:
    """Make `app` refuse foreign hosts, sites and bodies, and add the headers to every answer.

    Addresses that begin with `tokens` take bearer tokens; `app` must check them.
    """
    settings = settings or Settings()
    app.config[HOSTS] = LOCAL | frozenset(settings.hosts)
    app.config[HTTPS] = settings.https
    app.config[TOKENS] = tokens
    app.config["APPLICATION_ROOT"] = settings.root_path or "/"
    if settings.root_path:
        below = partial(_below, app.wsgi_app, settings.root_path)
        app.wsgi_app = below  # type: ignore[method-assign]
    # This stops a body that comes without its length; _refuse_body sees the length that is given.
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    app.before_request(_refuse_foreign_host)
    app.before_request(_refuse_foreign_site)
    app.before_request(_refuse_body)
    app.after_request(_add_headers)


def _below(application: Any, root_path: str, environ: Any, start_response: Any) -> Any:
    """Answer by `application`, whose addresses all begin with `root_path`."""
    return application({**environ, "SCRIPT_NAME": root_path}, start_response)


def headers(https: bool) -> dict[str, str]:
    """Return the headers of every answer; with `https`, browsers must come back by HTTPS."""
    return HEADERS | _HTTPS_ONLY if https else HEADERS


def bearer() -> str | None:
    """Return the bearer token that this request is to be judged by; None if it has none."""
    given, place = request.authorization, current_app.config[TOKENS]
    if not place or given is None or given.type != "bearer" or not request.path.startswith(place):
        return None
    return given.token or ""


def from_here() -> bool:
    """Return whether this request was sent on this machine, and not through a proxy."""
    # A proxy of this machine passes on the name that visitors use; is_loopback takes an address.
    host = _host(request.headers.get("Host", ""))
    return host in LOCAL and is_loopback(request.remote_addr or "")


def _refuse_foreign_host() -> None:
    if _host(request.headers.get("Host", "")) not in current_app.config[HOSTS]:
        abort(400, "This server does not answer under that host name.")


def _refuse_foreign_site() -> None:
    """Let only our own pages change things, and programs, which send neither header."""
    # No route takes OPTIONS; it is refused later, with the methods that are allowed.
    # No page of another site can send a token, and a request with one is not known by its cookie.
    if request.method in (*SAFE, "OPTIONS") or bearer() is not None:
        return
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site is not None:
        ours = site == "same-origin"
    # Clients that send no Sec-Fetch-Site are judged by their Origin.
    else:
        # Behind a proxy the request came by HTTP, but its Origin says what the browser used.
        scheme = "https" if current_app.config[HTTPS] else request.scheme
        own = _origin(f"{scheme}://{request.headers.get('Host', '')}")
        ours = origin is None or (own is not None and _origin(origin) == own)
    if not ours:
        abort(403, "This request came from another site, so it was refused. Use the page here.")


def _refuse_body() -> None:
    if (request.content_length or 0) > LARGEST_BODY:
        abort(413, f"The request is larger than {LARGEST_BODY // 1024} kB, the limit here.")
    if request.content_length and request.method not in SAFE and request.mimetype not in _BODIES:
        abort(415, f"A request’s body must be of type {' or '.join(_BODIES)}.")


def _origin(text: str) -> tuple[str, str, int] | None:
    try:
        parts = urlsplit(text)
        port = parts.port or _PORTS.get(parts.scheme)
        name = _name(parts)
        return (parts.scheme, name, port) if name and port else None
    except ValueError:
        return None


def _host(header: str) -> str:
    try:
        parts = urlsplit(f"//{header}")
        # Reading `port` raises ValueError where it is no number.
        whole = parts.netloc == header and parts.port != 0
        return _name(parts) if whole else ""
    except ValueError:
        return ""


def _name(parts: SplitResult) -> str:
    return "" if parts.username else parts.hostname or ""


def _add_headers(response: Response) -> Response:
    for name, value in headers(current_app.config[HTTPS]).items():
        # SVG figures of experiments come with a policy of their own: inline styles, in a sandbox.
        response.headers.setdefault(name, value)
    if response.cache_control.max_age is None:
        response.headers["Cache-Control"] = "no-store"
    return response
