"""Words that make a query weakly sensitive: WordNet's domains, and lists of names and places. [I/O]

A name or place counts only if it is no ordinary word of WordNet. Otherwise most queries would match
one: 65.7 % of AOL's queries hold some name or place, as `may`, `house` and `of` are names too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..errors import BadInput
from ..storage.records import plain_errors
from ..terms.analysis import STOP_WORDS
from ..terms.wordnet import WordNet

# Each domain is all that lies below these synsets, and all whose topic is one of them.
DOMAINS: Mapping[str, tuple[str, ...]] = {
    "health": (
        "ill_health.n.01",
        "symptom.n.01",
        "mental_disorder.n.01",
        "injury.n.01",
        "pregnancy.n.01",
        "contraception.n.01",
        "surgery.n.01",
    ),
    "drugs": ("drug.n.01", "medicine.n.02", "addiction.n.01"),
    "religion": ("religion.n.01", "religion.n.02", "religious_person.n.01", "deity.n.01"),
    "sex": (
        "sexual_activity.n.01",
        "sexual_desire.n.01",
        "prostitution.n.01",
        "pornography.n.01",
        "genitalia.n.01",
        "homosexual.n.01",
    ),
    "crime": ("crime.n.01", "criminal.n.01", "punishment.n.01"),
    "money": ("debt.n.01", "debt.n.02", "bankruptcy.n.01", "poverty.n.01", "loan.n.01"),
    "politics": ("politics.n.01",),
    "origin": ("ethnic_group.n.01",),
    "family": ("marital_status.n.01", "divorce.n.01", "death.n.01", "suicide.n.01"),
}
_LEAST = 3  # letters of a word: places are called A, Y and Of
_LONGEST = 4  # words of an entry
_TOKENS = re.compile(r"[^\W_]+")
# Census lists give a name and then numbers: SMITH 1.006 1.006 1
_NUMBERS = re.compile(r"(\s+[\d.]+)+$")


def words_of(text: str) -> list[str]:
    """Return the words and numbers of `text` in order, in lower case."""
    return _TOKENS.findall(text.lower())


@dataclass(frozen=True)
class Lexicon:
    """Words and phrases, each under the kind that it belongs to; the first kind counts."""

    kind_of: Mapping[str, str]
    sources: tuple[str, ...] = field(default=("WordNet's domains",))  # as reports name them

    @cached_property
    def _longest(self) -> int:
        return max((entry.count(" ") + 1 for entry in self.kind_of), default=0)

    def entries_in(self, text: str) -> list[str]:
        """Return the entries that occur in `text`, from left to right."""
        words = words_of(text)
        return [
            phrase
            for at in range(len(words))
            for end in range(at + 1, min(at + self._longest, len(words)) + 1)
            if (phrase := " ".join(words[at:end])) in self.kind_of
        ]


def build_lexicon(
    wordnet: WordNet, names: Sequence[Path] = (), places: Sequence[Path] = ()
) -> Lexicon:
    """Return the words of the domains of `wordnet`, and those of the files `names`, `places`."""
    kind_of = dict[str, str]()
    for domain, roots in DOMAINS.items():
        for word in _domain_words(wordnet, roots):
            kind_of.setdefault(word, domain)
    for kind, paths in (("name", names), ("place", places)):
        for path in paths:
            listed = {word for word in read_list(path) if not _ordinary(wordnet, word)}
            if not listed:
                raise BadInput(f"{path}: no {kind} in it that is no ordinary word; name another")
            for word in listed:
                kind_of.setdefault(word, kind)
    sources = ["WordNet's domains", *(path.name for path in (*names, *places))]
    return Lexicon(dict(sorted(kind_of.items())), tuple(sources))


def _domain_words(wordnet: WordNet, roots: Sequence[str]) -> Iterator[str]:
    """Yield the terms of `wordnet` whose first sense is below one of `roots`, or in its topic."""
    tops = [wordnet.number(root) for root in roots]
    inside, waiting = (
        set[int](),
        [*tops, *(at for top in tops for at in wordnet.topic_members(top))],
    )
    while waiting:
        if (synset := waiting.pop()) not in inside:
            inside.add(synset)
            waiting += wordnet.children(synset)
    for synset in sorted(inside):
        for lemma in wordnet.lemmas(synset):
            word = " ".join(words_of(lemma))
            # A rare sense of an everyday word would match everyday queries.
            if wordnet.senses(lemma)[:1] == [synset] and _fits(word):
                yield word


def _fits(word: str) -> bool:
    return len(word) >= _LEAST and word.count(" ") < _LONGEST and not word.isdigit()


def _ordinary(wordnet: WordNet, word: str) -> bool:
    """Return whether `wordnet` has `word`, or a base form of it, and not only as a proper name.

    Stop words are ordinary, too, though WordNet lacks most.
    """
    if word in STOP_WORDS:
        return True
    if " " in word:
        return any(not _proper(wordnet, sense, word) for sense in wordnet.senses(word))
    base = wordnet.base_form(word)
    return base is not None and any(
        not _proper(wordnet, sense, base) for sense in wordnet.senses(base)
    )


def _proper(wordnet: WordNet, synset: int, word: str) -> bool:
    """Return whether `synset` spells `word` with a capital only."""
    return word not in wordnet.lemmas(synset)


def read_list(path: Path) -> set[str]:
    """Return the words of the list at `path`: one a line, or those of its column `name`."""
    with plain_errors(path, "read"):
        if not path.is_file():
            raise BadInput(f"{path}: must be an existing plain file with one word a line")
        raw = path.read_bytes()
    try:
        lines = raw.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as fault:
        raise BadInput(f"{path}: is not in UTF-8; save it in UTF-8") from fault
    column, head = 0, [name.strip().lower() for name in lines[0].split("\t")] if lines else []
    if "name" in head:
        column, lines = head.index("name"), lines[1:]
    words = set()
    for line in lines:
        cells = line.split("\t")
        if column < len(cells):
            word = " ".join(words_of(_NUMBERS.sub("", cells[column].strip())))
            if _fits(word):
                words.add(word)
    if not words:
        raise BadInput(f"{path}: no words in it; give one a line, or a column called name")
    return words
