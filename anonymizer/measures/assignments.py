"""How many members of a group have a term, expected over all ways that fit what is published.

N of all users have the term. Of group g, with m_g members, what it publishes leaves some counts
open, A_g. All assignments of the N owners to members that fit are equally likely, so that

    P(c_1, ..., c_G) ~ C(m_1, c_1) ... C(m_G, c_G)    where c_g is in A_g and their sum is N.

The sums are taken as products of polynomials, one a group, in which c_g is an exponent. The
coefficients are scaled by a power that moves their mean to N, which changes no ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .finding import Floats, Ints

_NEAR = 0.5  # of the owners that chances expect
_DIRECT = 200_000  # multiplications of two polynomials, up to which no transform pays


class Kind(NamedTuple):
    """Groups that look alike: so many, of one size, of whose members so many may have the term."""

    groups: int
    size: int
    open: Ints  # counts, ascending


def expected_shares(owners: int, kinds: Sequence[Kind]) -> list[float]:
    """Return, for each kind, the share of members who are expected to have the term."""
    least = sum(kind.groups * int(kind.open[0]) for kind in kinds)
    most = sum(kind.groups * int(kind.open[-1]) for kind in kinds)
    if not least <= owners <= most:
        _refuse()
    if owners in (least, most):
        at = 0 if owners == least else -1
        return [int(kind.open[at]) / kind.size for kind in kinds]
    length = owners - least + 1
    tilted = _tilted(owners, kinds)
    series = [_series(kind, some, length) for kind, some in zip(kinds, tilted, strict=True)]
    fewer = [_power(one, kind.groups - 1, length) for one, kind in zip(series, kinds, strict=True)]
    whole = [_times(one, rest, length) for one, rest in zip(series, fewer, strict=True)]
    before, after = _running(whole, length), _running(whole[::-1], length)[::-1]
    shares = []
    for at, kind in enumerate(kinds):
        others = _times(_times(before[at], after[at + 1], length), fewer[at], length)
        chances = series[at] * others[length - 1 - np.arange(series[at].size)]
        if not chances.sum() > 0:
            _refuse()
        counts = int(kind.open[0]) + np.arange(chances.size)
        shares.append(float((chances * counts).sum() / chances.sum()) / kind.size)
    return shares


def _tilted(owners: int, kinds: Sequence[Kind]) -> Floats:
    """Return each kind's chances of its open counts, where they expect so many owners in all."""
    width = max(kind.open.size for kind in kinds)
    counts, ways = np.zeros((len(kinds), width)), np.full((len(kinds), width), -np.inf)
    factorials = np.append(0, np.cumsum(np.log(np.arange(1, max(k.size for k in kinds) + 1))))
    for row, kind in enumerate(kinds):
        c = kind.open
        counts[row, : c.size] = c
        ways[row, : c.size] = factorials[kind.size] - factorials[c] - factorials[kind.size - c]
    groups = np.array([kind.groups for kind in kinds])
    low, high = -80.0, 80.0
    while True:  # near is enough: what is left changes no ratio
        middle = (low + high) / 2
        chances = _chances(ways + middle * counts)
        expected = groups @ (chances * counts).sum(axis=1)
        if abs(expected - owners) < _NEAR or high - low < 1e-9:
            return chances
        low, high = (middle, high) if expected < owners else (low, middle)


def _chances(logs: Floats) -> Floats:
    chances: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return chances


def _series(kind: Kind, chances: Floats, length: int) -> Floats:
    """Return one group's polynomial, its exponents less the least count, cut to a length."""
    series = np.zeros(int(kind.open[-1] - kind.open[0]) + 1)
    series[kind.open - kind.open[0]] = chances[: kind.open.size]
    return series[:length]


def _power(series: Floats, exponent: int, length: int) -> Floats:
    result = np.ones(1)
    while exponent:
        if exponent & 1:
            result = _times(result, series, length)
        exponent >>= 1
        if exponent:
            series = _times(series, series, length)
    return result


def _times(one: Floats, other: Floats, length: int) -> Floats:
    """Multiply two polynomials; what has no place in the length is cut, the rest filled up."""
    if one.size * other.size <= _DIRECT:
        product = np.convolve(one, other)[:length]
    else:
        size = one.size + other.size - 1
        product = np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(other, size), size)[:length]
        product = np.maximum(product, 0.0)
    filled = np.zeros(length)
    filled[: product.size] = product
    return filled


def _running(factors: Sequence[Floats], length: int) -> list[Floats]:
    """Return the products of the first 0, 1, 2, ... factors."""
    products = [_times(np.ones(1), np.ones(1), length)]
    for factor in factors:
        products.append(_times(products[-1], factor, length))
    return products


def _refuse() -> None:
    from ..model import BadInput  # the judge beside these measures does without scipy

    raise BadInput("the release was not made from these profiles: no assignment of terms fits both")
