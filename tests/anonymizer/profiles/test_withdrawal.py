"""Profiles and origins without some people or terms, beside the obvious way with dictionaries."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model import Profiles, QueryLog
from anonymizer.profiles.building import ProfileChoices, build_profiles
from anonymizer.profiles.origins import Origins
from anonymizer.profiles.withdrawal import origins_without, profiles_without

USERS, TERMS = "uvwx", "abcd"


def rows_of(profiles: Profiles) -> dict[str, dict[str, float]]:
    return {user: profiles.row(user) for user in profiles.users}


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(USERS),
        st.lists(st.sampled_from(TERMS), min_size=1, max_size=3).map(" ".join),
        st.integers(1, 50),
    ),
    min_size=1,
    max_size=20,
)


@given(
    EVENTS,
    st.sets(st.sampled_from(USERS)),
    st.none() | st.sets(st.sampled_from(TERMS)),
)
def test_they_equal_their_naive_twin(
    events: list[tuple[str, str, int]], owners: set[str], terms: set[str] | None
) -> None:
    log, made = QueryLog.from_events([(*event, 0) for event in events]), list[Origins]()
    profiles, _ = build_profiles(
        log, str.split, ProfileChoices(weights="tf"), on_origins=made.append
    )
    (origins,) = made

    def stays(user: str, row: Mapping[str, object]) -> dict[str, object]:
        gone = user in owners
        return {t: v for t, v in row.items() if not gone or (terms is not None and t not in terms)}

    rows = {user: stays(user, profiles.row(user)) for user in profiles.users}
    dated = {user: stays(user, origins.of(user)) for user in profiles.users}
    left, since = profiles_without(profiles, owners, terms), origins_without(origins, owners, terms)
    assert (rows_of(left) if left else {}) == {user: row for user, row in rows.items() if row}
    assert (since is None) == (left is None)
    if left is not None and since is not None:
        assert since.users == left.users
        assert since.terms == left.terms == tuple(sorted(set().union(*rows.values())))
        assert {user: since.of(user) for user in left.users} == {
            u: r for u, r in dated.items() if r
        }
