"""The example with which a study begins [I/O]: a file with comments, a consent text, and tasks."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ..errors import UsageError, plain_when_writing
from .design import FILE, schema

CONSENT = "consent.md"
SCHEMA = "study.schema.json"
_STUDY = """\
#:schema ./study.schema.json
# A study of veilsearch. Check it with:   veilsearch study check FOLDER
# Play it with invented people by:         veilsearch study simulate FOLDER

name = "{name}"
title = "Which results would you rather have?"

# What is compared: none (the plain order), own (by the own profile), group (by the row of the
# served release), or group:RELEASE (by a row of another release in the workspace).
conditions = ["none", "own", "group"]
design = "within"           # everybody meets all conditions; between: one each, only for kind rate
participants = 40           # planned

# How a participant gets a profile: queries (they type typical searches), interests (they pick
# from a list), persona (they play somebody of the town), code (their own code of the workspace).
profile = "interests"
device = false              # true: profiles stay in the browsers, which then order the results;
                            # then take publish_anonymized and publish_results out of opt_ins

consent = "consent.md"      # its hash is the version of the consent
# Participants may tick each of these or none. What is not ticked leaves as counts only.
opt_ins = ["keep_queries", "publish_queries", "publish_anonymized", "publish_results",
           "publish_texts"]
code = "thanks"             # prefix of the completion code, or an address with {{code}} in it
minutes = 60                # minutes of silence after which the place is free for somebody else
practice = "bank"           # the query of a task for practice; "": none

# Tasks stand in the order in which everybody does them. The conditions that a task compares change
# from person to person and from task to task.
# kind: side-by-side, interleaved (one mixed list, clicks count), rate (grades), choose (one vote).
{tasks}
[[form]]
after = "start"             # start, each-task or end

[[form.item]]
id = "age"
type = "choice"
text = "How old are you?"
choices = ["18 to 29", "30 to 44", "45 or older", "I would rather not say"]
required = true

[[form]]
after = "each-task"

[[form.item]]
id = "satisfied"
type = "likert"
text = "How satisfied were you with the results?"
low = "not at all"
high = "very"
points = 7
required = true

[[form]]
after = "end"

[[form.item]]
id = "remarks"
type = "text"
text = "What would you like to tell us?"
"""
_TASK = """
[[task]]
id = "{id}"
{query}
text = "tasks/{id}.md"
kind = "{kind}"
seconds = {seconds}
"""
RESPONSIBLE = "NAME, ADDRESS"  # stands in the text until a leader writes their own
_CONSENT = f"""\
# What this study is about

We compare several ways to order search results. You see lists of results, and say which you would
rather have. It takes at most 20 minutes. Nothing is asked that you have to tell.

## What is kept

Your answers, what you clicked, and when, under a number. Neither your name nor your address is
asked or kept. Your interests, or the searches you type, order the results. They are not published,
unless you tick it below.

## Your rights

You may stop at any time, without a reason. You may withdraw at any time: there is a link on every
page, and a link for later at the end. Then everything that is kept of you is erased.

Responsible: {RESPONSIBLE}. (The leader of the study writes this here.)
"""
_SIDES = "You see two lists of results. Which one would you rather have?"
_TASKS = (  # id, kind, seconds, text; all of them words of several meanings
    ("java", "side-by-side", 120, _SIDES),
    ("bass", "side-by-side", 120, _SIDES),
    ("mercury", "side-by-side", 120, _SIDES),
    ("python", "interleaved", 120, "Click on the results that you would open."),
    ("crane", "rate", 180, "How useful is each result for you?"),
    ("court", "choose", 120, "You see three lists of results. Vote for the one you like best."),
    ("own-search", "side-by-side", 180, f"Search for something that you care about. {_SIDES}"),
)


def refuse_used(folder: Path) -> None:
    """Raise UsageError if `folder` is there and not an empty folder."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already; name a new folder")


def write_sample(folder: Path) -> list[Path]:
    """Write an example of a study into the new `folder`; return its files.

    It runs on the demo's workspace.
    """
    refuse_used(folder)
    name = re.sub("[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")[:60].strip("-")
    tasks = "".join(
        _TASK.format(
            id=task,
            query="free = true" if task == "own-search" else f'query = "{task}"',
            kind=kind,
            seconds=seconds,
        )
        for task, kind, seconds, _ in _TASKS
    )
    texts = {folder / FILE: _STUDY.format(name=name or "study", tasks=tasks)}
    texts |= {folder / CONSENT: _CONSENT, folder / SCHEMA: json.dumps(schema(), indent=1)}
    texts |= {folder / "tasks" / f"{task}.md": f"{text}\n" for task, _, _, text in _TASKS}
    for path, text in texts.items():
        with plain_when_writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return list(texts)
