"""The forward index: cosines against a naive twin."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.forward.products import LANES
from index.forward.reading import ARRAYS, Forward, length_of
from index.forward.writing import ForwardWriter
from index.model import Document, SearchError

from ..conftest import Counter as TermCounts


def forward_of(texts: Sequence[str], folder: Path, dropped: Sequence[int] = ()) -> Forward:
    writer = ForwardWriter(folder / "forward", TermCounts(str.split))
    for text in texts:
        writer.add(Document("", "", text))
    for number in dropped:
        writer.drop(number)
    writer.write()
    return Forward.open(folder / "forward")


def cosines(
    forward: Forward, rows: Sequence[int], profile: Mapping[str, float], vectors: str
) -> list[float]:
    weights = np.array(list(profile.values()), dtype=np.float64)
    columns = forward.columns(list(profile))
    return forward.cosines(
        np.array(rows, dtype=np.int64), forward.target(columns, weights, vectors)
    ).tolist()


def naive(
    texts: Sequence[str], rows: Sequence[int], profile: Mapping[str, float], vectors: str
) -> list[float]:
    counts = [Counter(text.split()) for text in texts]
    df = Counter(term for count in counts for term in count)
    found = []
    for row in rows:
        idf = {
            t: math.log(1 + len(texts) / df[t]) if vectors == "tfidf" else 1 for t in counts[row]
        }
        document = {term: tf * idf[term] for term, tf in counts[row].items()}
        product = sum(weight * document.get(term, 0) for term, weight in profile.items())
        length = math.hypot(*profile.values()) * math.hypot(*document.values())
        found.append(product / length if length else 0.0)
    return found


def test_cosines_are_rounded_to_12_decimals_so_that_ties_are_ties(tmp_path: Path) -> None:
    forward = forward_of(["a b", "a a a b b b"], tmp_path)
    assert cosines(forward, [0, 1], {"a": 1.0}, "tf") == [0.707106781187, 0.707106781187]


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_cosines_do_not_depend_on_the_weights_size(tmp_path: Path, scale: float) -> None:
    forward = forward_of(["a a a b b b b"], tmp_path)
    assert cosines(forward, [0], {"a": scale, "c": 0.0}, "tf") == [0.6]


term = st.sampled_from("abcdefgh")
text = st.lists(term, max_size=12).map(" ".join)
profiles = st.dictionaries(st.sampled_from("abcdefghxyz"), st.floats(0.01, 100), max_size=8)


@settings(max_examples=50)
@given(
    st.lists(text, min_size=1, max_size=8), profiles, st.sampled_from(["tf", "tfidf"]), st.data()
)
def test_cosines_equal_the_naive_twins(
    texts: list[str], profile: dict[str, float], vectors: str, data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=10))
    with TemporaryDirectory() as folder:
        forward = forward_of(texts, Path(folder))
        found = cosines(forward, rows, profile, vectors)
    assert found == pytest.approx(naive(texts, rows, profile, vectors), abs=1.1e-12)
    assert not forward.blank.any()  # the next profile begins with zeros


@settings(max_examples=50)
@given(
    st.lists(text, min_size=1, max_size=8),
    st.lists(st.tuples(profiles, st.sets(st.integers(0, 7))), min_size=1, max_size=LANES),
    st.sampled_from(["tf", "tfidf"]),
)
def test_cosines_of_several_profiles_are_those_of_each_to_the_bit(
    texts: list[str], asked: list[tuple[dict[str, float], set[int]]], vectors: str
) -> None:
    """Each profile has its own documents; some have none, and some have others' documents too."""
    with TemporaryDirectory() as folder:
        forward = forward_of(texts, Path(folder))
        rows = [np.array([row for row in own if row < len(texts)], np.int64) for _, own in asked]
        targets = [
            forward.target(forward.columns(list(one)), np.array(list(one.values())), vectors)
            for one, _ in asked
        ]
        found = forward.cosines_with_each(rows, targets)
        expected = [*map(forward.cosines, rows, targets)]
    assert [one.tobytes() for one in found] == [one.tobytes() for one in expected]


def shares(
    forward: Forward, rows: Sequence[int], profile: Mapping[str, float], vectors: str
) -> list[dict[str, float]]:
    weights = np.array(list(profile.values()), dtype=np.float64)
    columns = forward.columns(list(profile))
    found = forward.contributions(
        np.array(rows, dtype=np.int64), forward.target(columns, weights, vectors)
    )
    return [dict(zip(profile, row, strict=True)) for row in found.tolist()]


def test_shares_of_nothing_are_nothing(tmp_path: Path) -> None:
    forward = forward_of(["a"], tmp_path)
    assert shares(forward, [0], {}, "tfidf") == [{}]
    assert shares(forward, [], {"a": 1.0}, "tfidf") == []
    assert shares(forward, [0], {"unknown": 4.0}, "tfidf") == [{"unknown": 0.0}]
    with pytest.raises(SearchError, match="rows must be from 0 to 0"):
        shares(forward, [1], {"a": 1.0}, "tf")


def test_shares_of_one_profile_leave_nothing_for_the_next(tmp_path: Path) -> None:
    forward = forward_of(["b a a", "a a b"], tmp_path)
    before = shares(forward, [0, 1], {"b": 2.0}, "tfidf")
    shares(forward, [0, 1], {"a": 1.0}, "tfidf")
    assert shares(forward, [0, 1], {"b": 2.0}, "tfidf") == before


def test_vectors_are_whole_and_in_the_order_of_the_sums(tmp_path: Path) -> None:
    forward = forward_of(["a a a b b b b", "c", "", "b"], tmp_path)
    # columns: b has 2 documents, a and c have 1
    found = forward.vectors(np.array([0, 2, 3]), "tf")
    assert found.terms == ["b", "a"]
    assert found.weights.tolist() == [1.0, 1.0]
    assert found.ends.tolist() == [2, 2, 3]
    assert sorted(zip(found.places[:2].tolist(), found.counts[:2].tolist(), strict=True)) == [
        (0, 4),
        (1, 3),
    ]
    assert (found.places[2], found.counts[2]) == (0, 1)
    assert found.norms.tolist() == [5.0, 0.0, 1.0]
    weighted = forward.vectors(np.array([3]))
    assert weighted.weights.tolist() == pytest.approx([math.log1p(4 / 2)])
    assert weighted.norms.tolist() == weighted.weights.tolist()
    assert forward.vectors(np.empty(0, dtype=np.int64)).terms == []


@given(st.lists(st.floats(1e-3, 1e3), max_size=30), st.randoms())
def test_a_profiles_length_does_not_depend_on_the_order_of_its_terms(
    weights: list[float], chance: Any
) -> None:
    length = length_of(np.array(weights))
    chance.shuffle(weights)
    assert length_of(np.array(weights)) == length
    assert length == pytest.approx(math.hypot(*weights), rel=1e-12)


def naive_shares(
    texts: Sequence[str], row: int, profile: Mapping[str, float], vectors: str
) -> dict[str, float]:
    """Return what each term gives: the cosine with that term alone, by the lengths of all."""
    length = math.hypot(*profile.values())
    return {
        term: naive(texts, [row], {term: weight}, vectors)[0] * weight / length
        for term, weight in profile.items()
    }


@settings(max_examples=50)
@given(
    st.lists(text, min_size=1, max_size=8), profiles, st.sampled_from(["tf", "tfidf"]), st.data()
)
def test_shares_equal_the_naive_twins_and_sum_to_the_cosine(
    texts: list[str], profile: dict[str, float], vectors: str, data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=10))
    with TemporaryDirectory() as folder:
        forward = forward_of(texts, Path(folder))
        found = shares(forward, rows, profile, vectors)
        whole = cosines(forward, rows, profile, vectors)
    for row, each, cosine in zip(rows, found, whole, strict=True):
        assert each == pytest.approx(naive_shares(texts, row, profile, vectors), abs=1e-12)
        assert sum(each.values()) == pytest.approx(cosine, abs=1e-9)


@settings(max_examples=50)
@given(st.lists(text, min_size=2, max_size=8), profiles, st.data())
def test_dropped_documents_leave_no_trace(
    texts: list[str], profile: dict[str, float], data: st.DataObject
) -> None:
    dropped = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=len(texts) - 1))
    left = [number for number in range(len(texts)) if number not in dropped]
    rows = range(len(left))
    with TemporaryDirectory() as folder:
        forward = forward_of(texts, Path(folder), dropped)
        assert forward.numbers.tolist() == left
        assert set(forward.terms) == {term for n in left for term in texts[n].split()}
        found = cosines(forward, rows, profile, "tfidf")
    kept = [texts[number] for number in left]
    assert found == pytest.approx(naive(kept, rows, profile, "tfidf"), abs=1.1e-12)


def test_frequent_terms_come_first_then_those_seen_first(tmp_path: Path) -> None:
    forward = forward_of(["z b", "b", "a z b"], tmp_path)
    assert forward.terms == ["b", "z", "a"]
    assert forward.documents == 3


def test_many_occurrences_are_counted_exactly(tmp_path: Path) -> None:
    forward = forward_of(["a " * 300 + "b " * 400, "a"], tmp_path)
    assert cosines(forward, [0], {"a": 1.0}, "tf") == [0.6]


@pytest.mark.parametrize("name", [*(f"{array}.npy" for array in ARRAYS), "terms.json"])
def test_a_missing_or_empty_file_is_refused(tmp_path: Path, name: str) -> None:
    forward_of(["a b"], tmp_path)
    for spoil in (lambda path: path.write_bytes(b""), Path.unlink):
        spoil(tmp_path / "forward" / name)
        with pytest.raises(SearchError, match="broken forward index"):
            Forward.open(tmp_path / "forward")
