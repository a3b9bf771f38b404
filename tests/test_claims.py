"""Each claim of README and of the page /about is linked to a test that exists."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROMISES = (ROOT / "docs/promises.md").read_text(encoding="utf-8")
ABOUT = (ROOT / "templates/about/show.html").read_text(encoding="utf-8")
TABLE = PROMISES.partition("## Each claim and its test")[2]
TESTS = dict(re.findall(r"^\| ([^|]+) \| `([^`]+)`", TABLE, re.MULTILINE))


def numbered() -> set[str]:
    """Return the numbered promises of README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    part = text.partition("## What is promised")[2].partition("\n## ")[0]
    return {f"README {number}" for number in re.findall(r"^(\d+)\. ", part, re.MULTILINE)}


def said_on_the_page() -> list[str]:
    """Return the claims of /about: its lists, what is kept, and the paragraphs that promise."""
    page = re.sub(r"{%.*?%}", "", ABOUT.partition("<h2>Not promised</h2>")[0], flags=re.DOTALL)
    page = page.replace("{{ words.mode }}", "My group")
    parts = re.findall(r"<dt>(.*?)</dt>", page)
    for heading in ("Who can search here", "What is kept", "Also promised"):
        section = page.partition(f"<h2>{heading}</h2>")[2].partition("<h2>")[0]
        parts += re.findall(r"<(?:li|p)>(.*?)</(?:li|p)>", section)
    parts += re.findall(r"<p>(AP is .*?)</p>", ABOUT)
    texts = "".join(
        (ROOT / f"search_app/disclosure/{kind}.py").read_text(encoding="utf-8")
        for kind in ("groups", "single_rows")
    )
    return [
        *map(unescape, parts),
        *re.findall(r'\(\s*"([A-Z][^"]*[.:])",\s*(?:average|every|belief|Mark)', texts),
    ]


def test_no_claim_lacks_a_test() -> None:
    claims = said_on_the_page()
    assert len(claims) >= 25
    unlinked = [claim for claim in claims if not any(map(claim.startswith, TESTS))]
    assert unlinked == []
    stale = {name for name in TESTS if not any(claim.startswith(name) for claim in claims)}
    assert stale == numbered()


@pytest.mark.parametrize("name", TESTS)
def test_the_test_of_a_claim_exists(name: str) -> None:
    file, _, function = TESTS[name].partition("::")
    code = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(rf"^def {function or 'test_'}", code, re.MULTILINE)
    assert not function or f"\ndef {function}(" in code


def test_a_random_order_scores_what_about_says() -> None:
    """By the mean over all orders: at rank k a relevant one has k - 1 before it, by chance."""
    pairs = re.findall(r"(0\.\d\d) over ([\d,]*\d)", ABOUT)
    assert len(pairs) == 4
    for score, pool in pairs:
        size = int(pool.replace(",", ""))
        others = (30 - 1) / (size - 1)
        mean = sum((1 + (k - 1) * others) / k for k in range(1, size + 1)) / size
        assert f"{mean:.2f}" == score
