"""All settings in one frozen table [I/O]: the only reader of TOML files and the environment."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, replace
from pathlib import Path
from typing import Any

from .errors import UsageError

FILE = "veilsearch.toml"
_HEAP = re.compile(r"[1-9][0-9]{2,5}m|[1-9][0-9]{0,2}g")  # as the JVM of index/ takes it


@dataclass(frozen=True)
class Settings:
    """What can be set, with its default; a workspace's veilsearch.toml overrides it by name."""

    workspace: Path = Path("veilsearch-data")
    cache: Path = Path(".cache")
    heap: str = "2g"  # the JVM's memory
    k1: float = 0.9  # BM25, taken when an index is built
    b: float = 0.4
    pool: int = 100  # documents that are re-ranked
    top: int = 10  # results on a page
    mix: float = 1.0  # 1 = the profile alone orders the pool, 0 = BM25 alone
    vectors: str = "tfidf"  # documents' weights: tfidf or tf


def load_settings(
    workspace: Path | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    """Combine defaults, environment and the workspace's veilsearch.toml, and check them."""
    environment = os.environ if environment is None else environment
    chosen = workspace or Path(environment.get("VEILSEARCH_WORKSPACE") or Settings.workspace)
    settings = Settings(workspace=chosen, cache=_cache(environment, chosen))
    return check(replace(settings, **_read(chosen / FILE)))


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
    allowed = {field.name for field in fields(Settings)} - {"workspace", "cache"}
    unknown = sorted(set(values) - allowed)
    if unknown:
        raise UsageError(
            f"{path}: unknown {', '.join(unknown)}; allowed are {', '.join(sorted(allowed))}"
        )
    return values


def changed(settings: Settings, **given: Any) -> Settings:
    """Replace the settings that were given (not None), and check them."""
    return check(replace(settings, **{k: v for k, v in given.items() if v is not None}))


def check(settings: Settings) -> Settings:
    """Refuse values of a wrong type or outside their range, all faults at once."""
    faults = [_type_fault(field, getattr(settings, field.name)) for field in fields(Settings)]
    if any(faults):
        raise UsageError("; ".join(fault for fault in faults if fault))
    rules = [
        ("heap", settings.heap, _HEAP.fullmatch(settings.heap), "from 100m to 999g"),
        ("k1", settings.k1, 0 <= settings.k1 <= 1000, "from 0 to 1000"),
        ("b", settings.b, 0 <= settings.b <= 1, "from 0 to 1"),
        ("pool", settings.pool, 1 <= settings.pool <= 10_000, "from 1 to 10000"),
        ("top", settings.top, 1 <= settings.top <= 10_000, "from 1 to 10000"),
        ("mix", settings.mix, 0 <= settings.mix <= 1, "from 0 to 1"),
        ("vectors", settings.vectors, settings.vectors in ("tfidf", "tf"), "tfidf or tf"),
    ]
    faults = [
        f"{name}={value} must be {range_}" for name, value, holds, range_ in rules if not holds
    ]
    if faults:
        raise UsageError("; ".join(faults))
    return settings


def _type_fault(field: Field[Any], value: Any) -> str:
    kinds: dict[str, tuple[type, ...]] = {
        "int": (int,),
        "float": (int, float),
        "str": (str,),
        "Path": (Path,),
    }
    if isinstance(value, kinds[str(field.type)]) and not isinstance(value, bool):
        return ""
    return f"{field.name}={value} must be of type {field.type}"
