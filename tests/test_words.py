"""Product, templates and docs use the glossary's words, and docstrings name their arguments."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ROOMS = ("anonymizer", "index", "loops", "search_app")
MODULES = sorted(chain.from_iterable((ROOT / room).rglob("*.py") for room in ROOMS))
TEXTS = [
    *MODULES,
    *sorted((ROOT / "templates").rglob("*.html")),
    *sorted((ROOT / "search_app" / "web" / "static").glob("*.js")),
    *sorted((ROOT / "search_app").rglob("*.toml")),
    *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
GLOSSARY, TABLE = ROOT / "docs" / "glossary.md", "## Words we do not write"


def forbidden() -> re.Pattern[str]:
    """Return a pattern of the left column of the glossary's second table, in small or large."""
    rows = re.findall(
        r"^\| ([a-z ,]+) \|", GLOSSARY.read_text("utf-8").split(TABLE)[1], re.MULTILINE
    )
    words = [word for cell in rows[1:] for word in cell.split(", ")]  # the first is the head
    either = "|".join(f"[{word[0].upper()}{word[0]}]{word[1:]}" for word in words)
    # "An attacker who knows" and "as many as" are plain enough. Two others stay: the name under
    # which the key of a pooled release draws, and a heading in the corpus of WordNet.
    stays = r"(?! as\b|\"| USER\"| \{name\}| it\")"
    return re.compile(rf"(?<!attacker )(?<!outsider )(?<!omeone )(?<!nyone )\b({either})\b{stays}")


FORBIDDEN = forbidden()
# Names that don't say what they hold.
EMPTY_NAMES = {"told", "asked", "found", "each", "so_many", "whom", "said"}


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def prose(path: Path) -> str:
    """Return the text of `path`, without the table that lists what is forbidden."""
    text = path.read_text(encoding="utf-8")
    return text.split(TABLE)[0] if path == GLOSSARY else text


def test_no_forbidden_word_occurs() -> None:
    assert [
        f"{place(path, number)}: {hit[0]}"
        for path in TEXTS
        for number, line in enumerate(prose(path).splitlines(), 1)
        for hit in FORBIDDEN.finditer(line)
    ] == []


class Written(NamedTuple):
    """What a module calls its variables and its classes, and its public functions."""

    names: list[tuple[str, int]]
    classes: list[tuple[str, int]]
    functions: list[ast.FunctionDef]


@cache
def written() -> dict[Path, Written]:
    """Read every module once."""
    return {path: read(ast.parse(path.read_text(encoding="utf-8"))) for path in MODULES}


def read(tree: ast.Module) -> Written:
    """Names are of parameters and of functions' variables: fields may be an interface's."""
    names, classes = [], []
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, within = waiting.pop()
        match node:
            case ast.arg():
                names.append((node.arg, node.lineno))
            case ast.ClassDef():
                classes.append((node.name, node.lineno))
            case ast.Name(ctx=ast.Store()) if within:
                names.append((node.id, node.lineno))
        within = within or isinstance(node, ast.FunctionDef)
        waiting += [(inner, within) for inner in ast.iter_child_nodes(node)]
    return Written(names, classes, list(public(tree)))


def test_names_say_what_they_hold() -> None:
    assert [
        f"{place(path, line)}: {name}"
        for path, module in written().items()
        for name, line in module.names
        if name in EMPTY_NAMES
    ] == []


def test_a_class_name_means_one_thing() -> None:
    places = defaultdict(list)
    for path, module in written().items():
        for name, line in module.classes:
            places[name].append(place(path, line))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def public(node: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef]:
    for inner in node.body:
        if isinstance(inner, ast.ClassDef) and not inner.name.startswith("_"):
            yield from public(inner)
        elif isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_"):
            yield inner


def parameters(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [argument.arg for argument in every if argument.arg not in {"self", "cls"}]


def mentions(text: str, name: str) -> bool:
    """Return whether `text` has a word of `name`, in whatever form it takes in a sentence."""
    stems = [word[:-2] if len(word) > 5 else word.rstrip("s") for word in name.split("_") if word]
    return any(re.search(rf"\b{re.escape(stem.lower())}", text) for stem in stems)


def silent(function: ast.FunctionDef) -> bool:
    """Return whether the docstring of `function` leaves its value or its arguments unsaid."""
    text = (ast.get_docstring(function) or "").lower()
    gives = function.returns is not None and ast.unparse(function.returns) not in {
        "None",
        "NoReturn",
        "Never",
    }
    if any("contextmanager" in ast.unparse(mark) for mark in function.decorator_list):
        gives = False
    if gives and not re.search(r"\b(return|yield)", text):
        return True
    named = parameters(function)
    return bool(named) and not any(mentions(text, name) for name in named)


def test_docstrings_say_what_returns_in_terms_of_the_arguments() -> None:
    assert [
        f"{place(path, function.lineno)}: {function.name}"
        for path, module in written().items()
        for function in module.functions
        if silent(function)
    ] == []


def test_reasons_stand_as_comments() -> None:
    """By lines that begin with #, as hardly any text of a string does."""
    lines = [line.lstrip() for path in MODULES for line in path.read_text("utf-8").splitlines()]
    assert 0.02 <= sum(line.startswith("#") for line in lines) / len(lines) <= 0.05
