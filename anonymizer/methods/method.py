"""What a method is: its promise, its options, what it needs and how it runs, as one record."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, asdict, dataclass, field, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, get_args, get_type_hints

import numpy as np

from ..backends.everybody import Crowd, Dealt, Made, Measure, part_seed
from ..deletion.histories import OnPass, unheard
from ..errors import BadParameter
from ..model import SHORT, Profiles, Progress, QueryLog, Release, is_short, silent
from ..promise import UNKNOWN, Promise

if TYPE_CHECKING:
    from ..marketing.table import MarketingTable
    from ..rows.typical import SlotRows
    from ..similarity.cooccurrence import Network
    from ..similarity.documents import Documents
    from ..terms.taxonomy import Taxonomy
    from ..terms.wordnet import WordNet

Need = Literal["wordnet", "sample", "links", "table", "taxonomy", "key", "log"]
Value = str | int | float | None
Parameters = Mapping[str, Value]
T = TypeVar("T", bound=Value)
S = TypeVar("S")

OFF = "off"  # as `--set` writes None
_KINDS = {int: "a whole number", float: "a number"}
# Stricter than int() and float(), which take digits of any script, underscores and "nan".
_SPELT = {
    int: re.compile(r"-?[0-9]+"),
    float: re.compile(r"-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"),
}
SWITCH = ("true", "false")
_MOST_DOCUMENTS = 5_000  # with more, finding the axes of similarity takes minutes
_MOST_STEPS = 10**11
_NOUNS = "wordnet"  # the default taxonomy
_WIDTH, _COLUMN = 100, 23  # of the help; its explanations begin at _COLUMN


@dataclass(frozen=True)
class Inputs:
    """What a release is made from: profiles, and what else the method's `needs` name."""

    profiles: Profiles
    seed: int = 0  # decides every random choice
    progress: Progress = silent
    wordnet: WordNet | None = None
    links: Network | None = None  # terms that go together, learnt elsewhere
    sample: Documents | None = None  # of the index's documents
    table: MarketingTable | None = None
    taxonomy: Taxonomy | None = None  # one that was given, in place of WordNet's nouns
    key: bytes | None = field(default=None, repr=False)
    log: QueryLog | None = field(default=None, repr=False)  # what the profiles were made from
    on_pass: OnPass = unheard  # called at the end of each pass of a method that has passes
    # What a method keeps for the next release, if that is of the same inputs; None: nothing.
    kept: dict[Any, Any] | None = field(default=None, repr=False)
    everybody: Crowd | None = None  # if the profiles are a part of it; None: they are all

    @cached_property
    def rng(self) -> np.random.Generator:
        """Return the one random generator of a run."""
        return np.random.default_rng(self.seed)

    @property
    def people(self) -> int:
        """Return how many users the release is made of."""
        return self.everybody.users if self.everybody else len(self.profiles)

    @cached_property
    def nodes(self) -> Taxonomy:
        """Return the taxonomy that was given, or the nouns of WordNet."""
        from ..terms.taxonomy import noun_taxonomy

        if self.taxonomy is not None:
            return self.taxonomy
        if self.wordnet is None:
            raise BadParameter("taxonomy=wordnet needs WordNet, and none was given; name a file")
        return noun_taxonomy(self.wordnet)


@dataclass(frozen=True)
class _OptionHelp:
    """What the help says about an option, and which values it may have."""

    text: str
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    shown: str = ""  # in place of the default

    def fault(self, name: str, value: Value, *, optional: bool) -> str:
        """Return why option `name` may not have `value`, or "" if it may."""
        or_off = f", or {OFF}" * optional
        if self.choices:
            listed, allowed = f"one of {', '.join(self.choices)}", value in self.choices
            if self.choices == SWITCH:
                listed = " or ".join(SWITCH)
        elif self.least is None or value is None:
            return ""
        elif self.most is None:
            listed = f"at least {self.least}{or_off}" if optional else f"{self.least} or more"
            allowed = float(value) >= self.least
        else:
            listed = f"from {self.least} to {self.most}{or_off}"
            allowed = self.least <= float(value) <= self.most
        return "" if allowed else f"{name}={value} must be {listed}"


def option(
    default: T,
    text: str,
    *,
    choices: tuple[str, ...] = (),
    least: int | None = None,
    most: int | None = None,
    shown: str = "",
) -> T:
    """Return a field for an option; `--set`, `--help` (with `text`) and release.json know it."""
    return field(default=default, metadata={"help": _OptionHelp(text, choices, least, most, shown)})


def sampled() -> int:
    """Return the option for the size of the sample of documents that compares people."""
    text = "sample of the index's documents; people are similar who score these alike"
    return option(2000, text, least=2, most=_MOST_DOCUMENTS)


def exchanges(more: str) -> int | None:
    """Return the option for how long groups are annealed; `more` continues its help."""
    text = f"exchanges tried while the groups are annealed{more}"
    return option(None, text, least=1, most=_MOST_STEPS)


def taxonomies() -> str:
    """Return the option for the taxonomy that says which terms are close."""
    return option(_NOUNS, "the nouns of WordNet; or a file of lines: child, tab, parent")


def taxonomy_faults(named: str, inputs: Inputs) -> list[str]:
    """Return what is wrong with a taxonomy `named` that `inputs` lack."""
    lacks = named != _NOUNS and inputs.taxonomy is None
    return [f"taxonomy={named} needs that file, and none was given"] * lacks


def rare(default: int = 1) -> int:
    """Return the option, by default `default`, for how many people must have a row's term."""
    text = "a term that fewer people have, counted over all groups, is in no row"
    return option(default, text, least=1)


@dataclass(frozen=True)
class Options:
    """The options of a method; where None is allowed, `off` sets it."""

    def effects(self) -> dict[str, bool]:
        """Return for options whether they have an effect with these others; the rest always do."""
        return {}

    def idle(self) -> list[str]:
        """Return the names of the options that have no effect with these others."""
        return [name for name, has_effect in self.effects().items() if not has_effect]

    def faults(self, _inputs: Inputs) -> list[str]:
        """Return what is wrong with the values, for these inputs; words come before numbers."""
        return self.own_faults()

    def faults_in_parts(self) -> list[str]:
        """Return what of these values can't be had in parts of the users."""
        return []

    def own_faults(self) -> list[str]:
        """Return what is wrong with the values, whatever the inputs are."""
        long = [
            f"{name}={value} must have at most {SHORT} digits"
            for name, value in self.parameters().items()
            if isinstance(value, int | float) and not is_short(value)
        ]
        return [*self.range_faults(), *long]

    def range_faults(self) -> list[str]:
        """Return which values are not among those that their option allows."""
        kinds, faults = get_type_hints(type(self)), []
        for one in sorted(fields(self), key=lambda one: not one.metadata["help"].choices):
            texts, optional = one.metadata["help"], type(None) in get_args(kinds[one.name])
            faults += [texts.fault(one.name, getattr(self, one.name), optional=optional)]
        return [fault for fault in faults if fault]

    def parameters(self) -> dict[str, Value]:
        """Return all options by name, in the order in which release.json states them."""
        return asdict(self)


Chosen = TypeVar("Chosen", bound=Options)


@dataclass(frozen=True)
class Chooser(Generic[Chosen]):
    """Something with a name and options, which are read from texts and checked."""

    name: str
    options: type[Chosen]

    def chosen(self, parameters: Mapping[str, Value]) -> Chosen:
        """Return the options that `parameters` set, and defaults for all others."""
        allowed = [one.name for one in fields(self.options)]
        unknown = sorted(set(parameters) - set(allowed))
        if unknown:
            raise BadParameter(
                f"{self.name} has no {', '.join(unknown)}; it has {', '.join(allowed)}"
            )
        hints = get_type_hints(self.options)
        real = {name for name in parameters if float in (hints[name], *get_args(hints[name]))}
        # 1 and 1.0 are one number, which release.json writes in one way.
        return self.options(
            **{
                name: float(value) if name in real and type(value) is int else value
                for name, value in parameters.items()
            }
        )

    def refuse_faults(self, options: Chosen, inputs: Inputs) -> None:
        """Raise BadParameter if `options` have wrong values, with all faults together."""
        if faults := options.faults(inputs):
            raise BadParameter("; ".join(faults))

    def read(self, texts: Mapping[str, str]) -> dict[str, Value]:
        """Return the parameters that `texts` (name=value) set; raise all faults together."""
        hints, defaults = get_type_hints(self.options), self.options().parameters()
        unknown = sorted(set(texts) - set(defaults))
        faults = [f"{self.name} has no parameter {name}" for name in unknown]
        values: dict[str, Value] = {}
        for name in sorted(set(texts) & set(defaults)):
            kinds, text = get_args(hints[name]) or (hints[name],), texts[name]
            optional = type(None) in kinds
            try:
                spelt = _SPELT.get(kinds[0])
                if text == OFF and optional:
                    values[name] = None
                elif spelt and not spelt.fullmatch(text):
                    raise ValueError(text)
                else:
                    values[name] = kinds[0](text)
            except ValueError:
                or_off = f" or {OFF}" if optional else ""
                faults.append(f"{name}={text} must be {_KINDS[kinds[0]]}{or_off}")
        if unknown:
            faults.append(f"it has {', '.join(defaults)}")
        if faults:
            raise BadParameter("; ".join(faults))
        return values


@dataclass(frozen=True, kw_only=True)
class Method(Chooser[Chosen]):
    """A published method: what it is, and how it makes a release."""

    paper: str
    about: str  # a line or two of the help
    promise: Promise
    run: Callable[[Inputs, Chosen], Release]
    needs: frozenset[Need] = frozenset()
    # How it runs in parts of the users: it yields the shards of the release, which keep the promise
    # together. None: only on all users at once.
    in_parts: Callable[[Dealt, Inputs, Chosen, Measure[Any]], Iterator[Made[Any]]] | None = None
    parts_cost: str = ""  # what parts cost, where they cost much
    # What is promised instead if the option has the value.
    promises: Mapping[tuple[str, Value], Promise] = field(default_factory=dict)

    def promise_of(self, parameters: Mapping[str, object]) -> Promise:
        """Return what is promised with `parameters`, some of which may be missing or unknown."""
        for (name, value), promise in self.promises.items():
            if parameters.get(name) == value:
                return promise
        usual = self.options().parameters()
        # An option that decides the promise has a value that is not known here.
        foreign = any(parameters.get(name, usual[name]) != usual[name] for name, _ in self.promises)
        return UNKNOWN if foreign else self.promise

    def release(
        self, options: Chosen, rows: Profiles, users: tuple[str, ...], row_of_user: np.ndarray
    ) -> Release:
        """Return the release of `rows`, made with `options`; `row_of_user` serves `users`."""
        given = options.parameters()
        return Release(rows, users, row_of_user, self.name, given, promise=self.promise_of(given))

    def released_slots(self, options: Chosen, inputs: Inputs, made: SlotRows) -> Release:
        """Return the release of the slots `made` with `options`, which have a taxonomy."""
        # release.json is published, so it must not name the file.
        named = _NOUNS if inputs.taxonomy is None else "given"
        release = self.release(options, made.rows, made.users, made.row_of_user)
        return replace(
            release,
            parameters={**release.parameters, "taxonomy": named},
            facts={"users_left_out": len(inputs.profiles) - len(made.users)},
            slots=made.slots,
            taxonomy=inputs.taxonomy.pairs if inputs.taxonomy else (),
        )

    def help(self) -> str:
        """Return the help: every option with its default and its explanation."""
        head = f"parameters of {self.name} ({self.paper}): {self.about}:"
        in_parts = [textwrap.fill(f"in parts {self.parts_cost}", _WIDTH)] if self.parts_cost else []
        return "\n".join([textwrap.fill(head, _WIDTH), *help_lines(self.options), *in_parts])


def each_by_itself(
    run: Callable[[Inputs, Chosen], Release],
) -> Callable[[Dealt, Inputs, Chosen, Measure[S]], Iterator[Made[S]]]:
    """Return how a method runs in parts that looks at everybody's sums alone, besides a part."""

    def in_parts(
        dealt: Dealt, inputs: Inputs, options: Chosen, measure: Measure[S]
    ) -> Iterator[Made[S]]:
        work = partial(_made_of_part, run, inputs, options, measure)
        return dealt.each(work, range(len(dealt.sizes)))

    return in_parts


def _made_of_part(
    run: Callable[[Inputs, Chosen], Release],
    inputs: Inputs,
    options: Chosen,
    measure: Measure[S],
    profiles: Profiles,
    part: int,
) -> Made[S]:
    """Return the shard of `part`, which has these `profiles`, and what was measured of it."""
    # Measured where the profiles are: they are not sent back.
    own = replace(inputs, profiles=profiles, seed=part_seed(inputs.seed, part))
    release = run(own, options)
    return release, measure(inputs.everybody, profiles, release)


def help_lines(options: type[Options]) -> list[str]:
    """Return a line or more of the help for each of `options`: its default and explanation."""
    return [_line(one) for one in fields(options)]


def _line(option: Field[Value]) -> str:
    texts, default = option.metadata["help"], option.default
    label = f"  {option.name}={texts.shown or (OFF if default is None else default)}"
    text = f"{label:<{_COLUMN - 1}}".ljust(len(label) + 1) + f" {texts.text}"
    return textwrap.fill(text, _WIDTH, subsequent_indent=" " * _COLUMN, drop_whitespace=True)
