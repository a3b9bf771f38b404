"""How profiles were made [I/O]: the choices, the note of them next to the file, what they mean."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from anonymizer.profiles.building import ProfileChoices
from anonymizer.storage.records import read_object
from anonymizer.terms.analysis import Analysis, WordAnalysis
from anonymizer.terms.counting import TermCounter
from anonymizer.terms.phrases import Phrases
from anonymizer.terms.stemming import STEMMED, Stems, stop_words
from anonymizer.terms.wordnet import open_wordnet

from ..errors import UsageError
from ..settings import Settings, kinds_of
from .folder import with_check, write_whole


@dataclass(frozen=True)
class ProfilingChoices(ProfileChoices):
    """How profiles are made from a log, as release.json states it."""

    gap: int = 1_800  # in whole seconds, as people name it
    terms: str = "wordnet"
    phrases: bool = False
    robots: int | None = None


def usual_terms(language: str) -> str:
    """Return the terms of documents, and of profiles by default, in `language`."""
    return {"en": "wordnet", "de": "german", "fr": "french"}[language]


def terms_are_words(settings: Settings) -> bool:
    """Return whether terms of documents are words, by the language of `settings`; stems are not."""
    return usual_terms(settings.language) not in STEMMED


def usual_choices(settings: Settings) -> ProfilingChoices:
    """Return the choices that are made by default in the language of `settings`."""
    return ProfilingChoices(terms=usual_terms(settings.language))


def analysis(terms: str, settings: Settings, *, phrases: bool = False) -> TermCounter:
    """Return the counter for the choice `terms`, with WordNet's phrases if `phrases`."""
    if phrases and terms != "wordnet":
        raise UsageError(f"--phrases needs --terms wordnet, not {terms}: phrases are WordNet's")
    if terms in STEMMED:
        return TermCounter(Analysis(Stems(terms), stop_words(terms)))
    if terms != "wordnet":
        return TermCounter(WordAnalysis(digits=terms == "letters-digits"))
    wordnet = open_wordnet(settings.cache)
    return TermCounter(Analysis(wordnet), Phrases(wordnet.phrases()) if phrases else None)


def analysis_of(choices: Mapping[str, Any], settings: Settings) -> TermCounter:
    """Return the counter that `choices` name, or the default one where they don't say."""
    phrases = bool(choices.get("phrases", False))
    return analysis(choices.get("terms", "wordnet"), settings, phrases=phrases)


def choices_path(profiles: Path) -> Path:
    """Return the path of the choices that made `profiles`."""
    return profiles.with_suffix(".made.json")


def hash_of_text(text: str) -> str:
    """Return the SHA-256 of the file that holds `text`, "" if there is none."""
    return hashlib.sha256(text.encode()).hexdigest() if text else ""


def _hash_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_choices(
    profiles: Path, fingerprint: str, choices: Mapping[str, Any], held_out: str = ""
) -> None:
    """Write the `choices` that made `profiles`, their `fingerprint` and a hash of `held_out`."""
    made = {
        "sha256": fingerprint,
        "file": _hash_of_file(profiles),
        "choices": dict(choices),
        "held_out": held_out,
    }
    write_whole(choices_path(profiles), with_check(made))


def held_out_hash(profiles: Path) -> str:
    """Return the hash of the held-out queries of `profiles` that their choices state."""
    with suppress(OSError, ValueError, RecursionError):
        return str(read_object(choices_path(profiles).read_bytes()).get("held_out", ""))
    return ""


def noted_fingerprint(profiles: Path) -> str:
    """Return the fingerprint of `profiles` by the note of their choices.

    It is "" if the note, or the file of `profiles`, is not as it was written.
    """
    with suppress(OSError, ValueError, RecursionError):
        content = choices_path(profiles).read_bytes()
        made = read_object(content)
        same = made.get("file") == _hash_of_file(profiles)
        if with_check(made).encode() == content and same:
            return str(made["sha256"])
    return ""


def fault_of_choices(profiles: Path, fingerprint: str) -> str:
    """Return what has changed next to `profiles` since they were made with `fingerprint`."""
    path, held_out = choices_path(profiles), held_out_path(profiles)
    content, made = b"", dict[str, Any]()
    with suppress(OSError, ValueError, RecursionError):
        content = path.read_bytes()
        made = read_object(content)
    # Hand-made profiles have no choices, and those of versions before 0.3 no check.
    if not path.exists() or made.keys() == {"sha256", "choices"}:
        return ""
    actual = hashlib.sha256(held_out.read_bytes()).hexdigest() if held_out.exists() else ""
    faults = {
        f"{path} changed since it was written": with_check(made).encode() != content,
        f"{path} belongs to other profiles": made.get("sha256") != fingerprint,
        f"{held_out} is missing, or changed since it was written": (
            made.get("held_out") not in ("", actual)
        ),
    }
    return next((fault for fault, wrong in faults.items() if wrong), "")


def choices_of(profiles: Path, fingerprint: str) -> dict[str, Any]:
    """Return the choices that made `profiles`, or {} if unknown or of another `fingerprint`."""
    try:
        made = read_object(choices_path(profiles).read_bytes())
        choices = made["choices"] if made["sha256"] == fingerprint else {}
    except (OSError, ValueError, KeyError, RecursionError):
        return {}
    # They go into release.json, which is published: only known names with plain values of their
    # type may pass. JSON's 1e999 is read as infinity, which no JSON can hold again.
    return {
        name: value
        for name, value in (choices.items() if isinstance(choices, dict) else ())
        if type(value) in _KINDS.get(name, ())
        and (type(value) is not float or math.isfinite(value))
    }


_KINDS = {choice.name: kinds_of(choice) for choice in fields(ProfilingChoices)}


def held_out_path(profiles: Path) -> Path:
    """Return the path of the held-out queries of `profiles`."""
    return profiles.with_suffix(".held-out.tsv")
