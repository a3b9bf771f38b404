"""Which releases are withheld, by the ledger as it is, and what then serves nobody."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path

import pytest

from anonymizer.methods import METHODS, promise_of
from anonymizer.storage.releases import read_hash
from anonymizer.verification.judge import JUDGES
from search_app.errors import UsageError
from search_app.server.opening import Serving
from search_app.settings import load_settings
from search_app.workspace.folder import Workspace
from search_app.workspace.ledger import LastLedger, Noted, ledger_path
from search_app.workspace.withholding import Published

from ..conftest import Run

TOPICS = (("coffee", "mocha"), ("island", "volcano"))


def noted(event: str, method: str, sha256: str) -> Noted:
    return Noted(1_700_000_000, event, method, {}, 10, 2, sha256)


@pytest.mark.parametrize(
    ("lines", "withheld"),
    [
        ([], True),
        ([("made", "pooled", "ab")], True),
        ([("published", "pooled", "cd")], True),
        ([("published", "pooled", "ab")], False),
        ([("made", "pooled", "first"), ("withdrawn", "pooled", "ab")], True),
        ([("published", "pooled", "c"), ("published", "km-anonymity", "ab")], False),
    ],
)
def test_whatever_the_method_only_what_was_published_is_shown(
    lines: list[tuple[str, ...]], withheld: bool
) -> None:
    ledger = [noted(*line) for line in lines]
    assert Published(lambda: ledger, "ab", {b"row"})() is not withheld


def test_published_is_what_has_no_row_that_was_not() -> None:
    """Each row may have been published in another release; a person's hash is no row's."""

    def line(event: str, *rows: bytes) -> Noted:
        stood = base64.b64encode(b"".join(row + b"somebody" for row in rows)).decode()
        return noted(event, "pooled", event)._replace(key="k", stood=stood)

    first, second, person = b"row 0001", b"row 0002", b"somebody"
    ledger = [line("published", first), line("published", second), line("made", b"row 0003")]
    for rows, shown in (
        ({first}, True),
        ({first, second}, True),
        ({first, b"row 0003"}, False),
        ({first, person}, False),
    ):
        assert Published(lambda: ledger, "now", rows)() is shown


def test_by_a_ledger_that_cant_be_read_nothing_is_published() -> None:
    def damaged() -> list[Noted]:
        raise UsageError("damaged")

    assert not Published(damaged, "ab", set())()


def test_the_judge_and_the_methods_agree_on_what_is_promised() -> None:
    """`publish` asks the judge's table, the server the methods'."""
    promises = {method: promise_of(method, {}) for method in METHODS}
    assert {method: judge.promise for method, judge in JUDGES.items()} == promises


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
    left = [user for user in release.users if release.row_for(user).fallback]
    assert len(left) == 1
    assert site.modes.withheld()
    assert site.release_name == "pooled p=0.2 no. 1"  # no hash by which a guess could be checked
    answer = site.modes.answer("java", "group", left[0], pool=4)
    assert (answer.mode, answer.request.row) == ("none", None)
    inside = next(user for user in release.users if user not in left)
    row = site.modes.answer("java", "group", inside, pool=4).request.row
    assert row == release.row_for(inside)  # not smoothed
    run("publish", "-o", tmp_path / "f")
    assert not site.modes.withheld()
    assert site.modes.answer("java", "group", left[0], pool=4).mode == "group"
    site.close()
    again = serving.open()
    assert again.modes.answer("java", "group", inside, pool=4).request.smoothed
    sha256 = read_hash(run.workspace / "release")
    assert again.release_name == f"pooled p=0.2 {sha256[:8]} smoothed"
    again.close()
    invented = Serving(replace(settings, access="demo"), lambda _text: None)
    with pytest.raises(UsageError):
        invented.open()
