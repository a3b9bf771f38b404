"""The tables of an export, each column with its unit and coding: what leaves, and what stays.

Only values that are listed here leave. Which documents somebody saw tells of their profile, and
texts may tell anything: both need an opt-in. Queries and profiles are counts here; `published`
has the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..analysis import ANSWER, GRADE, PREFER, QUERY, SAME, VOTE, Judgement, judgements
from ..design import (
    KEEP_QUERIES,
    NUMBER,
    PUBLISH_RESULTS,
    PUBLISH_TEXTS,
    RATE,
    TEXT,
    FormItem,
    Study,
)
from ..flow import FORM, TASK, steps_of
from ..store import Event, Participant, StudyStore
from ..trials import GRADES, Trial, is_mean_grade

_DOCUMENT = "id of the document; empty unless the person agreed to publish_results, and for a "
_DOCUMENT += "query of their own to keep_queries as well"
# A spreadsheet takes a text for a formula that begins so, in signs of full width, too.
_FORMULA = (*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20")
_NUMBER = "number of the participant, drawn at random"
_CONDITION = "condition of the study; empty: none"
_TASK = "id of the task"


class ExportTable(NamedTuple):
    """A table of the export: its columns, each with unit or coding, and its rows."""

    name: str
    columns: Mapping[str, str]
    rows: list[tuple[Any, ...]]


class KeptStudy(NamedTuple):
    """What a study keeps of all people who agreed to take part, as of one moment."""

    study: Study
    people: Mapping[int, Participant]
    events: Sequence[tuple[int, Event]]
    when: Sequence[int]  # of each event, in milliseconds
    trials: Mapping[tuple[int, str], Trial]
    queries: Mapping[tuple[int, str], str]  # of people who agreed to keep them

    def judgements(self) -> list[Judgement]:
        """Return all scores that the events give."""
        return judgements(self.study, self.events, self.trials)


def kept_in(study: Study, store: StudyStore) -> KeptStudy:
    """Return what `store` keeps of `study`."""
    people = {one.id: one for one in store.participants() if one.consent}
    # By person: the order of all events would tell who took part when.
    rows = sorted((row for row in store.events() if row[0] in people), key=lambda row: row[0])
    trials = [row for row in store.trials() if row[0] in people]
    return KeptStudy(
        study,
        people,
        [(row[0], Event(*row[1:9])) for row in rows],
        [row[9] for row in rows],
        {(who, task): Trial.of(shown) for who, task, shown, _, _ in trials},
        {
            (who, task): text
            for who, task, _, text, _ in trials
            if text and KEEP_QUERIES in people[who].opt_ins
        },
    )


def tables_of(kept: KeptStudy) -> list[ExportTable]:
    """Return the tables of `kept`."""
    return [_participants(kept), _events(kept), _answers(kept), _judgements(kept), _shown(kept)]


def harmless(text: str) -> str:
    """Return `text`, with an apostrophe before it if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def may_name(kept: KeptStudy, who: int, task: str) -> bool:
    """Return whether the documents that `who` saw in `task` may leave."""
    agreed = kept.people[who].opt_ins
    free = any(one.free for one in kept.study.tasks if one.id == task)
    return PUBLISH_RESULTS in agreed and (KEEP_QUERIES in agreed or not free)


def _participants(kept: KeptStudy) -> ExportTable:
    columns = {
        "participant": _NUMBER,
        "cell": "number of the row of the square, from 0",
        "order": "conditions in the order of that row, separated by >",
        "consent": "version of the consent: first 12 digits of its text's SHA-256",
        **dict.fromkeys(kept.study.opt_ins, "opt-in: 1 agreed, 0 did not"),
        "steps": "pages completed",
        "finished": "1: to the end, 0: not",
        "terms": "terms in the profile that they gave; 0: none, that of somebody else, or it "
        "stayed on their device",
        "queries": "queries that they typed and agreed to keep",
    }
    counts: dict[int, int] = defaultdict(int)
    for who, _ in kept.queries:
        counts[who] += 1
    rows: list[tuple[Any, ...]] = []
    for one in kept.people.values():
        cell = one.cell or 0
        cells = kept.study.cells
        order = [kept.study.conditions[at] for at in cells[cell % len(cells)]]
        agreed = [int(name in one.opt_ins) for name in kept.study.opt_ins]
        ends = (one.step, int(one.finished > 0), len(one.profile), counts[one.id])
        rows.append((one.id, cell, ">".join(order), one.consent, *agreed, *ends))
    return ExportTable("participants", columns, rows)


def _events(kept: KeptStudy) -> ExportTable:
    columns = {
        "participant": _NUMBER,
        "query_id": _TASK,
        "action_name": "prefer, vote, click, grade, query or answer (the end of a task)",
        "object_id": _DOCUMENT,
        "position": "place of the document in its list, from 1; 0: no document",
        "condition": f"that brought the document: {_CONDITION}",
        "value": f"prefer, vote: a condition or {SAME}; grade: 0 to {GRADES[-1]}; of "
        "devices, the mean grade of a condition; else empty",
        "late": "1: after the time of the task, 0: in time",
        "timestamp": "milliseconds on the server since the person's first event",
        "client_timestamp": "milliseconds on the device since the person's first event",
    }
    tasks = {step.name for step in steps_of(kept.study) if step.kind == TASK}
    first: dict[int, int] = {}
    began: dict[int, int] = {}
    rows: list[tuple[Any, ...]] = []
    for (who, one), when in zip(kept.events, kept.when, strict=True):
        client = one.client_timestamp
        since = when - first.setdefault(who, when)
        spent = "" if client is None else client - began.setdefault(who, client)
        if one.query_id not in tasks or (one.action_name == ANSWER and one.object_id):
            continue
        named = one.action_name != QUERY and may_name(kept, who, one.query_id)
        condition = one.condition if one.condition in kept.study.conditions else ""
        what = (one.object_id if named else "", one.position, condition, _coded(kept.study, one))
        when_done = (int(one.late), since, spent)
        rows.append((who, one.query_id, one.action_name, *what, *when_done))
    return ExportTable("events", columns, rows)


def _coded(study: Study, event: Event) -> str:
    """Return the value of `event` if it is one that the codebook lists."""
    allowed: dict[str, Iterable[str]] = {
        PREFER: (*study.conditions, SAME),
        VOTE: (*study.conditions, SAME),
        GRADE: map(str, GRADES),
    }
    if study.device and event.action_name == GRADE and is_mean_grade(event.value):
        return event.value
    return event.value if event.value in allowed.get(event.action_name, ()) else ""


def _answers(kept: KeptStudy) -> ExportTable:
    columns = {
        "participant": _NUMBER,
        "after": "start, end, or the id of the task before the form",
        "item": "id of the question",
        "type": "likert, choice, number or text",
        "value": "likert: 1 to the number of points; choice: the answer; number: as given; text: "
        "as given if the person agreed to publish_texts, else empty; ' stands before a text that "
        "begins with =, +, - or @, which a spreadsheet would take for a formula",
        "characters": "length of the answer",
    }
    questions = {
        (step.name, item.id): item
        for step in steps_of(kept.study)
        if step.kind == FORM
        for item in step.items
    }
    rows: list[tuple[Any, ...]] = []
    for who, one in kept.events:
        item = questions.get((one.query_id, one.object_id))
        if item is not None and one.action_name == ANSWER:
            shows = item.type != TEXT or PUBLISH_TEXTS in kept.people[who].opt_ins
            value = one.value if shows and _fits(item, one.value) else ""
            value = harmless(value) if item.type == TEXT else value
            rows.append((who, one.query_id, item.id, item.type, value, len(one.value)))
    return ExportTable("answers", columns, rows)


def _fits(item: FormItem, value: str) -> bool:
    """Return whether `value` is an answer that `item` allows."""
    if item.type == TEXT:
        return True
    if item.choices:
        return value in item.choices
    try:
        number = float(value)
    except ValueError:
        return False
    return item.type == NUMBER or number in range(1, item.points + 1)


def _judgements(kept: KeptStudy) -> ExportTable:
    columns = {
        "participant": _NUMBER,
        "task": _TASK,
        "first": "condition of the study",
        "second": "condition of the study; empty: each person meets one condition",
        "score": "1: first preferred, 0: second, 0.5: neither; grades: 0.5 plus half of the "
        "difference of mean grades from 0 to 1; without a second: the mean grade from 0 to 1",
    }
    return ExportTable("judgements", columns, [tuple(one) for one in kept.judgements()])


def _shown(kept: KeptStudy) -> ExportTable:
    columns = {
        "participant": _NUMBER,
        "task": _TASK,
        "kind": "side-by-side, interleaved, rate or choose",
        "place": "place in the list, from 1",
        "condition": f"of the list, or that brought the document (its team): {_CONDITION}",
        "object_id": _DOCUMENT,
    }
    rows: list[tuple[Any, ...]] = []
    for (who, task), trial in kept.trials.items():
        if task not in {one.id for one in kept.study.tasks}:
            continue
        if trial.blank and trial.kind == RATE:
            continue  # its places are means, not documents
        named = may_name(kept, who, task)
        for document, place, condition in trial.places():
            shown = (place, condition, document if named else "")
            rows.append((who, task, trial.kind, *shown))
    return ExportTable("shown", columns, rows)
