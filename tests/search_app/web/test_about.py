"""The page of the promise says what is measured, not more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from search_app.web import Site, create_app


def test_on_average_is_told_as_what_the_method_promises(client: FlaskClient, read: Any) -> None:
    text = read(client.get("/about").text).text
    assert (
        "The mean size of all profiles, divided by how many different terms a group has, "
        "is at most p ." in text
    )
    assert "that share may be more than p (measured: up to 0.75 in a group)." in text
    assert "at most p of its members have a term" not in text.partition("For every term")[0]
    assert "Where a group is one person, this row is that person’s own profile" in text


@pytest.mark.parametrize("facts", [{}, {"share_linkability": None}])
def test_what_was_not_measured_is_not_told(site: Site, read: Any, facts: Any) -> None:
    page = create_app(replace(site, facts=facts)).test_client().get("/about")
    assert page.status_code == 200
    assert "(measured" not in read(page.text).text
