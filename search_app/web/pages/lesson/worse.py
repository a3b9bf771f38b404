"""Where a group's order is worse than the plain one: by how much, and which interests did it."""

from __future__ import annotations

from collections import Counter

import numpy as np

from anonymizer.arrays import Marks

from ....disclosure.numbers import count, two_decimals
from ....measures.precision import DEPTH, FIRST
from ....measures.relevance import relevant_precision
from ....search.explanation import explain_places
from ....search.explanation_words import join
from ....search.modes import Answer
from ...question import Question
from ...site import Site
from ...views.answering import Outcome
from ...views.columns import liked

NAMED = 3  # interests
UNSHOWN = "Why? It orders by a row of other people, whose interests are not shown."


def worse(site: Site, question: Question, outcome: Outcome) -> tuple[str, ...]:
    """Return that the group's order in `outcome` has a lower AP than the plain one, and why.

    Relevant is what the person likes, where the truth is known, and what their own profile puts
    first. The texts are empty where by both the group's order is as good.
    """
    plain, group = outcome.answers["none"], outcome.in_mode("group")
    if group is plain:
        return ()
    judged = []
    like = liked(site, question.user, plain.ranking.rows)
    if like is not None:
        judged.append(("what this person likes", plain.ranking.rows[like]))
    if group.gold is not None:
        first = group.gold.rows[:DEPTH]
        judged.append((f"the own top {len(first)}", first))
    for name, relevant in judged:
        marks = [np.isin(answer.ranking.rows, relevant) for answer in (group, plain)]
        low, high = (float(relevant_precision(some)) for some in marks)
        # Compared as they are shown: readers can't see a difference behind the second decimal.
        if low < high and two_decimals(low) != two_decimals(high):
            words = site.words_of("group", question.user)
            fell = f"Here {words.again} does worse than plain search. By {name}, AP falls from"
            sentence = f"{fell} {two_decimals(high)} to {two_decimals(low)}."
            return sentence, why(site, group, marks[0], name, words.row)
    return ()


def why(site: Site, group: Answer, good: Marks, name: str, row: str) -> str:
    """Return which interests of the `row` moved others past the documents that `good` marks.

    Places are those of the order `group`; `name` says which documents are good. Empty if none did.
    """
    if group.foreign:
        return UNSHOWN
    places, ranks = group.ranking.plain_ranks, np.arange(1, good.size + 1)
    up = np.flatnonzero(~good & (places > ranks))
    up = up[up < DEPTH][:FIRST]
    # What rises may be far below; then others passed what is good.
    moved = up if up.size else np.flatnonzero(good & (places < ranks))[:FIRST]
    request, engine = group.request, site.modes.engine
    pool = engine.pool(request.query, request.pool, operators=request.operators)
    explained = explain_places(engine, request, pool, (places[moved] - 1).tolist())
    counted = Counter(term for one in explained for term in one.movers)
    terms = [term for term, _ in counted.most_common(NAMED)]
    if not terms:
        return ""
    by_these = [one for one in explained if not set(terms).isdisjoint(one.movers)]
    most = max(by_these, key=lambda one: abs(one.plain_rank - one.rank))
    documents = count(len(by_these), "document", "documents")
    way = ("pull", "up", "outside") if up.size else ("push", "down", "of")
    named = join([f"“{term}”" for term in terms])
    step = f"“{most.title}” from {most.plain_rank} to {most.rank}"
    verb = f"{way[0]}{'s' * (len(terms) == 1)} {way[1]}"
    return f"Why? In {row}, {named} {verb} {documents} {way[2]} {name}, such as {step}."
