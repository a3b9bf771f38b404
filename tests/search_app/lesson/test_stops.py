"""What a stop is called comes from the release itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anonymizer.methods import promise_of
from anonymizer.model import Profiles, Release
from search_app.lesson.stops import label_of


@pytest.mark.parametrize(
    ("method", "parameters", "row_of", "label"),
    [
        ("p-linkability", {"p": 0.4}, [0, 0, 1, 1, 1], "Groups of 2–3 (paper, p = 0.4)"),
        ("p-linkability", {"p": 0.1}, [0, 0, 1, 1], "Groups of 2 people (paper, p = 0.1)"),
        ("pooled", {"p": 0.2}, [0, 0, 1, 1], "Pooled, belief moves ≤ 0.2"),
        ("composition", {"p": 0.25}, [0, 0, 1, 1, 1], "Composition, belief moves ≤ 0.25"),
        (
            "p-linkability",
            {"p": 0.4, "guarantee": "every-term"},
            [0, 0, 1, 1],
            "Groups of 2 people (p-linkability every-term, p = 0.4)",
        ),
        ("km-anonymity", {"k": 5, "m": 2}, [0, 1], "Rows of 1 person (paper, k = 5, m = 2)"),
        ("random-k", {"k": 2}, [0, 0, 1, 1], "Groups of 2 people (random-k)"),
        ("unheard", {}, [0, 0, 1, 1], "Groups of 2 people (unheard)"),
    ],
)
def test_labels(method: str, parameters: dict[str, Any], row_of: list[int], label: str) -> None:
    rows = Profiles.from_rows({f"g{at}": {"a": 1.0} for at in range(max(row_of) + 1)})
    users = tuple(f"u{at}" for at in range(len(row_of)))
    promise = promise_of(method, parameters)
    made = Release(rows, users, np.array(row_of), method, parameters, promise=promise)
    assert label_of(made) == label
