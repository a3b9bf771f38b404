"""Snippets: the part of a text that best shows why it was found, query words apart."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from anonymizer.text import STOP_WORDS

SIZE = 200  # characters shown
LEAD = 3  # at most one part in so many stands before the first query word
READ = 50  # times the size: a text is looked at no further
MATCHES = 400
LONGEST_WORD = 40
_WORD = re.compile(r"[^\W_]+")
_SUFFIXES = ("ing", "ed", "es", "s", "er", "e")


class Part(NamedTuple):
    """A piece of a snippet; marked when it is a word of the query."""

    text: str
    marked: bool


class _Match(NamedTuple):
    start: int
    end: int
    stem: str


def snippet(text: str, query: str, size: int = SIZE) -> list[Part]:
    """Show how a text opens and its window with most of the query's words, which are marked."""
    text = " ".join(text[: READ * size].split())
    matches = _matches(text, query)
    parts: list[Part] = []
    at = 0
    for start, end in _spans(text, matches, size):
        parts += [Part(" … " if parts else "… ", False)] * (start > at)
        parts += _parts(text, start, end, matches)
        at = end
    return parts + [Part(" …", False)] * (at < len(text))


def _spans(text: str, matches: list[_Match], size: int) -> list[tuple[int, int]]:
    """Return one window where it lies near the opening, else the opening and a window."""
    start, end = _window(text, matches, size)
    if start == 0:
        return [(0, end)]
    opening = _opening(text, size * 2 // 5)
    start, end = _window(text, matches, size - opening)
    return [(0, end)] if start <= opening + 1 else [(0, opening), (start, end)]


def _opening(text: str, most: int) -> int:
    """Return the end of the first sentence, or of the last whole word, within a length."""
    sentence = text.find(". ", 0, most)
    return sentence + 1 if sentence >= 0 else _whole_words(text, most)


def _matches(text: str, query: str) -> list[_Match]:
    wanted = {_stem(word) for word in _WORD.findall(query.lower()) if word not in STOP_WORDS}
    if not wanted:
        return []
    found: list[_Match] = []
    for start in _places(text, wanted):
        end = _end_of_word(text, start)
        stem = _stem(text[start:end].lower())
        if stem in wanted:
            found.append(_Match(start, end, stem))
            if len(found) == MATCHES:
                break
    return found


def _places(text: str, stems: set[str]) -> list[int]:
    """Find where words begin like a stem: the few that are worth stemming."""
    low = text.replace("İ", "I").lower()  # the one letter whose small form is longer than itself
    places = set()
    for stem in stems:
        sure = stem[:-1] if len(stem) > 2 and stem.endswith("i") else stem  # it may have been a y
        at = low.find(sure)
        while at >= 0:
            if at == 0 or not text[at - 1].isalnum():
                places.add(at)
            at = low.find(sure, at + 1)
    return sorted(places)


def _end_of_word(text: str, start: int) -> int:
    word = _WORD.match(text, start)
    return word.end() if word else start


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    """Cut endings again and again, so that programs, programming and programmers are one."""
    if len(word) > LONGEST_WORD:
        return word
    while len(word) > 3 and word[-1] == word[-2] != "s":
        word = word[:-1]
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            return _stem(word.removesuffix(suffix))
    return word[:-1] + "i" if word.endswith("y") and len(word) > 2 else word


def _window(text: str, matches: list[_Match], size: int) -> tuple[int, int]:
    """Return the window with most different query words, then most of them, then the first."""
    if len(text) <= size or not matches:
        return 0, _whole_words(text, size)
    worths = [_worth(matches, at, size - size // LEAD) for at in range(len(matches))]
    first = matches[worths.index(max(worths))].start
    start = min(_start(text, first, size // LEAD), len(text) - size)
    if start <= 0:
        return 0, _whole_words(text, size)
    blank = text.find(" ", start - 1, first)
    start = start if blank < 0 else min(blank + 1, first)
    return start, _whole_words(text, start + size)


def _worth(matches: list[_Match], at: int, length: int) -> tuple[int, int]:
    """Count the different query words, and all of them, that a match begins."""
    last = matches[at].start + length
    inside = []
    for match in matches[at:]:
        if match.end > last:
            break
        inside.append(match.stem)
    return len(set(inside)), len(inside)


def _start(text: str, first: int, lead: int) -> int:
    """Start with the sentence of the first match if it is near, else a little before it."""
    sentence = max(text.rfind(mark, max(first - lead, 0), first) for mark in (". ", "; ", ": "))
    if sentence < 0 and first <= lead:
        return 0
    return sentence + 2 if sentence >= 0 else first - lead // 2


def _whole_words(text: str, end: int) -> int:
    """Move an end that cuts a word before that word, unless it is very long."""
    if end >= len(text):
        return len(text)
    blank = text.rfind(" ", end - 30, end + 1)
    return blank if blank > 0 else end


def _parts(text: str, start: int, end: int, matches: list[_Match]) -> list[Part]:
    parts, at = [], start
    for match in matches:
        if start <= match.start and match.end <= end:
            parts += [
                Part(text[at : match.start], False),
                Part(text[match.start : match.end], True),
            ]
            at = match.end
    parts.append(Part(text[at:end], False))
    return [part for part in parts if part.text]
