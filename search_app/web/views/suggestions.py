"""What a query that is being typed may become: by the index alone."""

from __future__ import annotations

import re

from ...workspace.profile_choices import terms_are_words
from ..site import Site
from .results import title_of

LEAST, LONGEST = 2, 100  # characters of the last word, and of a query
READ = 20  # documents whose titles are read
MOST_TITLES = 5
_LAST = re.compile(r"\w+\Z")


def suggestions(site: Site, text: str) -> list[str]:
    """Return what `text` may become: completed to frequent terms, and titles that begin with it.

    No person, profile or query of anybody is read, and nothing is logged.
    """
    last = _LAST.search(text) if len(text) <= LONGEST else None
    if last is None or len(last[0]) < LEAST:
        return []
    engine, before = site.modes.engine, text[: last.start()]
    ends = engine.beginning(last[0]) if terms_are_words(site.settings) else []
    terms = [before + term for term in ends]
    # An index finds whole words, so the beginning of a word is searched as its likeliest end.
    pool = engine.pool(" ".join((text, *terms[:1])), READ)
    documents = engine.openings(pool.rows)
    titles = dict.fromkeys(title_of(document)[:LONGEST] for document in documents)
    alike = [title for title in titles if title.lower().startswith(text.lower())]
    # A search reads no capitals, so "Java" after "java" would be the same suggestion twice.
    known = {term.lower() for term in terms}
    new = [title for title in alike if title.lower() not in known]
    return [*terms, *new[:MOST_TITLES]]
