"""A workspace as the pages see it [I/O]: opened once or again and again, with what outlives that.

Index, profiles and releases change with the workspace. The log of average precision, the people's
choices and what the engine was told stay the same objects as long as the server runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.model import BELIEF, AnonymizerError, Release
from anonymizer.origins import Origin, read_origins
from anonymizer.publication import people_hash
from anonymizer.release import read_hash, read_manifest

from .admission import DEMO, PLAIN, PRIVATE, access_of
from .errors import UsageError
from .ledger import LastLedger
from .lone_rows import lone_rows
from .modes import FURTHER, Modes
from .opening import Opened, as_of_one_moment, open_once, people_of, stamp
from .people_file import FILE as PEOPLE
from .people_store import PeopleStore
from .precision_log import PrecisionLog
from .prepared import NAME as LECTURE
from .prepared import Lecture, prepare
from .sealing import Seal
from .settings import Settings
from .web.site import Example, Shown, Site
from .web.transcripts import Transcripts
from .workspace import Workspace

if TYPE_CHECKING:
    from .forgetting import Forgotten

Say = Callable[[str], object]


class Serving:
    """Opens the sites of a workspace, one after the other."""

    def __init__(
        self, settings: Settings, say: Say, *, loopback: bool = True, lasting: bool = True
    ):
        self.workspace = Workspace(settings.workspace)
        self.settings = settings
        self.follow: Callable[[], object] = lambda: None  # serves what is current, at once
        self._say = say
        self._loopback = loopback
        self._lasting = lasting  # else all that is kept is kept in memory
        self._told: set[str] = set()
        self._transcripts = Transcripts()
        self._ledger = LastLedger(self.workspace)

    @cached_property
    def _log(self) -> PrecisionLog:
        """Open the log; where that fails, serve all the same and keep it in memory."""
        try:
            return PrecisionLog(self.workspace.log if self._lasting else None)
        except UsageError as fault:
            self._say(f"{fault}. Until then average precision is kept in memory only.")
            return PrecisionLog(None)

    @cached_property
    def _people_file(self) -> PeopleStore:
        return PeopleStore(self.workspace.root / PEOPLE)

    @cached_property
    def _people_in_memory(self) -> PeopleStore:
        return PeopleStore(None)

    def _store(self, access: str) -> PeopleStore:
        """Return where people's codes and choices are kept; invented people can do without."""
        if access == PLAIN or not self._lasting:
            return self._people_in_memory
        try:
            return self._people_file
        except UsageError as fault:
            if access == PRIVATE:
                raise
            self._tell(f"{fault}. Until then choices are kept in memory only.")
            return self._people_in_memory

    def open(self) -> Site:
        """Open all that the pages show, as it is at one moment, and have it warm."""
        return as_of_one_moment(self.workspace, self._open_once, lambda site: site.close())

    def _open_once(self) -> Site:
        """Open all that the pages show; people are listed only if they are invented."""
        state, truth = stamp(self.workspace), self.workspace.truth()
        access = access_of(self.settings, invented=truth is not None, loopback=self._loopback)
        opened = open_once(
            self.workspace, self.settings, personal=access != PLAIN, further=self._damaged
        )
        try:
            opened.modes.engine.warm_up()
            return self._site(opened, access, state, truth if access == DEMO else None)
        except BaseException:
            opened.close()
            raise

    def _site(
        self, opened: Opened, access: str, state: object, truth: Mapping[str, Any] | None
    ) -> Site:
        modes, build = opened.modes, self.workspace.find("index").name
        if access != DEMO:
            self._leave_alone(modes)
            self._seal(modes)
        release, store = modes.release, self._store(access)
        return Site(
            modes=modes,
            log=self._log,
            settings=self.settings,
            people=people_of(truth, modes) if truth else {},
            clock=time.time,
            access=access,
            admin_token=self.settings.admin_token if access == PRIVATE else "",
            corpus=build.rpartition(".")[0],
            build=build,
            release_name=_called(modes, "group", self.workspace.find("release")) if release else "",
            release_sha256=read_hash(self.workspace.find("release")) if release else "",
            facts=_facts(release) if release else {},
            further=self._further(modes),
            examples=_examples(truth, release) if truth and release else (),
            state=state,
            close=opened.close,
            store=store,
            transcripts=self._transcripts,
            origins=self._origins(opened),
            ledger=self._ledger,
            forget=partial(self._forget, store),
            prepared=self._prepared(truth, release),
        )

    def _leave_alone(self, modes: Modes) -> None:
        """Serve no second release to real people where what one promises, it promises alone."""
        current = [modes.release] if modes.release else []
        if any(each.method in BELIEF for each in (*current, *modes.further.values())):
            for name in modes.further:
                self._tell(
                    f"The release in the folder {name} is left out: what composition and pooled "
                    "promise is promised of one release of the same people alone."
                )
            modes.further = {}

    def _seal(self, modes: Modes) -> None:
        """Let nothing be served or shown that is made of all rows, if they are sealed.

        Rows that are published later are smoothed from the next update on, under another name.
        """
        if modes.release is None or modes.profiles is None:
            return
        folder, users = self.workspace.find("release"), modes.profiles.users
        choices = read_manifest(folder)["profiles"]
        people = cache(lambda: people_hash(users, choices))
        modes.sealed = Seal(self._ledger, modes.release.method, read_hash(folder), people)
        if modes.sealed():
            modes.smoothed = {}

    def _further(self, modes: Modes) -> dict[str, Shown]:
        root, found = self.workspace.root, {}
        for name, release in modes.further.items():
            mode = f"{FURTHER}{name}"
            found[mode] = Shown(_called(modes, mode, root / name), _facts(release))
        return found

    def _prepared(
        self, truth: Mapping[str, Any] | None, release: Release | None
    ) -> Callable[[], Lecture]:
        """Read the lecture's file whenever asked; without one the town has searches of its own."""
        from .demonstration import searches

        usual = searches(truth, release) if truth and release else ()
        return lambda: prepare(self.workspace.root / LECTURE, usual)

    def _origins(self, opened: Opened) -> Callable[[str], Mapping[str, Origin]]:
        """Read where the terms of profiles came from; a person can be served without."""
        nothing: Mapping[str, Origin] = {}
        if opened.modes.profiles is None:
            return lambda _user: nothing
        try:
            origins = read_origins(self.workspace.find("profiles"), opened.made_from)
        except AnonymizerError as fault:
            self._tell(f"{fault}. Until then nobody is told where their terms came from.")
            return lambda _user: nothing
        return origins.of if origins else lambda _user: nothing

    def _forget(self, store: PeopleStore, user: str, terms: Collection[str] | None) -> Forgotten:
        """Remove a person, or terms of theirs; when it returns nothing else is served."""
        from .forgetting import forget

        done = forget(self.workspace, self.settings, user, terms)
        try:
            self.follow()
        except UsageError:  # they are served yet, but must be nowhere on the disk
            if terms is None:
                try:
                    store.forget(user)
                finally:
                    self._transcripts.clear()
            raise
        return done

    def _damaged(self, release: str) -> None:
        self._tell(f"The release in the folder {release} is damaged, so it is left out.")

    def _tell(self, text: str) -> None:
        """Say something once, if anybody can be told: sites are opened again and again."""
        if text not in self._told:
            self._told.add(text)
            with suppress(OSError, ValueError):  # a closed terminal
                self._say(text)


def _called(modes: Modes, mode: str, folder: Path) -> str:
    """Name the release of a mode, and that its rows are smoothed: these are other rows."""
    release = modes.release_of(mode)
    smoothed = " smoothed" if mode in modes.smoothed else ""
    return f"{_name(folder, release)}{smoothed}" if release else ""


def _name(folder: Path, release: Release) -> str:
    """Name a release so that no two different ones share a line of the log."""
    promised = ("k", "m") if lone_rows(release) else ("p",)
    given = {name: release.parameters.get(name) for name in promised}
    shown = [f"{name}={value}" for name, value in given.items() if value is not None]
    return " ".join([release.method, *shown, read_hash(folder)[:8]])


def _facts(release: Release) -> dict[str, Any]:
    """Return what is measured of a release, and what it promises."""
    promised = ("k", "m", "frequencies") if lone_rows(release) else ("p",)
    given = {name: release.parameters.get(name) for name in promised}
    return {**release.facts, **given, "bounds_belief": release.method in BELIEF}


def _examples(truth: Mapping[str, Any], release: Release) -> tuple[Example, ...]:
    from .demonstration import QUERY, pair

    return tuple(
        Example(user, QUERY, f"{QUERY} as {truth['users'][user]['name']} ({interest})")
        for interest, user in pair(truth, release).items()
    )
