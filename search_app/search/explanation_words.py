"""An explanation in plain sentences, the same for pages, the API and the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .request import COSINE

if TYPE_CHECKING:
    from .explanation import PlaceExplanation

# What else than interests adds to a score by the rule `evidence`.
LOG = "BM25 of the query, as its logarithm"
NEIGHBOURS = "the documents most like it"
COMMON = "interests that others have more"
RANDOM = "what any document has"
FIELDS = {"contents": "text", "title": "title"}
GROUPS = "your group’s"  # whose interests a row has, by default
MANY = 6  # terms named in one sentence
_WORDS = 3  # words of the query named for a field


def sentence(explanation: PlaceExplanation) -> str:
    """Return the sentence of `explanation`: why the document stands at its place."""
    e = explanation
    if e.kind == "none":
        return f"Number {e.rank} in the plain order: {_found(e)}."
    if e.score is None:
        place = f"Number {e.rank}, and {e.plain_rank} in the plain order"
        return f"{place}: by {_whose(e)} interests, which are not shown."
    if e.plain:
        return f"Number {e.rank} as in the plain order, because {says_nothing(_whose(e))}."
    if e.rank < e.plain_rank:
        moved = f"Moved up {e.plain_rank - e.rank}, from {e.plain_rank} to {e.rank}"
        return f"{moved}: {_whose(e)} interest{in_terms(_reasons(e))}."
    if e.rank > e.plain_rank:
        moved = f"Moved down {e.rank - e.plain_rank}, from {e.plain_rank} to {e.rank}"
        above_all = f", above all {join(_reasons(e))}" if _reasons(e) else ""
        return f"{moved}: other documents share more with {_whose(e)} interests{above_all}."
    if not e.terms:
        why = f"it shares no term with {_whose(e)} interests"
    else:
        shared = in_terms([share.term for share in e.terms[:2]])
        why = f"{_whose(e)} interest{shared} leaves it there"
    return f"In the same place as in the plain order, {e.rank}: {why}."


def without_in_words(explanation: PlaceExplanation) -> str:
    """Return a sentence with the decisive terms of `explanation`; empty if the document stayed."""
    e = explanation
    if e.without is None:
        return ""
    held = f"{_whose(e)} {'row' if e.kind == 'group' else 'profile'}"
    terms = join(shortened(e.without.terms))
    without = (
        f"Without {terms} in {held}" if e.ranking == COSINE else f"If {terms} counted nothing,"
    )
    smallest = (
        "No smaller set of terms would do."
        if e.without.smallest
        else "Each term of this list is needed, but a shorter list may exist: "
        "the search for it was stopped."
    )
    return f"{without} it would stand at {e.without.rank}, not {e.rank}. {smallest}"


def in_common(terms: Sequence[str], held: str) -> str:
    """Return that a document shares `terms` with the interests `held`; empty without terms."""
    return f"Shares {join(terms)} with {held} interests" if terms else ""


def held_by(kind: str, whose: str = GROUPS, smoothed: bool = False) -> str:
    """Return whose interests order a ranking of `kind`; a row's interests are `whose`."""
    if kind != "group":
        return "your"
    return "your group’s smoothed" if smoothed else whose


def _whose(e: PlaceExplanation) -> str:
    return held_by(e.kind, e.whose, e.smoothed)


def says_nothing(whose: str) -> str:
    """Return, for a sentence, that the interests of `whose` leave an order plain."""
    return f"{whose} interests say nothing about this search"


def fits(standing: float, whose: str, among: str) -> str:
    """Return how well the interests of `whose` fit a search that stands at `standing`.

    `among` is the population; "": they are compared with other searches.
    """
    others = "those of {} of the groups" if among else "{} of other searches"
    return (
        f"{whose} interests fit this search better than {others.format(f'{100 * standing:.0f} %')}"
    )


def in_terms(terms: Sequence[str]) -> str:
    """Return what an interest is in: "in" and the `terms`."""
    return f" in {join(terms)}" if terms else ""


def shortened(words: Sequence[str], limit: int = MANY) -> list[str]:
    """Return the first `limit` of `words` and how many more there are; one more is not worth it."""
    more = len(words) - limit
    return [*words[:limit], f"{more} more"] if more > 1 else list(words)


def join(words: Sequence[str]) -> str:
    """Return `words` as a list with commas and "and"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _reasons(e: PlaceExplanation) -> tuple[str, ...]:
    """Return the terms to name: the decisive ones if they are few, else the movers."""
    if e.without and len(e.without.terms) <= len(e.movers):
        return e.without.terms
    return e.movers


def _found(e: PlaceExplanation) -> str:
    """Return which words of the query are in which field."""
    places = []
    for field, name in FIELDS.items():
        words = [f"“{part.term.strip(chr(34))}”" for part in e.parts if part.field == field]
        if words:
            places.append(f"{join(shortened(words, _WORDS))} in the {name}")
    return f"found for {join(places)}" if places else "found by the query as a whole"


def in_lines(explanation: PlaceExplanation, limit: int = MANY) -> list[str]:
    """Return `explanation` as lines for a terminal; the sum of the score names `limit` terms."""
    e = explanation
    lines = [sentence(e), *filter(None, [without_in_words(e)])]
    if e.kind != "none" and e.score is not None:
        given = [f"{term} {share:.4f}" for term, _, share in e.terms[:limit]]
        if rest := [share.share for share in e.terms[limit:]]:
            given.append(f"{len(rest)} more {sum(rest):.4f}")
        given += [f"{name} {share:.4f}" for name, share in e.added]
        lines.append(f"score {e.score:.4f} = {' + '.join(given) or '0'}")
    parts = [f"{part.field}:{part.term} {part.score:.4f}" for part in e.parts]
    return [*lines, f"BM25 {sum(part.score for part in e.parts):.4f} = {' + '.join(parts)}"]
