"""A small world for methods that group by documents: people, and a sample of documents."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.grouping.bounds import Bounds
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from anonymizer.similarity.documents import Documents

KEY = bytes(range(32))
Row = dict[str, float]
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
    *,
    seed: int = 0,
    key: bytes = KEY,
    **parameters: Any,
) -> Release:
    """Run a method with few steps on the drawn documents."""
    handed_in: dict[str, Any] = {"sample": drawn_documents(), "key": key}
    chosen = {"steps": 6000, **parameters}
    return anonymize(method, Inputs(profiles, seed=seed, **handed_in), chosen)


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


def groups_of(release: Release) -> list[set[str]]:
    users = np.array(release.users)
    return [set(users[release.row_of_user == row]) for row in range(len(release.rows))]


def true_share(profiles: Profiles, members: list[str], term: str) -> Fraction:
    """Return the share of some users who have a term."""
    return Fraction(sum(term in profiles.row(user) for user in members), len(members))


def fits(rows: list[Row], group: list[int], bounds: Bounds) -> bool:
    """Judge a group by brute force, from the definitions of the bounds."""
    weight: Row = {}
    for member in group:
        for term, value in rows[member].items():
            weight[term] = weight.get(term, 0.0) + value
    total, everybody = sum(weight.values()), sum(sum(row.values()) for row in rows)
    share = {term: value / total for term, value in weight.items()}
    entropy = -sum(value * math.log(value) for value in share.values())
    divergence = 0.0
    for term in {term for row in rows for term in row}:
        mine, all_ = share.get(term, 0.0), sum(row.get(term, 0.0) for row in rows) / everybody
        for part in (mine, all_):
            if part:
                divergence += part * math.log2(2 * part / (mine + all_)) / 2
    return (
        len(weight) >= bounds.terms
        and len(group) >= bounds.members
        and entropy >= bounds.entropy - 1e-9
        and math.sqrt(max(divergence, 0.0)) <= bounds.distance + 1e-9
    )
