"""The classifier against arithmetic and chance, its files, and the word lists."""

from __future__ import annotations

import io
from math import isnan, log
from pathlib import Path

import numpy as np
import pytest

from anonymizer.arrays import Marks
from anonymizer.errors import BadInput
from anonymizer.sensitivity import classifier
from anonymizer.sensitivity.classifier import SensitivityModel, bags_of, half_lexicon_auc, train
from anonymizer.sensitivity.files import (
    probabilities_csv,
    read_labels,
    read_model,
    read_probabilities,
    write_model,
)
from anonymizer.sensitivity.lexicon import Lexicon, build_lexicon, read_list
from anonymizer.terms.wordnet import WordNet


def drawn_texts(count: int = 3000) -> tuple[list[str], Marks]:
    """Draw texts of words that are more or less frequent in sensitive texts, and their labels."""
    rng = np.random.default_rng(0)
    labels = rng.random(count) < 0.3
    lean = rng.normal(0, 1, 60)
    texts = []
    for sensitive in labels.tolist():
        chances = np.exp(lean if sensitive else -lean)
        words = rng.choice(60, 3, p=chances / chances.sum())
        texts.append(" ".join(f"w{word}" for word in words))
    return texts, labels


def test_evidence_is_bernoullis_with_one_added_to_each_count() -> None:
    column = {"ache": 0, "car": 1, "unseen": 2}
    bags = bags_of(["ache", "ache Ache", "car", "car red", "ache car"], column)
    evidence, base = classifier._bayes(bags, np.array([1, 1, 0, 0, 0], dtype=bool))
    # "ache" is in 2 of 2 sensitive texts and 1 of 3 others: (2+1)/(2+2) and (1+1)/(3+2).
    ache, car = (3 / 4, 2 / 5), (1 / 4, 4 / 5)
    odds = [log(one / (1 - one)) - log(other / (1 - other)) for one, other in (ache, car)]
    assert evidence == pytest.approx([*odds, 0])
    absent = log((1 - 3 / 4) * (1 - 1 / 4)) - log((1 - 2 / 5) * (1 - 4 / 5))
    assert base == pytest.approx(log(2 / 3) + absent)


def test_probabilities_are_as_frequent_as_they_say() -> None:
    trained = train(*drawn_texts(), "drawn")
    assert 0.85 < trained.model.accuracy < 1
    assert sum(one.texts for one in trained.curve) == trained.texts == 3000
    for one in trained.curve:
        assert one.low <= one.predicted <= one.high
        assert abs(one.predicted - one.observed) < 0.02 + 2.5 / one.texts**0.5


def test_the_same_labels_give_the_same_file(tmp_path: Path) -> None:
    texts, labels = drawn_texts(400)
    models = [train(texts, labels, "drawn").model for _ in range(2)]
    for at, model in enumerate(models):
        write_model(model, tmp_path / f"{at}.npz")
    assert (tmp_path / "0.npz").read_bytes() == (tmp_path / "1.npz").read_bytes()
    back = read_model(tmp_path / "0.npz")
    assert back.labels == "drawn"
    assert np.array_equal(back.probabilities(texts), models[0].probabilities(texts))


def damaged(model: SensitivityModel, path: Path, name: str, values: object) -> Path:
    write_model(model, path)
    with np.load(path) as arrays:
        content = {**arrays, name: np.asarray(values)}
    file = io.BytesIO()
    np.savez(file, **content)
    path.write_bytes(file.getvalue())
    return path


def test_a_damaged_model_is_refused_in_one_line(tmp_path: Path) -> None:
    model = train(*drawn_texts(200), "drawn").model
    path = tmp_path / "m.npz"
    for name, values in {
        "format": "another",
        "words_at": [0, 3],
        "evidence": [[np.nan]],
        "lines": np.full((3, 3), np.inf),
        "scale0": [[0.0, 1.0], [1.0, 0.0]],
    }.items():
        with pytest.raises(BadInput, match="no intact model"):
            read_model(damaged(model, path, name, values))
    write_model(model, path)
    whole = path.read_bytes()
    for content in (b"", b"text,label\n", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(BadInput, match="no intact model"):
            read_model(path)


LABELS, PROBABILITIES = b"text,label\n", b"text,probability\n"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "line 1: the header must be text,"),
        (b"my secret,1\n", "line 1: the header must be text,"),
        (LABELS + b"secret,2\n", "line 2: the label must be 0 or 1"),
        (LABELS + b"secret,1\nsecret\n", "line 3: there must be two columns"),
        (LABELS + b'"secret,1\n', "line 2: unexpected end of data; quote it as CSV"),
        (LABELS + b"secret\xff,1\n", "not UTF-8"),
        *(
            (PROBABILITIES + b"secret," + wrong, "line 2: the probability must be a number")
            for wrong in (b"1.01", b"-0.1", b"nan", b"inf", b"", b"x")
        ),
        (PROBABILITIES + b"secret,.5\nSecret,.4\n", "line 3: this text has another"),
    ],
)
def test_faulty_labels_and_probabilities_are_refused_without_their_text(
    tmp_path: Path, content: bytes, fault: str
) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(content)
    read = read_probabilities if content.startswith(PROBABILITIES) else read_labels
    with pytest.raises(BadInput, match=fault) as refusal:
        read(path)
    assert "secret" not in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_probabilities_are_of_normalized_texts(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text('\ufefftext,probability\r\n"New,  York",.25\r\nb,1\r\n', encoding="utf-8")
    assert read_probabilities(path) == {"new, york": 0.25, "b": 1.0}


def test_labels_of_one_class_or_without_words_are_refused() -> None:
    with pytest.raises(BadInput, match="0 sensitive and 30 other texts; give 10"):
        train(["a"] * 30, np.zeros(30, dtype=bool), "")
    with pytest.raises(BadInput, match="no text has a letter or digit"):
        train(["?!"] * 30, np.arange(30) < 15, "")


def test_labels_and_probabilities_keep_any_text(tmp_path: Path) -> None:
    texts = ['say "no", please', "über", "a,b"]
    labels = tmp_path / "labels.csv"
    labels.write_text('Text, Label\n"say ""no"", please",1\nüber,0\n\n"a,b",1\n', "utf-8")
    assert read_labels(labels)[0] == texts
    assert read_labels(labels)[1].tolist() == [True, False, True]
    written = probabilities_csv(texts, np.array([0.25, 0.5, 1.0]))
    assert written.splitlines() == [
        "text,probability",
        '"a,b",1.000000',
        '"say ""no"", please",0.250000',
        "über,0.500000",
    ]


def test_a_list_is_read_in_the_forms_that_lists_have(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("SMITH  1.006  1.006 1\nVan Dyke 0.1\nO\n1234\n", "utf-8")
    assert read_list(path) == {"smith", "van dyke"}
    path.write_text("id\tName\tcountry\n1\tSan José\tUS\n2\tParis\tFR\n3\n", "utf-8")
    assert read_list(path) == {"san josé", "paris"}
    path.write_text("1 2\n", "utf-8")
    with pytest.raises(BadInput, match="no words in it"):
        read_list(path)


def test_a_name_counts_if_it_is_no_ordinary_word(tmp_path: Path, wordnet: WordNet) -> None:
    names, places = tmp_path / "names", tmp_path / "places"
    names.write_text("Jones\nBaker\nZyskowski\nMay\nThe\n", "utf-8")
    places.write_text("Reading\nBoise\nOrange\nNew York\n", "utf-8")
    lexicon = build_lexicon(wordnet, [names], [places])
    kinds = {"zyskowski": "name", "jones": "name", "boise": "place", "new york": "place"}
    assert {word: lexicon.kind_of[word] for word in kinds} == kinds
    assert not {"baker", "may", "the", "reading", "orange"} & set(lexicon.kind_of)
    assert lexicon.sources == ("WordNet's domains", "names", "places")
    expected = {"diabetes": "health", "heroin": "drugs", "burglary": "crime"}
    assert {word: lexicon.kind_of[word] for word in expected} == expected
    assert lexicon.entries_in("Boise, diabetes near new-york?") == ["boise", "diabetes", "new york"]
    assert "grass" not in lexicon.kind_of  # a rare sense is no reason
    names.write_text("Baker\n", "utf-8")
    with pytest.raises(BadInput, match="no name in it that is no ordinary word"):
        build_lexicon(wordnet, [names])


def test_half_of_a_list_says_nothing_of_the_other_half_unless_words_go_together() -> None:
    rng = np.random.default_rng(0)
    lexicon = Lexicon({f"ill{at}": "health" for at in range(200)})
    ill = rng.random(4000) < 0.5
    word = [f"ill{rng.integers(200)}" if one else f"w{rng.integers(200)}" for one in ill.tolist()]
    alone = half_lexicon_auc(word, lexicon)
    together = [f"{text} {'cure' if one else 'buy'}" for text, one in zip(word, ill, strict=True)]
    auc = half_lexicon_auc(together, lexicon)
    assert alone < 0.6
    assert auc > 0.95
    assert isnan(half_lexicon_auc(word[:20], lexicon))
