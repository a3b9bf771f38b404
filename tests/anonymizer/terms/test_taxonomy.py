"""Taxonomy files: what is read, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.errors import BadInput
from anonymizer.terms.taxonomy import noun_taxonomy, read_taxonomy
from anonymizer.terms.wordnet import WordNet


def test_a_file_is_a_forest(tmp_path: Path) -> None:
    """Several roots, inner nodes as terms, Windows lines and the same line again are allowed."""
    path = tmp_path / "tree.tsv"
    path.write_bytes(
        "\ufeffwine\talcohol\r\nale\talcohol\r\nwine\talcohol\r\nshoe\twear\r\n".encode()
    )
    tree = read_taxonomy(path)
    assert tree.pairs == (("wine", "alcohol"), ("ale", "alcohol"), ("shoe", "wear"))
    (wine,), (alcohol,) = tree.nodes_of("wine"), tree.nodes_of("alcohol")
    assert tree.parents_of(wine) == [alcohol]
    assert tree.parents_of(alcohol) == []
    assert tree.name_of(alcohol) == "alcohol"
    assert not tree.nodes_of("Wine")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a\tb\nb\tc\nc\ta\n", "line 3: c is above a already, so this is a cycle"),
        ("a\ta\n", "line 1: a is above a already, so this is a cycle"),
        ("a\tb\nx\ty\na\tc\n", "line 3: a has another parent already; it may have one"),
        ("a\tb\n\nc\tb\n", "line 2: must be a child, a tab and its parent"),
        ("a b\n", "line 1: must be"),
        ("a\tb\tc\n", "line 1: must be"),
        ("a\t\n", "line 1: must be"),
        ("", "line 1: must be"),
    ],
)
def test_a_broken_file_is_refused_by_line(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "tree.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=fault):
        read_taxonomy(path)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tree.tsv").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "tree.tsv", tmp_path / "missing.tsv"):
        with pytest.raises(BadInput, match="can't be read"):
            read_taxonomy(path)


def test_wordnets_nouns_have_one_root(wordnet: WordNet) -> None:
    nouns = noun_taxonomy(wordnet)
    roots = [node for node in range(nouns.at.size - 1) if not nouns.parents_of(node)]
    assert [nouns.name_of(root) for root in roots] == ["entity"]
    assert [nouns.name_of(node) for node in nouns.nodes_of("dog")[:2]] == ["dog", "frump"]
    assert not nouns.nodes_of("quickly")


def test_no_two_nouns_share_a_name(wordnet: WordNet) -> None:
    nouns = noun_taxonomy(wordnet)
    assert [nouns.name_of(node) for node in nouns.nodes_of("matter")[:3:2]] == [
        *["matter", "matter#3"]
    ]
    for node in range(0, nouns.at.size - 1, 20):
        word, _, sense = nouns.name_of(node).partition("#")
        assert nouns.nodes_of(word)[int(sense or 1) - 1] == node
