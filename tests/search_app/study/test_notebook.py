"""The notebook of an export, run by Jupyter: it says what the product and a hand compute."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from scipy import stats

from search_app.settings import Settings
from search_app.study.analysis import judgements, preferences, strengths
from search_app.study.design import Study
from search_app.study.export import tables
from search_app.study.export.writing import export
from search_app.study.store import StudyStore

from .conftest import BETWEEN, played, rows_of


def run_notebook(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run the notebook in `folder` by Jupyter, as it is; return what its names hold then."""
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(name, str(folder.parent / "home"))
    ours = nbformat.read(folder / "analysis.ipynb", as_version=4)
    nbformat.validate(ours)
    more = "import json\nprint(json.dumps([preferences, bradley_terry]))"
    ours.cells.append(nbformat.v4.new_code_cell(more))
    NotebookClient(ours, resources={"metadata": {"path": str(folder)}}).execute()
    found = json.loads(ours.cells[-1].outputs[0].text)
    return dict(zip(("preferences", "bradley_terry"), found, strict=True))


@pytest.mark.parametrize("between", [False, True])
def test_the_notebook_says_what_the_product_and_a_hand_computation_say(
    changed: Callable[..., Study],
    store: StudyStore,
    tmp_path: Path,
    between: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = changed(*(BETWEEN if between else ()))
    played(study, store, 14)
    export(study, store, tmp_path / "out", Settings(workspace=tmp_path / "none"))
    names = run_notebook(tmp_path / "out", monkeypatch)
    kept = tables.kept_in(study, store)
    scored = judgements(study, kept.events, kept.trials)
    for ours, theirs in zip(preferences(study, scored), names["preferences"], strict=True):
        for name in ("first", "second", "people", "mean", "low", "high", "p", "p_holm"):
            assert theirs[name] == pytest.approx(getattr(ours, name)), name
    svg = (tmp_path / "out" / "preference.svg").read_text()
    assert svg.count("</svg>") == 1
    # By hand, from the rows alone.
    rows = rows_of(tmp_path / "out" / "judgements.csv")

    def means_of(first: str, second: str) -> list[float]:
        own: dict[str, list[float]] = {}
        for row in rows:
            if (row["first"], row["second"]) == (first, second):
                own.setdefault(row["participant"], []).append(float(row["score"]))
        return [float(np.mean(scores)) for scores in own.values()]

    if between:
        test = stats.ttest_ind(means_of("none", ""), means_of("own", ""), equal_var=False)
        assert names["bradley_terry"] == {}
    else:
        test = stats.ttest_1samp(means_of("none", "own"), 0.5)
        shares = {one: share for one, (share, _, _) in strengths(study, scored).items()}
        assert names["bradley_terry"] == pytest.approx(shares)
    assert names["preferences"][0]["p"] == pytest.approx(test.pvalue)
