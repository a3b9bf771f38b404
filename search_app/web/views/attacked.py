"""What attackers got from a published release, in sentences of its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.certificate import FEWEST

from ...disclosure.numbers import in_letters, rounded_up, up_to

_LINKED = "Someone who knows {terms} finds your row in {share}. Without any method it is {raw}."
# Attack and measure -> a sentence of the figure, and of the same on raw profiles.
_SENTENCES = {
    ("membership", "AUC"): "Someone who knows your whole profile wants to find out if you are in "
    "the data. Of you and a person who is not, they choose rightly in {share}. A coin does so in 5 "
    "of 10.",
    ("membership", "true positives at 1 % false"): "If they may take one person in a hundred who "
    "is not in the data for one who is, they find {share_of_people}.",
    ("fitting", "members found"): "Someone who has all profiles, without names, puts "
    "{share_of_people} into their own row.",
    ("inference", "column: true terms claimed beyond p"): "Someone who knows your row, and reads "
    "one interest at a time, becomes much surer than before of {share_of_terms}.",
    ("singling-out", "one sentence a row, right"): "Someone who reads only the rows says “exactly "
    "one person has this interest”, once for each row, and is right in {share}.",
    ("beyond-m", "rows singled out by a term's weight"): "An unusual weight of an interest points "
    "to one row alone in {share}.",
}
_BOUNDS = {
    "fitting": "Someone who has all profiles, without names, and learns which row is yours changes "
    "their belief about any interest by {up_to} percentage points. At most {promised} is promised.",
    "singling-out": "Who stands behind a row is guessed rightly with a chance of {up_to} %"
    ". At most {promised} % is promised.",
    "beyond-m": "None of the combinations of interests that the promise is about points to fewer "
    "rows than is promised.",
}
_BOUND = "Reading one interest of a row at a time gets no more than is promised."

_FEW = "So few people are in it that other figures would say something of each."
_UNREAD = (
    "Its rows have words that stand for others. Attacks do not read them so yet, and other figures "
    "would be too low."
)


def sentences(certificate: Mapping[str, Any]) -> list[str]:
    """Return what `certificate` says, in sentences; none where there is no certificate."""
    if not certificate:
        return []
    lines: list[Mapping[str, Any]] = certificate["attacks"]
    shown = dict.fromkeys(sentence for line in lines if (sentence := _sentence(line)))
    if all(line["promised"] is not None for line in lines):
        few = certificate["victims"] < FEWEST
        shown[_FEW if few else _UNREAD] = None
    shown[f"Not promised: {'; '.join(certificate['not_promised'])}."] = None
    return [*shown]


def _sentence(line: Mapping[str, Any]) -> str:
    """Return the sentence of a `line` of a certificate; empty where others say the same."""
    attack, value, known = line["attack"], line["value"], line["known"]
    raw = "no figure" if line["raw"] is None else _cases(line["raw"])
    if line["promised"] is not None:
        most = line["promised"]
        return _BOUNDS.get(attack, _BOUND).format(up_to=up_to(value), promised=rounded_up(most))
    if attack == "linking":
        terms = f"{in_letters(known)} of your interests"
        if line["choice"] == "rarest":
            several = f"your {in_letters(known)} rarest interests"
            terms = several if known > 1 else "your rarest interest"
        return _LINKED.format(terms=terms, share=_cases(value), raw=raw)
    if (attack, line["measure"]) == ("beyond-m", "victims whose row alone has the terms"):
        terms = f"{in_letters(known)} interests that stand together in a row"
        return f"Someone who knows {terms} finds that row alone in {_cases(value)}."
    form = _SENTENCES.get((attack, line["measure"]), "")
    tenths = f"up to {_tenths(value)} of 10"
    return form.format(
        share=_cases(value),
        share_of_people=f"{tenths} people",
        share_of_terms=f"{tenths} of your interests" if value else "none of your interests",
    )


def _cases(share: float) -> str:
    """Return a `share` of cases that was rounded up to tenths."""
    return f"up to {_tenths(share)} of 10 cases" if share else "no case"


def _tenths(share: float) -> int:
    return round(10 * share)
