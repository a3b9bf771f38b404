from __future__ import annotations

from pathlib import Path

import pytest

from ..conftest import Run

SICK = ("diabetes diet", "heroin price", "burglary help", "asthma", "fever", "cholera")
WELL = ("cheap car", "red shoes", "maps", "weather", "songs", "trees")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    lines = [
        f"u{user}\t{query} {user}\t2006-03-01 10:00:{user:02d}"
        for user in range(20)
        for query in (*SICK, *WELL)
    ]
    path = tmp_path / "log.tsv"
    path.write_text("AnonID\tQuery\tQueryTime\n" + "\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    rows = [f"{text} {at},{int(text in SICK)}" for at in range(10) for text in (*SICK, *WELL)]
    path.write_text("text,label\n" + "\n".join(rows) + "\n", "utf-8")
    return path


def test_labels_train_a_model_that_labels_a_log(
    run: Run, tmp_path: Path, labels: Path, log: Path
) -> None:
    model, output = tmp_path / "model", tmp_path / "probabilities.csv"
    made = run.json("sensitivity", labels, "-o", model)
    assert made["accuracy"] == 1
    assert not made["weak"]
    assert "labels of labels.csv" in run("sensitivity", labels, "-o", model)
    run("sensitivity", "--apply", model, log, "-o", output)
    rows = dict(line.rsplit(",", 1) for line in output.read_text("utf-8").splitlines()[1:])
    assert len(rows) == 240
    assert all((float(rows[text]) > 0.5) == text.startswith(SICK) for text in rows)


def test_weak_labels_are_called_weak_and_tested_by_halves(
    run: Run, tmp_path: Path, log: Path
) -> None:
    names = tmp_path / "names"
    names.write_text("Zyskowski\n", "utf-8")
    given = ("--weak", log, "--names", names)
    made = run.json("sensitivity", *given, "-o", tmp_path / "m")
    assert made["weak"]
    assert made["sensitive"] == made["texts"] // 2 == 120
    assert made["labels"] == "weak labels by WordNet's domains, names"
    assert 0 <= made["half_lexicon_auc"] <= 1
    assert "the honest test" in run("sensitivity", *given, "-o", tmp_path / "m")


def test_what_it_writes_of_the_longest_queries_can_be_measured_by(
    run: Run, tmp_path: Path, labels: Path, log: Path
) -> None:
    model, output = tmp_path / "m", tmp_path / "p.csv"
    with log.open("a") as file:
        file.write(f"u1\t{'long ' * 150_000}\t2006-03-01 10:00:00\n{'x' * 2_000_000}\n")
    run("sensitivity", labels, "-o", model)
    run("sensitivity", "--apply", model, log, "-o", output)
    assert "1 line was rejected" in run.talk
    run("measure", "--log", log, "--against", log, "--sensitivity", output)


def test_wrong_use_is_refused_in_one_line(
    run: Run, tmp_path: Path, labels: Path, log: Path
) -> None:
    output = tmp_path / "m"
    for given, fault in (
        ((), "name LABELS.csv, or give --weak"),
        ((labels, "--names", log), "add --weak"),
        (("--apply", log), "name the log to label"),
        (("--apply", log, "--weak"), "give one of them"),
        (("--apply", labels, log), "is no intact model"),
        ((log,), "the header must be text,label"),
        ((tmp_path / "nothing",), "No such file"),
        (("--weak", tmp_path / "nothing"), "nothing"),
    ):
        assert fault in run.refused("sensitivity", *given, "-o", output)
        assert not output.exists()
    assert "what is read" in run.refused("sensitivity", labels, "-o", labels)
