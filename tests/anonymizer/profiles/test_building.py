"""Profiles from a log, beside a naive twin: weights, sessions, held-out queries; and as JSON."""

from __future__ import annotations

import math
import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from anonymizer.errors import BadInput, BadParameter
from anonymizer.model import Profiles, QueryLog
from anonymizer.profiles import events as events_module
from anonymizer.profiles.building import (
    ProfileChoices,
    build_profiles,
    without_robots,
)
from anonymizer.profiles.origins import Origins, origins_path, read_origins, write_origins
from anonymizer.storage.profiles import read_profiles, write_profiles
from anonymizer.terms.analysis import WordAnalysis
from anonymizer.terms.counting import TermCounter

from .small_events import Event, log_of, split_by_time

HALF_LIFE = 30 * 86_400


def events_of(log: QueryLog) -> list[Event]:
    rows = zip(log.user.tolist(), log.time.tolist(), strict=True)
    return [(log.users[user], log.text(row), time) for row, (user, time) in enumerate(rows)]


def rows_of(profiles: Profiles) -> dict[str, dict[str, float]]:
    return {user: profiles.row(user) for user in profiles.users}


def build(events: Sequence[Event], **chosen: Any) -> dict[str, dict[str, float]]:
    return rows_of(build_profiles(log_of(events), str.split, ProfileChoices(**chosen))[0])


TWO_USERS = [("u", "java island java", 0), ("v", "java", 5), ("u", "java", HALF_LIFE)]


def test_a_very_old_query_still_weighs_something() -> None:
    centuries = 300 * 365 * 86_400
    assert build([("u", "a", 0), ("u", "b", centuries)], weights="recency")["u"]["a"] > 0


def test_a_log_of_more_events_than_32_bits_count_is_profiled_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = [*TWO_USERS, ("u", "lava", 1), ("v", "java pup", HALF_LIFE + 9)]
    choices: list[dict[str, Any]] = [
        {"weights": "recency"},
        {"granularity": "session"},
        {"test_share": 0.5},
    ]
    before = [build(log, **chosen) for chosen in choices]
    monkeypatch.setattr(events_module, "_SHORT", 1)
    assert [build(log, **chosen) for chosen in choices] == before


def test_of_many_equals_the_first_uttered_stay() -> None:
    terms = [chr(ord("z") - number) for number in range(26)]
    events = [("u", " ".join(terms), 0), *[("u", term, 1) for term in sorted(terms) * 40]]
    assert list(build(events, size=3)["u"]) == ["x", "y", "z"]


def test_users_stand_in_order_of_first_appearance_in_the_log() -> None:
    log = log_of([("w", "a b", 9), ("u", "a", 5), ("v", "a b", 1)])
    other_numbers = replace(log, users=("u", "v", "w"), user=np.array([2, 0, 1], dtype=np.int32))
    for same in (log, other_numbers):
        assert build_profiles(same, str.split)[0].users == ("w", "u", "v")
        assert build_profiles(same, str.split, ProfileChoices(users=2))[0].users == ("w", "u")
        assert build_profiles(same, str.split, ProfileChoices(size=2, users=2))[0].users == (
            "w",
            "v",
        )


def test_users_left_out_change_no_weight_of_the_others() -> None:
    alone = [("u", "a b", 0)]
    more = [*alone, ("v", "a", 1), ("w", "b c", HALF_LIFE)]
    for weights in ("tfidf", "recency"):
        assert build(more, users=1, weights=weights) == build(alone, weights=weights)
    assert build(more, users=1, weights="recency") == {"u": {"a": 1, "b": 1}}
    assert build([("x", "c", HALF_LIFE), *alone], size=2, weights="recency")["u"]["a"] == 1


def test_the_share_is_taken_exactly() -> None:
    events = [("u", str(number), number) for number in range(100)]
    assert len(split_by_time(events, 0.29)[1]) == 29  # 100 * 0.29 < 29 in floats


def test_held_out_events_are_of_users_with_a_profile() -> None:
    events = [("u", "a b", 0), ("u", "c", 1), ("v", "a", 0), ("v", "c", 1)]
    events += [("w", "", 0), ("w", "c", 1)]
    _, held = build_profiles(log_of(events), str.split, ProfileChoices(size=2, test_share=0.5))
    assert events_of(held) == [("u", "c", 1)]
    _, held = build_profiles(log_of(events), str.split, ProfileChoices(test_share=0.5))
    assert events_of(held) == [("u", "c", 1), ("v", "c", 1)]


def test_each_query_is_analysed_once_and_a_held_out_one_never() -> None:
    asked: list[str] = []
    told: list[int] = []

    def analyse(query: str) -> list[str]:
        asked.append(query)
        return query.split()

    events = [("u", "a", 0), ("v", "a", 0), ("u", "a", 1), ("u", "b", 2)]
    build_profiles(log_of(events), analyse, ProfileChoices(test_share=0.5), progress=told.append)
    assert (asked, told) == (["a"], [1])


def test_all_wrong_parameters_are_named_at_once() -> None:
    wrong: dict[str, Any] = {"size": 0, "users": -1, "weights": "idf", "granularity": "day"}
    with pytest.raises(BadParameter) as refusal:
        build_profiles(log_of(TWO_USERS), str.split, ProfileChoices(**wrong, gap=-1, test_share=1))
    assert str(refusal.value).split("; ") == [
        "size=0 must be at least 1",
        "users=-1 must be at least 1",
        "weights=idf must be one of binary, tf, tfidf, recency",
        "granularity=day must be one of user, session",
        "gap=-1 must be at least 0 seconds",
        "test_share=1 must be at least 0 and below 1",
    ]


@pytest.mark.parametrize("share", [-0.1, 1.0, math.nan])
def test_a_share_outside_its_range_is_refused(share: float) -> None:
    with pytest.raises(BadParameter, match="must be at least 0 and below 1"):
        ProfileChoices(test_share=share).check()


def test_more_users_than_there_are_is_refused() -> None:
    with pytest.raises(
        BadParameter, match="users=2 must be at most 1: no more profiles have 2 or more"
    ):
        build(TWO_USERS, size=2, users=2)
    with pytest.raises(BadParameter, match="size=3 must be at most 2: no one has more terms"):
        build(TWO_USERS, size=3)


@pytest.mark.parametrize("events", [[], [("u", "", 0)]])
def test_a_log_without_terms_is_refused(events: list[Event]) -> None:
    with pytest.raises(BadInput, match="no query of the log holds a term"):
        build(events)


# -- files -----------------------------------------------------------------------------------------

TWO = {"u1": {"kitten": 1.0, "ärger": 0.1}, "u2": {"pup": 2.5}}


def refused(path: Path) -> str:
    with pytest.raises(BadInput) as refusal:
        read_profiles(path)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def test_jsonl_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    write_profiles(Profiles.from_rows(TWO), path)
    assert path.read_text(encoding="utf-8") == (
        '{"user": "u1", "terms": {"kitten": 1.0, "ärger": 0.1}}\n'
        '{"user": "u2", "terms": {"pup": 2.5}}\n'
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_jsonl_of_others_is_read(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    lines = (
        '\ufeff{"terms":{"b":1,"a":2e0},"user":"u"}\r\n',
        '{"user":"\\ud83d\\ude00","terms":{"a":3}}',
    )
    path.write_text("".join(lines), encoding="utf-8", newline="")
    profiles = read_profiles(path)
    assert rows_of(profiles) == {"u": {"a": 2, "b": 1}, "😀": {"a": 3}}
    assert profiles.terms == ("a", "b")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"user": "v", "terms": {"a": NaN}}', "NaN is no number"),
        ('{"user": "v", "terms": {"a": Infinity}}', "Infinity is no number"),
        ('{"user": "v", "terms": {"a": 1e999}}', "a weight is not above 0 and finite"),
        ('{"user": "v", "terms": {"a": 1%s}}' % ("0" * 400), "a weight is not above 0 and finite"),
        ('{"user": "v", "terms": {"a": 1%s}}' % ("0" * 5000), "Exceeds the limit"),
        ('{"user": "v", "terms": {"a": -1}}', "a weight is not above 0 and finite"),
        ('{"user": "v", "terms": {"a": 0.0}}', "a weight is not above 0 and finite"),
        ('{"user": "v", "terms": {"a": true}}', "a weight is no number"),
        ('{"user": "v", "terms": {"a": "1"}}', "a weight is no number"),
        ('{"user": "v", "terms": {"": 1}}', "a term is empty"),
        ('{"user": "v", "terms": {}}', "there is no term"),
        ('{"user": "v", "terms": ["a"]}', "terms must be of type dict"),
        ('{"user": 5, "terms": {"a": 1}}', "user must be of type str"),
        ('{"user": "", "terms": {"a": 1}}', "the user is empty"),
        ('{"user": "u1", "terms": {"a": 1}}', "the user occurs twice"),
        ('{"user": "v", "user": "w", "terms": {"a": 1}}', "a name occurs twice"),
        ('{"user": "v", "terms": {"a": 1, "a": 2}}', "a name occurs twice"),
        ('{"user": "v"}', "the names are not exactly user, terms"),
        ('{"user": "v", "terms": {"a": 1}, "age": 3}', "the names are not exactly user, terms"),
        ('{"user": "\\ud800", "terms": {"a": 1}}', "'utf-8' codec can't encode"),
        ('{"user": "v", "terms": {"a\\uDFFF": 1}}', "'utf-8' codec can't encode"),
        ('["v"]', "this is no JSON object"),
        ("", "Expecting value"),
        ('{"user": "v", "terms": {"a": 1}} x', "Extra data"),
        ("[" * 100_000, "maximum recursion depth"),
    ],
)
def test_a_broken_line_is_refused_with_its_number(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"user": "u1", "terms": {"a": 1}}\n' + line + "\n", encoding="utf-8")
    said = refused(path)
    assert said.startswith(f"{path}, line 2: {why}")
    assert said.endswith('; each line must look like {"user": "u1", "terms": {"kitten": 1.0}}')


def test_a_file_without_a_line_or_not_of_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.touch()
    assert refused(path).startswith(f"{path}: there is no line")
    path.write_bytes(b'{"user": "\xff", "terms": {"a": 1}}')
    assert refused(path).startswith(f"{path}, line 1: 'utf-8' codec can't")


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    for act in (lambda p: write_profiles(Profiles.from_rows(TWO), p), read_profiles):
        with pytest.raises(BadParameter, match=r"p\.csv: .* must end in \.jsonl or \.npz"):
            act(tmp_path / "p.csv")


def test_half_a_character_is_not_written(tmp_path: Path) -> None:
    half = Profiles.from_rows({"u\ud800": {"a": 1.0}})
    for name in ("p.jsonl", "p.npz"):
        with pytest.raises(BadInput, match="can't be written"):
            write_profiles(half, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_every_flipped_byte_and_every_cut_of_an_npz_is_noticed(tmp_path: Path) -> None:
    made: list[Origins] = []
    profiles, _ = build_profiles(log_of(TWO_USERS), str.split, on_origins=made.append)
    path = tmp_path / "p.npz"
    write_profiles(profiles, path)
    write_origins(made[0], path, "abc")

    def origins() -> dict[str, Any]:
        read = read_origins(path, "abc")
        assert read is not None
        return {user: read.of(user) for user in "uv"}

    for file, read, told in (
        (path, lambda: rows_of(read_profiles(path)), "profiles; make it again"),
        (origins_path(path), origins, "origins; delete it, or make the profiles again"),
    ):
        good, whole, refused = file.read_bytes(), read(), 0
        flipped = [good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1 :] for at in range(len(good))]
        for content in [*flipped, *(good[:at] for at in range(0, len(good), 7))]:
            file.write_bytes(content)
            try:
                assert read() == whole  # a byte without meaning
            except BadInput as error:
                refused += str(error) == f"{file}: damaged, or no file of {told}"
        assert refused > len(good) / 2


@pytest.mark.parametrize(
    ("users", "terms"),
    [([1, 2], ["a", "b"]), (["", "u"], ["a", "b"]), (["u", "v"], ["", "b"]), ([], [])],
)
def test_an_npz_is_refused_where_jsonl_is(
    tmp_path: Path, users: list[Any], terms: list[str]
) -> None:
    weights = csr_matrix(np.eye(len(users)))
    write_profiles(Profiles(tuple(users), tuple(terms), weights), tmp_path / "p.npz")
    told = refused(tmp_path / "p.npz")
    assert told == f"{tmp_path / 'p.npz'}: damaged, or no file of profiles; make it again"
    write_profiles(Profiles(tuple(users), tuple(terms), weights), tmp_path / "p.jsonl")
    assert refused(tmp_path / "p.jsonl").endswith('"terms": {"kitten": 1.0}}')


def test_profiles_under_way_are_not_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, profiles = tmp_path / "p.npz", Profiles.from_rows(TWO)

    def sync(_: object) -> None:
        monkeypatch.undo()
        write_profiles(Profiles.from_rows({"other": {"a": 1.0}}), path)

    monkeypatch.setattr("anonymizer.storage.files.sync", sync)
    write_profiles(profiles, path)
    assert rows_of(read_profiles(path)) == TWO
    assert list(tmp_path.iterdir()) == [path]


# -- properties ------------------------------------------------------------------------------------

LOGS = st.lists(
    st.tuples(
        st.sampled_from("uvw"),
        st.lists(st.sampled_from("abcd"), max_size=3).map(" ".join),
        st.integers(0, 40) | st.integers(0, 4).map(lambda months: months * HALF_LIFE),
    ),
    max_size=25,
)
SHARES = st.sampled_from([0.0, 0.2, 0.5, 0.9])


@given(LOGS, SHARES)
def test_a_query_that_built_a_profile_is_never_held_out(events: list[Event], share: float) -> None:
    profile, test = split_by_time(events, share)
    assert Counter(profile) + Counter(test) == Counter(events)
    kept, held = ({(user, query) for user, query, _ in part} for part in (profile, test))
    assert not kept & held
    for user in {user for user, _ in kept | held}:
        late = [query for name, query in held if name == user]
        early = [query for name, query in kept if name == user]
        assert len(late) == int((len(late) + len(early)) * share + 1e-9)
        first = {q: min(t for u, p, t in events if (u, p) == (user, q)) for q in late + early}
        assert not late or max(first[q] for q in early) <= min(first[q] for q in late)


GAP = 10


def said(
    events: Sequence[Event], kept: set[tuple[str, str]], granularity: str
) -> tuple[dict[str, Any], dict[str, int]]:
    """Return each owner's (term, time) pairs by time, from the queries kept, and its last time."""
    owners: dict[int, str] = {}
    for user in {user for user, _, _ in events}:
        own = sorted((time, at) for at, (name, _, time) in enumerate(events) if name == user)
        number = 0
        for place, (time, at) in enumerate(own):
            number += place == 0 or time > own[place - 1][0] + GAP
            owners[at] = user if granularity == "user" else f"{user}#{number}"
    pairs: dict[str, Any] = {owners[at]: [] for at in range(len(events))}
    last: dict[str, int] = {}
    for at, (user, query, time) in sorted(enumerate(events), key=lambda each: each[1][2]):
        if (user, query) in kept:
            pairs[owners[at]] += [(term, time) for term in query.split()]
            last[owners[at]] = time
    return pairs, last


def twin(
    pairs: dict[str, Any], last: dict[str, int], size: int | None, weights: str
) -> dict[str, dict[str, float]]:
    """Weigh each owner's terms the slow way."""
    counts = {owner: Counter(term for term, _ in own) for owner, own in pairs.items()}
    top = {
        owner: [term for term, _ in count.most_common(size)]  # equals: the first met first
        for owner, count in counts.items()
        if len(count) >= (size or 1)
    }

    def weight(owner: str, term: str) -> float:
        having = sum(term in terms for terms in top.values())
        latest = max(last[name] for name in top)
        ages = [latest - time for own, time in pairs[owner] if own == term]
        by_name = {
            "binary": 1.0,
            "tf": float(counts[owner][term]),
            "tfidf": counts[owner][term] * math.log(1 + len(top) / having),
            "recency": math.fsum(0.5 ** (age / HALF_LIFE) for age in ages),
        }
        return by_name[weights]

    return {owner: {term: weight(owner, term) for term in terms} for owner, terms in top.items()}


@given(
    LOGS.filter(bool),
    SHARES,
    st.sampled_from([None, 1, 2, 3]),
    st.sampled_from(["binary", "tf", "tfidf", "recency"]),
    st.sampled_from(["user", "session"]),
)
def test_profiles_equal_their_naive_twin(
    events: list[Event], share: float, size: int | None, weights: str, granularity: str
) -> None:
    used, _ = split_by_time(events, share)
    pairs, last = said(events, {(user, query) for user, query, _ in used}, granularity)
    expected = twin(pairs, last, size, weights)
    chosen = {"size": size, "weights": weights, "granularity": granularity, "test_share": share}
    if not expected:
        with pytest.raises((BadInput, BadParameter)):
            build(events, gap=GAP, **chosen)
        return
    made = build(events, gap=GAP, **chosen)
    assert list(made) == list(expected)
    for owner, row in expected.items():
        assert made[owner] == pytest.approx(row, rel=1e-12)


@given(
    LOGS,
    SHARES,
    st.sampled_from([None, 1, 2]),
    st.sampled_from(["binary", "tf", "tfidf", "recency"]),
    st.sampled_from(["user", "session"]),
)
def test_counting_compiled_and_one_by_one_make_the_same_profiles(
    events: list[Event], share: float, size: int | None, weights: str, granularity: str
) -> None:
    chosen: dict[str, Any] = {"size": size, "weights": weights, "granularity": granularity}
    made = []
    for words in (WordAnalysis(digits=True), WordAnalysis()):
        for analyse in (words.terms, TermCounter(words)):
            try:
                built, held = build_profiles(
                    log_of(events), analyse, ProfileChoices(**chosen, gap=GAP, test_share=share)
                )
                made.append((built.users, rows_of(built), events_of(held)))
            except (BadInput, BadParameter) as refusal:
                made.append(((), {}, [("", str(refusal), 0)]))
    assert made[0] == made[1]
    assert made[2] == made[3]


def test_robots_are_users_with_a_long_session() -> None:
    robot = [("r", "a", n) for n in range(4)]
    person = [("p", "a", 20 * n) for n in range(4)]
    busy = [("b", "a", 0), ("b", "b", 1), ("b", "c", 2)]
    log = log_of([*robot, *person, *busy])
    kept, dropped = without_robots(log, robots=3, gap=10)
    assert (events_of(kept), dropped) == ([*person, *busy], 1)
    assert (len(without_robots(log, robots=3, gap=20)[0]), without_robots(log)[1]) == (3, 0)
    assert without_robots(log_of([]))[1] == 0
    with pytest.raises(BadParameter, match="robots=0 must be at least 1"):
        without_robots(log, robots=0)
