"""Snippets: the part of a text that best shows why it was found, with query words marked."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache
from typing import NamedTuple

from anonymizer.terms.analysis import STOP_WORDS

SIZE = 200  # characters of a snippet
LEAD = 3  # at most a third of the window stands before the first query word
READ = 50  # only the first READ * size characters of a document are read
MATCHES = 400
LONGEST_WORD = 40
_WORD = re.compile(r"[^\W_]+")
_SUFFIXES = ("ing", "ed", "es", "s", "er", "e")


class SnippetPart(NamedTuple):
    """A piece of a snippet; marked if it is a word of the query."""

    text: str
    marked: bool


class _Match(NamedTuple):
    start: int
    end: int
    stem: str


def stems(query: str) -> Set[str]:
    """Return the stems of the words of `query` that snippets show."""
    return {_stem(word) for word in _WORD.findall(query.lower()) if word not in STOP_WORDS}


def snippet(text: str, wanted: Set[str], size: int = SIZE) -> list[SnippetPart]:
    """Return how `text` begins and its best window for the `wanted` stems, about `size` characters.

    White space in `text` is single blanks.
    """
    matches = _matches(text, wanted)
    parts: list[SnippetPart] = []
    at = 0
    for start, end in _spans(text, matches, size):
        parts += [SnippetPart(" … " if parts else "… ", False)] * (start > at)
        parts += _parts(text, start, end, matches)
        at = end
    return parts + [SnippetPart(" …", False)] * (at < len(text))


def _spans(text: str, matches: list[_Match], size: int) -> list[tuple[int, int]]:
    """Return one window if the best one is near the opening, else the opening and the window."""
    start, end = _window(text, matches, size)
    if start == 0:
        return [(0, end)]
    longest = size * 2 // 5
    sentence = text.find(". ", 0, longest)  # else the opening ends at a whole word
    opening = sentence + 1 if sentence >= 0 else _whole_words(text, longest)
    start, end = _window(text, matches, size - opening)
    return [(0, end)] if start <= opening + 1 else [(0, opening), (start, end)]


def _matches(text: str, wanted: Set[str]) -> list[_Match]:
    if not wanted:
        return []
    matches: list[_Match] = []
    for start in _places(text, wanted):
        word = _WORD.match(text, start)
        end = word.end() if word else start
        stem = _stem_of_text(text[start:end].lower())
        if stem in wanted:
            matches.append(_Match(start, end, stem))
            if len(matches) == MATCHES:
                break
    return matches


def _places(text: str, wanted: Set[str]) -> list[int]:
    """Return where words begin with one of `wanted`: only these few words are stemmed then."""
    # The small form of İ is longer than itself, which would shift all places behind it.
    low = text.replace("İ", "I").lower()
    places = set()
    for stem in wanted:
        # The i may have been a y.
        sure = stem[:-1] if len(stem) > 2 and stem.endswith("i") else stem
        at = low.find(sure)
        while at >= 0:
            if at == 0 or not text[at - 1].isalnum():
                places.add(at)
            at = low.find(sure, at + 1)
    return sorted(places)


def _stem(word: str) -> str:
    """Return `word` without endings, cut repeatedly: programs, programming, programmers are one."""
    if len(word) > LONGEST_WORD:
        return word
    while len(word) > 3 and word[-1] == word[-2] != "s":
        word = word[:-1]
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            return _stem(word.removesuffix(suffix))
    return word[:-1] + "i" if word.endswith("y") and len(word) > 2 else word


# Words of documents alone: what people searched for is kept nowhere.
_stem_of_text = lru_cache(maxsize=50_000)(_stem)


def _window(text: str, matches: list[_Match], size: int) -> tuple[int, int]:
    """Return the window with most different query words, then most words, then the first."""
    if len(text) <= size or not matches:
        return 0, _whole_words(text, size)
    lead = size // LEAD
    first = matches[_best(matches, size - lead)].start
    # Start with the sentence of the first match if that begins near, else a little before it.
    sentence = max(text.rfind(mark, max(first - lead, 0), first) for mark in (". ", "; ", ": "))
    before = 0 if first <= lead else first - lead // 2
    start = min(sentence + 2 if sentence >= 0 else before, len(text) - size)
    if start <= 0:
        return 0, _whole_words(text, size)
    blank = text.find(" ", start - 1, first)
    start = start if blank < 0 else min(blank + 1, first)
    return start, _whole_words(text, start + size)


def _best(matches: list[_Match], length: int) -> int:
    """Return at which match the window begins that has most different words, then most words."""
    inside = dict.fromkeys((match.stem for match in matches), 0)
    best, most, different, end = 0, (0, 0), 0, 0
    for at, (start, _, stem) in enumerate(matches):
        while end < len(matches) and matches[end].end <= start + length:
            different += not inside[matches[end].stem]
            inside[matches[end].stem] += 1
            end += 1
        if end > at:  # else this word is longer than the window
            if (different, end - at) > most:
                best, most = at, (different, end - at)
            inside[stem] -= 1
            different -= not inside[stem]
        else:
            end += 1
    return best


def _whole_words(text: str, end: int) -> int:
    """Return `end` moved before the word that it cuts, unless that word is very long."""
    if end >= len(text):
        return len(text)
    blank = text.rfind(" ", end - 30, end + 1)
    return blank if blank > 0 else end


def _parts(text: str, start: int, end: int, matches: list[_Match]) -> list[SnippetPart]:
    parts, at = [], start
    for match in matches:
        if start <= match.start and match.end <= end:
            parts.append(SnippetPart(text[at : match.start], False))
            parts.append(SnippetPart(text[match.start : match.end], True))
            at = match.end
    parts.append(SnippetPart(text[at:end], False))
    return [part for part in parts if part.text]
