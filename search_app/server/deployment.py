"""The checks of `veilsearch doctor --deploy`, before strangers can reach the server [I/O]."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from ..accounts.admission import access_of, is_loopback, token_fault, token_remedy
from ..accounts.database import FILE as PEOPLE
from ..settings import FILE, PRIVATE, Settings
from ..workspace.folder import Workspace
from .checkup import Check, FailedCheck, guarded

_PRIVATE_FILES = (  # of a workspace: who searched for what
    *("profiles*", "*.held-out.tsv", "*.made.json", "*.origins.npz", "town.*", "*.tsv"),
    *("ledger.*", "*/private/*"),
)
_SHOWN = 3  # files named in one line


def deployment(settings: Settings, host: str, study: Path | None = None) -> Iterator[Check]:
    """Yield checks of all that guards people from strangers, for a server on `host`.

    It serves the workspace, or the study in the folder `study`.
    """
    workspace = Workspace(settings.workspace)
    if study is None:
        look = partial(_mode, settings, workspace, host)
        yield guarded("mode", look, "serve with --mode private")
    else:
        yield from _study(study, settings)
    fault, length = token_fault(settings.admin_token), len(settings.admin_token)
    state = fault or f"the operator's token has {length} characters"
    yield Check("token", state, token_remedy() if fault else "")
    yield from _reaching(settings, is_loopback(host))
    if study is None:
        # Neither is a fault: `device` lets people who have not signed in search from /device.
        open_ = "open: anyone who can reach the server may search, plainly or by published rows"
        closed = "closed: only people who sign in may search"
        yield Check("device", open_ if settings.device else closed)
    if os.geteuid() == 0:
        remedy = "make an account that owns the workspace, and run the server under it"
        risk = "root: an attacker who breaks the server would own the whole machine"
        yield Check("account", risk, remedy)
    else:
        yield Check("account", f"user number {os.geteuid()}")
    yield guarded("folder", partial(_folder, workspace.root), "name a folder with --workspace")
    files = [path for form in _PRIVATE_FILES for path in workspace.root.glob(form)]
    yield guarded("files", partial(_owners_only, sorted(set(files))), "correct their permissions")
    people = sorted(workspace.root.glob(f"{PEOPLE}*"))
    yield guarded("people", partial(_owners_only, people), "correct their permissions")
    yield guarded("verify", partial(_verify, workspace), "make the release again")


def _mode(settings: Settings, workspace: Workspace, host: str) -> str:
    invented = workspace.truth() is not None
    access = access_of(settings, invented=invented, loopback=is_loopback(host))
    if access != PRIVATE:
        remedy = f'set access = "{PRIVATE}" in {FILE}, or serve with --mode {PRIVATE}'
        raise FailedCheck(f"{access}: nobody signs in", remedy)
    return f"{PRIVATE}: people sign in and see their own pages only"


def _study(folder: Path, settings: Settings) -> Iterator[Check]:
    """Yield checks of the study in `folder`: its file with its texts, and the database."""
    check = f"run: veilsearch study check {shlex.quote(str(folder))}"
    yield guarded("study", partial(_study_file, folder, settings), check)
    yield guarded("database", partial(_database, folder), "restore it from a copy")


def _study_file(folder: Path, settings: Settings) -> str:
    from ..study.check import faults_of
    from ..study.design import read_study
    from ..study.sample import RESPONSIBLE

    if faults := faults_of(folder, settings):
        more = f" (and {len(faults) - 1} more)" if faults[1:] else ""
        remedy = f"see: veilsearch study check {shlex.quote(str(folder))}"
        raise FailedCheck(f"{faults[0]}{more}", remedy)
    study = read_study(folder)
    if RESPONSIBLE in study.consent:
        fault = "the consent text does not say who is responsible"
        raise FailedCheck(fault, f"replace {RESPONSIBLE} in it by your own")
    return f"{folder} can be run"


def _database(folder: Path) -> str:
    from ..study.store import FILE as DATABASE
    from ..study.store import StudyStore

    path = folder / DATABASE
    if not path.exists():
        return "nobody was invited yet"
    _owners_only(sorted(folder.glob(f"{DATABASE}*")))
    with closing(StudyStore(path)) as store:
        if fault := store.fault():
            raise FailedCheck(f"{path}: {fault}", "restore it from a copy")
        return f"{path}: every row as it was written, readable by its owner only"


def _reaching(settings: Settings, loopback: bool) -> Iterator[Check]:
    """Yield checks of how browsers reach the server: under which names, through which proxy."""
    alone = loopback and not settings.proxy and not settings.hosts
    here = "only this machine can reach it"
    if settings.https or alone:
        yield Check("https", "browsers are told to use HTTPS only" if settings.https else here)
    else:
        remedy = f"put a proxy with a certificate in front and set https = true in {FILE}"
        yield Check("https", "codes and searches can be read on the way", remedy)
    if settings.hosts or alone:
        yield Check("hosts", ", ".join(settings.hosts) or here)
    else:
        remedy = f'set hosts = ["search.example.org"] in {FILE}, or serve with --trust-host'
        yield Check("hosts", "no host name is trusted", remedy)
    # The server itself speaks no HTTPS, so with https there must be a proxy in front.
    if settings.https and not settings.proxy:
        remedy = f'set proxy = "127.0.0.1" (its address) in {FILE}'
        yield Check("proxy", "no proxy is trusted: all people count as one client", remedy)
    else:
        yield Check("proxy", settings.proxy or "none")
    if settings.rate:
        yield Check("rate", f"{settings.rate:g} requests a second from one client")
    else:
        yield Check("rate", "no limit on requests", f"set rate = {Settings.rate:g} in {FILE}")


def _folder(root: Path) -> str:
    mode = root.stat().st_mode & 0o777
    if mode & 0o077:
        remedy = f"chmod 700 {shlex.quote(str(root))}"
        raise FailedCheck(f"{root} is open to others ({mode:03o})", remedy)
    return f"only its owner can open {root}"


def _owners_only(files: list[Path]) -> str:
    files = [path for path in files if path.is_file()]
    seen = [path for path in files if path.stat().st_mode & 0o077]
    if seen:
        more = f" and {len(seen) - _SHOWN} more" if seen[_SHOWN:] else ""
        named = ", ".join(path.name for path in seen[:_SHOWN])
        command = "chmod 600 " + " ".join(shlex.quote(str(path)) for path in seen)
        raise FailedCheck(f"open to others: {named}{more}", command)
    return f"{len(files)} files, each readable by its owner only" if files else "none yet"


def _verify(workspace: Workspace) -> str:
    from anonymizer.verification.judge import verify

    if not workspace.current().release:
        return "no release yet"
    verdict = verify(workspace.find("release"), workspace.find("profiles"))
    if not verdict.holds:
        count = len(verdict.breaches)
        remedy = "see: veilsearch verify; then make the release again: veilsearch anonymize"
        raise FailedCheck(f"the release is refused: {count} breach{'es' * (count != 1)}", remedy)
    return "the release holds: each of its promises was counted again"
