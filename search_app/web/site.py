"""The workspace that pages are served from; a request keeps its site until its end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from flask import current_app, g, has_request_context, request

from anonymizer.promise import UNKNOWN

from ..accounts.store import PeopleStore
from ..accounts.transcripts import Transcripts
from ..disclosure.disclosure import Disclosure, Words
from ..disclosure.kinds import kind_of
from ..errors import UsageError
from ..evaluation.log import PrecisionLog
from ..evaluation.relevance import Relevance
from ..lesson.stops import Dial
from ..search.modes import Answer, Modes
from ..search.request import RankingRule, rule_of
from ..settings import DEMO, PRIVATE, Settings
from ..tasks.growth import Growth
from ..workspace.lecture import Lecture
from .wording import mode_name, sees

if TYPE_CHECKING:
    from anonymizer.profiles.origins import TermOrigin

    from ..forgetting.person import ForgetReport
    from ..workspace.ledger import Noted

KEY = "veilsearch"
STOPPED = (
    "The workspace has changed, and the server can’t open it yet. Until then every search is in "
    "plain order, and no profile and no row is shown. Please try again later."
)
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Example:
    """A search to show: a query and the person who asks it."""

    user: str
    query: str


def _no_forgetting(*_whom: object) -> ForgetReport:
    raise UsageError("nothing can be removed here; run: veilsearch forget")


class Truth(NamedTuple):
    """What the invented people are interested in, and which documents belong to it."""

    relevance: Relevance
    interests: Mapping[str, frozenset[str]]  # user -> labels


@dataclass(frozen=True, eq=False)
class Site:
    """The open workspace, with all that pages need of it."""

    modes: Modes
    log: PrecisionLog
    settings: Settings
    people: Mapping[str, str]  # user -> label; empty where people are real
    clock: Callable[[], float]  # seconds since 1970
    release_name: str  # method, p and what keeps it apart from others
    published: Callable[[], bool] = lambda: False  # whether each of its rows was
    further: Mapping[str, str] = field(default_factory=dict)  # mode -> name of another release
    access: str = DEMO
    examples: tuple[Example, ...] = ()
    admin_token: str = field(default="", repr=False)  # in private mode only
    corpus: str = ""  # name of the index
    build: str = ""  # name and number of the index: NAME.NNNN
    state: object = None  # of the workspace when it was opened
    stopped: bool = False  # whether the workspace has a later state that can't be opened
    close: Callable[[], object] = lambda: None  # closes the index's files
    refuse_copy: Callable[[], object] = lambda: None  # raises if the folder missed a change
    store: PeopleStore = field(default_factory=lambda: PeopleStore(None))
    growth: Growth = field(default_factory=lambda: Growth({}, Settings()))
    named: Set[str] = frozenset()  # who is, or was, in a cohort of the release
    later: Set[str] = frozenset()  # those of them who were admitted later
    stood: Set[str] = frozenset()  # those of them whose row is withdrawn
    transcripts: Transcripts = field(default_factory=Transcripts)  # outlives the site
    origins: Callable[[str], Mapping[str, TermOrigin]] = lambda _user: {}  # user -> term -> origin
    ledger: Callable[[], Sequence[Noted]] = tuple  # releases so far
    # mode -> the certificate of its release, if it was published
    certificate: Callable[[str], Mapping[str, Any]] = lambda _mode: {}
    forget: Callable[[PeopleStore, str, Collection[str] | None], ForgetReport] = _no_forgetting
    leave: Callable[[str], ForgetReport] = _no_forgetting
    everywhere: Callable[[], object] = lambda: None  # other workers drop what was removed
    prepared: Callable[[], Lecture] = Lecture  # the lecture's searches now
    truth: Callable[[], Truth | None] = lambda: None  # where people are invented
    dial_modes: Callable[[], Modes] | None = None  # the modes, with the releases of the dial
    building: Callable[[], Sequence[str]] = tuple  # releases of the dial that are being made
    _shown: dict[tuple[str, bool], Disclosure] = field(default_factory=dict, init=False, repr=False)

    def stop(self) -> Site:
        """Return this site, stopped: without profiles and rows, every search is in plain order."""
        kept = "log settings clock access admin_token corpus build state close store growth "
        kept += "transcripts ledger forget leave everywhere"
        same: dict[str, Any] = {name: getattr(self, name) for name in kept.split()}
        return Site(
            Modes(self.modes.engine, None, None), people={}, release_name="", stopped=True, **same
        )

    @cached_property
    def dial(self) -> Dial:
        """Return the dial over all releases that are at hand."""
        return Dial(self.dial_modes or (lambda: self.modes))

    def grown(self, user: str) -> Mapping[str, int]:
        """Return how often each term came up in searches that fed the profile of `user`."""
        return grown_of(self.store, user)

    def shown(self, mode: str = "group") -> Disclosure:
        """Return what is shown of the release that serves `mode`, or of having none."""
        release, closed = self.modes.release_of(mode), self.modes.withheld()
        # Publishing a release changes what may be shown of it.
        if (mode, closed) not in self._shown:
            profiles, singles = self.modes.profiles, self.access == DEMO
            shown = self._kind(mode)(release, profiles, closed=closed, singles=singles)
            self._shown.setdefault((mode, closed), shown)
        return self._shown[mode, closed]

    def _kind(self, mode: str) -> type[Disclosure]:
        release = self.modes.release_of(mode)
        return kind_of(release.promise if release else UNKNOWN)

    def words_of(self, mode: str, user: str | None = None) -> Words:
        """Return the sentences about rows of the release that serves `mode`, said to `user`."""
        words = self._kind(mode).words
        return words.of_closest() if self.modes.stands_outside(user, mode) else words

    @property
    def words(self) -> Words:
        """Return the sentences about rows of the current release."""
        return self.words_of("group")

    @property
    def parts(self) -> str:
        """Return the names of the index and the release."""
        return ", ".join(part for part in (self.build, self.release_name) if part)

    @property
    def rule(self) -> RankingRule:
        """Return the rule by which interests usually order pools here."""
        return rule_of(self.settings)

    @property
    def on_device(self) -> bool:
        """Return whether devices get candidates: anybody's, as no device says who asks."""
        return self.access != PRIVATE or self.settings.device

    def name_of(self, mode: str) -> str:
        """Return the name of `mode`, which says what its release's rows are."""
        return mode_name(mode, self.words_of(mode).mode)

    def sees(self, answer: Answer) -> str:
        """Return what the ranking of `answer` sees of a person, in words."""
        shown = self.shown(answer.mode)
        return sees(answer.mode, shown.sees(answer.users or None, fallback=answer.fallback))


class Live:
    """A site that another can replace; the former one is closed when no request uses it."""

    def __init__(self, site: Site):
        self._lock = threading.Lock()
        self.now = site  # to read only; requests borrow it
        self._users = {site: 0}
        self.switched: list[Callable[[Site], object]] = []  # called with the new site
        self.used = threading.Event()  # set when a first request was answered

    @property
    def state(self) -> object:
        """Return the stamp of the workspace when the site was opened; None if it is stopped."""
        # So a stopped site is opened again, although the workspace may be as it was.
        return None if self.now.stopped else self.now.state

    def fail(self) -> str:
        """Serve plain order as long as a new state can't be opened; return a sentence on that."""
        # The update may have forgotten a person, and withdrawn the row that they had a part in.
        self.switch(self.now if self.now.stopped else self.now.stop())
        return "Every search is in plain order until opening succeeds. See: veilsearch doctor"

    def borrow(self) -> Site:
        """Return the site that is served now; it stays open until `give_back`."""
        with self._lock:
            self._users[self.now] += 1
            return self.now

    def give_back(self, site: Site) -> None:
        """End one use of `site`."""
        with self._lock:
            self._users[site] -= 1
        self.used.set()

    def switch(self, site: Site) -> None:
        """Serve `site` from now on; the last requests are forgotten."""
        with self._lock:
            self._users.setdefault(site, 0)
            self.now = site
        # The new state may be without a person, whose terms stand in the requests of others, too.
        site.transcripts.clear()
        for follow in self.switched:
            try:
                follow(site)
            # The site is served already. The type alone is logged, as the text may name people.
            except Exception as fault:
                _logger.warning("after an update: %s", type(fault).__name__)

    def settle(self) -> None:
        """Prepare what searches by the rule `evidence` share, and the dial; nothing waits for it.

        The first page has the machine to itself.
        """
        self.now.modes.settle()
        if self.used.is_set() and self.now.access == DEMO:
            self.now.dial.settle()

    def _heed_removal(self) -> None:
        """Keep nothing of people in memory; serve no folder that missed what went elsewhere."""
        self.now.modes.clear()
        try:
            self.now.refuse_copy()
        except UsageError:  # or it can't be known just now
            self.fail()
        else:
            self.switch(self.now)

    def close_unused(self) -> int:
        """Close the former sites that no request uses; return how many.

        Where another server removed something of people, keep nothing of them in memory.
        """
        with suppress(UsageError):  # a request says that the store can't be read
            if self.now.store.removed_elsewhere():
                self._heed_removal()
        with self._lock:
            unused = [s for s, users in self._users.items() if not users and s is not self.now]
            for site in unused:
                del self._users[site]
            # A stopped site has the files of the one that it was made of.
            files = {site.close for site in unused} - {site.close for site in self._users}
        # If one fails to close, the stack closes the others too and raises its error at the end.
        with ExitStack() as closing:
            for close in files:
                closing.callback(close)
        return len(unused)


def grown_of(store: PeopleStore, user: str) -> Mapping[str, int]:
    """Return what `store` has that grew of `user`; a request that only reads asks once."""
    if not has_request_context() or request.method not in ("GET", "HEAD"):
        return store.grown(user)
    known: dict[str, Mapping[str, int]] = g.setdefault("grown", {})
    if user not in known:
        known[user] = store.grown(user)
    return known[user]


def this_site() -> Site:
    """Return the site of the current request, the same from its beginning to its end."""
    if "site" not in g:
        live = cast(Live, current_app.extensions[KEY])
        # Read first: what is dropped once a site is borrowed may still be in that site.
        g.generation = live.now.transcripts.generation
        g.site = live.borrow()
    return cast(Site, g.site)


def generation() -> int:
    """Return the transcripts' generation when the request began, before its sign-in check."""
    this_site()
    return cast(int, g.generation)


def give_back_site(_fault: BaseException | None = None) -> None:
    """End the current request's use of its site, with or without a fault."""
    if (site := g.pop("site", None)) is not None:
        # Somebody's terms were dropped while this search may have prepared them again.
        if g.generation != site.transcripts.generation:
            site.modes.clear()
        cast(Live, current_app.extensions[KEY]).give_back(site)
