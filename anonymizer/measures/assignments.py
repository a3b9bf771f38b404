"""How many members of a group are expected to have a term, over all cases that fit the release.

N of all users have the term. What group g with m_g members publishes leaves some counts possible,
the set A_g. All assignments of the N owners to members that fit are equally likely, so

    P(c_1, ..., c_G) ~ C(m_1, c_1) ... C(m_G, c_G)    where c_g is in A_g and their sum is N.

The sums are products of polynomials, one for each group, in which c_g is an exponent. A power that
moves their mean to N scales the coefficients; this changes no ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Ints
from ..errors import BadInput

_NEAR = 0.5  # owners: how near to N the scaling moves the mean
_UNFIT = "the release was not made from these profiles: no assignment of terms fits both"
_DIRECT = 200_000  # multiplications; for fewer a Fourier transform takes longer


class Kind(NamedTuple):
    """Groups of one size that publish the same about a term."""

    groups: int  # how many there are
    size: int
    open: Ints  # the possible numbers of members who have the term, ascending


def expected_shares(owners: int, kinds: Sequence[Kind]) -> list[float]:
    """Return the expected share of members with the term in each of `kinds`, of `owners` in all."""
    least = sum(kind.groups * int(kind.open[0]) for kind in kinds)
    largest = sum(kind.groups * int(kind.open[-1]) for kind in kinds)
    if not least <= owners <= largest:
        raise BadInput(_UNFIT)
    # At either end there is only one case.
    if owners in (least, largest):
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
            raise BadInput(_UNFIT)
        counts = int(kind.open[0]) + np.arange(chances.size)
        shares.append(float((chances * counts).sum() / chances.sum()) / kind.size)
    return shares


def _tilted(owners: int, kinds: Sequence[Kind]) -> Floats:
    """Return the chances of each kind's counts, scaled so that about `owners` are expected."""
    width = max(kind.open.size for kind in kinds)
    counts, ways = np.zeros((len(kinds), width)), np.full((len(kinds), width), -np.inf)
    # Logarithms, because binomial coefficients are too large for floats.
    factorials = np.append(0, np.cumsum(np.log(np.arange(1, max(k.size for k in kinds) + 1))))
    for row, kind in enumerate(kinds):
        c = kind.open
        counts[row, : c.size] = c
        ways[row, : c.size] = factorials[kind.size] - factorials[c] - factorials[kind.size - c]
    groups = np.array([kind.groups for kind in kinds])
    low, high = -80.0, 80.0
    # Near is enough: no scaling changes a ratio, it only keeps the numbers in range.
    while True:
        middle = (low + high) / 2
        logs = ways + middle * counts
        chances: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        expected = groups @ (chances * counts).sum(axis=1)
        if abs(expected - owners) < _NEAR or high - low < 1e-9:
            return chances
        low, high = (middle, high) if expected < owners else (low, middle)


def _series(kind: Kind, chances: Floats, length: int) -> Floats:
    """Return one group's polynomial, without the factor of its least count, cut to `length`."""
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
    """Return the product of two polynomials, cut or filled up with zeros to `length`."""
    longer, shorter = (one, other) if one.size >= other.size else (other, one)
    product: Floats
    if shorter.size == 1:
        product = longer * shorter[0]
    elif one.size * other.size <= _DIRECT:
        # What np.convolve does after checks that take as long as this.
        product = np.correlate(longer, shorter[::-1], "full")
    else:
        size = one.size + other.size - 1
        product = np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(other, size), size)[:length]
        # Rounding in the transform can make a 0 negative.
        product = np.maximum(product, 0.0)
    if product.size >= length:
        return product[:length]
    filled = np.zeros(length)
    filled[: product.size] = product
    return filled


def _running(factors: Sequence[Floats], length: int) -> list[Floats]:
    """Return the products of the first 0, 1, 2, ... of `factors`."""
    products = [np.ones(1)]
    # A 1 of this length is transformed, too, and its rounding is in figures that were published.
    if length * length > _DIRECT:
        products = [_times(np.ones(1), np.ones(1), length)]
    for factor in factors:
        products.append(_times(products[-1], factor, length))
    return products
