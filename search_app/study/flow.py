"""The way of a participant: the steps of a study in order, the same for everybody."""

from __future__ import annotations

from typing import NamedTuple

from .design import EACH_TASK, PRACTICE_TASK, SIDE_BY_SIDE, FormItem, Study, Task

CONSENT, PROFILE, FORM = "consent", "profile", "form"
PRACTICE, TASK, END = "practice", "task", "end"
_PRACTICE_SECONDS = 600


class StudyStep(NamedTuple):
    """A step: its kind, and the task or the questions that it shows."""

    kind: str
    task: Task | None = None
    items: tuple[FormItem, ...] = ()
    place: int = 0  # of the task among all tasks
    name: str = ""  # under which answers are kept


BEGUN = 2  # pages that each study begins with: consent and profile


def way_of(study: Study) -> str:
    """Return the kinds and names of all steps of `study`, in order."""
    return " ".join(f"{step.kind}:{step.name}" for step in steps_of(study))


def steps_of(study: Study) -> tuple[StudyStep, ...]:
    """Return all steps of `study`, from the consent to the end."""
    steps = [StudyStep(CONSENT), StudyStep(PROFILE)]
    if items := study.form_items("start"):
        steps.append(StudyStep(FORM, items=items, name="start"))
    if study.practice:
        kind = study.tasks[0].kind if study.tasks else SIDE_BY_SIDE
        text = "This is for practice. Its answer does not count."
        task = Task(PRACTICE_TASK, study.practice, False, text, kind, _PRACTICE_SECONDS)
        steps.append(StudyStep(PRACTICE, task, name=PRACTICE_TASK))
    for place, task in enumerate(study.tasks):
        steps.append(StudyStep(TASK, task, place=place, name=task.id))
        if items := study.form_items(EACH_TASK):
            steps.append(StudyStep(FORM, task, items, place, name=task.id))
    if items := study.form_items("end"):
        steps.append(StudyStep(FORM, items=items, name="end"))
    return (*steps, StudyStep(END))
