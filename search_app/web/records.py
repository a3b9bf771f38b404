"""The records that the API answers with and takes: their JSON Schema is made from these."""

from __future__ import annotations

from typing import Annotated, TypedDict

from .schema import Rule

LONGEST_TERM = 1000
MOST_TERMS = 5000

Text = Annotated[str, Rule("minLength", 1), Rule("maxLength", LONGEST_TERM)]
Count = Annotated[int, Rule("minimum", 0)]
Place = Annotated[int, Rule("minimum", 1)]
ALONE = (
    "How many people share it. 1: it is one person’s profile, it hides nothing; in a release by "
    "km-anonymity every row is of 1, and is what a deletion has left of their terms."
)
Share = Annotated[float, Rule("minimum", 0), Rule("maximum", 1)]


class Fault(TypedDict):
    """What went wrong."""

    status: Annotated[int, "The HTTP status, again."]
    message: Annotated[str, "One plain sentence: what came, what is allowed, what to do."]


class Refusal(TypedDict):
    """The answer to a request that is not done."""

    error: Fault


class Health(TypedDict):
    """Whether searching works."""

    status: Annotated[str, Rule("enum", ("ok", "failing"))]
    version: Annotated[str, "The version of veilsearch."]
    index: Annotated[str, "The index by name and number."]
    release: Annotated[
        str, "The release by method, p or else k and m, and the beginning of its hash."
    ]


class Mark(TypedDict):
    """A word of the query in a snippet, by its places; characters are Unicode code points."""

    start: Annotated[Count, "The place of its first character, from 0."]
    end: Annotated[Count, "The place behind its last character."]


class Hit(TypedDict):
    """A document at its rank."""

    rank: Annotated[Place, "Its rank here, from 1."]
    plain_rank: Annotated[Place, "Its rank in the plain order of the same pool."]
    score: Annotated[
        float,
        "What it is ordered by: BM25 in mode none, else the mix of its likeness to the profile "
        "or row with BM25.",
    ]
    id: Annotated[str, "The document’s id."]
    title: str
    url: Annotated[str, "Its address; empty where it has none that is safe to link to."]
    source: Annotated[str, "Where it is from, as the pages show it."]
    snippet: Annotated[str, "The part of its text that best shows why it was found."]
    marks: Annotated[list[Mark], "The words of the query in the snippet."]


class Gone(TypedDict):
    """A document of the first plain ranks that this ranking puts below the ranks shown."""

    id: Annotated[str, "The document’s id."]
    title: str
    plain_rank: Annotated[Place, "Its rank in the plain order."]
    rank: Annotated[Place, "Its rank here."]


class Precision(TypedDict):
    """How close a ranking comes to the own-profile order over the same pool."""

    ap: Annotated[Share, "Average precision; the first 30 of the own-profile order are relevant."]
    ap_at_10: Annotated[Share, "Mean precision at the ranks of the first 10 relevant documents."]
    ap_at_20: Annotated[Share, "The same for the first 20."]
    ap_c: Annotated[
        float | None,
        "AP as if 0 were a random order and 1 the own profile’s; none where the pool has no more "
        "documents than are relevant.",
    ]
    pool: Annotated[Place, "The documents in the pool: AP depends mostly on it."]


class Agreement(TypedDict):
    """How far a whole order of the pool agrees with the own-profile order."""

    tau: Annotated[
        float | None,
        Rule("minimum", -1),
        Rule("maximum", 1),
        "Kendall’s tau; none where there is no pair of documents.",
    ]
    rbo: Annotated[float, "Rank-biased overlap, extrapolated, with p = 0.9."]
    overlap: Annotated[Count, "Documents that are among the first of both orders."]
    first: Annotated[Count, "How many the first are: 10, or the whole pool."]


class SharedRow(TypedDict):
    """The released row that ordered the pool."""

    name: str
    users: Annotated[Place, ALONE]


class Sent(TypedDict):
    """All that the engine was told for a ranking, by its canonical bytes; /me shows them."""

    bytes: Annotated[Count, "How many bytes these are."]
    sha256: Annotated[
        str,
        Rule("pattern", "^[0-9a-f]{64}$"),
        "Their SHA-256: the same for all who share a row and ask the same.",
    ]


class SearchAnswer(TypedDict):
    """A page of one ranking."""

    query: Annotated[str, "What was searched for: at most 2,000 characters of what was asked."]
    mode: Annotated[str, "The mode that served: none if the one asked for can’t; see notices."]
    pool: Annotated[Place, "How many documents were to be found and ordered."]
    mix: Annotated[Share, "What the profile or row counted beside BM25."]
    operators: Annotated[bool, "Whether quotes, + and - meant something."]
    page: Place
    pages: Annotated[Count, "How many pages of the ranking there are."]
    found: Annotated[Count, "How many documents the pool has."]
    milliseconds: Count
    notices: Annotated[list[str], "What a person should be told, each in a sentence."]
    precision: Annotated[Precision | None, "None where there is no profile to judge by."]
    row: Annotated[SharedRow | None, "None where no released row served."]
    sent: Sent
    results: list[Hit]


class Column(TypedDict):
    """One mode’s ranking."""

    mode: str
    name: Annotated[str, "The mode as the pages name it."]
    sees: Annotated[str, "What this ranking sees of a person."]
    precision: Annotated[Precision | None, "None where there is no profile to judge by."]
    agreement: Annotated[Agreement | None, "None where there is no profile to judge by."]
    row: Annotated[SharedRow | None, "None where no released row served."]
    sent: Sent
    results: Annotated[list[Hit], "Its first documents."]
    gone: list[Gone]


class Comparison(TypedDict):
    """All modes over one pool, side by side."""

    query: Annotated[str, "What was searched for: at most 2,000 characters of what was asked."]
    pool: Annotated[Place, "How many documents were to be found and ordered."]
    mix: Annotated[Share, "What the profile or row counted beside BM25."]
    operators: Annotated[bool, "Whether quotes, + and - meant something."]
    found: Annotated[Count, "How many documents the pool has."]
    milliseconds: Count
    notices: Annotated[list[str], "What a person should be told, each in a sentence."]
    columns: list[Column]


class TermShare(TypedDict):
    """What a term of the profile or row gives to a score."""

    term: str
    weight: Annotated[float, "Its weight in the profile or row."]
    share: Annotated[float, "What it gives: all shares and BM25’s sum to the score."]


class Bm25Part(TypedDict):
    """What a word of the query gives to BM25."""

    field: Annotated[str, "Where the word is: contents, or title."]
    term: str
    score: float


class Bm25(TypedDict):
    """What the query gives, by Lucene’s BM25."""

    score: Annotated[float, "BM25 of the document: the sum of its parts."]
    share: Annotated[float, "What that gives to the score shown, unless the mode is none."]
    parts: list[Bm25Part]


class Without(TypedDict):
    """Terms without which the document would not have moved."""

    terms: list[str]
    rank: Annotated[Place, "The rank it would have."]
    smallest: Annotated[bool, "Whether no smaller set would do; else that was not ruled out."]


class Explanation(TypedDict):
    """Why a document stands where it stands."""

    mode: Annotated[str, "The mode that served: none if the one asked for can’t; see notices."]
    notices: Annotated[list[str], "What a person should be told, each in a sentence."]
    sentence: Annotated[str, "The explanation in one plain sentence."]
    id: Annotated[str, "The document’s id."]
    title: str
    kind: Annotated[str, Rule("enum", ("none", "own", "group"))]
    row: Annotated[str | None, "The released row that served; none where none did."]
    users: Annotated[int | None, "How many people that row stands for."]
    found: Annotated[Count, "How many documents the pool has."]
    mix: Annotated[Share, "What the profile or row counts beside BM25."]
    rank: Annotated[Place, "Its rank here, from 1."]
    plain_rank: Annotated[Place, "Its rank in the plain order of the same pool."]
    score: float
    terms: Annotated[list[TermShare], "Terms of the profile or row that it has, largest first."]
    bm25: Bm25
    without: Annotated[Without | None, "None for a document that has not moved."]


class Origin(TypedDict):
    """Where a term came from."""

    times: Annotated[Count, "Searches of this person that have the term."]
    first: Annotated[int | None, "When the first was, in seconds since 1970; none if not known."]
    last: Annotated[int | None, "When the last was, in seconds since 1970; none if not known."]


class OwnTerm(TypedDict):
    """A term of an own profile."""

    term: str
    weight: float
    origin: Annotated[Origin | None, "None where nobody kept where it came from."]
    released: Annotated[float | None, "Its weight in the group’s row; none if it is not in it."]
    members: Annotated[Count | None, "People of the group who have it; none where rows hide it."]
    people: Annotated[Place | None, "People of all who have it; 1: nobody else. None as before."]


class OwnProfile(TypedDict):
    """What the system knows of a person, and the row that stands for them."""

    terms: Annotated[list[OwnTerm], "All terms, heaviest first."]
    row: Annotated[SharedRow | None, "None for who has no row in the release."]
    worst_linkability: Annotated[
        Share | None,
        "The largest share of the group’s members who have the same term: how surely an outsider "
        "who knows the group guesses it of one of them. None for who is in no group; 1 where a "
        "row is of one person.",
    ]


class Choices(TypedDict):
    """What a person has chosen."""

    paused: Annotated[bool, "Searches are plain and nothing is kept."]
    remember: Annotated[bool, "Searches are kept, for this person’s own list only."]


class TermsToForget(TypedDict):
    """Own terms to remove from the profile."""

    terms: Annotated[list[Text], Rule("minItems", 1), Rule("maxItems", MOST_TERMS)]


class Forgotten(TypedDict):
    """What was done to remove a person, or terms of theirs, from the workspace."""

    changed: Annotated[Count, "Files that were written anew."]
    removed: Annotated[Count, "Files that were removed."]
    release_made: Annotated[bool, "Whether the groups were made anew."]
    releases_dropped: Annotated[Count, "Releases that were removed."]
    left: Annotated[
        Count, "Files that could not be changed and still name the person; the operator is told."
    ]


class GroupSummary(TypedDict):
    """A group of people who share a row; what may not be told, or can’t be measured, is none."""

    row: Annotated[str, "The row’s name."]
    people: Annotated[Place, ALONE]
    terms: Annotated[Count | None, "Released terms."]
    average: Annotated[
        float | None, "The mean size of all profiles over the number of the group’s terms."
    ]
    share: Annotated[float | None, "Members who have a term, as a share, mean over the terms."]
    worst: Annotated[float | None, "The same for the term that most members have."]
    belief: Annotated[float | None, "The largest change of belief about a term."]
    rarest: Annotated[
        int | None,
        "Where each row is what is left of one person’s terms: the rows that have its rarest term. "
        "Such rows have no figures of groups.",
    ]


class GroupList(TypedDict):
    """A page of the groups of a release."""

    groups: Annotated[Count, "How many groups there are."]
    page: Place
    pages: Place
    rows: list[GroupSummary]


class Weighed(TypedDict):
    """A released term."""

    term: str
    weight: float


class Group(TypedDict):
    """A group without its members."""

    summary: GroupSummary
    told: Annotated[
        bool,
        "Whether its terms may be told: not of one real person, nor before they are published.",
    ]
    page: Place
    pages: Annotated[Place, "Pages of terms."]
    terms: Annotated[list[Weighed], "Released terms, heaviest first."]


class Mean(TypedDict):
    """Mean average precision of all searches in one mode over one pool."""

    mode: str
    pool: Place
    mix: Share
    corpus: Annotated[str, "The index by name."]
    release: Annotated[str, "The release by name."]
    searches: Place
    ap: Share
    ap_at_10: Share
    ap_c: float | None
    half_width: Annotated[
        float | None,
        "Half the 95 % interval of the mean AP, as if searches were independent; none for one.",
    ]


class Logged(TypedDict):
    """One search in one mode."""

    search: Annotated[Count, "The search by its number, which its modes share."]
    at: Annotated[int, "Seconds since 1970; where people are real, when that day began (UTC)."]
    mode: str
    pool: Place
    found: Annotated[Count, "Documents in the pool."]
    mix: Share
    corpus: Annotated[str, "The index by name."]
    release: Annotated[str, "The release by name."]
    ap: Share
    ap_at_10: Share
    ap_c: float | None


class Log(TypedDict):
    """The log of average precision."""

    means: list[Mean]
    age: Annotated[Count, "Seconds since the means were counted; 0 if no search came since."]
    page: Place
    recent: Annotated[list[Logged], "The latest searches, newest first, at most 100 a page."]
