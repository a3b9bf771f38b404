"""Texts of a few hundred invented words, as rare as in a language, and profiles with fractions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from anonymizer.counting import TermCounter
from anonymizer.text import Words
from index.forward import Forward
from index.forward_writing import ForwardWriter
from index.model import Document, Pool


def words(number: int = 300) -> list[str]:
    """Return words that stand in no sentence of ours."""
    letters = "abcdefghijklmnopqrst"
    return [f"xq{letters[n // 20]}{letters[n % 20]}" for n in range(number)]


def texts(number: int) -> list[str]:
    """Return texts, a fifth of which stand twice, so that there are ties."""
    chance, known = np.random.default_rng(number), words()
    chances = 1 / np.arange(1, len(known) + 1)
    made = [
        " ".join(chance.choice(known, chance.integers(1, 60), p=chances / chances.sum()))
        for _ in range(number)
    ]
    return [made[at - 1] if at % 5 == 4 else text for at, text in enumerate(made)]


def fractional_profile(seed: int, terms: int = 40) -> dict[str, float]:
    """Return a profile whose weights are no round numbers; some of its terms no text has."""
    chance = np.random.default_rng(seed)
    chosen = chance.choice([*words(), *(f"none{n}" for n in range(50))], terms, replace=False)
    return dict(zip(chosen.tolist(), (chance.random(terms) / 3 + 0.01).tolist(), strict=True))


def forward_of(made: Sequence[str], folder: Path) -> Forward:
    """Build a forward index of texts."""
    writer = ForwardWriter(folder, TermCounter(Words()))
    for text in made:
        writer.add(text)
    writer.write()
    return Forward.open(folder)


class PoolOfAll:
    """Stands for Lucene: any query finds all documents, in their order."""

    def __init__(self, number: int, made: Sequence[str] = ()) -> None:
        self._number = number
        self.stored = [Document(f"d{at:04}", f"Text {at}", text) for at, text in enumerate(made)]

    def pool(self, _query: str, size: int, **_how: object) -> Pool:
        """Find the first documents."""
        rows = np.arange(min(self._number, size), dtype=np.int64)
        return Pool(rows, (self._number - rows).astype(np.float32))

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Read documents."""
        return [self.stored[row] for row in rows]
