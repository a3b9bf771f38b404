"""The AOL reader: a log by hand, every line accounted for, folding beside a naive twin."""

from __future__ import annotations

import bz2
import gzip
import tempfile
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer import querylog
from anonymizer.model import BadInput, QueryLog
from anonymizer.querylog import LONGEST_LINE, ReadReport, read_log

HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
MARCH_1 = 13_208 * 86_400  # 2006-03-01 is 36 years, 9 leap days and 59 days after 1970-01-01
Event = tuple[str, str, int, int]


def read(folder: Path, *contents: bytes) -> tuple[QueryLog, ReadReport]:
    paths = [folder / f"{number}.tsv" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return read_log(paths)


def events(log: QueryLog) -> list[Event]:
    columns = (log.user.tolist(), log.query, log.time.tolist(), log.clicks.tolist())
    return [(log.users[user], *rest) for user, *rest in zip(*columns, strict=True)]


def total(report: ReadReport) -> int:
    return report.events + report.repeats + report.empty + report.rejected + report.headers


def reason(folder: Path, line: bytes) -> str:
    """Return why a line is rejected; the good lines around it must stay."""
    log, report = read(
        folder, b"u\ta\t2006-03-01 00:00:00\n" + line + b"\nv\tb\t2006-03-01 00:00:01"
    )
    assert events(log) == [("u", "a", MARCH_1, 0), ("v", "b", MARCH_1 + 1, 0)]
    assert (report.lines, report.rejected) == (3, 1)
    ((file, number, why),) = report.first_rejects
    assert (file, number) == (str(folder / "0.tsv"), 2)
    assert report.reasons == {why: 1}
    return why


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


def test_other_users_and_empty_and_rejected_lines_and_files_do_not_part_an_event(
    tmp_path: Path,
) -> None:
    log, report = read(
        tmp_path,
        b"u\ta\t2006-03-01 00:00:09\nv\tx\t2006-03-01 00:00:00\nu\t \t2006-03-01 00:00:01\nu\n",
        b"u\tA\t2006-03-01 00:00:03\tx\n",
    )
    assert events(log) == [("u", "a", MARCH_1 + 3, 1), ("v", "x", MARCH_1, 0)]
    assert (report.repeats, report.empty, report.rejected) == (1, 1, 1)


def test_a_query_asked_again_is_held_once(tmp_path: Path) -> None:
    line = b"u\tthe same\t2006-03-01 00:00:00\n"
    log, _ = read(tmp_path, line + b"u\tother\t2006-03-01 00:00:00\n" + line)
    assert len(log) == 3
    assert log.query[0] is log.query[2]


def test_headers_boms_and_carriage_returns_stand_anywhere(tmp_path: Path) -> None:
    line = b"u\ta\t2006-03-01 00:00:00\r\n"
    bom = "\ufeff".encode()
    log, report = read(
        tmp_path, bom + HEADER + line + bom + HEADER + bom + line, bom + line + HEADER
    )
    assert events(log) == [("u", "a", MARCH_1, 0)]
    assert (report.headers, report.repeats, report.rejected) == (3, 2, 0)


def test_only_a_line_feed_ends_a_line_and_quotes_mean_nothing(tmp_path: Path) -> None:
    odd = 'u\t"a\r\x0b\x0c\x1c\x85\u2028b\t2006-03-01 00:00:00\nu\tc"\t2006-03-01 00:00:00\n'
    log, report = read(tmp_path, odd.encode())
    assert log.query == ('"a b', 'c"')
    assert (report.lines, report.rejected) == (2, 0)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "too few columns"),
        (b"u\ta", "too few columns"),
        (b"u\ta\t2006-03-01 00:00:00\t1\tx\ty", "too many columns"),
        (b"\ta\t2006-03-01 00:00:00", "bad user id"),
        (b" \ta\t2006-03-01 00:00:00", "bad user id"),
        (b"u\ta\t2006-02-30 00:00:00", "bad time"),
        (b"u\ta\t2006-13-01 00:00:00", "bad time"),
        (b"u\ta\t0000-01-01 00:00:00", "bad time"),
        (b"u\ta\t2006-03-01 24:00:00", "bad time"),
        (b"u\ta\t2006-03-01 00:60:00", "bad time"),
        (b"u\ta\t2006-03-01 00:00:60", "bad time"),
        (b"u\ta\t2006-03-01", "bad time"),
        (b"u\ta\t2006-03-01 00:00:00Z", "bad time"),
        (b"u\ta\t2006-W01-1 00:00:00", "bad time"),
        ("u\ta\t2006-03-0\u0661 00:00:00".encode(), "bad time"),
        (b"u\ta\t", "bad time"),
        (b"u\t-\t", "bad time"),
        (b"u\ta\0\t2006-03-01 00:00:00", "NUL byte"),
        (b"u\ta\xff\t2006-03-01 00:00:00", "invalid UTF-8"),
        (b"u\xe2\ta\t2006-03-01 00:00:00", "invalid UTF-8"),
        (b"u\t\xed\xa0\x80\t2006-03-01 00:00:00", "invalid UTF-8"),  # half a character
        (b"u\t" + b"a" * LONGEST_LINE + b"\t2006-03-01 00:00:00", "longer than 1 MB"),
        (b"\xff\0" * LONGEST_LINE, "longer than 1 MB"),
    ],
)
def test_a_malformed_line_is_rejected_with_number_and_reason(
    tmp_path: Path, line: bytes, why: str
) -> None:
    assert reason(tmp_path, line) == why


@pytest.mark.parametrize("extra", [0, 1])
def test_the_longest_line_is_measured_without_bom_and_cr(tmp_path: Path, extra: int) -> None:
    ends = b"u\t", b"\t2006-03-01 00:00:00"
    query = b"a" * (LONGEST_LINE - len(b"".join(ends)) + extra)
    line = "\ufeff".encode() + ends[0] + query + ends[1] + b"\r\n"
    log, report = read(tmp_path, line + b"v\tb\t2006-03-01 00:00:00\n")
    assert [len(query) for query in log.query] == ([] if extra else [len(query)]) + [1]
    assert report.reasons == ({"longer than 1 MB": 1} if extra else {})


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


def test_the_first_twenty_rejects_are_named_without_their_text(tmp_path: Path) -> None:
    _, report = read(tmp_path, b"secret\n" * 15, b"secret\n" * 15)
    places = [(str(tmp_path / "0.tsv"), n) for n in range(1, 16)]
    places += [(str(tmp_path / "1.tsv"), n) for n in range(1, 6)]
    assert [reject[:2] for reject in report.first_rejects] == places
    assert report.rejected == 30
    assert "secret" not in str(report)


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


@pytest.mark.parametrize("content", [b"", HEADER])
def test_a_log_without_queries(tmp_path: Path, content: bytes) -> None:
    log, report = read(tmp_path, content)
    assert (len(log), log.users, report.events) == (0, (), 0)


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
        ("cut.gz", gzip.compress(HEADER)[:-9], "the log can't be read"),
        ("plain.gz", HEADER, "the log can't be read"),
        ("broken.gz", gzip.compress(HEADER)[:12] + b"\xff" * 40, "the log can't be read"),
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


# -- properties ------------------------------------------------------------------------------------

TIMES = [b"2006-03-01 00:00:00", b"2006-02-30 00:00:00", b"1969-12-31 23:59:59"]
STRAYS = [b"", b" ", b"-", b"AnonID", b"Query", b"\xff", b"\0", b"a\r", "\ufeff".encode()]
FIELDS = st.sampled_from([b"u", b"v", *STRAYS, *TIMES])
NOISE = st.lists(FIELDS, max_size=7).map(b"\t".join) | st.binary(max_size=30)
GOOD = st.builds(
    b"%b\t%b\t2006-03-01 00:00:%02d\t%b\t%b".__mod__,
    st.tuples(
        st.sampled_from([b"u", b"v", b"w"]),
        st.sampled_from([b"a", b"A ", b"b", b"-", b" "]),
        st.integers(0, 59),
        st.sampled_from([b"", b"1"]),
        st.sampled_from([b"", b"x.example"]),
    ),
)


def read_in_small_chunks(contents: Sequence[bytes], longest: int) -> tuple[QueryLog, ReadReport]:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(querylog, "LONGEST_LINE", longest)
        patch.setattr(querylog, "_CUT", longest + 8)
        return read(Path(folder), *contents)


@settings(deadline=None)
@given(st.lists(st.lists(GOOD | NOISE).map(b"\n".join), min_size=1, max_size=3), st.integers(1, 60))
def test_counts_add_up_wherever_chunks_end(contents: list[bytes], longest: int) -> None:
    log, report = read_in_small_chunks(contents, longest)
    lines = [line for content in contents for line in content.split(b"\n")]
    unended = sum(content.endswith(b"\n") or not content for content in contents)
    assert report.lines == total(report) == len(lines) - unended
    assert report.events == len(log)
    assert report.rejected == sum(report.reasons.values())
    assert len(report.first_rejects) == min(report.rejected, 20)
    assert int(log.clicks.sum()) <= report.events + report.repeats
    assert report.reasons.get("longer than 1 MB", 0) == sum(
        len(line.removeprefix("\ufeff".encode()).removesuffix(b"\r")) > longest for line in lines
    )


def folded(lines: Sequence[bytes]) -> list[Event]:
    """Fold the slow way: look for the user's previous event, line by line."""
    made: list[Event] = []
    for line in lines:
        user, raw, time, rank, url = line.decode().split("\t")
        query, seconds = raw.strip().lower(), MARCH_1 + int(time[-2:])
        if query in ("", "-"):
            continue
        click = int(rank != "" or url != "")
        own = [at for at, event in enumerate(made) if event[0] == user]
        if own and made[own[-1]][1] == query:
            _, _, first, clicks = made[own[-1]]
            made[own[-1]] = (user, query, min(first, seconds), clicks + click)
        else:
            made.append((user, query, seconds, click))
    return made


@settings(deadline=None)
@given(st.lists(GOOD), st.integers(40, 200))
def test_folding_equals_its_naive_twin(lines: list[bytes], chunk: int) -> None:
    log, report = read_in_small_chunks([b"\n".join(lines)], chunk)
    assert events(log) == folded(lines)
    assert report.rejected == 0
    assert log.users == tuple(dict.fromkeys(user for user, *_ in events(log)))
