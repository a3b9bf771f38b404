"""Slots and taxonomy on disk: exact bytes, read again, and gone with whom they name."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anonymizer.errors import BadInput
from anonymizer.methods import promise_of
from anonymizer.model import Profiles, Release, Slot
from anonymizer.promise import Promise
from anonymizer.storage.changes import with_edited, without_rows
from anonymizer.storage.parts import read_cohorts
from anonymizer.storage.releases import add_cohort, read_release, write_release

RELEASE = Release(
    Profiles.from_rows({"g0001": {"wine": 1.0, "shoe": 1.0}, "g0002": {"milk": 1.0}}),
    ("anna", "berta", "carla", "dora"),
    np.array([0, 0, 1, 1]),
    "vocabulary-k",
    {"k": 2},
    promise=Promise("group", "vocabulary"),
    slots=(
        Slot(1, "milk", (("dora", "milk"), ("carla", "ärger"))),
        Slot(0, "wine", (("berta", "wine"), ("anna", "vino"))),
        Slot(0, "shoe", (("berta", "boot"), ("anna", "shoe"))),
    ),
    taxonomy=(("wine", "drink"), ("milk", "drink")),
)
LINES = """\
{"row": "g0001", "term": "shoe", "occurrences": [["berta", "boot"], ["anna", "shoe"]]}
{"row": "g0001", "term": "wine", "occurrences": [["berta", "wine"], ["anna", "vino"]]}
{"row": "g0002", "term": "milk", "occurrences": [["dora", "milk"], ["carla", "ärger"]]}
"""


def written(folder: Path) -> Path:
    write_release(RELEASE, folder, seed=1, input_hash="0a")
    return folder


def slot_lines(folder: Path) -> str:
    return (folder / "private/slots.jsonl").read_text(encoding="utf-8")


def test_lines_stand_in_the_order_of_rows_and_terms(tmp_path: Path) -> None:
    folder = written(tmp_path / "r")
    assert slot_lines(folder) == LINES
    assert (folder / "private/taxonomy.tsv").read_bytes() == b"wine\tdrink\nmilk\tdrink\n"
    release = read_release(folder, promise_of)
    assert release.slots == tuple(sorted(RELEASE.slots))
    assert release.taxonomy == RELEASE.taxonomy
    assert "ärger" not in repr(release)


def test_a_withdrawn_row_takes_its_slots_with_it(tmp_path: Path) -> None:
    done = without_rows(
        read_cohorts(written(tmp_path / "r")), tmp_path / "n", {"anna"}, known=False, input_hash="0"
    )
    assert done.withdrawn == 1
    assert slot_lines(tmp_path / "n") == LINES.splitlines(keepends=True)[2]
    names = b"".join(path.read_bytes() for path in (tmp_path / "n").rglob("*") if path.is_file())
    assert b"anna" not in names


def test_no_slot_names_a_term_that_somebody_took_back(tmp_path: Path) -> None:
    with_edited(
        read_cohorts(written(tmp_path / "r")), tmp_path / "n", {"anna"}, {"vino", "boot"}, "0"
    )
    assert slot_lines(tmp_path / "n") == LINES.replace(', ["anna", "vino"]', "")


def test_slots_of_a_cohort_are_of_its_own_rows(tmp_path: Path) -> None:
    later = replace(
        RELEASE,
        users=("eva", "fritz", "gerd", "hans"),
        slots=(Slot(0, "wine", (("eva", "wine"), ("fritz", "wine"))),),
    )
    add_cohort(read_cohorts(written(tmp_path / "r")), tmp_path / "n", later, seed=2, input_hash="0")
    release = read_release(tmp_path / "n", promise_of)
    of_eva = [slot for slot in release.slots if slot.occurrences[0][0] == "eva"]
    assert [release.rows.users[slot.row] for slot in of_eva] == ["g0003"]
    assert [release.rows.users[slot.row] for slot in release.slots[:3]] == [
        *["g0001", "g0001", "g0002"]
    ]


@pytest.mark.parametrize(
    ("old", "new"), [(b"g0002", b"g0009"), (b'"milk"], [', b'"milk", "x"], [')]
)
def test_a_slot_that_cannot_be_is_refused(old: bytes, new: bytes, tmp_path: Path) -> None:
    folder = written(tmp_path / "r")
    slots, sums = folder / "private/slots.jsonl", folder / "private/checksums.sha256"
    before = slots.read_bytes()
    slots.write_bytes(before.replace(old, new))
    hashes = (hashlib.sha256(path).hexdigest().encode() for path in (before, slots.read_bytes()))
    sums.write_bytes(sums.read_bytes().replace(*hashes))
    with pytest.raises(BadInput, match=r"slots\.jsonl: a slot can't be read"):
        read_release(folder, promise_of)
