"""measure shows what rows of vocabularies keep, as text, JSON and CSV."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from ...anonymizer.small_vocabulary import EXAMPLE, TAXONOMY
from ..conftest import Run


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    """Return the profiles of the paper's running example; its taxonomy lies next to them."""
    (tmp_path / "goods.tsv").write_text("".join(f"{child}\t{over}\n" for child, over in TAXONOMY))
    people = ({"user": user, "terms": own} for user, own in EXAMPLE.items())
    path = tmp_path / "profiles.jsonl"
    path.write_text("".join(json.dumps(person) + "\n" for person in people))
    return path


@pytest.mark.parametrize(
    ("method", "given", "loss"),
    [
        ("vocabulary-k", "eps=4", 0.253247),
        ("generalization", "bag=true", 0.545455),
        ("generalization", "bag=false", 0.688312),
    ],
)
def test_the_running_example(
    run: Run, profiles: Path, method: str, given: str, loss: float
) -> None:
    out, taxonomy = profiles.with_name("release"), profiles.with_name("goods.tsv")
    made = ("anonymize", profiles, "-o", out, "-m", method)
    run(*made, "--set", "k=2", "--set", given, "--set", f"taxonomy={taxonomy}")
    shown = {
        m["name"]: m["mean"] for m in run.json("measure", out, "--against", profiles)["measures"]
    }
    assert round(shown["bLM"], 6) == loss
    text = run("measure", out, "--against", profiles, "-o", profiles.with_name("m.csv"))
    assert f"\nbLM {loss:>52.3f}\n" in text
    assert "\nusers left empty                                       0\n" in text
    with profiles.with_name("m.csv").open() as file:
        rows = {row["name"]: row["value"] for row in csv.DictReader(file)}
    assert float(rows["bLM"]) == shown["bLM"]
    names = {"replaced share", "suppressed occurrences", "users left empty", "Recall", "sDist"}
    assert names <= rows.keys()


def test_rows_of_bags_have_no_patterns(run: Run, profiles: Path) -> None:
    out, taxonomy = profiles.with_name("release"), profiles.with_name("goods.tsv")
    given = ("k=2", "typical=bags", f"taxonomy={taxonomy}")
    run("anonymize", profiles, "-o", out, "-m", "vocabulary-k", *(f"--set={one}" for one in given))
    text = run("measure", out, "--against", profiles)
    assert text.endswith("Recall and sDist: not defined for rows of bags\n")
    assert text.count("Recall") == 1
