"""An invented marketing table whose columns go together as in table 3 of Burghardt et al.

Values are heavy-tailed. Of I impressions, C clicks and B bids of a term with tf occurrences by df
users, with Z, t, n drawn independently of all else:

    I = Z + a·(tf, df)        more for terms that more users have
    C = t·(Z + c·(tf, df))    t <= 1, so that no ad is clicked more often than shown; c < a
    B                         the highest for terms with clicks near q, the lowest far from it

What is free (a, the spread of t, c, q and how steeply bids fall around it) is solved for on the
drawn numbers, so that these are as in table 3: impressions with df, clicks with impressions, clicks
with df, bid with revenue, clicks and impressions of the terms with clicks. The others follow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from .model import Floats, Ints

ESTIMATED, CLICKED = 117_916 / 251_115, 64_694 / 251_115  # shares of the terms, table 3's N
MOSTLY_FREQUENT = 0.5  # a term has an estimate with odds that grow with df to this power
IMPRESSIONS, SPREAD = 10_000.0, 1.3  # median, and standard deviation of the logarithm
BID, BID_SPREAD = 0.3, 1.88  # dollars: of 117,916 terms the highest is about 900, as in table 2
RATE, MOST_RATE = 0.003, 0.43  # of impressions that are clicked; in table 2 "Lowe's" has the most
MOST_RATE_SPREAD = 2.5
TF_IMPRESSIONS, DF_IMPRESSIONS, DF_CLICKS = 0.111, 0.151, 0.031
CLICKS_IMPRESSIONS, BID_REVENUE, BID_CLICKS, BID_IMPRESSIONS = 0.400, 0.579, -0.003, 0.002
USUAL_STRENGTH, MOST_STRENGTH = 0.4, 2.0
POWER = 4  # bids are about equal near their place and fall steeply around it
PARTS, ROUNDS = ("clicks", "impressions", "strength"), 3
STEPS = 14  # of each bisection


class Drawn(NamedTuple):
    """The estimates, for the terms that have one; 0 clicks: none."""

    known: Ints  # numbers of terms, ascending
    bid: Floats
    impressions: Floats
    clicks: Floats


def drawn(tf: Floats, df: Floats, rng: np.random.Generator) -> Drawn:
    """Draw a table for terms of these frequencies."""
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
    return Drawn(known, bids_of(clicks, impressions, clicked, rng), impressions, clicks)


def picked(df: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Draw some terms without replacement, frequent ones rather."""
    keys = MOSTLY_FREQUENT * np.log(df) + rng.gumbel(size=df.size)
    chosen: Ints = np.sort(np.argsort(-keys, kind="stable")[:count])
    return chosen


def frequency(tf: Floats, df: Floats) -> Floats:
    """Return the mixture of tf and df, neither below 0, that goes with impressions as both do."""
    together = correlation(tf, df)
    of_tf = (TF_IMPRESSIONS - together * DF_IMPRESSIONS) / max(1 - together**2, 1e-9)
    of_df = (DF_IMPRESSIONS - together * TF_IMPRESSIONS) / max(1 - together**2, 1e-9)
    mixed = df / (df.std() or 1.0) if df.size else df.copy()
    if of_tf > 0:
        mixed = mixed + of_tf / of_df * tf / (tf.std() or 1.0)
    return mixed


def clicks_of(
    base: Floats, often: Floats, impressions: Floats, df: Floats, normal: Floats, share: float
) -> Floats:
    """Return the clicks of terms that have some."""

    def clicks(spread: float, part: float) -> Floats:
        rate = np.minimum(MOST_RATE, RATE * np.exp(spread * normal))
        return np.clip(np.rint(rate * IMPRESSIONS * (base + part * often)), 1.0, impressions)

    spread, part = 1.3, share / 2
    for _ in range(2):  # each changes the other's correlation a little
        spread = solved(
            lambda s: -correlation(clicks(s, part), impressions),  # noqa: B023 called at once
            -CLICKS_IMPRESSIONS,
            0.0,
            MOST_RATE_SPREAD,
        )
        part = solved(lambda c: correlation(clicks(spread, c), df), DF_CLICKS, 0.0, share)  # noqa: B023
    return clicks(spread, part)


def bids_of(clicks: Floats, impressions: Floats, clicked: Ints, rng: np.random.Generator) -> Floats:
    """Return a bid for each term, in cents."""
    drawn_bids = BID * np.exp(rng.normal(0.0, BID_SPREAD, clicks.size))
    bids: Floats = np.maximum(0.01, np.round(drawn_bids, 2))
    noise = rng.normal(size=clicked.size)
    if clicked.size > 1:
        own = (clicks[clicked], impressions[clicked])
        some = Clicked(np.sort(bids[clicked]), *own, np.log(own[0]), np.log(own[1]), noise)
        bids[clicked] = some.bids(placed(some))
    return bids


class Clicked(NamedTuple):
    """The terms with clicks, and the bids that they share among them."""

    sorted_bids: Floats
    clicks: Floats
    impressions: Floats
    log_clicks: Floats
    log_impressions: Floats
    noise: Floats

    def bids(self, at: Place) -> Floats:
        """Give the highest bids to the terms nearest to a place, but for noise."""
        off = np.abs(self.log_clicks - at.clicks)
        off = np.maximum(off, np.abs(self.log_impressions - at.impressions))
        given = np.empty_like(self.sorted_bids)
        given[np.argsort(self.noise - (at.strength * off) ** POWER, kind="stable")] = (
            self.sorted_bids
        )
        return given

    def goes_with(self, what: str, at: Place) -> float:
        """Return the correlation of bids with what the place's part settles."""
        given = self.bids(at)
        other = {"strength": given * self.clicks, "clicks": self.clicks}
        return correlation(given, other.get(what, self.impressions))


class Place(NamedTuple):
    """Where bids are highest, as logarithms, and how strongly they are lower elsewhere."""

    strength: float
    clicks: float
    impressions: float


def placed(some: Clicked) -> Place:
    """Solve for each part in turns, as each changes the others' correlations a little."""
    wanted = {"strength": BID_REVENUE, "clicks": BID_CLICKS, "impressions": BID_IMPRESSIONS}
    most = Place(MOST_STRENGTH, float(some.log_clicks.max()), float(some.log_impressions.max()))
    means = (some.clicks.mean(), some.impressions.mean())
    at = Place(USUAL_STRENGTH, *(float(np.log(mean)) for mean in means))
    for part in PARTS * ROUNDS:
        rising = partial(_with_part, some, at, part)
        found = solved(rising, wanted[part], 0.0, getattr(most, part))
        at = at._replace(**{part: found})
    return at


def _with_part(some: Clicked, at: Place, part: str, value: float) -> float:
    return some.goes_with(part, at._replace(**{part: value}))


def correlation(one: Floats, other: Floats) -> float:
    """Return Pearson's correlation, 0 where one of them does not vary."""
    if one.size < 2:
        return 0.0
    one, other = one - one.mean(), other - other.mean()
    length = float(np.sqrt(one @ one) * np.sqrt(other @ other))
    return float(one @ other) / length if length > 0 else 0.0


def solved(rising: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """Bisect for where a function that rises, but for noise, has a value; else the nearer end."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        if rising(middle) < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2
