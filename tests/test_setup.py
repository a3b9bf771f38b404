"""The checkout, and scripts/setup with a stub in Python's place: what it takes, how it stops."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import signal
import subprocess
import time
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from index.lucene.jvm import JAR
from search_app import __version__

ROOT = Path(__file__).parents[1]
# Answers as Python would, makes itself the venv's Python, and in place of pip runs $PIP.
STUB = """#!/bin/sh
case "$1 $2" in
    "--version ") echo "Python 3.11.0" ;;
    "-m venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python && echo "$0" > .venv/made_by ;;
    "-m pip") eval "$PIP" ;;
    -c*) exit 0 ;;
esac
"""
SLEEP = "touch started; exec python3 -c 'import time; time.sleep(60)'"


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """Make a checkout with only what the script needs, in a folder with a blank in its name."""
    made = tmp_path / "a room"
    (made / "scripts").mkdir(parents=True)
    for name in ("scripts/setup", "pyproject.toml", "requirements.lock", "requirements-build.lock"):
        shutil.copy(ROOT / name, made / name)
    python = made / "my python"
    python.write_text(STUB, encoding="utf-8")
    python.chmod(0o755)
    return made


def setup(room: Path, python: str, pip: str = "exit 0") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [room / "scripts" / "setup"],
        env={**os.environ, "PYTHON": python, "PIP": pip},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_the_python_that_is_named_is_taken(room: Path) -> None:
    done = setup(room, str(room / "my python"))
    said, errors = done.communicate(timeout=300)
    assert (errors, done.returncode) == ("", 0)
    assert said.endswith("\nReady: .venv/bin/veilsearch\n")
    assert (room / ".venv" / "made_by").read_text() == f"{room / 'my python'}\n"
    assert (room / ".venv" / "run.stamp").exists()


@pytest.mark.parametrize("python", ["/none/at all/python", "false", "*"])
def test_a_wrong_python_is_refused(room: Path, python: str) -> None:
    done = setup(room, python)
    said = f"veilsearch: PYTHON={python} must be the path of a Python 3.11 or newer\n"
    assert done.communicate(timeout=300) == ("", said)
    assert done.returncode == 2
    assert not (room / ".venv").exists()


def test_a_failing_pip_is_one_plain_line(room: Path) -> None:
    done = setup(room, str(room / "my python"), "exit 3")
    _, errors = done.communicate(timeout=300)
    assert errors.startswith("veilsearch: could not install requirements-build.lock")
    assert (errors.count("\n"), done.returncode) == (1, 2)


def test_a_changed_project_is_installed_again_and_nothing_else(room: Path) -> None:
    python = str(room / "my python")
    setup(room, python).communicate(timeout=300)
    (room / ".venv" / "made_by").unlink()
    (room / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    for _ in range(2):
        setup(room, python, 'echo "$*" >>installed').communicate(timeout=300)
    assert not (room / ".venv" / "made_by").exists()
    (line,) = (room / "installed").read_text().splitlines()
    assert line.endswith("--editable .")


def test_an_interrupted_setup_says_so_and_leaves_no_process(room: Path) -> None:
    done = setup(room, str(room / "my python"), SLEEP)
    deadline = time.monotonic() + 300
    while not (room / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(done.pid, signal.SIGINT)  # as Ctrl+C does
    _, errors = done.communicate(timeout=50)  # waits for all who hold its output
    assert errors == "veilsearch: setup was stopped; to go on, run the same command again\n"
    assert done.returncode == 130


def test_the_version_is_the_same_wherever_it_stands() -> None:
    """CONTRIBUTING.md says how a new version is made."""
    readme, citation, changes = (
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("README.md", "CITATION.cff", "CHANGELOG.md")
    )
    assert re.findall(r"veilsearch-([\d.]+)-py3-none-any\.whl", readme) == [__version__]
    date = citation.partition("date-released: ")[2].split()[0]
    assert f"\nversion: {__version__}\ndate-released: {date}\n" in citation
    assert f"\n## {__version__} ({date})\n" in changes


def needed(requirements: list[str]) -> set[str]:
    """Return the names of all packages that `requirements` bring here, as the index spells them."""
    names, waiting = set[str](), [Requirement(line) for line in requirements]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if name not in names and (one.marker is None or one.marker.evaluate({"extra": ""})):
            names.add(name)
            waiting += map(Requirement, importlib.metadata.requires(name) or [])
    return names


def test_a_wheel_asks_for_what_the_lock_has_and_not_for_what_the_jar_declares() -> None:
    """README names the one line more that brings the jar; an extra would bring the rest along."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = [Requirement(line.rstrip("\\")) for line in lock.splitlines() if line[:1].isalpha()]
    here = {one.name for one in locked if one.marker is None or one.marker.evaluate()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert needed(project["dependencies"]) == here - {JAR.partition("=")[0]}
    assert any(str(one) == JAR for one in locked)
    for extra in project["optional-dependencies"].values():
        assert not {"pyserini", "torch"} & {Requirement(line).name for line in extra}
    texts = [(ROOT / name).read_text("utf-8") for name in ("README.md", "docs/operate.md")]
    for text in (*texts, (ROOT / "docs" / "deploy" / "uvx.txt").read_text("utf-8")):
        assert set(re.findall(r"pyserini==[\d.]*\d", text)) == {JAR}


def test_the_top_level_is_the_agreed_one() -> None:
    allowed = {"search_app", "anonymizer", "index", "loops", "templates", "tests", "scripts"}
    allowed |= {"docs", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"}
    allowed |= {"CONTRIBUTING.md", "SECURITY.md", "CITATION.cff"}
    tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split()
    tops = {name.partition("/")[0] for name in tracked}
    assert {top for top in tops if not top.startswith((".", "requirements"))} <= allowed
