"""What `veilsearch doctor --deploy` looks at before strangers may come [I/O].

First what is set and who may read the files, then how the application itself behaves to strangers.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .admission import PRIVATE, access_of, is_loopback, token_fault, token_remedy
from .behaviour import behaviour
from .checkup import Check, Finding, guarded
from .people_file import FILE as PEOPLE
from .settings import FILE, Settings
from .workspace import Workspace

_PRIVATE_FILES = (  # of a workspace: who searched for what
    *("profiles*", "*.held-out.tsv", "*.made.json", "*.origins.npz", "town.*", "*.tsv"),
    *("ledger.jsonl", "*/private/*"),
)
_SHOWN = 3  # files named in one line


def deployment(settings: Settings, host: str) -> Iterator[Check]:
    """Look at all that guards people from strangers, one after the other."""
    workspace = Workspace(settings.workspace)
    yield guarded("mode", partial(_mode, settings, workspace, host), "serve with --mode private")
    yield _token(settings)
    yield from _reaching(settings, is_loopback(host))
    yield _device(settings)
    yield _account()
    yield guarded("folder", partial(_folder, workspace.root), "name a folder with --workspace")
    files = [path for form in _PRIVATE_FILES for path in workspace.root.glob(form)]
    yield guarded("files", partial(_owners_only, sorted(set(files))), "see to their rights")
    people = sorted(workspace.root.glob(f"{PEOPLE}*"))
    yield guarded("people", partial(_owners_only, people), "see to their rights")
    yield guarded("verify", partial(_verify, workspace), "make the release again")
    yield from behaviour(settings, host)


def _mode(settings: Settings, workspace: Workspace, host: str) -> str:
    invented = workspace.truth() is not None
    access = access_of(settings, invented=invented, loopback=is_loopback(host))
    if access != PRIVATE:
        remedy = f'set access = "{PRIVATE}" in {FILE}, or serve with --mode {PRIVATE}'
        raise Finding(f"{access}: nobody signs in", remedy)
    return f"{PRIVATE}: people sign in and see their own pages only"


def _token(settings: Settings) -> Check:
    fault = token_fault(settings.admin_token)
    if fault:
        return Check("token", fault, token_remedy())
    return Check("token", f"the operator's has {len(settings.admin_token)} characters")


def _reaching(settings: Settings, loopback: bool) -> Iterator[Check]:
    """Look at how browsers reach the server: under which names, and through what."""
    alone = loopback and not settings.proxy and not settings.hosts
    here = "this machine alone can reach it"
    if settings.https or alone:
        yield Check("https", "browsers are told to use nothing else" if settings.https else here)
    else:
        remedy = f"put a proxy with a certificate in front and set https = true in {FILE}"
        yield Check("https", "codes and searches can be read on their way", remedy)
    if settings.hosts or alone:
        yield Check("hosts", ", ".join(settings.hosts) or here)
    else:
        remedy = f'set hosts = ["search.example.org"] in {FILE}, or serve with --trust-host'
        yield Check("hosts", "no name is trusted", remedy)
    if settings.https and not settings.proxy:  # the server itself speaks no HTTPS
        remedy = f'set proxy = "127.0.0.1" (its address) in {FILE}'
        yield Check("proxy", "not believed: all people count as one client", remedy)
    else:
        yield Check("proxy", settings.proxy or "none")
    if settings.rate:
        yield Check("rate", f"{settings.rate:g} requests a second from one client")
    else:
        yield Check("rate", "as many requests as come", f"set rate = {Settings.rate:g} in {FILE}")


def _device(settings: Settings) -> Check:
    """Tell what strangers may ask without signing in."""
    if settings.device:
        return Check("device", "whoever can reach it may search the corpus, and by published rows")
    return Check("device", "closed: only who signs in may search")


def _account() -> Check:
    if os.geteuid() == 0:
        remedy = "make an account for it that owns the workspace, and run it as that"
        return Check(
            "account", "root: a fault of the server's would open all of the machine", remedy
        )
    return Check("account", f"user number {os.geteuid()}")


def _folder(root: Path) -> str:
    mode = root.stat().st_mode & 0o777
    if mode & 0o077:
        raise Finding(
            f"{root} is open to others ({mode:03o})", f"chmod 700 {shlex.quote(str(root))}"
        )
    return f"{root} is its owner's only"


def _owners_only(files: list[Path]) -> str:
    """Find files that others than their owner may read or write."""
    files = [path for path in files if path.is_file()]
    seen = [path for path in files if path.stat().st_mode & 0o077]
    if seen:
        more = f" and {len(seen) - _SHOWN} more" if seen[_SHOWN:] else ""
        named = ", ".join(path.name for path in seen[:_SHOWN])
        command = "chmod 600 " + " ".join(shlex.quote(str(path)) for path in seen)
        raise Finding(f"open to others: {named}{more}", command)
    return f"{len(files)} files, each its owner's only" if files else "none yet"


def _verify(workspace: Workspace) -> str:
    from anonymizer.measures.verification import verify

    if not workspace.current().release:
        return "no release yet"
    verdict = verify(workspace.find("release"), workspace.find("profiles"))
    if not verdict.holds:
        count = len(verdict.breaches)
        remedy = "see: veilsearch verify; then make the release again: veilsearch anonymize"
        found = "1 breach" if count == 1 else f"{count} breaches"
        raise Finding(f"the release is refused: {found}", remedy)
    return "the release holds: each of its promises recounted"
