"""A small world for methods that group by documents: people, and a sample of documents."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.methods import anonymize
from anonymizer.model import Profiles, Release
from anonymizer.similarity import Documents
from anonymizer.wordnet import WordNet

KEY = bytes(range(32))
TERMS = tuple(f"t{number:02d}" for number in range(30))


def drawn_people(users: int, seed: int = 0, most: int = 8) -> Profiles:
    """Draw people who have up to so many terms, some terms far more often than others."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, len(TERMS) + 1)
    rows = {}
    for user in range(users):
        size = int(rng.integers(1, most + 1))
        terms = rng.choice(TERMS, size, replace=False, p=chances / chances.sum())
        rows[f"u{user}"] = {str(term): float(rng.integers(1, 5)) for term in terms}
    return Profiles.from_rows(rows)


def drawn_documents(seed: int = 1) -> Documents:
    """Draw documents of some terms each, at length 1."""
    weights = np.random.default_rng(seed).random((40, len(TERMS)))
    weights[weights < 0.8] = 0
    weights[:, 0] += 0.1
    lengths = np.linalg.norm(weights, axis=1, keepdims=True)
    return Documents(csr_matrix(weights / lengths), TERMS)


def release(
    method: str,
    profiles: Profiles,
    wordnet: WordNet,
    *,
    seed: int = 0,
    key: bytes = KEY,
    **parameters: Any,
) -> Release:
    """Run a method with few steps on the drawn documents."""
    handed_in: dict[str, Any] = {"sample": drawn_documents(), "key": key}
    chosen = {"steps": 6000, **parameters}
    return anonymize(method, profiles, chosen, wordnet=wordnet, seed=seed, **handed_in)


def priors(profiles: Profiles) -> dict[str, Fraction]:
    """Return the share of all users who have each term."""
    rows = [profiles.row(user) for user in profiles.users]
    return {term: Fraction(sum(term in row for row in rows), len(rows)) for term in profiles.terms}


def members_of(made: Release) -> list[list[str]]:
    """Return the users of each row."""
    groups: list[list[str]] = [[] for _ in range(len(made.rows))]
    for user, row in zip(made.users, made.row_of_user.tolist(), strict=True):
        groups[row].append(user)
    return groups


def true_share(profiles: Profiles, members: list[str], term: str) -> Fraction:
    """Return the share of some users who have a term."""
    return Fraction(sum(term in profiles.row(user) for user in members), len(members))
