"""Tokens of scripts: whose they are, and what ends them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from search_app.accounts import codes, store
from search_app.accounts.store import MOST_TOKENS, PeopleStore

from . import test_store

NOW = 1_800_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.sqlite"


@pytest.fixture
def people(path: Path) -> PeopleStore:
    """Return a store in which u1 and u2 have codes."""
    made = PeopleStore(path, clock=lambda: NOW)
    made.new_codes(["u1", "u2"])
    return made


def token_of(people: PeopleStore, user: str, name: str = "script") -> str:
    token = people.new_token(user, name)
    assert token is not None
    return token


def test_a_token_is_its_person_s_until_it_is_revoked(people: PeopleStore, path: Path) -> None:
    one, two, other = (token_of(people, *whose) for whose in (("u1", "a"), ("u1", "b"), ("u2",)))
    assert [people.holder_of(token) for token in (one, two, other)] == ["u1", "u1", "u2"]
    listed = people.tokens("u1")
    assert sorted((f"vs-{token.public}", token.name, token.made) for token in listed) == sorted(
        [(one[:8], "a", NOW), (two[:8], "b", NOW)]
    )
    assert people.revoke_tokens("u2", one[3:8]) == 0  # another's
    assert people.revoke_tokens("u1", one[3:8]) == 1
    with closing(PeopleStore(path)) as again:
        assert [again.holder_of(token) for token in (one, two, other)] == [None, "u1", "u2"]
        assert again.check() == 2


ENDS: dict[str, Callable[[PeopleStore], object]] = {
    "all tokens revoked": lambda people: people.revoke_tokens("u1"),
    "the code revoked": lambda people: people.revoke("u1"),
    "another code": lambda people: people.new_code("u1"),
    "forgotten": lambda people: people.forget("u1"),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_tokens_end_with_what_they_hang_on(
    people: PeopleStore, end: Callable[[PeopleStore], object]
) -> None:
    tokens, stays = [token_of(people, "u1"), token_of(people, "u1")], token_of(people, "u2")
    end(people)
    assert [people.holder_of(token) for token in tokens] == [None, None]
    assert people.tokens("u1") == []
    assert people.holder_of(stays) == "u2"


def test_codes_and_tokens_are_no_doors_for_each_other(people: PeopleStore) -> None:
    code, token = people.new_code("u1"), token_of(people, "u1")
    assert people.holder_of(code) is people.holder_of(f"vs-{code}") is None
    assert people.sign_in(token, NOW) is people.sign_in(token[3:], NOW) is None
    session = people.sign_in(code, NOW) or ""
    assert people.holder_of(session) is people.visitor_of(token, NOW) is None


def test_a_token_is_read_as_a_code_is_and_each_sign_counts(people: PeopleStore) -> None:
    token = token_of(people, "u1")
    for form in (token.lower(), token.upper(), f" {token}\n", token.replace("-", "", 5)):
        assert people.holder_of(form) == ("u1" if form[2:3] == "-" or form[0] == " " else None)
    for at in range(3, len(token)):
        other = "0" if token[at] != "0" else "2"
        if token[at] != "-":
            assert people.holder_of(f"{token[:at]}{other}{token[at + 1 :]}") is None
    for text in ("", "vs-", "x" * 10_000, "vs-" + "0" * 25, "é" * 28, "\udcff" * 28):
        assert people.holder_of(text) is None


def test_nothing_of_a_token_s_secret_stands_in_the_file(people: PeopleStore, path: Path) -> None:
    token = token_of(people, "u1")
    kept = test_store.bytes_beside(path)
    assert not [part for part in token.split("-")[2:] if part.encode() in kept]


def test_who_has_no_code_gets_no_token_and_nobody_gets_many(people: PeopleStore) -> None:
    assert people.new_token("stranger", "script") is None
    made = [people.new_token("u1", str(number)) for number in range(MOST_TOKENS + 1)]
    assert [token is None for token in made] == [False] * MOST_TOKENS + [True]
    token_of(people, "u2")


def test_two_tokens_never_share_their_public_part(
    people: PeopleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = iter(["AAAAA", "AAAAA", "BBBBB"])
    monkeypatch.setattr(store, "make_code", lambda: codes.Code(next(parts), "0" * 20))
    assert [people.holder_of(token_of(people, user)) for user in ("u1", "u2")] == ["u1", "u2"]
