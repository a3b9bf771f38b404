"""Retrieval as good as Anserini's: mean average precision over whole test collections."""

from __future__ import annotations

import os
from pathlib import Path

import ir_measures
import pytest

from ..conftest import call

DATA = Path(
    os.environ.get("VEILSEARCH_QRELS", Path(__file__).parents[4] / "shared" / "data" / "qrels")
)
# Measured with Anserini 1.7.1: BM25 (k1 0.9, b 0.4), 1,000 hits a topic, topic titles.
ANSERINI = {"cranfield": 0.2879, "time": 0.5559, "npl-vaswani": 0.2963}


@pytest.mark.parametrize("name", ANSERINI)
def test_average_precision_is_anserinis(name: str, tmp_path: Path) -> None:
    collection = DATA / name
    if not (collection / "docs.trec").exists():
        pytest.skip(f"no test collection in {collection}; name its folder with VEILSEARCH_QRELS")
    run = tmp_path / "run.txt"
    topics = ["--topics", collection / "topics.txt", "--run", run, "--threads", "2"]
    call(tmp_path / "workspace", "index", collection / "docs.trec")
    call(tmp_path / "workspace", "search", *topics)
    judged = ir_measures.read_trec_qrels(str(collection / "qrels.txt"))
    ranked = ir_measures.read_trec_run(str(run))
    measured = ir_measures.calc_aggregate([ir_measures.AP], judged, ranked)[ir_measures.AP]
    print(f"{name}: {measured:.4f}, Anserini {ANSERINI[name]:.4f}")  # shown by -rP
    assert measured == pytest.approx(ANSERINI[name], abs=0.003)
