"""Result pages are what the runs' reports say, and say how the runs were made."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from scripts.results import RESULTS, by_hand, contents, page, pages_of_runs, with_section

PAGES = pages_of_runs()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    claim = {"text": "More helps.", "verdict": "holds", "finding": "By +0.1 | P < 0.001."}
    claims = [{**claim, "source": source} for source in ("ours, not a paper's", "section 4")]
    table = {
        "title": "Means",
        "about": "Over people.",
        "head": ["mode", "AP"],
        "rows": [["own", "1"]],
    }
    figure = {"name": "ap", "title": "AP by p", "about": "It rises."}
    report = {"title": "Trial", "notes": ["Two people."], "claims": claims, "tables": [table]}
    provenance = {
        "command": "veilsearch experiment trial",
        "finished": "2026-11-19T10:00:00Z",
        "seconds": 1234.5,
        "machine": {"system": "Linux", "machine": "x86_64", "cores": 2, "memory_gb": 24.2},
        "index": {"name": "town", "documents": 2000},
        "versions": {"veilsearch": "9.9"},
    }
    about = {"sha256": {"rows.jsonl": "abc"}}
    files = {"report": report | {"figures": [figure]}, "provenance": provenance, "run": about}
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return tmp_path


def test_a_page_holds_the_report_and_its_origin(run: Path) -> None:
    text = page(run, "ap", "trial.svg")
    for line in (
        "# Trial",
        "- Command: `veilsearch experiment trial`",
        "- Finished: 2026-11-19, after 1,234 s",
        "- Machine: Linux x86_64, 2 cores, 24 GB",
        "- Index: town, 2,000 documents",
        "- veilsearch 9.9, sha256 of rows.jsonl: `abc`",
        "- Two people.",
        "| More helps. | **holds** | By +0.1 / P < 0.001. |",
        "![AP by p](trial.svg)",
        "| own | 1 |",
    ):
        assert line in text.splitlines()
    assert text.index("### The paper's") < text.index("### Ours")


def test_what_somebody_wrote_stays_when_a_page_is_made_again(run: Path) -> None:
    section = "## What it teaches\n\nThat more helps.\n\n<!-- end -->\n\n"
    first = with_section(page(run), section)
    assert first.index("That more helps.") < first.index("## Claims")
    assert by_hand(first) == section
    assert with_section(page(run), by_hand(first)) == first
    assert with_section(page(run), by_hand(page(run))) == page(run)


def test_the_list_counts_verdicts(run: Path, tmp_path: Path) -> None:
    trial = tmp_path / "trial.md"
    trial.write_text(page(run), encoding="utf-8")
    line = "| [trial](trial.md) | `veilsearch experiment trial` | 2 | 0 | 0 |"
    assert contents([trial]).splitlines()[-1] == line


def test_the_list_is_of_all_pages() -> None:
    assert (RESULTS / "README.md").read_text(encoding="utf-8") == contents(PAGES)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_says_how_its_run_was_made(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.search(r"^- Command: `veilsearch experiment ", text, re.MULTILINE)
    assert re.search(r"^- Finished: \d{4}-\d\d-\d\d, after ", text, re.MULTILINE)
    assert re.search(r"sha256 of rows\.jsonl: `[0-9a-f]{64}`$", text, re.MULTILINE)
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", text):
        assert (RESULTS / picture).exists()
