"""The standalone page: all that is said, safely written, with nothing loaded from elsewhere."""

from __future__ import annotations

import base64
import re
from dataclasses import replace

from search_app import __version__
from search_app.experiments.report.report import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Claim,
    ClaimMargin,
    Figure,
    FigureLine,
    FigurePoint,
    Report,
    Table,
)
from search_app.experiments.results.page import standalone

REPORT = Report(
    name="zhu",
    title="Zhu & Xiong <again>",
    notes=("Of 720 people.",),
    claims=(
        Claim(
            "groups",
            "Groups help.",
            "figure 2",
            "0.800 against 0.400.",
            HOLDS,
            0.00004,
            ClaimMargin(0.4, 0.39, 0.41),
        ),
        Claim(
            "depth",
            "Depth helps.",
            "ours, not a paper's",
            "It is flat.",
            FAILS,
            0.25,
            ClaimMargin(-0.001, -0.01, 0.005),
        ),
        Claim("ap-at-10", "AP@10 is 78.86 %.", "figure 2", "No pool is given.", UNDECIDED),
    ),
    figures=(
        Figure(
            "figure-4",
            "Figure 4",
            "It rises.",
            "p",
            "AP",
            (FigureLine("group", (FigurePoint(0.1, 0.7, 0.65, 0.75), FigurePoint(0.4, 0.8))),),
        ),
    ),
    tables=(Table("baselines", "Baselines", "By mode.", ("mode", "AP"), (("none", "0.400"),)),),
)
COMMAND = "veilsearch experiment zhu.toml --set users=30 --log log.tsv"
PICTURES = {"figure-4": b"<svg/>", "plane": b"<svg/>"}


def page(report: Report = REPORT) -> str:
    told = {"command": COMMAND, "versions": {"numpy": "2.0"}, "seeds": [0, 1]}
    return standalone(report, told, PICTURES, "ab12")


def test_claims_are_said_in_words_with_their_p() -> None:
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page()))
    assert "The paper’s claims ✓ 1 holds ? 1 undecided" in text
    assert "Our claims ✗ 1 does not hold" in text
    assert "✓ holds Groups help." in text
    assert "figure 2 · P &lt; 0.001, corrected by Holm" in text
    assert "ours, not a paper&#39;s · P = 0.250, corrected by Holm" in text
    assert "? undecided AP@10 is 78.86 %. counted" in text
    assert text.index("AP@10 is 78.86 %.") < text.index("Our claims")


def test_a_claim_has_a_bar_of_its_margin_with_an_arrow_beyond_the_scale() -> None:
    """The line is at 52, and 0.1 is 42 wide."""
    assert 'aria-label="+0.400 (+0.390 to +0.410) beyond what decides"' in page()
    assert '<path d="M94 2l9 6l-9 6z"/>' in page()
    assert '<path class="ends" d="M47.8 8H54.1"/><path d="M51.6 4v8"/>' in page()


def test_figures_carry_their_picture_and_numbers() -> None:
    found = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page())
    assert found
    assert base64.b64decode(found[1]) == b"<svg/>"
    assert '<td class="number">0.700</td><td class="number">0.650 to 0.750</td>' in page()
    assert '<td class="number">0.800</td><td class="number"></td>' in page()


def test_texts_are_escaped_and_nothing_is_loaded() -> None:
    assert "<h1>Zhu &amp; Xiong &lt;again&gt;</h1>" in page()
    assert "<script" not in page()
    assert "http" not in page()
    assert " style=" not in page()  # the site's policy allows none


def test_provenance_is_listed_by_dotted_names() -> None:
    assert '<tr><th scope="row">versions.numpy</th><td><bdi>2.0</bdi></td></tr>' in page()
    assert '<tr><th scope="row">seeds</th><td><bdi>0, 1</bdi></td></tr>' in page()


def test_what_is_missing_leaves_no_heading() -> None:
    text = page(Report("empty", "Nothing", (), (), (), ()))
    for part in ("notes", "claims", "figures", "tables"):
        assert f'id="{part}"' not in text
        assert f'"#{part}"' not in text


def test_it_says_how_to_make_it_again_and_how_to_cite_it() -> None:
    text = re.sub(r"<[^>]+>", "", page())
    assert f"Run again with: {COMMAND}" in text
    assert f"Cite as: veilsearch {__version__}, experiment zhu, rows sha256 ab12" in text


PLANE = Figure(
    "plane",
    "A plane",
    "Upper left is better.",
    "cost",
    "AP",
    (FigureLine("mine", (FigurePoint(0.1, 0.7, 0.6, 0.8, "mine <b>: 4 people", "mine"),
                         FigurePoint(0.2, 0.6, about="worse", dominated=True))),),
    "plane",
)  # fmt: skip


def test_a_plane_is_a_picture_and_a_table_and_brings_its_script() -> None:
    shown = page(replace(REPORT, figures=(PLANE,)))
    assert 'data-look="2" data-x="0.1" data-y="0.7" data-low="0.6" data-high="0.8"' in shown
    assert 'data-x="0.2" data-y="0.6" data-dominated' in shown
    assert "<td>mine &lt;b&gt;: 4 people</td>" in shown
    assert '<img class="picture"' in shown
    assert shown.count("<script") == 1
    assert "src=" not in shown.partition("<script")[2]
