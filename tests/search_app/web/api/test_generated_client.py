"""A client that openapi-python-client generates from the document signs in with a token."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from openapi_python_client import generate
from openapi_python_client.config import Config, ConfigFile, MetaType

from search_app.web import Site, create_app

NAME = "generated_client"
Call = Callable[..., Any]


@pytest.fixture
def app(private: Site) -> Flask:
    return create_app(private)


@pytest.fixture
def generated(app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the generated package."""
    document = tmp_path / "openapi.json"
    document.write_bytes(app.test_client().get("/api/v1/openapi.json").data)
    config = Config.from_sources(
        ConfigFile(post_hooks=[]), MetaType.NONE, document, "utf-8", False, tmp_path / NAME
    )
    assert [fault.detail for fault in generate(config=config)] == []
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module(NAME)


@pytest.fixture
def call(generated: Any, address: str, private: Site) -> Iterator[Call]:
    """Return what calls an operation at a server, with a token unless another is given."""
    private.store.new_code("1001")
    token = private.store.new_token("1001", "generated") or ""
    with closing(_Clients(generated, address)) as clients:

        def call_by(operation: str, token: str = token, **arguments: Any) -> Any:
            module = importlib.import_module(f"{NAME}.api.default.{operation}")
            return module.sync(client=clients.of(token), **arguments)

        yield call_by


class _Clients:
    """The clients of a server by token; "" for one that has none."""

    def __init__(self, generated: Any, address: str):
        self._generated, self._address, self._made = generated, address, dict[str, Any]()

    def of(self, token: str) -> Any:
        if token not in self._made:
            kind = self._generated.AuthenticatedClient if token else self._generated.Client
            self._made[token] = kind(base_url=self._address, **({"token": token} if token else {}))
        return self._made[token]

    def close(self) -> None:
        for client in self._made.values():
            client.get_httpx_client().close()


def test_it_signs_in_with_a_token_and_searches(call: Call) -> None:
    models = importlib.import_module(f"{NAME}.models")
    answer = call("api_search", q="java", mode=models.ApiSearchMode.OWN, size=40)
    assert isinstance(answer, models.SearchAnswer)
    assert [hit.id for hit in answer.results[:3]] == ["doc00", "doc02", "doc04"]  # coffee
    assert (len(answer.results), answer.pages) == (40, 1)
    assert [term.term for term in call("api_profile_show").terms] == ["coffee"]
    chosen = models.Choices(paused=True, remember=False)
    assert call("api_profile_choose", body=chosen) == call("api_profile_choices") == chosen


def test_without_a_token_or_with_a_wrong_one_it_is_refused(call: Call) -> None:
    for token, told in (("", "Sign in first"), ("vs-wrong", "This token is not known here.")):
        refusal = call("api_search", token, q="java")
        assert (refusal.error.status, refusal.error.message[: len(told)]) == (401, told)
    assert call("health_show", "").status == "ok"


OTHERS: dict[str, dict[str, Any]] = {
    "api_compare": {"q": "java"},
    "api_explain": {"q": "java", "doc": "doc02"},
    "api_suggest": {"q": "ja"},
    "api_document_text": {"doc": "doc03"},
    "api_groups_groups": {},
    "api_groups_group": {"row": "g0001"},
    "api_groups_log": {},
    "api_profile_growth": {},
}


def test_it_reads_what_the_others_answer(call: Call) -> None:
    refusal = importlib.import_module(f"{NAME}.models").Refusal
    for operation, arguments in OTHERS.items():
        answer = call(operation, **arguments)
        assert answer is not None, operation
        assert not isinstance(answer, refusal), operation
