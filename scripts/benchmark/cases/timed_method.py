"""A verb of veilsearch that also says how long the method alone took. [I/O]

usage: python -m scripts.benchmark.cases.timed_method SECONDS.json WORDS_OF_VEILSEARCH ...
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from anonymizer.methods import anonymize
from search_app import cli
from search_app.tasks import releasing


def main(seconds: str, *words: str) -> None:
    """Run the verb in `words`, and write to the file `seconds` what the method took."""

    def timed(*arguments: Any, **named: Any) -> Any:
        began = time.perf_counter()
        release = anonymize(*arguments, **named)
        Path(seconds).write_text(json.dumps(time.perf_counter() - began), encoding="utf-8")
        return release

    with patch.object(releasing, "anonymize", timed):
        cli.main(words)


if __name__ == "__main__":
    main(*sys.argv[1:])
