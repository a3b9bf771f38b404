"""Which releases are sealed, by the ledger as it is, and what then serves nobody."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from anonymizer.measures.verification import PROMISES
from anonymizer.model import BELIEF
from search_app.errors import UsageError
from search_app.ledger import LastLedger, Noted, ledger_path
from search_app.sealing import Seal
from search_app.serving import Serving
from search_app.settings import load_settings
from search_app.workspace import Workspace

from .conftest import Run

TOPICS = (("coffee", "mocha"), ("island", "volcano"))


def noted(event: str, method: str, sha256: str, people: str = "they") -> Noted:
    return Noted(1_700_000_000, event, method, {}, 10, 2, sha256, people)


@pytest.mark.parametrize(
    ("method", "lines", "sealed"),
    [
        ("pooled", [], True),
        ("composition", [], True),
        ("p-linkability", [], False),
        ("pooled", [("made", "pooled", "ab")], True),
        ("pooled", [("outlived", "pooled", "ab")], True),
        ("pooled", [("published", "pooled", "cd")], True),
        ("pooled", [("published", "pooled", "ab")], False),
        ("pooled", [("published", "pooled", "ab"), ("outlived", "pooled", "cd")], False),
        ("p-linkability", [("published", "p-linkability", "cd")], False),
        ("p-linkability", [("published", "composition", "cd")], True),
        ("p-linkability", [("outlived", "pooled", "cd")], True),
        ("p-linkability", [("made", "pooled", "cd")], False),
        ("p-linkability", [("published", "pooled", "cd", "others")], False),
        ("p-linkability", [("published", "pooled", "cd", "")], False),
        (
            "km-anonymity",
            [("published", "pooled", "c"), ("published", "km-anonymity", "ab")],
            False,
        ),
    ],
)
def test_what_the_ledger_says_decides(
    method: str, lines: list[tuple[str, ...]], sealed: bool
) -> None:
    ledger = [noted(*line) for line in lines]
    assert Seal(lambda: ledger, method, "ab", lambda: "they")() is sealed


@pytest.mark.parametrize(("method", "sealed"), [("pooled", True), ("p-linkability", False)])
def test_by_a_ledger_that_cant_be_read_nothing_is_published(method: str, sealed: bool) -> None:
    def damaged() -> list[Noted]:
        raise UsageError("damaged")

    assert Seal(damaged, method, "ab", lambda: "they")() is sealed


def test_what_promises_alone_is_what_bounds_belief() -> None:
    """`publish` asks the judge's table, the server the model: of the same methods."""
    assert {method for method, promise in PROMISES.items() if promise.once} == BELIEF


def test_the_last_ledger_is_the_one_that_is_there(tmp_path: Path) -> None:
    ledger, path = LastLedger(Workspace(tmp_path)), ledger_path(Workspace(tmp_path))
    assert ledger() == ()
    line = json.dumps(noted("made", "pooled", "ab")._asdict()) + "\n"
    for times in (1, 2, 3):
        path.write_text(line * times)
        assert len(ledger()) == times
        assert ledger() is ledger()
    path.write_text("junk\n")
    for _ in range(2):
        with pytest.raises(UsageError):
            ledger()
    path.unlink()
    assert ledger() == ()


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Make an index, and a pooled release of eleven people: two groups of five, one left over."""
    made = Run(tmp_path / "w", capsys)
    texts = ("java island volcano", "java coffee mocha", "java coffee", "java volcano mocha")
    documents = [{"id": f"d{at}", "title": "", "text": text} for at, text in enumerate(texts)]
    (tmp_path / "corpus").mkdir()
    corpus, people = tmp_path / "corpus" / "c.jsonl", tmp_path / "people.jsonl"
    corpus.write_text("".join(json.dumps(each) + "\n" for each in documents))
    rows = [dict.fromkeys(sorted((*TOPICS[n % 2], "java")), 1.0) for n in range(11)]
    lines = [{"user": f"needle-{n}", "terms": row} for n, row in enumerate(rows)]
    people.write_text("".join(json.dumps(each) + "\n" for each in lines))
    made("index", corpus)
    made("anonymize", people, "-m", "pooled", "--set", "p=0.2", "--set", "documents=4")
    return made


def test_real_people_are_served_nothing_that_is_made_of_all_rows_before_it_is_published(
    run: Run, tmp_path: Path
) -> None:
    settings = replace(
        load_settings(run.workspace, {}), access="private", admin_token="t" * 40, smoothing=True
    )
    serving = Serving(settings, lambda _text: None)
    site = serving.open()
    release = site.modes.release
    assert release is not None
    left = [user for user in release.users if release.row_for(user).spare]
    assert len(left) == 1
    assert site.modes.sealed()
    answer = site.modes.answer("java", "group", left[0], pool=4)
    assert (answer.mode, answer.request.row) == ("none", None)
    inside = next(user for user in release.users if user not in left)
    row = site.modes.answer("java", "group", inside, pool=4).request.row
    assert row == release.row_for(inside)  # not smoothed
    run("publish", "-o", tmp_path / "f")
    assert not site.modes.sealed()
    assert site.modes.answer("java", "group", left[0], pool=4).mode == "group"
    site.close()
    again = serving.open()
    assert again.modes.answer("java", "group", inside, pool=4).request.smoothed
    again.close()
    invented = Serving(replace(settings, access="demo"), lambda _text: None)
    with pytest.raises(UsageError):
        invented.open()
