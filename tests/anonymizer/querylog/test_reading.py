"""The log reader: a log by hand, every line accounted for, all of it beside a naive twin."""

from __future__ import annotations

import bz2
import gzip
import json
import re
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from anonymizer.errors import BadInput, BadParameter
from anonymizer.model import QueryLog
from anonymizer.querylog.files import format_of
from anonymizer.querylog.formats import BOM, LONGEST_LINE
from anonymizer.querylog.parquet import BYTES, batches_of
from anonymizer.querylog.reading import ReadReport, Reject, read_log

HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
MARCH_1 = 13_208 * 86_400  # 2006-03-01 is 36 years, 9 leap days and 59 days after 1970-01-01
Event = tuple[str, str, int, int]


def read(folder: Path, *contents: bytes, form: str | None = None) -> tuple[QueryLog, ReadReport]:
    paths = [folder / f"{number}.tsv" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return read_log(paths, form=form)


def texts(log: QueryLog) -> list[str]:
    return [log.text(row) for row in range(len(log))]


def events(log: QueryLog) -> list[Event]:
    columns = (log.user.tolist(), texts(log), log.time.tolist(), log.clicks.tolist())
    return [(log.users[user], *rest) for user, *rest in zip(*columns, strict=True)]


def test_a_log_by_hand(tmp_path: Path) -> None:
    log, report = read(
        tmp_path,
        HEADER
        + b"7\tJava  Island\t2006-03-01 00:00:05\t\t\n"
        + b"7\tjava island\t2006-03-01 00:00:05\t1\tjava.example\n"  # a click
        + b"7\tjava island \t2006-03-01 00:02:00\n"  # the next page
        + b"7\t-\t2006-03-01 00:03:00\t\t\n"
        + b"8\tjava island\t2006-03-01 01:00:00\t\thttp://x.example\n"
        + b"8\tkitten\t2006-02-30 01:00:00\n"
        + b"7\tkitten\t2006-03-02 00:00:00\n"
        + b"7\tjava island\t2006-03-02 00:00:01\t3\n",
    )
    assert log.users == ("7", "8")
    assert events(log) == [
        ("7", "java island", MARCH_1 + 5, 1),
        ("8", "java island", MARCH_1 + 3600, 1),
        ("7", "kitten", MARCH_1 + 86_400, 0),
        ("7", "java island", MARCH_1 + 86_401, 1),
    ]
    rejects = ((str(tmp_path / "0.tsv"), 7, "bad time"),)
    assert report == ReadReport(
        lines=9,
        events=4,
        repeats=2,
        empty=1,
        headers=1,
        rejected=1,
        reasons={"bad time": 1},
        first_rejects=rejects,
    )


def test_a_bomb_of_one_line_is_never_held_whole(tmp_path: Path) -> None:
    size = 64 * LONGEST_LINE
    bomb = tmp_path / "bomb.gz"
    with gzip.open(bomb, "wb") as file:
        for _ in range(64):
            file.write(b"x" * LONGEST_LINE)
        file.write(b"\nu\ta\t2006-03-01 00:00:00\n")
    tracemalloc.start()
    log, report = read_log([bomb])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(log) == 1
    assert report.first_rejects == ((str(bomb), 1, "longer than 1 MB"),)
    assert peak < size / 4


@pytest.mark.parametrize(
    ("name", "pack"), [("l.gz", gzip.compress), ("l.BZ2", bz2.compress), ("l.tsv", bytes)]
)
def test_compressed_logs_are_told_by_suffix(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    (tmp_path / name).write_bytes(pack(HEADER + b"u\ta\t2006-03-01 00:00:00\n"))
    log, report = read_log([tmp_path / name])
    assert events(log) == [("u", "a", MARCH_1, 0)]
    assert report.lines == 2


def test_progress_gets_the_lines_so_far(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(HEADER * 3)
    told: list[int] = []
    read_log([tmp_path / "a", tmp_path / "b"], told.append)
    assert told == [3, 6]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.tsv", None, "there is no such file; name an existing query log"),
        ("cut.gz", gzip.compress(HEADER, mtime=0)[:-9], "the log can't be read"),
        ("plain.gz", HEADER, "the log can't be read"),
        ("broken.gz", gzip.compress(HEADER, mtime=0)[:12] + b"\xff" * 40, "the log can't be read"),
        ("cut.bz2", bz2.compress(HEADER)[:-9], "the log can't be read"),
        ("plain.bz2", HEADER, "the log can't be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_in_one_line(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput) as refusal:
        read_log([tmp_path / name])
    assert str(refusal.value).startswith(f"{tmp_path / name}: {message}")
    assert "\n" not in str(refusal.value)


def test_folders_and_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="this is a folder; name the log files in it"):
        read_log([tmp_path])
    with pytest.raises(BadInput, match="give at least one file"):
        read_log([])


# -- other formats ---------------------------------------------------------------------------------


@pytest.mark.parametrize("time", ["1141197432000", "-1", "061301071712", "1e9", "2006-03-01", ""])
def test_other_forms_of_time_are_rejected(tmp_path: Path, time: str) -> None:
    for row in (f"u\ta\t{time}", json.dumps({"user": "u", "query": "a", "time": time})):
        form = "jsonl" if row.startswith("{") else "tsv"
        assert read(tmp_path, row.encode(), form=form)[1].reasons == {"bad time": 1}


def test_jsonl_by_hand(tmp_path: Path) -> None:
    rows = [
        {"user": "u", "query": "Java\tIsland\n", "time": "2006-03-01 00:00:05"},
        {"user": "u", "query": "java island", "time": MARCH_1, "clicks": 2, "age": 30},
        {"user": 7, "query": "java island", "time": 12},
        {"user": "u", "query": " - ", "time": 12},
        {"user": "u\tv", "query": "a", "time": 12},
        {"user": True, "query": "a", "time": 12},
        {"user": " ", "query": "a", "time": 12},
        {"user": "u", "query": None, "time": 12},
        {"user": "u", "query": "a\0", "time": 12},
        {"user": "u", "query": "a", "time": 1e9},
        {"user": "u", "query": "a", "time": -1},
        {"user": "u", "query": "a", "time": 12, "clicks": -1},
        {"user": "u", "query": "a", "time": 12, "clicks": "1"},
        {"user": "u", "query": "a"},
        ["u", "a", 12],
    ]
    lines = [json.dumps(row).encode() for row in rows]
    lines += [b'{"user": "u", "user": "v", "query": "a", "time": 1}', b"{", b"[" * 9999, b"\xff"]
    lines += [b'{"user": "\\ud800", "query": "a", "time": 1}']
    log, report = read(tmp_path, b"\r\n".join(lines), form="jsonl")
    assert events(log) == [("u", "java island", MARCH_1, 2), ("7", "java island", 12, 0)]
    assert (report.lines, report.repeats, report.empty) == (20, 1, 1)
    assert report.reasons == {
        "bad user id": 3,
        "no JSON object with user, query and time": 7,
        "NUL byte": 1,
        "bad time": 2,
        "bad number of clicks": 2,
        "invalid UTF-8": 1,
    }


def test_parquet_by_hand(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    moment = datetime(2006, 3, 1, 0, 0, 5, 999_999, tzinfo=UTC)
    times = {
        pa.timestamp("us", "UTC"): [moment, moment, None, moment, moment, moment],
        pa.int64(): [MARCH_1 + 5, MARCH_1 + 5, -1, MARCH_1 + 5, MARCH_1 + 5, MARCH_1 + 5],
        pa.string(): ["2006-03-01T00:00:05", "060301000005", "", *["1141171205"] * 3],
    }
    for kind, column in times.items():
        table = pa.table(
            {
                "query": pa.array(
                    ["Java\tIs\n", "java is", "a", None, "b", "Ä"], pa.large_string()
                ),
                "user": ["u", "u", "u", "u", "v\n", "ü"],
                "time": pa.array(column, kind),
                "clicks": pa.array([0, 3, 0, 0, 0, None], pa.int32()),
                "age": [1, 2, 3, 4, 5, 6],
            }
        )
        parquet.write_table(table, tmp_path / "log.parquet")
        log, report = read_log([tmp_path / "log.parquet"])
        assert events(log) == [("u", "java is", MARCH_1 + 5, 3)]
        reasons = {"bad time": 1, "bad user id": 1, "bad number of clicks": 1}
        assert (report.lines, report.empty, report.reasons) == (6, 1, reasons)
    parquet.write_table(table.select(["query", "user", "time"]), tmp_path / "log.pq")
    log, report = read_log([tmp_path / "log.pq"])
    assert events(log) == [("u", "java is", MARCH_1 + 5, 0), ("ü", "ä", MARCH_1 + 5, 0)]


def test_no_row_of_parquet_damages_the_others(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
    moments = {
        pa.uint64(): ([5, 10**11, 1 << 63, (1 << 64) - 1, 99_999_999_999], [5, 99_999_999_999]),
        pa.timestamp("s"): ([9 * 10**15, -9 * 10**15, -62_135_596_801, -1, 0], [-1, 0]),
        pa.timestamp("us"): ([-1, -1_000_000, -1_000_001, 999_999], [-1, -1, -2, 0]),
        # The first and the last moment of 64 bits: 1677-09-21 and 2262-04-11.
        pa.timestamp("ns"): ([1 - (1 << 63), (1 << 63) - 1], [-9_223_372_037, 9_223_372_036]),
    }
    for unit, ticks in second.items():
        moments[pa.timestamp(unit, "Asia/Tokyo")] = ([-ticks, None, 2 * ticks], [-1, 2])
    for kind, (times, found) in moments.items():
        names = [f"{number}" for number in range(len(times))]
        column = pa.array(times, pa.int64() if kind != pa.uint64() else kind).cast(kind)
        table = pa.table({"user": names, "query": names, "time": column})
        parquet.write_table(table, tmp_path / "log.parquet")
        log, report = read_log([tmp_path / "log.parquet"])
        assert log.time.tolist() == found, kind
        assert report.rejected == report.reasons.get("bad time", 0) == len(times) - len(found)
    texts = pa.array([b"java", b"\xff", "ä".encode()], pa.binary()).view(pa.string())
    table = pa.table({"user": ["u"] * 3, "query": texts, "time": [1, 2, 3]})
    parquet.write_table(table, tmp_path / "log.parquet")
    log, report = read_log([tmp_path / "log.parquet"])
    assert (events(log), report.reasons) == (
        [("u", "java", 1, 0), ("u", "ä", 3, 0)],
        {"invalid UTF-8": 1},
    )


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "category"])
def test_texts_of_parquet_are_of_any_kind(tmp_path: Path, kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts = {"user": ["u", None, "v", "u"], "query": ["a", "a", None, "ä"], "time": ["1"] * 4}
    columns = {
        name: pa.array(values).dictionary_encode()
        if kind == "category"
        else pa.array(values, getattr(pa, kind)())
        for name, values in texts.items()
    }
    parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=3)
    log, report = read_log([tmp_path / "log.parquet"])
    assert events(log) == [("u", "a", 1, 0), ("u", "ä", 1, 0)]
    assert (report.empty, report.reasons) == (1, {"bad user id": 1})


@pytest.mark.parametrize("dictionary", [True, False])
def test_a_bomb_of_parquet_is_never_held_whole(tmp_path: Path, dictionary: bool) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    number, size = 60, LONGEST_LINE
    long = [" cat" * (size // 8), "cat " * (size // 4), "cat" * size]
    queries = long * (number // 3) + ["end"]
    times = list(range(len(queries)))
    table = pa.table({"user": ["u"] * len(queries), "query": queries, "time": times})
    path = tmp_path / "log.parquet"
    parquet.write_table(table, path, use_dictionary=dictionary, compression="zstd")
    assert path.stat().st_size < size
    batches = [len(batch) for batch in batches_of(path)]
    assert max(batches) < BYTES + 2 * size < sum(batches)
    log, report = read_log([path])
    assert set(texts(log)) == {" ".join(["cat"] * (size // 8)), "end"}
    assert (report.lines, report.reasons) == (len(queries), {"longer than 1 MB": number // 3 * 2})


def test_parquet_that_is_none_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "log.parquet"
    for table, told in (
        (pa.table({"user": ["u"]}), "there is no column query, time; a log needs user, query"),
        (pa.table({"user": [1.5], "query": ["a"], "time": [1]}), "column user is of type double"),
        (
            pa.Table.from_arrays(
                [pa.array(["u"]), pa.array(["v"]), pa.array(["a"]), pa.array([1])],
                names=["user", "user", "query", "time"],
            ),
            r"log\.parquet: more than one column is called user; rename all but one",
        ),
    ):
        parquet.write_table(table, path)
        with pytest.raises(BadInput, match=told):
            read_log([path])
    parquet.write_table(pa.table({"named": ["u"]}), path, store_schema=False)
    for damaged in (path.read_bytes().replace(b"named", b"name\xff"), HEADER):
        path.write_bytes(damaged)
        with pytest.raises(BadInput, match="damaged, or no Parquet file"):
            read_log([path])
    with pytest.raises(BadInput, match="no such file"):
        read_log([tmp_path / "none.parquet"])
    (tmp_path / "log.tsv").write_bytes(b"PAR1")
    with pytest.raises(BadInput, match="this is Parquet; name it"):
        read_log([tmp_path / "log.tsv"])
    monkeypatch.setattr("anonymizer.querylog.parquet.pa", None)
    with pytest.raises(BadInput, match=r"log\.parquet: .* needs pyarrow: pip install pyarrow"):
        read_log([path])


@pytest.mark.parametrize(
    ("head", "form"),
    [
        (b"", "aol"),
        (HEADER, "aol"),
        (b"u\ta\t2006-03-01 00:00:00\nu\ta\t5", "aol"),
        (b"u\ta\t5\nu\ta\t2006-03-01 00:00:00\t1", "tsv"),
        (b"user\tquery\ttime\nbroken\nu\ta\t2006-03-01T00:00:00", "tsv"),
        (BOM + b'{"user": "u"}\r\n', "jsonl"),
        (b"{\n{u\ta\t5", "tsv"),
        (b"PAR1", "parquet"),
        (b"u\t970916105432\t+md foods +proteins", "excite"),
        (b"User\tTime\tQuery\r\nu\t5\t2001", "excite"),
        (b"u\t1999\t5\nu\t5\tnews", "excite"),  # 1999 may be a query or a time
        (b"u\t1999\t5\nu\tnews\t5", "tsv"),
        (b"u\t1999\t5\n", "tsv"),
    ],
)
def test_a_format_is_told_by_its_first_clear_line(head: bytes, form: str) -> None:
    assert format_of(head) == form


def test_each_file_has_its_format(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(b"u\ta\t5\n")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b'{"user":"u","query":"A","time":3}'))
    (tmp_path / "c.tsv").write_bytes(HEADER + b"u\ta\t2006-03-01 00:00:00\t1\tx\n")
    paths = [tmp_path / name for name in ("a.tsv", "b.jsonl.gz", "c.tsv")]
    log, report = read_log(paths)
    assert events(log) == [("u", "a", 3, 1)]
    assert (report.lines, report.headers, report.repeats) == (4, 1, 2)
    with pytest.raises(BadParameter, match="format csv must be one of aol, tsv, excite, jsonl"):
        read_log(paths, form="csv")


LINES = b"u\ta\t2006-03-01 00:00:00\nv\tb\t2006-03-01 00:00:00\n"
UTF_16 = "it is UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8"


@pytest.mark.parametrize(
    ("content", "form", "doubt"),
    [
        (LINES.decode().encode("utf-16"), None, f"line 1: NUL byte, and so .*; {UTF_16}"),
        (LINES.decode().encode("utf-16-le"), None, f"line 1: NUL byte, and so .*; {UTF_16}"),
        (LINES.replace(b"\n", b"\r"), None, r"; its lines end in CR alone, not LF; convert it: tr"),
        (
            b"user\ttime\tquery\n" + LINES,
            "excite",
            "line 2: bad time, and so 2 of 2 lines; if its format is not ex",
        ),
        (LINES * 5 + b"bad\n" * 80, None, ""),
    ],
)
def test_a_file_of_hardly_any_right_line_is_doubted(
    tmp_path: Path, content: bytes, form: str | None, doubt: str
) -> None:
    doubts = read(tmp_path, content, form=form)[1].doubts
    assert len(doubts) == bool(doubt)
    assert all(re.match(rf"{tmp_path / '0.tsv'}, .*{doubt}", line) for line in doubts)


def test_any_number_of_rejects_is_reported_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_bytes(b"secret\n" * 30 + b"\0")
    rejects: list[Reject] = []
    _, report = read_log([tmp_path / "log.tsv"], on_reject=rejects.append)
    assert rejects[:30] == [(str(tmp_path / "log.tsv"), n, "too few columns") for n in range(1, 31)]
    assert [why for *_, why in rejects[30:]] == ["NUL byte"]
    assert report.first_rejects == tuple(rejects[:20])
    assert "secret" not in str(report)
