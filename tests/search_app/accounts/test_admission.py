"""Who may ask a server as whom, and what is refused before anything is served."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from search_app.accounts.admission import access_of, is_loopback, refuse_private, token_fault
from search_app.errors import UsageError
from search_app.settings import Settings

LONG = "x" * 20


@pytest.mark.parametrize(
    ("chosen", "invented", "loopback", "access"),
    [
        ("", True, True, "demo"),
        ("", False, True, "plain"),
        ("", False, False, "plain"),
        ("demo", True, True, "demo"),
        *(("plain", invented, loopback, "plain") for invented in (0, 1) for loopback in (0, 1)),
        *(("private", invented, loopback, "private") for invented in (0, 1) for loopback in (0, 1)),
    ],
)
def test_the_mode_is_the_chosen_one_or_follows_from_who_the_people_are(
    chosen: str, invented: bool, loopback: bool, access: str
) -> None:
    assert access_of(Settings(access=chosen), invented=invented, loopback=loopback) == access


@pytest.mark.parametrize(
    ("chosen", "invented", "loopback", "said"),
    [
        ("demo", False, True, "mode demo shows invented people only, and w has none; serve with"),
        ("demo", False, False, "mode demo shows invented people only"),
        ("demo", True, False, "only this machine may reach it; serve with --host 127.0.0.1, or"),
        ("", True, False, "only this machine may reach it"),
    ],
)
def test_demo_of_real_people_or_for_strangers_is_refused_with_the_remedy(
    chosen: str, invented: bool, loopback: bool, said: str
) -> None:
    settings = Settings(workspace=Path("w"), access=chosen)
    with pytest.raises(UsageError, match=said) as refused:
        access_of(settings, invented=invented, loopback=loopback)
    assert "--mode private" in str(refused.value)


def test_private_mode_needs_a_token_and_says_how_to_make_one() -> None:
    refuse_private(Settings(admin_token=LONG))
    for token, fault in (("", "is not set"), (LONG[1:], "has 19 characters and needs at least 20")):
        said = f"mode private: VEILSEARCH_ADMIN_TOKEN {fault}; make one with: export "
        with pytest.raises(UsageError, match=re.escape(said)) as refused:
            refuse_private(Settings(admin_token=token))
        assert "python3 -c 'import secrets; print(secrets.token_urlsafe())'" in str(refused.value)
        assert not token or token not in str(refused.value)
    assert token_fault(LONG) == ""


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        *(("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("[::1]", True)),
        *(("localhost", True), ("LOCALHOST", True), ("0.0.0.0", False)),  # noqa: S104
        *(("::", False), ("192.0.2.7", False), ("search.example.org", False), ("", False)),
    ],
)
def test_loopback_is_known(host: str, loopback: bool) -> None:
    assert is_loopback(host) == loopback
