"""A log made into profiles part by part: the result is that of the whole log, to the byte."""

from __future__ import annotations

import bz2
import gzip
import json
import random
from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from anonymizer.backends.log_pieces import (
    deal_lines,
    files_read,
    part_of_log,
    pieces_of,
    report_of_parts,
)
from anonymizer.backends.log_profiles import (
    PartChoices,
    chosen_owners,
    counts_in_part,
    owners_in_part,
    united_counts,
)
from anonymizer.errors import BadInput, BadParameter
from anonymizer.model import Profiles, QueryLog
from anonymizer.profiles.building import ProfileChoices, build_profiles, without_robots
from anonymizer.profiles.origins import Origins
from anonymizer.querylog.files import lines_between
from anonymizer.querylog.reading import FIRST_REJECTS, ReadReport, read_log
from anonymizer.storage.profiles import fingerprint

WORDS = ["java", "coffee", "kitten", "Ä b", "tea", "x y", "zoo", "pup", "-", "", "ride"]
_SAME_MINUTE = 1_141_197_432


def events_of(seed: int, lines: int = 100) -> list[tuple[str, str, int]]:
    """Return lines of users who come and go, with repeated and empty queries."""
    rng = random.Random(seed)  # noqa: S311
    made: list[tuple[str, str, int]] = []
    for _ in range(lines):
        user = rng.choice(["u1", "u2", "ü 3", "4", "u5 ", "u6", "seven"])
        query = rng.choice([" ".join(rng.sample(WORDS, 2)), rng.choice(WORDS)])
        made.append((user, query, _SAME_MINUTE + rng.randrange(10**6)))
        if rng.random() < 0.3:
            made.append((user, query, made[-1][2] + rng.randrange(-50, 50)))
    return made


def tsv(events: list[tuple[str, str, int]]) -> bytes:
    lines = [f"{user}\t{query}\t{time}" for user, query, time in events]
    lines[3:3] = [
        "user\tquery\ttime",
        *["bad"] * 9,
        "u\tq\tnever",
        "",
        f"long\t{'x' * 1_048_577}\t7",
    ]
    return "\r\n".join(lines).encode()  # and no LF at the end


def jsonl(events: list[tuple[str, str, int]]) -> bytes:
    records = [{"user": u, "query": q, "time": t, "clicks": 1} for u, q, t in events]
    return b"".join(json.dumps(record).encode() + b"\n" for record in records) + b"{}\n"


def files_in(folder: Path) -> list[Path]:
    """Write logs of all forms, whose users overlap, and return their paths."""
    contents = {
        "a.tsv": tsv(events_of(1)),
        "b.jsonl": jsonl(events_of(2)),
        "c.tsv.gz": gzip.compress(tsv(events_of(3))),
        "d.tsv.bz2": bz2.compress(tsv(events_of(4, 50))),
        "empty.tsv": b"",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in contents]


def dealt(paths: list[Path], parts: int, size: int, most: int | None = FIRST_REJECTS) -> Any:
    """Return the pieces, and what each part gets, in another order than it was dealt."""
    pieces = pieces_of(paths, None, size)
    records = [record for piece in reversed(pieces) for record in deal_lines(piece, parts, most)]
    by_part = groupby(sorted(records, key=lambda record: record[0]), key=lambda record: record[0])
    whole = {part: [content for _, content in own] for part, own in by_part}
    return pieces, [whole.get(part, []) for part in range(parts)]


Made = tuple[Profiles, QueryLog, Origins | None, ReadReport, int | None]


def in_parts(paths: list[Path], how: PartChoices, parts: int, size: int) -> Made:
    pieces, own = dealt(paths, parts, size)
    made = [owners_in_part(some, how) for some in own]
    summaries = [part.summary for part in made]
    chosen = chosen_owners(summaries, how.choices)
    counts = (
        counts_in_part(part, owners, rows, chosen.times, how)
        for part, owners, rows in zip(made, chosen.owners, chosen.rows, strict=True)
    )
    report = report_of_parts(pieces, [part.read for part in summaries], paths)
    dropped = None if how.robots is None else sum(p.dropped or 0 for p in summaries)
    return *united_counts(counts, chosen, how), report, dropped


def at_once(paths: list[Path], how: PartChoices) -> Made:
    log, report = read_log(paths)
    dropped = None
    if how.robots is not None:
        log, dropped = without_robots(log, robots=how.robots, gap=how.choices.gap)
    dated: list[Origins] = []
    made, held = build_profiles(log, how.analyse(), how.choices, on_origins=dated.append)
    return made, held, dated[0] if how.with_events else None, report, dropped


def content(made: Made) -> list[Any]:
    """Return all that is `made` in a form that can be compared."""
    profiles, held, origins, report, dropped = made
    rows = [(held.users[u], held.text(i)) for i, u in enumerate(held.user.tolist())]
    dated = vars(origins) if origins else {}
    arrays = {k: (v.dtype, v.tolist()) if hasattr(v, "dtype") else v for k, v in dated.items()}
    return [fingerprint(profiles), rows, arrays, report, dropped]


def analysis() -> Callable[[str], list[str]]:
    return str.split


CHOICES: list[dict[str, Any]] = [
    {},
    {"weights": "tfidf", "size": 3, "users": 5},
    {"weights": "recency", "test_share": 0.3},
    {"weights": "tf", "granularity": "session", "gap": 40_000, "test_share": 0.2},
    {"granularity": "session", "gap": 9_000, "users": 9, "robots": 5},
]


@pytest.mark.parametrize("chosen", CHOICES, ids=str)
def test_parts_make_the_profiles_of_the_whole_log(tmp_path: Path, chosen: dict[str, Any]) -> None:
    paths = files_in(tmp_path)
    robots = chosen.pop("robots", None) if "robots" in (chosen := dict(chosen)) else None
    for with_events in (True, False):
        how = PartChoices(ProfileChoices(**chosen), robots, analysis, with_events)
        whole = content(at_once(paths, how))
        assert whole[3].rejected > FIRST_REJECTS / 2
        assert whole[4] != 0
        # More parts than users, and pieces shorter than the longest line.
        for parts, size in ((1, 1 << 20), (3, 40_000), (16, 5_001)):
            assert content(in_parts(paths, how, parts, size)) == whole


def test_pieces_have_each_line_once(tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    for text in (b"", b"\n", b"a", b"a\n", b"a\n\nbc\n\n", b"\n\nabc\nd", b"abcdef\n" * 3):
        path.write_bytes(text)
        lines = text.removesuffix(b"\n").split(b"\n") if text else []
        for size in range(1, 9):
            spans = [(low, min(low + size, len(text))) for low in range(0, len(text), size)]
            batches = [batch for span in spans for batch in lines_between(path, *span)]
            assert b"\n".join(batches).split(b"\n") == (lines or [b""]), (text, size)


def test_a_user_s_events_are_in_one_part_with_their_places_in_the_log(tmp_path: Path) -> None:
    paths = files_in(tmp_path)
    whole, _ = read_log(paths, folded=False)
    _, parts = dealt(paths, 4, 20_000)
    events, seen = [], set[str]()
    for some in parts:
        folding, _ = part_of_log(some, folded=False)
        log = folding.log()
        assert not seen & {*log.users}
        seen |= {*log.users}
        users = [log.users[user] for user in log.user.tolist()]
        events += zip(folding.places.tolist(), users, map(log.text, range(len(log))), strict=True)
    expected = [(whole.users[user], whole.text(at)) for at, user in enumerate(whole.user.tolist())]
    assert [event[1:] for event in sorted(events)] == expected


def test_users_are_called_by_the_names_that_are_given(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_bytes(tsv([("g1", "tea", 5), ("g2", "zoo", 6)]))
    (piece,) = pieces_of([tmp_path / "log.tsv"], None)
    lines = [some for _, some in deal_lines(piece, 1, 0, {"g1": "somebody ü", "g2": "b"})]
    log = part_of_log(lines)[0].log()
    assert log.users == ("somebody ü", "b")
    assert [log.text(event) for event in range(2)] == ["tea", "zoo"]
    with pytest.raises(BadInput, match="a row that nobody has"):
        list(deal_lines(piece, 1, 0, {"g1": "a"}))


def test_all_rejects_are_kept_if_they_are_wanted(tmp_path: Path) -> None:
    paths = files_in(tmp_path)
    seen: list[tuple[str, int, str]] = []
    read_log(paths, on_reject=seen.append)
    pieces, parts = dealt(paths, 3, 10_000, None)
    files = files_read(pieces, [part_of_log(some)[1] for some in parts], paths)
    kept = [(str(path), *reject) for path, _, read in files for reject in read.rejects]
    assert kept == seen
    assert len(seen) > FIRST_REJECTS


@pytest.mark.parametrize("name", ["log.tsv", "log.tsv.gz"])
def test_a_log_that_changes_while_it_is_read_is_refused(tmp_path: Path, name: str) -> None:
    path, pack = tmp_path / name, gzip.compress if name.endswith("gz") else bytes
    path.write_bytes(pack(tsv([("a", "tea", 5)] * 40)))
    pieces = pieces_of([path], None, 200)
    path.write_bytes(pack(tsv([("a", "tea", 5)] * 40 + [("b", "zoo", 6)])))
    with pytest.raises(BadInput, match="changed while it was read"):
        list(deal_lines(pieces[-1], 2, 0))


def test_what_one_machine_refuses_parts_refuse_in_the_same_words(tmp_path: Path) -> None:
    paths = files_in(tmp_path)
    for chosen in ({"size": 99}, {"users": 99}):
        how = PartChoices(ProfileChoices(**chosen), None, analysis, False)
        texts = []
        for make in (partial(at_once, paths, how), partial(in_parts, paths, how, 3, 50_000)):
            with pytest.raises(BadParameter) as refused:
                make()
            texts.append(str(refused.value))
        assert texts[0] == texts[1]
