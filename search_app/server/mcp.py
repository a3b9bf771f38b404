"""The Model Context Protocol on stdin and stdout [I/O]: tools to search as one person or nobody.

Each tool is an operation of the API, called in this process. So tools take and answer what the API
does, and know of others no more than a page would show this person.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from flask import g

from .. import __version__
from ..errors import UsageError
from ..web import Live, create_app
from ..web.api.described.openapi import Route, routes
from ..web.api.described.operations import parameters_of
from ..web.faults import fault_record
from ..web.site import STOPPED
from ..web.visitors.access import Visitor

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # that begin with `initialize`
CONFIRMATION = "forget me"
_SHOWN = 40  # characters of a client's own word that an answer repeats
_FORGET = "forget"
_FOR_ALL = {"api.search": "search", "api.compare": "compare", "api.explain": "explain"}
_OWN = {"api_profile.show": "my_profile", "api_profile.forget": _FORGET}
_UNREADABLE, _NO_REQUEST, _NO_METHOD, _WRONG = -32700, -32600, -32601, -32602  # of JSON-RPC
_CONFIRM = {"type": "string", "const": CONFIRMATION, "description": "The person’s own consent."}
Json = dict[str, Any]


class Refused(Exception):
    """A request that gets an error of JSON-RPC."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


class OperationAnswer(NamedTuple):
    """What an operation answered."""

    status: int
    record: Json


class Tools:
    """The tools that act as `user` at the site of `live`; as nobody if `user` is empty."""

    def __init__(self, live: Live, user: str):
        self._live, self._user = live, user
        self._app = create_app(live)
        names = _FOR_ALL | (_OWN if user else {})
        by_endpoint = {one.endpoint: one for one in routes(self._app)}
        self._routes = {name: by_endpoint[endpoint] for endpoint, name in names.items()}

    def describe(self) -> list[Json]:
        """Return the tools as `tools/list` answers them."""
        return [self._described(name, route) for name, route in self._routes.items()]

    def _described(self, name: str, route: Route) -> Json:
        operation, destroys = route.operation, name == _FORGET
        properties = {
            one.name: {**one.schema(self._live.now), "description": one.meaning}
            for one in parameters_of(operation, self._live.now)
        }
        required = [one for one in operation.required if one in properties]
        if destroys:
            properties, required = {"confirmation": _CONFIRM}, ["confirmation"]
        return {
            "name": name,
            "description": f"{operation.summary} {operation.meaning}".strip(),
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": False,
            },
            "annotations": {
                "readOnlyHint": not destroys,
                "destructiveHint": destroys,
                "openWorldHint": False,
            },
        }

    def call(self, name: object, arguments: object) -> Json:
        """Return what the tool `name` answers to `arguments`, as `tools/call` does."""
        route = self._routes.get(name) if isinstance(name, str) else None
        if route is None or not isinstance(arguments, dict):
            raise Refused(_WRONG, f"the tools are {', '.join(self._routes)}, with named arguments")
        if self._live.now.stopped and name == "my_profile":
            return _told(STOPPED, None, True)
        if name != _FORGET:
            answered = self._ask(route, arguments)
        elif arguments == {"confirmation": CONFIRMATION}:
            answered = self._ask(route, {})
            if answered.status == 200:
                self._user = ""  # nobody is left to act as
        else:
            return _told(f"Nothing was removed: confirmation must be “{CONFIRMATION}”.", None, True)
        if answered.status != 200:
            return _told(answered.record["error"]["message"], None, True)
        return _told(json.dumps(answered.record, ensure_ascii=False), answered.record, False)

    def _ask(self, route: Route, arguments: Mapping[str, Any]) -> OperationAnswer:
        """Return what the operation of `route` answers to the person of these tools."""
        if wrong := [name for name, value in arguments.items() if isinstance(value, list | dict)]:
            sentence = f"{wrong[0][:_SHOWN]} must be one text, number or switch"
            return OperationAnswer(400, fault_record(400, sentence))
        # A switch is 0 or 1 in an address.
        query = {name: int(v) if isinstance(v, bool) else v for name, v in arguments.items()}
        app = self._app
        with app.test_request_context(route.path, method=route.method, query_string=query):
            g.visitor = Visitor(self._user)
            try:
                response = app.make_response(app.dispatch_request())
            except Exception as fault:
                response = app.make_response(app.handle_user_exception(fault))
            return OperationAnswer(response.status_code, response.get_json())


def _told(text: str, record: Json | None, failed: bool) -> Json:
    structured = {} if record is None else {"structuredContent": record}
    return {"content": [{"type": "text", "text": text}], **structured, "isError": failed}


def open_tools(live: Live, user: str) -> Tools:
    """Return the tools that act as `user` at the site of `live`; refuse a person it has not."""
    site = live.now
    if user and not (site.modes.has_profile(user) or user in dict(site.store.codes())):
        raise UsageError(
            "there is no such person in this workspace; leave out --user or correct it"
        )
    return Tools(live, user)


def converse(tools: Tools, lines: Iterable[bytes], write: Callable[[str], object]) -> None:
    """Answer each request of `lines`, one a line, by `tools`; `write` gets a line each."""
    for line in lines:
        for answer in _answers(tools, line):
            # In ASCII, so that the encoding of the stream does not matter.
            write(json.dumps({"jsonrpc": "2.0", **answer}) + "\n")


def _answers(tools: Tools, line: bytes) -> Iterator[Json]:
    """Yield the answer to the request in `line`; to a note, or the client's own answer, nothing."""
    number = None
    try:
        try:
            sent = json.loads(line)
            # JSON can escape half of a surrogate pair, which is no character.
            json.dumps(sent, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            raise Refused(_UNREADABLE, "a line must be one JSON object") from None
        if not isinstance(sent, dict):
            raise Refused(_NO_REQUEST, "a line must be one JSON object")
        name, method, given = sent.get("id"), sent.get("method"), sent.get("params", {})
        if method is not None and name is not None:
            if type(name) not in (str, int):  # NaN and Infinity could not be sent back
                raise Refused(_NO_REQUEST, "an id must be a text or a whole number")
            number = name
            if not isinstance(given, dict):
                raise Refused(_WRONG, "params must be an object")
            yield {"id": number, "result": _result(tools, method, given)}
    except Refused as fault:
        yield {"id": number, "error": {"code": fault.code, "message": str(fault)}}


def _result(tools: Tools, method: object, given: Json) -> Json:
    if method == "initialize":
        wanted = given.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[-1],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "veilsearch", "version": __version__},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": tools.describe()}
    if method == "tools/call":
        return tools.call(given.get("name"), given.get("arguments", {}))
    raise Refused(_NO_METHOD, "the methods are initialize, ping, tools/list and tools/call")
