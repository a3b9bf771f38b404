"""No connection leaves the host: verbs and pages open none, and ask for no other host's address."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from anonymizer.terms.wordnet import WordNet

from ..search_app.conftest import call
from .served import served

_events: list[list[str]] = []  # lists of those who listen; a hook can't be taken away again
_HOSTS = ("127.0.0.1", "::1", "localhost", None)


def _hook(event: str, values: tuple[object, ...]) -> None:
    if not _events or event not in {"socket.connect", "socket.getaddrinfo", "socket.sendto"}:
        return
    where = values[1] if event != "socket.getaddrinfo" else (values[0],)
    if isinstance(where, tuple) and where[0] not in _HOSTS:
        _events[-1].append(f"{event} {where[0]}")


sys.addaudithook(_hook)


def connections() -> list[str]:
    """Return the TCP connections of this process and its Java to other hosts, by the kernel."""
    links = [path.readlink().name for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    own = {name[8:-1] for name in links if name.startswith("socket:[")}
    lines = [line for name in ("tcp", "tcp6") for line in _table(name)]
    return [line[2] for line in lines if line[9] in own and not _stays(line[2])]


def _table(name: str) -> list[list[str]]:
    path = Path("/proc/self/net", name)
    return [line.split() for line in path.read_text().splitlines()[1:]] if path.exists() else []


def _stays(remote: str) -> bool:
    host = remote.partition(":")[0]
    return not host.strip("0") or host.endswith("0100007F") or host == "01000000".zfill(32)


def test_no_connection_leaves_the_host(tmp_path: Path, index: Path, wordnet: WordNet) -> None:
    heard: list[str] = []
    _events.append(heard)
    try:
        with served(tmp_path / "w", index, wordnet, "p-linkability", 20) as server:
            root, user = server.world.root, next(iter(server.members()))
            more = ("--set", "k=3", "--set", "p=off", "-o", root / "more")
            for verb in (("anonymize", *more), ("verify",), ("publish", "-o", root / "out")):
                call(root, *verb)
            for path in ("/?q=java", "/compare?q=java", "/me", "/about", "/api/v1/health"):
                assert server.get(user)(path)[0] == 200
            call(root, "search", "java", "--user", user, "--mode", "group")
            server.does(user, "/me/forget")
            assert connections() == heard == []
        with (
            pytest.raises(OSError, match=r"timed out|unreachable|refused"),
            socket.socket() as other,
        ):  # the hook hears
            other.settimeout(0.01)
            other.connect(("192.0.2.1", 9))
        assert heard == ["socket.connect 192.0.2.1"]
    finally:
        _events.clear()
