"""Loops are compiled once, and again only where what they are made from has changed."""

from __future__ import annotations

import importlib.util
import os
from collections import namedtuple
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCPUCodegen
from numba.core.cpu import CPUContext
from numba.core.dispatcher import Dispatcher

from loops import kept as machine
from loops import place
from loops.kept import compiled, when_compiling

INNER = """
STEP = 2

@compiled
def inner(number):
    return number + STEP
"""
OUTER = """
@compiled
def outer(number):
    return doubled(number) + inner(number)

@compiled
def doubled(number):
    return np.abs(FACTOR * number)
"""


ROOT = Path(__file__).parents[2]
FOLDER = place.folder.__wrapped__


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(machine, "folder", lambda: tmp_path)
    return tmp_path


def call(inner: str = INNER, outer: str = OUTER, factor: object = 2, number: object = 10) -> Any:
    """Return what two files of loops, as a new process has them, answer; negative if compiled."""
    read: dict[str, Any] = {"compiled": compiled, "__name__": "inner"}
    exec(inner, read)  # noqa: S102
    world = {**read, "np": np, "FACTOR": factor, "__name__": "outer"}
    exec(outer, world)  # noqa: S102
    told: list[bool] = []
    with when_compiling(lambda: told.append(True)):
        return world["outer"](number), bool(told)


def test_compiling_is_told_once_and_only_where_it_happens() -> None:
    @compiled
    def twice(number: Any) -> Any:
        return number + number

    told: list[str] = []
    with when_compiling(lambda: told.append("first")):
        assert twice(2) == 4
        assert twice(2.5) == 5.0
    assert told == ["first"]
    with when_compiling(lambda: told.append("again")):
        assert twice(3) == 6
    twice(1j)
    assert told == ["first"]


def test_the_same_loops_are_compiled_once_wherever_they_stand() -> None:
    assert call() == (32, True)
    assert call() == (32, False)
    moved = f"# moved down\n\n{OUTER}\n# and more below\n"
    assert call(outer=moved) == (32, False)


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        ({"inner": INNER.replace("STEP = 2", "STEP = 3")}, 33),  # what a loop called reads
        ({"inner": INNER.replace("+ STEP", "- STEP")}, 28),  # what it does
        ({"outer": OUTER.replace("np.abs(", "-np.abs(")}, -8),
        ({"outer": OUTER.replace("(number) +", "(number) + 1 +")}, 33),
        ({"factor": 3}, 42),
        ({"number": 10.0}, 32.0),
        ({"njit": partial(numba.njit, boundscheck=True)}, 32),  # how it is compiled
        ({"magic_tuple": lambda _codegen: "another processor"}, 32),
    ],
)
def test_what_a_loop_is_made_from_compiles_anew(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], answer: float
) -> None:
    call()
    with monkeypatch.context() as patch:
        for owner, name in ((numba, "njit"), (JITCPUCodegen, "magic_tuple")):
            patch.setattr(owner, name, change.pop(name, getattr(owner, name)))
        assert call(**change) == (answer, True)
        assert call(**change) == (answer, False)
    assert call() == (32, False)  # both are kept


def module(**values: float) -> ModuleType:
    made = ModuleType("module")
    vars(made).update(values)
    return made


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("return READ[0][0]", ((np.zeros(2000),), (np.eye(1, 2000, 1000)[0],), (np.zeros(1),))),
        ("return READ[0]", ((1, 2), ((1,), 2), (1, (2,)), (1, None), ("1", 2))),
        ("return FIRST() + READ.two", (module(one=1, two=2), module(one=1, two=3))),
        ("return by", (1, 2)),  # a keyword's default
    ],
)
def test_the_digest_tells_all_that_a_loop_reads(text: str, reads: tuple[object, ...]) -> None:
    """The second of two loops that read of one module, too."""
    first = "@compiled\ndef FIRST():\n    return READ.one\n\n"
    by = "READ" if text == "return by" else 0
    digests = set()
    for read in (*reads, *reads):
        world: dict[str, Any] = {"compiled": compiled, "READ": read, "__name__": "reading"}
        exec(f"{first}@compiled\ndef loop(*, by={by}):\n    {text}\n", world)  # noqa: S102
        digests.add(world["loop"]._cache._digest)
    assert len(digests) == len(reads)


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_truncated_file_heals(folder: Path, ending: str) -> None:
    call()
    for path in folder.glob(f"*.{ending}"):
        path.write_bytes(path.read_bytes()[:30])
    assert call() == (32, True)
    assert call() == (32, False)


@pytest.mark.parametrize(("text", "needs"), [("number", False), ("len({'a': number})", True)])
def test_kept_code_loads_what_compiling_needs_only_where_it_hashes_texts(
    monkeypatch: pytest.MonkeyPatch, text: str, needs: bool
) -> None:
    loop = f"@compiled\ndef inner(number):\n    return {text}\n"
    answer, _ = call(loop)
    loaded: list[bool] = []
    monkeypatch.setattr(CPUContext, "refresh", lambda _context: loaded.append(True))
    assert call(loop) == (answer, False)
    assert bool(loaded) == needs


def test_a_record_s_fields_count_not_only_their_types() -> None:
    """The same loop, the same name of the record, and the same types: only the order differs."""
    text = "@compiled\ndef first(record):\n    return record.one\n"
    for fields, answer in ((("one", "two"), 1), (("two", "one"), 2)):
        world = {"compiled": compiled, "__name__": "records"}
        exec(text, world)  # noqa: S102
        record: Any = namedtuple("Record", fields)
        assert world["first"](record(1, 2)) == answer  # type: ignore[operator]


def test_of_each_loop_the_newest_versions_are_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_VERSIONS", 2)
    for factor in (1, 2, 3):
        call(factor=factor)
    for name, versions in (("inner.inner", 1), ("outer.outer", 2), ("outer.doubled", 2)):
        assert len(list(folder.glob(f"{name}-*.nbi"))) == versions
    assert call(factor=3)[1] is False
    assert call(factor=1)[1] is True


@pytest.mark.parametrize("gone", [None, "gone"])
def test_where_nothing_can_be_written_loops_are_compiled_each_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch, gone: str | None
) -> None:
    monkeypatch.setattr(machine, "folder", lambda: gone and folder / gone)
    assert call() == call() == (32, True)
    assert not list(folder.iterdir())


def test_another_numba_without_its_private_names_compiles_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("numba.core.caching.IndexDataCacheFile")
    spec = importlib.util.spec_from_file_location("another", machine.__file__)
    assert spec
    assert spec.loader
    another = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(another)
    assert not another._OWN
    assert another.compiled(lambda number: number + 1)(2) == 3


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o700])
def test_a_folder_that_others_can_write_to_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    own = FOLDER()
    assert own.stat().st_mode & 0o777 == 0o700
    own.chmod(mode)
    assert (FOLDER() == own) == (mode == 0o700)
    uid = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)
    assert FOLDER() is None  # nor one that is another's


@pytest.mark.parametrize("name", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"])
def test_checkouts_share_the_user_s_folder_or_have_their_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for other in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, str(folder))
    cache = folder / ".cache" if name == "HOME" else folder
    assert FOLDER() == cache / "veilsearch" / "compiled"
    (folder / "file").touch()
    monkeypatch.setenv(name, str(folder / "file"))
    assert FOLDER() == Path(machine.__file__).parent / "__pycache__"


def test_a_loop_reads_nothing_that_no_digest_tells() -> None:
    with pytest.raises(TypeError, match="neither a number nor another loop"):
        call(factor={"a": 1})


def test_every_loop_s_machine_code_is_kept() -> None:
    rooms = [
        path for one in ("anonymizer", "index", "search_app") for path in (ROOT / one).rglob("*.py")
    ]
    names = [path for path in rooms if "@compiled" in path.read_text(encoding="utf-8")]
    assert {"products.py", "greedy.py", "needles.py"} <= {path.name for path in names}
    modules = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in names]
    for module in map(importlib.import_module, modules):
        loops = [each for each in vars(module).values() if isinstance(each, Dispatcher)]
        assert loops
        assert len({loop._cache._digest for loop in loops}) == len(loops)
