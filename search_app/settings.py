"""All settings in one frozen table [I/O]: the only reader of TOML files and the environment."""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from .errors import UsageError

FILE = "veilsearch.toml"
ACCESS = ("demo", "private", "plain")  # invented people; who signs in; nobody
_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?")
_HEAP = re.compile(r"[1-9][0-9]{2,5}m|[1-9][0-9]{0,2}g")  # as the JVM of index/ takes it


@dataclass(frozen=True)
class Settings:
    """What can be set, with its default; a workspace's veilsearch.toml overrides it by name."""

    workspace: Path = Path("veilsearch-data")
    cache: Path = Path(".cache")
    heap: str = "2g"  # the JVM's memory
    k1: float | None = None  # BM25; None: as the index was built, and 0.9 and 0.4 when building
    b: float | None = None
    title_boost: float = 0.0  # what BM25 of the title counts beside that of the whole text
    operators: bool = False  # quotes, + and - mean something in a query
    deadline: float = 5.0  # seconds for a query
    pool: int = 100  # documents that are re-ranked
    top: int = 10  # results on a page
    smoothing: bool = False  # rows of groups are smoothed, where that helps
    mix: float = 1.0  # 1 = the profile alone orders the pool, 0 = BM25 alone
    vectors: str = "tfidf"  # documents' weights: tfidf or tf
    access: str = ""  # who may ask as whom; empty: demo if the people are invented, else plain
    hosts: tuple[str, ...] = ()  # names this server is asked under, beside those it is bound to
    https: bool = False  # browsers reach it by HTTPS only
    device: bool = False  # where people sign in: who has not may search for their own device, too
    rate: float = 10.0  # requests a second from one client, in the mean; 0: as many as come
    proxy: str = ""  # address of the one proxy whose X-Forwarded headers are believed
    admin_token: str = field(default="", repr=False)  # from the environment only


def load_settings(
    workspace: Path | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    """Combine defaults, environment and the workspace's veilsearch.toml, and check them."""
    environment = os.environ if environment is None else environment
    chosen = workspace or Path(environment.get("VEILSEARCH_WORKSPACE") or Settings.workspace)
    values = _read(chosen / FILE)
    if environment.get("VEILSEARCH_ACCESS"):
        values["access"] = environment["VEILSEARCH_ACCESS"]
    token = environment.get("VEILSEARCH_ADMIN_TOKEN", "")
    settings = Settings(workspace=chosen, cache=_cache(environment, chosen), admin_token=token)
    return check(replace(settings, **values))


def _cache(environment: Mapping[str, str], workspace: Path) -> Path:
    if environment.get("VEILSEARCH_CACHE"):
        return Path(environment["VEILSEARCH_CACHE"])
    if environment.get("XDG_CACHE_HOME"):
        return Path(environment["XDG_CACHE_HOME"]) / "veilsearch"
    try:
        return Path.home() / ".cache" / "veilsearch"
    except RuntimeError:  # no home at all
        return workspace / "cache"


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise UsageError(f"{path} can't be read as TOML: {fault}") from fault
    allowed = {each.name for each in fields(Settings)} - {"workspace", "cache", "admin_token"}
    unknown = sorted(set(values) - allowed)
    if unknown:
        raise UsageError(
            f"{path}: unknown {', '.join(unknown)}; allowed are {', '.join(sorted(allowed))}"
        )
    return {name: tuple(value) if type(value) is list else value for name, value in values.items()}


def changed(settings: Settings, **given: Any) -> Settings:
    """Replace the settings that were given (not None), and check them."""
    return check(replace(settings, **{k: v for k, v in given.items() if v is not None}))


def check(settings: Settings) -> Settings:
    """Refuse values of a wrong type or outside their range, all faults at once."""
    faults = [_type_fault(each, getattr(settings, each.name)) for each in fields(Settings)]
    if any(faults):
        raise UsageError("; ".join(fault for fault in faults if fault))
    rules = [*_serving_rules(settings), *_searching_rules(settings)]
    faults = [
        f"{name}={value} must be {range_}" for name, value, holds, range_ in rules if not holds
    ]
    if faults:
        raise UsageError("; ".join(faults))
    return settings


_Rule = tuple[str, Any, Any, str]  # name, value, whether it holds, what is allowed


def _searching_rules(settings: Settings) -> list[_Rule]:
    return [
        ("heap", settings.heap, _HEAP.fullmatch(settings.heap), "from 100m to 999g"),
        ("k1", settings.k1, settings.k1 is None or 0 <= settings.k1 <= 1000, "from 0 to 1000"),
        ("b", settings.b, settings.b is None or 0 <= settings.b <= 1, "from 0 to 1"),
        ("title_boost", settings.title_boost, 0 <= settings.title_boost <= 100, "from 0 to 100"),
        ("deadline", settings.deadline, 0.01 <= settings.deadline <= 3600, "from 0.01 to 3600"),
        ("pool", settings.pool, 1 <= settings.pool <= 10_000, "from 1 to 10000"),
        ("top", settings.top, 1 <= settings.top <= 10_000, "from 1 to 10000"),
        ("mix", settings.mix, 0 <= settings.mix <= 1, "from 0 to 1"),
        ("vectors", settings.vectors, settings.vectors in ("tfidf", "tf"), "tfidf or tf"),
    ]


def _serving_rules(settings: Settings) -> list[_Rule]:
    access, hosts, rate, proxy = settings.access, settings.hosts, settings.rate, settings.proxy
    return [
        ("access", access, access in ("", *ACCESS), f"one of {', '.join(ACCESS)}"),
        ("hosts", ", ".join(map(str, hosts)), all(map(_is_host, hosts)), _HOSTS),
        ("rate", rate, 0 <= rate <= 10_000, "from 0 to 10000"),
        ("proxy", proxy, not proxy or _is_address(proxy), "the address of one proxy"),
    ]


_HOSTS = "host names in small letters, without scheme, port and path"


def _is_host(name: Any) -> bool:
    return isinstance(name, str) and (_HOST.fullmatch(name) is not None or _is_address(name))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "bool": (bool,),
    "Path": (Path,),
    "tuple[str, ...]": (tuple,),
    "None": (type(None),),
}


def _type_fault(setting: Field[Any], value: Any) -> str:
    names = str(setting.type).split(" | ")
    kinds = tuple(kind for name in names for kind in _KINDS[name])
    # Python counts True among the whole numbers; nobody else does.
    if isinstance(value, kinds) and isinstance(value, bool) == ("bool" in names):
        return ""
    wanted = "list" if kinds == (tuple,) else names[0]  # as TOML calls it
    return f"{setting.name}={value} must be of type {wanted}"
