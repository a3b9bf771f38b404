"""Write the generated parts of README and docs, and run their commands.

usage: .venv/bin/python -m scripts.docs [--write] [--run WORKSPACE]

--write           put the generated parts between their marks, in every page
--run WORKSPACE   run each page's ```console and ```python blocks on a copy of a demo's workspace,
                  and put what they print below them where it differs

A part is generated between `<!-- scripts/docs.py: NAME -->` and `<!-- end -->`. Without options the
names of stale pages are printed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import inspect
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args, get_type_hints
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("anonymizer", "index", "loops", "search_app")
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
_PART = re.compile(r"(<!-- scripts/docs\.py: (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)

# -- rooms -----------------------------------------------------------------------------------------


def purpose_of(room: Path) -> str:
    """Return the first line of the docstring of `room`'s `__init__.py`; it must be a sentence."""
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    return text.split("\n", maxsplit=1)[0]


def rooms() -> list[Path]:
    """Return the folders of all rooms, each package before its rooms."""
    return [
        file.parent
        for package in PACKAGES
        for file in sorted((ROOT / package).rglob("__init__.py"))
    ]


def map_of_rooms() -> str:
    """Return the map of the rooms as a table in Markdown."""
    lines = [[f"`{room.relative_to(ROOT)}/`", purpose_of(room)] for room in rooms()]
    return table(["room", "what is in it"], lines)


# -- verbs, methods, settings ----------------------------------------------------------------------


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def plain(text: str) -> str:
    """Return `text` so that Markdown shows it as it stands, in a cell, too."""
    return " ".join(re.sub(r"[&<>|*]", lambda mark: f"&#{ord(mark[0])};", text).split())


def code(text: object) -> str:
    """Return `text` as code for a cell of a table."""
    return f"`{text}`".replace("|", " or ") if str(text) else ""


def list_of_verbs() -> str:
    """Return all verbs, a line each."""
    from search_app.verbs import VERBS

    return table(
        ["verb", "what it does"],
        ([f"[`{verb}`](docs/verbs.md#{verb})", plain(what)] for verb, what in VERBS.items()),
    )


@cache
def arguments_of(verb: str) -> tuple[argparse.Action, ...]:
    """Return the arguments of `verb` in the order of its help."""
    from search_app.cli import parser

    (verbs,) = (
        action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)
    )
    actions = cast(argparse.ArgumentParser, verbs.choices[verb])._actions
    return tuple(action for action in actions if action.dest != "help")


def verb(name: str) -> str:
    """Return the arguments of a verb as a table."""
    formatter = argparse.HelpFormatter("veilsearch")

    def called(action: argparse.Action) -> str:
        usual = action.metavar or (action.dest.upper() if action.option_strings else action.dest)
        values = formatter._format_args(action, cast(str, usual)) if action.nargs != 0 else ""
        return " ".join([", ".join(action.option_strings), values]).strip()

    return table(
        ["argument", "meaning"],
        ([code(called(each)), plain(each.help or "")] for each in arguments_of(name)),
    )


def method(name: str) -> str:
    """Return the options of a method as a table."""
    from anonymizer.methods import METHODS

    options = METHODS[name].options
    hints = get_type_hints(options)
    rows = []
    for option in fields(options):
        (about,) = option.metadata.values()
        kinds = get_args(hints[option.name]) or (hints[option.name],)
        allowed = ", ".join(map(code, about.choices)) or {
            (True, True): f"{about.least} to {about.most}",
            (True, False): f"from {about.least}",
        }.get((about.least is not None, about.most is not None), "")
        if type(None) in kinds:
            allowed = ", ".join(filter(None, [allowed, "`off`"]))
        usual = "off" if option.default is None else about.shown or option.default
        rows.append([code(option.name), code(usual), allowed, plain(about.text)])
    return table(["option", "default", "values", "meaning"], rows)


def settings() -> str:
    """Return the settings of `veilsearch.toml` as a table; comments in the code give meanings."""
    from search_app.settings import _RULES, SearchSettings, Settings, every_setting

    rows = []
    for name, each in every_setting():
        source = inspect.getsource(SearchSettings if name.startswith("search.") else Settings)
        comment = re.search(rf"^    {each.name}: .*?  # (.*)$", source, re.MULTILINE)
        default = each.default
        allowed = {"bool": "true or false"}.get(str(each.type), "")
        allowed = _RULES[name][0] if name in _RULES else allowed
        rows.append(
            [
                code(name),
                "" if default is None else code(json.dumps(default)),
                plain(allowed),
                plain(comment[1]) if comment else "",
            ]
        )
    return table(["setting", "default", "values", "meaning"], rows)


# -- the API ---------------------------------------------------------------------------------------


@cache
def openapi() -> dict[str, Any]:
    """Return the API's document, of a demo without an index."""
    from search_app.search.modes import Modes
    from search_app.settings import Settings
    from search_app.web import Site, create_app
    from search_app.web.api.described.openapi import document

    nothing = cast(Any, None)
    site = Site(
        modes=Modes(nothing, None, None),
        log=nothing,
        settings=Settings(),
        people={},
        clock=lambda: 0.0,
        release_name="",
        further={"group:NAME": "NAME"},
    )
    return document(create_app(site), site)


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each operation of the API by its method and address."""
    for path, methods in openapi()["paths"].items():
        for name, operation in methods.items():
            yield f"{name.upper()} {path}", operation


def api() -> str:
    """Return the operations of the API, a section each."""
    schemas = openapi()["components"]["schemas"]
    parts = []
    for name, operation in operations():
        parts.append(f"### {name.replace('{', '&#123;').replace('}', '&#125;')}\n")
        parts.append(f"{plain(operation['summary'])} {plain(operation.get('description', ''))}\n")
        if operation["parameters"]:
            rows = [
                [
                    code(each["name"]),
                    _values(each["schema"]),
                    "required" if each["required"] else code(each["schema"].get("default", "")),
                    plain(each["description"]),
                ]
                for each in operation["parameters"]
            ]
            parts.append(table(["parameter", "values", "default", "meaning"], rows))
        if body := operation.get("requestBody"):
            parts.append(f"Body: {_fields(body, schemas)}.\n")
        parts.append(f"Answer: {_fields(operation['responses']['200'], schemas)}.\n")
    return "\n".join(parts)


def _values(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(map(code, schema["enum"]))
    if "minimum" in schema:
        return f"{schema['minimum']} to {schema['maximum']}"
    return "text" if schema["type"] == "string" else str(schema["type"])


def _fields(content: dict[str, Any], schemas: dict[str, Any]) -> str:
    schema = content["content"]["application/json"]["schema"]
    name = schema["$ref"].rpartition("/")[2]
    return ", ".join(map(code, schemas[name]["properties"]))


# -- measurements ----------------------------------------------------------------------------------


def performance(name: str) -> str:
    """Return the part `name` of what `scripts/bench --write` has measured."""
    from scripts.benchmark.page import part

    return part(name)


# -- pages -----------------------------------------------------------------------------------------

_MAKERS: dict[str, Callable[..., str]] = {
    "rooms": map_of_rooms,
    "verbs": list_of_verbs,
    "verb": verb,
    "method": method,
    "settings": settings,
    "api": api,
    "performance": performance,
}


def parts_of(text: str) -> list[str]:
    """Return the names of the generated parts of a page."""
    return [name for _, name, _ in _PART.findall(text)]


def put_into(text: str) -> str:
    """Return a page with its generated parts as they must be."""

    def made(part: re.Match[str]) -> str:
        maker, *rest = part[2].split()
        return part[1] + "\n" + _MAKERS[maker](*rest) + "\n" + part[3]

    return _PART.sub(made, text)


# -- what pages run --------------------------------------------------------------------------------

_BLOCK = re.compile(
    r"^```(console|python)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE
)
_VOLATILE = (  # times, sizes, versions, days
    r"\d[\d,.]* (?:ms|s|min|GB|MB)\b",
    r"\b\d+\.\d+\.\d+\b",
    r"\b\d{4}-\d\d-\d\d(?: \d\d:\d\d)?",
)


def matches(expected: str, printed: str) -> bool:
    """Return whether `printed` is as a page says; a line `...` stands for any lines."""

    volatile = "|".join(_VOLATILE)

    def pattern(line: str) -> str:
        if line == "...":
            return "(?:.*\n)*?"
        parts = re.split(f"({volatile})", line)
        escaped = (volatile if at % 2 else re.escape(part) for at, part in enumerate(parts))
        return "".join(f"(?:{part})" for part in escaped) + "\n"

    return re.fullmatch("".join(map(pattern, expected.splitlines())), printed) is not None


def fitted(expected: str, printed: str) -> str:
    """Return what a page should say now: as long before and after its `...` as it was."""
    old, new = expected.splitlines(), printed.splitlines()
    if "..." not in old:
        return printed
    first, last = old.index("..."), len(old) - 1 - old.index("...")
    return "\n".join([*new[:first], "...", *(new[-last:] if last else [])]) + "\n"


class Step(NamedTuple):
    """What a page says that is done."""

    does: str
    expected: str
    printed: str


class Reader:
    """Follows a page, as its reader would, in a folder with a demo's workspace."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {}

    def steps(self, block: re.Match[str]) -> Iterator[Step]:
        """Do what a block of a page says, step by step."""
        kind, text, below = block.groups()
        if kind == "python":
            yield Step(text, below or "", self.python(text))
            return
        for step in re.split(r"^(?=\$ )", text, flags=re.MULTILINE)[1:]:
            command, _, expected = step[2:].partition("\n")
            if file := re.fullmatch(r"cat ([\w./-]+)", command):
                path = self.folder / file[1]
                if not path.exists():  # the reader writes what the page shows
                    path.write_text(expected, encoding="utf-8")
            yield Step(command, expected, self.printed(command))

    def printed(self, command: str) -> str:
        """Run `command` and return all that it prints."""
        if not command.startswith("veilsearch "):
            run = ["bash", "-c", command]
            done = subprocess.run(  # noqa: S603 the repository's own pages
                run, cwd=self.folder, capture_output=True, text=True, check=False
            )
            return self.tidy(done.stdout + done.stderr)
        words = shlex.split(command, comments=True)[1:]
        given = io.StringIO()
        if "<" in words:
            given = io.StringIO((self.folder / words.pop()).read_text(encoding="utf-8"))
            words.pop()
        with self.inside(given) as output:
            from search_app.cli import main

            with contextlib.suppress(SystemExit):
                main(words)
        return self.tidy(output.getvalue())

    def python(self, block: str) -> str:
        """Run a program that goes on from those before it on the page, and return its output."""
        with self.inside() as output:
            exec(compile(block, "page", "exec"), self.names)  # noqa: S102 our own pages
        return self.tidy(output.getvalue())

    @contextlib.contextmanager
    def inside(self, given: io.StringIO | None = None) -> Iterator[io.StringIO]:
        """Do something in the folder; yield what it prints."""
        output = io.StringIO()
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(output),
            patch("sys.stdin", given or io.StringIO()),
        ):
            yield output

    def tidy(self, printed: str) -> str:
        """Return what is printed without the folders of this machine and blanks at line ends."""
        from search_app.settings import load_settings

        cache = load_settings().cache
        names = {self.folder: "~/town", cache: "~/.cache/veilsearch", Path.home(): "~"}
        for path, name in names.items():
            printed = printed.replace(str(path), name)
        return "".join(f"{line.rstrip()}\n" for line in printed.splitlines())


def follow(text: str, folder: Path) -> Iterator[Step]:
    """Yield what a page says that is done in `folder`, in its order, as it is done."""
    reader = Reader(folder)
    for block in _BLOCK.finditer(text):
        yield from reader.steps(block)


def rerun(text: str, folder: Path) -> str:
    """Return a page with what its commands print now."""
    reader = Reader(folder)

    def now(block: re.Match[str]) -> str:
        steps = list(reader.steps(block))
        outputs = [step.expected if matches(*step[1:]) else fitted(*step[1:]) for step in steps]
        if block[1] == "python":
            below = f"\n```text\n{outputs[0]}```\n" if outputs[0] else ""
            return f"```python\n{block[2]}```\n{below}"
        done = zip(steps, outputs, strict=True)
        return "```console\n" + "".join(f"$ {step.does}\n{out}" for step, out in done) + "```\n"

    return _BLOCK.sub(now, text)


def runs(text: str) -> bool:
    """Return whether a page has something to run."""
    return _BLOCK.search(text) is not None


def main() -> None:
    """Do what the arguments ask."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--run", type=Path, metavar="WORKSPACE")
    given = parser.parse_args()
    for page in PAGES:
        old = page.read_text(encoding="utf-8")
        new = put_into(old)
        if given.run and runs(new):
            print(page.relative_to(ROOT), file=sys.stderr)
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary).resolve() / "town"
                shutil.copytree(given.run, folder / "veilsearch-data")
                new = rerun(new, folder)
        if new != old and (given.write or given.run):
            page.write_text(new, encoding="utf-8")
        elif new != old:
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    os.environ["COLUMNS"] = "100"
    main()
