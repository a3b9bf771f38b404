"""Two thousand generated requests, right and wrong ones: no 5xx, and every answer as described."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi import checks

from search_app.web import Site, create_app

from ..conftest import NOTHING_FORGOTTEN, Forgetting

CASES = 1000  # at least, in demo mode and in private mode each
EACH = 30  # of an operation, right ones and wrong ones each
CHECKS = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]
REFUSALS = ["400", "401", "403", "404", "405", "413", "415", "429"]  # of what is wrong
CONFIG = schemathesis.Config.from_dict(
    {"checks": {"negative_data_rejection": {"expected-statuses": REFUSALS}}}
)
PEOPLE = ["", "1001", "1003", "1004"]
UNCOMPRESSED = {"Accept-Encoding": "identity"}  # without a network nothing undoes it
GENERATED = settings(
    max_examples=EACH,
    derandomize=True,  # the same requests in every run
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(params=["demo", "private"])
def tried(request: Any, site: Site, private: Site) -> Site:
    chosen = {"demo": site, "private": private}[request.param]
    unlimited = replace(chosen.settings, rate=0)
    nothing = NOTHING_FORGOTTEN
    return replace(chosen, forget=Forgetting(), leave=lambda _user: nothing, settings=unlimited)


def signed_in(site: Site) -> Callable[[], dict[str, str]]:
    """Return what hands out the cookie of 1001, who signs in again when forgotten."""
    tokens = [""]

    def cookies() -> dict[str, str]:
        if site.access != "private":
            return {}
        if site.store.visitor_of(tokens[-1], site.clock()) is None:
            code = site.store.new_code("1001")
            tokens.append(site.store.sign_in(code, site.clock()) or "")
        return {"veilsearch": tokens[-1]}

    return cookies


def test_two_thousand_requests(tried: Site) -> None:
    app = create_app(tried)
    document = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", app, config=CONFIG)
    cookies, statuses = signed_in(tried), Counter[int]()
    for found in document.get_all_operations():
        operation = found.ok()
        for mode in GenerationMode:
            for case, user in drawn(operation, mode):
                if mode.is_positive and user:
                    name_what_is_there(case, user, tried)
                response = case.call(
                    cookies={} if of_nobody(case) else cookies(), headers=UNCOMPRESSED
                )
                statuses[response.status_code] += 1
                case.validate_response(response, checks=CHECKS)
    assert sum(statuses.values()) >= CASES
    assert statuses[200] >= CASES / 8
    assert statuses[400] >= CASES / 8


def drawn(operation: Any, mode: GenerationMode) -> list[tuple[Case, str]]:
    """Generate requests of an operation; without parameters none can be wrong."""
    cases: list[tuple[Case, str]] = []

    @GENERATED
    @given(operation.as_strategy(mode), st.sampled_from(PEOPLE))
    def draw(case: Case, user: str) -> None:
        cases.append((case, user))

    with suppress(Unsatisfiable):
        draw()
    assert cases or not operation.query
    return cases


def of_nobody(case: Case) -> bool:
    """Tell whether what is wrong with a request is its session."""
    cookie = case.meta.components.get(ParameterLocation.COOKIE) if case.meta else None
    return cookie is not None and cookie.mode.is_negative


def name_what_is_there(case: Case, user: str, site: Site) -> None:
    """Ask for a person and a group there are: generated names hardly ever hit one."""
    if site.access == "demo" and "user" in case.query:
        case.query["user"] = user
    if user and "row" in case.query:
        case.query["row"] = "g0001"
    if "row" in case.path_parameters:
        case.path_parameters["row"] = "g0001"
    if "doc" in case.query:
        case.query |= {"q": "java", "doc": "doc00"}
