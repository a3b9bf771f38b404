"""A study's file against the workspace that runs it, and a copy of the study to try it [I/O]."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from anonymizer.storage.parts import read_manifest
from anonymizer.storage.profiles import fingerprint, read_profiles

from ..errors import UsageError, plain_when_writing
from ..search.modes import FURTHER, MODES
from ..settings import Settings
from ..workspace.builds import name_of
from ..workspace.folder import Workspace
from ..workspace.ledger import LastLedger
from ..workspace.opening import further_releases
from ..workspace.withholding import published
from .design import CODE, FILE, PERSONA, PRACTICE_TASK, SUFFIX, Study, read_study
from .flow import BEGUN, way_of
from .store import FILE as DATABASE
from .store import StudyStore


def conditions_in(workspace: Workspace) -> tuple[str, ...]:
    """Return the conditions that `workspace` can answer; raise UsageError if there are none."""
    workspace.check()
    workspace.find("index")
    current = workspace.current()
    able = (True, bool(current.profiles), bool(current.release))
    known = tuple(mode for mode, can in zip(MODES, able, strict=True) if can)
    if not current.profiles:
        return known
    made_from = fingerprint(read_profiles(workspace.find("profiles")))
    further = further_releases(workspace, made_from, lambda _damaged: None)
    return known + tuple(f"{FURTHER}{name}" for name in further)


def origin_of(workspace: Workspace, conditions: Sequence[str]) -> dict[str, str]:
    """Return what of `workspace` a study with these `conditions` is of: a corpus, and releases.

    It stays the same when rows are withdrawn, people join or documents change. Nothing in it is
    made of anybody's profile.
    """
    origin = {"index": name_of(workspace.find("index"))}
    for condition in conditions:
        mode, _, name = condition.partition(":")
        if mode == "group":
            made = read_manifest(workspace.root / name if name else workspace.find("release"))
            chosen = {key: made[key] for key in ("method", "parameters", "seed", "profiles")}
            origin[condition] = json.dumps(chosen, sort_keys=True)
    return origin


def begin(study: Study, store: StudyStore, workspace: Workspace) -> None:
    """Note what `study` in `store` is of; raise UsageError if `workspace` has something else."""
    store.origin(origin_of(workspace, study.conditions))
    if faults := origin_faults(study, store, workspace):
        raise UsageError("\n".join(faults))


def origin_faults(study: Study, store: StudyStore, workspace: Workspace) -> list[str]:
    """Return what `workspace` has that is not what `study` in `store` began with."""
    noted, now = store.origin(), origin_of(workspace, study.conditions)
    return [
        f"{study.folder}: {name} is not what the study began with; a study is of one release and "
        "one corpus: put them back (veilsearch use), or begin a new study"
        for name in sorted(noted.keys() & now.keys())
        if noted[name] != now[name]
    ]


def faults_of(folder: Path, settings: Settings) -> list[str]:
    """Return all faults of the study in `folder`, with what the workspace lacks for it."""
    workspace, faults = Workspace(settings.workspace), list[str]()
    there: tuple[str, ...] | None = None
    try:
        there = conditions_in(workspace)
    except UsageError as fault:
        faults.append(str(fault))
    try:
        study = read_study(folder, there)
    except UsageError as fault:
        return [*str(fault).splitlines(), *faults]
    if there is not None and study.profile == PERSONA and workspace.truth() is None:
        faults.append(f'{folder / FILE}: profile = "{PERSONA}" needs invented people; take another')
    if there is not None and study.profile == CODE and "own" not in there:
        faults.append(f'{folder / FILE}: profile = "{CODE}" needs people with profiles; make some')
    # Who sees orders by two rows of a real person learns more than of either.
    groups = [one for one in study.conditions if one.partition(":")[0] == "group"]
    if study.profile == CODE and len(groups) > 1 and workspace.truth() is None:
        text = "real people have one row each; compare one group, or take another profile"
        faults.append(f'{folder / FILE}: profile = "{CODE}" with {", ".join(groups)}: {text}')
    if there is not None and study.device:
        faults += [f"{folder / FILE}: device = true {text}" for text in _off(study, settings)]
    return [*faults, *_against_what_was(study, workspace if there is not None else None)]


def _off(study: Study, settings: Settings) -> list[str]:
    """Return why browsers can't order what `study` compares, of the workspace in `settings`."""
    workspace, faults = Workspace(settings.workspace), []
    groups = [one for one in study.conditions if one.partition(":")[0] == "group"]
    if groups and settings.smoothing:
        faults.append("orders by rows as they were released; set smoothing = false")
    if not groups or workspace.truth() is not None:
        return faults
    # Browsers get all rows, so only what the public has already.
    if groups != ["group"]:
        faults.append("gives all rows to browsers; compare the one release that is published")
    elif not published(LastLedger(workspace), workspace.find("release"))():
        faults.append("gives all rows to browsers; publish the release: veilsearch publish")
    return faults


def _against_what_was(study: Study, workspace: Workspace | None) -> list[str]:
    """Return what people met already, and `study` or `workspace` has no more."""
    if not (study.folder / DATABASE).exists():
        return []
    with closing(StudyStore(study.folder / DATABASE)) as store:
        faults = origin_faults(study, store, workspace) if workspace else []
        return faults + _missing(study, store)


def _missing(study: Study, store: StudyStore) -> list[str]:
    """Return what people in `store` met already, and the file of `study` has no more."""
    trials = store.trials()
    tasks = {task for _, task, *_ in trials} - {task.id for task in study.tasks} - {PRACTICE_TASK}
    met = {one for _, _, shown, *_ in trials for one in shown["conditions"]}
    gone = [f"task {name}" for name in sorted(tasks)]
    gone += [f"condition {name}" for name in sorted(met - {*study.conditions})]
    faults = [f"{study.folder / FILE}: people met {one} already; put it back" for one in gone]
    # A person's step is a number. If pages come or go, they would skip a task, or do one twice.
    under_way = any(one.step > BEGUN for one in store.participants())
    if not faults and under_way and store.way() not in ("", way_of(study)):
        text = "people are under way, and tasks, practice or forms came, went or moved"
        faults.append(f"{study.folder / FILE}: {text}; put them back, or begin a new study")
    return faults


def rehearsal(study: Study, folder: Path) -> Study:
    """Return a copy of `study` in `folder`, where people may take part for a trial.

    If the study has changed since the last copy, its participants are removed.
    """
    texts = [study.folder / FILE, *study.folder.rglob(f"*{SUFFIX}")]
    files = {one.relative_to(study.folder): one for one in texts if folder not in one.parents}
    content = {folder / name: path.read_bytes() for name, path in files.items()}
    with plain_when_writing(folder):
        if any(not path.exists() or path.read_bytes() != new for path, new in content.items()):
            for path in folder.glob(f"{DATABASE}*"):
                path.unlink()
        for path, new in content.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(new)
    return read_study(folder)
