"""Bernoulli naive Bayes over binary bags of words, with calibrated probabilities, by scikit-learn.

The log odds of naive Bayes are too extreme, as words go together. So a logistic regression (Platt)
scales them, fitted to texts that were not trained on. Where these are many, an isotonic regression
then bends the scale to the shares that are sensitive. A model is the mean of three classifiers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Floats, Marks
from ..errors import BadInput
from .lexicon import Lexicon, words_of

FOLDS = 10
PARTS = 3  # of the texts; each calibrates a model of the others
BINS = 10  # of the reliability curve
BENDABLE = 1_000  # texts; with fewer, an isotonic regression learns their accidents
_SEED = 0


@dataclass(frozen=True)
class CalibratedBayes:
    """Naive Bayes over numbered words, and a scale from its log odds to probabilities."""

    evidence: Floats  # word -> what its occurrence adds to the log odds
    base: float  # log odds of a text without any of the words
    slope: float
    intercept: float
    # Probabilities by slope and intercept, ascending, and what they become; linear in between.
    before: Floats
    after: Floats

    def probabilities(self, bags: csr_matrix) -> Floats:
        """Return the calibrated probability that each of `bags` is sensitive."""
        from scipy.special import expit

        odds = bags @ self.evidence + self.base
        return np.interp(expit(self.slope * odds + self.intercept), self.before, self.after)


@dataclass(frozen=True)
class SensitivityModel:
    """What is needed to give any text its probability to be sensitive."""

    words: tuple[str, ...]
    parts: tuple[CalibratedBayes, ...]  # each was calibrated on another part of the texts
    labels: str  # what it was trained on, as every report names it
    weak: bool  # whether the labels come from a list of words
    accuracy: float  # over FOLDS folds of its texts, at 0.5
    half_lexicon_auc: float  # see `half_lexicon_auc`; NaN if the labels are not weak

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """Return the probability that each of `texts` is sensitive: the mean over the parts."""
        column = {word: at for at, word in enumerate(self.words)}
        return _mean(self.parts, bags_of(texts, column))


@dataclass(frozen=True)
class Reliability:
    """One bin of a reliability curve: how often texts of like probability are sensitive."""

    low: float
    high: float
    texts: int
    predicted: float  # the mean probability
    observed: float  # the share that is sensitive


@dataclass(frozen=True)
class Trained:
    """A model with what cross-validation says about it."""

    model: SensitivityModel
    texts: int
    sensitive: int
    auc: float  # over the folds
    curve: tuple[Reliability, ...]


def bags_of(texts: Sequence[str], column: Mapping[str, int]) -> csr_matrix:
    """Return texts x words, 1 where one of `texts` has the word that `column` numbers."""
    rows = [sorted({column[word] for word in words_of(text) if word in column}) for text in texts]
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.fromiter((at for row in rows for at in row), np.int64, int(ends[-1]))
    return csr_matrix((np.ones(columns.size), columns, ends), shape=(len(texts), len(column)))


def train(
    texts: Sequence[str], labels: Marks, source: str, lexicon: Lexicon | None = None
) -> Trained:
    """Return a model of the `texts` with these `labels`, and its figures; `source` names them.

    Weak labels come with their `lexicon`.
    """
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    least = int(min(labels.sum(), (~labels).sum()))
    if least < FOLDS:
        raise BadInput(
            f"there are {int(labels.sum()):,} sensitive and {int((~labels).sum()):,} other texts; "
            f"give {FOLDS} or more of both"
        )
    words, whole = _words_and_bags(texts)
    if not words:
        raise BadInput("no text has a letter or digit; give texts with words")
    predicted = np.zeros(len(texts))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=_SEED)
    for inside, outside in folds.split(whole, labels):
        predicted[outside] = _mean(_fit(whole[inside], labels[inside]), whole[outside])
    return Trained(
        SensitivityModel(
            words,
            _fit(whole, labels),
            source,
            lexicon is not None,
            float(np.mean((predicted > 0.5) == labels)),
            half_lexicon_auc(texts, lexicon) if lexicon else np.nan,
        ),
        len(texts),
        int(labels.sum()),
        float(roc_auc_score(labels, predicted)),
        reliability(predicted, labels),
    )


def _words_and_bags(texts: Sequence[str]) -> tuple[tuple[str, ...], csr_matrix]:
    words = sorted({word for text in texts for word in words_of(text)})
    return tuple(words), bags_of(texts, {word: at for at, word in enumerate(words)})


def _mean(parts: Sequence[CalibratedBayes], bags: csr_matrix) -> Floats:
    mean: Floats = np.mean([part.probabilities(bags) for part in parts], axis=0)
    return mean


def _fit(bags: csr_matrix, labels: Marks) -> tuple[CalibratedBayes, ...]:
    """Return naive Bayes of the `bags` without one part in PARTS, calibrated on it, for each."""
    from sklearn.model_selection import StratifiedKFold

    # One model of all would have no texts to be calibrated on: its log odds differ from those of a
    # model of fewer texts, which have fewer rare words.
    folds = StratifiedKFold(PARTS, shuffle=True, random_state=_SEED)
    return tuple(
        _calibrated(*_bayes(bags[inside], labels[inside]), bags[outside], labels[outside])
        for inside, outside in folds.split(bags, labels)
    )


def _calibrated(evidence: Floats, base: float, bags: csr_matrix, labels: Marks) -> CalibratedBayes:
    """Return naive Bayes with `evidence` and `base`, on a scale that fits `bags` and `labels`."""
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import LogisticRegression

    odds, ends = bags @ evidence + base, np.array([0.0, 1.0])
    # Nearly no penalty: there are two numbers to fit.
    platt = LogisticRegression(C=1e6, solver="newton-cholesky").fit(odds[:, None], labels)
    line = float(platt.coef_[0, 0]), float(platt.intercept_[0])
    straight = CalibratedBayes(evidence, base, *line, ends, ends)
    if labels.size < BENDABLE:
        return straight
    bent = IsotonicRegression().fit(straight.probabilities(bags), labels)
    return CalibratedBayes(evidence, base, *line, bent.X_thresholds_, bent.y_thresholds_)


def _bayes(bags: csr_matrix, labels: Marks) -> tuple[Floats, float]:
    """Return what each word adds to the log odds, and the log odds of a text without words."""
    from sklearn.naive_bayes import BernoulliNB

    bayes = BernoulliNB().fit(bags, labels)
    # A word that occurs in none of the bags says nothing, not even by its absence.
    known = bags.getnnz(axis=0) > 0
    present = bayes.feature_log_prob_
    absent = np.where(known, np.log1p(-np.exp(present)), 0)
    odds = np.where(known, present - absent, 0)
    base = bayes.class_log_prior_ + absent.sum(axis=1)
    return odds[1] - odds[0], float(base[1] - base[0])


def reliability(predicted: Floats, labels: Marks) -> tuple[Reliability, ...]:
    """Return the bins of the reliability curve of `predicted` probabilities against `labels`."""
    bin_of = np.minimum((predicted * BINS).astype(np.int64), BINS - 1)
    return tuple(
        Reliability(
            at / BINS,
            (at + 1) / BINS,
            int(inside.sum()),
            float(predicted[inside].mean()),
            float(labels[inside].mean()),
        )
        for at in range(BINS)
        if (inside := bin_of == at).any()
    )


def half_lexicon_auc(texts: Sequence[str], lexicon: Lexicon) -> float:
    """Return the AUC on `texts` that one half of `lexicon` misses, trained on the other half.

    Weak labels come from words, and a classifier of words can learn the list by heart. This asks
    what it knows about words that the list lacks: half of the texts are labelled by half of the
    list and learnt. Of the other texts, those that only the second half matches are to be told from
    those that nothing matches. NaN if there are too few texts.
    """
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(_SEED)
    entries = sorted(lexicon.kind_of)
    first = {entries[at] for at in rng.permutation(len(entries))[: len(entries) // 2].tolist()}
    matched = [lexicon.entries_in(text) for text in texts]
    by_first = np.array([any(entry in first for entry in some) for some in matched], dtype=bool)
    by_any = np.array([bool(some) for some in matched], dtype=bool)
    # Texts with words of the second half are learnt too, as not sensitive: without them an unknown
    # word would give the second half away.
    inside, outside = np.split(rng.permutation(len(texts)), [len(texts) // 2])
    outside = outside[~by_first[outside]]
    truth, labels = by_any[outside], by_first[inside]
    if min(truth.sum(), (~truth).sum(), labels.sum(), (~labels).sum()) < FOLDS:
        return np.nan
    _, bags = _words_and_bags(texts)
    scores = _mean(_fit(bags[inside], labels), bags[outside])
    return float(roc_auc_score(truth, scores))
