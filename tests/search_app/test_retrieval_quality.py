"""Retrieval as good as Anserini's: mean average precision over whole test collections."""

from __future__ import annotations

import os
from pathlib import Path

import ir_measures
import pytest

from search_app.cli import main

DATA = Path(
    os.environ.get("VEILSEARCH_QRELS", Path(__file__).parents[3] / "shared" / "data" / "qrels")
)
# Measured with Anserini 1.7.1: BM25 (k1 0.9, b 0.4), 1,000 hits a topic, topic titles.
ANSERINI = {"cranfield": 0.2879, "time": 0.5559, "npl-vaswani": 0.2963}


@pytest.mark.parametrize("name", ANSERINI)
def test_average_precision_is_anserinis(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    collection = DATA / name
    if not (collection / "docs.trec").exists():
        pytest.skip(f"no test collection in {collection}; name its folder with VEILSEARCH_QRELS")
    run = tmp_path / "run.txt"
    topics = ["--topics", str(collection / "topics.txt"), "--run", str(run), "--threads", "2"]
    for verb in (["index", str(collection / "docs.trec")], ["search", *topics]):
        with pytest.raises(SystemExit) as ended:
            main(["--workspace", str(tmp_path / "workspace"), *verb])
        assert ended.value.code == 0, capsys.readouterr().err
    judged = ir_measures.read_trec_qrels(str(collection / "qrels.txt"))
    ranked = ir_measures.read_trec_run(str(run))
    measured = ir_measures.calc_aggregate([ir_measures.AP], judged, ranked)[ir_measures.AP]
    print(f"{name}: {measured:.4f}, Anserini {ANSERINI[name]:.4f}")  # shown by -rP
    assert measured == pytest.approx(ANSERINI[name], abs=0.003)
