"""Experiments in a real browser: pictures are drawn, forms need no script, texts run nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from search_app.experiments.definition import label_of
from search_app.experiments.report.report import Figure, FigureLine, FigurePoint
from search_app.web import Site

from ..run_folders import REPORT, make_run, with_runs
from .chromium import in_browser

pytestmark = in_browser


@pytest.fixture
def site(site: Site, tmp_path: Path) -> Site:
    return with_runs(site, tmp_path / "workspace")


def test_pictures_are_drawn_with_their_own_style(watched: Page, address: str) -> None:
    """The toy picture is a blue square, by a style sheet within it."""
    watched.goto(f"{address}/experiments/toy")
    picture = watched.locator("img.picture")
    assert picture.evaluate("image => image.naturalWidth") == 672
    colour = picture.evaluate(
        """image => {
            const canvas = document.createElement("canvas");
            canvas.width = 672;
            canvas.height = 432;
            const drawn = canvas.getContext("2d");
            drawn.drawImage(image, 0, 0, 672, 432);
            return [...drawn.getImageData(100, 100, 1, 1).data];
        }"""
    )
    assert colour == [0x00, 0x72, 0xB2, 255]


def test_a_picture_opened_by_itself_runs_nothing(page: Page, address: str, site: Site) -> None:
    runs = site.settings.workspace / "experiments"
    script = b"<script>document.documentElement.setAttribute('class', 'ran')</script>"
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">' + script + b"</svg>"
    make_run(runs / "hostile", **{"figures/figure-2_svg": svg})
    page.goto(f"{address}/experiments/hostile/figures/figure-2.svg")
    assert page.locator("svg").get_attribute("class") is None


def test_print_has_the_report_and_no_forms(page: Page, address: str) -> None:
    page.emulate_media(media="print")
    page.goto(f"{address}/experiments/toy")
    for shown in ("h1", ".claim", "img.picture", ".sheet table"):
        assert page.locator(shown).first.is_visible()
    assert page.get_by_text("Three people asked two queries each.").is_visible()  # in a fold
    for hidden in (".pair", ".numbers", "footer"):
        assert not page.locator(hidden).first.is_visible()


def test_the_points_of_a_plane_are_read_by_mouse_and_keys(
    watched: Page, address: str, site: Site
) -> None:
    release = site.modes.release
    assert release is not None
    served = label_of(release.method, release.parameters)
    points = (
        FigurePoint(0.1, 0.7, 0.6, 0.8, "one: 4 people", served),
        FigurePoint(0.2, 0.6, 0.5, 0.7, "two: 5 people", "other", dominated=True),
    )
    lines = (FigureLine("a", points),)
    plane = Figure("plane", "A plane", "It.", "cost", "AP", lines, "path", ("l", "r", "b", "t"))
    folder = site.settings.workspace / "experiments"
    make_run(folder / "planes", replace(REPORT, figures=(plane,)))
    watched.goto(f"{address}/experiments/planes")
    said = watched.locator(".told.live")
    marks = watched.locator(".mark")
    assert marks.count() == 2
    ends = watched.locator(".live .chart text").all_text_contents()
    assert {"← l", "r →", "↓ b", "AP  ↑ t", "cost"} <= {*ends}
    assert not watched.locator("img.picture").is_visible()
    for place in (".mark >> nth=0", ".claim >> nth=2"):  # on one screen
        box = watched.locator(place).bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 24
        assert box["y"] + box["height"] < 720
    watched.locator("a.mark").focus()
    assert said.inner_text() == "one: 4 people Open it by a click."
    watched.keyboard.press("ArrowRight")
    assert said.inner_text() == "two: 5 people Dominated."
    box = watched.locator("a.mark").bounding_box()
    assert box is not None
    watched.mouse.move(box["x"] - 15, box["y"] + box["height"] / 2)  # near it is enough
    assert said.inner_text().startswith("one")
    watched.set_viewport_size({"width": 400, "height": 720})
    assert watched.evaluate("document.documentElement.scrollWidth") == 400
    watched.locator("a.mark").click()
    watched.wait_for_url(f"{address}/groups")
    watched.goto(f"{address}/experiments/planes")
    watched.emulate_media(media="print")
    assert watched.locator("img.picture").is_visible()
    assert not watched.locator(".live .chart").is_visible()
