"""The records of the API: their JSON Schema has the name of the class, without `Json`."""

from __future__ import annotations

from typing import Annotated, TypedDict

from anonymizer.methods import names_where

from ....experiments.report.report import VERDICTS
from ....search.request import RANKINGS
from ...views.results import LONGEST_TEXT
from ...views.standing import STATES
from .schema import Rule

LONGEST_TERM = 1000
MOST_TERMS = 5000

Text = Annotated[str, Rule("minLength", 1), Rule("maxLength", LONGEST_TERM)]
Count = Annotated[int, Rule("minimum", 0)]
Place = Annotated[int, Rule("minimum", 1)]
ALONE = (
    "How many people share it. 1: it is one person’s profile and hides nothing. In a release by "
    f"{' or '.join(names_where(lambda promise: promise.single_person))} every row is of 1: "
    "what a deletion kept of one person’s terms."
)
Share = Annotated[float, Rule("minimum", 0), Rule("maximum", 1)]
Query = Annotated[str, "The query that was searched: at most its first 2,000 characters."]
Ranking = Annotated[str, Rule("enum", RANKINGS), "How interests order the pool."]
Operators = Annotated[bool, "Whether quotes, + and - meant something."]
Found = Annotated[Count, "How many documents are in the pool."]
Notices = Annotated[list[str], "Notices for the person, each a sentence."]
DocumentId = Annotated[str, "The document’s id."]


class FaultJson(TypedDict):
    """What went wrong."""

    status: Annotated[int, "The HTTP status, again."]
    message: Annotated[str, "One plain sentence: what is wrong, what is allowed, what to do."]


class RefusalJson(TypedDict):
    """The answer to a request that was refused."""

    error: FaultJson


class HealthJson(TypedDict):
    """Whether searching and signing in work."""

    status: Annotated[str, Rule("enum", ("ok", "failing"))]
    version: Annotated[str, "The version of veilsearch."]
    index: Annotated[str, "The name and number of the index."]
    release: Annotated[
        str, "The release: its method, p or else k and m, and the beginning of its hash."
    ]


class MarkJson(TypedDict):
    """A word of the query in a snippet, by its places; characters are Unicode code points."""

    start: Annotated[Count, "The place of its first character; the snippet begins at 0."]
    end: Annotated[Count, "The place after its last character."]


class CardJson(TypedDict):
    """A document as a list of results shows it."""

    id: DocumentId
    title: str
    url: Annotated[str, "Its web address; empty where it has none that is safe to link to."]
    source: Annotated[str, "Where it comes from, as the pages show it."]
    snippet: Annotated[str, "The part of its text that best matches the query."]
    marks: Annotated[list[MarkJson], "The words of the query in the snippet."]


class PlacedJson(TypedDict):
    """A document’s ranks."""

    rank: Annotated[Place, "Its rank here, from 1."]
    plain_rank: Annotated[Place, "Its rank in the plain order of the same pool."]
    score: Annotated[
        float | None,
        "The score that orders it: BM25 in mode none, else its similarity to the profile or row, "
        "or what the rule evidence gives. None by the row of a group that one is not in.",
    ]


class HitJson(PlacedJson, CardJson):
    """A document at its rank."""

    page: Annotated[str, "The path of its page here; empty if no address leads to its id."]


class MovedJson(TypedDict):
    """A document’s name and ranks."""

    id: DocumentId
    title: str
    rank: Annotated[Place, "Its rank here, from 1."]
    plain_rank: Annotated[Place, "Its rank in the plain order of the same pool."]


class GoneJson(MovedJson):
    """A document from the first plain ranks that is not among the results shown here."""


class PrecisionJson(TypedDict):
    """How close a ranking comes to the own-profile order over the same pool."""

    ap: Annotated[Share, "Average precision; the first 30 of the own-profile order are relevant."]
    ap_at_10: Annotated[Share, "Mean precision at the ranks of the first 10 relevant documents."]
    ap_at_20: Annotated[Share, "The same for the first 20."]
    ap_c: Annotated[
        float | None,
        "AP rescaled: 0 is a random order, 1 the own profile’s. None where the pool has no more "
        "documents than are relevant.",
    ]
    pool: Annotated[Place, "Documents in the pool; AP depends mostly on this number."]


class AgreementJson(TypedDict):
    """How far a whole order of the pool agrees with the own-profile order."""

    tau: Annotated[
        float | None,
        Rule("minimum", -1),
        Rule("maximum", 1),
        "Kendall’s tau; none where there is no pair of documents.",
    ]
    rbo: Annotated[float, "Rank-biased overlap, extrapolated, with p = 0.9."]
    overlap: Annotated[Count, "How many documents are among the first of both orders."]
    first: Annotated[Count, "How many documents count as first: 10, or the whole pool."]


class SharedRowJson(TypedDict):
    """The released row that ordered the pool."""

    name: str
    users: Annotated[Place, ALONE]


class EvidenceJson(TypedDict):
    """What the rule evidence found."""

    standing: Annotated[
        Share | None,
        "Share of the groups, or of other searches, than which the interests fit this search "
        "better. None by the row of a group that one is not in.",
    ]
    plain: Annotated[bool, "Whether the interests say too little, so that the order is plain."]


class SentJson(TypedDict):
    """All that the engine received for a ranking, as canonical bytes; /me shows them."""

    bytes: Annotated[Count, "How many bytes it received."]
    sha256: Annotated[
        str,
        Rule("pattern", "^[0-9a-f]{64}$"),
        "Their SHA-256: the same for all who share a row and ask the same.",
    ]


class IgnoredWordsJson(TypedDict):
    """Words of the query that the search ignored, of its first 12 words."""

    common: Annotated[list[str], "So common that the index has none of them."]
    absent: Annotated[list[str], "In no document."]
    meant: Annotated[
        str,
        "The query with terms of the index that are spelled like the absent words. Empty: none is.",
    ]


class SuggestionsJson(TypedDict):
    """What a query may become."""

    queries: Annotated[list[str], "With the last word completed; then titles that begin with it."]


class SearchedJson(TypedDict):
    """A search, and what was found."""

    query: Query
    pool: Annotated[Place, "How many documents to find and order were requested."]
    ranking: Ranking
    operators: Operators
    found: Found
    milliseconds: Count
    notices: Notices


class SearchAnswerJson(SearchedJson):
    """A page of one ranking."""

    mode: Annotated[str, "The mode that served: none if the requested mode can’t; see notices."]
    page: Place
    pages: Annotated[Count, "How many pages the ranking has."]
    ignored: IgnoredWordsJson
    precision: Annotated[PrecisionJson | None, "None where there is no profile to compare with."]
    evidence: Annotated[EvidenceJson | None, "None where the rule evidence did not rank."]
    row: Annotated[SharedRowJson | None, "None where no released row served."]
    sent: Annotated[SentJson | None, "None by the row of a group that one is not in."]
    results: list[HitJson]


class ColumnJson(TypedDict):
    """One mode’s ranking."""

    mode: str
    name: Annotated[str, "The mode as the pages name it."]
    sees: Annotated[str, "What this ranking sees of a person."]
    precision: Annotated[PrecisionJson | None, "None where there is no profile to compare with."]
    agreement: Annotated[AgreementJson | None, "None where there is no profile to compare with."]
    evidence: Annotated[EvidenceJson | None, "None where the rule evidence did not rank."]
    row: Annotated[SharedRowJson | None, "None where no released row served."]
    sent: Annotated[SentJson | None, "None by the row of a group that one is not in."]
    results: Annotated[list[HitJson], "Its first documents."]
    gone: list[GoneJson]


class ComparisonJson(SearchedJson):
    """All modes over one pool, side by side."""

    columns: list[ColumnJson]


class StopHitJson(MovedJson):
    """A document at a stop of the dial."""


class GuessJson(TypedDict):
    """A guess about a person, by someone who has learnt which row is theirs."""

    term: str
    right: Annotated[bool, "Whether the term is in the person’s profile."]


class StopJson(TypedDict):
    """A search at a stop of the dial."""

    mode: Annotated[str, "own, group, group: and the folder of a release, or none."]
    label: Annotated[str, "What it is; of a release, its sizes or what it promises."]
    says: Annotated[str, "What it gives and what it gives away, in sentences."]
    hidden: Annotated[str, "Who the person hides among, in a sentence."]
    people: Annotated[Count, "How many people the ranking can’t tell apart."]
    ap: Annotated[
        Share | None,
        "Average precision by the own profile, as in a comparison. None without a profile.",
    ]
    share: Annotated[str, "The same in percent; 100 only if it is 1."]
    results: Annotated[list[StopHitJson], "Its first documents."]
    guesses: Annotated[
        list[GuessJson],
        "The best guesses of the attacker column of inference, the surest first.",
    ]
    right: Annotated[Count, "How many of them are right."]
    mean: Annotated[float, "The same on average over everybody who has a row."]


class DialJson(SearchedJson):
    """A search at every stop of the dial."""

    building: Annotated[list[str], "Releases that are being made, and will be stops."]
    stops: Annotated[list[StopJson], "From the own profile to the plain order."]


class TermShareJson(TypedDict):
    """What a term of the profile or row adds to a score."""

    term: str
    weight: Annotated[float, "Its weight in the profile or row."]
    share: Annotated[
        float, "What it adds: the shares of all terms and what is added sum to the score."
    ]


class DocumentJson(TypedDict):
    """A document, as the index keeps it."""

    id: DocumentId
    title: str
    url: Annotated[str, "Its web address; empty where it has none that is safe to link to."]
    text: Annotated[str, Rule("maxLength", LONGEST_TEXT), "Its text, or the beginning."]
    characters: Annotated[Count, "How many the whole text has."]


class AddedShareJson(TypedDict):
    """What something else than a term adds to a score, by the rule evidence."""

    name: str
    share: float


class Bm25PartJson(TypedDict):
    """What a word of the query adds to BM25."""

    field: Annotated[str, "Where the word is: contents, or title."]
    term: str
    score: float


class Bm25Json(TypedDict):
    """What the query adds to a score, by Lucene’s BM25."""

    score: Annotated[float, "BM25 of the document: the sum of its parts."]
    parts: list[Bm25PartJson]


class WithoutJson(TypedDict):
    """Terms without which the document would not have moved."""

    terms: list[str]
    rank: Annotated[Place, "The rank it would have."]
    smallest: Annotated[bool, "Whether no smaller set exists; if false, that is not known."]


class ExplanationJson(TypedDict):
    """Why a document has its rank."""

    mode: Annotated[str, "The mode that served: none if the requested mode can’t; see notices."]
    notices: Notices
    sentence: Annotated[str, "The explanation in one plain sentence."]
    id: DocumentId
    title: str
    kind: Annotated[str, Rule("enum", ("none", "own", "group"))]
    row: Annotated[str | None, "The released row that served; none where none did."]
    users: Annotated[int | None, "How many people share that row."]
    found: Found
    ranking: Ranking
    standing: Annotated[
        Share | None,
        "How well the interests fit this search, by the rule evidence, if it may show.",
    ]
    plain: Annotated[bool, "Whether that rule left the plain order."]
    rank: Annotated[Place, "Its rank here, from 1."]
    plain_rank: Annotated[Place, "Its rank in the plain order of the same pool."]
    score: Annotated[float | None, "None by the row of a group that one is not in."]
    terms: Annotated[
        list[TermShareJson],
        "Its terms in the profile or row, largest share first; of the row of a group that one is "
        "not in only own terms.",
    ]
    added: Annotated[list[AddedShareJson], "What else the rule evidence adds."]
    bm25: Bm25Json
    without: Annotated[WithoutJson | None, "None for a document that did not move."]


class OriginJson(TypedDict):
    """Where a term came from."""

    times: Annotated[Count, "Searches of this person that have the term."]
    first: Annotated[int | None, "Time of the first, in seconds since 1970; none if not known."]
    last: Annotated[int | None, "Time of the last, in seconds since 1970; none if not known."]


class OwnTermJson(TypedDict):
    """A term of an own profile."""

    term: str
    weight: float
    origin: Annotated[OriginJson | None, "None where no origin was kept."]
    released: Annotated[float | None, "Its weight in the group’s row; none if it is not in it."]
    members: Annotated[Count | None, "Members of the group who have it; none where rows hide this."]
    people: Annotated[Place | None, "How many of all people have it; none where rows hide this."]


class StandingJson(TypedDict):
    """Where a person stands."""

    state: Annotated[str, Rule("enum", STATES)]
    sentence: Annotated[str, "What it means for them, as the page says it."]


class OwnProfileJson(TypedDict):
    """What the system knows of a person, and the row that serves them."""

    standing: StandingJson
    terms: Annotated[list[OwnTermJson], "All terms, heaviest first."]
    row: Annotated[SharedRowJson | None, "None for a person without a row in the release."]
    worst_linkability: Annotated[
        Share | None,
        "The largest share of the group’s members who have the same term: the chance that an "
        "outsider with knowledge of the group names this term of a member rightly. None for a "
        "person in no group; 1 where a row is of one person.",
    ]


class ChoicesJson(TypedDict):
    """The choices of a person."""

    paused: Annotated[bool, "Whether searches are plain and nothing is kept."]
    remember: Annotated[bool, "Whether searches are kept, for this person’s own list only."]


class GatheredTermJson(TypedDict):
    """A term that came up in searches which fed the profile."""

    term: str
    times: Annotated[Place, "How often it came up."]


class GrowthJson(TypedDict):
    """Whether searches feed the profile, and what they added to it."""

    on: Annotated[bool, "Whether searches feed the profile."]
    fault: Annotated[str | None, "Why searches can’t feed profiles here; none if they can."]
    terms: Annotated[list[GatheredTermJson], "What was gathered, the first first."]


class GrowthChoiceJson(TypedDict):
    """Whether searches shall feed the profile."""

    on: Annotated[bool, "Whether searches feed the profile from now on."]
    keep: Annotated[bool, "Whether what was gathered so far stays; false removes it."]


class TermsToForgetJson(TypedDict):
    """Own terms to remove from the profile."""

    terms: Annotated[list[Text], Rule("minItems", 1), Rule("maxItems", MOST_TERMS)]


class ForgottenJson(TypedDict):
    """What was done to remove a person, or terms of theirs, from the workspace."""

    changed: Annotated[Count, "Files that were written again."]
    removed: Annotated[Count, "Files that were removed."]
    rows_withdrawn: Annotated[Count, "Rows that were withdrawn; all others are as they were."]
    releases_dropped: Annotated[Count, "Releases that were removed, as no row was left."]
    left: Annotated[
        Count,
        "Files that can’t be changed and may hold something of the person; the server logs them.",
    ]


class GroupSummaryJson(TypedDict):
    """A group of people who share a row; figures are none if withheld or not measurable."""

    row: Annotated[str, "The row’s name."]
    people: Annotated[Place, ALONE]
    terms: Annotated[Count | None, "Released terms."]
    average: Annotated[
        float | None, "The mean number of terms of a profile, over the number of the group’s terms."
    ]
    share: Annotated[float | None, "The share of members who have a term, averaged over the terms."]
    worst: Annotated[float | None, "The same share for the term that most members have."]
    belief: Annotated[float | None, "The largest change of belief about a term."]
    rarest: Annotated[
        int | None,
        "In a release of single-person rows: how many rows have the rarest term of this row. Such "
        "rows have no figures of groups.",
    ]


class GroupListJson(TypedDict):
    """A page of the groups of a release."""

    groups: Annotated[Count, "How many groups there are."]
    page: Place
    pages: Place
    rows: list[GroupSummaryJson]


class WeighedJson(TypedDict):
    """A released term."""

    term: str
    weight: float


class GroupJson(TypedDict):
    """A group without its members."""

    summary: GroupSummaryJson
    told: Annotated[
        bool,
        "Whether its terms may be shown: not of one real person, nor before publication.",
    ]
    page: Place
    pages: Annotated[Place, "Pages of terms."]
    terms: Annotated[list[WeighedJson], "Released terms, heaviest first."]


class MeanJson(TypedDict):
    """Mean average precision of all searches in one mode over one pool."""

    mode: str
    pool: Place
    rule: Annotated[str, "The rule by which the interests ordered the pool."]
    corpus: Annotated[str, "The name of the index."]
    release: Annotated[str, "The name of the release."]
    searches: Place
    ap: Share
    ap_at_10: Share
    ap_c: float | None
    half_width: Annotated[
        float | None,
        "Half the 95 % interval of the mean AP, over people as far as they are known since the "
        "server’s start; none for fewer than 2, or 20 where real people see it.",
    ]
    plain: Annotated[Share | None, "Share that the rule evidence left plain; none by cosine."]


class LoggedJson(TypedDict):
    """One search in one mode."""

    search: Annotated[Count, "The number of the search, the same for all its modes."]
    at: Annotated[int, "Seconds since 1970; where people are real, the start of that day (UTC)."]
    mode: str
    pool: Place
    found: Annotated[Count, "Documents in the pool."]
    rule: Annotated[str, "The rule by which the interests ordered the pool."]
    corpus: Annotated[str, "The name of the index."]
    release: Annotated[str, "The name of the release."]
    ap: Share
    ap_at_10: Share
    ap_c: float | None


class LogJson(TypedDict):
    """The log of average precision."""

    means: list[MeanJson]
    age: Annotated[Count, "Seconds since the means were computed; 0 if no search came since."]
    page: Place
    recent: Annotated[list[LoggedJson], "The latest searches, newest first, at most 100 a page."]


class CandidateJson(CardJson):
    """A document with its vector, which a device orders."""

    plain_rank: Annotated[Place, "Its rank in the plain order of the whole pool."]
    score: Annotated[float, "BM25."]
    terms: Annotated[list[Count], "Its terms, by their places in vocabulary."]
    counts: Annotated[list[Place], "How often it has each of these terms."]
    norm: Annotated[float, Rule("minimum", 0), "The length of its vector."]
    log: Annotated[float | None, "The logarithm of its BM25; none by cosine."]
    near: Annotated[list[Count], "Documents that support it, by their places here; none by cosine."]
    alike: Annotated[list[Share], "How alike each of these is to it."]


class CareJson(TypedDict):
    """How far evidence moves a result."""

    beta: Annotated[float, "How much evidence counts."]
    start: Annotated[Share, "The standing from which on it counts."]


class CandidatesJson(TypedDict):
    """Documents for a query with their vectors; the profile that orders them stays elsewhere."""

    query: Query
    pool: Annotated[Place, "How many documents were requested."]
    operators: Operators
    ranking: Ranking
    found: Annotated[Count, "How many documents are in the pool; a row may have kept fewer."]
    milliseconds: Count
    notices: Notices
    row: Annotated[SharedRowJson | None, "The row that chose the documents; none if no row did."]
    care: Annotated[CareJson | None, "None by cosine."]
    closeness: Annotated[
        list[float],
        "By evidence, how close each published row is to this pool, ascending. Empty where a "
        "device compares its interests with other searches instead.",
    ]
    vocabulary: Annotated[list[str], "The terms of all these documents."]
    weights: Annotated[
        list[float], "For each of these terms, ln(1 + documents of the index / those with it)."
    ]
    documents: Annotated[list[CandidateJson], "In the plain order."]


class ReferenceJson(TypedDict):
    """What the rule evidence compares with: a sample of the documents, and what is common."""

    vocabulary: Annotated[list[str], "The terms of the sampled documents."]
    weights: Annotated[list[float], "By what a count of each of these terms is multiplied."]
    ends: Annotated[list[Count], "Where the part of each document in the next two lists ends."]
    terms: Annotated[list[Count], "The documents’ terms, by their places in vocabulary."]
    counts: Annotated[list[Place], "How often a document has each of these terms."]
    norms: Annotated[list[float], "The length of each document’s vector."]
    common: Annotated[list[str], "Terms that are common."]
    shares: Annotated[
        list[float],
        "How common each of these is: its mean weight in the published rows, or its share of the "
        "sampled documents.",
    ]
    rows: Annotated[bool, "Whether published rows say what is common."]
    searches: Annotated[
        list[list[Count]], "Without rows: documents that other searches find in the sample."
    ]


class VerdictsJson(TypedDict):
    """How many claims got which verdict."""

    holds: Count
    fails: Count
    undecided: Count


class ExperimentSummaryJson(TypedDict):
    """A run of an experiment."""

    experiment: Annotated[str, "The run, by the name of its folder."]
    title: str
    finished: Annotated[str, "Day and time in UTC; empty if not known."]
    people: Annotated[Count | None, "People who searched; none if not known."]
    queries: Annotated[Count | None, "Held-out queries; none if not known."]
    units: Annotated[Count | None, "Releases that were made; none if not known."]
    rows: Annotated[Count | None, "Rows in its folder, which the server never sends."]
    claims: Annotated[VerdictsJson | None, "None where the report can’t be shown."]
    faults: Annotated[list[str], "Sentences on what is missing or damaged in the folder."]


class ExperimentListJson(TypedDict):
    """The runs of experiments, latest first."""

    experiments: list[ExperimentSummaryJson]


class ClaimMarginJson(TypedDict):
    """How far the data lie on a claim's side of what decides it; below 0, on the other side."""

    value: float
    low: float | None
    high: float | None


class ExperimentClaimJson(TypedDict):
    """A claim, and what the data say about it."""

    name: Annotated[str, "The same in every run, whatever the finding."]
    text: str
    source: Annotated[str, "Where the claim is made."]
    finding: Annotated[str, "What was measured, in a sentence."]
    verdict: Annotated[str, Rule("enum", VERDICTS)]
    p: Annotated[float | None, "P-value of the deciding test, corrected by Holm; none without."]
    margin: Annotated[ClaimMarginJson | None, "Of the deciding step; none of what is counted."]


class ExperimentPointJson(TypedDict):
    """A mean with its 95 % interval."""

    x: Annotated[str | float, "A number, or the name of a place on the axis."]
    value: float
    low: float | None
    high: float | None
    about: Annotated[str, "In a plane: what it stands for, in sentences."]
    release: Annotated[str, "In a plane: its method and parameters."]
    dominated: Annotated[bool, "In a plane: another point is as good in both, better in one."]


class ExperimentLineJson(TypedDict):
    """A series of points."""

    name: str
    points: list[ExperimentPointJson]


class ExperimentPartJson(TypedDict):
    """A figure or a table."""

    name: str
    title: str
    about: str


class ExperimentFigureJson(ExperimentPartJson):
    """What a figure shows, as numbers."""

    across: Annotated[str, "The label of the horizontal axis."]
    up: Annotated[str, "The label of the vertical axis."]
    kind: str
    ends: Annotated[list[str], "In a plane: what its left, right, lower and upper end stand for."]
    lines: list[ExperimentLineJson]
    files: Annotated[list[str], "Addresses of its files, as SVG, PNG or CSV."]


class ExperimentTableJson(ExperimentPartJson):
    """A table of texts; the first column heads its rows."""

    head: list[str]
    rows: list[list[str]]


class ExperimentJson(TypedDict):
    """All that a run reports, without any person’s row."""

    summary: ExperimentSummaryJson
    notes: list[str]
    claims: list[ExperimentClaimJson]
    figures: list[ExperimentFigureJson]
    tables: list[ExperimentTableJson]
