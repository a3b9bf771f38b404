"""Questions of a form, and the answers of participants, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ....study.analysis import ANSWER
from ....study.design import CHOICE, LIKERT, NUMBER, FormItem
from ....study.store import LONGEST, Event

REQUIRED = "Please answer this question."
NOT_LISTED = "Please take one of the answers."
NO_NUMBER = "Please write a number, such as 3 or 2.5."
TOO_LONG = f"Please shorten this to {LONGEST:,} characters."
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}([.,][0-9]{1,15})?")
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


class Answers(NamedTuple):
    """What a form holds: events to keep, the texts given, and what is wrong by question."""

    events: list[Event]
    given: Mapping[str, str]
    faults: Mapping[str, str]


def clean(text: str) -> str:
    """Return `text` without control characters and with line ends of one kind."""
    return _ODD.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def read_answers(
    name: str, items: Sequence[FormItem], form: Mapping[str, str], client: int | None
) -> Answers:
    """Return the answers to `items` in `form`; their events go by `name`.

    `client` is the time of the person's device in milliseconds.
    """
    given = {item.id: clean(form.get(field_of(item), "")) for item in items}
    faults = {item.id: fault for item in items if (fault := _fault(item, given[item.id]))}
    events = [
        Event(name, ANSWER, item.id, value=_value(item, given[item.id]), client_timestamp=client)
        for item in items
        if given[item.id]
    ]
    return Answers(events, given, faults)


def field_of(item: FormItem) -> str:
    """Return the name of the field for `item`."""
    return f"answer-{item.id}"


def _value(item: FormItem, text: str) -> str:
    return text.replace(",", ".") if item.type == NUMBER else text


def _fault(item: FormItem, text: str) -> str:
    if not text:
        return REQUIRED if item.required else ""
    if len(text) > LONGEST:
        return TOO_LONG
    if item.type == NUMBER:
        return "" if _NUMBER.fullmatch(text) else NO_NUMBER
    listed: Sequence[str] = item.choices if item.type == CHOICE else ()
    if item.type == LIKERT:
        listed = [str(point) for point in range(1, item.points + 1)]
    return NOT_LISTED if listed and text not in listed else ""
