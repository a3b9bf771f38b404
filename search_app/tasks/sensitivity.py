"""Train a classifier of sensitive queries, and label logs by it. [I/O]"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.arrays import Marks
from anonymizer.sensitivity.classifier import FOLDS, Trained, train
from anonymizer.sensitivity.files import probabilities_csv, read_labels, read_model, write_model
from anonymizer.sensitivity.lexicon import Lexicon, build_lexicon
from anonymizer.terms.wordnet import open_wordnet

from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import write_whole
from .profiling import log_at


def train_on_labels(labels: Path, output: Path) -> dict[str, Any]:
    """Train on the CSV file `labels`, write the model to `output`, and return its figures."""
    trained = train(*read_labels(labels), f"labels of {labels.name}")
    return _written(trained, output)


def train_on_weak_labels(
    log: Path | None,
    output: Path,
    settings: Settings,
    names: Sequence[Path] = (),
    places: Sequence[Path] = (),
) -> dict[str, Any]:
    """Train on weak labels by WordNet's domains and the lists `names` and `places`.

    They label the queries of `log`; without one, the terms of WordNet and of the lists. The model
    is written to `output`. Return its figures.
    """
    wordnet = open_wordnet(settings.cache)
    lexicon = build_lexicon(wordnet, names, places)
    texts = queries_of(log) if log else sorted({*wordnet.terms, *lexicon.kind_of})
    return _written(trained_weakly(texts, lexicon), output)


def matched(texts: Sequence[str], lexicon: Lexicon) -> Marks:
    """Return which of `texts` hold a word of `lexicon`."""
    return np.array([bool(lexicon.entries_in(text)) for text in texts], dtype=bool)


def trained_weakly(texts: Sequence[str], lexicon: Lexicon) -> Trained:
    """Return a model trained on `texts`, which `lexicon` labels."""
    source = f"weak labels by {', '.join(lexicon.sources)}"
    return train(texts, matched(texts, lexicon), source, lexicon)


def queries_of(log: Path) -> list[str]:
    """Return the different queries of the file `log`."""
    read = log_at([log])
    if not len(read):
        raise UsageError(f"{log}: there is no query in it; name another log")
    return read.queries.strings()


def label_log(model: Path, log: Path, output: Path) -> dict[str, Any]:
    """Write the probability of each query of `log` by `model` to `output`; return counts."""
    trained, texts = read_model(model), queries_of(log)
    probabilities = trained.probabilities(texts)
    write_whole(output, probabilities_csv(texts, probabilities))
    return {
        "probabilities": str(output),
        "labels": trained.labels,
        "queries": len(texts),
        "sensitive": int(np.count_nonzero(probabilities > 0.5)),
    }


def _written(trained: Trained, output: Path) -> dict[str, Any]:
    """Write the model of `trained` to `output`, and return its figures."""
    model, share = trained.model, trained.sensitive / trained.texts
    write_model(model, output)
    auc = model.half_lexicon_auc
    return {
        "model": str(output),
        "labels": model.labels,
        "weak": model.weak,
        "texts": trained.texts,
        "sensitive": trained.sensitive,
        "accuracy": model.accuracy,
        "accuracy_of_the_larger_class": max(share, 1 - share),
        "auc": trained.auc,
        **({"half_lexicon_auc": None if isnan(auc) else auc} if model.weak else {}),
        "reliability": [asdict(one) for one in trained.curve],
    }


def training_lines(made: dict[str, Any]) -> Iterator[str]:
    """Yield the figures of a training, as `made` has them, for people."""
    share = made["sensitive"] / made["texts"]
    yield (
        f"{made['texts']:,} texts, {made['sensitive']:,} of them sensitive ({share:.1%}): "
        f"{made['labels']}"
    )
    yield (
        f"accuracy {made['accuracy']:.3f} over {FOLDS} folds, where always the same answer has "
        f"{made['accuracy_of_the_larger_class']:.3f}; AUC {made['auc']:.3f}"
    )
    if made["weak"]:
        auc = made["half_lexicon_auc"]
        shown = "undefined, too few texts" if auc is None else f"{auc:.3f}"
        yield f"half of the word list against the other half, AUC: {shown} (the honest test)"
    yield "probability      texts     mean  sensitive"
    for one in made["reliability"]:
        yield (
            f"{one['low']:.1f} to {one['high']:.1f}  {one['texts']:>10,}  {one['predicted']:>7.3f}"
            f"  {one['observed']:>9.3f}"
        )
    yield f"model: {made['model']}"
