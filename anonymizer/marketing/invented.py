"""An invented marketing table with the correlations of table 3 of Burghardt et al.

Values are heavy-tailed. A term has tf occurrences by df users, I impressions, C clicks and a bid B.
Z, t and noise are drawn independently of everything else:

    I = Z + a·(tf, df)        more for terms that more users have
    C = t·(Z + c·(tf, df))    t <= 0.43 and c < a, so that no ad has more clicks than impressions
    B                         but for noise, lower the farther I, C and df are from one place

The free numbers (a, c, the spread of t, the place and how steeply bids fall around it) are solved
for on the drawn values. On a log of AltaVista's shape (251,115 terms, seeds 0 to 5) the
correlations are these, with those of table 3 in brackets:

                  tf                  df                  bid                 clicks
    impressions   .151 (.111)         .151 (.151)         -.002-.005 (.002)   .400 (.400)
    clicks        .021-.031 (.024)    .021-.031 (.031)    -.003 (-.003)
    bid           .000-.003 (.001)    .000-.003 (.002)
    revenue       .003 (.002)         .003 (.003)         .50-.58 (.579)      .05-.12 (.040)
    revenue and impressions: .05-.09 (.020)

So the same nine are significant at 0.01 and above 0; two of them are larger than in the paper. What
correlates with df also correlates with tf, as far as these two correlate: .761 in the paper, .999
in that log. In a log of a few hundred terms the tails are too small, and chance decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Ints

ESTIMATED, CLICKED = 117_916 / 251_115, 64_694 / 251_115  # shares of the terms, table 3's N
MOSTLY_FREQUENT = 0.5  # the odds that a term has an estimate grow with df to this power
IMPRESSIONS, SPREAD = 10_000.0, 1.3  # median, and standard deviation of the logarithm
BID, BID_SPREAD = 0.3, 1.88  # dollars: of 117,916 terms the highest is about 900, as in table 2
RATE, MOST_RATE = 0.003, 0.43  # clicks per impression; in table 2 "Lowe's" has the most
MOST_RATE_SPREAD = 2.5
TF_IMPRESSIONS, DF_IMPRESSIONS, DF_CLICKS = 0.111, 0.151, 0.031
CLICKS_IMPRESSIONS = 0.400
STEEPNESS, USUAL_STEEPNESS, MOST_STEEPNESS = "steepness", 0.4, 2.0
# Correlations of bids with clicks and impressions, and of revenue with df and bids. Each depends
# mostly on one part of the place where the highest bids are.
PARTS = {"clicks": -0.003, "impressions": 0.002, "df": 0.003, STEEPNESS: 0.579}
ROUNDS = 3
STEPS = 14  # of each bisection


Place = dict[str, float]  # where bids are highest, as logarithms, and how steeply they fall


class Drawn(NamedTuple):
    """The estimates of the terms that have one; 0 clicks mean that there is no estimate of them."""

    known: Ints  # numbers of terms, ascending
    bid: Floats
    impressions: Floats
    clicks: Floats


def drawn(tf: Floats, df: Floats, rng: np.random.Generator) -> Drawn:
    """Return a table drawn for terms with these `tf` and `df`."""
    known = picked(df, round(ESTIMATED * df.size), rng)
    tf, df = tf[known], df[known]
    clicked = picked(df, round(CLICKED / ESTIMATED * df.size), rng)
    base = np.exp(rng.normal(0.0, SPREAD, df.size))
    often = frequency(tf, df)
    often *= base.std() if base.size else 1.0
    normal = rng.normal(size=clicked.size)
    share = solved(lambda a: correlation(base + a * often, df), DF_IMPRESSIONS, 0.0, 1.0)
    impressions = np.maximum(1.0, np.rint(IMPRESSIONS * (base + share * often)))
    clicks = np.zeros(df.size)
    shown = (base[clicked], often[clicked], impressions[clicked])
    clicks[clicked] = clicks_of(*shown, df[clicked], normal, share)
    return Drawn(known, bids_of(clicks, impressions, df, clicked, rng), impressions, clicks)


def picked(df: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Return `count` terms drawn without replacement; a higher `df` makes a term more likely."""
    # The largest sums of log odds and Gumbel noise are such a draw.
    keys = MOSTLY_FREQUENT * np.log(df) + rng.gumbel(size=df.size)
    chosen: Ints = np.sort(np.argsort(-keys, kind="stable")[:count])
    return chosen


def frequency(tf: Floats, df: Floats) -> Floats:
    """Return the mixture of `tf` and `df`, neither below 0, that fits impressions as both do."""
    together = correlation(tf, df)
    of_tf = (TF_IMPRESSIONS - together * DF_IMPRESSIONS) / max(1 - together**2, 1e-9)
    of_df = (DF_IMPRESSIONS - together * TF_IMPRESSIONS) / max(1 - together**2, 1e-9)
    if not df.size:
        return df
    mixed: Floats = df / (df.std() or 1.0)
    return mixed + max(0.0, of_tf / of_df) * tf / (tf.std() or 1.0)


def clicks_of(
    base: Floats, often: Floats, impressions: Floats, df: Floats, normal: Floats, share: float
) -> Floats:
    """Return the clicks of terms that have some, never more than their `impressions`."""

    def clicks(spread: float, part: float) -> Floats:
        rate = np.minimum(MOST_RATE, RATE * np.exp(spread * normal))
        return np.clip(np.rint(rate * IMPRESSIONS * (base + part * often)), 1.0, impressions)

    spread, part = 1.3, share / 2
    # Two rounds, as each of the two numbers changes the correlation of the other a little.
    for _ in range(2):
        spread = solved(
            lambda s: -correlation(clicks(s, part), impressions),  # noqa: B023 called at once
            -CLICKS_IMPRESSIONS,
            0.0,
            MOST_RATE_SPREAD,
        )
        part = solved(lambda c: correlation(clicks(spread, c), df), DF_CLICKS, 0.0, share)  # noqa: B023
    return clicks(spread, part)


def bids_of(
    clicks: Floats, impressions: Floats, df: Floats, clicked: Ints, rng: np.random.Generator
) -> Floats:
    """Return a bid for each term, rounded to cents; among `clicked` terms, the place decides."""
    drawn_bids = BID * np.exp(rng.normal(0.0, BID_SPREAD, clicks.size))
    bids: Floats = np.maximum(0.01, np.round(drawn_bids, 2))
    noise = rng.normal(size=clicked.size)
    if clicked.size > 1:
        values = {"clicks": clicks[clicked], "impressions": impressions[clicked], "df": df[clicked]}
        logs = {name: np.log(column) for name, column in values.items()}
        some = Clicked(np.sort(bids[clicked]), values, logs, noise)
        bids[clicked] = some.bids(placed(some))
    return bids


class Clicked(NamedTuple):
    """The terms with clicks, and the bids that they share among them."""

    sorted_bids: Floats
    values: dict[str, Floats]
    logs: dict[str, Floats]
    noise: Floats

    def bids(self, at: Place) -> Floats:
        """Return the bids, the highest for the terms nearest to the place `at`, but for noise."""
        off = np.zeros_like(self.noise)
        for name, logs in self.logs.items():
            np.maximum(off, np.abs(logs - at[name]), out=off)
        # Keys are about equal near the place and fall steeply around it.
        key = self.noise - np.square(np.square(at[STEEPNESS] * off))
        given = np.empty_like(self.sorted_bids)
        given[np.argsort(key)] = self.sorted_bids
        return given

    def goes_with(self, part: str, at: Place) -> float:
        """Return the correlation that depends on this `part` of the place `at`."""
        given = self.bids(at)
        revenue = given * self.values["clicks"]
        if part == STEEPNESS:
            return correlation(given, revenue)
        return correlation(revenue if part == "df" else given, self.values[part])


def placed(some: Clicked) -> Place:
    """Return the place of the highest bids for `some` terms, solved for part by part, in rounds."""
    high = {name: float(logs.max()) for name, logs in some.logs.items()}
    at = {name: float(np.log(values.mean())) for name, values in some.values.items()}
    high[STEEPNESS], at[STEEPNESS] = MOST_STEEPNESS, USUAL_STEEPNESS
    # Rounds, as each part changes the correlations of the others a little.
    for part, wanted in list(PARTS.items()) * ROUNDS:

        def with_part(value: float, part: str = part) -> float:
            return some.goes_with(part, {**at, part: value})

        at[part] = solved(with_part, wanted, 0.0, high[part])
    return at


def correlation(one: Floats, other: Floats) -> float:
    """Return Pearson's correlation of `one` and `other`, 0 where one of them does not vary."""
    if one.size < 2:
        return 0.0
    one, other = one - one.mean(), other - other.mean()
    length = float(np.sqrt(one @ one) * np.sqrt(other @ other))
    return float(one @ other) / length if length > 0 else 0.0


def solved(rising: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """Return where the function `rising` has the value `wanted` by bisection, or the nearer end."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        if rising(middle) < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2
