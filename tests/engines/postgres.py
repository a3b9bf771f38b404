"""A PostgreSQL server of the tests: Debian's, in a temporary folder, by a user without rights."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SECRET = "pass-needle-4711"  # noqa: S105 the server takes any
_NOBODY = 65534
_DEBIAN = Path("/usr/lib/postgresql")
# As the server of an operator would be, but that no disk is waited for.
_OPTIONS = "-c listen_addresses= -c fsync=off -c max_connections=40 -c wal_recycle=off"


def missing() -> str:
    """Return what the tests lack, and how to get it; empty if nothing."""
    if find_spec("psycopg") is None:
        return "psycopg is missing; get it with: scripts/test --engines"
    if _program("initdb") is None:
        return "PostgreSQL is missing; get it with: apt install postgresql"
    return ""


def _program(name: str) -> str | None:
    places = [shutil.which(name), *sorted(_DEBIAN.glob(f"*/bin/{name}"), reverse=True)]
    return next((str(place) for place in places if place), None)


class Cluster:
    """The server, in a folder of its own."""

    def __init__(self, folder: Path):
        self.folder, self.data = folder, folder / "data"
        self.address = f"postgresql://postgres:{SECRET}@/postgres?host={folder}"
        if os.geteuid() == 0:
            os.chown(folder, _NOBODY, _NOBODY)
        self._run("initdb", "-U", "postgres", "-E", "UTF8", "--locale=C", "-A", "trust", "-N")

    def _run(self, name: str, *more: str) -> None:
        drop = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
        command = [*drop * (os.geteuid() == 0), str(_program(name)), "-D", str(self.data), *more]
        output = self.folder / "output"
        with output.open("ab") as file:
            done = subprocess.run(command, stdout=file, stderr=file, cwd=self.folder, check=False)
        assert done.returncode == 0, output.read_text()

    def start(self) -> None:
        log, options = self.folder / "log", f"{_OPTIONS} -k {self.folder}"
        self._run("pg_ctl", "-w", "-l", str(log), "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-w", "-m", mode, "stop")

    def run(self, *statements: str) -> list[Any]:
        """Carry out `statements` and return the rows of the last."""
        import psycopg

        with psycopg.connect(self.address, autocommit=True) as connection:
            for statement in statements:
                cursor: Any = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def empty(self) -> None:
        self.run(
            *(
                f"DROP SCHEMA IF EXISTS veilsearch_{name} CASCADE"
                for name in ("people", "log", "folder")
            )
        )

    def table_bytes(self, *, crashed: bool = False) -> bytes:
        """Return what is in the files of tables, indexes and statistics.

        Without those that no table has, if the server `crashed`.
        """
        left = self.left_by_crashes() if crashed else set()
        self.run("CHECKPOINT")
        files = {path for path in (self.data / "base").rglob("*") if path.is_file()} - left
        return b"".join(path.read_bytes() for path in files)

    def left_by_crashes(self) -> set[Path]:
        """Return the files that no table has, as docs/operate.md finds them."""
        page = (Path(__file__).parents[2] / "docs" / "operate.md").read_text()
        query = page.split("```sql\n")[1].split("```")[0]
        # A file of a finished step goes with the next checkpoint.
        return {self.data / name for (name,) in self.run("CHECKPOINT", query)}

    def all_bytes(self) -> bytes:
        """Return what is in all files, once the log of changes went as docs/operate.md says."""
        self.run("SELECT pg_switch_wal()", "CHECKPOINT")
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return b"".join(path.read_bytes() for path in files)

    def talk(self) -> str:
        """Return what the server has written to its log."""
        return (self.folder / "log").read_text()


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Give a running server that is gone when the block ends."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    try:
        made = Cluster(folder)
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
