"""Logs measured and released by the command line: measure --log, and a method that takes a log."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from ..conftest import Run

HEAD = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
SEARCHES = {
    "mira": ("java beans", "coffee", "java beans", "needle one"),
    "oren": ("java beans", "compiler", "needle two"),
    "ada": ("coffee", "needle three"),
    "zoe": ("needle four",),
}
SENSITIVITY = "text,probability\njava beans,.8\ncoffee,.1\ncompiler,.5\n"
SENSITIVITY += "".join(f"needle {number},1\n" for number in ("one", "two", "three", "four"))
INDICES = ("SPI", "JSD", "SPI_paper", "SPI_released")
CHANNELS = ("PEL_exact", "PEL_plugin", "PEL_similarity", "PEL_alignment")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    lines = [
        f"{user}\t{query}\t2006-03-01 07:17:1{at}\t\t\n"
        for user, queries in SEARCHES.items()
        for at, query in enumerate(queries)
    ]
    (tmp_path / "log.tsv").write_text(HEAD + "".join(lines))
    (tmp_path / "s.csv").write_text(SENSITIVITY)
    return tmp_path / "log.tsv"


def by_user(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="") as file:
        return {line["user"]: line for line in csv.DictReader(file)}


def test_measure_log_says_all_indices_by_name(run: Run, log: Path, tmp_path: Path) -> None:
    released, output = tmp_path / "r.tsv", tmp_path / "o.csv"
    released.write_text("mira\tJava  beans\nmira\tjava beans\noren\tcompiler\n")
    measure = ("measure", "--log", released, "--against", log, "--sensitivity", tmp_path / "s.csv")
    made = run.json(*measure, "-o", output, "--spi-weights", "released", "--empty", "null")
    assert {name: made[name] for name in ("users", "users_without_release", "empty")} == {
        "users": 4,
        "users_without_release": 2,
        "empty": "null",
    }
    assert made["impressions"] == {"original": 10, "released": 3, "share": 0.3}
    assert made["SPI"] == made["SPI_released"] != made["SPI_paper"]
    lines = by_user(output)
    assert list(lines["mira"]) == ["user", "original_queries", "released_queries",
                                   *INDICES, *CHANNELS]  # fmt: skip
    assert output.stat().st_mode & 0o777 == 0o600
    counts = [(line["original_queries"], line["released_queries"]) for line in lines.values()]
    assert counts == [("4", "2"), ("3", "1"), ("2", "0"), ("1", "0")]
    for name in (*INDICES, *CHANNELS):
        values = [(float(line[name]), int(line["original_queries"]))
                  for line in lines.values() if line[name]]  # fmt: skip
        assert made[name]["mean"] == pytest.approx(sum(v for v, _ in values) / len(values))
        size = sum(n for _, n in values)
        assert made[name]["by_queries"] == pytest.approx(sum(v * n for v, n in values) / size)
    # zoe entered one query only, which has no entropy; of ada nothing is released.
    assert (lines["zoe"]["PEL_exact"], lines["ada"]["PEL_exact"]) == ("", "0.0")
    assert float(lines["ada"]["SPI_paper"]) == pytest.approx((1 + 0.5 * 0.9 + 0.5 * 0) / 2)
    most = tmp_path / "most.csv"
    text = run(*measure, "--worst", most)
    with most.open(newline="") as file:
        entries = [line for line in csv.DictReader(file) if line["user"] == "mira"]
    assert [line["query"] for line in entries] == ["coffee", "needle one", "java beans"]
    assert entries[2]["original_events"] == entries[2]["released_events"] == "2"
    for name in ("JSD", "SPI_paper"):
        parts = [float(line[name.removesuffix("_paper")]) for line in entries]
        assert float(lines["mira"][name]) == pytest.approx(sum(parts))
    assert most.stat().st_mode & 0o777 == 0o600
    assert "impressions: 3 of 10 queries are released, 30.0 %; 4 users, 2 without any" in text


def test_without_sensitivity_spi_is_jsd(run: Run, log: Path, tmp_path: Path) -> None:
    made = run.json("measure", "--log", log, "--against", log)
    assert made["sensitivity"] is None
    assert "SPI is JSD" in run.talk
    assert [made[name]["mean"] for name in INDICES] == [0.0] * 4
    (tmp_path / "none.tsv").write_text("")
    made = run.json("measure", "--log", tmp_path / "none.tsv", "--against", log, "--empty", "skip")
    assert made["impressions"]["share"] == 0
    assert [made[name] for name in INDICES] == [{"mean": None, "by_queries": None}] * 4


def test_bad_input_is_one_line_without_a_query_or_an_id(
    run: Run, log: Path, tmp_path: Path
) -> None:
    other, empty = tmp_path / "other.tsv", tmp_path / "empty.tsv"
    other.write_text("needle\tsecret\nmira\tcoffee\n")
    empty.write_text(HEAD)
    (tmp_path / "few.csv").write_text("text,probability\ncoffee,1\n")
    (tmp_path / "bare.csv").write_text("secret,1\n")
    few = ("--sensitivity", tmp_path / "few.csv")
    cases = {
        (other, "--against", log): "1 of 2 users of the released log are not in the original",
        (log, "--against", log, *few): "6 of 7 different texts have no probability",
        (log, "--against", log, "--sensitivity", tmp_path / "bare.csv"): "line 1: the header must",
        (log,): "--log needs the original log: --against ORIGINAL",
        (log, "--against", empty): "no line is a query",
        (log, "--against", tmp_path / "no.tsv"): "there is no such file",
        (log, "--against", log, "--marketing", "w.csv"): "leave out marketing",
        (log, "--against", log, "--users"): "leave out users",
        (log, "--against", log, "--worst", other): "exists and holds something else",
        (log, "--against", log, "-o", log): "is the file of what is measured",
    }
    for words, why in cases.items():
        line = run.refused("measure", "--log", *words)
        assert why in line
        assert not any(word in line for word in ("secret", "mira", "coffee", "needle"))


def test_a_log_is_released_measured_judged_and_published(
    run: Run, log: Path, tmp_path: Path
) -> None:
    place, public = tmp_path / "r", tmp_path / "public"
    anonymize = ("anonymize", log, "-m", "query-k", "--set", "k=2")
    assert "3 of 4 users have a row" in run(*anonymize, "-o", place)
    assert (place / "log.tsv").read_text().splitlines() == [
        "g0001\tcoffee",
        "g0002\tcoffee",
        "g0002\tjava beans",
        "g0002\tjava beans",
        "g0003\tjava beans",
    ]
    for named in (place, place / "log.tsv"):
        for option in ("-o", "--worst"):
            given = ("measure", "--log", named, "--against", log, option, place / "o.csv")
            assert re.search("lies in the( published part of the)? release", run.refused(*given))
    made = [run.json("measure", "--log", named, "--against", log)
            for named in (place, place / "log.tsv")]  # fmt: skip
    assert made[0] == {**made[1], "released_log": str(place)}
    assert made[0]["impressions"]["released"] == 5
    assert made[0]["users_without_release"] == 1
    assert run.json("verify", place, "--against", log)["holds"]
    measured = {
        one["name"]: one for one in run.json("measure", place, "--against", log)["measures"]
    }
    assert measured["SPI"] == {**measured["JSD"], "name": "SPI"}
    assert measured["impressions"]["mean"] == pytest.approx((5 / 7 + 2 / 5 + 1 / 3 + 0) / 4)
    text = run("publish", place, "--against", log, "-o", public)
    assert "3 rows of 3 users (1 without a row)" in text
    companion = tmp_path / "public.log.tsv"
    assert companion.read_bytes() == (place / "log.tsv").read_bytes()
    assert not any(user in companion.read_text() + public.read_text() for user in SEARCHES)
    run(*anonymize[:-1], "k=1", "-o", tmp_path / "one")
    assert "k=1 releases everybody’s log as it is" in run.talk
    assert "k=1 releases" in run(
        "publish", tmp_path / "one", "--against", log, "-o", public, code=1
    )


def test_it_serves_the_profiles_of_its_log_and_forgets(run: Run, log: Path, tmp_path: Path) -> None:
    anonymize = ("anonymize", log, "-m", "query-k", "--set", "k=2")
    assert "takes a query log; name it" in run.refused("anonymize", "-m", "query-k")
    run("profiles", log)
    line = run.refused(*anonymize)
    assert f"veilsearch profiles {log} --terms letters-digits --weights tf" in line
    run("profiles", log, "--terms", "letters-digits", "--weights", "tf")
    run(*anonymize)
    assert "name it with --against" in run.refused("verify")
    run("verify", "--against", log)
    assert "nobody can be admitted to it" in run.refused("admit")
    run("publish", "--against", log, "-o", run.workspace / "public")
    before = (run.workspace / "release" / "log.tsv").read_text()
    mine = run.workspace / "log.tsv"
    mine.write_bytes(log.read_bytes())
    run("forget", "--user", "oren")
    after = (run.workspace / "release" / "log.tsv").read_text()
    assert after == before.replace("g0003\tjava beans\n", "")
    assert "oren" not in mine.read_text()
    assert not list(run.workspace.glob("public*"))
    assert run.json("verify", "--against", mine)["holds"]
    run("forget", "--user", "mira", "--term", "beans")
    assert "beans" not in mine.read_text()
    assert (run.workspace / "release" / "log.tsv").read_text() == after
    assert run.json("verify", "--against", mine)["holds"]
    assert "rows were withdrawn" in run("publish", "--against", mine, "-o", tmp_path / "p", code=1)


def test_rejected_lines_are_said_without_their_text(run: Run, log: Path, tmp_path: Path) -> None:
    log.write_text(log.read_text() + "needle\n")
    run("anonymize", log, "-m", "query-k", "--set", "k=2", "-o", tmp_path / "r")
    assert "1 line was rejected, the first one" in run.talk
    run("measure", "--log", log, "--against", log)
    assert run.talk.count("1 line was rejected") == 2
    assert "needle" not in run.talk


def test_a_query_that_is_an_id_is_not_published(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.tsv"
    lines = [f"{user}\t{query}\t2006-03-01 07:17:10\t\t\n"
             for user in ("Needle One", "oren") for query in ("needle one", "java")]  # fmt: skip
    log.write_text(HEAD + "".join(lines))
    run("anonymize", log, "-m", "query-k", "--set", "k=2", "-o", tmp_path / "r")
    breach = run("publish", tmp_path / "r", "--against", log, "-o", tmp_path / "p", code=1)
    assert "log.tsv: a query is a user's id" in breach
    assert "needle" not in breach
