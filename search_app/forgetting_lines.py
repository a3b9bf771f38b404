"""A workspace's logs, held-out queries, lecture and town's truths without a person or terms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from .person_lines import (
    HELD_OUT,
    LECTURE,
    LOG,
    IsGone,
    Rewritten,
    is_log,
    read_truth,
    truth_without,
    write_truth,
    write_without,
)
from .prepared import NAME as LECTURE_FILE
from .replacing import Replacement
from .settings import Settings
from .verbs.profiles import analysis, choices_of
from .verbs.town import truth_path
from .workspace import Current, Workspace

_HELD_OUT = ".held-out.tsv"


def forget_lines(
    workspace: Workspace,
    settings: Settings,
    user: str,
    terms: Collection[str] | None,
    replacement: Replacement,
) -> Callable[[Current], str]:
    """Write all of these anew; return how a log's hash is called now."""
    gone = _is_gone(workspace, settings, terms)
    renamed: dict[str, str] = {}
    for path in sorted(workspace.root.glob(f"[!.]*{_HELD_OUT}")):
        write_without(path, replacement.place(path), HELD_OUT, user, gone)
    lecture = workspace.root / LECTURE_FILE
    if terms is None and lecture.is_file():
        write_without(lecture, replacement.place(lecture), LECTURE, user, gone)
    for path in _logs(workspace):
        done = write_without(path, replacement.place(path), LOG, user, gone)
        if done.dropped:
            renamed[done.before] = done.after
        _forget_in_truth(truth_path(path), done, user, terms is None, replacement)
    return lambda current: renamed.get(current.log_sha256, current.log_sha256)


def _logs(workspace: Workspace) -> Iterator[Path]:
    for path in sorted(workspace.root.glob("[!.]*")):
        if path.is_file() and not path.name.endswith(_HELD_OUT) and is_log(path):
            yield path


def _is_gone(workspace: Workspace, settings: Settings, terms: Collection[str] | None) -> IsGone:
    """Return what tells whether one of a person's queries goes: all do, or those with a term."""
    if terms is None:
        return lambda _query: True
    from anonymizer.profile_file import fingerprint, read_profiles

    choices = {}
    if workspace.current().profiles:
        profiles = workspace.find("profiles")
        choices = choices_of(profiles, fingerprint(read_profiles(profiles)))
    phrases = bool(choices.get("phrases", False))
    counter = analysis(choices.get("terms", "wordnet"), settings, phrases=phrases)

    def has_term(query: str) -> bool:
        found = counter.count([query]).columns.tolist()
        named = counter.terms
        return not set(terms).isdisjoint(named[column] for column in found)

    return has_term


def _forget_in_truth(
    path: Path, done: Rewritten, user: str, whole: bool, replacement: Replacement
) -> None:
    """Keep a town's truth at its log: its hash goes on fitting, the person is in neither."""
    if not path.exists():
        return
    truth = read_truth(path)
    knows = whole and user in truth["users"]
    if not done.dropped and not knows:
        return
    if truth.get("log_sha256") == done.before:
        truth["log_sha256"] = done.after
    if knows:
        truth = truth_without(truth, user, done.dropped)
    write_truth(truth, replacement.place(path))
