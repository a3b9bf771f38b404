"""The documentation builds as a site."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "mkdocs", "build", "--config-file", "scripts/mkdocs.yml"]
    build += ["--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    pages = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html")]
    assert len(pages) >= len(list((ROOT / "docs").rglob("*.md")))
    assert (
        re.findall(r'<(?:script|img|link)[^>]+(?:src|href)="(https?:[^"]+)', "".join(pages)) == []
    )
