"""Run folders of experiments, as the program writes them but small: each figure is a square."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from search_app.experiments.report.report import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Claim,
    Figure,
    FigureLine,
    FigurePoint,
    Report,
    Table,
    as_record,
)
from search_app.web import Site

HEAD = "table,release,mode,pool,measure,mean,low,high,worst_decile,people"
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="672" height="432" viewBox="0 0 672 432">'
    b'<style>rect { fill: #0072b2; }</style><rect x="60" y="60" width="300" height="300"/></svg>'
)
PROVENANCE = {
    "versions": {"veilsearch": "0.6.0", "numpy": "2.3.5"},
    "inputs": {"log": "ab" * 32},
    "machine": {"cores": 2},
    "seconds": 61.5,
    "finished": "2026-11-18T23:00:00Z",
}


def png() -> bytes:
    """Return a picture of one white dot."""

    def part(kind: bytes, content: bytes) -> bytes:
        whole = kind + content
        return struct.pack(">I", len(content)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = part(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    dot = part(b"IDAT", zlib.compress(b"\0\xff"))
    return b"\x89PNG\r\n\x1a\n" + head + dot + part(b"IEND", b"")


def claim(text: str, verdict: str) -> Claim:
    name = text.lower().replace(" ", "-")
    return Claim(
        name, text, "section 4, figure 2", f"{text}: 0.612 (0.590 to 0.634).", verdict, 0.0004
    )


REPORT = Report(
    name="toy",
    title="A toy experiment",
    notes=("Three people asked two queries each.",),
    claims=(
        claim("Groups beat plain", HOLDS),
        claim("Groups beat their own", FAILS),
        claim("Larger a is better", UNDECIDED),
    ),
    figures=(
        Figure(
            name="figure-2",
            title="Average precision by mode",
            about="The group’s mean is 0.612.",
            across="Mode",
            up="AP",
            lines=(
                FigureLine(
                    "AP", (FigurePoint("none", 0.2), FigurePoint("group", 0.612, 0.59, 0.634))
                ),
            ),
            kind="bar",
        ),
    ),
    tables=(
        Table("baselines", "Baselines", "At a pool of 100.", ("Mode", "AP"), (("none", "0.2"),)),
    ),
)
MEANS = (
    ("figure-2", "p-linkability p=0.4", "group", 100, "AP", 0.612, 0.59, 0.634, 0.4, 3),
    ("figure-2", "p-linkability p=0.4", "group", 100, "AP_c", 0.42, 0.38, 0.46, 0.2, 3),
    ("figure-2", "p-linkability p=0.4", "group", 1000, "AP", 0.3, 0.25, 0.35, 0.2, 3),
)


def summary(means: Any = MEANS) -> bytes:
    return "\n".join([HEAD, *(",".join(map(str, each)) for each in means), ""]).encode()


def figure_files(report: Report) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for figure in report.figures:
        files |= {f"figures/{figure.name}.svg": SVG, f"figures/{figure.name}.png": png()}
        files[f"figures/{figure.name}.csv"] = b"series,Mode,AP,low,high\n"
    return files


def make_run(
    folder: Path,
    report: Report = REPORT,
    *,
    manifest: Mapping[str, Any] | None = None,
    **files: Any,
) -> Path:
    """Write a run; files by name with _ for the dot are put in place of the usual ones."""
    content: dict[str, bytes] = {
        "report.json": json.dumps(as_record(report)).encode(),
        "provenance.json": json.dumps(PROVENANCE).encode(),
        "summary.csv": summary(),
        "units.csv": b"unit,tables,method,seed,weights,vectors\nu001,groups,none,0,binary,tfidf\n",
        "experiment.toml": b'name = "toy"\n',
        "rows.csv": b"unit,mode,pool,person,query,hits,AP\nu001,group,100,1,1,100,0.612\n",
        **figure_files(report),
    }
    content |= {name.replace("_", "."): each for name, each in files.items()}
    for name, each in content.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(each)
    about = {
        "format": 1,
        "name": report.name,
        "title": report.title,
        "inputs": {"users": 3, "test_share": 0.2},
        "counts": {"people": 3, "queries": 6, "units": 1, "rows": 1},
        "sha256": {name: sha256(each).hexdigest() for name, each in content.items()},
        **(manifest or {}),
    }
    (folder / "run.json").write_text(json.dumps(about), encoding="utf-8")
    return folder


def at(site: Site, workspace: Path) -> Site:
    """Return the site with another workspace folder."""
    return replace(site, settings=replace(site.settings, workspace=workspace))


def with_runs(site: Site, workspace: Path) -> Site:
    """Return the site with two runs, of which the later one found something else."""
    make_run(workspace / "experiments" / "toy")
    later = json.dumps({**PROVENANCE, "finished": "2026-11-19T01:30:00+01:00"}).encode()
    said = replace(claim("Groups beat plain", UNDECIDED), text="In other words, by the same name")
    other = replace(REPORT, claims=(said, *REPORT.claims[1:2]))
    make_run(
        workspace / "experiments" / "later",
        other,
        manifest={"inputs": {"users": 2, "test_share": 0.2}},
        provenance_json=later,
        summary_csv=summary([(*MEANS[0][:5], 0.5, 0.45, 0.55, 0.3, 3)]),
    )
    return at(site, workspace)
