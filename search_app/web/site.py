"""What the pages are served from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from flask import current_app, g

from ..errors import UsageError
from ..ledger import PUBLISHED
from ..lone_rows import LoneRows, lone_rows
from ..modes import Answer, Modes
from ..own_view import Population
from ..people_store import PeopleStore
from ..precision_log import PrecisionLog
from ..prepared import Lecture
from ..settings import Settings
from .transcripts import Transcripts
from .wording import mode_name, sees

if TYPE_CHECKING:
    from anonymizer.origins import Origin

    from ..forgetting import Forgotten
    from ..ledger import Noted
    from .live import Live

KEY = "veilsearch"
DEMO, PRIVATE, PLAIN = "demo", "private", "plain"  # invented people; who signs in; nobody
ACCESS = (DEMO, PRIVATE, PLAIN)


@dataclass(frozen=True)
class Example:
    """A search worth showing: a query as one of the people."""

    user: str
    query: str
    label: str


def _nothing() -> None:
    """Close nothing: all of it is in memory."""


def _no_origins(_user: str) -> Mapping[str, Origin]:
    return {}


def _no_ledger() -> Sequence[Noted]:
    return ()


def _no_forgetting(_user: str, _terms: Collection[str] | None) -> Forgotten:
    raise UsageError("nothing can be removed here; run: veilsearch forget")


def _nothing_prepared() -> Lecture:
    return Lecture()


@dataclass(frozen=True)
class Shown:
    """A release as the pages name it, with its facts."""

    name: str  # method, p and the beginning of its hash
    facts: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Site:
    """A workspace as the pages see it."""

    modes: Modes
    log: PrecisionLog
    settings: Settings
    people: Mapping[str, str]  # user -> what is shown; empty where people are real: never listed
    clock: Callable[[], float]  # seconds since 1970
    release_name: str
    release_sha256: str = ""  # of its rows
    facts: Mapping[str, Any] = field(default_factory=dict)
    further: Mapping[str, Shown] = field(default_factory=dict)  # other releases, by their mode
    access: str = DEMO
    examples: tuple[Example, ...] = ()
    admin_token: str = field(default="", repr=False)  # in private mode only
    corpus: str = ""  # the index by name
    build: str = ""  # and by number: NAME.NNNN
    state: object = None  # of the workspace when all this was opened
    close: Callable[[], object] = _nothing  # lets go of the index's files
    store: PeopleStore = field(default_factory=lambda: PeopleStore(None))
    transcripts: Transcripts = field(default_factory=Transcripts)  # outlives the site
    origins: Callable[[str], Mapping[str, Origin]] = _no_origins  # user -> by term
    ledger: Callable[[], Sequence[Noted]] = _no_ledger  # the releases so far
    forget: Callable[[str, Collection[str] | None], Forgotten] = _no_forgetting  # None: all
    prepared: Callable[[], Lecture] = _nothing_prepared  # the lecture's searches, as they are now

    @cached_property
    def population(self) -> Population | None:
        """Return who all the people are of whom each sees their own part."""
        profiles = self.modes.profiles
        if profiles is None:
            return None
        return Population(profiles, self.modes.release, self.modes.sealed)

    @property
    def on_device(self) -> bool:
        """Tell whether a device is handed candidates; it never says who asks, so anybody is."""
        return self.access != PRIVATE or self.settings.device

    def is_published(self) -> bool:
        """Tell whether the ledger says that the current release's rows were published."""
        noted = (each for each in self.ledger() if each.event == PUBLISHED)
        return any(each.sha256 == self.release_sha256 for each in noted)

    def lone(self, mode: str = "group") -> LoneRows | None:
        """Return what the release behind a mode promises, if each of its rows is of one person."""
        return lone_rows(self.modes.release_of(mode))

    def leaves_out(self, mode: str, user: str) -> bool:
        """Tell whether the release behind a mode has left nothing of a person."""
        return self.modes.leaves_out(user, mode)

    def name_of(self, mode: str) -> str:
        """Name a mode by what its release's rows are."""
        return mode_name(mode, lone=self.lone(mode) is not None)

    def sees(self, answer: Answer) -> str:
        """Say what the ranking of an answer sees of a person."""
        lone = self.lone(answer.mode) is not None
        return sees(answer.mode, answer.users or None, lone=lone, spare=answer.spare)

    def facts_of(self, mode: str) -> Mapping[str, Any]:
        """Return the facts of the release behind a mode."""
        return self.further[mode].facts if mode in self.further else self.facts


def this_site() -> Site:
    """Return the site of the request being answered: the same from its beginning to its end."""
    if "site" not in g:
        g.site = site = cast("Live", current_app.extensions[KEY]).borrow()
        g.generation = site.transcripts.generation
    return cast(Site, g.site)


def generation() -> int:
    """Return the transcripts' generation when the request began, before anybody was let in."""
    this_site()
    return cast(int, g.generation)


def give_back_site(_fault: BaseException | None = None) -> None:
    """End the request's use of its site."""
    if (site := g.pop("site", None)) is not None:
        cast("Live", current_app.extensions[KEY]).give_back(site)
