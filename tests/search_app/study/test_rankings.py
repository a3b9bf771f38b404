"""Rankings by condition for people of the workspace and for profiles that participants type."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from anonymizer.errors import BadInput
from anonymizer.model import Profiles
from index.model import Document
from search_app.errors import UsageError
from search_app.search.engine import Engine
from search_app.search.modes import Modes
from search_app.settings import Settings
from search_app.study.rankings import Rankings
from search_app.tasks.growth import Growth

from ..toy_index import Shelf, forward_of, released

TERMS = ["coffee", "compiler", "java"]
DOCUMENTS = [Document(f"d{at}", term, term) for at, term in enumerate(TERMS)]
ALL = ("none", "own", "group")
CHOICES = {"granularity": "user", "weights": "binary", "size": 2, "terms": "letters"}


@pytest.fixture
def rankings() -> Rankings:
    counts = np.array([[1, 0, 1], [0, 1, 1], [0, 0, 1]])
    people = Profiles.from_rows({"ada": {"compiler": 1.0}, "ben": {"coffee": 1.0}})
    rows = Profiles.from_rows({"g0001": {"compiler": 1.0}, "g0002": {"coffee": 1.0}})
    release = released(rows, {"ada": 0, "ben": 1}, "pooled", {"p": 0.5})
    modes = Modes(Engine(Shelf(DOCUMENTS), forward_of(counts, TERMS)), people, release)
    return Rankings(modes, Growth(CHOICES, Settings()), {"ada": "Ada"}, Settings())


def test_a_typed_profile_ranks_by_itself_and_by_the_closest_row(rankings: Rankings) -> None:
    own = rankings.of("java", ALL, "", {"compiler": 1.0})
    assert own["none"] == ("d0", "d1", "d2")
    assert own["own"][0] == own["group"][0] == "d1"
    assert rankings.of("java", ALL, "ada", {}) == own
    plain = rankings.of("java", ALL, "", {})  # nothing known: all are the plain order
    assert {*plain.values()} == {own["none"]}
    with pytest.raises(BadInput, match="no profile"):
        rankings.of("java", ALL, "nobody", {})


def test_people_who_search_at_once_do_not_get_each_other_s_order(rankings: Rankings) -> None:
    wanted = [("compiler", "d1"), ("coffee", "d0")] * 100

    def first(term: str) -> tuple[str, str]:
        made = rankings.of("java", ALL, "", {term: 1.0})
        return made["own"][0], made["group"][0]

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(first, [term for term, _ in wanted])] == [(d, d) for _, d in wanted]


def test_queries_become_a_profile_as_the_log_did(rankings: Rankings) -> None:
    made = rankings.of_queries(["Java java", "compiler", "java coffee"])
    assert made == {"java": 1.0, "compiler": 1.0}  # the most frequent two; ties: the first met
    assert rankings.of_queries([]) == {}


def test_documents_and_interests_that_are_not_there(rankings: Rankings) -> None:
    assert [one and one.id for one in rankings.documents(["d1", "gone", "d0"])] == [
        "d1",
        None,
        "d0",
    ]
    with pytest.raises(UsageError, match="1 of the interests are unknown"):
        rankings.of_interests(["astrology of the moon"])
    assert "coffee" in rankings.interests()
