"""The judge reads a log by itself, and sees in it what the product sees."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import BadInput
from anonymizer.profiles.building import ProfileChoices, build_profiles
from anonymizer.querylog.reading import read_log
from anonymizer.storage.profiles import fingerprint
from anonymizer.terms.analysis import WordAnalysis
from anonymizer.terms.counting import TermCounter
from anonymizer.verification.files.profiles import read_people

USERS = ["u", " u", "v", "", "AnonID", "User", "ü", "\ufeffu"]
QUERIES = [
    "a b",
    "A  b",
    "query",
    "Query",
    "-",
    "",
    "??",
    "é1 z",
    "b c",
    "\N{KELVIN SIGN}",
    "b\x1fc",
    "İ",
]
AOL = ["2006-03-01 07:17:12", "2006-02-29 07:17:12", "2006-03-01 24:00:00", "2006-3-1 7:17", ""]
LOOSE = [*AOL, "1141197432", "060301071712", "063301071712", "2006-03-01T07:17:12.5+01:00",
         "2006-03-01 07:17:12Z", "2006-03-01T07:17:12+25:00", "123456789012", "time"]  # fmt: skip
ENDS = ["\n", "\r\n", "\t\t\n", "\t1\thttp://a\n", "\tx\ty\tz\n", "\0\n"]
OTHER = ["no column", "", "\tb\t2006-03-01 07:17:12", "{}", "u\tb"]


def lines(query: int, times: list[str], ends: list[str]) -> st.SearchStrategy[str]:
    def line(user: str, text: str, time: str, end: str) -> str:
        columns = [user, text, time] if query == 1 else [user, time, text]
        return "\t".join(columns) + end

    drawn = st.builds(line, *map(st.sampled_from, (USERS, QUERIES, times, ends))) | st.sampled_from(
        OTHER
    ).map(lambda text: f"{text}\n")
    return st.lists(drawn, max_size=30).map("".join)


def as_json(user: object, query: object, time: object, clicks: object) -> str:
    record = {"user": user, "query": query, "time": time, "clicks": clicks}
    return json.dumps({name: value for name, value in record.items() if value is not None}) + "\n"


JSON = st.lists(
    st.builds(
        as_json,
        *map(
            st.sampled_from,
            (
                [*USERS, 7, True, "a\nb"],
                [*QUERIES, 3, "a\0"],
                [*LOOSE, 12, 1.5, None],
                [None, 2, -1, "1"],
            ),
        ),
    ),
    max_size=20,
).map("".join)
TEXTS = st.one_of(
    lines(1, AOL, ENDS).map(lambda text: (".tsv", f"v\td\t{AOL[0]}\t\t\n{text}")),
    lines(1, LOOSE, ["\n"]).map(lambda text: (".tsv", f"user\tquery\ttime\n{text}")),
    lines(2, LOOSE, ["\n"]).map(lambda text: (".tsv", f"user\ttime\tquery\n{text}")),
    lines(1, LOOSE, ENDS).map(lambda text: (".tsv", text)),
    JSON.map(lambda text: (".jsonl", as_json("v", "d", 12, None) + text)),
)


@given(TEXTS, st.booleans())
def test_the_judge_and_the_product_see_the_same(text: tuple[str, str], packed: bool) -> None:
    suffix, content = text
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"log{suffix}")
        if packed and suffix == ".tsv":
            path = path.with_suffix(".tsv.gz")
            path.write_bytes(gzip.compress(content.encode(errors="surrogatepass")))
        else:
            path.write_bytes(content.encode(errors="surrogatepass"))
        log, _ = read_log([path])
        counter = TermCounter(WordAnalysis(digits=True))
        try:
            made, _ = build_profiles(log, counter, ProfileChoices(weights="tf"))
        except BadInput:
            made = None
        try:
            people = read_people(path)
        except BadInput:
            assert made is None
            return
        assert made is not None
        assert people.fingerprint() == fingerprint(made)
        queries = people.queries
        assert queries is not None
        events = Counter(
            (log.users[user], log.queries.text(query))
            for user, query in zip(log.user.tolist(), log.query.tolist(), strict=True)
        )
        ends, columns, counts = (values.tolist() for values in queries.cells)
        seen = {
            (user, queries.texts[columns[cell]]): counts[cell]
            for at, user in enumerate(queries.users)
            for cell in range(ends[at], ends[at + 1])
        }
        assert seen == events
