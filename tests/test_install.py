"""From a package index: a wheel in an empty environment, and the image's steps in a folder."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import pytest

from index.lucene.jvm import JAR
from loops.place import folder
from search_app import __version__

from .search_app.server.test_live_index import lasting_port

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "docs" / "deploy"
DOCUMENTS = '{"id": "a", "text": "java coffee"}\n{"id": "b", "text": "java code"}\n'
MOST_PACKAGES, MOST_MEGABYTES = 38, 250
PATIENCE = 600
# pip compiles every file that it installs; Python compiles the few that are used. "no" means it
# does not.
UNCOMPILED = {"PIP_NO_COMPILE": "no"}


def call(*command: object, code: int = 0, **how: dict[str, str] | Path) -> str:
    """Run a command; return what it prints on stdout."""
    words = [str(word) for word in command]
    how = {"env": os.environ | UNCOMPILED, **how}
    done = subprocess.run(
        words, check=False, capture_output=True, text=True, timeout=PATIENCE, **how
    )
    assert done.returncode == code, (words, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(scope="module", autouse=True)
def index(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skip where the package index can't be reached."""
    folder = tmp_path_factory.mktemp("reached")
    asking = [sys.executable, "-m", "pip", "download", "-q", "--retries", "0", "--no-deps"]
    asking += ["--no-cache-dir", "-d", str(folder), "blinker"]
    if subprocess.run(asking, check=False, capture_output=True).returncode:
        pytest.skip("needs the package index")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the files of the repository, without what was built or searched here."""
    copy = tmp_path_factory.mktemp("source")
    for name in subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT).decode().split("\0"):
        if name and (ROOT / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    return copy


# -- the image -------------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile with their arguments, each in one line."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in lines]


class Image:
    """The steps of the Dockerfile, done in the folder `root` by the Python that runs this test.

    They take packages from pip's cache, where the image has none.
    """

    def __init__(self, root: Path, context: Path):
        self.root, self.context = root, context
        (root / "python").mkdir()
        (root / "python" / "python").symlink_to(sys.executable)
        if os.geteuid():  # only root can give a folder away
            (root / "python" / "chown").symlink_to("/bin/true")
        self.base = {"PATH": f"{root / 'python'}:/usr/bin:/bin", **UNCOMPILED}
        self.env, self.cwd, self.commands = dict(self.base), root, dict[str, str]()

    def of(self, text: str) -> str:
        """Return an argument with its variables replaced."""
        return re.sub(r"\$(\w+)", lambda name: self.env[name[1]], text)

    def place(self, path: str) -> str:
        return f"{self.root}{path}" if re.match(r"/(?!tmp)", path) else path

    def do(self, step: str, rest: str) -> None:
        if step == "FROM":
            self.env, self.cwd = dict(self.base), self.root
        elif step == "ENV":
            values = [word.partition("=") for word in shlex.split(rest)]
            self.env |= {
                name: self.of(value) if "$" in value else self.place(value)
                for name, _, value in values
            }
        elif step == "WORKDIR":
            self.cwd = Path(self.place(self.of(rest)))
            self.cwd.mkdir(parents=True)
        elif step == "RUN":
            call("sh", "-c", rest.replace("--no-cache-dir ", ""), env=self.env, cwd=self.cwd)
        elif step == "COPY" and rest.startswith("--from=build "):
            _, source, target = map(self.of, rest.split())
            assert source == target and Path(source).is_dir(), "environments can't be moved"
        elif step == "COPY":
            *sources, target = rest.split()
            for source in sources:
                self.copy(source, self.cwd / target)
        else:
            assert step in {"USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD"}, step
            self.commands[step] = rest

    def copy(self, source: str, target: Path) -> None:
        kept = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
        assert any(fnmatch(source, line[1:]) for line in kept if line.startswith("!")), source
        if (self.context / source).is_dir():
            shutil.copytree(self.context / source, target)
        else:
            shutil.copy(self.context / source, target)

    def changed(self) -> dict[Path, int]:
        """Return when each file outside of the volume was last changed."""
        data = Path(self.env["DATA"])
        files = (path for path in self.root.rglob("*") if not path.is_relative_to(data))
        return {path: path.lstat().st_mtime_ns for path in files}


@pytest.fixture(scope="module")
def image(source: Path) -> Iterator[Image]:
    """Return the image with all steps done."""
    with tempfile.TemporaryDirectory() as root:
        made = Image(Path(root), source)
        for step in instructions():
            made.do(*step)
        yield made


def test_the_steps_of_the_image_make_a_server(image: Image, tmp_path: Path) -> None:
    """Not tried here: the base image itself, its user and the volume's mount."""
    data, port = Path(image.env["DATA"]), str(lasting_port())
    kept = Path(image.env["NUMBA_CACHE_DIR"], "veilsearch", "compiled")
    shutil.copytree(folder() or "", kept)  # tests/loops compile anew
    assert data.stat().st_mode & 0o777 == 0o700
    assert int(image.commands["USER"].partition(":")[0]) > 0, "the server would be root"
    assert image.of(image.commands["VOLUME"]) == str(data)
    before = image.changed()
    (tmp_path / "documents.jsonl").write_text(DOCUMENTS)
    call("sh", "-c", "veilsearch index documents.jsonl", env=image.env, cwd=tmp_path)
    health = image.commands["HEALTHCHECK"].partition(" CMD ")[2].replace("8000", port)
    assert image.commands["EXPOSE"] == "8000"
    call("sh", "-c", health, env=image.env, code=1)
    command = [word.replace("8000", port) for word in json.loads(image.commands["CMD"])]
    server = subprocess.Popen(
        [shutil.which(command[0], path=image.env["PATH"]) or "", *command[1:]],
        env=image.env,
        cwd="/",
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + PATIENCE
    try:
        look = partial(subprocess.call, ["sh", "-c", health], env=image.env)
        while look(stderr=subprocess.DEVNULL) and time.monotonic() < deadline:
            assert server.poll() is None
            time.sleep(0.5)
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0
    finally:
        server.kill()
        server.wait()
    assert time.monotonic() < deadline
    assert image.changed() == before, "its own files are read-only there"


# -- the wheel -------------------------------------------------------------------------------------


def names_in(python: Path) -> set[str]:
    """Return the names of the packages that `python` has."""
    listed = json.loads(call(python, "-m", "pip", "list", "--format=json"))
    return {re.sub(r"[-.]", "_", one["name"].lower()) for one in listed}


def test_a_wheel_and_one_more_line_make_an_environment(image: Image, tmp_path: Path) -> None:
    """In the environment of the image, once the two are out of it: another takes minutes."""
    own = {**image.env, "PYTHONDONTWRITEBYTECODE": "", "VEILSEARCH_WORKSPACE": "workspace"}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first, second = re.findall(r"^pip (install .*)$", readme, re.MULTILINE)
    assert second == f"install --no-deps {JAR}"
    python, program = (Path(image.env["APP"], "bin", name) for name in ("python", "veilsearch"))
    call(python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, image.context)
    wheel = tmp_path / first.split()[1]
    # In the versions of the lock, as newer ones may bring other packages any day.
    locked = re.findall(r"^(\S+==.*?) *\\$", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    (tmp_path / "locked.txt").write_text("\n".join(locked))
    # All packages as wheels first: their sizes are what is downloaded.
    only = ("-q", "-c", tmp_path / "locked.txt", "-w", tmp_path / "wheels")
    call(python, "-m", "pip", "wheel", *only, wheel)
    wheels = list((tmp_path / "wheels").iterdir())
    size = sum(path.stat().st_size for path in wheels) / 1e6
    print(f"{len(wheels)} packages, {size:.0f} MB")  # shown by -rP
    assert len(wheels) <= MOST_PACKAGES
    assert size < MOST_MEGABYTES
    call(python, "-m", "pip", "uninstall", "-q", "-y", "veilsearch", "pyserini")
    needed = {path.name.split("-")[0].lower() for path in wheels}
    tools = {"pip", "packaging", "setuptools", "wheel"}
    assert names_in(python) - tools == needed - tools - {"veilsearch"}, "the lock has others"
    call(python, "-m", "pip", "install", "-q", "--no-index", wheel)
    place = {"cwd": tmp_path, "env": own}
    checks = json.loads(call(program, "doctor", "--json", code=1, **place))
    (java,) = (check for check in checks if check["name"] == "java")
    assert java["remedy"] == f"run: {shlex.quote(str(python))} -m pip {second}"
    call("sh", "-c", java["remedy"].removeprefix("run: "))
    (tmp_path / "documents.jsonl").write_text(DOCUMENTS)
    call(program, "index", "documents.jsonl", **place)
    # Another program may have taken the memory that doctor wants.
    checks = json.loads(call("sh", "-c", f"'{program}' doctor --json || true", **place))
    assert {"java", "wordnet"} <= {check["name"] for check in checks if check["good"]}
    assert call(program, "--version", **place) == f"veilsearch {__version__}\n"
    hits = json.loads(call(program, "search", "coffee", "--json", **place))
    assert [hit["id"] for hit in hits["hits"]] == ["a"]
