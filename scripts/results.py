"""Write pages of `docs/results` from the folders that `veilsearch experiment` wrote.

usage: .venv/bin/python -m scripts.results NAME RUN [FIGURE]

The page NAME is made of the run in the folder RUN, with the picture RUN/figures/FIGURE.svg.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from search_app.experiments.report.report import OURS, VERDICTS

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"
MADE = "<!-- made by scripts/results.py -->"
BY_HAND, END = "## What it teaches\n", "<!-- end -->\n"  # a section that somebody wrote stays
INTRODUCTION = """# Results

Each page is made from the report of one run by `scripts/results.py`. It states the command, the
date, the machine and the SHA-256 of the run's rows. The columns on the right count the claims of
the papers and ours by their verdict; [experiment](../verbs.md#experiment) says how it is reached.

Pages that end in `-town` are of the invented town and the entries of WordNet, which come with the
program. Pages that end in `-aol` are of a sample of AOL's query log (2,127 users) and 54,864 texts
of Wikipedia. Pages that end in `-ng20` are of 20 Newsgroups, where people are simulated. Pages that
end in `-acl` are of the ACL Anthology, where people are authors by number.

The data of pages that do not end in `-town` are not in this repository. AOL's log may be used for
research only, and people were once identified from it. The sample has 519,154 lines. The texts of
Wikipedia are 20,000 articles and 34,864 leads of others, in TREC's form. With such data and a
workspace of its own, a page is made like this:

```text
$ veilsearch --workspace W index ARTICLES LEADS
$ veilsearch --workspace W experiment zhu-xiong --log aol.tsv.gz -o RUN
$ .venv/bin/python -m scripts.results zhu-xiong-aol RUN tradeoff
```

A page names the version that its run was made with, and the program may have changed since.

Two pages are measurements of another kind: [rare terms](min-users.md), which says what `min_users`
costs, and [erosion](erosion.md), which says what leaving and joining cost.
"""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table of `head` and `rows`."""
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
    yield ""


def origin(provenance: Mapping[str, Any], digest: str) -> Iterator[str]:
    """Yield how a run was made, by its `provenance`, and the `digest` of its rows."""
    machine = provenance["machine"]
    yield f"- Command: `{provenance['command']}`"
    yield f"- Finished: {provenance['finished'][:10]}, after {provenance['seconds']:,.0f} s"
    yield (
        f"- Machine: {machine['system']} {machine['machine']}, {machine['cores']} cores, "
        f"{machine['memory_gb']:.0f} GB"
    )
    yield f"- Index: {provenance['index']['name']}, {provenance['index']['documents']:,} documents"
    yield f"- veilsearch {provenance['versions']['veilsearch']}, sha256 of rows.jsonl: `{digest}`"
    yield ""


def claims(judged: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the section of the `judged` claims, the paper's apart from ours."""
    yield from ("## Claims", "") if judged else ()
    for title, ours in (("The paper's", False), ("Ours", True)):
        rows = [
            [claim["text"], f"**{claim['verdict']}**", claim["finding"]]
            for claim in judged
            if claim["source"].startswith(OURS) is ours
        ]
        if rows:
            yield from (f"### {title}", "", *table(["claim", "verdict", "measured"], rows))


def figures(drawn: Sequence[Mapping[str, Any]], shown: str, picture: str) -> Iterator[str]:
    """Yield a section a figure; the one called `shown` has its `picture`."""
    for figure in drawn:
        yield from (f"## {figure['title']}", "", figure["about"], "")
        if figure["name"] == shown:
            yield from (f"![{figure['title']}]({picture})", "")


def page(run: Path, shown: str = "", picture: str = "") -> str:
    """Return the page of the folder `run`, with the `picture` of the figure called `shown`."""
    report, about, provenance = (
        json.loads((run / name).read_text(encoding="utf-8"))
        for name in ("report.json", "run.json", "provenance.json")
    )
    lines = [f"# {report['title']}", "", MADE, ""]
    lines += origin(provenance, about["sha256"]["rows.jsonl"])
    lines += [f"- {note}" for note in report["notes"]]
    lines += ["", *claims(report["claims"]), *figures(report["figures"], shown, picture)]
    for block in report["tables"]:
        lines += [f"## {block['title']}", "", block["about"], ""]
        lines += table(block["head"], block["rows"])
    return "\n".join(lines).rstrip() + "\n"


def by_hand(text: str) -> str:
    """Return the section of the page `text` that somebody wrote; "" if there is none."""
    _, head, rest = text.partition(BY_HAND)
    body, end, _ = rest.partition(END)
    return f"{head}{body}{end}\n" if end else ""


def with_section(made: str, section: str) -> str:
    """Return the page `made` with the `section` before its claims, or at its end."""
    before, head, rest = made.partition("## Claims\n")
    return f"{before}{section}{head}{rest}"


def pages_of_runs() -> list[Path]:
    """Return the pages that this script has made."""
    pages = sorted(RESULTS.glob("*.md"))
    return [path for path in pages if f"\n{MADE}\n" in path.read_text(encoding="utf-8")]


def contents(pages: Iterable[Path]) -> str:
    """Return the page that lists `pages`: the command of each, and how its claims were judged."""
    rows = []
    for path in pages:
        text = path.read_text(encoding="utf-8")
        command = text.split("- Command: ")[1].split("\n")[0] if "- Command: " in text else ""
        verdicts = [str(text.count(f"| **{verdict}** |")) for verdict in VERDICTS]
        rows.append([f"[{path.stem}]({path.name})", command, *verdicts])
    return "\n".join([INTRODUCTION, *table(["page", "command", *VERDICTS], rows)])


def main(name: str, folder: str, shown: str = "") -> None:
    """Write the page `name` of the run in `folder`, with the picture of the figure `shown`."""
    RESULTS.mkdir(exist_ok=True, parents=True)
    picture = f"{name}.svg" if shown else ""
    if shown:
        shutil.copyfile(Path(folder) / "figures" / f"{shown}.svg", RESULTS / picture)
    path = RESULTS / f"{name}.md"
    section = by_hand(path.read_text(encoding="utf-8")) if path.exists() else ""
    path.write_text(with_section(page(Path(folder), shown, picture), section), encoding="utf-8")
    (RESULTS / "README.md").write_text(contents(pages_of_runs()), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
