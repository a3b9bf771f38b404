"""A Spark cluster for tests: a master and two workers on loopback, each a process of its own."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from anonymizer.backends.spark import java_home
from anonymizer.errors import BadInput

ROOT = Path(__file__).parents[2]
_MASTER = ("org.apache.spark.deploy.master.Master",)
_WORKER = ("org.apache.spark.deploy.worker.Worker", "--cores", "1", "--memory", "1g")
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # in a run this short the rest costs time
LONGEST = 300.0  # seconds until a process of the cluster must be ready


def missing() -> str:
    """Return what Spark needs and is not there, and how to get it; "" if all is there."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is missing: scripts/test --engines installs it"
    try:
        java_home()
    except BadInput as fault:
        return str(fault)
    return ""


class SparkCluster:
    """The processes of a cluster, whose logs and working folders are in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "conf").mkdir(exist_ok=True)
        lines = (f"spark.{of}.extraJavaOptions {_QUICK}\n" for of in ("driver", "executor"))
        (folder / "conf" / "spark-defaults.conf").write_text("".join(lines), encoding="utf-8")
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.restart()

    def restart(self) -> None:
        """Start all processes, for the first time or after all have ended."""
        self.stop()
        self._start("master", *_MASTER)
        self.url = self._said("master", r"Starting Spark master at (spark://\S+)")
        for worker in ("w1", "w2"):
            self.start_worker(worker)

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of processes that use the cluster."""
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_CONF_DIR": str(self.folder / "conf"),
        }

    def start_worker(self, name: str) -> None:
        """Start the worker `name`, which may have been killed, and wait until it is registered."""
        self._start(name, *_WORKER, "--work-dir", str(self.folder / name), self.url)
        self._said(name, r"(Successfully registered) with master")

    def kill(self, name: str) -> None:
        """Kill the process `name` and all that it started, without a warning."""
        process = self._processes.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def is_up(self, name: str) -> bool:
        """Return whether the process `name` was started, and not killed since."""
        return name in self._processes

    def stop(self) -> None:
        """End all processes."""
        for name in [*self._processes]:
            self.kill(name)

    def _start(self, name: str, *command: str) -> None:
        home = Path(str(importlib.util.find_spec("pyspark").origin)).parent  # type: ignore[union-attr]
        here = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        environment = {
            **self.environment,
            "JAVA_HOME": str(java_home()),
            "SPARK_HOME": str(home),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": _QUICK,
        }
        with (self.folder / f"{name}.log").open("wb") as log:
            self._processes[name] = subprocess.Popen(
                [str(home / "bin" / "spark-class"), command[0], *here, *command[1:]],
                env=environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def _said(self, name: str, pattern: str) -> str:
        """Return what process `name` says in its log, once it says it."""
        began = time.monotonic()
        while time.monotonic() - began < LONGEST:
            text = (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")
            if found := re.search(pattern, text):
                return found[1]
            if self._processes[name].poll() is not None:
                break
            time.sleep(0.1)
        raise AssertionError(f"{name} does not start: {text[-2000:]}")


if __name__ == "__main__":  # a cluster for trials: spark_cluster.py FOLDER, until Ctrl-C
    made = SparkCluster(Path(sys.argv[1]))
    print(made.url, flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        signal.pause()
    finally:
        made.stop()
