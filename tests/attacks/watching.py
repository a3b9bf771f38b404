"""What observers see, and what they conclude: attack code that shares nothing with the product.

An outsider keeps each published file there ever was. A person who has signed in reads pages and
the API. Both compare any two moments. Only public files, HTTP and the standard library are used.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Get = Callable[[str], tuple[int, str]]  # a path -> status and text
Weights = dict[str, float]

NOISE = re.compile(
    r'"milliseconds": ?[0-9]+|[0-9,]+ ms|nonce-[^"\']+|nonce="[^"]+"|\?v=[0-9a-f]+|'
    r'"at": ?[0-9]+|name="token" value="[^"]+"'
)


DOCUMENT = re.compile(r'<p class="snippet".*?</p>|"snippet": ?"[^"]*"', re.DOTALL)  # of the corpus


COUNTS = (
    *("users", "groups", "single_person_rows"),
    *("smallest_group", "mean_group", "largest_group"),
)


class Outsider:
    """Keeps all published files; `rows`: each row name ever seen, and its line."""

    def __init__(self) -> None:
        self.rows: dict[str, bytes] = {}
        self.now: list[bytes] = []
        self._gone: set[str] = set()
        self._stated: dict[int, str] = {}
        self._certificates: dict[str, Any] = {}
        self._facts: dict[int, dict[str, Any]] = {}

    def sees(self, content: bytes) -> None:
        """Take in a published file; fail if it tells more than rows that come and go."""
        first, *lines = content.splitlines(keepends=True)
        head, records = json.loads(first), [json.loads(line) for line in lines]
        names = [record["row"] for record in records]
        assert len({*names}) == len(names), "two rows have one name"
        for name, line in zip(names, lines, strict=True):
            assert self.rows.setdefault(name, line) == line, f"{name} has changed"
            assert name not in self._gone, f"{name} came back"
        assert names == [name for name in self.rows if name in names], "rows have moved"
        self._gone |= self.rows.keys() - names
        self.now = lines
        self._recount(head, records)

    def _recount(self, head: dict[str, Any], records: list[dict[str, Any]]) -> None:
        """Check that the first line has nothing new but counts of its own rows."""
        cohorts, start = [head, *head.pop("cohorts", ())], 0
        self._certified(cohorts, head.pop("sha256"))
        if len(cohorts) == 1:
            cohorts[0]["rows"] = len(records)
        else:
            cohorts[0]["rows"] = len(records) - sum(one["rows"] for one in cohorts[1:])
        for number, cohort in enumerate(cohorts):
            rows = records[start : start + cohort.pop("rows")]
            start += len(rows)
            facts, sizes = cohort["facts"], [row["users"] for row in rows]
            counts = {name: facts.pop(name) for name in COUNTS if name in facts}
            if not rows:
                continue
            # A last row that is no group's stands apart.
            groups = sizes[: counts.get("groups", len(sizes))]
            assert len(sizes) - len(groups) in (0, 1)
            known = {
                "users": sum(sizes),
                "groups": len(groups),
                "single_person_rows": groups.count(1),
                "smallest_group": min(groups),
                "largest_group": max(groups),
                "mean_group": float(f"{sum(groups) / len(groups):.12g}"),
            }
            wrong = {n: v for n, v in counts.items() if known[n] != v}
            assert not wrong, f"counts tell what no row tells: {wrong}, not {known}"
            withdrawn = cohort.pop("withdrawn", None)
            # Facts that nobody could recount any more may go. None may come or change.
            first = self._facts.setdefault(number, facts)
            assert facts.items() <= first.items(), f"facts have changed: {facts}, not {first}"
            del cohort["facts"]
            stated = json.dumps(cohort, sort_keys=True)
            before = self._stated.setdefault(number, stated)
            assert before == stated, f"the first line has changed: {first_change(before, stated)}"
            if withdrawn:
                assert withdrawn.keys() == {"rows"}

    def _certified(self, cohorts: list[dict[str, Any]], sha256: str) -> None:
        """Check that the certificate says nothing new of rows that are the same."""
        certificate = cohorts[0]["quoted"].pop("certificate", None)
        gone = any("withdrawn" in one for one in cohorts)
        assert (certificate is None) == gone, "whether there is one says more than the rows"
        before = self._certificates.setdefault(sha256, certificate)
        assert certificate == before, "the certificate of the same rows has changed"
        assert certificate is None or certificate["sha256"] == sha256


def total(rows: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Return the sum of `rows`, each weighted by the people behind it."""
    summed: Counter[str] = Counter()
    for row in rows:
        for term, weight in row["terms"].items():
            summed[term] += row["users"] * weight
    return summed


def difference(old: Counter[str], new: Counter[str]) -> dict[str, float]:
    """Return by how much each term of `old` and `new` differs, without rounding's traces."""
    terms = {term: old[term] - new[term] for term in {*old, *new}}
    return {term: value for term, value in terms.items() if abs(value) > 1e-6}


OWN = "/me/download"
SEARCHES = ("/api/v1/search?q=java&mode=group",)  # first, as other pages show the last search
PAGES = (
    *("/compare?q=java", "/api/v1/compare?q=java", "/?q=java&mode=group"),
    *("/why?q=java&doc=d1&mode=group", "/api/v1/explain?q=java&doc=d2&mode=group"),
    *("/", "/about", "/me", "/me/forget", "/api/v1/profile", "/api/v1/health"),
    *("/groups", "/groups/groups.csv", "/groups/sizes.csv", "/api/v1/groups"),
    *("/api/v1/candidates?q=java", "/api/v1/candidates?q=java&row=g0001&keep=5"),
    *(f"/groups/g000{n}" for n in range(1, 6)),
    *(f"/groups/g000{n}/terms.csv" for n in range(1, 6)),
    *(f"/api/v1/groups/g000{n}" for n in range(1, 6)),
)


class Visitor:
    """A person who has signed in and reads pages again and again.

    `own_rows` are the rows that were ever called theirs. `terms` is what a term looks like.
    """

    def __init__(self, get: Get, terms: re.Pattern[str]) -> None:
        self._get, self._terms = get, terms
        self.own_rows: dict[str, Any] = {}
        self._known: dict[object, str] = {}

    def reads(self, *paths: str) -> dict[str, str]:
        """Return the text of each of `paths`, without what differs each time."""
        answers = {path: self._get(path) for path in paths}
        return {path: f"{status} {NOISE.sub('', text)}" for path, (status, text) in answers.items()}

    def sees(self, paths: Iterable[str], public: Iterable[str], world: object) -> None:
        """Take in `paths`; fail if they follow anything but `world` and the own profile.

        `public` are the terms of published rows, `world` which rows there are.
        """
        texts = self.reads(*SEARCHES, *paths, OWN)
        profile = json.loads(texts[OWN].partition(" ")[2])
        own, row = {term["term"] for term in profile["terms"]}, profile["row"]
        if row:
            assert self.own_rows.setdefault(row["row"], row) == row, "the own row has changed"
            assert len(self.own_rows) == 1, "somebody stands in two rows"
            own |= {*row["terms"]}
        own |= {*public}
        state = (world, json.dumps([profile["terms"], row], sort_keys=True))
        for path, text in texts.items():
            foreign = {*self._terms.findall(DOCUMENT.sub("", text))} - own
            assert not foreign, f"{path} shows {foreign}"
            before = self._known.setdefault((path, state), text)
            assert text == before, f"{path} follows something else: {first_change(before, text)}"


def first_change(before: str, after: str) -> tuple[str, str]:
    """Return where `before` and `after` differ first, with some of the text around it."""
    same = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    at = max(same - 60, 0)
    return before[at : at + 400], after[at : at + 400]
