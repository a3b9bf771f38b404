"""An explanation in plain sentences, the same for pages, the API and the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .explanation import Explanation

FIELDS = {"contents": "text", "title": "title"}
MANY = 6  # terms named in one sentence
_WORDS = 3  # of the query named for a field


def sentence(explanation: Explanation) -> str:
    """Say why a document stands where it stands."""
    e = explanation
    if e.kind == "none":
        return f"Number {e.rank} in the plain order: {_found(e)}."
    if e.rank < e.plain_rank:
        moved = f"Moved up {e.plain_rank - e.rank}, from {e.plain_rank} to {e.rank}"
        return f"{moved}: {_whose(e)} interest{in_terms(_reasons(e))}."
    if e.rank > e.plain_rank:
        moved = f"Moved down {e.rank - e.plain_rank}, from {e.plain_rank} to {e.rank}"
        above_all = f", above all {join(_reasons(e))}" if _reasons(e) else ""
        return f"{moved}: other documents share more with {_whose(e)} interests{above_all}."
    return f"In the same place as in the plain order, {e.rank}: {_stayed(e)}."


def without_in_words(explanation: Explanation) -> str:
    """Say without which terms the document would not have moved; nothing if it has not."""
    e = explanation
    if e.without is None:
        return ""
    held = f"{_whose(e)} {'row' if e.kind == 'group' else 'profile'}"
    terms = join(shortened(e.without.terms))
    smallest = (
        "No smaller set of terms would do."
        if e.without.smallest
        else "None of them can be left out of this list, but a shorter list may exist: "
        "the search for it was stopped."
    )
    return f"Without {terms} in {held} it would stand at {e.without.rank}, not {e.rank}. {smallest}"


def in_common(terms: Sequence[str], held: str) -> str:
    """Say which terms a document shares with the interests that order it; nothing if none."""
    return f"Shares {join(terms)} with {held} interests" if terms else ""


def whose(kind: str, lone: bool = False, smoothed: bool = False) -> str:
    """Say whose interests order a ranking; lone: by a row that is of one person."""
    if kind != "group":
        return "your"
    if smoothed:
        return "your group’s smoothed"
    return "your released" if lone else "your group’s"


def _whose(e: Explanation) -> str:
    return whose(e.kind, e.lone, e.smoothed)


def in_terms(terms: Sequence[str]) -> str:
    """Say what an interest is in."""
    return f" in {join(terms)}" if terms else ""


def shortened(words: Sequence[str], most: int = MANY) -> list[str]:
    """Return the first words and how many more there are."""
    more = len(words) - most
    return [*words[:most], f"{more} more"] if more > 1 else list(words)


def join(words: Sequence[str]) -> str:
    """Write words as a list."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _reasons(e: Explanation) -> tuple[str, ...]:
    """Return the terms to name: those without which it would not have moved, if they are few."""
    if e.without and len(e.without.terms) <= len(e.movers):
        return e.without.terms
    return e.movers


def _stayed(e: Explanation) -> str:
    if e.mix == 0:
        return "the interests count nothing here, BM25 alone does"
    if not e.terms:
        return f"it shares no term with {_whose(e)} interests"
    terms = [share.term for share in e.terms[:2]]
    return f"{_whose(e)} interest{in_terms(terms)} leaves it there"


def _found(e: Explanation) -> str:
    """Say which words of the query are where."""
    places = []
    for field, name in FIELDS.items():
        words = [f"“{part.term.strip(chr(34))}”" for part in e.parts if part.field == field]
        if words:
            places.append(f"{join(shortened(words, _WORDS))} in the {name}")
    return f"found for {join(places)}" if places else "found by the query as a whole"


def in_lines(explanation: Explanation, most: int = MANY) -> list[str]:
    """Write an explanation for a terminal: the sentence, the sums, and what held it there."""
    e = explanation
    lines = [sentence(e), *filter(None, [without_in_words(e)])]
    if e.kind != "none":
        given = [f"{term} {share:.4f}" for term, _, share in e.terms[:most]]
        if rest := [share.share for share in e.terms[most:]]:
            given.append(f"{len(rest)} more {sum(rest):.4f}")
        if e.mix < 1:
            given.append(f"BM25 scaled {e.bm25_share:.4f}")
        lines.append(f"score {e.score:.4f} = {' + '.join(given) or '0'}")
    parts = [f"{part.field}:{part.term} {part.score:.4f}" for part in e.parts]
    return [*lines, f"BM25 {sum(part.score for part in e.parts):.4f} = {' + '.join(parts)}"]
