"""What the engine was told in a person's last search, to the byte."""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

from ..request import Request
from .site import Site
from .wording import count, kind, mode_name, sees


class Sent(NamedTuple):
    """What the engine was last told in a mode; no bytes: nothing was sent yet."""

    mode: str
    kind: str
    name: str
    sees: str
    line: str  # the very bytes, which are UTF-8
    pretty: str
    size: str
    sha256: str


def sent(site: Site, user: str, sharing: int | None) -> list[Sent]:
    """Return for each mode what the engine was told in this person's last search."""
    last = site.transcripts.of(user)
    return [_sent(mode, last.get(mode), sharing) for mode in site.modes.modes]


def _sent(mode: str, request: Request | None, sharing: int | None) -> Sent:
    line = request.as_bytes() if request else b""
    people = request.row.users if request and request.row else sharing
    told = sees(kind(mode), people)
    if not request:
        return Sent(mode, kind(mode), mode_name(mode), told, "", "", "", "")
    text = line.decode("utf-8", "surrogatepass")
    pretty = json.dumps(json.loads(text), ensure_ascii=False, indent=1)
    digest = hashlib.sha256(line).hexdigest()
    size = count(len(line), "byte", "bytes")
    return Sent(mode, kind(mode), mode_name(mode), told, text, pretty, size, digest)
