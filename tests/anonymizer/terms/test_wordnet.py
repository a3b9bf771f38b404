from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.errors import BadInput
from anonymizer.storage.arrays import open_arrays, save_arrays
from anonymizer.terms.wordnet import FORMAT, WordNet, open_wordnet
from anonymizer.terms.wordnet_build import _reader


@pytest.fixture(scope="module")
def nltk_wordnet() -> Any:
    """NLTK's own reader of the same files: the reference."""
    with _reader() as reader:
        yield reader


def test_it_is_wordnet_3(wordnet: WordNet) -> None:
    assert wordnet.size == 117_659
    assert len(wordnet.terms) == 147_306


def test_java_has_three_senses(wordnet: WordNet) -> None:
    names = [wordnet.name(synset) for synset in wordnet.senses("java")]
    assert names == ["java.n.01", "coffee.n.01", "java.n.03"]
    language = wordnet.number("java.n.03")
    assert wordnet.lemmas(language) == ["Java"]
    assert wordnet.pos(language) == "n"
    above = [wordnet.name(parent) for parent in wordnet.parents(language)]
    assert above == ["object-oriented_programming_language.n.01"]
    assert language in wordnet.children(wordnet.number(above[0]))


def test_a_path_leads_to_a_root(wordnet: WordNet) -> None:
    (number,) = wordnet.paths(wordnet.number("kitten.n.01"))
    names = [wordnet.name(synset) for synset in wordnet.path(number)]
    assert names[:3] == ["kitten.n.01", "young_mammal.n.01", "young.n.01"]
    assert names[-1] == "entity.n.01"


def test_base_forms_equal_nltks(wordnet: WordNet, nltk_wordnet: Any) -> None:
    stems = wordnet.terms[:: len(wordnet.terms) // 1500]
    endings = ["", "s", "es", "ies", "ed", "ing", "er", "est", "men", "ves"]
    words = [stem + ending for stem in stems for ending in endings]
    words += ["", *(w.replace("_", " ") for pos in "nv" for w in nltk_wordnet._exception_map[pos])]
    for word in words:
        expected = nltk_wordnet.morphy(word.replace(" ", "_"))
        assert wordnet.base_form(word) == (expected and expected.replace("_", " ")), word


def test_senses_and_hypernyms_equal_nltks(wordnet: WordNet, nltk_wordnet: Any) -> None:
    for term in wordnet.terms[:: len(wordnet.terms) // 400]:
        lemma = term.replace(" ", "_")
        expected = [
            synset.name()
            for pos in "nvar"
            for synset in nltk_wordnet.synsets(lemma, pos)
            if lemma in {name.lower() for name in synset.lemma_names()}
        ]
        found = wordnet.senses(term)
        assert [wordnet.name(synset) for synset in found] == expected
        for synset in found:
            above = nltk_wordnet.synset(wordnet.name(synset))
            names = sorted(h.name() for h in above.hypernyms())
            names += sorted(h.name() for h in above.instance_hypernyms())
            assert [wordnet.name(parent) for parent in wordnet.parents(synset)] == names
            assert wordnet.gloss(synset) == above.definition()


def test_many_threads_read_the_same(wordnet: WordNet) -> None:
    terms = wordnet.terms[::200]
    expected = [wordnet.senses(term) for term in terms]
    results: list[list[list[int]]] = []
    threads = [
        threading.Thread(target=lambda: results.append([wordnet.senses(term) for term in terms]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


def test_opening_maps_instead_of_reading_nltk(wordnet: WordNet, wordnet_cache: Path) -> None:
    before = time.perf_counter()
    again = open_wordnet(wordnet_cache)
    print(f"opened in {time.perf_counter() - before:.3f} s")  # shown by -rP; no test judges a clock
    assert again.size == wordnet.size
    assert isinstance(again._arrays["senses"].base, np.memmap)


def test_a_damaged_cache_is_refused(tmp_path: Path) -> None:
    save_arrays(tmp_path / FORMAT, {"names": np.arange(6)}, FORMAT)
    path = tmp_path / FORMAT / "names.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(BadInput, match="is damaged; delete"):
        open_wordnet(tmp_path)


@pytest.mark.parametrize("manifest", ["[]", "null", "{}", '{"version": "1"}', '{"crc32": {}}', "x"])
def test_a_manifest_of_another_shape_is_refused(tmp_path: Path, manifest: str) -> None:
    save_arrays(tmp_path / "a", {"x": np.arange(3)}, "1")
    (tmp_path / "a" / "manifest.json").write_text(manifest)
    with pytest.raises(BadInput, match="is damaged; delete"):
        open_arrays(tmp_path / "a", "1")


def test_a_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object, **_named: object) -> None:
        raise OSError("206941 requested and 111584 written")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(BadInput, match=r"can't be written .*VEILSEARCH_CACHE"):
        save_arrays(tmp_path / "a", {"x": np.arange(3)}, "1")
    assert list(tmp_path.iterdir()) == []


def test_arrays_of_another_format_are_refused(tmp_path: Path) -> None:
    save_arrays(tmp_path / "a", {"x": np.arange(3)}, "1")
    assert open_arrays(tmp_path / "a", "1")["x"].tolist() == [0, 1, 2]
    with pytest.raises(BadInput, match="another format"):
        open_arrays(tmp_path / "a", "2")


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="allow_pickle"):
        save_arrays(tmp_path / "a", {"x": np.array([object()])}, "1")
    assert list(tmp_path.iterdir()) == []
