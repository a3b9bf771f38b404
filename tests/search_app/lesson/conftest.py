"""A small workspace with a release in use and others for the dial, made by the verbs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from search_app.workspace.folder import Workspace

from ..conftest import call, jsonl

TEXT = """
coffee bean cup milk sugar tea code program computer disk file language guitar drum song
opera violin piano ship boat sail river lake ocean bird nest feather wing tree leaf root
flower wine grape cheese bread butter salt pepper soup
"""
WORDS = TEXT.split()
USERS = [f"needle-{number:02}" for number in range(36)]
STOPS = {
    "pooled": ("pooled", "p=0.34"),
    "paper": ("p-linkability", "p=0.32"),
    "composition": ("composition", "p=0.5", "steps=2000"),
}


@pytest.fixture(scope="session")
def dialled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace of 36 people with a release for each of STOPS; copy it before a change."""
    folder = tmp_path_factory.mktemp("dial")
    root, log, rng = folder / "workspace", folder / "log.tsv", np.random.default_rng(0)
    documents = (
        {"id": f"d{at}", "title": f"{one} {other}", "text": f"java {one} {other} {one}"}
        for at, (one, other) in enumerate(rng.choice(WORDS, (90, 2)).tolist())
    )
    lines = []
    for at, user in enumerate(USERS):
        liked = np.roll(np.linspace(3, 0.2, len(WORDS)), 10 * (at % 4))
        searched = rng.choice(WORDS, 12, replace=False, p=liked / liked.sum()).tolist()
        lines += [f"{user}\t{word}\t2026-03-01 08:00:00\t\t\n" for word in searched]
    log.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(lines))
    call(root, "index", jsonl(folder / "corpus.jsonl", documents))
    call(root, "profiles", log)
    call(root, "anonymize", "--set", "p=0.45")
    for name, (method, *options) in STOPS.items():
        (root / "dial").mkdir(exist_ok=True)
        given = [word for one in options for word in ("--set", one)]
        call(root, "anonymize", "-m", method, *given, "-o", root / "dial" / name)
    # The people count as invented, so that they can be chosen.
    people = {user: {"name": user, "interests": []} for user in USERS}
    truth = {"log_sha256": "0", "users": people, "interests": {}}
    (root / "town.truth.json").write_text(json.dumps(truth))
    Workspace(root).make_current(truth="town.truth.json", log_sha256="0")
    return root


@pytest.fixture
def workspace(dialled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(dialled, tmp_path / "workspace"))
