"""Which engine a verb is given: what does not fit is refused before anything is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from search_app.cli import run
from search_app.errors import UsageError

MASTER = ["--engine", "spark", "--master", "spark://127.0.0.1:1"]
TOGETHER = "--engine spark and --master spark://HOST:7077 belong together"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["profiles", "log.tsv", "--engine", "spark"], TOGETHER),
        (["profiles", "log.tsv", "--master", "spark://h:1"], TOGETHER),
        (["profiles", "log.tsv", "--parts", "3"], "--parts needs --engine spark"),
        (["profiles", "log.tsv", *MASTER, "--parts", "0"], "--parts 0 must be from 1 to 10000"),
        (["profiles", "log.tsv", "--parts", "0"], "--parts needs --engine spark"),
        (["profiles", "--searches", *MASTER], "leave out --searches and --add"),
        (["profiles", "log.tsv", "--add", *MASTER], "leave out --searches and --add"),
        (["anonymize", "p.npz", *MASTER], "works part by part; name 2 or more: --parts 16"),
        (["anonymize", "log.tsv", "-m", "query-k", *MASTER], "query-k needs a folder: -o RELEASE/"),
        (["measure", "release", *MASTER], "measures a released log: --log RELEASED"),
    ],
)
def test_what_does_not_fit_an_engine_is_refused(
    tmp_path: Path, arguments: list[str], line: str
) -> None:
    with pytest.raises(UsageError) as refused:
        run(["--workspace", str(tmp_path), *arguments])
    assert line in str(refused.value)
    assert [*tmp_path.iterdir()] == []
