"""What a run is known by: other inputs are never taken for these."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from anonymizer.storage.arrays import MANIFEST
from anonymizer.terms.wordnet import FORMAT
from search_app.errors import UsageError
from search_app.experiments import running
from search_app.experiments.data import Data, Questions
from search_app.experiments.results import provenance
from search_app.experiments.results.provenance import context, inputs_of, refuse_changes
from search_app.experiments.running import _room
from search_app.verbs.experiment import _check_output
from search_app.workspace.folder import Workspace


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "cache" / FORMAT).mkdir(parents=True)
    (tmp_path / "cache" / FORMAT / MANIFEST).write_text("{}")
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "manifest.json").write_text("{}")
    (tmp_path / "log.tsv").write_text("a\tb\n")
    return tmp_path


def inputs(place: Path) -> dict[str, str]:
    return inputs_of([place / "log.tsv"], place / "index", place / "cache")


def test_other_inputs_are_another_context(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {context(inputs(place), "data"), context(inputs(place), "other data")}
    monkeypatch.setattr(provenance, "code_hash", lambda: "another line")
    found.add(context(inputs(place), "data"))
    monkeypatch.setattr(provenance, "versions", lambda: {"numpy": "99"})
    found.add(context(inputs(place), "data"))
    (place / "index" / "manifest.json").write_text("{ }")
    found.add(context(inputs(place), "data"))
    (place / "cache" / FORMAT / MANIFEST).write_text("{ }")  # another WordNet
    found.add(context(inputs(place), "data"))
    assert len(found) == 6
    monkeypatch.setattr(provenance, "versions", lambda: {"numpy": "99", "matplotlib": "1"})
    assert context(inputs(place), "data") in found  # it draws, it does not measure


def test_a_given_marketing_table_is_an_input(place: Path) -> None:
    (place / "bids.csv").write_text("term,bid,impressions,clicks\n")
    found = inputs_of(
        [place / "log.tsv"], place / "index", place / "cache", {"marketing": [place / "bids.csv"]}
    )
    assert found.keys() - inputs(place).keys() == {"marketing_sha256"}
    assert context(found, "data") != context(inputs(place), "data")


def test_what_changes_while_a_run_is_made_is_named(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = inputs(place)
    refuse_changes(before, inputs(place))
    (place / "log.tsv").write_text("a\tb\nc\td\n")
    monkeypatch.setattr(provenance, "code_hash", lambda: "another line")
    with pytest.raises(UsageError, match=r"^log and code changed while the experiment ran; run it"):
        refuse_changes(before, inputs(place))


@pytest.mark.parametrize("name", ["release/run", "release/deep/run", "indexes/run"])
def test_a_run_is_not_put_where_it_breaks_something(place: Path, name: str) -> None:
    (place / "release").mkdir()
    (place / "release" / "release.json").write_text("{}")
    with pytest.raises(UsageError, match="lies in a release or among indexes"):
        _check_output(place / name, Workspace(place))
    _check_output(place / "experiments" / "run", Workspace(place))


def test_a_mount_point_is_refused_before_the_work(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "ismount", lambda path: path == place / "out")
    with pytest.raises(UsageError, match="is a mount point; name a folder inside it"):
        _check_output(place / "out", Workspace(place))


def test_workers_are_as_many_as_there_is_memory_for() -> None:
    def data(queries: int, depth: int) -> Data:
        pools = np.zeros((queries, depth), dtype=np.int8).astype(np.int64)
        each = np.zeros(queries, dtype=np.int64)
        return Data({}, Questions(each, each, pools, each))

    assert running._affordable(8, data(100, 50)) == 8
    assert running._affordable(8, data(3_000, 5_000)) == 6  # twice 50 million / 15 million
    few = data(2, 50)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "MOST_CELLS", 99)
        with pytest.raises(UsageError, match="2 queries with pools of 50 documents take too much"):
            running._affordable(1, few)


def test_a_room_of_somebody_elses_is_neither_used_nor_emptied(place: Path) -> None:
    room = place / ".out.unfinished"
    room.mkdir()
    (room / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not veilsearch's; move it away"), _room(place / "out"):
        pass
    assert (room / "mine.txt").read_text() == "mine"
    (place / ".other.unfinished").symlink_to(room)
    with pytest.raises(UsageError, match="is not veilsearch's"), _room(place / "other"):
        pass


def test_a_room_with_nothing_to_go_on_from_is_not_left(place: Path) -> None:
    for kept in (False, True):
        with pytest.raises(ZeroDivisionError), _room(place / "out") as room:
            assert room.stat().st_mode & 0o777 == 0o700
            if kept:
                (room / "some.unit").write_text("measured")
            raise ZeroDivisionError
        assert room.exists() == kept
