"""veilsearch mcp and the protocol's official client: a real server on a real workspace."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters

from ..conftest import Run

CONFIRMED = {"confirmation": "forget me"}


@pytest.fixture
def workspace(built_demo: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built_demo, tmp_path / "workspace"))


def client(workspace: Path, *words: str) -> Client:
    """Return the official client of a server that it starts."""
    arguments = ["-m", "search_app", "--workspace", str(workspace), "mcp", *words]
    server = StdioServerParameters(command=sys.executable, args=arguments, env={**os.environ})
    return Client(server, read_timeout_seconds=300)


async def told(assistant: Client, name: str, **arguments: Any) -> Any:
    """Return what a tool answers."""
    result = await assistant.call_tool(name, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def as_a_person(workspace: Path, user: str) -> None:
    async with client(workspace, "--user", user) as assistant:
        tools = (await assistant.list_tools()).tools
        assert {tool.name for tool in tools if tool.annotations.destructive_hint} == {"forget"}
        found = await told(assistant, "search", q="java", size=3)
        assert (found["mode"], len(found["results"])) == ("group", 3)
        why = await told(assistant, "explain", q="java", doc=found["results"][0]["id"])
        assert why["row"] == found["row"]["name"]
        assert len((await told(assistant, "compare", q="java"))["columns"]) == 3
        assert len((await told(assistant, "my_profile"))["terms"]) == 150
        assert (await assistant.call_tool("forget", {})).is_error
        assert (await told(assistant, "forget", **CONFIRMED))["rows_withdrawn"] == 1
        # The server has followed its workspace, which no longer knows this person.
        assert (await told(assistant, "search", q="java"))["mode"] == "none"
        assert (await assistant.call_tool("my_profile", {})).is_error


async def as_nobody(workspace: Path) -> None:
    async with client(workspace) as assistant:
        assert [tool.name for tool in (await assistant.list_tools()).tools] == [
            "search",
            "compare",
            "explain",
        ]
        assert (await told(assistant, "search", q="java"))["mode"] == "none"
        with pytest.raises(MCPError):
            await assistant.call_tool("my_profile", {})


def test_the_official_client_searches_and_forgets(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, user = Run(workspace, capsys), "2256822"
    asyncio.run(as_a_person(workspace, user))
    assert "there is no such person" in run.refused("mcp", "--user", user)
    asyncio.run(as_nobody(workspace))
