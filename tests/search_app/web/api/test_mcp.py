"""Tools of the Model Context Protocol: the API's answers to one person or nobody, line by line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest

from search_app.errors import UsageError
from search_app.server.mcp import Tools, converse, open_tools
from search_app.web import Live, Site

from ..conftest import Forgetting, signed_in

Say = Callable[..., Any]


@pytest.fixture
def forgetting() -> Forgetting:
    return Forgetting()


@pytest.fixture
def private(private: Site, forgetting: Forgetting) -> Site:
    return replace(private, forget=forgetting)


def speaking(tools: Tools) -> Say:
    """Return what sends lines and returns the answers; a dict is a request of its method."""

    def say(*lines: Any) -> list[Any]:
        written: list[str] = []
        sent = [
            line
            if isinstance(line, bytes)
            else json.dumps({"jsonrpc": "2.0", "id": at, **line}).encode()
            for at, line in enumerate(lines)
        ]
        converse(tools, sent, written.append)
        assert all(line.isascii() and line.count("\n") == 1 for line in written)
        return [json.loads(line) for line in written]

    return say


@pytest.fixture
def mira(private: Site) -> Say:
    return speaking(open_tools(Live(private), "1001"))


@pytest.fixture
def nobody(private: Site) -> Say:
    plain = replace(private, access="plain")
    return speaking(open_tools(Live(plain), ""))


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"method": "tools/call", "params": {"name": name, "arguments": arguments}}


def of(say: Say, name: str, **arguments: Any) -> Any:
    """Return what a tool answers; its text and its structure must say the same."""
    (answer,) = say(call(name, **arguments))
    result = answer["result"]
    assert not result["isError"], result
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    return result["structuredContent"]


def refused(say: Say, name: str, **arguments: Any) -> str:
    (answer,) = say(call(name, **arguments))
    assert answer["result"]["isError"]
    assert "structuredContent" not in answer["result"]
    return str(answer["result"]["content"][0]["text"])


@pytest.mark.parametrize("wanted", ["2025-06-18", "2099-01-01", None])
def test_the_handshake_agrees_on_a_version(mira: Say, wanted: str | None) -> None:
    begin = {"method": "initialize", "params": {"protocolVersion": wanted}}
    note = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'
    first, ping = mira(begin, note, {"method": "ping"})
    known = wanted if wanted == "2025-06-18" else "2025-11-25"
    assert first["result"]["protocolVersion"] == known
    assert first["result"]["capabilities"] == {"tools": {}}
    assert ping == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_a_person_has_five_tools_and_nobody_three(mira: Say, nobody: Say) -> None:
    listed = {
        kind: {tool["name"]: tool for tool in say({"method": "tools/list"})[0]["result"]["tools"]}
        for kind, say in (("mira", mira), ("nobody", nobody))
    }
    assert list(listed["mira"]) == ["search", "compare", "explain", "my_profile", "forget"]
    assert list(listed["nobody"]) == ["search", "compare", "explain"]
    for tool in listed["mira"].values():
        schema = tool["inputSchema"]
        jsonschema_rs.meta.validate(schema)
        assert "user" not in schema["properties"]
        assert tool["annotations"]["destructiveHint"] == (tool["name"] == "forget")
    search = listed["mira"]["search"]["inputSchema"]
    assert (search["required"], search["properties"]["size"]["maximum"]) == (["q"], 1000)


def test_tools_answer_what_the_api_does_to_this_person(mira: Say, private: Site) -> None:
    client = signed_in(private, private.store.new_code("1001"))
    asked: dict[str, dict[str, Any]] = {
        "search": {"q": "java", "mode": "own", "size": 3, "operators": True},
        "compare": {"q": "java coffee"},
        "explain": {"q": "java", "doc": "doc02", "mode": "own"},
    }
    for tool, arguments in asked.items():
        query = {name: int(v) if v is True else v for name, v in arguments.items()}
        expected = client.get(f"/api/v1/{tool}", query_string=query).json
        assert without_time(of(mira, tool, **arguments)) == without_time(expected)
    assert of(mira, "my_profile") == client.get("/api/v1/profile").json


def without_time(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "milliseconds"}


def test_nobody_searches_in_plain_order_and_has_no_profile(nobody: Say) -> None:
    assert [hit["id"] for hit in of(nobody, "search", q="java", size=2)["results"]] == [
        "doc00",
        "doc01",
    ]
    for name in ("my_profile", "forget"):
        (answer,) = nobody(call(name))
        assert answer["error"]["code"] == -32602


def test_nothing_of_others_is_told(mira: Say) -> None:
    for name in ("search", "compare", "explain", "my_profile"):
        for asking in ({"user": "1002"}, {"q": "java", "doc": "doc00", "user": "1002"}):
            assert "1002" not in refused(mira, name, **asking)
    told = json.dumps([of(mira, "compare", q="java"), of(mira, "my_profile")])
    assert not [user for user in ("1002", "1003", "1004", "g0002") if user in told]


def test_forgetting_needs_the_words_and_leaves_nobody_to_act_as(
    mira: Say, forgetting: Forgetting, private: Site
) -> None:
    private.store.new_code("1001")
    for arguments in ({}, {"confirmation": ""}, {"confirmation": "forget me", "user": "1002"}):
        assert refused(mira, "forget", **arguments).startswith("Nothing was removed")
    assert forgetting.asked == []
    of(mira, "forget", confirmation="forget me")
    assert forgetting.asked == [("1001", None)]
    assert private.store.codes() == []
    assert of(mira, "search", q="java")["mode"] == "none"
    assert refused(mira, "my_profile") == "The visitor has no profile."
    assert refused(mira, "forget", confirmation="forget me") == "The visitor has no profile."
    assert len(forgetting.asked) == 1


def test_forgetting_that_fails_says_so_without_a_path(mira: Say, forgetting: Forgetting) -> None:
    forgetting.fault = UsageError("/srv/secret is in use")
    sentence = refused(mira, "forget", confirmation="forget me")
    assert "Please try again in a minute." in sentence
    assert "secret" not in sentence


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "q is missing; it must be given"),
        ({"q": "java", "size": 1001}, "size=1001 must be a whole number from 1 to 1000"),
        ({"q": "java", "pol": 3}, "pol is not a parameter here"),
        *(
            ({"q": "java", "mode": wrong}, "mode must be one text, number or switch")
            for wrong in (["own"], ["own", "none"], {"own": 1}, [])
        ),
        ({"q": "java", "mode": None, "size": "x"}, "size=x must be a whole number"),
    ],
)
def test_wrong_arguments_are_one_sentence(mira: Say, arguments: dict[str, Any], told: str) -> None:
    assert told in refused(mira, "search", **arguments)


def test_a_broken_index_and_a_stopped_site_are_sentences(
    mira: Say, private: Site, index: Any
) -> None:
    index.broken = True
    assert "veilsearch doctor" in refused(mira, "search", q="java")
    index.broken = False
    live = Live(private)
    say = speaking(open_tools(live, "1001"))
    live.fail()
    assert refused(say, "my_profile").startswith("The workspace has changed")
    assert of(say, "search", q="java")["mode"] == "none"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"\xff", -32700),
        (b"[" * 100_000, -32700),
        (b'{"id": 1, "method": "ping", "x": "\\ud800"}', -32700),
        (b"[]", -32600),
        *((b'{"id": %s, "method": "ping"}' % name, -32600) for name in (b"NaN", b"1e999", b"[1]")),
        (b"3", -32600),
        (b'{"id": 1, "method": "resources/list"}', -32601),
        (b'{"id": 1, "method": ["ping"]}', -32601),
        (b'{"id": 1, "method": "server/discover", "params": {}}', -32601),
        (b'{"id": 1, "method": "ping", "params": [1]}', -32602),
        (b'{"id": 1, "method": "tools/call"}', -32602),
        (b'{"id": 1, "method": "tools/call", "params": {"name": {}}}', -32602),
        (
            b'{"id": 1, "method": "tools/call", "params": {"name": "search", "arguments": 3}}',
            -32602,
        ),
    ],
)
def test_lines_that_are_no_requests_are_answered_and_the_next_one_too(
    mira: Say, line: bytes, code: int
) -> None:
    fault, ping = mira(line, {"method": "ping"})
    assert fault["error"]["code"] == code
    assert fault["id"] in (1, None)
    assert ping["result"] == {}


def test_notes_and_the_clients_own_answers_are_answered_by_nothing(mira: Say) -> None:
    assert mira(b'{"method": "notifications/cancelled"}', b'{"id": 1, "result": {}}') == []


def test_a_person_who_is_not_there_is_refused_and_a_new_one_is_not(private: Site) -> None:
    with pytest.raises(UsageError, match="there is no such person") as fault:
        open_tools(Live(private), "7654321")
    assert "7654321" not in str(fault.value)
    private.store.new_code("new one")
    say = speaking(open_tools(Live(private), "new one"))
    assert of(say, "my_profile")["terms"] == []
