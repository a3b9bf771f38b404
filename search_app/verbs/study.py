"""veilsearch study: lead a user study, from its file to its results."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..disclosure.numbers import count
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import write_whole
from .arguments import add_json, add_seed, seed_of

if TYPE_CHECKING:
    import numpy as np

    from ..study.design import Study
    from ..study.rankings import Rankings
    from ..study.store import StudyStore

SIMULATED = "simulated"  # the folder, in that of the study, where simulated people take part
_EFFECT = 0.6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.description = (
        "new writes a commented example that runs. check names all faults of a study's file. "
        f"simulate lets invented people take part in a copy, FOLDER/{SIMULATED}, and says what the "
        "study can find. invite makes codes. status counts people. export writes data, codebook, "
        "notebook and methods. withdraw erases a person. close lets nobody begin any more. "
        "To serve it: veilsearch serve --mode study FOLDER."
    )
    parser.add_argument("what", choices=_DO, help="what to do")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the study's folder")
    parser.add_argument(
        "code", nargs="?", default="", metavar="CODE", help="withdraw: the person's code"
    )
    parser.add_argument("-n", type=int, metavar="N", help="how many people to invite or simulate")
    parser.add_argument(
        "--effect",
        type=float,
        default=_EFFECT,
        metavar="E",
        help=f"simulate: the chance to prefer the first condition ({_EFFECT})",
    )
    parser.add_argument(
        "--address",
        default="",
        metavar="URL",
        help="invite: the server's address, to write a link for each code",
    )
    parser.add_argument("--peek", action="store_true", help="status: preferences before the end")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="PATH", help="invite: new file; export: new folder"
    )
    add_seed(parser, "simulated people")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Do what `arguments` say and return the exit code."""
    needs = {"invite": ("n", "output"), "export": ("output",), "withdraw": ("code",)}
    for name in needs.get(arguments.what, ()):
        if getattr(arguments, name) in (None, ""):
            option = {"n": "-n N", "output": "-o PATH", "code": "the CODE of the person"}[name]
            raise UsageError(f"study {arguments.what} needs {option}")
    if arguments.n is not None and not 1 <= arguments.n <= _MOST:
        raise UsageError(f"-n {arguments.n} must be from 1 to {_MOST:,}")
    return _DO[arguments.what](arguments, settings)


_MOST = 100_000


def _store(folder: Path) -> StudyStore:
    from ..study.store import FILE, StudyStore

    return StudyStore(folder / FILE)


@contextmanager
def _begun(folder: Path) -> Iterator[tuple[Study, StudyStore]]:
    """Give the study in `folder`, to which people were invited, and its database."""
    from ..study.design import read_study
    from ..study.store import FILE

    study = read_study(folder)
    if not (folder / FILE).exists():
        raise UsageError(f"nobody was invited to {folder}; run: veilsearch study invite")
    with closing(_store(folder)) as store:
        yield study, store


def _new(arguments: argparse.Namespace, _settings: Settings) -> int:
    from ..study.sample import write_sample

    folder: Path = arguments.folder
    files = [str(path) for path in write_sample(folder)]
    lines = [*files, f"Edit them; then: veilsearch study check {folder}"]
    console.answer({"files": files}, lines, as_json=arguments.json)
    return 0


def _check(arguments: argparse.Namespace, settings: Settings) -> int:
    from ..study.check import faults_of

    faults = faults_of(arguments.folder, settings)
    lines = faults or [f"{arguments.folder} can be run"]
    console.answer({"faults": faults}, lines, as_json=arguments.json)
    return 1 if faults else 0


def _simulate(arguments: argparse.Namespace, settings: Settings) -> int:
    import numpy as np

    from ..study.check import begin, conditions_in, rehearsal
    from ..study.design import read_study
    from ..study.rankings import open_rankings
    from ..study.simulation import play
    from ..workspace.folder import Workspace

    if not 0 <= arguments.effect <= 1:
        raise UsageError(f"--effect {arguments.effect:g} must be from 0 to 1")
    workspace = Workspace(settings.workspace)
    study = read_study(arguments.folder, conditions_in(workspace))
    people, seed = arguments.n or study.participants, seed_of(arguments)
    rankings = open_rankings(settings)
    for task in study.tasks:
        ranked = rankings.of(task.query, study.conditions[:1], "", {})
        if not (task.free or any(ranked.values())):
            console.say(f"Task {task.id} finds nothing; take another query.")
    copy = rehearsal(study, arguments.folder / SIMULATED)
    rng, now = np.random.default_rng(seed), int(time.time())
    with closing(_store(copy.folder)) as store, console.progress("people", people) as progress:
        begin(copy, store, workspace)
        done = 0
        for number in range(people):
            done += play(copy, store, 1, _ranker(copy, rankings), rng, now, arguments.effect)
            progress(number + 1)
    made = _found(study, people, arguments.effect, seed)
    made = {"folder": str(copy.folder), "people": people, "finished": done, **made}
    console.answer(made, _simulated_lines(made), as_json=arguments.json)
    return 0


def _ranker(
    study: Study, rankings: Rankings
) -> Callable[[np.random.Generator], tuple[str, Callable[[str], Mapping[str, Sequence[str]]]]]:
    """Return what draws a simulated person: an invented one, or somebody with three interests."""
    from ..town.examples import WORDS

    people, interests = [*rankings.people], rankings.interests()

    def draw(
        rng: np.random.Generator,
    ) -> tuple[str, Callable[[str], Mapping[str, Sequence[str]]]]:
        who = str(rng.choice(people)) if people else ""
        own = {} if who else rankings.of_interests(rng.choice(interests, 3, replace=False).tolist())
        typed = WORDS[int(rng.integers(len(WORDS)))][0]  # where the query is their own
        return who, lambda query: rankings.of(query or typed, study.conditions, who, own)

    return draw


def _found(study: Study, people: int, effect: float, seed: int) -> dict[str, Any]:
    """Return what studies like `study` find, by kind of task."""
    from ..study.analysis import TIE
    from ..study.design import TASKS
    from ..study.simulation import Simulator, minutes, pairs_of

    pair, kinds = pairs_of(study)[0], {task.kind for task in study.tasks}
    rows = []
    for kind in [*(one for one in TASKS if one in kinds), *([""] if len(kinds) > 1 else [])]:
        even, planted = (Simulator(study, pair, one, kind) for one in (TIE, effect))
        if not (even.able and planted.able):
            continue
        rows.append(
            {
                "kind": kind or "all together",
                "false_positives": even.found(people, seed),
                "found": planted.found(people, seed),
                "planned": planted.planned(people),
                "needed": planted.needed(),
            }
        )
    return {"pair": pair, "effect": effect, "by_kind": rows, "minutes": minutes(study)}


def _simulated_lines(made: Mapping[str, Any]) -> Iterator[str]:
    from ..study.simulation import STUDIES

    first, second = made["pair"]
    yield f"{made['folder']}: {made['finished']:,} of {made['people']:,} simulated people finished"
    yield (
        f"in {STUDIES:,} simulated studies of {made['people']:,} people, for {first} against "
        f"{second}:"
    )
    planted = f"found if {made['effect']:g}"
    head = f"  {'tasks':<14} {'found by chance':>15} {planted:>12} {'planned':>8}"
    yield f"{head} {'people for 80 %':>16}"
    for row in made["by_kind"]:
        needed = "never" if row["needed"] is None else f"{row['needed']:,}"
        yield (
            f"  {row['kind']:<14} {row['false_positives']:>15.1%} {row['found']:>12.1%} "
            f"{row['planned']:>8.1%} {needed:>16}"
        )
    yield f"a person needs at most {made['minutes']:.0f} minutes"


def _invite(arguments: argparse.Namespace, _settings: Settings) -> int:
    from ..study.design import read_study
    from ..study.sample import RESPONSIBLE

    output: Path = arguments.output
    if output.resolve().is_relative_to(arguments.folder.resolve()):
        raise UsageError(f"-o {output} lies in the study's folder; name a file outside of it")
    if output.exists():
        raise UsageError(f"-o {output} is there already, and may hold codes; name another file")
    study = read_study(arguments.folder)
    with closing(_store(study.folder)) as store:
        if store.is_closed():
            raise UsageError(f"{study.folder} is closed, so nobody can begin")
        codes = store.invite(arguments.n)
        address = arguments.address.rstrip("/")
        links = [f"\t{address}/join/{code}" if address else "" for code in codes]
        pairs = enumerate(zip(codes, links, strict=True), 1)
        lines = (f"{number}\t{code}{link}\n" for number, (code, link) in pairs)
        write_whole(output, "".join(lines))
    made = {"written": str(output), "codes": len(codes)}
    line = f"{output}: {count(len(codes), 'code', 'codes')}, readable by you only"
    console.answer(made, [line], as_json=arguments.json)
    if RESPONSIBLE in study.consent:
        console.say(f"The consent text does not say who is responsible: replace {RESPONSIBLE}.")
    return 0


def _status(arguments: argparse.Namespace, _settings: Settings) -> int:
    from ..study.status import status_of

    with _begun(arguments.folder) as (study, store):
        made = status_of(study, store, int(time.time()), peek=arguments.peek)
    console.answer(made, _status_lines(made), as_json=arguments.json)
    return 0


def _status_lines(made: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"{made['invited']:,} invited, {made['active']:,} active, {made['silent']:,} silent, "
        f"{made['finished']:,} of {made['planned']:,} finished, {made['withdrawn']:,} withdrawn"
        f"{', closed' if made['closed'] else ''}"
    )
    for name, number in made["at"].items():
        yield f"  {name:<20} {number:>6,}"
    if made["preferences"] is None:
        yield "Preferences are hidden until the end, so that nobody stops early; --peek shows them."
        return
    for one in made["preferences"]:
        if one["p"] is None:
            yield f"{one['first']} over {one['second']}: too few people"
            continue
        yield (
            f"{one['first']} over {one['second']}: {one['mean']:.3f} [{one['low']:.3f}, "
            f"{one['high']:.3f}], {count(one['people'], 'person', 'people')}, "
            f"P {one['p']:.2g}, by Holm {one['p_holm']:.2g}"
        )


def _export(arguments: argparse.Namespace, settings: Settings) -> int:
    from ..study.export.writing import export

    with _begun(arguments.folder) as (study, store):
        made = export(study, store, arguments.output, settings)
    rows = ", ".join(f"{number:,} {name}" for name, number in made["rows"].items())
    lines = [f"{made['folder']}: {count(made['people'], 'person', 'people')}; rows: {rows}"]
    lines.append(f"{made['topics']:,} topics of runs and grades")
    lines.append(f"published profiles: {made['profiles']}; queries: {made['queries']}")
    console.answer(made, lines, as_json=arguments.json)
    if not made["parquet"]:
        console.say("No Parquet: install pyarrow for it.")
    return 0


def _withdraw(arguments: argparse.Namespace, _settings: Settings) -> int:
    with _begun(arguments.folder) as (_study, store):
        person = store.of_code(arguments.code)
        if person is None:
            raise UsageError("nobody here has this code; it is mistyped, or they withdrew already")
        store.withdraw(person.id)
        if store.remains:
            console.say(
                "Another program reads the study's file just now. The last bytes go when it has "
                "ended: the server sees to it, or the next command on the study."
            )
    line = "erased from the study; exports made before hold them still: delete these"
    console.answer({"withdrawn": 1}, [line], as_json=arguments.json)
    return 0


def _close(arguments: argparse.Namespace, _settings: Settings) -> int:
    with _begun(arguments.folder) as (_study, store):
        store.close_study()
    line = f"{arguments.folder} is closed: nobody can begin, and preferences are shown"
    console.answer({"closed": True}, [line], as_json=arguments.json)
    return 0


_DO = {
    "new": _new,
    "check": _check,
    "simulate": _simulate,
    "invite": _invite,
    "status": _status,
    "export": _export,
    "withdraw": _withdraw,
    "close": _close,
}
