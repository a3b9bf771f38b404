"""A release folder cut into shards by hand, and all its hashes written again, by naive code."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

SUMS = "private/checksums.sha256"


def cut(whole: Path, folder: Path, counts: Sequence[int]) -> Path:
    """Copy the release `whole` to `folder`, with `counts` of rows in its shards."""
    shutil.copytree(whole, folder)
    rows = (folder / "rows.jsonl").read_bytes().splitlines(keepends=True)
    members = (folder / "private/members.jsonl").read_bytes().splitlines(keepends=True)
    begin = 0
    for number, count in enumerate(counts):
        own = rows[begin : begin + count]
        names = {json.loads(line)["row"] for line in own}
        served = [line for line in members if json.loads(line)["row"] in names]
        (folder / f"rows-{number:04d}.jsonl").write_bytes(b"".join(own))
        place = folder / f"private/members-{number:04d}.jsonl"
        place.write_bytes(b"".join(served))
        place.chmod(0o600)
        begin += count
    for name in ("rows.jsonl", "private/members.jsonl"):
        (folder / name).unlink()
    resum(folder)
    return folder


def resum(folder: Path) -> None:
    """Write all hashes again, as one would who knows the format."""
    there = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))
    there = [name for name in there if (folder / name).is_file() and name != SUMS]
    manifest = json.loads((folder / "release.json").read_text())
    manifest["sha256"] = {
        name: sha256(folder / name) for name in there if name.startswith(("rows", "log"))
    }
    (folder / "release.json").write_text(json.dumps(manifest))
    (folder / SUMS).write_text("".join(f"{sha256(folder / name)}  {name}\n" for name in there))


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def flip(folder: Path, name: str) -> None:
    """Change a bit in the middle of the file `name`."""
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)


def swap(folder: Path, *parts: str) -> None:
    """Let the first two shards of each of `parts` change places."""
    for part in parts:
        one, other = (folder / f"{part}-000{number}.jsonl" for number in (0, 1))
        one.rename(folder / "aside")
        other.rename(one)
        (folder / "aside").rename(other)


def again(folder: Path, part: str) -> None:
    """Put a copy of the last shard of `part` behind it."""
    *_, last = sorted((folder / part).parent.glob(f"{Path(part).name}-*"))
    number = int(last.stem[-4:])
    shutil.copy(last, last.with_name(last.name.replace(f"{number:04d}", f"{number + 1:04d}")))


def substitute(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))
