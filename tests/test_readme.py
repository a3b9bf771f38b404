"""The README stays true where a test can tell."""

from __future__ import annotations

import re
from pathlib import Path

from anonymizer.methods import METHODS, parameters_of, read_parameters
from anonymizer.model import BadParameter
from search_app.settings import Settings
from search_app.verbs import VERBS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_verb_is_shown() -> None:
    for verb in VERBS:
        assert f"**`veilsearch {verb}`**" in README


def test_every_file_it_names_is_there() -> None:
    named = set(re.findall(r"`([a-z_/]+(?:\.py|/))`", README)) - {"private/"}
    assert {"search_app/engine.py", "tests/test_architecture.py"} <= named
    for name in named:
        assert (ROOT / name).exists(), name


def test_the_map_names_rooms_that_are_there() -> None:
    block = README.split("```")[1]
    for name in re.findall(r"[a-z_/]+\.py|methods/", block):
        places = [ROOT / name, ROOT / "anonymizer" / name, ROOT / "search_app" / name]
        assert any(place.exists() for place in places), name


def test_settings_it_names_exist() -> None:
    settings = re.search(r"veilsearch\.toml` sets (.*?) by name", README, re.DOTALL)
    assert settings is not None
    assert set(re.findall(r"`(\w+)`", settings[1])) <= set(vars(Settings()))


def may_be(method: str, name: str, value: str) -> bool:
    try:
        read_parameters(method, {name: value})
    except BadParameter:
        return False
    return True


def test_parameters_it_names_exist() -> None:
    texts = re.findall(r"--set (\w+=[\w.-]+)", README)
    for span in re.findall(r"`((?:\w+=[\w.-]+ ?)+)`", README):
        texts += span.split()
    assert {"refine=swap", "augment=none", "guarantee=every-term"} <= set(texts)
    pairs = (text.split("=") for text in texts)
    for name, value in pairs:
        having = [method for method in METHODS if name in parameters_of(method)]
        assert having, f"no method has a parameter {name}"
        assert any(may_be(method, name, value) for method in having), f"{name}={value}"
