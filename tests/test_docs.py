"""README and docs stay true where a test can tell, and are written in plain sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from anonymizer.errors import BadParameter
from anonymizer.methods import METHODS, parameters_of, read_parameters
from scripts import docs
from search_app.verbs import VERBS

ROOT = Path(__file__).parents[1]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in docs.PAGES}
MORE = ("CONTRIBUTING.md", "SECURITY.md")
TEXTS |= {name: (ROOT / name).read_text(encoding="utf-8") for name in MORE}
MADE = "<!-- made by scripts/results.py -->"  # pages of what reports say, claim by claim
PAGES = sorted(name for name, text in TEXTS.items() if MADE not in text)


# -- what is generated -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_generated_parts_are_fresh(name: str) -> None:
    """`python -m scripts.docs --write` makes them again."""
    assert TEXTS[name] == docs.put_into(TEXTS[name])


def test_every_verb_method_setting_operation_and_room_has_its_part() -> None:
    assert docs.parts_of(TEXTS["docs/verbs.md"]) == [f"verb {verb}" for verb in VERBS]
    assert set(docs.parts_of(TEXTS["docs/methods.md"])) == {f"method {name}" for name in METHODS}
    assert docs.parts_of(TEXTS["docs/settings.md"]) == ["settings"]
    assert docs.parts_of(TEXTS["docs/api.md"]) == ["api"]
    assert docs.parts_of(TEXTS["README.md"]) == ["verbs"]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_section_with_all_its_arguments(verb: str) -> None:
    section = TEXTS["docs/verbs.md"].split(f"\n## {verb}\n")[1].split("\n## ")[0]
    for argument in docs.arguments_of(verb):
        for name in argument.option_strings or [str(argument.metavar or argument.dest)]:
            assert name.split("|")[0] in section
        assert argument.help, f"{verb}: {argument.dest} is not explained"


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_section_with_all_its_options(method: str) -> None:
    section = TEXTS["docs/methods.md"].split(f"\n## {method}\n")[1].split("\n## ")[0]
    for option in parameters_of(method):
        assert f"| `{option}` |" in section


def test_every_operation_is_described() -> None:
    for name, operation in docs.operations():
        assert operation["summary"]
        assert f"### {name.replace('{', '&#123;').replace('}', '&#125;')}" in TEXTS["docs/api.md"]


def test_every_page_and_every_script_is_in_a_list() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or f"({page.name})" in TEXTS["docs/index.md"]
    for script in (ROOT / "scripts").glob("[!_]*"):
        assert script.is_dir() or f"scripts/{script.name}" in TEXTS["CONTRIBUTING.md"]


def test_every_setting_is_explained() -> None:
    for line in docs.settings().splitlines()[2:]:
        assert line.split("|")[4].strip(), line


# -- what pages name -------------------------------------------------------------------------------


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as code hosts and MkDocs both make them."""
    headings = re.findall(r"^#+ (.*)$", without_code(text), re.MULTILINE)
    kept = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    hosts, ours = ({re.sub(form, "-", each) for each in kept} for form in (" ", r"[-\s]+"))
    return hosts & ours


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", without_code(TEXTS[name])):
        file, _, anchor = target.partition("#")
        path = (ROOT / name).parent / file if file else ROOT / name
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path.read_text(encoding="utf-8")), target
        if name.startswith("docs/"):
            assert path.resolve().is_relative_to(ROOT / "docs"), f"{target} is not in the site"


def test_every_file_that_is_named_is_there() -> None:
    named = set(re.findall(r"`((?:\w+/)+[\w.]*)`", "".join(TEXTS[name] for name in PAGES)))
    ours = {name for name in named if (ROOT / name.split("/")[0]).exists()}
    assert {"search_app/search/engine.py", "tests/test_rooms.py"} <= ours
    for name in ours - {"build/site"}:
        assert (ROOT / name).exists(), name


def test_the_picture_names_rooms_that_are_there() -> None:
    block = TEXTS["docs/architecture.md"].split("```")[1]
    for name in re.findall(r"[a-z_]+(?:/[a-z_]+)*/", block):
        places = [ROOT / name, ROOT / "anonymizer" / name, ROOT / "search_app" / name]
        assert any(place.exists() for place in places), name


def may_be(method: str, name: str, value: str) -> bool:
    try:
        read_parameters(method, {name: value})
    except BadParameter:
        return False
    return True


def test_options_that_are_named_exist() -> None:
    text = "".join(TEXTS[name] for name in PAGES if name != "docs/extend.md")
    texts = re.findall(r"--set ([a-z_]+=[\w.-]+)", text)
    for span in re.findall(r"`((?:[a-z_]+=[\w.-]+ ?)+)`", text):
        texts += span.split()
    assert {"refine=swap", "augment=none", "guarantee=every-term"} <= set(texts)
    # Of experiments, and in `--set name=value` itself.
    inputs = {"size", "users", "queries_per_user", "victims", "option", "name"}
    for name, _, value in (text.partition("=") for text in texts):
        having = [method for method in METHODS if name in parameters_of(method)]
        if name not in inputs and value != "given":  # as release.json says of a table
            assert having, f"no method has an option {name}"
            assert any(may_be(method, name, value) for method in having), f"{name}={value}"


# -- sentences -------------------------------------------------------------------------------------


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of paragraphs, items of lists and cells of tables."""
    text = re.sub(r"<!--.*?-->", "", without_code(text), flags=re.DOTALL)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "Code", text))
    for block in re.split(r"\n\s*\n|\n(?=\s*[-\d]+[.]? |\|)", text):
        if re.match(r"\s*\|[-| ]+$", block) or block.startswith("#"):
            continue
        for cell in block.strip().strip("|").split(" | "):
            yield from re.split(r"(?<=[.!?])[*)\"]*\s+(?=[*(\"]*[A-Z])", " ".join(cell.split()))


def words(sentence: str) -> int:
    return len(re.findall(r"[^\W_]+(?:['’.,-][^\W_]+)*", sentence))


@pytest.mark.parametrize("name", PAGES)
def test_no_sentence_is_long(name: str) -> None:
    assert [each for each in sentences(TEXTS[name]) if words(each) > 30] == []


def test_half_of_the_sentences_are_short() -> None:
    """Of prose: cells of tables are shorter by nature."""
    prose = [re.sub(r"^\|.*$", "", TEXTS[name], flags=re.MULTILINE) for name in PAGES]
    assert median(words(each) for text in prose for each in sentences(text) if each) <= 15


def test_readme_is_short() -> None:
    assert TEXTS["README.md"].count("\n") <= 250


# Python-Markdown, which makes the site, wants what code hosts do not.
@pytest.mark.parametrize("name", PAGES)
def test_lists_and_tables_begin_after_an_empty_line(name: str) -> None:
    marked = ("- ", "| ", "1. ")
    before = ""
    for line in without_code(TEXTS[name]).splitlines():
        if line.startswith(marked):
            assert not before or before.startswith((*marked, "  ")), line
        before = line
