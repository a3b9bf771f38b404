"""Texts of a few hundred invented words, as rare as in a language, and profiles with fractions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from anonymizer.terms.analysis import WordAnalysis
from anonymizer.terms.counting import TermCounter
from index.forward.reading import Forward
from index.forward.writing import ForwardWriter
from index.model import Document

from ..toy_index import Shelf


def words(number: int = 300) -> list[str]:
    """Return words that stand in no sentence of ours."""
    letters = "abcdefghijklmnopqrst"
    return [f"xq{letters[n // 20]}{letters[n % 20]}" for n in range(number)]


def texts(number: int) -> list[str]:
    """Return texts, a fifth of which occur twice, so that there are ties."""
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


def shelf_of(number: int, made: Sequence[str] = ()) -> Shelf:
    """Return an index in which any query finds so many documents, in their order."""
    contents = made or [""] * number
    return Shelf([Document(f"d{at:04}", f"Text {at}", text) for at, text in enumerate(contents)])


def forward_of(made: Sequence[str], folder: Path) -> Forward:
    """Build a forward index of texts."""
    writer = ForwardWriter(folder, TermCounter(WordAnalysis()))
    for text in made:
        writer.add(Document("", "", text))
    writer.write()
    forward = Forward.open(folder)
    forward.openings = None  # titles are the shelf's
    return forward
