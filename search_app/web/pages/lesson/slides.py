"""The kinds of slides of a lecture: what each shows, by the word that a line of the file has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

from flask import request, url_for

from ....disclosure.numbers import two_decimals
from ....evaluation.relevance import LabelledQuery
from ....measures.relevance import relevant_precision
from ....search.modes import MODES
from ....search.request import COSINE, EVIDENCE
from ....workspace.lecture import PreparedSearch
from ...question import Question, read_question
from ...site import Site
from ...views.answering import Outcome, ask
from ...views.columns import ComparedRanking, Look, columns, shown_modes
from ...views.dial import dial_view
from ...views.own_page import sent_in
from ...views.verdict import verdict_on
from .attack import FEW
from .attack import slide as game
from .worse import why, worse

SHOWN, LARGE = 5, 6  # results; in one or two columns
REASONED = 4  # results with their reasons, which take more of a projector's page
SNIPPET, WIDE = 100, 160  # characters; in a column that is alone
A_LINE = 42  # characters of a heading
HURT = ("none", "group")
TRIED, LEAST = 40, 5  # searches that are tried, and their relevant documents at least
MOST = 3  # columns, unless others are chosen
HARMED = (
    "This search is about {}, which is no interest of this person. By relevant documents, AP falls "
    "from {} to {}."
)
HELPS = "On evidence an interest counts only beyond what everybody shares."
STOPS = "From all of you to nobody known, in a few steps."
DEVICE = (
    "Your browser keeps your profile and does the ranking itself. The server gets the query but no "
    "cookie and no name."
)
NO_TRUTH = "Nobody knows here of a search that personalization harms."


class Harm(NamedTuple):
    """A search that likeness harms, and its AP by relevant documents."""

    search: LabelledQuery
    before: float  # in plain order
    after: float  # in the order by the group


_harms: WeakKeyDictionary[Site, Sequence[Harm]] = WeakKeyDictionary()


class Slide(NamedTuple):
    """What is shown of a slide: a template, and what it needs."""

    template: str
    context: Mapping[str, Any]
    blinds: bool = False  # whether its columns can be shown without their names
    search: PreparedSearch | None = None  # another one than the line has


Show = Callable[[Site, PreparedSearch, Look], Slide]


def _shown(
    made: Sequence[ComparedRanking],
    notices: Iterable[str] = (),
    worse: Sequence[str] = (),
    verdict: str = "",
    search: PreparedSearch | None = None,
) -> Slide:
    """Return the slide of the columns `made`, with sentences above and below their heads."""
    context = {"columns": made, "notices": notices, "worse": worse, "verdict": verdict}
    return Slide("lecture/rankings.html", context, search=search)


def _rankings(modes: tuple[str, ...]) -> Show:
    """Return what shows the orders in `modes` for the one who searches; empty: in all."""

    def show(site: Site, search: PreparedSearch, look: Look) -> Slide:
        question = read_question({"q": search.query, "user": search.user}, site)
        look = Look() if modes else look
        chosen = shown_modes(site, question, look, MOST)
        if modes:
            chosen = tuple(mode for mode in modes if mode in chosen) or ("none",)
        # Not counted in the log: the lecturer shows this search, and no person has made it.
        outcome = ask(site, question, False, chosen)
        shown = [mode for mode in chosen if mode in outcome.answers] or ["none"]
        size = SNIPPET if len(shown) > 1 else WIDE
        fell = () if look.hidden or "group" not in shown else worse(site, question, outcome)
        # What takes more of the page leaves less for results.
        title = len(search.query) + len(site.people.get(search.user, "")) / 2  # in smaller type
        count = LARGE if len(shown) == 1 else SHOWN - (title > A_LINE)
        count -= bool(fell)
        made = columns(site, question, outcome, shown, look, count, size, why=False)
        compared = (
            "" if fell or shown != ["group"] else verdict_on(site, search.user, outcome, HURT)
        )
        slide = _shown(made, outcome.notices, fell, compared)
        return slide._replace(blinds=len(made) > 1)

    return show


def _two(site: Site, search: PreparedSearch, _look: Look) -> Slide:
    """Return the orders by the own profiles of two people, who search for the same."""
    made: list[ComparedRanking] = []
    notices: list[str] = []
    for user in search.users:
        question = read_question({"q": search.query, "user": user}, site)
        outcome = ask(site, question, False)
        mode = "own" if "own" in outcome.answers else "none"
        (column,) = columns(site, question, outcome, [mode], Look(), LARGE, SNIPPET, why=False)
        # Each order is its own standard here, so its AP says nothing.
        made.append(column._replace(name=site.people[user], precision=None))
        notices += outcome.notices
    return _shown(made, dict.fromkeys(notices))


def _read(site: Site, search: PreparedSearch, _look: Look) -> Slide:
    """Return the engine's requests for a search, byte for byte."""
    question = read_question({"q": search.query, "user": search.user}, site)
    outcome = ask(site, question, False)
    modes = [mode for mode in MODES if mode in site.modes.modes and (search.user or mode == "none")]
    handed = {mode: answer.request for mode, answer in outcome.answers.items()}
    sent = [sent_in(site, search.user, mode, handed.get(mode)) for mode in modes]
    return Slide("lecture/read.html", {"sent": sent, "notices": outcome.notices})


def _sentence(text: str, page: str = "", label: str = "", **arguments: Any) -> Slide:
    """Return `text` in large type, and a link to a `page` with what is given of its arguments."""
    given = {name: value for name, value in arguments.items() if value}
    address = url_for(page, **given) if page else ""
    return Slide("lecture/sentence.html", {"text": text, "address": address, "label": label})


def _device(_site: Site, search: PreparedSearch, _look: Look) -> Slide:
    """Return the way to the search on one's own device, a page that names nobody."""
    return _sentence(DEVICE, "device.show", "Search on this device", q=search.query)


def _dial(site: Site, search: PreparedSearch, _look: Look) -> Slide:
    """Return the dial of a search; where there is one stop only, a link to its page."""
    question = read_question({"q": search.query, "user": search.user}, site)
    dial = dial_view(site, question, request.args.get("stop", "")) if question.query else None
    if dial is None or len(dial.stops) == 1:
        return _sentence(STOPS, "dial.show", "Turn the dial", q=search.query, user=search.user)
    # The stops are links, for those without script: here they lead to this slide.
    stops = [stop._replace(address=_here(stop=stop.stop.mode)) for stop in dial.stops]
    return Slide("lecture/dial.html", {"dial": dial._replace(stops=stops)})


def _attacker(site: Site, _search: PreparedSearch, _look: Look) -> Slide:
    """Return the attacker's first game, which the class plays on the slide."""
    table = game(site, 1, request.args, _here)
    return Slide("lecture/game.html", {"table": table}) if table else _sentence(FEW)


def _here(**fields: Any) -> str:
    return f"{request.script_root}{request.path}?{urlencode(fields)}"


def _hurts(site: Site, search: PreparedSearch, _look: Look) -> Slide:
    """Return a search that personalization harms: plain, by likeness, and on evidence."""
    truth, now = site.truth(), next(_harmed_now(site), None)
    if truth is None or now is None:
        return _sentence(NO_TRUTH)
    harm, orders = now
    labelled, query, user = harm.search, harm.search.topic.query, harm.search.topic.user
    made, because = list[ComparedRanking](), ""
    for name, (by, outcome) in orders.items():
        plain, *groups = columns(site, by, outcome, HURT, Look(), REASONED, SNIPPET)
        if not made:
            answer, row = outcome.in_mode("group"), site.words_of("group", user).row
            good = truth.relevance.relevant(labelled, site.modes.engine.ids(answer.ranking.rows))
            because = why(site, answer, good, "this topic", row)
            made.append(plain)
        made += [group._replace(name=f"{group.name}, {name}") for group in groups]
    about = ", ".join(sorted(labelled.labels)).replace("-", " ")
    fell = HARMED.format(about, two_decimals(harm.before), two_decimals(harm.after))
    # AP by the own profile says nothing here: the search is off its interests.
    shown = [column._replace(precision=None, sees="") for column in made]
    worse = fell, f"{because} {HELPS}"
    return _shown(shown, worse=worse, search=PreparedSearch(query, user, shown=search.shown))


def _harmed_now(site: Site) -> Iterator[tuple[Harm, Mapping[str, tuple[Question, Outcome]]]]:
    """Yield each harm and its orders by both rules; none of people who have paused."""
    for harm in _harms_of(site):
        topic = harm.search.topic
        question = read_question({"q": topic.query, "user": topic.user}, site)
        orders = dict[str, tuple[Question, Outcome]]()
        for ranking, name in ((COSINE, "by likeness"), (EVIDENCE, "on evidence")):
            by = question.but(rule=question.rule._replace(ranking=ranking))
            orders[name] = by, ask(site, by, False, HURT)
        if all("group" in outcome.answers for _, outcome in orders.values()):
            yield harm, orders


def _harms_of(site: Site) -> Sequence[Harm]:
    """Return searches off their person's interests that likeness harms, the most harmed first."""
    if site not in _harms:  # it takes many searches
        _harms[site] = sorted(_harmed(site), key=lambda harm: harm.after - harm.before)
    return _harms[site]


def _harmed(site: Site) -> Iterator[Harm]:
    truth = site.truth()
    searches = [one for one in truth.relevance.queries if one.kind == "off"] if truth else []
    known = [one for one in searches if site.modes.row_for(one.topic.user)]
    for search in known[:TRIED]:
        query, user = search.topic.query, search.topic.user
        answers = site.modes.answers(query, HURT, user, pool=site.settings.pool)
        orders = [site.modes.engine.ids(answer.ranking.rows) for answer in answers]
        marks = [truth.relevance.relevant(search, ids) for ids in orders] if truth else []
        before, after = (float(relevant_precision(some)) for some in marks)
        # Compared as they are shown, as in `worse`.
        fell = before > after and two_decimals(before) != two_decimals(after)
        if fell and marks[0].sum() >= LEAST:
            yield Harm(search, before, after)


# What a line can show: its title, if it needs one, and what makes the slide.
SLIDES: Mapping[str, tuple[str, Show]] = {
    "all": ("", _rankings(())),
    "plain": ("What everybody gets", _rankings(("none",))),
    "own": ("With everything known of you", _rankings(("own",))),
    "group": ("With what is released", _rankings(("group",))),
    "two": ("Same word, two people", _two),
    "read": ("What the server read", _read),
    "hurts": ("Where personalization hurts", _hurts),
    "attacker": ("Play the attacker", _attacker),
    "dial": ("How much of you does this ranking need?", _dial),
    "device": ("On your own device", _device),
}
