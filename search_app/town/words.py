"""Word lists of the synthetic town, read from words.toml: questions, errands, shops, names."""

from __future__ import annotations

import tomllib
from pathlib import Path

_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
QUESTIONS: dict[str, str] = _WORDS["questions"]  # kind of interest -> how a topic is asked for
ERRANDS: dict[str, str] = _WORDS["errands"]  # what an errand is about -> how it is asked for


def _list(name: str) -> list[str]:
    """Return the entries of the list `name`, which commas separate."""
    return [" ".join(entry.split()) for entry in _WORDS["lists"][name].split(",")]


PLACES = _list("places")
THINGS = _list("things")
SERVICES = _list("services")
SHOWS = _list("shows")
MOMENTS = _list("moments")
SONG_HEADS = _list("song_heads")
SONG_TAILS = _list("song_tails")
SITES = _list("sites")
HOSTS = _list("hosts")
NAME_STARTS = _list("name_starts")
NAME_MIDDLES = _list("name_middles")
NAME_ENDS = _list("name_ends")
