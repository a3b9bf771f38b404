"""The Python library `veilsearch`: from a query log to a release, its judge, and its search."""
# This folder is installed under the name `veilsearch`, so it imports the rest by absolute names.
# Everything is imported when it is first used: `import veilsearch` itself takes no time.

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from search_app import __version__

if TYPE_CHECKING:
    from anonymizer.errors import AnonymizerError
    from index.model import SearchError
    from search_app.errors import UsageError

    from .evaluating import evaluate
    from .people import Log, People, profiles, read_log
    from .releases import OwnedRelease, anonymize, given_rows, methods, open_release
    from .searching import Hit, Hits, SearchIndex, build_index, open_index
    from .tables import RecordList

_HOMES = {
    "Log": ".people",
    "People": ".people",
    "profiles": ".people",
    "read_log": ".people",
    "OwnedRelease": ".releases",
    "anonymize": ".releases",
    "given_rows": ".releases",
    "methods": ".releases",
    "open_release": ".releases",
    "Hit": ".searching",
    "Hits": ".searching",
    "SearchIndex": ".searching",
    "build_index": ".searching",
    "open_index": ".searching",
    "evaluate": ".evaluating",
    "RecordList": ".tables",
    "AnonymizerError": "anonymizer.errors",
    "SearchError": "index.model",
    "UsageError": "search_app.errors",
}

__all__ = [
    "AnonymizerError",
    "Hit",
    "Hits",
    "Log",
    "OwnedRelease",
    "People",
    "RecordList",
    "SearchError",
    "SearchIndex",
    "UsageError",
    "__version__",
    "anonymize",
    "build_index",
    "evaluate",
    "given_rows",
    "methods",
    "open_index",
    "open_release",
    "profiles",
    "read_log",
]


def __getattr__(name: str) -> object:
    """Return the public object `name`, which is imported now."""
    if name not in _HOMES:
        raise AttributeError(f"module veilsearch has no {name}; it has: {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return __all__
