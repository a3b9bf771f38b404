"""The file of a study [I/O]: study.toml with its texts, read whole or refused with all its faults.

The tables below are the one description of the file. Reading, the JSON Schema for editors and the
messages derive from them.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import UsageError
from ..settings import DEFAULT_METHOD
from .squares import williams

FILE, SUFFIX = "study.toml", ".md"
WITHIN, BETWEEN = DESIGNS = ("within", "between")
QUERIES, INTERESTS, PERSONA, CODE = PROFILES = ("queries", "interests", "persona", "code")
SIDE_BY_SIDE, INTERLEAVED, RATE, CHOOSE = TASKS = ("side-by-side", "interleaved", "rate", "choose")
EACH_TASK = "each-task"
LIKERT, CHOICE, TEXT, NUMBER = ITEMS = ("likert", "choice", "text", "number")
KEEP_QUERIES, PUBLISH = "keep_queries", "publish_anonymized"
PUBLISH_RESULTS, PUBLISH_TEXTS = "publish_results", "publish_texts"
PUBLISH_QUERIES = "publish_queries"
OPT_INS = {
    KEEP_QUERIES: "My queries may be kept with my answers.",
    PUBLISH_QUERIES: "Those of my kept queries may be published that five people or more typed.",
    PUBLISH: "My anonymized profile may be published.",
    # An order made by a profile tells of the profile.
    PUBLISH_RESULTS: "It may be published which results I saw, chose and graded.",
    PUBLISH_TEXTS: "What I write in forms may be published.",
}
PRACTICE_TASK = "practice"
TAKEN = ("start", "end", PRACTICE_TASK)  # names under which other answers are kept
# What needs nothing of this server: its words can be looked up on a device.
ON_DEVICE = (QUERIES, INTERESTS)
MODES = ("none", "own", "group")  # or group:RELEASE, a release of the workspace
_LARGEST = 1_000_000  # bytes of a file
_KEY = re.compile(r"\s*([A-Za-z_]+)\s*=")
_NAME = re.compile(r"[a-z0-9]([a-z0-9_-]{0,58}[a-z0-9])?")


class FileKey(NamedTuple):
    """A key of a table: the type of its value, what it may be, and what it is for."""

    kind: type
    about: str
    default: Any = None  # None: it must be given
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    inner: type | None = None  # of the values in a list


@dataclass(frozen=True)
class FormItem:
    """A question of a form."""

    id: str
    type: str
    text: str
    low: str
    high: str
    points: int
    choices: tuple[str, ...]
    required: bool


@dataclass(frozen=True)
class Form:
    """Questions that follow the start, each task or the end."""

    after: str
    items: tuple[FormItem, ...]


@dataclass(frozen=True)
class Task:
    """What a participant does: a query, given or free, and how its rankings are compared."""

    id: str
    query: str
    free: bool
    text: str  # the content of its file
    kind: str
    seconds: int


@dataclass(frozen=True)
class Study:
    """A study as its file describes it; `consent` is the content of its file."""

    folder: Path
    name: str
    title: str
    conditions: tuple[str, ...]
    design: str
    participants: int
    profile: str
    device: bool
    consent: str
    opt_ins: tuple[str, ...]
    code: str
    minutes: int
    practice: str
    tasks: tuple[Task, ...]
    forms: tuple[Form, ...]

    @property
    def consent_version(self) -> str:
        """Return the version of the consent text: the first 12 digits of its SHA-256."""
        return hashlib.sha256(self.consent.encode()).hexdigest()[:12]

    def form_items(self, after: str) -> tuple[FormItem, ...]:
        """Return the questions that follow `after`."""
        return tuple(item for form in self.forms if form.after == after for item in form.items)

    @property
    def cells(self) -> tuple[tuple[int, ...], ...]:
        """Return the cells that participants are dealt to: an order of conditions each.

        Within: the rows of the Williams square. Between: one condition for all tasks.
        """
        if self.design == BETWEEN:
            return tuple((number,) for number in range(len(self.conditions)))
        return williams(len(self.conditions))


_STUDY = {
    "name": FileKey(str, "A short name: small letters, digits and hyphens."),
    "title": FileKey(str, "The heading that participants see."),
    "conditions": FileKey(list, "What is compared: none, own, group, or group:RELEASE.", inner=str),
    "design": FileKey(str, "within: everybody meets all conditions.", WITHIN, DESIGNS),
    "participants": FileKey(int, "How many people are planned.", 40, low=1, high=100_000),
    "profile": FileKey(str, "How a participant gets a profile.", QUERIES, PROFILES),
    "device": FileKey(bool, "Whether profiles stay in participants' browsers.", False),
    "consent": FileKey(str, "The file of the consent text."),
    "opt_ins": FileKey(list, "What participants may also agree to.", (), tuple(OPT_INS), inner=str),
    "code": FileKey(str, "The completion code: a prefix, or an address with {code}.", "done"),
    "minutes": FileKey(
        int, "Minutes of silence after which a place is free.", 60, low=1, high=10_080
    ),
    "practice": FileKey(str, "The query of the practice task; empty: none.", ""),
    "task": FileKey(list, "The tasks, in order.", inner=dict),
    "form": FileKey(list, "Questions.", (), inner=dict),
}
_TASK = {
    "id": FileKey(str, "A short name of the task."),
    "query": FileKey(str, "What is searched for.", ""),
    "free": FileKey(bool, "Whether the participant types the query.", False),
    "text": FileKey(str, "The file of the task's text."),
    "kind": FileKey(str, "How rankings are compared.", SIDE_BY_SIDE, TASKS),
    "seconds": FileKey(int, "Later answers are marked as late.", 180, low=5, high=86_400),
}
_FORM = {
    "after": FileKey(str, "When it is shown.", EACH_TASK, ("start", EACH_TASK, "end")),
    "item": FileKey(list, "The questions.", inner=dict),
}
_ITEM = {
    "id": FileKey(str, "A short name of the question."),
    "type": FileKey(str, "The kind of answer.", LIKERT, ITEMS),
    "text": FileKey(str, "The question; by default the id.", ""),
    "low": FileKey(str, "likert: what the first point means.", ""),
    "high": FileKey(str, "likert: what the last point means.", ""),
    "points": FileKey(int, "likert: how many points.", 7, low=2, high=11),
    "choices": FileKey(list, "choice: the answers.", (), inner=str),
    "required": FileKey(bool, "Whether an answer is needed.", False),
}
_CALLED = {str: "a text", int: "a whole number", bool: "true or false", list: "a list"}


def read_study(folder: Path, there: Sequence[str] | None = None) -> Study:
    """Return the study in `folder`; raise UsageError with every fault, its line and remedy.

    A condition that is not among those `there`, if given, is a fault.
    """
    path = folder / FILE
    text = _text_of(path)
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise UsageError(f"{path} can't be read as TOML: {fault}") from fault
    reading = _StudyReading(folder, text, there)
    study = reading.study(table)
    if reading.faults:
        raise UsageError("\n".join(f"{path}{fault}" for fault in sorted(reading.faults, key=_line)))
    return study


def schema() -> dict[str, Any]:
    """Return the JSON Schema of study.toml, with which editors complete it."""
    return {
        # Editors look for this key to know which kind of schema it is.
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A user study of veilsearch",
        **_schema_of(_STUDY),
    }


_INSIDE = {"task": _TASK, "form": _FORM, "item": _ITEM}
_JSON = {str: "string", int: "integer", bool: "boolean", list: "array"}


def _schema_of(keys: Mapping[str, FileKey]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, key in keys.items():
        about: dict[str, Any] = {"description": key.about, "type": _JSON[key.kind]}
        choices = {"enum": list(key.choices)} if key.choices else {}
        if key.inner is dict:
            about["items"] = _schema_of(_INSIDE[name])
        elif key.inner:
            about["items"] = {"type": _JSON[key.inner], **choices}
        else:
            about |= choices
        limits = {"minimum": key.low, "maximum": key.high}
        properties[name] = about | {k: v for k, v in limits.items() if v is not None}
    required = [name for name, key in keys.items() if key.default is None]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _text_of(path: Path) -> str:
    """Return the text of the file `path`; raise UsageError with the remedy."""
    try:
        if path.stat().st_size > _LARGEST:
            raise UsageError(f"{path} has more than {_LARGEST:,} bytes; shorten it")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as fault:
        raise UsageError(f"{path} is not UTF-8; save it as UTF-8") from fault
    except OSError as fault:
        raise UsageError(
            f"{path} can't be read: {fault.strerror}; check path and rights"
        ) from fault


def _line(fault: str) -> int:
    at = re.match(r", line (\d+)", fault)
    return int(at[1]) if at else 0


class _StudyReading:
    """One reading of a study's file: its values, and the faults so far."""

    def __init__(self, folder: Path, text: str, there: Sequence[str] | None) -> None:
        self.faults: list[str] = []
        self._there = there
        self._folder = folder
        self._lines = _lines_of(text)

    def study(self, table: Mapping[str, Any]) -> Study:
        """Return the study in `table`."""
        own = self._values(table, _STUDY, "")
        tasks = tuple(self._task(one, f"task.{at}") for at, one in enumerate(own["task"]))
        forms = tuple(self._form(one, f"form.{at}") for at, one in enumerate(own["form"]))
        consent = self._file(own["consent"], "consent")
        own |= {"consent": consent, "tasks": tasks, "forms": forms}
        study = Study(self._folder, **{k: v for k, v in own.items() if k not in _INSIDE})
        self._judge(study)
        return study

    def _task(self, table: Mapping[str, Any], place: str) -> Task:
        own = self._values(table, _TASK, place)
        if bool(own["query"].strip()) == own["free"]:
            self._fault(f"{place}.query", "a task needs a query, or free = true, and not both")
        return Task(**{**own, "text": self._file(own["text"], f"{place}.text")})

    def _form(self, table: Mapping[str, Any], place: str) -> Form:
        own = self._values(table, _FORM, place)
        return Form(
            own["after"],
            tuple(self._item(one, f"{place}.item.{at}") for at, one in enumerate(own["item"])),
        )

    def _item(self, table: Mapping[str, Any], place: str) -> FormItem:
        own = self._values(table, _ITEM, place)
        if own["type"] == CHOICE and len({*own["choices"]}) < 2:
            self._fault(f"{place}.choices", "a question of type choice needs two answers or more")
        return FormItem(**{**own, "text": own["text"] or own["id"]})

    def _values(self, table: Any, keys: Mapping[str, FileKey], place: str) -> dict[str, Any]:
        """Return the value of each of `keys` in `table`, which stands at `place` of the file."""
        there = table if isinstance(table, dict) else {}
        for name in sorted(there.keys() - keys.keys()):
            self._fault(_inside(place, name), f"{name} is unknown; allowed are {', '.join(keys)}")
        values = {}
        for name, key in keys.items():
            empty = key.kind() if key.default is None else key.default
            fault = _fault_of(key, there[name]) if name in there else ""
            if name not in there and key.default is None:
                fault = "is missing; add it"
            if fault:
                self._fault(_inside(place, name), f"{name} {fault}")
            value = empty if fault else there.get(name, empty)
            values[name] = tuple(value) if isinstance(value, list) else value
        return values

    def _file(self, name: str, place: str) -> str:
        """Return the content of the study's file `name`, which `place` of the file names."""
        # A study folder is given to others, so it must not reach outside of itself.
        inside = Path(name)
        if not name:
            return ""
        if inside.is_absolute() or ".." in inside.parts or inside.suffix != SUFFIX:
            self._fault(place, f"{name} must be a {SUFFIX} file in the study's folder")
            return ""
        try:
            return _text_of(self._folder / inside)
        except UsageError as fault:
            self._fault(place, f"{fault}; write it, or name another file")
            return ""

    def _judge(self, study: Study) -> None:
        """Add what is wrong with `study` as a whole."""
        for place, name in _names_of(study):
            if name and not _NAME.fullmatch(name):
                self._fault(place, f"{name} must be small letters, digits and hyphens")
            if name in TAKEN and place.startswith("task."):
                self._fault(place, f"{name} is taken; give the task another id")
        for table, names in {
            "task": [task.id for task in study.tasks],
            "form": [item.id for form in study.forms for item in form.items],
        }.items():
            for name in sorted({name for name in names if names.count(name) > 1}):
                self._fault(table, f"the id {name} stands twice; give each its own")
        if len({*study.conditions}) < max(2, len(study.conditions)):
            self._fault("conditions", "name two different conditions or more")
        self._judge_conditions(study.conditions)
        self._judge_device(study)
        if not study.tasks:
            self._fault("task", "add at least one [[task]]")
        self._judge_square(study)

    def _judge_conditions(self, conditions: Sequence[str]) -> None:
        """Add which of `conditions` can't be met."""
        for condition in conditions:
            mode, _, release = condition.partition(":")
            if mode not in MODES or (release and mode != "group"):
                self._fault(
                    "conditions",
                    f"{condition} is no condition; take none, own, group or group:RELEASE, "
                    f"such as group:{DEFAULT_METHOD}",
                )
            elif self._there is not None and condition not in self._there:
                text = f"{condition} is not in the workspace, which has {', '.join(self._there)}"
                self._fault("conditions", f"{text}; take one of these, or make a release")

    def _judge_device(self, study: Study) -> None:
        """Add what can't be if profiles stay in browsers."""
        if study.device and study.profile not in ON_DEVICE:
            kinds = f'take profile = "{QUERIES}" or "{INTERESTS}"'
            self._fault(
                "profile", f"{study.profile} is known to the server, not to devices; {kinds}"
            )
        kept = [one for one in study.opt_ins if one in (PUBLISH, PUBLISH_RESULTS)]
        if study.device and kept:
            text = "profiles and results stay on devices, so they can't be published; write opt_ins"
            left = json.dumps([one for one in study.opt_ins if one not in kept])
            self._fault("opt_ins", f"{', '.join(kept)}: {text} = {left}")

    def _judge_square(self, study: Study) -> None:
        """Add that the design of `study` can't be balanced, if it can't."""
        compared = [at for at, task in enumerate(study.tasks) if task.kind != RATE]
        if study.design == BETWEEN and compared:
            kinds = f'take design = "{WITHIN}", or kind = "{RATE}"'
            text = f"this kind shows several conditions to one person; {kinds}"
            self._fault(f"task.{compared[0]}.kind", text)
        cells = len(study.cells)
        if study.participants < cells:
            text = f"{study.participants} can't fill {cells} orders of conditions; take {cells}"
            self._fault("participants", f"{text} or more")

    def _fault(self, place: str, text: str) -> None:
        # The nearest table that is there stands for what is missing.
        # tomllib tells no lines, so the text is searched for its keys.
        while place and place not in self._lines:
            place = place.rpartition(".")[0]
        line = self._lines.get(place)
        self.faults.append(f", line {line}: {text}" if line else f": {text}")


def _names_of(study: Study) -> Iterator[tuple[str, str]]:
    yield "name", study.name
    for at, task in enumerate(study.tasks):
        yield f"task.{at}.id", task.id
    for at, form in enumerate(study.forms):
        for number, item in enumerate(form.items):
            yield f"form.{at}.item.{number}.id", item.id


def _inside(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _fault_of(key: FileKey, value: Any) -> str:
    """Return why `value` can't be that of `key`; empty if it can."""
    if not isinstance(value, key.kind) or isinstance(value, bool) != (key.kind is bool):
        return f"must be {_CALLED[key.kind]}"
    if isinstance(value, list):
        if not all(isinstance(one, key.inner or object) for one in value):
            return "must be a list of tables" if key.inner is dict else "must be a list of texts"
        wrong = [one for one in value if key.choices and one not in key.choices]
        return f"may hold only {', '.join(key.choices)}" if wrong else ""
    if key.choices and value not in key.choices:
        return f"must be one of {', '.join(key.choices)}"
    out = isinstance(value, int) and key.low is not None and not key.low <= value <= (key.high or 0)
    if out:
        return f"must be from {key.low} to {key.high}"
    return ""


def _lines_of(text: str) -> dict[str, int]:
    """Return the line of each key and table in `text`, by its place: task.0.kind, form.1.item.0."""
    lines: dict[str, int] = {}
    counts: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\s*\[\[?\s*([A-Za-z_.]+)\s*\]\]?", line)
        if head:
            table = _numbered(head[1], counts)
            lines.setdefault(head[1], number)
            lines[table] = number
        elif (key := _KEY.match(line)) is not None:
            lines[_inside(table, key[1])] = number
    return lines


def _numbered(name: str, counts: dict[str, int]) -> str:
    """Return the place of the next table `name`, as task.0 or form.1.item.0."""
    outer, _, inner = name.rpartition(".")
    at = f"{outer}.{counts.get(outer, 1) - 1}.{inner}" if outer else name
    counts[at] = counts.get(at, 0) + 1
    if not outer:
        counts[name] = counts[at]
    return f"{at}.{counts[at] - 1}"
