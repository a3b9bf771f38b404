"""The openings of documents: equal to what cutting the whole text gives, whatever is in it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.build import build_index, update_index
from index.forward import texts
from index.forward.texts import LENGTHS, Opening
from index.model import Account, Document, SearchError
from index.opening import check_index, open_forward

from ..conftest import Build, Counter, words

SPACES = " \t\r\n\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u3000\u200b\ufeff"


def naive(text: str, length: int) -> str:
    """Return what lists of results showed when they read whole documents."""
    return " ".join(text[:length].split())


def test_white_space_is_single_blanks_up_to_each_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "LENGTHS", (4, 7))
    opening = Opening.of(Document("d", "", " ab \n cd ef"))
    assert opening.pieces == ["ab", " c"]
    assert (opening.text(4), opening.text(7)) == ("ab", "ab c")


@given(st.lists(st.sampled_from([*SPACES, "a", "é", "𝕏", "</b>", "👩‍👩‍👧", "\0"]), max_size=60))
def test_every_length_reads_as_the_whole_text_does(parts: list[str]) -> None:
    document = Document("d", "T", "".join(parts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "LENGTHS", lengths := (3, 4, 9, 20))
        opening = Opening.of(document)
        assert [opening.text(one) for one in lengths] == [
            naive(document.text, one) for one in lengths
        ]


def stored(folder: Path) -> list[tuple[str, str, str, list[str]]]:
    openings = open_forward(folder).openings
    assert openings is not None
    read = openings.of(range(openings.starts.size - 1))
    return [(one.id, one.title, one.url, [one.text(at) for at in LENGTHS]) for one in read]


def expected(documents: list[Document]) -> list[tuple[str, str, str, list[str]]]:
    return [(d.id, d.title, d.url, [naive(d.text, at) for at in LENGTHS]) for d in documents]


def test_what_is_built_and_updated_is_read_again(build: Build, tmp_path: Path) -> None:
    documents = [
        Document("long", "Über\n die  Zeit", "wort \n\n" * 3_000, "https://example.org/a?b=c"),
        Document("bold", "", "<b>a</b>\0 \ud800 &amp;\u2028b 👍🏽 " + "x" * 9_996 + " y z"),
        Document("", "", ""),
        Document("gone", "", "lion"),
    ]
    folder = build(documents, tmp_path / "1")
    assert stored(folder) == expected(documents)
    new = [Document("bold", "Bold", "zebra  again"), Document("last", "", " \n")]
    more, gone, account = tmp_path / "2", ["gone"], Account()
    update_index(folder, new, Counter(words), more, delete=gone, account=account)
    assert stored(more) == expected([documents[0], documents[2], *new])
    with pytest.raises(SearchError, match="rows must be from 0 to 3"):
        open_forward(more).openings.of([4])  # type: ignore[union-attr]


def test_an_index_without_openings_serves_and_is_extended_as_before(
    toys: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was built before there were any."""
    with TemporaryDirectory() as name:
        old, new = Path(name, "old"), Path(name, "new")
        with monkeypatch.context() as patch:
            patch.setattr("index.forward.writing.OpeningsWriter", _Nothing)
            build_index(toys, Counter(words), old, account=Account())
        update_index(old, toys[:1], Counter(words), new, account=Account())
        assert open_forward(old).openings is open_forward(new).openings is None
        assert check_index(new) == []


class _Nothing(texts.OpeningsWriter):
    def write(self, *_: object) -> None:
        (self._folder / texts.WAITING).unlink(missing_ok=True)
