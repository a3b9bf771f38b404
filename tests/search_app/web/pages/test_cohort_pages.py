"""Pages of a release of two cohorts, and of people who wait for a third one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anonymizer.measures.facts import facts
from anonymizer.methods import promise_of
from anonymizer.model import Profiles, Release
from anonymizer.storage.uniting import united
from search_app.search.modes import Modes
from search_app.web import Site, create_app

from ...single_rows import single_rows

BOTH, ONE = {"code": 1.0, "coffee": 1.0}, {"code": 1.0}
PEOPLE = {f"10{n:02}": BOTH if n % 2 else ONE for n in range(1, 12)}
COHORTS = (range(5), range(5, 10))  # the last of each is in no group of rows that hide; one waits
PAGES = (
    *("/about", "/groups", "/groups/groups.csv", "/api/v1/groups", "/compare?q=java&user=1007"),
    *(f"/me?user={user}" for user in ("1001", "1005", "1007", "1010", "1011")),
    *(f"/me/download?user={user}" for user in ("1001", "1007", "1011")),
    *(f"/?q=java&user={user}&mode=group" for user in PEOPLE),
    *(f"/api/v1/profile?user={user}" for user in PEOPLE),
)


def cohort(method: str, number: int) -> Release:
    users = [[*PEOPLE][at] for at in COHORTS[number]]
    profiles = Profiles.from_rows({user: PEOPLE[user] for user in users})
    if method == "km-anonymity":
        release = single_rows(profiles)
        names = tuple(f"g{at:04}" for at in range(1 + 5 * number, 6 + 5 * number))
        return replace(release, rows=replace(release.rows, users=names))
    hides = method == "pooled"
    row_of = np.array([0, 0, 1, 1, 2 if hides else 1])
    count = int(row_of.max()) + 1
    named = {f"g{at + 3 * number:04}": {"code": 1.0, "coffee": 0.5} for at in range(1, count + 1)}
    parameters = {"p": 0.5, "meet_paper": "false", "documents": 2, "steps": None}
    rows, promise = Profiles.from_rows(named), promise_of(method, parameters)
    release = Release(rows, profiles.users, row_of, method, parameters, promise=promise)
    return replace(release, facts=facts(profiles, release))


@pytest.mark.parametrize("method", ["pooled", "p-linkability", "km-anonymity"])
def test_all_pages_show_cohorts_as_one_release(site: Site, method: str) -> None:
    release = united([cohort(method, number) for number in (0, 1)])
    modes = Modes(site.modes.engine, Profiles.from_rows(PEOPLE), release)
    people = dict.fromkeys(PEOPLE, "somebody")
    site = replace(site, modes=modes, people=people, examples=(), named=frozenset(release.users))
    client = create_app(site).test_client()
    groups = [f"/groups/{name}" for name in release.rows.users[: release.groups]]
    means = [f"/groups/{name}" for name in release.rows.users[release.groups :]]
    assert len(means) == 2 * (method == "pooled")
    for path in (*PAGES, *groups):
        assert client.get(path).status_code == 200, path
    for path in means:
        assert client.get(path).status_code == 404, path
    assert client.get("/api/v1/groups").get_json()["groups"] == release.groups
    if method == "pooled":
        for user in ("1005", "1010"):
            page = client.get(f"/?q=java&user={user}&mode=group").get_data(as_text=True)
            assert "You get the average of the rows of all 4 people in groups" in page
