"""In group mode two members of one group are one to the engine: every argument it gets is equal."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from anonymizer.model import Profiles
from index.forward.reading import Forward
from index.model import Index
from search_app.search.engine import Engine
from search_app.search.evidence import EvidenceRule, RowPopulation
from search_app.search.modes import Modes
from search_app.search.request import RankingRule
from search_app.web import Site, create_app

from ..conftest import ToyForward, ToyIndex

Calls = list[tuple[str, bytes]]


class Overheard:
    """Stands before something, passes every call on, and keeps all it was called with."""

    def __init__(self, real: object, calls: Calls):
        self._real = real
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._real, name)
        if not callable(method):
            return method

        def overhear(*arguments: object, **named: object) -> Any:
            self._calls.append((name, pickle.dumps((arguments, sorted(named.items())))))
            return method(*arguments, **named)

        return overhear


def heard(modes: Modes, users: Sequence[str], mode: str) -> list[tuple[Calls, Any]]:
    """Answer one query for each user; return what engine and index were told, and the answer."""
    told = []
    for user in users:
        calls: Calls = []
        lucene = Overheard(ToyIndex(), calls)
        forward = Overheard(ToyForward(), calls)
        engine = Overheard(Engine(cast(Index, lucene), cast(Forward, forward)), calls)
        served = Modes(cast(Engine, engine), modes.profiles, modes.release)
        (answer,) = served.answers("java", (mode,), user, pool=40)
        told.append((calls, answer))
    return told


def without_profiles(modes: Modes) -> Modes:
    return Modes(modes.engine, None, modes.release)


def test_two_members_send_the_same_bytes_and_get_the_same_results(modes: Modes) -> None:
    (mine, my_answer), (theirs, their_answer) = heard(
        without_profiles(modes), ("1001", "1002"), "group"
    )
    assert mine == theirs
    assert [name for name, _ in mine] == ["pool", "pool", "rank", "columns", "target", "cosines"]
    assert my_answer.request.as_bytes() == their_answer.request.as_bytes()
    assert my_answer.ranking.rows.tolist() == their_answer.ranking.rows.tolist()
    assert my_answer.ranking.scores.tobytes() == their_answer.ranking.scores.tobytes()
    assert my_answer.ranking.plain_ranks.tolist() == their_answer.ranking.plain_ranks.tolist()


@pytest.mark.parametrize("published", [True, False])
def test_by_evidence_standing_and_prior_come_of_published_rows_or_the_corpus(
    modes: Modes, published: bool
) -> None:
    """The engine is handed the published rows once; else it makes all of the corpus."""
    assert modes.release is not None
    rows, people = modes.release.rows, modes.release.grouping.sizes
    both = []
    for user in ("1001", "1002"):
        calls: Calls = []
        lucene = Overheard(ToyIndex(), calls)
        engine = Overheard(Engine(cast(Index, lucene), ToyForward()), calls)
        served = Modes(cast(Engine, engine), None, modes.release, populations=["group"])
        served.withheld = lambda: not published
        if published:
            served.engine.prepare("group", RowPopulation(rows, people))
        (answer,) = served.answers("java", ("group",), user, pool=40, rule=RankingRule("evidence"))
        both.append((calls, answer))
    (mine, my_answer), (theirs, their_answer) = both
    assert mine == theirs
    assert my_answer.request.as_bytes() == their_answer.request.as_bytes()
    assert my_answer.request.among == ("group" if published else "")
    assert my_answer.ranking.scores.tobytes() == their_answer.ranking.scores.tobytes()
    assert my_answer.standing == their_answer.standing is not None
    names = [name for name, _ in mine]
    assert names == [*(["prepare"] if published else []), "pool", "pool", "rank"]
    handed = [call for name, call in mine if name == "prepare"]
    released = pickle.dumps((("group", RowPopulation(rows, people)), []))
    assert handed == [released] * published
    # Another group's row decides nothing where rows are withheld.
    if not published:
        other = replace(modes.release, rows=Profiles.from_rows(
            {"g0001": rows.at(0), "g0002": {"coffee": 0.3}}))  # fmt: skip
        again = Modes(modes.engine, None, other, populations=["group"])
        again.withheld = lambda: True
        (same,) = again.answers("java", ("group",), "1001", pool=40, rule=RankingRule("evidence"))
        assert same.ranking.scores.tobytes() == my_answer.ranking.scores.tobytes()


@pytest.mark.parametrize("published", [True, False])
def test_a_settled_server_prepares_no_row_in_a_search(
    modes: Modes, published: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert modes.release is not None
    rule, prepared, real = RankingRule("evidence"), [], EvidenceRule._direction
    engine = Engine(cast(Index, ToyIndex()), ToyForward())
    engine.prepare("group", RowPopulation(modes.release.rows, modes.release.grouping.sizes))
    served = Modes(engine, None, modes.release, populations=["group"])
    served.withheld = lambda: not published
    monkeypatch.setattr(
        EvidenceRule,
        "_direction",
        lambda made, interest: prepared.append(interest) or real(made, interest),
    )
    served.settle()
    assert len(prepared) == modes.release.groups
    first = served.answer("java", "group", "1001", pool=40, rule=rule).ranking
    assert len(prepared) == modes.release.groups
    served.clear()
    assert served.answer("java", "group", "1001", pool=40, rule=rule).ranking.rows.tolist() == (
        first.rows.tolist()
    )
    assert len(prepared) == modes.release.groups + 1


def test_no_argument_holds_the_person(modes: Modes) -> None:
    ((calls, _),) = heard(without_profiles(modes), ("1001",), "group")
    assert calls
    assert not [name for name, told in calls if b"1001" in told]


def test_the_judge_alone_is_handed_the_own_profile(modes: Modes) -> None:
    """Average precision needs it; all else that the engine is told is equal to the byte."""
    (mine, _), (theirs, _) = heard(modes, ("1001", "1002"), "group")
    assert mine != theirs
    assert without_the_judge(mine) == without_the_judge(theirs)


def without_the_judge(calls: Calls) -> Calls:
    """Leave out the order by the own profile, and what the index is asked for it."""
    names = [name for name, _ in calls]
    at = names.index("by_profile")
    asked = ["by_profile", "columns", "target", "cosines"]
    assert names[at : at + len(asked)] == asked
    assert names.count("by_profile") == 1
    return calls[:at] + calls[at + len(asked) :]


def test_another_group_and_the_own_mode_do_differ(modes: Modes) -> None:
    """The test above can fail."""
    (mine, _), (alone, _) = heard(without_profiles(modes), ("1001", "1003"), "group")
    assert mine != alone
    (mine, _), (theirs, _) = heard(modes, ("1001", "1002"), "own")
    assert mine != theirs


@pytest.mark.parametrize("path", ["/", "/compare"])
def test_the_pages_send_the_same_too(site: Site, path: str) -> None:
    client = create_app(site).test_client()
    for user in ("1001", "1002"):
        client.get(f"{path}?q=java+rare&user={user}")
    mine, theirs = (site.transcripts.of(user) for user in ("1001", "1002"))
    assert mine["group"].as_bytes() == theirs["group"].as_bytes()
    assert mine["none"].as_bytes() == theirs["none"].as_bytes()
    assert mine["own"].as_bytes() != theirs["own"].as_bytes()
    assert replace(mine["group"], row=None) == theirs["none"] == mine["none"]


@pytest.mark.parametrize("more", ["", "&row=g0001&keep=7"])
def test_a_device_has_the_engine_told_the_same_whoever_asks(private: Site, more: str) -> None:
    """Nobody, and two people who have signed in and differ in everything."""
    told, answers = [], []
    for user in ("", "1001", "1003"):
        calls: Calls = []
        engine = cast(Engine, Overheard(private.modes.engine, calls))
        heard = Modes(engine, private.modes.profiles, private.modes.release)
        opened = replace(private.settings, device=True)
        asked = replace(
            private, modes=heard, clock=lambda: 1e9, settings=opened,
            published=lambda: True,
        )  # fmt: skip
        client = create_app(asked).test_client()
        if user:
            client.post("/sign-in", data={"code": private.store.new_code(user)})
        answers.append(client.get(f"/api/v1/candidates?q=java{more}").data)
        told.append(calls)
    assert told[0] == told[1] == told[2] != []
    assert answers[0] == answers[1] == answers[2]
    names = [name for name, _ in told[0]]
    assert names == ["pool", "plain", *(["rank"] if more else []), "vectors", "openings"]
