"""Attacks 6 and 7: people singled out by a rare term, or by a term and its weight.

Names and numbers that one person each searched for are in nothing that others see.
VEILSEARCH_CANARIES says how many of both are planted.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from search_app.accounts import codes
from search_app.server.opening import Serving
from search_app.settings import load_settings
from search_app.web import Live, create_app
from search_app.workspace.folder import Workspace

from ..search_app.conftest import Run, call, jsonl

Rows = Mapping[str, Mapping[str, float]]
# Three towns of six people: each has a hobby, a rare word of their own, and weights of their own.
HOBBIES = ("tea", "chess", "rugby")
PEOPLE = {
    f"p{n}": {
        **{HOBBIES[n % 3]: 1.0 + n, f"rare{n}": 1.0},
        **dict.fromkeys((f"pair{n // 2}", "coffee", f"town{n % 3}"), 2.0),
    }
    for n in range(18)
}


def released_by(profiles: Path, method: str, *chosen: str) -> list[dict[str, Any]]:
    """Return the rows of a release of `profiles` by `method`."""
    release = profiles.with_name("release")
    call(profiles.parent / "w", "anonymize", profiles, "-m", method, *chosen, "-o", release)
    return [json.loads(line) for line in (release / "rows.jsonl").read_text().splitlines()]


def singled_out(rows: Rows, keys: Mapping[str, Any]) -> set[str]:
    """Return who has one of `keys`, each a term or a term with its weight, that nobody else has."""
    having = Counter(key for user in rows for key in keys[user])
    return {user for user in rows if any(having[key] == 1 for key in keys[user])}


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    lines = [{"user": user, "terms": terms} for user, terms in PEOPLE.items()]
    return jsonl(tmp_path / "p.jsonl", lines)


@pytest.mark.parametrize("least", [1, 2, 3])
def test_no_released_term_has_fewer_than_min_users(profiles: Path, least: int) -> None:
    """Attack 6: "has t" singled out 99 % of people by terms that one person has."""
    options = ("augment=none", "k=3", "p=0.9", f"min_users={least}")
    chosen = (word for option in options for word in ("--set", option))
    rows = released_by(profiles, "p-linkability", *chosen)
    released = {term for row in rows for term in row["terms"]}
    known = {user: released & terms.keys() for user, terms in PEOPLE.items()}
    assert bool(singled_out(PEOPLE, known)) == (least == 1)
    having = Counter(term for terms in known.values() for term in terms)
    assert min(having.values()) >= least


@pytest.mark.parametrize("kept", [False, True])
def test_weights_single_out_rows_only_if_they_are_asked_for(profiles: Path, kept: bool) -> None:
    """Attack 7: one term and its weight singled out 70 % of the rows."""
    more = ("--set", "frequencies=keep") if kept else ()
    chosen = ("--set", "k=3", "--set", "m=1", *more)
    rows = {row["row"]: row["terms"] for row in released_by(profiles, "km-anonymity", *chosen)}
    pairs = {name: {*row.items()} for name, row in rows.items()}
    assert bool(singled_out(rows, pairs)) == kept
    assert not singled_out(rows, {name: {*row} for name, row in rows.items()})


# -- canaries --------------------------------------------------------------------------------------

CANARIES = int(os.environ.get("VEILSEARCH_CANARIES", "60"))
SEARCHERS = 30
COMMON = ("java", "coffee", "cat", "volcano", "compiler", "tea")


def canaries() -> list[str]:
    """Return names that are no words, and numbers like those of telephones."""
    letters = str.maketrans("0123456789", "bcdfghjklm")
    names = [f"zorvax{number:04d}qu".translate(letters) for number in range(CANARIES)]
    numbers = [f"8675{number:06d}" for number in range(CANARIES)]
    return [*names, *numbers]


def searchers() -> list[str]:
    return [f"77{number:05d}" for number in range(SEARCHERS)]


def log_with_canaries(path: Path) -> Path:
    """Write a log: everybody enters common words, and names and numbers that nobody else does."""
    people, lines = searchers(), ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL"]
    planted = canaries()
    for at, user in enumerate(people):
        common = [COMMON[(at + step) % len(COMMON)] for step in range(1 + at % 3)]
        own = planted[at::SEARCHERS]
        queries = [*common, *own, *(f"{common[0]} {one}" for one in own[:2])]
        lines += [f"{user}\t{query}\t2006-03-01 07:17:12\t\t" for query in queries]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("terms", "chosen", "shown"),
    [
        ("", "--set k=3 --set augment=none", False),
        ("--terms letters-digits", "--set k=3 --set augment=none --set min_users=2", False),
        ("--terms letters-digits", "--set k=3 --set augment=none", True),  # nothing is rare here
        ("--terms letters-digits --weights tf", "-m query-k --set k=2", False),
    ],
)
def test_no_planted_name_or_number_is_in_a_published_file_a_log_or_a_page(
    tmp_path: Path,
    index: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    terms: str,
    chosen: str,
    shown: bool,
) -> None:
    monkeypatch.setattr(codes, "_COST", 16)  # quickly
    log, root, file = log_with_canaries(tmp_path / "log.tsv"), tmp_path / "w", tmp_path / "f"
    run = Run(root, capsys)
    log_method = "query-k" in chosen
    made_of, source = ([log], ["--against", log]) if log_method else ([], [])
    seen = ""
    for words in (
        ["profiles", log, *terms.split()],
        ["anonymize", *made_of, *chosen.split()],
        ["verify", *source],
        ["publish", "-o", file, *source],
    ):
        seen += run(*words) + run.talk
    shutil.copytree(index / "indexes", root / "indexes")
    Workspace(root).make_current(index=Workspace(index).current().index)
    files = [path for path in (file, file.with_name("f.log.tsv")) if path.exists()]
    assert len(files) == 1 + log_method
    texts = [seen, *(path.read_text() for path in files), *pages(root)]
    texts.append(caplog.text)
    everything = "\n".join(texts).casefold()
    assert "coffee" in everything
    assert any(one in everything for one in canaries()) == shown
    assert not any(one in everything for one in searchers())


def pages(root: Path) -> Iterator[str]:
    """Yield what somebody else who has signed in reads of all rows, and what a stranger reads."""
    chosen: dict[str, Any] = {"access": "private", "admin_token": "t" * 40, "rate": 0.0}
    live = Live(Serving(replace(load_settings(root, {}), **chosen), lambda _text: None).open())
    app = create_app(live)
    stranger, visitor = app.test_client(), app.test_client()
    code = live.now.store.new_code("somebody")
    assert visitor.post("/sign-in", data={"code": code}).status_code == 303
    for client in (stranger, visitor):
        listed = client.get("/groups").text
        rows = re.findall(r"/groups/(g[0-9]{4})", listed)
        own = [f"/groups/{row}{end}" for row in rows for end in ("", "/terms.csv")]
        for path in ("/", "/groups", "/groups/groups.csv", "/about", "/?q=coffee", *own):
            with client.get(path) as answer:
                yield answer.text
    live.now.close()
