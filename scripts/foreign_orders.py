"""What do orders by a foreign row tell of its terms: under `evidence`, and under `cosine`?

    python -m scripts.foreign_orders WORKSPACE [ROWS]

An attacker whom a foreign row serves sees orders of 100 documents, and knows corpus, index and
rule. They ask for what is likeliest in the row so far and for words at random, in turns. From pairs
of documents they learn which terms lift a document. The terms that lift most are their guess, as
many as the row has. Rows are not published, so evidence stands among searches of the corpus.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, diags, hstack, vstack
from sklearn.linear_model import LogisticRegression

from anonymizer.arrays import Marks
from search_app.search.engine import Engine
from search_app.search.evidence import logarithms
from search_app.search.request import RankingRule
from search_app.settings import load_settings
from search_app.workspace.folder import Workspace
from search_app.workspace.opening import open_modes

AFTER = (10, 30, 60)  # requests
PAIRS = 300  # of documents learned from, a request


def lifts(
    engine: Engine, query: str, row: object, ranking: str, rng: np.random.Generator
) -> tuple[csr_matrix, Marks]:
    """Return pairs of documents of the pool of `query` as differences, and which one is higher."""
    pool = engine.pool(query, 100)
    got = engine.by_row(pool, row, RankingRule(ranking))  # type: ignore[arg-type]
    forward, size = engine._forward, len(pool)
    cells = [forward.weights_of(at) for at in pool.rows.tolist()]
    ends = np.cumsum([0, *(columns.size for columns, _ in cells)])
    none = np.zeros(0)
    made = csr_matrix(
        (
            np.concatenate([none, *(weights for _, weights in cells)]),
            np.concatenate([none.astype(int), *(columns for columns, _ in cells)]),
            ends,
        ),
        (size, len(forward.terms)),
    )
    if ranking == "evidence" and size:  # a document's neighbours count as much as itself
        near, alike = forward.neighbours(pool.rows, 8)
        at = np.repeat(np.arange(size), near.shape[1])
        spread = csr_matrix((alike.ravel(), (at, near.ravel())), (size, size))
        whole = np.maximum(alike.sum(axis=1), 1e-12)
        made = (made + diags(1 / whole) @ spread @ made) / 2
    features = hstack([made, csr_matrix(logarithms(pool.scores)[:, None])]).tocsr()
    one, other = rng.integers(0, max(size, 1), (2, PAIRS if size > 1 else 0))
    places = np.empty(size)
    places[got.plain_ranks - 1] = np.arange(size)
    differ = places[one] != places[other]
    one, other = one[differ], other[differ]
    return features[one] - features[other], places[one] < places[other]


def recovered(engine: Engine, row: object, ranking: str, seed: int) -> list[float]:
    """Return the share of the terms of `row` that are guessed after each of AFTER requests."""
    rng, terms = np.random.default_rng(seed), engine._forward.terms
    own = {t for t in row.weights if engine._forward.columns([t])[0] >= 0}  # type: ignore[attr-defined]
    seen, higher, asked, shares = [], [], set[int](), []
    weights = np.zeros(len(terms))
    for number in range(1, AFTER[-1] + 1):
        likely = [at for at in np.argsort(-weights)[:200].tolist() if at not in asked]
        drawn = rng.integers(20, 4000, 2).tolist()
        words = likely[:2] if number % 2 and weights.any() else drawn
        asked |= {*words}
        pairs, labels = lifts(engine, " ".join(terms[at] for at in words), row, ranking, rng)
        seen.append(pairs)
        higher.append(labels)
        if number % 10 == 0:
            model = LogisticRegression(C=10, max_iter=60, fit_intercept=False)
            weights = model.fit(vstack(seen), np.concatenate(higher)).coef_[0][:-1]
        if number in AFTER:
            guess = {terms[at] for at in np.argsort(-weights)[: len(own)].tolist()}
            shares.append(len(guess & own) / len(own))
    return shares


def main(root: str, rows: str = "8") -> None:
    """Print the mean share of recovered terms by rule and number of requests."""
    workspace = Workspace(Path(root))
    modes = open_modes(workspace, load_settings(workspace.root, {}))
    if modes.release is None:
        sys.exit("there is no release here")
    chosen = np.random.default_rng(0).choice(modes.release.groups, int(rows), replace=False)
    for ranking in ("cosine", "evidence"):
        shares = np.array(
            [
                recovered(modes.engine, modes.release.released_row(int(at)), ranking, int(at))
                for at in chosen
            ]
        )
        mean, sd = shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
        parts = zip(AFTER, mean.tolist(), sd.tolist(), strict=True)
        print(ranking, *(f"{n} requests: {m:.3f} ± {s:.3f}" for n, m, s in parts), sep="  ")


if __name__ == "__main__":
    main(*sys.argv[1:])
