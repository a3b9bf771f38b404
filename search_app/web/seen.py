"""What the engine was told in a person's last search, to the byte."""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

from ..request import Request
from .site import Site
from .wording import count, kind, sees

NOTHING_LEFT = "the query only: all terms of the own profile were deleted, so no row stands for it"
WITHHELD = "the query only: the mean of all groups’ rows is not published, so it serves nobody"
_YET = "Nothing was sent in this mode yet. Search for something and come back."
_PLAIN = "Nothing is sent in this mode: in its place you get the plain order."


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
    nothing: str = ""  # why there are no bytes


def sent(site: Site, user: str, sharing: int | None) -> list[Sent]:
    """Return for each mode what the engine was told in this person's last search."""
    last = site.transcripts.of(user)
    return [_sent(site, user, mode, last.get(mode), sharing) for mode in site.modes.modes]


def _sent(site: Site, user: str, mode: str, request: Request | None, sharing: int | None) -> Sent:
    line = request.as_bytes() if request else b""
    release = site.modes.release_of(mode)
    row = release.row_for(user) if release and release.serves(user) else None
    people = row.users if row else sharing
    lone, name = site.lone(mode) is not None, site.name_of(mode)
    if site.leaves_out(mode, user):
        told = NOTHING_LEFT if lone else WITHHELD
        return Sent(mode, kind(mode), name, told, "", "", "", "", _PLAIN)
    told = sees(kind(mode), people, lone=lone, spare=row is not None and row.spare)
    if not request:
        return Sent(mode, kind(mode), name, told, "", "", "", "", _YET)
    text = line.decode("utf-8", "surrogatepass")
    pretty = json.dumps(json.loads(text), ensure_ascii=False, indent=1)
    digest = hashlib.sha256(line).hexdigest()
    size = count(len(line), "byte", "bytes")
    return Sent(mode, kind(mode), name, told, text, pretty, size, digest)
