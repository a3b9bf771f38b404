"""Profiles to a release by a method of any name, with all that it must be handed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.cooccurrence import Network, learn
from anonymizer.km_greedy import OnPass
from anonymizer.marketing import MarketingTable, read_table, synthetic_table_of, used_table
from anonymizer.methods import anonymize, parameters_of, takes
from anonymizer.model import Profiles, Progress, Release, silent
from anonymizer.secret_order import fresh_key
from anonymizer.wordnet import WordNet
from index.forward import Forward

from .corpus_terms import documents_by_terms, sample_documents
from .errors import UsageError

Contexts = tuple[csr_matrix, list[str]]  # queries x terms, and these terms


def release_of(
    profiles: Profiles,
    method: str,
    parameters: Mapping[str, Any],
    *,
    seed: int,
    wordnet: WordNet,
    forward: Callable[[], Forward],
    queries: Callable[[], Contexts] | None = None,
    table: MarketingTable | None = None,
    key: bytes | None = None,
    progress: Progress = silent,
    on_pass: OnPass | None = None,
) -> Release:
    """Run a method; the seed settles its draws, and which documents or bids it is shown.

    A marketing table that is handed in takes the place of the one that `marketing` names. A method
    that takes a secret is handed a key that was never used before, unless one is handed in; one
    that goes over its users in passes tells `on_pass` of each.
    """
    values = {**parameters_of(method), **parameters}
    learnt = _handed_in(values, seed, forward, queries)
    if "marketing" in values:
        learnt["table"] = table or _table(profiles, str(values["marketing"]), seed)
    if takes(method, "key"):
        learnt["key"] = key or fresh_key()
    if on_pass is not None and values.get("algorithm") == "greedy":
        learnt["on_pass"] = on_pass
    return anonymize(
        method, profiles, parameters, wordnet=wordnet, seed=seed, progress=progress, **learnt
    )


def _table(profiles: Profiles, marketing: str, seed: int) -> MarketingTable | None:
    """Return the table that is named: none, one drawn for these profiles, or a file."""
    if marketing == "none":
        return None
    if marketing != "synthetic":
        return used_table(read_table(Path(marketing)), profiles.terms)
    return synthetic_table_of(profiles, seed)


def _handed_in(
    values: Mapping[str, Any],
    seed: int,
    forward: Callable[[], Forward],
    queries: Callable[[], Contexts] | None,
) -> dict[str, Any]:
    """Return what a method is handed besides profiles: a network of terms, a sample of documents.

    Index and queries are asked for only where a parameter needs them.
    """
    if "documents" in values and values.get("similarity", "documents") == "documents":
        rng = np.random.default_rng([seed, 1])  # not the method's own draws
        return {"sample": sample_documents(forward(), values["documents"], rng)}
    if values.get("augment") == "cooccurrence" and values["network"] != "profiles":
        return {"links": _links(values, forward, queries)}
    return {}


def _links(
    values: Mapping[str, Any],
    forward: Callable[[], Forward],
    queries: Callable[[], Contexts] | None,
) -> Network:
    """Learn which terms meet in the index's documents, or in the queries of a log."""
    count = values["neighbours"]
    if values["network"] == "index":
        index = forward()
        return learn(documents_by_terms(index), index.terms, neighbours=count)
    if queries is None:
        raise UsageError("network=log needs the queries of a log, and here are none")
    contexts, terms = queries()
    return learn(contexts, terms, neighbours=count)
