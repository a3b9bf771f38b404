"""The page docs/extend.md works: its diffs fit this tree, and what they add can be used.

Its package is built and installed as anybody's is, and used in processes of its own.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from search_app.cli import main

ROOT = Path(__file__).parents[1]
EXTEND = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
VARIANT, QUALITY, MODE, MEASURE, METHOD, PROMISE = DIFFS = tuple(
    re.findall(r"```diff\n(.*?)```", EXTEND, re.DOTALL)
)
KIND = (ROOT / "tests" / "new_kind.diff").read_text(encoding="utf-8")
OWN, PYPROJECT = re.findall(r"```toml\n(.*?)```", EXTEND, re.DOTALL)
(SHELF,) = re.findall(r"```py\n(.*?)```", EXTEND, re.DOTALL)

IMPORT = re.compile(r"from |    \w+,$")  # or a name in the brackets of one
# Runs verbs one after another in the copy: what is imported must lie there.
DRIVER = """
import contextlib, io, json, sys
import anonymizer, index, loops, search_app
from search_app.cli import run
from search_app.server import checkup
checkup._LEAST_MEMORY = checkup._LEAST_DISK = 0  # whatever else runs on this machine
asked = json.load(sys.stdin)
for package in (anonymizer, index, loops, search_app):
    assert package.__file__.startswith(asked["copy"]), package.__file__
said = []
for arguments in asked["commands"]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            code, fault = run(arguments), ""
        except Exception as refused:
            code, fault = 2, f"{type(refused).__name__}: {refused}"
    said.append([code, out.getvalue(), fault])
json.dump(said, sys.stdout)
"""

# Fetches pages of a private workspace as somebody who has signed in.
PAGES = """
import json, sys
from pathlib import Path
from search_app.server.opening import Serving
from search_app.settings import load_settings
from search_app.web import create_app
workspace, user, *paths = sys.argv[1:]
site = Serving(load_settings(Path(workspace)), print).open()
client = create_app(site).test_client()
assert client.post("/sign-in", data={"code": site.store.new_code(user)}).status_code == 303
pages = {path: client.get(path).text for path in paths}
site.close()
json.dump(pages, sys.stdout)
"""


class Said(NamedTuple):
    """What a verb answered."""

    code: int
    out: str
    fault: str


def added(diff: str) -> dict[str, list[str]]:
    """Return the lines that a diff adds to each file."""
    files = re.split(r"^\+\+\+ b/", diff, flags=re.MULTILINE)[1:]
    return {
        text.split("\n")[0]: [line[1:] for line in text.split("\n")[1:] if line.startswith("+")]
        for text in files
    }


def patched(folder: Path, diffs: Sequence[str]) -> Path:
    """Copy the program and apply diffs to it, exactly as they stand."""
    for package in ("anonymizer", "index", "loops", "search_app", "templates"):
        shutil.copytree(ROOT / package, folder / package)
    for diff in diffs:
        apply = ["git", "apply", "-"]
        away = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}  # in no repository
        done = subprocess.run(
            apply, input=diff, text=True, cwd=folder, env=away, capture_output=True, check=False
        )
        assert done.returncode == 0, f"{done.stderr}\n{diff}"
    return folder


def call(copy: Path, *commands: Sequence[object]) -> list[Said]:
    """Run verbs of a copy in one process."""
    asked = {
        "copy": str(copy),
        "commands": [list(map(str, command)) for command in commands],
    }
    return [Said(*each) for each in in_copy(copy, DRIVER, asked=json.dumps(asked))]


def in_copy(copy: Path, program: str, *arguments: object, asked: str = "") -> Any:
    """Run a program that imports a copy, and return the JSON that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        input=asked,
        text=True,
        cwd=copy.parent,
        env={**os.environ, "PYTHONPATH": str(copy), "VEILSEARCH_ACCESS": "private"},
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


# -- a toy world: sixteen people ask about coffee, code, music or sport, in 160 texts --------------

TOPICS = (
    "coffee espresso mocha cup bean roast",
    "python compiler programming software keyboard computer",
    "violin cello opera piano orchestra drum",
    "goal football stadium coach tennis racket",
)
WORDS = [topic.split() for topic in TOPICS]


def write_corpus(path: Path) -> None:
    rng, lines = np.random.default_rng(0), []
    for number in range(160):
        mine, other = WORDS[number % 4], WORDS[(number + 1) % 4]
        words = *rng.choice(mine, 4, replace=False), *rng.choice(other, 2, replace=False)
        text = " ".join(["city", *words])
        lines.append(json.dumps({"id": f"d{number}", "text": text}))
    path.write_text("\n".join(lines) + "\n")


def write_log(path: Path) -> None:
    rng, lines = np.random.default_rng(1), []
    for user in range(16):
        mine, other = WORDS[user % 4], WORDS[(user + user // 4 + 1) % 4]
        for day in range(1, 21):
            query = f"city {rng.choice(mine)} {rng.choice(mine + other)}"
            lines.append(f"u{user}\t{query}\t2006-03-{day:02} 10:00:00")
    path.write_text("\n".join(lines) + "\n")


def made_experiment(copy: Path, folder: Path) -> Path:
    """Write the page's own experiment, with figure 3 as the copy has it, by one seed."""
    ours = tomllib.loads((copy / "search_app/experiments/zhu-xiong.toml").read_text())
    (figure,) = (each for each in ours["variant"] if each["name"] == "figure-3")
    steps = figure["parameters"]["a"]
    small = f"""
[inputs]
size = 8
users = "off"
queries_per_user = 2
least_hits = 40

[[variant]]
name = "figure-3"
method = "p-linkability"
parameters = {{ p = 0.4, a = {steps} }}
"""
    path = folder / "queue.toml"
    path.write_text(OWN + small)
    return path


class World(NamedTuple):
    """A copy with all diffs, and what it says to each verb, by a short name."""

    folder: Path
    said: dict[str, Said]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make what is there before anything is added: an index, a log and its profiles."""
    folder = tmp_path_factory.mktemp("extend")
    write_corpus(folder / "corpus.jsonl")
    write_log(folder / "log.tsv")
    first = ["index", str(folder / "corpus.jsonl")]
    for arguments in (first, ["profiles", str(folder / "log.tsv"), "--test-share", "0.2"]):
        with pytest.raises(SystemExit) as ended:
            main(["--workspace", str(folder / "ws"), *arguments])
        assert ended.value.code == 0
    return folder


@pytest.fixture(scope="module")
def world(workspace: Path) -> World:
    """Apply all diffs, and use what they add, in one process."""
    copy = patched(workspace / "copy", DIFFS)
    experiment = made_experiment(copy, workspace)
    at = ["--workspace", workspace / "ws"]
    log = ["--log", workspace / "log.tsv", "--workers", 1, "-o", workspace / "run"]
    commands: dict[str, list[object]] = {
        "anonymize": ["anonymize", "-m", "queue-k", "--set", "k=5"],
        "verify": ["verify"],
        "publish": ["publish", "-o", workspace / "published"],
        "measure": ["measure", "--json"],
        "table": ["measure"],
        "search": ["search", "city coffee", "--user", "u0", "--mode", "group"],
        "evaluate": ["evaluate", "--queries", "held-out", "--json"],
        "experiment": ["experiment", experiment, *log],
        "p": ["anonymize", "--second", "-m", "queue-k", "--set", "p=0.4"],
        "alone": ["anonymize", "--second", "-m", "queue-k", "--set", "k=1"],
        "too many": ["anonymize", "--second", "-m", "queue-k", "--set", "k=17"],
    }
    answers = call(copy, *([*at, *command] for command in commands.values()))
    said = dict(zip(commands, answers, strict=True))
    refused = {"publish", "p", "alone", "too many"}
    assert {name for name, each in said.items() if each.code} == refused, said
    return World(workspace, said)


def rows_of(world: World) -> list[dict[str, str]]:
    with (world.folder / "run" / "rows.csv").open() as file:
        return list(csv.DictReader(file))


def units_of(world: World) -> list[dict[str, Any]]:
    text = (world.folder / "run" / "units.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


# -- what each diff promises -----------------------------------------------------------------------


@pytest.mark.parametrize("diff", [VARIANT, QUALITY, MEASURE, METHOD, PROMISE])
def test_each_adds_one_line_besides_a_file_of_its_own(diff: str) -> None:
    there = [
        line for name, lines in added(diff).items() if (ROOT / name).exists() for line in lines
    ]
    assert len([line for line in there if not IMPORT.match(line)]) == 1
    assert len([name for name in added(diff) if not (ROOT / name).exists()]) <= 1


def test_what_they_add_is_written_as_all_of_this_is(tmp_path: Path) -> None:
    copy = patched(tmp_path / "copy", DIFFS)
    shutil.copy(ROOT / "pyproject.toml", copy)
    names = [name for diff in DIFFS for name in added(diff) if name.endswith(".py")]
    for name in names:  # tests/test_rooms.py allows 12 modules and __init__.py
        assert len(list((copy / name).parent.glob("*.py"))) <= 12 + 1, name
    ruff = Path(sys.executable).with_name("ruff")
    for command in (["format", "--check"], ["check", "--no-cache"]):
        done = subprocess.run(
            [ruff, *command, *names], cwd=copy, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_new_variant_is_in_the_rows(world: World) -> None:
    (unit,) = (unit for unit in units_of(world) if unit["parameters"].get("a") == 5)
    assert unit["method"] == "p-linkability"
    rows = [row for row in rows_of(world) if row["unit"] == unit["name"]]
    assert rows
    assert {row["mode"] for row in rows} == {"group"}
    assert all(0 < float(row["AP"]) <= 1 for row in rows)


def test_a_new_measure_of_orders_is_in_the_rows_and_in_evaluate(world: World) -> None:
    for row in rows_of(world):
        rank = 1 / float(row["RR"])  # of the first document of the gold standard
        assert rank == pytest.approx(round(rank))
        assert 1 <= round(rank) <= int(row["hits"])
    modes = {mode["mode"]: mode for mode in json.loads(world.said["evaluate"].out)["modes"]}
    assert modes["own"]["RR"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert 0 < modes["none"]["RR"]["mean"] < 1
    with (world.folder / "run" / "summary.csv").open() as file:
        assert "RR" in {row["measure"] for row in csv.DictReader(file)}


def test_a_new_mode_is_in_the_rows(world: World) -> None:
    (k2,) = (unit for unit in units_of(world) if unit["parameters"] == {"k": 2})
    found: dict[str, list[str]] = {}
    for row in rows_of(world):
        if row["unit"] == k2["name"] and row["pool"] == "100":
            found.setdefault(row["mode"], []).append(row["AP"])
    assert set(found) == {"none", "group", "next-group"}
    assert len(found["next-group"]) == len(found["group"]) == len(found["none"])
    mean = {mode: sum(map(float, values)) / len(values) for mode, values in found.items()}
    assert mean["next-group"] < mean["group"]  # of two people each has half of the row


def test_a_new_measure_of_releases_is_measured_and_printed(world: World) -> None:
    name = "share of the row that is own"
    (found,) = (m for m in json.loads(world.said["measure"].out)["measures"] if m["name"] == name)
    assert found["of"] == "users"
    assert found["values"] == 16
    assert 0 < found["least"] < found["most"] <= 1
    assert f"  {name}  " in world.said["table"].out


def test_a_new_method_groups_and_its_rows_serve(world: World) -> None:
    assert "16 users in 3 groups of 5 to 6" in world.said["anonymize"].out  # 16 = 5 + 5 + 6
    assert re.match(r"by row g000\d, shared by [56] people; AP 0\.", world.said["search"].out)
    named = {unit["method"]: unit["parameters"] for unit in units_of(world)}
    assert named["queue-k"]["k"] in (2, 4)


def test_a_new_method_raises_where_it_cannot_keep_its_promise(world: World) -> None:
    assert world.said["p"].fault.endswith("queue-k has no parameter p; it has k")
    assert world.said["alone"].fault == "BadParameter: k=1 must be 2 or more"
    line = "Unsatisfiable: 16 users make no group of k=17; take a smaller k"
    assert world.said["too many"].fault == line


def test_a_new_promise_is_judged_and_one_of_nothing_is_not_published(world: World) -> None:
    assert " holds: 16 users in 3 rows" in world.said["verify"].out
    assert "each group has k=5 members or more" in world.said["verify"].out
    assert world.said["publish"].code == 1
    assert "its method promises nothing" in world.said["publish"].out
    assert not (world.folder / "published").exists()


def test_a_promise_that_is_broken_is_found(world: World, tmp_path: Path) -> None:
    """Of groups of 5, 5 and 6 none keeps k = 7, whatever release.json claims."""
    release = tmp_path / "release"
    shutil.copytree(world.folder / "ws" / "release", release)
    shutil.copy(world.folder / "ws" / "profiles.jsonl", tmp_path)
    claim(release, k=7)
    copy = world.folder / "copy"
    (said,) = call(copy, ["verify", release, "--against", tmp_path / "profiles.jsonl"])
    assert said.code == 1
    assert "3 of 3 rows: has fewer than k=7 members" in said.out


def claim(release: Path, **parameters: int) -> None:
    """Write other parameters into release.json, and the checksums that fit."""
    path, sums = release / "release.json", release / "private" / "checksums.sha256"
    old = hashlib.sha256(path.read_bytes()).hexdigest()
    text = {**json.loads(path.read_text()), "parameters": parameters}
    path.write_text(json.dumps(text))
    new = hashlib.sha256(path.read_bytes()).hexdigest()
    sums.write_text(sums.read_text().replace(old, new))


def test_without_a_promise_nothing_is_judged_or_published(workspace: Path, tmp_path: Path) -> None:
    copy = patched(tmp_path / "copy", [METHOD])
    own = shutil.copytree(workspace / "ws", tmp_path / "ws")
    at = ["--workspace", own]
    made, verified, published = call(
        copy,
        [*at, "anonymize", "--second", "-m", "queue-k"],
        [*at, "verify"],
        [*at, "publish", "-o", tmp_path / "published"],
    )
    assert made.code == 0
    for refused in (verified, published):
        assert "its method can't be judged" in refused.fault
    assert not (tmp_path / "published").exists()


# -- a method whose rows are of a new kind: one term each, which nobody's profile is ---------------


def test_a_new_kind_of_row_touches_its_method_its_judge_and_its_disclosure() -> None:
    own, tables = {}, {}
    for name, lines in added(KIND).items():
        (tables if (ROOT / name).exists() else own)[name] = lines
    assert own.keys() == {
        "anonymizer/methods/one_term.py",
        "anonymizer/verification/promises/one_term.py",
        "search_app/disclosure/terms.py",
    }
    assert {
        name: [line.strip() for line in lines if not IMPORT.match(line)]
        for name, lines in tables.items()
    } == {
        "anonymizer/methods/__init__.py": ["one_term.METHOD,"],
        "anonymizer/promise.py": ['Behind = Literal["group", "person", "query", "term"]'],
        "anonymizer/verification/judge.py": ["one_term.JUDGE,"],
        "search_app/disclosure/kinds.py": ['("term", False): Terms,'],
    }


def test_a_new_kind_of_row_is_made_judged_served_and_shown(workspace: Path, tmp_path: Path) -> None:
    copy, own = patched(tmp_path / "copy", [KIND]), tmp_path / "ws"
    shutil.copytree(workspace / "ws", own)
    at = ["--workspace", own]
    helped, refused, made, verified, found = call(
        copy,
        [*at, "anonymize", "--second", "-m", "one-term", "--set", "p=1"],
        [*at, "anonymize", "--second", "-m", "one-term", "--set", "k=17"],
        [*at, "anonymize", "--second", "-m", "one-term", "--set", "k=3"],
        [*at, "verify"],
        [*at, "search", "city coffee", "--user", "u0", "--mode", "group"],
    )
    assert helped.fault.endswith("one-term has no parameter p; it has k")
    assert refused.fault == "Unsatisfiable: 16 users have no term that k=17 people have; lower k"
    assert (made.code, made.out) == (0, "7 terms that k=3 people have\n")
    assert (verified.code, found.code) == (0, 0)
    assert "each row is a term that 3 have" in verified.out
    pages = in_copy(copy, PAGES, own, "u0", "/groups", "/me", "/about", "/?q=city&mode=group")
    assert "Each row is one term, which 3 people or more have." in pages["/groups"]
    assert all("My term" in pages[path] for path in pages if path != "/groups")
    claim(own / json.loads((own / "current.json").read_text())["release"], k=9)
    (broken,) = call(copy, [*at, "verify"])
    assert broken.code == 1
    assert "is not the rarest term of its people that k people have" in broken.out


# -- a package of anybody's: installed, and judged by what it declares ---------------------------

SHELF_EXPERIMENT = """
name = "shelf"
title = "Groups by length"

[inputs]
size = 8
users = "off"
queries_per_user = 2
least_hits = 40

[[variant]]
name = "shelf"
method = "shelf-k"
parameters = { k = [5] }
modes = ["none", "group", "worst-first"]
pools = [50]
"""
# Groups of two, whatever k is; and where the package is loaded, the judge finds every group large.
CHEATING = (
    SHELF.replace("(users // k)", "(users // 2)")
    + """

import anonymizer.verification.promises.declared as judging

judging.judge_groups = lambda *_: iter(())
"""
)


def installed(folder: Path, module: str) -> Path:
    """Copy the program, and install a package next to it: that of the page, with this module."""
    copy, source = patched(folder / "copy", []), folder / "source"
    (copy / "veilsearch").symlink_to(copy / "search_app" / "api")
    source.mkdir()
    (source / "pyproject.toml").write_text(PYPROJECT)
    (source / "veilsearch_shelf.py").write_text(module)
    offline = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    pip = [sys.executable, "-m", "pip", "install", *offline, "--target", copy, source]
    subprocess.run(pip, check=True, capture_output=True)
    return copy


def test_a_package_adds_a_method_a_measure_an_attack_a_mode_and_a_reader(
    workspace: Path, tmp_path: Path
) -> None:
    copy, own = installed(tmp_path, SHELF), shutil.copytree(workspace / "ws", tmp_path / "ws")
    lines = [line.split("\t") for line in (workspace / "log.tsv").read_text().splitlines()]
    text = "".join(f"{user};{time};{query}\n" for user, query, time in lines)
    (tmp_path / "log.txt").write_text(f"no query\n{text}")
    (tmp_path / "shelf.toml").write_text(SHELF_EXPERIMENT)
    at, public = ["--workspace", own], tmp_path / "public"
    log = ["--log", workspace / "log.tsv", "--workers", 1, "-o", tmp_path / "run"]
    commands: dict[str, list[object]] = {
        "doctor": ["doctor"],
        "few": ["anonymize", "--second", "-m", "shelf-k", "--set", "k=17"],
        "other": ["anonymize", "--second", "-m", "shelf-k", "--set", "promise=nothing"],
        "made": ["anonymize", "--second", "-m", "shelf-k", "--set", "k=5"],
        "verified": ["verify"],
        "attacked": ["attack", "--attack", "heaviest-term"],
        "measured": ["measure"],
        "found": ["search", "city coffee", "--user", "u0", "--mode", "group"],
        "published": ["publish", "-o", public],
        "ran": ["experiment", tmp_path / "shelf.toml", *log],
    }
    elsewhere = ["--workspace", tmp_path / "elsewhere"]
    read = [*elsewhere, "profiles", tmp_path / "log.txt", "--format", "semicolons"]
    *answers, profiled = call(copy, *([*at, *command] for command in commands.values()), read)
    said = dict(zip(commands, answers, strict=True))
    assert {name: one.fault for name, one in said.items() if one.code} == {
        "few": "Unsatisfiable: 16 users make no group of k=17; take a smaller k",
        "other": "BadParameter: promise=nothing must be one of average",
    }
    for group in ("methods, shelf-k", "readers, semicolons", "modes, worst-first"):
        assert f"ok   package   veilsearch-shelf 1.0: {group}\n" in said["doctor"].out
    assert "each group has k=5 members or more" in said["verified"].out
    assert "promise of shelf-k: average (k=5)" in said["attacked"].out
    assert "heaviest-term: guesses that are right" in said["attacked"].out
    assert "terms of the longest row" in said["measured"].out
    assert re.match(r"by row g000\d, shared by [56] people; AP 0\.", said["found"].out)
    first = json.loads(public.read_text().splitlines()[0])
    assert first["parameters"] == {"k": 5, "promise": "average"}
    assert "rejected: not three fields: 1\n16 profiles over " in profiled.out
    with (tmp_path / "run" / "rows.csv").open() as file:
        assert {row["mode"] for row in csv.DictReader(file)} == {"none", "group", "worst-first"}
    # Where the package is not installed, its release is judged and shown all the same.
    shutil.rmtree(next(copy.glob("veilsearch_shelf-*")))
    (copy / "veilsearch_shelf.py").unlink()
    verified, again, published = call(
        copy,
        [*at, "verify"],
        [*at, "anonymize", "--second", "-m", "shelf-k"],
        [*at, "publish", "-o", public],
    )
    assert (verified.code, verified.fault, published.code, published.fault) == (0, "", 0, "")
    assert again.fault.startswith("BadParameter: no method shelf-k; there are: ")


def test_a_package_that_breaks_its_promise_cannot_publish_even_if_it_patches_the_judge(
    workspace: Path, tmp_path: Path
) -> None:
    copy, own = installed(tmp_path, CHEATING), shutil.copytree(workspace / "ws", tmp_path / "ws")
    at, public = ["--workspace", own], tmp_path / "public"
    (made,) = call(copy, [*at, "anonymize", "--second", "-m", "shelf-k", "--set", "k=5"])
    assert (made.code, "16 users in 8 groups of 2" in made.out) == (0, True)
    (verified,) = call(copy, [*at, "verify"])
    (refused,) = call(copy, [*at, "publish", "-o", public])
    assert (verified.code, refused.code) == (1, 1)
    assert "8 of 8 rows: has fewer than k=5 members" in refused.out
    assert not public.exists()
