"""The README stays true where a test can tell."""

from __future__ import annotations

import re
from pathlib import Path

from anonymizer.methods import parameters_of
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


def test_settings_and_parameters_it_names_exist() -> None:
    settings = re.search(r"veilsearch\.toml` sets (.*?) by name", README, re.DOTALL)
    parameters = re.search(r"Parameters are set by name: (.*?)\.\n", README, re.DOTALL)
    assert settings is not None
    assert parameters is not None
    assert set(re.findall(r"`(\w+)`", settings[1])) <= set(vars(Settings()))
    known = {*parameters_of("p-linkability"), "centroid", "union"}
    assert set(re.findall(r"`(\w+)`", parameters[1])) <= known
