"""All settings in one frozen table [I/O]: only this module reads settings and environment."""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from .errors import UsageError

FILE = "veilsearch.toml"
SQLITE, POSTGRESQL = "sqlite", "postgresql"
DEFAULT_METHOD = "p-linkability"  # of the demo and of `anonymize`; messages name it
# Who can be searched for: the invented people, the person who signs in, nobody.
DEMO, PRIVATE, PLAIN = ACCESS = "demo", "private", "plain"
_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?")
_ROOT_PATH = re.compile(r"(/[A-Za-z0-9~_-][A-Za-z0-9.~_-]*)*")
_NODE = re.compile(r"(https?://)?([a-z0-9._-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?/?")
_INDEX = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_HEAP = re.compile(r"[1-9][0-9]{2,5}m|[1-9][0-9]{0,2}g")  # the form that the JVM takes


@dataclass(frozen=True)
class SearchSettings:
    """The table [search]: which engine searches, and where it is."""

    backend: str = "lucene"  # lucene: in this process; opensearch: in a cluster
    hosts: tuple[str, ...] = ()  # nodes of the cluster
    index: str = "veilsearch"  # how the names of indexes in the cluster begin
    shards: int = 1  # parts of an index that is filled
    replicas: int = 1  # copies of each part
    ca: str = ""  # file of the certificate that signed the nodes' certificates
    certificate: str = ""  # file of the client's certificate; its key: VEILSEARCH_OPENSEARCH_KEY
    key: str = field(default="", repr=False)  # from the environment only, like the next two
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)


_OF_ENVIRONMENT = {"workspace", "cache", "admin_token", "postgresql", "key", "user", "password"}


@dataclass(frozen=True)
class Settings:
    """All settings with their defaults; a workspace's veilsearch.toml overrides them by name."""

    workspace: Path = Path("veilsearch-data")
    cache: Path = Path(".cache")
    heap: str = "2g"  # the JVM's memory
    language: str = "en"  # of documents and searches: en, de or fr
    k1: float | None = None  # BM25; None: as the index was built (by default k1 0.9, b 0.4)
    b: float | None = None  # BM25; None: as k1
    title_boost: float = 0.0  # weight of the title's BM25, added to that of the whole text
    operators: bool = False  # whether quotes, + and - have a meaning in a query
    deadline: float = 5.0  # seconds for a query
    pool: int = 100  # documents to re-rank
    top: int = 10  # results on a page
    smoothing: bool = False  # whether groups' rows are smoothed where that helps
    ranking: str = ""  # cosine or evidence; empty: evidence where people sign in, else cosine
    care: str = "default"  # how far evidence moves a result: default or careful
    vectors: str = "tfidf"  # weights of documents: tfidf or tf
    access: str = ""  # empty: demo if the people are invented, else plain
    hosts: tuple[str, ...] = ()  # names of this server, in addition to its address
    https: bool = False  # whether browsers reach it by HTTPS only
    device: bool = False  # mode private: whether devices may rank without sign-in
    rate: float = 10.0  # requests a second from one client, on average; 0: no limit
    proxy: str = ""  # address of the one proxy whose X-Forwarded headers are trusted
    store: str = "sqlite"  # of people and of the log of AP: sqlite, or postgresql for many hosts
    root_path: str = ""  # path below which a proxy shows the server; the proxy takes it off
    search: SearchSettings = SearchSettings()
    admin_token: str = field(default="", repr=False)  # from the environment only
    postgresql: str = field(default="", repr=False)  # the server's address, from there, too


def load_settings(
    workspace: Path | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    """Return the checked settings from defaults, `environment` and the file in `workspace`."""
    environment = os.environ if environment is None else environment
    chosen = workspace or Path(environment.get("VEILSEARCH_WORKSPACE") or Settings.workspace)
    values = _read(chosen / FILE)
    if environment.get("VEILSEARCH_ACCESS"):
        values["access"] = environment["VEILSEARCH_ACCESS"]
    secret: dict[str, Any] = {
        "admin_token": environment.get("VEILSEARCH_ADMIN_TOKEN", ""),
        "postgresql": environment.get("VEILSEARCH_POSTGRESQL", ""),
    }
    of_cluster: dict[str, Any] = {
        name: environment.get(f"VEILSEARCH_OPENSEARCH_{name.upper()}", "")
        for name in ("user", "password", "key")
    }
    values["search"] = SearchSettings(**values.get("search", {}), **of_cluster)
    settings = Settings(workspace=chosen, cache=_cache(environment, chosen))
    return check(replace(settings, **values, **secret))


def _cache(environment: Mapping[str, str], workspace: Path) -> Path:
    if environment.get("VEILSEARCH_CACHE"):
        return Path(environment["VEILSEARCH_CACHE"])
    if environment.get("XDG_CACHE_HOME"):
        return Path(environment["XDG_CACHE_HOME"]) / "veilsearch"
    try:
        return Path.home() / ".cache" / "veilsearch"
    except RuntimeError:  # there is no home folder
        return workspace / "cache"


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise UsageError(f"{path} can't be read as TOML: {fault}") from fault
    table = values.get("search", {})
    if not isinstance(table, dict):
        raise UsageError(f"{path}: search must be a table: [search]")
    given = {*values} | {f"search.{name}" for name in table}
    allowed = {name for name, _ in every_setting()}
    if unknown := sorted(given - allowed - {"search"}):
        raise UsageError(
            f"{path}: unknown {', '.join(unknown)}; allowed are {', '.join(sorted(allowed))}"
        )
    return {**_with_tuples(values), **({"search": _with_tuples(table)} if table else {})}


def _with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if type(value) is list else value for name, value in values.items()}


def every_setting() -> list[tuple[str, Field[Any]]]:
    """Return each setting that a file may have: its name there, and its field."""
    plain = [(one.name, one) for one in fields(Settings) if one.name != "search"]
    table = [(f"search.{one.name}", one) for one in fields(SearchSettings)]
    return [(name, one) for name, one in plain + table if one.name not in _OF_ENVIRONMENT]


def _value(settings: Settings, name: str) -> Any:
    in_table = name.startswith("search.")
    return getattr(settings.search if in_table else settings, name.rpartition(".")[2])


def changed(settings: Settings, **given: Any) -> Settings:
    """Return `settings` with those that are `given` (not None) replaced, and checked."""
    return check(replace(settings, **{k: v for k, v in given.items() if v is not None}))


def check(settings: Settings) -> Settings:
    """Return `settings`; refuse values of a wrong type or range, several in one message."""
    faults = [_type_fault(name, one, _value(settings, name)) for name, one in every_setting()]
    if any(faults):
        raise UsageError("; ".join(fault for fault in faults if fault))
    faults = [
        f"{name}={_shown(value)} must be {allowed}"
        for name, (allowed, holds) in _RULES.items()
        if not holds(value := _value(settings, name))
    ]
    if faults:
        raise UsageError("; ".join(faults))
    return settings


def _shown(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return re.sub(r".*@", "…@", text)  # what stands there may be a password


def _is_host(name: Any) -> bool:
    return isinstance(name, str) and (_HOST.fullmatch(name) is not None or _is_address(name))


def _is_node(node: Any) -> bool:
    # A user or password in it would be shown in messages.
    return isinstance(node, str) and _NODE.fullmatch(node) is not None


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


_Rule = tuple[str, Callable[[Any], object]]  # what is allowed, in words, and a test of a value


def _from(low: float, high: float) -> _Rule:
    return f"from {low:g} to {high:g}", lambda value: value is None or low <= value <= high


_RULES: dict[str, _Rule] = {
    "language": ("one of en, de, fr", ("en", "de", "fr").__contains__),
    "access": (f"one of {', '.join(ACCESS)}", ("", *ACCESS).__contains__),
    "hosts": (
        "host names in small letters, without scheme, port and path",
        lambda hosts: all(map(_is_host, hosts)),
    ),
    "rate": _from(0, 10_000),
    "proxy": ("the address of one proxy", lambda proxy: not proxy or _is_address(proxy)),
    "root_path": ("a path like /search, without a slash at its end", _ROOT_PATH.fullmatch),
    "store": ("sqlite or postgresql", (SQLITE, POSTGRESQL).__contains__),
    "heap": ("from 100m to 999g", _HEAP.fullmatch),
    "k1": _from(0, 1000),
    "b": _from(0, 1),
    "title_boost": _from(0, 100),
    "deadline": _from(0.01, 3600),
    "pool": _from(1, 10_000),
    "top": _from(1, 10_000),
    "ranking": ("cosine or evidence", ("", "cosine", "evidence").__contains__),
    "care": ("default or careful", ("default", "careful").__contains__),
    "vectors": ("tfidf or tf", ("tfidf", "tf").__contains__),
    "search.backend": ("lucene or opensearch", ("lucene", "opensearch").__contains__),
    "search.hosts": (
        "hosts, each with http:// or https:// and a port if they differ from http and 9200",
        lambda hosts: all(map(_is_node, hosts)),
    ),
    "search.index": ("small letters, digits and hyphens", _INDEX.fullmatch),
    "search.shards": _from(1, 1000),
    "search.replicas": _from(0, 20),
}
_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "bool": (bool,),
    "Path": (Path,),
    "tuple[str, ...]": (tuple,),
    "None": (type(None),),
}


def kinds_of(record_field: Field[Any]) -> tuple[type, ...]:
    """Return the types that `record_field` may have; a float may be a whole number."""
    return tuple(kind for name in str(record_field.type).split(" | ") for kind in _KINDS[name])


def _type_fault(name: str, setting: Field[Any], value: Any) -> str:
    kinds = kinds_of(setting)
    # In Python True is an int, but `pool = true` is a mistake.
    if isinstance(value, kinds) and isinstance(value, bool) == (bool in kinds):
        return ""
    wanted = "list" if kinds == (tuple,) else str(setting.type).split(" | ")[0]  # as TOML calls it
    return f"{name}={_shown(value)} must be of type {wanted}"
