"""What `veilsearch anonymize` says of a release it has made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.model import BELIEF, HIDING, has_lone_rows

from .lone_rows import rounded_share

_LARGEST = "largest change of belief"
_LINKABILITY = {
    "mean profile over a group's terms, worst group": "average_linkability",
    "mean share of members a term, worst group": "share_linkability",
    "share of members, worst term": "worst_linkability",
    "share of members, worst released term": "released_linkability",
    _LARGEST: "change_of_belief",
}
_KEPT = {"distinct terms kept": "distinct_terms_kept", "log size kept": "log_size_kept"}
_WIDTH = 48
_K_1 = "k=1 deletes nothing and hides nobody, and can't be published. Take --set k=2, or more"


def release_lines(made: Mapping[str, Any]) -> list[str]:
    """Say what a release is like: its size, then what is measured of its method's promise."""
    facts = made["facts"]
    if has_lone_rows(made["method"]):
        return _of_rows(made, facts)
    inside = round(facts["groups"] * facts["mean_group"])
    left = facts["users"] - inside
    groups = (
        f"{inside} users in {facts['groups']} groups of {facts['smallest_group']} to "
        f"{facts['largest_group']} (mean {facts['mean_group']:.2f}): {made['release']}"
    )
    if made["method"] in BELIEF:
        return [groups, *_of_belief(made, left)]
    return [groups, *(_line(label, f"{facts[name]:.3f}") for label, name in _LINKABILITY.items())]


def _of_belief(made: Mapping[str, Any], left: int) -> list[str]:
    """Say what is promised of belief, and to whom not, and how near to it the release comes."""
    facts, hides = made["facts"], made["method"] in HIDING
    promised = f"p={made['parameters']['p']:g}"
    share = "published share" if hides else "share of members"
    lines = [_line("promised: belief about a term changes at most by", promised)]
    lines.append(_line(_LARGEST, f"{facts['change_of_belief']:.3f}"))
    if hides:
        lines.append(_line("left over, served by the mean of all groups", f"{left}"))
    return [*lines, _line(f"{share}, worst term", f"{facts['worst_linkability']:.3f}")]


def _of_rows(made: Mapping[str, Any], facts: Mapping[str, Any]) -> list[str]:
    given = made["parameters"]
    users, left_out = facts["users"], facts["users_left_out"]
    there = users + left_out
    chosen = ", ".join(
        f"{name}={given[name]}" for name in ("algorithm", "target", "marketing", "frequencies")
    )
    return [
        f"{users} of {there} {'user' if there == 1 else 'users'} {'has' if users == 1 else 'have'} "
        f"a row of their own: {made['release']}",
        _line("promised: any m terms of a row stand in k rows", f"k={given['k']} m={given['m']}"),
        _line("made by", chosen),
        _line("users left out, of whom no term is left", f"{left_out}"),
        *(_line(label, rounded_share(facts[name])) for label, name in _KEPT.items()),
    ]


def _line(label: str, value: str) -> str:
    return f"  {label:<{_WIDTH}} {value}"


def warning(made: Mapping[str, Any]) -> str:
    """Warn of rows that hide nobody: of groups of one, and of one person each if k is 1."""
    if has_lone_rows(made["method"]):
        hides = made["parameters"]["k"] > 1
        return "" if hides else f"Warning: {_K_1}"
    single = made["facts"]["single_person_rows"]
    if not single:
        return ""
    return (
        f"Warning: {single} groups have one member, whose own profile is "
        "the row, and can't be published. Avoid it by --set k=2, or by profiles of equal "
        "length: veilsearch profiles LOG --size N"
    )
