"""Pages over releases to compare with: what they say is what these methods promise, or nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient
from scipy.sparse import csr_matrix

from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.similarity.documents import Documents
from search_app.search.modes import Modes
from search_app.web import Site, create_app

from ..conftest import seen

SAMPLE = Documents(csr_matrix(np.eye(3)[[0, 1, 2, 0]]), ("code", "coffee", "music"))
GIVEN: dict[str, dict[str, Any]] = {
    "dp-rows": {"epsilon": 100.0, "rows": 2, "terms": 2},
    "topic-rows": {"rows": 2},
    "random-k": {"k": 2},
    "global-row": {},
    "own-rows": {},
}
PAGES = (
    *("/about", "/groups", "/groups/groups.csv", "/groups/g0001", "/groups/g0001/terms.csv"),
    *("/groups/sizes.csv", "/api/v1/groups", "/api/v1/groups/g0001", "/api/v1/profile?user=1001"),
    *("/me?user=1001", "/?q=java&user=1001&mode=group", "/compare?q=java&user=1001"),
)


def served(site: Site, method: str) -> FlaskClient:
    profiles = site.modes.profiles
    assert profiles is not None
    inputs = Inputs(profiles, sample=SAMPLE, key=b"k" * 32)
    release = anonymize(method, inputs, GIVEN[method])
    release = replace(release, facts=facts(profiles, release))
    modes = Modes(site.modes.engine, profiles, release)
    return create_app(replace(site, modes=modes)).test_client()


@pytest.mark.parametrize("method", GIVEN)
def test_every_page_is_answered(site: Site, method: str) -> None:
    client = served(site, method)
    for path in PAGES:
        usual = path not in ("/groups/sizes.csv",) or method != "own-rows"
        assert client.get(path).status_code == (200 if usual else 404), path


def test_noisy_rows_promise_differential_privacy_and_measure_nobody(site: Site) -> None:
    client = served(site, "dp-rows")
    about = seen(client, "/about").text
    assert "epsilon = 100.0, delta = 1e-06" in about
    assert "Differential privacy. The promise is" not in about
    for path in ("/me?user=1001", "/groups/g0001"):
        text = seen(client, path).text
        assert "Differential privacy epsilon 100.0" in text
        assert "Linked to an interest" not in text
    assert "Counts in these rows have noise" in seen(client, "/groups").text


def test_whole_profiles_hide_nothing_and_say_so(site: Site) -> None:
    client = served(site, "own-rows")
    assert "It is there to compare other methods with." in seen(client, "/about").text
    assert (
        "the whole own profile, which hides nothing"
        in seen(client, "/compare?q=java&user=1001").text
    )
    for path in PAGES:
        assert "deletion" not in client.get(path).text, path


def test_no_page_says_that_random_groups_keep_a_promise(site: Site) -> None:
    about = seen(served(site, "random-k"), "/about").text
    assert "promises and keeps this" not in about
    assert "Not promised here, only measured" in about
