"""Small releases, made and written by naive code that shares nothing with the product's."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

Rows = dict[str, dict[str, float]]

PARAMETERS: dict[str, Any] = {
    "p": 0.5,
    "k": None,
    "l": None,
    "t": None,
    "guarantee": "average",
    "linkage": "seed",
    "similarity": "profiles",
    "representative": "centroid",
    "augment": "none",
    "a": 1,
    "combine": "max",
    "sense": "profile",
    "neighbours": 10,
    "network": "profiles",
    "documents": 1000,
    "refine": "none",
    "first_seed": "drawn",
    "min_users": 1,
}
PARTS = ("rows.jsonl", "private/members.jsonl", "release.json")


@dataclass
class SmallRelease:
    """Everything that a release's files say, as plain lists and dicts to spoil at will."""

    profiles: Rows
    rows: list[dict[str, Any]]
    members: list[dict[str, str]]
    parameters: dict[str, Any]
    facts: dict[str, Any]
    seed: Any = 0
    method: str = "p-linkability"
    choices: dict[str, Any] = field(default_factory=dict)
    input_hash: str = ""
    deletions: list[dict[str, Any]] | None = None  # written if there are any
    slots: Any = None  # records, or the bytes of the part; written if there are any
    taxonomy: Any = None  # pairs of child and parent, or the bytes of the part
    key: Any = None  # the record in private/key.json, written if there is one
    shuffled: bool = False  # names of release.json stand in the order in which they are here
    compact: bool = False  # write the rows without blanks, as JSON but not as the product does
    first_row: Any = None  # of a later cohort
    changes: Any = None  # the note in private/changes.json, if people left or came later
    withdrawn: Any = None  # what release.json says of it, if rows were withdrawn
    cohorts: list[SmallRelease] = field(default_factory=list)  # the later ones
    newcomers: Rows = field(default_factory=dict)  # people who wait

    @property
    def everybody(self) -> Rows:
        """Return the profiles of the people of all cohorts, and of those who wait."""
        later = [cohort.profiles for cohort in self.cohorts]
        return {user: row for part in (self.profiles, *later, self.newcomers)
                for user, row in part.items()}  # fmt: skip

    def write_profiles(self, path: Path) -> Path:
        path.unlink(missing_ok=True)
        path.write_bytes(lines({"user": u, "terms": t} for u, t in self.everybody.items()))
        return path

    def write(self, folder: Path, input_hash: str = "") -> Path:
        """Write the release and its cohorts; `input_hash` is that of the profiles of everybody."""
        input_hash = input_hash or fingerprint(self.everybody)
        self._write(folder, self.input_hash or input_hash)
        if (folder / "cohorts").exists():
            shutil.rmtree(folder / "cohorts")
        for number, cohort in enumerate(self.cohorts, 2):
            cohort.write(folder / f"cohorts/{number:04d}", input_hash)
        return folder

    def _write(self, folder: Path, input_hash: str) -> None:
        (folder / "private").mkdir(parents=True, exist_ok=True, mode=0o700)
        rows = lines(self.rows)
        if self.compact:
            rows = rows.replace(b": ", b":").replace(b", ", b",")
        parts = {"rows.jsonl": rows, "private/members.jsonl": lines(self.members)}
        (folder / "private/deletions.jsonl").unlink(missing_ok=True)
        if self.deletions is not None:
            parts["private/deletions.jsonl"] = lines(self.deletions)
        for name, content in self.of_vocabularies().items():
            (folder / name).unlink(missing_ok=True)
            if content is not None:
                parts[name] = content
        (folder / "private/key.json").unlink(missing_ok=True)
        if self.key is not None:
            parts["private/key.json"] = lines([self.key])
        (folder / "private/changes.json").unlink(missing_ok=True)
        if self.changes is not None:
            parts["private/changes.json"] = lines([self.changes])
        manifest = self.manifest(parts["rows.jsonl"], input_hash)
        parts["release.json"] = json.dumps(manifest).encode()
        sums = "".join(f"{sha256(content)}  {name}\n" for name, content in parts.items())
        for name, content in {**parts, "private/checksums.sha256": sums.encode()}.items():
            (folder / name).unlink(missing_ok=True)  # a file cut short is slow to write again
            (folder / name).write_bytes(content)
            if name.startswith("private/"):
                (folder / name).chmod(0o600)

    def of_vocabularies(self) -> dict[str, bytes | None]:
        slots, pairs = self.slots, self.taxonomy
        if isinstance(slots, list):
            slots = lines(slots)
        if isinstance(pairs, list):
            pairs = "".join(f"{child}\t{parent}\n" for child, parent in pairs).encode()
        return {"private/slots.jsonl": slots, "private/taxonomy.tsv": pairs}

    def manifest(self, rows: bytes, input_hash: str) -> dict[str, Any]:
        stated = {
            "format": 3,
            "method": self.method,
            "parameters": self.parameters if self.shuffled else by_name(self.parameters),
            "profiles": self.choices if self.shuffled else by_name(self.choices),
            "seed": self.seed,
            "input_hash": input_hash,
            "facts": self.facts if self.shuffled else by_name(self.facts),
            "sha256": {"rows.jsonl": sha256(rows)},
            "first_row": self.first_row,
            "withdrawn": self.withdrawn,
        }
        optional = ("first_row", "withdrawn")
        return {name: v for name, v in stated.items() if name not in optional or v is not None}


def lines(records: Any) -> bytes:
    return b"".join(f"{json.dumps(record, ensure_ascii=False)}\n".encode() for record in records)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def fingerprint(profiles: Rows) -> str:
    """Hash users, sorted terms, ends, columns and weights, each behind its name and size."""
    terms = sorted({term for row in profiles.values() for term in row})
    cells = [sorted((terms.index(t), w) for t, w in row.items()) for row in profiles.values()]
    ends = [sum(map(len, cells[:at])) for at in range(len(cells) + 1)]
    flat = [cell for row in cells for cell in row]
    users, names = lines([list(profiles)]), lines([terms])
    arrays = [
        ("users", len(users), users),
        ("terms", len(names), names),
        ("ends", len(ends), struct.pack(f"<{len(ends)}q", *ends)),
        ("columns", len(flat), struct.pack(f"<{len(flat)}i", *(c for c, _ in flat))),
        ("weights", len(flat), struct.pack(f"<{len(flat)}d", *(w for _, w in flat))),
    ]
    return sha256(b"".join(f"{name} {size}\n".encode() + b for name, size, b in arrays))


def made(
    profiles: Rows, groups: Sequence[Sequence[str]], parameters: Mapping[str, Any]
) -> SmallRelease:
    """Make the release of these groups, whether or not they satisfy the parameters."""
    names = [f"g{number:04d}" for number in range(1, len(groups) + 1)]
    rows = [
        {"row": name, "users": len(group), "terms": row_of(profiles, group, parameters)}
        for name, group in zip(names, groups, strict=True)
    ]
    of = {user: name for name, group in zip(names, groups, strict=True) for user in group}
    members = [{"user": user, "row": of[user]} for user in profiles]
    facts = {
        name: digits(value) if isinstance(value, Fraction) else value
        for name, value in true_facts(profiles, groups, [row["terms"] for row in rows]).items()
    }
    return SmallRelease(profiles, rows, members, dict(parameters), facts)


def digits(value: Any) -> float:
    """Return a real number as facts state it."""
    return float(f"{float(value):.12g}")


def by_name(values: Any) -> Any:
    return dict(sorted(values.items()))


def together(first: SmallRelease, *later: SmallRelease) -> SmallRelease:
    """Return `first` with the cohorts `later`, whose rows are numbered on."""
    end = 1 + len(first.rows)
    for cohort in later:
        names = {row["row"]: f"g{end + at:04d}" for at, row in enumerate(cohort.rows)}
        for part in (*cohort.rows, *cohort.members):
            part["row"] = names[part["row"]]
        cohort.first_row, end = end, end + len(cohort.rows)
    first.cohorts = [*later]
    return first


def row_of(profiles: Rows, group: Sequence[str], parameters: Mapping[str, Any]) -> dict[str, float]:
    """Return the group's row: the mean or the largest weight of each term it may release."""
    row = {}
    for term in sorted({term for user in group for term in profiles[user]}):
        weights = [profiles[user][term] for user in group if term in profiles[user]]
        share = Fraction(len(weights), len(group))
        if parameters["guarantee"] == "every-term" and share > Fraction(str(parameters["p"])):
            continue
        mean = sum(weights) / len(group)
        row[term] = mean if parameters["representative"] == "centroid" else max(weights)
    return row


def true_facts(
    profiles: Rows, groups: Sequence[Sequence[str]], released: Sequence[Collection[str]]
) -> dict[str, int | Fraction]:
    """Return each fact as its definition says it, exactly; some users may be in no group."""
    n, m = len(profiles), [len(group) for group in groups]
    size = Fraction(sum(len(row) for row in profiles.values()), n)
    every = sorted({term for row in profiles.values() for term in row})
    prior = {t: Fraction(sum(t in row for row in profiles.values()), n) for t in every}
    shares = [
        {t: Fraction(sum(t in profiles[user] for user in group), len(group)) for t in every}
        for group in groups
    ]
    distinct = [sum(share > 0 for share in found.values()) for found in shares]
    worst = [max(found.values()) for found in shares]
    return {
        "users": sum(m),
        "groups": len(groups),
        "single_person_rows": m.count(1),
        "smallest_group": min(m),
        "mean_group": Fraction(sum(m), len(groups)),
        "largest_group": max(m),
        "average_linkability": max(size / d for d in distinct),
        "mean_average_linkability": sum(size / d for d in distinct) / len(groups),
        "share_linkability": max(
            sum(f.values(), Fraction()) / d for f, d in zip(shares, distinct, strict=True)
        ),
        "worst_linkability": max(worst),
        "mean_worst_linkability": sum(worst, Fraction()) / len(groups),
        "released_linkability": max(
            (
                found.get(term, Fraction())
                for found, row in zip(shares, released, strict=True)
                for term in row
            ),
            default=Fraction(),
        ),
        "change_of_belief": max(abs(f[t] - prior[t]) for f in shares for t in every),
        "terms_in_groups": sum(distinct),
        "terms_released": sum(map(len, released)),
        "terms_suppressed": sum(
            share > 0 and term not in row
            for found, row in zip(shares, released, strict=True)
            for term, share in found.items()
        ),
    }
