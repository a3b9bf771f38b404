"""Releases: made, judged, measured, attacked, written and published [I/O]."""
# What only the owner may see stays in `people` and `made`; nothing here prints a user's name.

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.attacks import Attacked, run_attacks, usual_known
from anonymizer.measures import all_measures
from anonymizer.measures.facts import facts
from anonymizer.measures.measurement import summarize
from anonymizer.methods import METHODS, method_of, promise_of
from anonymizer.methods.method import OFF, Inputs
from anonymizer.model import Profiles, Release, ReleasedRow
from anonymizer.promise import UNKNOWN
from anonymizer.similarity.documents import Documents
from anonymizer.storage.foreign import is_foreign, read_any, refuse_other_people
from anonymizer.storage.profiles import fingerprint, write_profiles
from anonymizer.storage.releases import read_input_hash, write_release
from anonymizer.terms.stemming import STEMMED
from anonymizer.terms.wordnet import open_wordnet
from anonymizer.verification import judge
from search_app import console
from search_app.errors import UsageError
from search_app.settings import load_settings
from search_app.tasks.releasing import contexts, release_of, takes_log, whole_log
from search_app.workspace.ledger import publish_noted

from .checking import Place, place_of, refuse_other_kind, whole
from .people import Log, People, profiles
from .tables import html_table, table

if TYPE_CHECKING:
    from anonymizer.verification.finding import Verdict

    from .searching import SearchIndex

_SHOWN = ("p", "k", "m", "epsilon")  # parameters that say how strong a promise is
_SAMPLE = 2_000  # profiles that are taken for documents


@dataclass(frozen=True, repr=False, eq=False)
class OwnedRelease:
    """A release with the people it was made of, as only its owner has it."""

    people: People
    made: Release = field(repr=False)
    seed: int = 0

    @property
    def method(self) -> str:
        """Return the name of the method that made it."""
        return self.made.method

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the method's parameters, also those that nobody set."""
        return dict(self.made.parameters)

    @property
    def facts(self) -> dict[str, Any]:
        """Return the figures that the release states of itself."""
        return dict(self.made.facts)

    def row_for(self, user: str) -> ReleasedRow:
        """Return the row that serves `user`, with its name, its number of users and weights."""
        refuse_other_kind("user", user, str)
        return self.made.row_for(user)

    def verify(self) -> Verdict:
        """Return the judge's verdict: whether every claim holds, and what was found on each."""
        with self._on_disk() as (folder, profiles):
            return judge.verify(folder, profiles)

    def measure(self) -> Any:
        """Return a table with a summary of each measure over users, groups or the release."""
        slots = bool(self.made.slots) and not self.made.taxonomy
        wordnet = open_wordnet(load_settings().cache) if slots else None
        rows = all_measures(self.people.matrix, self.made, wordnet=wordnet)
        summaries = summarize(row for row in rows if not row.name.endswith("%"))  # quantiles
        return table(summary._asdict() for summary in summaries)

    def attack(
        self,
        *names: str,
        known: Iterable[int] | None = None,
        victims: int = 500,
        seed: int = 0,
        second: OwnedRelease | None = None,
    ) -> Any:
        """Return a table of what the attacks `names` get, or all that have their input.

        The attacker knows `known` terms of a victim. `second` is another release of these people.
        """
        if second is not None:
            refuse_other_kind("second", second, OwnedRelease)
        if known is not None:
            refuse_other_kind("known", known, Iterable)
        target = Attacked(
            self.people.matrix,
            self.made,
            second.made if second else None,
            known=usual_known(self.people.matrix)
            if known is None
            else tuple(whole("known", count, 1) for count in known),
            victims=whole("victims", victims, 1),
            seed=whole("seed", seed),
        )
        with console.progress("attacks") as progress:
            results = run_attacks(target, names, progress)
        return table({**one._asdict(), "beats": one.beats} for one in results)

    def save(self, folder: Place) -> Path:
        """Write the release to `folder`, as `veilsearch anonymize` does; return this folder."""
        place = place_of(folder)
        write_release(
            self.made,
            place,
            seed=self.seed,
            input_hash=fingerprint(self.people.matrix),
            profiles=self.people.choices,
        )
        return place

    def publish(self, output: Place, *, ledger: Place, second: bool = False) -> Verdict:
        """Return the verdict; if it holds, write the public part of the release to `output`.

        The `ledger` knows what was published before. People who stand in other rows there are
        refused, unless a `second` release is accepted.
        """
        places = place_of(output), [place_of(ledger)]
        with self._on_disk() as (folder, profiles):
            return publish_noted(folder, profiles, *places, second=second)

    @contextmanager
    def _on_disk(self) -> Iterator[tuple[Path, Path]]:
        """Give the paths of the release and of its profiles, as long as the judge reads them."""
        with TemporaryDirectory(prefix="veilsearch-") as name:
            # The judge reads files only, and a release in memory has none.
            folder = self.save(Path(name) / "release")
            if takes_log(self.method) and self.people.log:
                yield folder, self._file_of(self.people.log)
                return
            profiles = Path(name) / "profiles.jsonl"
            write_profiles(self.people.matrix, profiles)
            yield folder, profiles

    def _file_of(self, log: Log) -> Path:
        if len(log.files) > 1:
            raise UsageError(f"{self.method} is judged by one log file, not by {len(log.files)}")
        return log.files[0]

    def __repr__(self) -> str:
        users, rows = len(self.made.users), self.made.groups
        return f"<OwnedRelease: {users:,} users in {rows:,} rows, {self._by}>"

    @property
    def _by(self) -> str:
        values = ((name, self.parameters.get(name)) for name in _SHOWN)
        shown = [f"{name}={value}" for name, value in values if value is not None]
        return " ".join([self.method.removesuffix("/"), *shown])

    def _repr_html_(self) -> str:
        facts = [{"fact": name, "value": value} for name, value in self.facts.items()]
        return f"<p>{len(self.made.users):,} users, {escape(self._by)}</p>{html_table(facts)}"


def methods() -> dict[str, dict[str, Any]]:
    """Return the methods by name, each with its parameters and their defaults."""
    return {name: dict(method.options().parameters()) for name, method in METHODS.items()}


def anonymize(
    people: People | Log,
    method: str,
    *,
    seed: int = 0,
    index: SearchIndex | None = None,
    **parameters: Any,
) -> OwnedRelease:
    """Return the release that `method` makes of `people`, or of a log if it takes one.

    `parameters` are those of the method. Methods that compare people by documents take them from
    `index`, or else take the people's own profiles for documents.
    """
    refuse_other_kind("method", method, str)
    by = method_of(method)
    if not isinstance(people, Log if takes_log(method) else People):
        needed = "a log: vs.read_log(...)" if takes_log(method) else "people: vs.profiles(...)"
        raise UsageError(f"{method} takes {needed}, not {type(people).__name__}")
    values = by.read({name: _text(value) for name, value in parameters.items()})
    if index is not None:
        from .searching import SearchIndex

        refuse_other_kind("index", index, SearchIndex)
    settings = load_settings()
    log = None
    if isinstance(people, Log):
        log = people.events
        made_of = whole_log(log, settings)
        people = People(made_of.profiles, made_of.choices, (), people)
    queries = None
    if people.log is not None:
        queries = partial(contexts, people.log.events, people.choices, settings)
    with console.progress(method, len(people)) as progress:
        stems = people.choices.get("terms") in STEMMED
        wordnet = None if stems else open_wordnet(settings.cache)
        sample = None if index is not None else _as_documents(people.matrix)
        inputs = Inputs(
            people.matrix, whole("seed", seed), progress, wordnet, log=log, sample=sample
        )
        forward = (lambda: index.forward) if index is not None else _no_documents
        made = release_of(method, inputs, values, forward, queries)
    made = replace(made, facts=facts(people.matrix, made))
    return OwnedRelease(people, made, seed)


def open_release(folder: Place, people: People) -> OwnedRelease:
    """Return the release in `folder`, which was made of `people`, by our methods or by any code."""
    place = place_of(folder)
    refuse_other_kind("people", people, People)
    read = read_any(place, promise_of)
    if is_foreign(place):
        refuse_other_people(read, people.matrix)
    elif read_input_hash(place) != fingerprint(people.matrix):
        raise UsageError(f"{place} was made from other profiles")
    return OwnedRelease(people, read)


def given_rows(
    people: People,
    rows: Mapping[str, Mapping[str, float]],
    row_of: Mapping[str, str],
    name: str = "given",
) -> OwnedRelease:
    """Return a release of your own `rows`; `row_of` says which row each of `people` has.

    It can be measured, attacked, searched and evaluated. It promises nothing, so nothing verifies.
    """
    refuse_other_kind("people", people, People)
    refuse_other_kind("rows", rows, Mapping)
    refuse_other_kind("row_of", row_of, Mapping)
    refuse_other_kind("name", name, str)
    if unknown := [user for user in row_of if user not in people]:
        raise UsageError(f"row_of names {len(unknown)} people who have no profile")
    places = {row: place for place, row in enumerate(rows)}
    # A row may be called like a person, so no message names one.
    if missing := set(map(str, row_of.values())) ^ places.keys():
        raise UsageError(f"rows and row_of must name the same rows; {len(missing)} in one only")
    # Nobody knows how these rows were made, so they get the promise of nothing.
    of_user = np.array([places[row] for row in row_of.values()], dtype=np.int64)
    made = Release(profiles(rows).matrix, tuple(row_of), of_user, f"{name}/", {}, promise=UNKNOWN)
    return OwnedRelease(people, made)


def _text(value: object) -> str:
    """Return `value` as `--set` reads it."""
    # Methods read texts, so that one set of rules and messages serves `--set` and Python.
    if value is None:
        return OFF
    return str(value).lower() if isinstance(value, bool) else str(value)


def _as_documents(profiles: Profiles) -> Documents:
    """Return some of `profiles` as documents; promises don't depend on which these are."""
    # Evenly spaced, as neighbours in a log may be alike.
    some = profiles.weights[:: -(-len(profiles) // _SAMPLE)]
    return Documents(some, profiles.terms)


def _no_documents() -> Any:
    raise UsageError("this option looks at documents: give index=vs.open_index(...)")
