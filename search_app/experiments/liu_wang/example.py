"""The paper's running example: five vocabularies, their taxonomy, and what was printed of them."""

from __future__ import annotations

from collections.abc import Mapping

from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from anonymizer.terms.taxonomy import taxonomy_of

_BELOW = {
    "goods": "edibles wear",
    "edibles": "alcohol milk",
    "wear": "clothes footwear",
    "alcohol": "wine vino",
    "milk": "raw-milk homo-milk",
    "clothes": "jackets pants",
    "footwear": "boots shoes",
}
_VOCABULARIES = {
    "t1": {"wine": 2, "jackets": 1, "boots": 1},
    "t2": {"vino": 2, "jackets": 1, "shoes": 1},
    "t3": {"wine": 1, "vino": 1, "raw-milk": 1, "jackets": 1, "shoes": 1},
    "t4": {"vino": 1, "raw-milk": 2, "homo-milk": 1},
    "t5": {"raw-milk": 1, "homo-milk": 2, "jackets": 1, "pants": 1},
}
_PRINTED = {
    ("t1", "t2", "t3"): {"wine": 1, "vino": 1, "jackets": 1, "shoes": 1},
    ("t4", "t5"): {"raw-milk": 2, "homo-milk": 1},
}


def running_example() -> Mapping[str, object]:
    """Return whether the example comes out as printed: by size, which is claimed, and by input."""
    right = {order: _rows(_released(order)) == _PRINTED for order in ("size", "input")}
    texts = {order: "as printed" if same else "otherwise" for order, same in right.items()}
    return {"right": right["size"], "by_size": texts["size"], "by_input": texts["input"]}


def _released(order: str) -> Release:
    """Return the release of the example with the vocabularies in this `order`."""
    pairs = ((child, parent) for parent, below in _BELOW.items() for child in below.split())
    inputs = Inputs(Profiles.from_rows(_VOCABULARIES), taxonomy=taxonomy_of(pairs))
    return anonymize("vocabulary-k", inputs, {"k": 2, "eps": 4.0, "order": order})


def _rows(release: Release) -> Mapping[tuple[str, ...], Mapping[str, float]]:
    """Return each row of `release` by its members."""
    members: dict[int, list[str]] = {}
    for user, row in zip(release.users, release.row_of_user.tolist(), strict=True):
        members.setdefault(row, []).append(user)
    return {tuple(sorted(some)): release.rows.at(row) for row, some in members.items()}
