"""Families: what installed packages add, when they are loaded, and what is refused of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from anonymizer import families
from anonymizer.attacks import ATTACKS
from anonymizer.families import Family, PackageFault, function, listing
from anonymizer.methods import METHODS, anonymize, promise_of
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles
from anonymizer.promise import AVERAGE, UNKNOWN

Install = Callable[..., None]
METHOD = """
from anonymizer.methods.method import Method, Options, option
from anonymizer.promise import Promise
from dataclasses import dataclass
def run(inputs, options):
    raise KeyError("the query of a person")
@dataclass(frozen=True)
class Named(Options):
    promise: str = option("x", "text")
def of(name="toy", options=Options, bounds="average", **more):
    kinds = {"name": name, "paper": "", "about": "", "run": run, "options": options}
    return Method(**{**kinds, **more}, promise=Promise("group", bounds))
good, other, belief = of(), of("another"), of(bounds="belief")
needs, named = of(needs=frozenset({"log"})), of(options=Named)
@dataclass(frozen=True)
class Bare(Options):
    k: int
bare = of(options=Bare)
@dataclass(frozen=True)
class Faulty(Options):
    def faults(self, inputs):
        raise KeyError("the query of a person")
faulty, nothing = of(options=Faulty), of(run=lambda inputs, options: None)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs a package as pip would: a module and its metadata."""
    modules = {*sys.modules}
    monkeypatch.syspath_prepend(tmp_path)

    def installs(package: str, module: str, **groups: str) -> None:
        (tmp_path / f"{package}.py").write_text(module)
        about = tmp_path / f"{package}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        entries = [f"[veilsearch.{group}]\n{lines}\n" for group, lines in groups.items()]
        (about / "entry_points.txt").write_text("".join(entries))
        families._installed.cache_clear()

    yield installs
    families._installed.cache_clear()
    for name in {*sys.modules} - modules:
        if name in ("toys", "more_toys"):
            del sys.modules[name]


def family(own: dict[str, Callable[[], str]]) -> Family[Callable[[], str]]:
    return Family("veilsearch.toys", own, function)


def test_a_package_is_loaded_when_something_of_it_is_used(install: Install) -> None:
    install("toys", "def bear():\n    return 'growl'\n", toys="bear = toys:bear")
    toys = family({"duck": lambda: "quack"})
    assert (list(toys), len(toys), "bear" in toys, "cat" in toys) == (
        ["duck", "bear"],
        2,
        True,
        False,
    )
    assert toys["duck"]() == "quack"
    assert "toys" not in sys.modules
    assert toys["bear"]() == "growl"
    assert toys["bear"] is toys["bear"]
    with pytest.raises(KeyError):
        toys["cat"]


def test_what_is_ours_stays_ours(install: Install) -> None:
    install("toys", "duck = print", toys="duck = toys:duck")
    toys = family({"duck": lambda: "quack"})
    assert (list(toys), toys["duck"]()) == (["duck"], "quack")
    (fault,) = toys.look()
    line = "toys 1.0: toys, duck: the name is ours; mend the package, or uninstall it"
    assert str(fault) == line


@pytest.mark.parametrize(
    ("module", "entry", "why"),
    [
        ("raise SystemError('no\\nway')", "bear = toys:bear", "(SystemError: no way)"),
        ("raise SystemExit('no way')", "bear = toys:bear", "(SystemExit: no way)"),
        ("", "bear = toys:bear", "can't be loaded (AttributeError: "),
        ("", "bear = nowhere:bear", "can't be loaded (ModuleNotFoundError: "),
        ("bear = 3", "bear = toys:bear", "it must be a function"),
        ("Bear = print", "Bear = toys:Bear", "a name is 2 to 40 lower-case letters"),
    ],
)
def test_a_broken_package_is_one_line_that_names_it(
    install: Install, module: str, entry: str, why: str
) -> None:
    install("toys", module, toys=entry)
    toys, name = family({}), entry.partition(" ")[0]
    with pytest.raises(PackageFault) as refused:
        toys[name]
    assert str(refused.value).startswith(f"toys 1.0: toys, {name}: ")
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
    assert [*map(str, toys.look())] == [str(refused.value)]


def test_two_packages_with_one_name_are_both_refused(install: Install) -> None:
    for package in ("toys", "more_toys"):
        install(package, "bear = print", toys=f"bear = {package}:bear")
    faults = [*family({}).look()]
    assert len(faults) == 2
    assert all("has this name, too" in str(fault) for fault in faults)


def test_an_error_of_a_package_shows_no_text_and_what_we_refuse_passes(install: Install) -> None:
    module = (
        "from anonymizer.errors import BadInput\n"
        "def bear():\n    return {}['a query']\n"
        "def wolf():\n    raise BadInput('one line')\n"
    )
    install("toys", module, toys="bear = toys:bear\nwolf = toys:wolf")
    toys = family({})
    with pytest.raises(PackageFault, match=r"toys 1.0: toys, bear: it failed \(KeyError\); mend"):
        toys["bear"]()
    with pytest.raises(Exception, match=r"^one line$"):
        toys["wolf"]()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("yield 1; raise KeyError('a query')", "it failed (KeyError)"),
        ("raise SystemExit('a query')", "it failed (SystemExit)"),
        ("return ['a query']", "it must return ints"),
        ("return None", "it failed (TypeError)"),
    ],
)
def test_a_list_of_a_package_is_read_to_its_end(install: Install, body: str, why: str) -> None:
    module = f"def bear(name):\n    {body}\ndef wolf(name):\n    yield from name\nfox = 3\n"
    install("toys", module, toys="bear = toys:bear\nwolf = toys:wolf\nfox = toys:fox")
    toys = Family("veilsearch.toys", dict[str, Callable[..., list[int]]](), listing(int))
    assert toys["wolf"]([1, 2]) == [1, 2]
    with pytest.raises(PackageFault, match="it must be a function"):
        toys["fox"]
    with pytest.raises(PackageFault) as refused:
        toys["bear"]("name")
    line = f"toys 1.0: toys, bear: {why}; mend the package, or uninstall it"
    assert str(refused.value) == line


@pytest.mark.parametrize("what", ["faulty", "nothing"])
def test_whatever_fails_of_a_method_is_one_line(install: Install, what: str) -> None:
    install("toys", METHOD, methods=f"toy = toys:{what}")
    inputs = Inputs(Profiles.from_rows({"anna": {"java": 1.0}}))
    try:
        with pytest.raises(PackageFault, match=r"toys 1.0: methods, toy: it failed \(\w+\); mend"):
            anonymize("toy", inputs, {})
    finally:
        METHODS._loaded.pop("toy")


def test_a_method_declares_its_promise_or_is_refused(install: Install) -> None:
    install("toys", METHOD, methods="toy = toys:good")
    method = METHODS["toy"]
    assert method.options().parameters() == {"promise": "average"}
    with pytest.raises(PackageFault, match=r"toys 1.0: methods, toy: it failed \(KeyError\)"):
        method.run(None, method.options())  # type: ignore[arg-type]
    METHODS._loaded.pop("toy")


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("other", "it must be a Method of the same name"),
        ("run", "it must be a Method of the same name"),
        ("belief", "only our own methods can promise this; others promise average, every-term"),
        ("needs", "only our own methods need more than sample, wordnet"),
        ("named", "no option may be called promise"),
        ("bare", "can't be loaded .TypeError: "),
    ],
)
def test_a_method_that_cannot_be_judged_is_refused(install: Install, what: str, why: str) -> None:
    install("toys", METHOD, methods=f"toy = toys:{what}")
    with pytest.raises(PackageFault, match=f"toys 1.0: methods, toy: {why}"):
        METHODS["toy"]


def test_the_release_says_what_is_promised_and_no_package_is_asked(install: Install) -> None:
    install("toys", "raise SystemError", methods="toy = toys:bear")
    assert promise_of("toy", {"promise": "average"}) == AVERAGE
    assert promise_of("toy", {"promise": "belief"}) == promise_of("toy", {}) == UNKNOWN
    assert promise_of("p-linkability", {"promise": "nothing"}) == AVERAGE


def test_our_own_families_add_nothing_where_nothing_is_installed() -> None:
    assert (METHODS.added, ATTACKS.added) == ([], [])
