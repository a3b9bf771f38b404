"""The words and numbers of a person's own page."""

from __future__ import annotations

import pytest

from anonymizer.profiles.origins import TermOrigin
from search_app.disclosure.groups import Groups, chance, named
from search_app.disclosure.own_view import MemberShare, OwnView, ProfileTerm
from search_app.web.views.own_page import days_of, weight_text
from search_app.workspace.ledger import Noted

DAY = 86_400
MAY = 1_146_441_600  # 2006-05-01


@pytest.mark.parametrize(
    ("origin", "text"),
    [
        (None, ""),
        (TermOrigin(2, None, None), ""),
        (TermOrigin(1, MAY, MAY), "1 May 2006"),
        (TermOrigin(2, MAY, MAY + DAY - 1), "1 May 2006"),
        (TermOrigin(2, MAY, MAY + DAY), "1 to 2 May 2006"),
        (TermOrigin(9, MAY, MAY + 31 * DAY), "1 May to 1 June 2006"),
        (TermOrigin(2, MAY, MAY + 365 * DAY), "1 May 2006 to 1 May 2007"),
    ],
)
def test_the_days_of_an_origin(origin: TermOrigin | None, text: str) -> None:
    assert days_of(origin) == text


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        (1.0, "1"),
        (0.25, "0.25"),
        (1 / 3, "0.333"),
        (12.5, "12.5"),
        (2e-9, "2.00e-09"),
        (1e6, "1.00e+06"),
    ],
)
def test_a_weight_has_three_digits(weight: float, text: str) -> None:
    assert weight_text(weight) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (MemberShare(1, 4), "at best 1 time in 4"),
        (MemberShare(2, 4), "at best 1 time in 2"),
        (MemberShare(3, 4), "at best 3 times in 4"),
        (MemberShare(4, 4), "every time"),
        (MemberShare(0, 4), "never"),
    ],
)
def test_how_often_a_guess_is_right(share: MemberShare, text: str) -> None:
    assert chance(share) == text


def own(term: str, people: int = 2) -> ProfileTerm:
    return ProfileTerm(term, 1.0, None, None, 0, people)


def test_many_terms_are_named_in_part() -> None:
    assert named([own("tea")]) == "“tea”"
    assert named([own(str(at)) for at in range(10)]).endswith("“7” and 2 more")


def noted(event: str, sha256: str) -> Noted:
    return Noted(0, event, "p-linkability", {}, 4, 2, sha256)


@pytest.mark.parametrize(
    ("ledger", "value", "meaning"),
    [
        (None, "not known", "can’t be read"),
        ((), "not known", "No ledger"),
        ((noted("made", "a"),), "1 made", "Nothing was published. "),
        (
            (noted("made", "a"), noted("published", "a"), noted("published", "a")),
            "1 made",
            "Rows were published, in 1 file. ",  # the same one twice
        ),
        (
            tuple(noted(event, sha) for sha in "ab" for event in ("made", "published")),
            "2 made",
            "Rows were published, in 2 different files. ",
        ),
    ],
)
def test_the_releases_so_far(ledger: tuple[Noted, ...] | None, value: str, meaning: str) -> None:
    fact = Groups(None).own_facts(OwnView((own("tea"),), None), ledger)[-1]
    assert fact.value == value
    assert meaning in fact.meaning
