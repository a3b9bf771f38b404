"""The log reader on hostile logs, cut into chunks anywhere, beside a naive twin."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anonymizer.model import QueryLog
from anonymizer.querylog import files as querylog_files
from anonymizer.querylog import formats as querylog_lines
from anonymizer.querylog import reading as querylog
from anonymizer.querylog import scanning as querylog_scan
from anonymizer.querylog.formats import TOO_FEW, Skipped
from anonymizer.querylog.reading import ReadReport, Reject, read_log
from anonymizer.querylog.scanning import scanned

Event = tuple[str, str, int, int]
BOM = "\ufeff".encode()
COLUMNS = {"aol": (3, 5), "tsv": (3, 3), "excite": (3, 3), "rows": (4, 4)}
MOST_CLICKS = 2**31 - 1  # of an event


# -- the twin: a line at a time, with nothing of the reader's own ----------------------------------


class Rejected(Exception):
    pass


def seconds(year: str, month: str, day: str, hour: str, minute: str, second: str) -> int:
    try:
        parts = map(int, (year, month, day, hour, minute, second))
        return int(datetime(*parts, tzinfo=UTC).timestamp())  # type: ignore[misc]
    except ValueError:
        raise Rejected("bad time") from None


def time_of(text: str, loose: bool) -> int:
    aol = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2}) ([0-9]{2}):([0-9]{2}):([0-9]{2})", text)
    if aol:
        return seconds(*aol.groups())
    if loose and re.fullmatch("[0-9]{1,11}", text):
        return int(text)
    if loose and re.fullmatch("[0-9]{12}", text):
        century = "20" if int(text[:2]) < 70 else "19"
        return seconds(century + text[:2], *(text[at : at + 2] for at in range(2, 12, 2)))
    iso = re.fullmatch(r"(.{10})[ T](.{8})(\.[0-9]+)?(Z|([+-])([0-9]{2}):?([0-9]{2}))?", text)
    if loose and iso:
        plain = time_of(f"{iso[1]} {iso[2]}", loose=False)
        if not iso[5]:
            return plain
        if int(iso[6]) < 24 and int(iso[7]) < 60:
            east = int(iso[6]) * 3600 + int(iso[7]) * 60
            return plain + (east if iso[5] == "-" else -east)
    raise Rejected("bad time")


def decoded(line: bytes, longest: int) -> str:
    if line.endswith(b"\r"):
        line = line[:-1]
    if line.startswith(BOM):
        line = line[len(BOM) :]
    if len(line) > longest:
        raise Rejected("longer than 1 MB")
    if 0 in line:
        raise Rejected("NUL byte")
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise Rejected("invalid UTF-8") from None


def said(line: bytes, form: str, longest: int) -> Event:
    columns = decoded(line, longest).split("\t")
    if len(columns) < COLUMNS[form][0]:
        raise Rejected("too few columns")
    if len(columns) > COLUMNS[form][1]:
        raise Rejected("too many columns")
    if form == "excite":
        columns = [columns[0], columns[2], columns[1]]
    user, query = columns[0].strip(), " ".join(columns[1].lower().split())
    if not user:
        raise Rejected("bad user id")
    if (user, columns[1]) == ("AnonID", "Query") and form == "aol":
        raise Rejected("header")
    if user.lower() in ("anonid", "user") and query == "query" and form != "aol":
        raise Rejected("header")
    time = time_of(columns[2], loose=form != "aol")
    if form == "rows" and not re.fullmatch("[0-9]{1,9}", columns[3]):
        raise Rejected("bad number of clicks")
    if query in ("", "-"):
        raise Rejected("empty")
    if form == "rows":
        return user, query, time, int(columns[3])
    return user, query, time, 1 if "".join(columns[3:]).strip() else 0


def twin(
    contents: Sequence[bytes], form: str, longest: int
) -> tuple[list[Event], Counter[str], list[tuple[int, int, str]]]:
    """Fold the slow way: look for the user's previous event, line by line."""
    made: list[Event] = []
    counts: Counter[str] = Counter()
    rejects: list[tuple[int, int, str]] = []
    for file, content in enumerate(contents):
        lines = content.split(b"\n")
        for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
            try:
                user, query, time, clicks = said(line, form, longest)
            except Rejected as rejected:
                counts[str(rejected)] += 1
                if str(rejected) not in ("empty", "header"):
                    rejects.append((file, number, str(rejected)))
                continue
            own = [at for at, event in enumerate(made) if event[0] == user]
            if own and made[own[-1]][1] == query:
                _, _, first, before = made[own[-1]]
                made[own[-1]] = (user, query, min(first, time), min(before + clicks, MOST_CLICKS))
                counts["repeat"] += 1
            else:
                made.append((user, query, time, clicks))
    return made, counts, rejects


# -- the reader, with the borders of its chunks anywhere -------------------------------------------


def read(
    contents: Sequence[bytes], form: str, chunk: int, longest: int
) -> tuple[QueryLog, ReadReport, list[Reject]]:
    rejects: list[Reject] = []
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(querylog_files, "CHUNK", chunk)
        patch.setattr(querylog_files, "_FIRST_LINES", chunk)
        patch.setattr(querylog_files, "_CUT", longest + 8)
        patch.setattr(querylog, "FORMATS", (*querylog.FORMATS, "rows"))  # Parquet's, as text
        for module in (querylog_lines, querylog_scan):
            patch.setattr(module, "LONGEST_LINE", longest)
        paths = [Path(folder) / str(number) for number in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        log, report = read_log(paths, form=form, on_reject=rejects.append)
    return log, report, [(str(paths.index(Path(f))), number, why) for f, number, why in rejects]


def check(contents: Sequence[bytes], form: str, chunk: int, longest: int) -> None:
    log, report, rejects = read(contents, form, chunk, longest)
    made, counts, refused = twin(contents, form, longest)
    columns = (log.user, range(len(log)), log.time, log.clicks)
    events = [
        (log.users[user], log.text(row), int(time), int(clicks))
        for user, row, time, clicks in zip(*columns, strict=True)
    ]
    assert events == made
    assert log.users == tuple(dict.fromkeys(event[0] for event in made))
    assert log.queries.strings() == list(dict.fromkeys(event[1] for event in made))
    assert rejects == [(str(file), number, why) for file, number, why in refused]
    assert [reject[1:] for reject in report.first_rejects] == [r[1:] for r in rejects[:20]]
    assert report.reasons == Counter(why for *_, why in refused)
    lines = sum(len(content.split(b"\n")) - (content[-1:] in (b"", b"\n")) for content in contents)
    assert (report.lines, report.events, report.repeats) == (lines, len(made), counts["repeat"])
    assert (report.empty, report.headers) == (counts["empty"], counts["header"])
    assert report.rejected == len(refused)
    assert lines == len(made) + report.repeats + report.empty + report.headers + len(refused)


TIMES = [
    b"2006-03-01 00:00:00",
    b"2006-02-30 00:00:00",
    b"2004-02-29 23:59:59",
    b"1900-02-29 00:00:00",
    b"2000-02-29 12:30:31",
    b"1969-12-31 23:59:59",
    b"0001-01-01 00:00:00",
    b"0000-01-01 00:00:00",
    b"9999-12-31 23:59:59",
    b"2006-03-01 24:00:00",
    b"2006-03-01T07:17:12",
    b"2006-03-01T07:17:12.5Z",
    b"2006-03-01 07:17:12+01:30",
    b"2006-03-01 07:17:12-0100",
    b"2006-03-01 07:17:12+24:00",
    b"2006-3-01 07:17:121",
    b"1141197432",
    b"99999999999",
    b"060301071712",
    b"991231235959",
    b"691231235959",
    b"700101000000",
    b"2006-03-01T07:17:12.250Z",
    b"2006-03-01",
    b"2006-W01-1 00:00:00",
    "2006-03-0\u0661 00:00:00".encode(),
    b"991331235959",
    b"1141197432000",
    b"-5",
    b"2006:03-01 00-00:00",
]
QUERIES = [b"a", b"A ", b"  a", b"b  c", b"B C", b"-", b" ", b"", b" - ", b'"a', b"query", b"Query"]
ODD = ["Ä".encode(), "ß\u00a0x".encode(), "\u2028".encode(), b"a\x0bb", b"a\x1cb", b"\x7f", b"a\rb"]
ODD += [b"\xff", b"\0", b"\xed\xa0\x80", BOM, "İ".encode(), "ΑΣ".encode(), b"\r", b"\x85"]
USERS = [b"u", b"v", b"w ", b" u", b"U", b"AnonID", b"user", b"USER", b"", b" ", *ODD[:4]]
field = st.sampled_from([*USERS, *QUERIES, *TIMES, *ODD])
noise = st.lists(field, max_size=7).map(b"\t".join) | st.binary(max_size=30)
line = st.builds(
    b"%b%b\t%b\t%b%b%b".__mod__,
    st.tuples(
        st.sampled_from([b"", b"", b"", BOM]),
        st.sampled_from(USERS),
        st.sampled_from(QUERIES)
        | st.lists(st.sampled_from(ODD + QUERIES), max_size=3).map(b" ".join),
        st.sampled_from(TIMES) | st.sampled_from(TIMES[:3]),
        st.sampled_from(
            [b"", b"", b"\t", b"\t1", b"\t\t", b"\t \t\xc2\xa0", b"\t\tx.example", b"\t1\tx\t"]
        ),
        st.sampled_from([b"", b"", b"\r", b"\r\r", b" "]),
    ),
)
plain = st.builds(
    b"%b\t%b\t2006-03-01 00:00:%02d\t%b\t%b".__mod__,
    st.tuples(
        st.sampled_from([b"u", b"v", b"w"]),
        st.sampled_from(QUERIES),
        st.integers(0, 59),
        st.sampled_from([b"", b"1"]),
        st.sampled_from([b"", b"x.example"]),
    ),
)
content = st.lists(line | plain | noise, max_size=12).map(b"\n".join)
CLICKS = [b"0", b"1", b"7", b"007", b"123456789", b"999999999", b"000000001"]
BAD_CLICKS = [b"1000000000", b"0000000001", b"12345678901", b"999999999999", b"9" * 20]
BAD_CLICKS += [b"", b" ", b"-1", b"+1", b" 1", b"1 ", b"1.0", b"1e3", b"1_0", b"x", b"1\t1"]
BAD_CLICKS += ["١".encode(), "²".encode(), b"\xff", b"1\0", b"1\r1"]
row = st.builds(
    b"%b\t%b\t%b\t%b%b".__mod__,
    st.tuples(
        st.sampled_from(USERS),
        st.sampled_from(QUERIES),
        st.sampled_from(TIMES) | st.sampled_from(TIMES[:3]),
        st.sampled_from(CLICKS) | st.sampled_from(CLICKS + BAD_CLICKS),
        st.sampled_from([b"", b"", b"\r"]),
    ),
)
counted = st.builds(
    b"%b\t%b\t2006-03-01 00:00:%02d\t%b".__mod__,
    st.tuples(
        st.sampled_from([b"u", b"v"]),
        st.sampled_from([b"a", b"B c"]),
        st.integers(0, 59),
        st.sampled_from(CLICKS) | st.sampled_from(BAD_CLICKS),
    ),
)


# Every time, and whatever else makes a line odd.
ALL = [b"u\ta\t" + time for time in TIMES] + [odd + b"\t" + odd + b"\t5" for odd in ODD]
ALL += [b"", b"u\ta", b"\ta\t5", b"u\ta\t2006-03-01 00:00:00\t1\tx\ty", b"\xff\0" * 90]


@settings(max_examples=200)
@given(
    st.lists(content, min_size=1, max_size=3),
    st.sampled_from(["aol", "tsv", "excite"]),
    st.integers(1, 90),
    st.integers(1, 90),
)
@example([b"AnonID\tQuery\t2006-03-01 00:00:00\nAnonID\tquery\t2006-03-01 00:00:00"], "aol", 99, 99)
@example([b"user\tQuery\t2006-03-01 00:00:00\nu\tquery\t2006-03-01 00:00:00"], "tsv", 99, 99)
@example([b"u\ta\t2006-03-01 00:00:00\r\n"], "aol", 24, 21)
@example([b"\n".join(ALL)], "aol", 99, 99)
@example([b"\n".join(ALL)], "tsv", 99, 99)
@example([b"\n".join(b"u\t" + time + b"\tB  c" for time in TIMES)], "excite", 99, 99)
@example([b"user\ttime\tQuery\nu\t5\tquery\r\nu\t5\t-\nu\t5\tx\ty"], "excite", 99, 99)
@example([b"u\ta\t2006-03-01 00:00:00\r\n", b"\n\n", b""], "tsv", 1, 20)
def test_a_hostile_log_is_read_as_by_the_twin(
    contents: list[bytes], form: str, chunk: int, longest: int
) -> None:
    check(contents, form, chunk, longest)


@settings(max_examples=200)
@given(
    st.lists(row | counted | line, max_size=12).map(b"\n".join),
    st.integers(1, 90),
    st.integers(20, 90),
)
@example(b"\n".join(b"u\ta\t5\t%b" % clicks for clicks in CLICKS + BAD_CLICKS), 999, 90)
@example(b"\n".join([b"u\ta\t5\t999999999"] * 3), 999, 90)
def test_rows_with_clicks_are_read_as_by_the_twin(content: bytes, chunk: int, longest: int) -> None:
    check([content], "rows", chunk, longest)


@given(st.lists(plain, max_size=60).map(b"\n".join), st.integers(1, 3000))
def test_a_plain_log_is_folded_as_by_the_twin(content: bytes, chunk: int) -> None:
    check([content], "aol", chunk, 1 << 20)


@settings(max_examples=30)
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=40))
def test_a_log_of_nothing_but_odd_lines_is_read(queries: list[str]) -> None:
    rows = ["ü\t" + query + "é\t2006-03-01 00:00:00" for query in queries]
    check(["\n".join(rows).encode()], "aol", 64, 1 << 20)


def test_many_texts_keep_apart_while_the_tables_grow() -> None:
    rows = [b"u%d\tquery %d\t2006-03-01 00:00:00" % (n % 5_003, n % 8_009) for n in range(20_000)]
    log, report, _ = read([b"\n".join(rows)], "aol", 50_000, 1 << 20)
    assert (len(log.users), len(log.queries), report.events) == (5_003, 8_009, 20_000)
    assert [log.text(row) for row in range(20_000)] == [f"query {n % 8_009}" for n in range(20_000)]
    assert [log.users[user] for user in log.user.tolist()] == [
        f"u{n % 5_003}" for n in range(20_000)
    ]


def test_lines_of_a_megabyte() -> None:
    size = (1 << 20) - len(b"u\t\t2006-03-01 00:00:00")
    rows = [b"u\t%b\t2006-03-01 00:00:00" % (b"x" * (size + more)) for more in (0, 1, -1)]
    check([b"\n".join(rows)], "aol", 1 << 20, 1 << 20)


@pytest.mark.parametrize(("form", "least"), [("aol", 3), ("tsv", 3), ("excite", 3), ("rows", 4)])
def test_lines_of_too_few_columns_need_no_careful_parser(
    monkeypatch: pytest.MonkeyPatch, form: str, least: int
) -> None:
    careful: list[bytes] = []

    def parsed(line: bytes, _: str) -> None:
        careful.append(line)
        raise Skipped("odd")

    monkeypatch.setattr(querylog_scan, "parsed", parsed)
    short = [b"u" + b"\ta" * columns for columns in range(least - 1)]
    lines = [b"", *short, "ü".encode(), b"\r", b"\0", b" "]
    _, refused = scanned(b"\n".join(lines), form)
    reasons = [TOO_FEW] * least + ["odd", TOO_FEW, "odd", TOO_FEW]
    assert list(refused.items()) == list(enumerate(reasons))
    assert careful == ["ü".encode(), b"\0"]
