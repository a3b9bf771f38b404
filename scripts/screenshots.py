"""Take the README's pictures of the pages, of invented people only.

usage: .venv/bin/python scripts/screenshots.py WORKSPACE [-o FOLDER]

WORKSPACE is one that `veilsearch demo` has built. Needs Debian's chromium and the test lock.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from playwright.sync_api import sync_playwright

from search_app.benchmark.server import served
from search_app.workspace import Workspace

CHROMIUM = Path("/usr/bin/chromium")
LARGEST = 200_000  # bytes of a picture
WIDTH, HEIGHT = 1280, 860
PICTURES = {
    "compare.png": "/compare?q={query}&user={user}",
    "me.png": "/me?user={user}",
}


def main() -> None:
    """Take them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).parent)
    given = parser.parse_args()
    workspace = Workspace(given.workspace)
    user = coffee_lover(workspace)
    with served(workspace) as port, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for name, path in PICTURES.items():
            page.goto(f"http://127.0.0.1:{port}/?q=java&user={user}")  # there is a last request
            page.goto(f"http://127.0.0.1:{port}{path.format(query='java', user=user)}")
            picture = page.screenshot(path=given.output / name)
            print(json.dumps({"picture": str(given.output / name), "bytes": len(picture)}))
            if len(picture) > LARGEST:
                raise SystemExit(f"{name} has {len(picture):,} bytes; at most {LARGEST:,}")
        browser.close()


def coffee_lover(workspace: Workspace) -> str:
    """Return the person the demo shows first."""
    from anonymizer.release import read_release
    from search_app.demonstration import pair

    truth = workspace.truth()
    if truth is None:
        raise SystemExit(f"{workspace.root}: its people are not invented; name a demo's workspace")
    return next(iter(pair(truth, read_release(workspace.find("release"))).values()))


if __name__ == "__main__":
    main()
