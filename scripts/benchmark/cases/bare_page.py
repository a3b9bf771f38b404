"""The least that a page can take: Flask and waitress answer with a constant text. [I/O]

usage: python -m scripts.benchmark.cases.bare_page
"""

from __future__ import annotations

import sys

import waitress
from flask import Flask

THREADS = 4


def main() -> None:
    """Serve the page, and say where on stderr."""
    app = Flask(__name__)
    app.add_url_rule("/", "page", lambda: "<!doctype html><title>page</title>")
    server = waitress.create_server(app, host="127.0.0.1", port=0, threads=THREADS)
    print(f"http://127.0.0.1:{server.effective_port}/", file=sys.stderr, flush=True)
    server.run()


if __name__ == "__main__":
    main()
