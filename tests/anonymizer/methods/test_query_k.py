"""Query k-anonymity: equal to ten naive lines, judged, and refused when anything is forged."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anonymizer.errors import BadInput, BadParameter, Unsatisfiable
from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, QueryLog, Release
from anonymizer.profiles.building import ProfileChoices, build_profiles
from anonymizer.querylog.reading import read_log
from anonymizer.storage.changes import without_rows
from anonymizer.storage.parts import read_cohorts
from anonymizer.storage.profiles import fingerprint
from anonymizer.storage.releases import write_release
from anonymizer.terms.analysis import WordAnalysis
from anonymizer.terms.counting import TermCounter
from anonymizer.verification.judge import verify

Lines = list[tuple[str, str]]
WORDS = ("a", "the b", "b c", "c c a", "d", "??", "é 1", "z2")
FEW: Lines = [
    ("u", "a"),
    ("u", "x"),
    ("u", "b c"),
    ("v", "a"),
    ("v", "y"),
    ("v", "a"),
    ("v", "b c"),
]
FEW += [("w", "a"), ("w", "z"), ("t", "y2")]


def write_log(path: Path, lines: Lines) -> Path:
    head = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
    text = "".join(f"{user}\t{query}\t2006-03-01 07:17:12\t\t\n" for user, query in lines)
    path.write_text(head + text, encoding="utf-8")
    return path


def made(path: Path, k: int) -> tuple[Profiles, Release]:
    log = read_log([path])[0]
    counter = TermCounter(WordAnalysis(digits=True))
    profiles, _ = build_profiles(log, counter, ProfileChoices(weights="tf"))
    release = anonymize("query-k", Inputs(profiles, log=log), {"k": k})
    return profiles, replace(release, facts=facts(profiles, release))


def written(folder: Path, lines: Lines, k: int = 2) -> Path:
    folder.mkdir(exist_ok=True)
    profiles, release = made(write_log(folder / "log.tsv", lines), k)
    choices = {"terms": "letters-digits", "weights": "tf"}
    hashed = fingerprint(profiles)
    write_release(release, folder / "r", seed=0, input_hash=hashed, profiles=choices)
    return folder / "r"


def naive(lines: Lines, k: int) -> dict[str, Counter[str]]:
    """Return the released queries of each person who has any."""
    events, latest = Counter[tuple[str, str]](), dict[str, str]()
    for user, query in lines:
        events[user, query] += latest.get(user) != query
        latest[user] = query
    people = Counter(query for _, query in events)
    kept: dict[str, Counter[str]] = {}
    for (user, query), count in events.items():
        if people[query] >= k and re.search(r"[^\W_]", query):
            kept.setdefault(user, Counter())[query] = count
    return kept


def test_equal_to_the_naive_version_and_verified(tmp_path: Path) -> None:
    rng = np.random.default_rng(19)
    for number in range(120):
        users = [f"u{n}" for n in range(rng.integers(1, 8))]
        drawn = rng.choice(users, 60), rng.choice(WORDS, 60)
        lines = [(str(u), str(q)) for u, q in zip(*drawn, strict=True)][: rng.integers(1, 61)]
        k, folder = int(rng.integers(1, 5)), tmp_path / str(number)
        expected = naive(lines, k)
        if not expected:
            with pytest.raises((Unsatisfiable, BadInput)):
                written(folder, lines, k)
            continue
        place = written(folder, lines, k)
        members = map(json.loads, (place / "private" / "members.jsonl").read_text().splitlines())
        user_of = {member["row"]: member["user"] for member in members}
        released = [line.split("\t") for line in (place / "log.tsv").read_text().splitlines()]
        assert released == sorted(released)
        found: dict[str, Counter[str]] = {}
        for row, query in released:
            found.setdefault(user_of[row], Counter())[query] += 1
        assert found == expected
        for row in map(json.loads, (place / "rows.jsonl").read_text().splitlines()):
            words = Counter[str]()
            for query, count in found[user_of[row["row"]]].items():
                words.update(re.findall(r"[^\W_]+", query) * count)
            assert row["terms"] == words
        verdict = verify(place, folder / "log.tsv")
        assert verdict.holds, verdict.breaches


def test_the_order_of_a_log_tells_nothing(tmp_path: Path) -> None:
    """People, and each person's queries, in another order: the same public bytes."""
    first, *others = (
        [(user, query) for user, queries in people for query in queries]
        for people in (
            [("u", "abc"), ("v", "aca"), ("w", "b")],
            [("w", "b"), ("v", "aca"), ("u", "cab")],
        )
    )
    place = written(tmp_path / "one", first)
    for lines in others:
        other = written(tmp_path / "other", lines)
        for name in ("rows.jsonl", "log.tsv"):
            assert (other / name).read_bytes() == (place / name).read_bytes()


# -- the judge -------------------------------------------------------------------------------------


def forge(place: Path, change: Callable[[str], str], name: str = "log.tsv") -> None:
    """Change the file `name` of a release, and all hashes and counts of it."""
    old = (place / name).read_bytes()
    new = change(old.decode()).encode()
    (place / name).write_bytes(new)
    about = json.loads((place / "release.json").read_text())
    about["facts"]["queries_released"] = (place / "log.tsv").read_bytes().count(b"\n")
    about["sha256"][name] = hashlib.sha256(new).hexdigest()
    text = json.dumps(about)
    sums = (place / "private" / "checksums.sha256").read_text()
    sums = sums.replace(hashlib.sha256(old).hexdigest(), hashlib.sha256(new).hexdigest())
    before = hashlib.sha256((place / "release.json").read_bytes()).hexdigest()
    sums = sums.replace(before, hashlib.sha256(text.encode()).hexdigest())
    (place / "release.json").write_text(text)
    (place / "private" / "checksums.sha256").write_text(sums)


def breaches(place: Path) -> dict[str, str]:
    verdict = verify(place, place.parent / "log.tsv")
    assert not any(word in one.line for one in verdict.findings for word in (" xq", "needle"))
    return {one.claim: f"{one.where}: {one.line}" for one in verdict.breaches}


def by_last_letter(log: str) -> str:
    return "".join(sorted(log.splitlines(keepends=True), key=lambda line: line[::-1]))


FORGERIES: list[tuple[Callable[[str], str], str, str]] = [
    (lambda log: log.replace("g0001\ta\n", "g0001\ta\ng0001\ta\n"), "log", "did not enter"),
    (lambda log: log.replace("g0001\ta\n", "g0001\txq\n"), "k", "fewer than k=2 people"),
    (lambda log: log.replace("g0001\ta\n", "g0001\tz\n"), "k", "fewer than k=2 people"),
    (lambda log: log.replace("g0003\ta\n", "", 1), "log", "lacks a line in log.tsv"),
    (by_last_letter, "log", "rows are"),
    (lambda log: f"{log}g0003\ta\n", "log", "must stand before the line before"),
    (lambda log: log.replace("g0001\ta", "g0001\tA"), "log", "normalized query"),
    (lambda log: log.replace("g0001\ta", "g0001\ta\t2006-03-01"), "log", "normalized query"),
    (lambda log: log.replace("g0001\t", "needle\t"), "log", "not those of rows.jsonl"),
    (lambda log: log.removesuffix("\n"), "log", "whole line"),
]


@pytest.mark.parametrize(("change", "claim", "said"), FORGERIES)
def test_a_forged_log_is_refused(
    tmp_path: Path, change: Callable[[str], str], claim: str, said: str
) -> None:
    place = written(tmp_path / "w", FEW)
    assert not breaches(place)
    forge(place, change)
    assert said in breaches(place)[claim]


def test_rows_of_other_words_and_a_larger_k_are_refused(tmp_path: Path) -> None:
    place = written(tmp_path / "w", FEW)
    forge(place, lambda rows: rows.replace('"a": 2.0', '"a": 1.0'), "rows.jsonl")
    assert "has not exactly the words of its lines" in breaches(place)["words"]
    other = written(tmp_path / "x", FEW)
    forge(other, lambda text: text.replace('"k": 2', '"k": 3'), "release.json")
    assert "1 of 2 queries are of fewer than k=3 people" in breaches(other)["k"]


def test_it_is_judged_by_a_log_alone(tmp_path: Path) -> None:
    place = written(tmp_path / "w", FEW)
    (tmp_path / "p.jsonl").write_text('{"user": "u", "terms": {"query": 1.0}}\n')
    with pytest.raises(BadParameter, match="it was made from a log; name it with --against"):
        verify(place, tmp_path / "p.jsonl")
    assert "made from other profiles" in str(verify(place, write_log(tmp_path / "l", FEW[1:])))
    (place / "log.tsv").unlink()
    assert "is missing" in breaches(place)["files"]


def test_who_leaves_takes_row_and_lines_and_nothing_else_changes(tmp_path: Path) -> None:
    place = written(tmp_path / "w", FEW)
    rest = [line for line in FEW if line[0] != "v"]
    profiles, _ = made(write_log(tmp_path / "w" / "log.tsv", rest), 1)
    cohorts, output = read_cohorts(place), tmp_path / "w" / "s"
    done = without_rows(cohorts, output, ["v"], known=False, input_hash=fingerprint(profiles))
    assert (done.withdrawn, done.left) == (1, 2)
    gone = [
        line for line in (place / "log.tsv").read_text().splitlines(True) if line[:5] == "g0003"
    ]
    assert (tmp_path / "w" / "s" / "log.tsv").read_text() == (
        place / "log.tsv"
    ).read_text().replace("".join(gone), "")
    assert len(gone) == 3
    verdict = verify(tmp_path / "w" / "s", tmp_path / "w" / "log.tsv")
    assert verdict.holds, verdict.breaches
    assert "less 1 who left or changed" in str(verdict)
    assert verify(tmp_path / "w" / "s", tmp_path / "w" / "log.tsv", since=place).holds
    forge(place, lambda log: log.replace("g0001\ta", "g0001\tz"))
    since = verify(tmp_path / "w" / "s", tmp_path / "w" / "log.tsv", since=place)
    assert "lines of its released log are not those of before" in str(since.breaches)


# -- bad input -------------------------------------------------------------------------------------


def test_what_can_not_be_released_is_refused() -> None:
    log = QueryLog.from_events([("u", "a", 0, 0), ("v", "b", 0, 0)])
    profiles = Profiles.from_rows({"u": {"a": 1.0}, "v": {"b": 1.0}})
    with pytest.raises(Unsatisfiable, match="no query was entered by k=2 people; take a smaller k"):
        anonymize("query-k", Inputs(profiles, log=log), {"k": 2})
    with pytest.raises(BadParameter, match="k=0 must be 1 or more"):
        anonymize("query-k", Inputs(profiles, log=log), {"k": 0})
    with pytest.raises(BadInput, match="takes a query log, and there is none"):
        anonymize("query-k", Inputs(profiles), {"k": 1})
    some = Profiles(("u",), profiles.terms, profiles.weights[:1])
    with pytest.raises(BadInput, match="people without a profile"):
        anonymize("query-k", Inputs(some, log=log), {"k": 1})
    release = anonymize("query-k", Inputs(profiles, log=log), {"k": 1})
    assert release.row_of_user.tolist() == [0, 1]
