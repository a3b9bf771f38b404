"""The histograms of a release's groups: drawn, said in a sentence, and as numbers."""

from __future__ import annotations

import numpy as np

from ..binning import quantile, share_counts
from ..group_figures import Figures
from . import lone_charts
from .histograms import Counted, Words, share_histogram, spread_histogram, whole_histogram
from .wording import count, two_decimals

NAMES = ("sizes", "shares", "terms", "support", "belief", *lone_charts.NAMES)


def charts(figures: Figures) -> list[Counted]:
    """Draw what there is to draw; of rows of one real person each nothing."""
    if figures.lone is not None:
        return lone_charts.lone_charts(figures, figures.lone) if figures.told.size else []
    drawn = [_sizes(figures)]
    if figures.measured and figures.told.size:
        drawn += [_shares(figures), _terms(figures)]
        if figures.support.size:
            drawn.append(_support(figures))
        drawn.append(_belief(figures))
    return drawn


def _sizes(figures: Figures) -> Counted:
    words = Words(
        "sizes",
        "How many people share a row",
        "people in a group",
        "groups",
        ("people", "groups"),
    )
    of_one = int(np.count_nonzero(figures.people == 1))
    alone = f" {count(of_one, 'row is', 'rows are')} one person’s own profile." if of_one else ""
    sentence = (
        "The smallest of {groups} has {low}, the largest {high}; half of them have at most {half}."
        + alone
    )
    groups = count(len(figures.people), "group", "groups")
    return spread_histogram(words, figures.people, sentence, groups=groups)


def _shares(figures: Figures) -> Counted:
    words = Words(
        "shares",
        "How surely a member has a term of the group",
        "share of members who have a term, on average",
        "groups",
        ("from", "to", "groups"),
    )
    values = figures.among_told("share")
    sentence = (
        "Take somebody of a group and one of its terms by chance: they have it with a chance of "
        f"{_percent(np.median(values))} in the middle group, {_percent(values.max())} in the worst."
    )
    return share_histogram(words, share_counts(values), sentence)


def _terms(figures: Figures) -> Counted:
    words = Words(
        "terms",
        "Each term of each group",
        "share of members who have the term",
        "terms of groups",
        ("from", "to", "terms"),
    )
    total = int(figures.shares.sum())
    if figures.release.hides_shares:
        sentence = (
            f"{_percent(figures.certain / total)} of all {total:,} terms of groups have the "
            "published share 1. What else the members of a group have in common, its row hides."
        )
        return share_histogram(words, figures.shares, sentence)
    sentence = (
        f"{_percent(figures.certain / total)} of all {total:,} terms of groups are had by every "
        "member of their group: who knows your group knows these of you."
    )
    return share_histogram(words, figures.shares, sentence)


def _support(figures: Figures) -> Counted:
    words = Words(
        "support",
        "How many stand behind a released term",
        "members who have the term",
        "released terms",
        ("members", "released_terms"),
    )
    total, single = int(figures.support.sum()), int(figures.support[1])
    half = quantile(figures.support, 0.5)
    most = f"; half of them stand for {half:,} or fewer" if half > 1 else ""
    sentence = (
        f"{_percent(single / total)} of all {total:,} released terms stand for one person of their "
        f"group only{most}."
    )
    return whole_histogram(words, figures.support, sentence)


def _belief(figures: Figures) -> Counted:
    words = Words(
        "belief",
        "What the group adds to what is known of everybody",
        "largest change of the chance that a member has some term",
        "groups",
        ("from", "to", "groups"),
    )
    values = figures.among_told("belief")
    sentence = (
        "Knowing the group moves the chance that somebody in it has a certain term by up to "
        f"{two_decimals(np.median(values))} in the middle group and by up to "
        f"{two_decimals(values.max())} in the worst."
    )
    return share_histogram(words, share_counts(values), sentence)


def _percent(share: float) -> str:
    return "under 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"
