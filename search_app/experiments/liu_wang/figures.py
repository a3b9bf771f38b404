"""The report of the liu-wang experiment: what SSC and its rivals keep, and search by their rows."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.measures.vocabulary import LENGTHS

from ..design import Variant
from ..outcomes import PassSeconds
from ..report import cells
from ..report.claims import RULE
from ..report.making import BASELINES, NAMES, ends_of, figure, line, made
from ..report.planes import by_belief
from ..report.report import Figure, FigurePoint, Report, Table
from ..report.summaries import SummedUp
from .claims import claims, known
from .facts import EVERY_EPS, far, recall
from .variants import KINDS, LG, POOL, SETS, SSC, Releases

MEASURES = (
    "bLM: the occurrences that are suppressed, and of each kept one the loss of what it was "
    "matched with, as a share of all. It rewards a large eps alone. So Recall (of the 100 most "
    "frequent closed patterns) and the share of kept occurrences that were replaced by another "
    "term stand next to it.",
    "LG publishes sets, and keeps one occurrence of each member for a published term. LG(bag) "
    "keeps the least number that any member has. sDist of both is measured at the eps of the SSC "
    "that it is compared with, or at 4.",
    "Nothing of the paper's own results can be compared in digits: its tables are in a technical "
    "report that we do not have.",
)
_HEAD = ("rows", "k", "eps", "bLM", "kept", "replaced", "own", "users left empty",
         "Recall", "Recall, 2", "sDist", "sDist, 2", "people a row", "worst term", "belief",
         "AP")  # fmt: skip


def report(summed: SummedUp, _seconds: PassSeconds) -> Report:
    """Return the report of `summed`."""
    releases = Releases(summed.outcomes)
    return made(
        summed.outcomes,
        (*MEASURES, known(releases).strip(), *RULE),
        figures=[
            tradeoff(summed, releases),
            *(losses(releases, k) for k in releases.ks()),
        ],
        tables=[everything(summed, releases), sessions(releases)],
        claims=claims(summed.outcomes),
    )


def tradeoff(summed: SummedUp, releases: Releases) -> Figure | None:
    """Return the plane of AP against the change of belief of the `releases` of people."""
    rows = [
        (kind, f"{kind} at k = {k}{f', eps = {eps:g}' if eps else ''}", variant, "group")
        for kind in KINDS
        for k, eps, variant in releases.every(kind)
    ]
    return by_belief(summed, POOL, "By members' shares of a row's terms.", rows, kind="plane")


def losses(releases: Releases, k: int) -> Figure:
    """Return bLM of the `releases` at `k` by eps, where rivals are level lines."""
    lines = []
    for kind in (SSC, LG, SETS):
        of_kind = ((eps, releases.at(kind, k, eps if kind == SSC else None)) for eps in EVERY_EPS)
        values = ((eps, releases.fact("loss", variant)) for eps, variant in of_kind)
        lines.append(line(kind, (FigurePoint(eps, y) for eps, y in values if y is not None)))
    names = (f"loss-{k}", f"bLM by eps (k = {k})")
    return figure(names, ends_of(lines, "eps"), ("eps", "bLM"), lines)


def everything(summed: SummedUp, releases: Releases) -> Table:
    """Return all that was measured of all `releases` of people, with AP of `summed`."""
    rows = []
    for kind in KINDS:
        for k, eps, variant in sorted(releases.every(kind), key=lambda one: one[:2]):
            matched, members = variant.number("eps") is not None, variant.number("members")
            shown = f"{eps:g}" if matched else cells.NONE
            values = _values(releases, variant, eps if matched else 4.0)
            ap = cells.mean(summed.find(variant, "group", POOL))
            name = kind if members is None else f"{kind}, m = {members:g}"
            rows.append((name, str(k), shown, *values, ap))
    for variant in releases.outcomes.experiment.named("typical", "order", "models"):
        head = (variant.label, str(variant.given.get("k")), "4")
        ap = cells.mean(summed.find(variant, "group", POOL))
        rows.append((*head, *_values(releases, variant, 4.0), ap))
    for variant in releases.outcomes.experiment.named(BASELINES):
        for mode in variant.modes:
            ap = cells.mean(summed.find(variant, mode, POOL))
            rows.append((NAMES[mode], *[cells.NONE] * (len(_HEAD) - 2), ap))
    about = f"At user level.{known(releases)} {_columns()}"
    return Table("everything", "What rows keep, and search by them", about, _HEAD, tuple(rows))


def _columns() -> str:
    return (
        "Kept: of all occurrences. Replaced: of those that are kept. Own: of what a person's row "
        "publishes, what stands for an occurrence of theirs, too. Recall and sDist are of "
        "patterns of one term or more, and of two or more. Worst term: the largest share of "
        "members who have one of their terms. Belief: the largest change of belief about a term, "
        f"by members' shares. AP is over pool {POOL}."
    )


def sessions(releases: Releases) -> Table:
    """Return the same of the `releases` of sessions, which are not searched by."""
    counted = releases.outcomes.experiment.named("sessions-counted")
    every = [
        *((kind, *one) for kind in (SSC, LG) for one in releases.every(kind, sessions=True)),
        *(("SSC, sessions counted", 5, 4.0, variant) for variant in counted),
    ]
    rows = []
    for kind, k, eps, variant in sorted(every, key=lambda one: one[:3]):
        shown = cells.NONE if kind == LG else f"{eps:g}"
        few = cells.number(releases.fact("rows_of_few_people", variant))
        rows.append((kind, str(k), shown, *_values(releases, variant, eps or 4.0), few))
    share = releases.of("known_occurrences", "input-sessions")
    about = (
        f"Sessions of the first people, each a vocabulary. {share or 0:.1%} of their "
        "occurrences are nouns of WordNet. A row stands for k people, or for k sessions where "
        "sessions are counted. The last column: the share of rows of fewer than k people."
    )
    head = (*_HEAD[:7], "vocabularies left empty", *_HEAD[8:12], "vocabularies a row",
            *_HEAD[13:15], "fewer people")  # fmt: skip
    return Table("sessions", "Sessions as vocabularies", about, head, tuple(rows))


def _values(releases: Releases, variant: Variant, eps: float) -> Sequence[str]:
    """Return what was measured of a `variant` as texts; sDist is that at `eps`."""
    names = ("loss", "kept_share", "replaced_share", "own_share", "users_left_empty",
             *map(recall, LENGTHS), *(far(least, eps) for least in LENGTHS), "mean_group",
             "worst_linkability", "change_of_belief")  # fmt: skip
    facts = {name: releases.fact(name, variant) for name in names}
    return [
        f"{value:.0f}" if name == "users_left_empty" and value is not None else cells.number(value)
        for name, value in facts.items()
    ]
