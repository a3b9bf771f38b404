"""A workspace as the pages see it [I/O]: opened at the start and again after each update.

Index, profiles and releases change with the workspace. The log of average precision, the people's
choices and the engine's transcripts stay the same objects as long as the server runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from anonymizer.errors import AnonymizerError
from anonymizer.profiles.origins import TermOrigin, read_origins
from anonymizer.storage.changes import people_named, people_who_stood
from anonymizer.storage.parts import read_cohorts
from anonymizer.storage.releases import read_hash

from ..accounts.admission import access_of, refuse_private
from ..accounts.database import place_of_people
from ..accounts.store import PeopleStore
from ..accounts.transcripts import Transcripts
from ..disclosure.kinds import name_of
from ..errors import UsageError
from ..evaluation.log import PrecisionLog, place_of_log
from ..evaluation.repeats import Repeats
from ..lesson.releases import DialReleases
from ..search.modes import FURTHER, Modes
from ..search.request import COSINE, EVIDENCE, rule_of
from ..settings import DEMO, PLAIN, PRIVATE, Settings
from ..tasks.growth import growth_of
from ..web.site import Example, Site, Truth, grown_of
from ..workspace.folder import Workspace
from ..workspace.lecture import NAME as LECTURE
from ..workspace.lecture import NOTHING, Lecture, prepare
from ..workspace.ledger import LastLedger, certificate_of
from ..workspace.opening import OpenedModes, as_of_one_moment, open_once, people_of
from ..workspace.withholding import published

if TYPE_CHECKING:
    from anonymizer.model import Release

    from ..forgetting.person import ForgetReport
    from ..workspace.ledger import Noted

Say = Callable[[str], object]
FETCH_EVERY = 2.0  # seconds between two looks for a later fill in a cluster


class ServerMemory(NamedTuple):
    """What a server knows in memory only; its workers share one."""

    transcripts: Transcripts
    repeats: Repeats
    everywhere: Callable[[], object]  # other workers drop what was removed


class Serving:
    """Opens the sites of a workspace, one after the other."""

    def __init__(
        self,
        settings: Settings,
        say: Say,
        *,
        loopback: bool = True,
        shared: ServerMemory | None = None,
    ):
        self.workspace = Workspace(settings.workspace)
        self.settings = settings
        self.follow: Callable[[], object] = lambda: None  # serves the current state at once
        self.building: Callable[[], Sequence[str]] = tuple  # releases of the dial under way
        self._say = say
        self._fetch_at = 0.0
        self._loopback = loopback
        self._messages: set[str] = set()
        self._several = shared is not None
        self._memory = shared or ServerMemory(Transcripts(), Repeats(), lambda: None)
        self._ledger = LastLedger(self.workspace)

    @cached_property
    def _log(self) -> PrecisionLog:
        """Open the log; if that fails, serve all the same and keep the log in memory."""
        try:
            log = PrecisionLog(place_of_log(self.workspace, self.settings))
        except UsageError as fault:
            self._say(f"{fault}. Until then, average precision is kept in memory only.")
            log = PrecisionLog(None)
        log.repeats = self._memory.repeats
        return log

    @cached_property
    def _people_file(self) -> PeopleStore:
        return PeopleStore(place_of_people(self.workspace.root, self.settings))

    @cached_property
    def _people_in_memory(self) -> PeopleStore:
        return PeopleStore(None)

    def _store(self, access: str) -> PeopleStore:
        """Return where people's codes and choices are kept."""
        if access == PLAIN:
            return self._people_in_memory
        try:
            return self._people_file
        except UsageError as fault:
            # Nobody can sign in without the file; invented people need no codes. Workers share no
            # store in memory.
            if access == PRIVATE or self._several:
                raise
            self._say_once(f"{fault}. Until then, choices are kept in memory only.")
            return self._people_in_memory

    def check(self) -> str:
        """Refuse a workspace that can't be served; return the access mode of one that can."""
        self.workspace.check()
        if (access := self._access()) == PRIVATE:
            refuse_private(self.settings)
        return access

    def fetch(self) -> None:
        """Copy a later fill of the index that another host made in a cluster, if there is one."""
        if self.settings.search.backend != "lucene" and time.monotonic() >= self._fetch_at:
            from ..tasks.indexing import copy_later_index

            # Before the look: a cluster that does not answer is not asked again at once.
            self._fetch_at = time.monotonic() + FETCH_EVERY
            copy_later_index(self.settings)

    def open(self) -> Site:
        """Return all that the pages show, as it is at one moment, with a warm engine."""
        return as_of_one_moment(self.workspace, self._open_once, lambda site: site.close())

    def _open_once(self) -> Site:
        """Open all that the pages show. People are listed only if they are invented."""
        self.workspace.refuse_copy()
        self._finish_forgetting()
        state, truth = self.workspace.stamp(), self.workspace.truth()
        access = self._access()
        damaged = "The release in the folder {} is damaged, so it is not served."
        opened = open_once(
            self.workspace,
            self.settings,
            personal=access != PLAIN,
            further=lambda name: self._say_once(damaged.format(name)),
        )
        try:
            return self._site(opened, access, state, truth if access == DEMO else None)
        except BaseException:
            opened.close()
            raise

    def _access(self) -> str:
        invented = self.workspace.truth() is not None
        return access_of(self.settings, invented=invented, loopback=self._loopback)

    def _finish_forgetting(self) -> None:
        """Forget who was being forgotten when a process was killed."""
        store = self._store(self._access())
        if people := store.leaving():
            from ..forgetting.person import forget

            # Who is being forgotten right now is left to that process, which has the lock.
            with suppress(UsageError):
                forget(self.workspace, self.settings, people, None, store)

    def _site(
        self, opened: OpenedModes, access: str, state: object, truth: Mapping[str, Any] | None
    ) -> Site:
        modes, build = opened.modes, self.workspace.find("index").name
        if access == PRIVATE and modes.profiles is None:
            modes.begin_without_profiles()
        folder = self.workspace.find("release") if modes.release else None
        shown = published(self._ledger, folder) if folder else (lambda: False)
        if access != DEMO:
            self._withhold(modes, shown)
        settings = self._with_ranking(access)
        # What others need is loaded once the site is served: see `Modes.settle`.
        modes.warm_up(rule_of(settings) if settings.ranking == EVIDENCE else None)
        release, store = modes.release, self._store(access)
        growth = growth_of(self.workspace, opened.made_from, self.settings)
        if modes.profiles is not None:
            store.settle(modes.profiles.row_of)
        modes.lay_over = lambda user, past: growth.over(past, grown_of(store, user))
        cohorts = read_cohorts(folder) if folder else []
        examples, usual = _usual(truth, release) if truth and release else ((), NOTHING)
        called = partial(_called, modes, self._ledger)
        further = {
            f"{FURTHER}{name}": called(f"{FURTHER}{name}", self.workspace.root / name)
            for name in modes.further
        }
        return Site(
            modes=modes,
            log=self._log,
            settings=settings,
            people=people_of(truth, modes) if truth else {},
            clock=time.time,
            access=access,
            admin_token=self.settings.admin_token if access == PRIVATE else "",
            corpus=build.rpartition(".")[0],
            build=build,
            release_name=called("group", folder) if folder else "",
            published=shown,
            growth=growth,
            named=people_named(cohorts),
            later=people_named(cohorts[1:]),
            stood=people_who_stood(cohorts),
            further=further,
            examples=examples,
            state=state,
            close=opened.close,
            refuse_copy=self.workspace.refuse_copy,
            store=store,
            transcripts=self._memory.transcripts,
            everywhere=self._memory.everywhere,
            origins=self._origins(opened),
            ledger=self._ledger,
            certificate=partial(_certificate, self._ledger, self._hashes(folder, further)),
            forget=self._forget,
            leave=self._leave,
            prepared=lambda: prepare(self.workspace.root / LECTURE, usual),
            truth=cache(partial(self._truth, truth)),
            dial_modes=self._dial_modes(opened),
            building=self.building,
        )

    def _with_ranking(self, access: str) -> Settings:
        """Return the settings, with a ranking that fits `access` unless they have one."""
        if self.settings.ranking:
            return self.settings
        # Real people get no order that harms half of their searches.
        return replace(self.settings, ranking=EVIDENCE if access == PRIVATE else COSINE)

    def _hashes(self, folder: Path | None, further: Iterable[str]) -> dict[str, str]:
        """Return the hash of the rows of each mode: of the release in `folder`, and `further`."""
        folders = {mode: self.workspace.root / mode.removeprefix(FURTHER) for mode in further}
        if folder:
            folders["group"] = folder
        return {mode: read_hash(place) for mode, place in folders.items()}

    def _dial_modes(self, opened: OpenedModes) -> Callable[[], Modes] | None:
        """Return what gives the modes with the dial's releases; None where nobody can be chosen."""
        if not opened.modes.profiles or opened.extend is None:
            return None
        made_from, modes = opened.made_from, opened.modes
        return DialReleases(self.workspace, made_from, modes, opened.extend)

    def _truth(self, truth: Mapping[str, Any] | None) -> Truth | None:
        """Return which documents belong to the interests of the people in `truth`."""
        if not truth:
            return None
        from anonymizer.terms.wordnet import open_wordnet

        from ..town.relevance import labels_of_interests, truth_relevance

        try:
            relevance = truth_relevance(open_wordnet(self.settings.cache), truth)
        except (AnonymizerError, UsageError) as fault:
            self._say_once(f"{fault}. Until then, no AP by truth is shown.")
            return None
        people = truth["users"].items()
        return Truth(relevance, {user: labels_of_interests(one) for user, one in people})

    def _withhold(self, modes: Modes, shown: Callable[[], bool]) -> None:
        """Serve and show to real people nothing but their own group's row, unless published."""
        # Two rows of a person can be intersected, so no further release is served.
        for name in modes.further:
            self._say_once(
                f"The release in the folder {name} is not served: real people have one row each."
            )
        modes.further = {}
        if modes.release is not None:
            modes.withhold(shown)

    def _origins(self, opened: OpenedModes) -> Callable[[str], Mapping[str, TermOrigin]]:
        """Read where the terms of profiles came from; people are served without that, too."""
        origins, nothing = None, dict[str, TermOrigin]()
        try:
            if opened.made_from:
                origins = read_origins(self.workspace.find("profiles"), opened.made_from)
        except AnonymizerError as fault:
            self._say_once(f"{fault}. Until then, nobody sees where their terms came from.")
        return origins.of if origins else lambda _user: nothing

    def _forget(self, store: PeopleStore, user: str, terms: Collection[str] | None) -> ForgetReport:
        """Remove a person or some of their terms; on return, the new state is served."""
        from ..forgetting.person import forget

        done = forget(self.workspace, self.settings, {user}, terms, store)
        self.follow()
        return done

    def _leave(self, user: str) -> ForgetReport:
        """Withdraw the row of a person, who keeps their profile; the new state is served."""
        from ..forgetting.person import leave_group

        done = leave_group(self.workspace, {user})
        self.follow()
        return done

    def _say_once(self, text: str) -> None:
        """Say `text` once only, as every update of the workspace opens a site."""
        if text not in self._messages:
            self._messages.add(text)
            with suppress(OSError, ValueError):  # a closed terminal
                self._say(text)


def _usual(truth: Mapping[str, Any], release: Release) -> tuple[tuple[Example, ...], Lecture]:
    """Return the examples of the town of `truth`, and its lecture."""
    from ..town.examples import lecture, personas

    examples = (Example(search.user, search.query) for search in personas(truth, release))
    return tuple(examples), lecture(truth, release)


def _called(modes: Modes, ledger: Callable[[], Sequence[Noted]], mode: str, folder: Path) -> str:
    """Return a name for the release of `mode`; smoothed rows get a name of their own."""
    release = modes.release_of(mode)
    if release is None:
        return ""
    # The log counts by this name: the end of it keeps two different releases apart.
    sha256 = read_hash(folder)
    end = _number(sha256, ledger) if modes.withheld() else [sha256[:8]]
    smoothed = ["smoothed"] if mode in modes.smoothed else []
    return " ".join([name_of(release), *end, *smoothed])


def _certificate(
    ledger: Callable[[], Sequence[Noted]], hashes: Mapping[str, str], mode: str
) -> Mapping[str, Any]:
    """Return the certificate with which the release of `mode` was published, or nothing."""
    with suppress(UsageError):
        return certificate_of(ledger(), hashes.get(mode, ""))
    return {}


def _number(sha256: str, ledger: Callable[[], Sequence[Noted]]) -> list[str]:
    """Return the number of the release with rows of hash `sha256` in the `ledger`, if it has one.

    Rows that are withheld show no hash: somebody who guesses all of them could check the guess.
    """
    with suppress(UsageError):
        hashes = [line.sha256 for line in ledger()]
        return [f"no. {1 + hashes.index(sha256)}"] if sha256 in hashes else []
    return []
