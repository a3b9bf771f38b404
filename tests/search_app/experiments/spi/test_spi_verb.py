"""`veilsearch experiment` with strategies, on the toy world."""

from __future__ import annotations

import json
from pathlib import Path

from ...conftest import Run
from ..toy_world import NEEDLE, QUERIES, Place, bytes_of, told_in

DEFINITION = """
name = "toy"
title = "A toy"
report = "spi"
[inputs]
size = 8
users = 12
queries_per_user = 2
least_hits = 100
least_queries = 5
[defaults]
method = ""
modes = []
[[variant]]
name = "log"
[[variant]]
name = "figure-1"
method = "by-k"
parameters = { k = [1, 2] }
[[variant]]
name = "figure-2"
method = "only-ppp"
parameters = { share = [0.2, 0.4] }
[[variant]]
name = "terms"
method = "p-linkability"
parameters = { p = [0.5, 0.7] }
modes = ["group"]
pools = [100]
"""


def test_a_log_and_rows_are_measured_in_one_run(run: Run, toy: Place, tmp_path: Path) -> None:
    definition, names = tmp_path / "toy.toml", tmp_path / "names"
    definition.write_text(DEFINITION, "utf-8")
    queries = [line.split("\t")[1] for line in toy.log.read_text("utf-8").splitlines()[1:]]
    needles = [word for query in queries for word in query.split() if word.startswith(NEEDLE)]
    names.write_text("\n".join(needles[::2]), "utf-8")
    where = ("--log", toy.log, "--names", names, "--workers", 1)
    outs = [tmp_path / "one", tmp_path / "two"]
    for out in outs:
        run("experiment", definition, *where, "-o", out)
    assert bytes_of(outs[0]) == bytes_of(outs[1])
    units = [json.loads(line) for line in (outs[0] / "units.jsonl").read_bytes().splitlines()]
    log, all_of_it, common, few, some, *rows = [unit["facts"] for unit in units]
    assert log["people"] == all_of_it["log_people"] == 14
    assert log["model_weak"] == 1
    # Every query has a word of its own, so nobody shares one; every second one has a listed name.
    assert all_of_it["log_events"] == 14 * QUERIES
    assert all_of_it["log_listed_share"] == 0.5
    assert (all_of_it["log_jsd"], common["log_jsd"]) == (0, 1)
    assert (few["log_impressions"], some["log_impressions"]) == (0.2, 0.4)
    assert all(0 < facts["terms_spi_paper"] <= facts["terms_jsd"] <= 1 for facts in rows)
    report = json.loads((outs[0] / "report.json").read_bytes())
    assert [table["name"] for table in report["tables"]][-2:] == ["terms", "terms-at-ap"]
    for name, content in bytes_of(outs[0]).items():
        assert not told_in(content), name


def test_a_list_that_is_missing_is_refused(run: Run, toy: Place, tmp_path: Path) -> None:
    where = ("--log", toy.log, "-o", tmp_path / "out")
    assert "existing plain file" in run.refused("experiment", "spi", *where, "--names", tmp_path)
