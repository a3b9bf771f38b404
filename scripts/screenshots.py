"""Take the pictures of pages for the documentation, with invented people only.

usage: .venv/bin/python -m scripts.screenshots WORKSPACE [-o FOLDER]

WORKSPACE must be built by `veilsearch demo`. Needs Debian's chromium and requirements-test.lock.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from playwright.sync_api import sync_playwright

from scripts.benchmark.processes import served
from search_app.workspace.folder import Workspace

PLACE = Path(__file__).resolve().parents[1] / "docs" / "images"
CHROMIUM = Path("/usr/bin/chromium")
LARGEST = 200_000  # bytes of a picture
WIDTH, HEIGHT = 1280, 860
PICTURES = {
    "compare.png": "/compare?q={query}&user={user}",
    "dial.png": "/dial?q={query}&user={user}",
    "me.png": "/me?user={user}",
}


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=PLACE)
    given = parser.parse_args()
    workspace = Workspace(given.workspace)
    user = coffee_lover(workspace)
    with served(workspace) as server, sync_playwright() as playwright:
        address = f"http://127.0.0.1:{server.port}"
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for name, path in PICTURES.items():
            page.goto(f"{address}/?q=java&user={user}")  # /me shows the last search
            page.goto(f"{address}{path.format(query='java', user=user)}")
            picture = page.screenshot(path=given.output / name)
            print(json.dumps({"picture": str(given.output / name), "bytes": len(picture)}))
            if len(picture) > LARGEST:
                raise SystemExit(f"{name} has {len(picture):,} bytes; at most {LARGEST:,}")
        browser.close()


def coffee_lover(workspace: Workspace) -> str:
    """Return the person in `workspace` that the demo shows first."""
    from anonymizer.methods import promise_of
    from anonymizer.storage.releases import read_release
    from search_app.town.examples import pair

    truth = workspace.truth()
    if truth is None:
        raise SystemExit(
            f"{workspace.root}: its people are not invented; name the workspace of a demo"
        )
    return next(iter(pair(truth, read_release(workspace.find("release"), promise_of)).values()))


if __name__ == "__main__":
    main()
