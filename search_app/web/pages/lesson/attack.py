"""Play the attacker: whose row is this, and which interests are theirs? Of invented people only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from flask import Blueprint, abort, render_template, request, url_for
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import NotFound

from anonymizer.errors import AnonymizerError
from anonymizer.model import Release

from ....disclosure.numbers import percent, whole_percent
from ....lesson.attacker import (
    KNOWN,
    SUSPECTS,
    WORDS,
    Attacker,
    TheirTerms,
    WhoseRow,
    limit,
    why_not,
)
from ....lesson.stops import IN_USE, label_of
from ....search.modes import Modes
from ....settings import DEMO
from ...parameters import PICK, PLAYED, RIGHT, ROUND, TICK, TICKS, read_parameters
from ...site import Site, this_site
from ..groups import mode_of

pages = Blueprint("attack", __name__)
TITLES = ("Whose row is this?", "Which are theirs?")
STRONGEST = 18  # interests of a row that are shown
NOT_HERE = "There is no game here: it says whose row is whose, and the people may be real."
NO_RELEASE = "There is no such release here, so there is no row to guess about."
NO_GAME = "There are two games, 1 and 2."
FEW = "Too few people have a row and interests here for this game."
_USUAL = {"release": "", "round": 1, "played": 0, "right": 0}


class Ending(NamedTuple):
    """How a round ended."""

    verdict: str
    scores: list[tuple[str, str, str]]  # who plays, how well, and over what
    lessons: list[str]
    onwards: str  # address of the next round


@dataclass(frozen=True)
class GameTable:
    """A game where a class plays it: at a site, by a request, on the page that `to` addresses."""

    site: Site
    game: int  # 1 or 2
    arguments: MultiDict[str, str]
    to: Callable[..., str]  # parameters -> address

    @property
    def title(self) -> str:
        """Return what is asked."""
        return TITLES[self.game - 1]

    @cached_property
    def modes(self) -> Modes:
        """Return the modes whose releases can be played."""
        return self.site.dial.now()

    @cached_property
    def fields(self) -> dict[str, Any]:
        """Return the release and the round, and how the rounds before ended."""
        name = self.arguments.get("release", "")
        if name and name not in self.modes.further:
            abort(404, NO_RELEASE)
        rest = read_parameters(self.arguments, (ROUND, PLAYED, RIGHT), self.site)
        return {"release": name, **rest}

    @property
    def releases(self) -> dict[str, str]:
        """Return what each release that can be played is called; the one in use has no name."""
        among = {"": self.modes.release, **self.modes.further}
        labels = {name: label_of(release) for name, release in among.items() if release}
        often = Counter(labels.values())
        return {
            name: f"{label}, {name or IN_USE}" if often[label] > 1 else label
            for name, label in labels.items()
        }

    @cached_property
    def release(self) -> Release:
        """Return the release whose rows are shown."""
        release = self.modes.release_of(mode_of(self.fields["release"]))
        return release or abort(404, NO_RELEASE)

    @property
    def why_not(self) -> str:
        """Return why there is no game with these rows; empty where there is."""
        return why_not(self.release)

    @property
    def limit(self) -> str:
        """Return what is promised of the rows."""
        return limit(self.release)

    def at(self, **changes: Any) -> str:
        """Return the address of this page after `changes`."""
        # The score stands in the address alone, so that a reload counts nothing twice.
        values = {**self.fields, **changes}.items()
        return self.to(**{name: value for name, value in values if value != _USUAL.get(name)})

    @cached_property
    def attacker(self) -> Attacker:
        """Return the attacker of the release, the same as long as it is served."""
        if self.why_not:
            abort(404, self.why_not)
        mode, readings = mode_of(self.fields["release"]), self.site.dial.readings(self.modes)
        try:
            return next(one.player for one in readings if one.mode == mode)
        except (StopIteration, AnonymizerError):
            abort(404, FEW)

    @cached_property
    def whose(self) -> WhoseRow:
        """Return the round of the first game."""
        return self.attacker.whose(self.fields["round"]) or abort(404, FEW)

    @cached_property
    def theirs(self) -> TheirTerms:
        """Return the round of the second game."""
        return self.attacker.theirs(self.fields["round"]) or abort(404, FEW)

    @property
    def row(self) -> tuple[int, list[tuple[str, str]]]:
        """Return how many people share the row, and interests with the shares that it says."""
        row = self.whose.row if self.game == 1 else self.theirs.row
        strongest = self.attacker.strongest(row, STRONGEST)
        users = int(self.attacker.target.view.sizes[row])
        return users, [(term, whole_percent(share)) for term, share in strongest]

    def person(self, number: int) -> tuple[str, str]:
        """Return the name of the person with this `number`, and what they like."""
        user = self.attacker.target.profiles.users[number]
        # Without what they like, the second game has no other hint than the row.
        name, _, likes = self.site.people.get(user, "Somebody").partition(" · ")
        return name, likes

    @property
    def words(self) -> list[str]:
        """Return the interests of the second game."""
        terms = self.attacker.target.profiles.terms
        return [terms[term] for term in self.theirs.terms.tolist()]

    @cached_property
    def pick(self) -> int:
        """Return the position from 1 of the person that was chosen; 0: nobody yet."""
        return int(read_parameters(self.arguments, (PICK,), self.site)["pick"])

    @cached_property
    def ticks(self) -> set[int]:
        """Return the positions from 1 of the interests that were ticked."""
        ticks = ({"tick": tick} for tick in self.arguments.getlist("tick"))
        return {read_parameters(tick, (TICK,), self.site)["tick"] for tick in ticks}

    @property
    def ending(self) -> Ending | None:
        """Return how the round ended; None before it is answered."""
        if self.game == 1:
            return self._named() if self.pick else None
        done = read_parameters(self.arguments, (TICKS,), self.site)["ticks"]
        return self._ticked() if done else None

    def _named(self) -> Ending:
        right, wins = self.pick == self.whose.answer + 1, self.attacker.wins
        rounds, score, onwards = self._after(int(right))
        name, _ = self.person(self.whose.people[self.whose.answer])
        scores = [
            ("You", f"{score} of {rounds}", "rounds so far"),
            ("The formula", f"{percent(wins.mean())} %", f"of {wins.size:,} rounds"),
            ("By chance", f"{percent(1 / SUSPECTS)} %", "of rounds"),
        ]
        reads = f"The formula reads the whole row, and the same {KNOWN} interests of each person."
        verdict = f"{'Right' if right else 'No'}: the row is {name}’s."
        return Ending(verdict, scores, [reads, self.limit], onwards)

    def _ticked(self) -> Ending:
        drawn, hits = self.theirs, self.attacker.hits
        # A term that was left alone is judged, too: so ticking all or none is worth no more.
        right = sum((at in self.ticks) == own for at, own in enumerate(drawn.own.tolist(), 1))
        rounds, score, onwards = self._after(right)
        name, _ = self.person(drawn.person)
        formula = f"{hits.mean():.1f} on average over {hits.size:,} rounds"
        scores = [
            ("You", f"{right} of {WORDS}", f"{score / rounds:.1f} on average so far"),
            ("The formula", f"{drawn.right} of {WORDS}", formula),
            ("By chance", f"{WORDS // 2} of {WORDS}", "on average"),
        ]
        size = self.attacker.target.profiles.sizes[drawn.person]
        reads = (
            "The formula ticks what the row makes likelier than usual. Here half are theirs. On "
            f"the dial it guesses among all {len(self.attacker.alike):,}, and {size:,} are theirs."
        )
        verdict = f"What is {name}’s is filled, the rest is struck. ✓ is what you ticked."
        return Ending(verdict, scores, [reads, self.limit], onwards)

    def _after(self, right: int) -> tuple[int, int, str]:
        """Return how many rounds are played, what was right in all, and the next one's address."""
        more = {"round": 1, "played": 1, "right": right}
        after = {name: self.fields[name] + number for name, number in more.items()}
        fits = all(after[one.name] <= one.within[1] for one in (ROUND, PLAYED, RIGHT))
        first = {name: _USUAL[name] for name in after}  # after the last round that can be named
        return after["played"], after["right"], self.at(**(after if fits else first))


@pages.get("/attack")
def show() -> str:
    """Return the page with both games, and a choice of the release."""
    table, games = _table(0, "attack.show"), [_table(at, "attack.one", number=at) for at in (1, 2)]
    return render_template("lesson/attack.html", table=table, games=games)


@pages.get("/attack/<int:number>")
def one(number: int) -> str:
    """Return a round of game `number`, and how it ended once it is answered."""
    table = _table(number, "attack.one", number=number)
    if number not in (1, 2):
        abort(404, NO_GAME)
    return render_template("lesson/round.html", table=table)


def slide(
    site: Site, game: int, arguments: MultiDict[str, str], to: Callable[..., str]
) -> GameTable | None:
    """Return a table of `game` for another page, on which it includes lesson/game.html.

    That page is at `to`, and got the `arguments`. None where `site` has nobody to play with.
    """
    table = GameTable(site, game, arguments, to)
    with suppress(NotFound):
        return table if site.access == DEMO and table.row else None
    return None


def _table(game: int, endpoint: str, **place: Any) -> GameTable:
    site = this_site()
    if site.access != DEMO:
        abort(404, NOT_HERE)
    return GameTable(
        site, game, request.args, lambda **fields: url_for(endpoint, **place, **fields)
    )
