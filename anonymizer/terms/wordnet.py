"""WordNet 3.0 as memory-mapped arrays [I/O]: compiled once, opened in milliseconds, thread-safe."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..arrays import Ints
from ..storage.arrays import MANIFEST, Arrays, open_arrays, save_arrays

FORMAT = "wordnet-3.0-format-1"
PARTS_OF_SPEECH = "nvar"
# Morphy's rules of detachment: an ending and its replacement, by part of speech.
_ENDINGS = {
    "n": "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y",
    "v": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "a": "er: est: er:e est:e",
    "r": "",
}
_RULES = {
    pos: [(old, new) for old, _, new in (rule.partition(":") for rule in rules.split())]
    for pos, rules in _ENDINGS.items()
}


def is_compiled(cache: Path) -> bool:
    """Return whether the folder `cache` holds the compiled WordNet."""
    return (cache / FORMAT / MANIFEST).is_file()


def open_wordnet(cache: Path) -> WordNet:
    """Return WordNet from the folder `cache`; the first time, it is compiled there."""
    folder = cache / FORMAT
    if not is_compiled(cache):
        # NLTK is slow to import, and needed only here.
        from .wordnet_build import compile_wordnet

        save_arrays(folder, compile_wordnet(), FORMAT)
    return WordNet(open_arrays(folder, FORMAT), cache)


def wordnet_sums(cache: Path) -> bytes:
    """Return the checksums of the WordNet in the folder `cache`; another WordNet has others."""
    return (cache / FORMAT / MANIFEST).read_bytes()


class WordNet:
    """Terms, synsets, hypernyms and paths; synsets are numbers from 0."""

    def __init__(self, arrays: Arrays, cache: Path | None = None):
        self._arrays, self._cache = arrays, cache
        self.size = len(arrays["names_at"]) - 1
        self.terms = self._text("terms", 0).split("\n")
        self._number_of_term = {term: number for number, term in enumerate(self.terms)}
        self._exceptions: dict[str, dict[str, list[str]]] = json.loads(self._text("exceptions", 0))

    def __reduce__(self) -> tuple[object, ...]:
        # Another process opens its own: a copy would hold all of WordNet.
        if self._cache is None:
            return WordNet, (self._arrays,)
        return open_wordnet, (self._cache.absolute(),)

    # -- terms ---------------------------------------------------------------------------------

    def term_number(self, term: str) -> int:
        """Return the number of `term` (lower case, blanks between words), -1 if it is unknown."""
        return self._number_of_term.get(term, -1)

    def base_form(self, word: str) -> str | None:
        """Return the base form of `word`: the noun's first, then verb, adjective, adverb."""
        word = word.lower()
        for bit, pos in enumerate(PARTS_OF_SPEECH):
            for form in self._forms(word, pos):
                number = self.term_number(form)
                if number >= 0 and self._arrays["term_parts"][number] >> bit & 1:
                    return form
        return None

    def _forms(self, word: str, pos: str) -> Iterator[str]:
        yield word
        irregular = self._exceptions[pos].get(word.replace(" ", "_"))
        if irregular is not None:
            yield from (form.replace("_", " ") for form in irregular)
            return
        for old, new in _RULES[pos]:
            if word.endswith(old):
                yield word[: len(word) - len(old)] + new

    def phrases(self) -> dict[str, str]:
        """Return the forms of all terms that have several words: form -> base form."""
        irregular = {form for forms in self._exceptions.values() for form in forms if "_" in form}
        forms = {form.replace("_", " ") for form in irregular}
        for number, term in enumerate(self.terms):
            if " " not in term:
                continue
            forms.add(term)
            for bit, pos in enumerate(PARTS_OF_SPEECH):
                if self._arrays["term_parts"][number] >> bit & 1:
                    endings = ((old, new) for old, new in _RULES[pos] if term.endswith(new))
                    forms |= {f"{term[: len(term) - len(new)]}{old}" for old, new in endings}
        return {form: base for form in sorted(forms) if (base := self.base_form(form))}

    def senses(self, term: str) -> list[int]:
        """Return a term's synsets in WordNet's order."""
        number = self.term_number(term.lower())
        return [] if number < 0 else self._numbers("senses", number)

    # -- synsets -------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """Return the names of all synsets, in order of their numbers."""
        return [self.name(synset) for synset in range(self.size)]

    def name(self, synset: int) -> str:
        """Return a synset's name, like java.n.03."""
        return self._text("names", synset)

    def number(self, name: str) -> int:
        """Return the number of the synset with this name."""
        term = name.rsplit(".", 2)[0].replace("_", " ")
        for synset in self.senses(term):
            if self.name(synset) == name:
                return synset
        raise KeyError(f"WordNet has no synset {name}")

    def pos(self, synset: int) -> str:
        """Return a synset's part of speech: n, v, a, s (satellite adjective) or r."""
        return self.name(synset).rsplit(".", 2)[1]

    def lemmas(self, synset: int) -> list[str]:
        """Return the words and phrases of a synset as WordNet spells them."""
        return self._text("lemmas", synset).split("\n")

    def gloss(self, synset: int) -> str:
        """Return a synset's definition."""
        return self._text("glosses", synset)

    def examples(self, synset: int) -> list[str]:
        """Return a synset's example sentences."""
        return [line for line in self._text("examples", synset).split("\n") if line]

    def parents(self, synset: int) -> list[int]:
        """Return the hypernyms of `synset`, then its instance hypernyms, each in order of name."""
        return self._numbers("parents", synset)

    @property
    def noun_parents(self) -> tuple[Ints, Ints]:
        """Return (values, at): the parents of noun i; nouns are the first synsets."""
        at = self._arrays["parents_at"]
        # By halves: names are slow to read.
        low, high = 0, self.size
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.pos(middle) == "n" else (low, middle)
        return self._arrays["parents"][: at[low]].astype(np.int64), at[: low + 1]

    def children(self, synset: int) -> list[int]:
        """Return the synsets right below `synset`."""
        return self._numbers("children", synset)

    def topic_members(self, synset: int) -> list[int]:
        """Return the synsets whose topic this is."""
        return self._numbers("topics", synset)

    # -- paths ---------------------------------------------------------------------------------

    def paths(self, synset: int) -> range:
        """Return the numbers of a synset's hypernym paths."""
        at = self._arrays["paths_at"]
        return range(int(at[synset]), int(at[synset + 1]))

    def path(self, number: int) -> list[int]:
        """Return the synsets of path `number`, from the synset itself up to a root."""
        return self._numbers("path_synsets", number)

    @property
    def path_synsets(self) -> tuple[Ints, Ints]:
        """Return (values, at): the synsets of path i, from the synset itself up to a root."""
        return self._arrays["path_synsets"], self._arrays["path_synsets_at"]

    @property
    def path_terms(self) -> tuple[Ints, Ints]:
        """Return (values, at): the distinct terms of all synsets on path i, ascending."""
        return self._arrays["path_terms"], self._arrays["path_terms_at"]

    def _text(self, name: str, number: int) -> str:
        at = self._arrays[f"{name}_at"]
        return str(self._arrays[name][at[number] : at[number + 1]].tobytes(), "utf-8")

    def _numbers(self, name: str, number: int) -> list[int]:
        at = self._arrays[f"{name}_at"]
        numbers: list[int] = self._arrays[name][at[number] : at[number + 1]].tolist()
        return numbers
