"""How surely a member of a group is linked to the group's terms, in several readings.

average   |U|avg / |G|: what p-linkability bounds (Zhu & Xiong, definition 1 as they enforce it).
share     the mean over the group's terms of the share of members who have it. Equal to `average`
          if all profiles are equally long; else it may be larger, up to 1 in a group of one.
worst     the largest share of members who have one of the group's terms: definition 1 read
          literally. 1 means that some term is known of every member.
belief    the largest change of belief about any term, present or absent: |share of members who
          have it - share of all users who have it| (equation 1, for one who knows the shares).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_matrix

from ..model import BadInput, Floats, Ints, Profiles, Release
from .measurement import Measurement

READINGS = ("average", "share", "worst", "belief")


def linkability(profiles: Profiles, release: Release) -> list[Measurement]:
    """Measure size and the readings for each group."""
    members = _members(profiles, release)
    has = csr_matrix(members @ _binary(profiles))
    sizes = np.bincount(release.row_of_user, minlength=len(release.rows))
    prior = np.bincount(profiles.weights.indices, minlength=len(profiles.terms)) / len(profiles)
    by_prior = np.argsort(-prior, kind="stable")
    average_size = float(profiles.sizes.mean())
    rows = []
    for group, name in enumerate(release.rows.users):
        terms = has.indices[has.indptr[group] : has.indptr[group + 1]].astype(np.int64)
        share = has.data[has.indptr[group] : has.indptr[group + 1]] / sizes[group]
        values = {
            "users": float(sizes[group]),
            "average": average_size / terms.size,
            "share": float(share.mean()),
            "worst": float(share.max()),
            "belief": _belief(terms, share, prior, by_prior),
        }
        rows += [Measurement(measure, value, group=name) for measure, value in values.items()]
    return rows


def _members(profiles: Profiles, release: Release) -> csr_matrix:
    """Return groups x users of the profiles; every user must have exactly one row."""
    if set(profiles.users) != set(release.users):
        raise BadInput("the release was not made from these profiles: their users differ")
    columns = np.array([profiles.row_of[user] for user in release.users], dtype=np.int64)
    shape = (len(release.rows), len(profiles))
    return csr_matrix((np.ones(columns.size), (release.row_of_user, columns)), shape=shape)


def _binary(profiles: Profiles) -> csr_matrix:
    weights = profiles.weights
    return csr_matrix((np.ones_like(weights.data), weights.indices, weights.indptr), weights.shape)


def _belief(terms: Ints, share: Floats, prior: Floats, by_prior: Ints) -> float:
    """Return the largest change of belief; of absent terms only the most usual one counts."""
    usual = by_prior[: terms.size + 1]
    absent = usual[~np.isin(usual, terms)]
    gone = float(prior[absent[0]]) if absent.size else 0.0
    return max(gone, float(np.abs(share - prior[terms]).max()))


def facts(profiles: Profiles, release: Release) -> Mapping[str, float | int]:
    """Sum the rows up for release.json: every value holds for the whole release."""
    rows = linkability(profiles, release)
    values = {
        name: np.array([row.value for row in rows if row.name == name])
        for name in ("users", *READINGS)
    }
    return {
        "users": len(release.users),
        "groups": len(release.rows),
        "single_person_rows": int(np.count_nonzero(values["users"] == 1)),
        "smallest_group": int(values["users"].min()),
        "mean_group": float(values["users"].mean()),
        "largest_group": int(values["users"].max()),
        "average_linkability": float(values["average"].max()),
        "mean_average_linkability": float(values["average"].mean()),
        "share_linkability": float(values["share"].max()),
        "worst_linkability": float(values["worst"].max()),
        "mean_worst_linkability": float(values["worst"].mean()),
        "change_of_belief": float(values["belief"].max()),
    }
