"""What Spark needs and is not there is said in one line, with the remedy."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from anonymizer.backends import spark
from anonymizer.backends.spark import EngineFault, SparkTask, TaskFailed, TaskRefused, connected
from anonymizer.errors import AnonymizerError, BadInput, Unsatisfiable

RELEASE = 'JAVA_VERSION="{}.0.1"\nMODULES="java.base {}"\n'


def refusal(master: str) -> str:
    with pytest.raises(AnonymizerError) as refused, connected(master, lambda _done, _of: None):
        pass
    return str(refused.value)


def jvm(folder: Path, version: int, modules: str = "jdk.incubator.vector") -> Path:
    folder.mkdir(parents=True)
    (folder / "release").write_text(RELEASE.format(version, modules), encoding="utf-8")
    return folder


def test_a_master_is_named_as_spark_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("", "host:7077", "spark://host", "yarn", "local[*]", "spark://a:1 --x"):
        assert refusal(wrong).startswith("--master must be like spark://HOST:7077")
    monkeypatch.setitem(sys.modules, "pyspark.java_gateway", None)
    for right in ("spark://host:7077", "spark://a:1,b:2", "local[2]"):
        assert refusal(right).endswith("not installed: pip install 'veilsearch[spark]'")


def test_java_is_found_where_it_is_named_or_where_debian_puts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(spark, "_JVMS", tmp_path / "jvm")
    remedy = "or newer, and .* none: apt install openjdk-17-jre-headless, or set JAVA_HOME"
    with pytest.raises(BadInput, match=remedy):
        spark.java_home()
    for name, version, modules in (("a", 11, "jdk.incubator.vector"), ("b", 21, "java.sql")):
        jvm(tmp_path / "jvm" / name, version, modules)
    with pytest.raises(BadInput, match=remedy):
        spark.java_home()
    good = jvm(tmp_path / "jvm" / "c", 17)
    assert spark.java_home() == good
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jvm" / "a"))
    with pytest.raises(BadInput, match=remedy):
        spark.java_home()
    monkeypatch.setenv("JAVA_HOME", str(jvm(tmp_path / "mine", 25)))
    assert spark.java_home() == tmp_path / "mine"


def test_a_master_that_does_not_answer_is_refused_before_java_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", type(sys)("pyspark"))
    monkeypatch.setitem(sys.modules, "pyspark.java_gateway", type(sys)("java_gateway"))
    monkeypatch.setenv("JAVA_HOME", str(jvm(tmp_path / "mine", 17)))
    with socket.socket() as free:  # bound, but it does not listen
        free.bind(("127.0.0.1", 0))
        for place in (f"127.0.0.1:{free.getsockname()[1]}", "a..b:7077"):
            url = f"spark://{place}"
            assert refusal(url) == f"no Spark master answers at {url}; start it, or name another"


def test_errors_come_from_tasks_in_our_words_or_without_their_text() -> None:
    def fail(fault: Exception) -> Iterator[int]:
        yield 1
        raise fault

    def task(fault: Exception) -> list[int]:
        return [*SparkTask(fail, spark._versions())(fault)]

    with pytest.raises(TaskRefused) as refused:
        task(Unsatisfiable("groups need more"))
    trace = f"Job aborted ... {TaskRefused.__name__}: {refused.value}\n\tat org.apache.spark"
    made = spark._plain(Exception(trace), "spark://m:1")
    assert (type(made), str(made)) == (Unsatisfiable, "groups need more")
    with pytest.raises(TaskFailed) as failed:
        task(KeyError("the query"))
    trace = f"Job aborted ... {TaskFailed.__name__}: {failed.value}\n\tat org.apache.spark"
    made = spark._plain(Exception(trace), "spark://m:1")
    assert isinstance(made, EngineFault)
    assert str(made).startswith("a task failed on the cluster: KeyError (test_spark_refusals.py, ")
    assert "query" not in f"{failed.value}{made}"
    for fault, line in (
        (PermissionError(13, "Permission denied", "/part"), "can't use /part: Permission denied; "),
        (MemoryError("the query"), "the memory of a worker is too small for a part: take more --"),
    ):
        with pytest.raises(TaskRefused) as refused:
            task(fault)
        made = spark._plain(Exception(f"{TaskRefused.__name__}: {refused.value}"), "spark://m:1")
        assert isinstance(made, EngineFault)
        assert line in str(made)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x\nModuleNotFoundError: No module named 'anonymizer'", "a worker can't run veilsearch"),
        ('java.io.IOException: Cannot run program "/x/python"', "a worker can't run veilsearch"),
        ("x: java.lang.OutOfMemoryError: Java heap", "the memory of a worker is too small"),
        ("x: Python worker exited unexpectedly (crashed)", "the memory of a worker is too small"),
        ("a: java.lang.IllegalStateException: the query", "failed (IllegalStateException); see"),
    ],
)
def test_an_error_of_spark_is_one_line(text: str, line: str) -> None:
    said = str(spark._plain(Exception(text), "spark://m:1"))
    assert line in said
    assert "the query" not in said


def test_a_worker_of_another_version_is_refused() -> None:
    with pytest.raises(TaskRefused, match=r"BadInput.a worker has Python .*, not Python 2"):
        SparkTask(len, "Python 2")([])
