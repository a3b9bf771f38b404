"""The notebook of an export: it reads the tables next to it and draws the preferences.

It shares no code with this product, so anybody who has the export can run and
change it. It needs numpy, scipy and matplotlib.
"""

from __future__ import annotations

import json
from typing import Any

_READ = """\
import csv
from collections import defaultdict
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats


def read(name):
    with open(name + ".csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


judgements, participants = read("judgements"), read("participants")
conditions = {conditions}
print(len(participants), "people,", len(judgements), "judgements")
"""
_PREFER = """\
# The unit is the person: first the mean over each person's tasks, then all else over people.
def person_means(first, second):
    scores = defaultdict(list)
    for one in judgements:
        if (one["first"], one["second"]) == (first, second):
            scores[one["participant"]].append(float(one["score"]))
    return np.array([np.mean(own) for own in scores.values()])


def paired(first, second):  # Student's t
    scores = person_means(first, second)
    error = stats.sem(scores) if len(scores) > 1 else np.nan
    return len(scores), scores.mean() if len(scores) else np.nan, error, len(scores) - 1


def unpaired(first, second):  # Welch's t, where each person met one condition
    one, other = person_means(first, ""), person_means(second, "")
    if min(len(one), len(other)) < 2:
        return len(one) + len(other), np.nan, np.nan, 1
    a, b = one.var(ddof=1) / len(one), other.var(ddof=1) / len(other)
    mean, error = 0.5 + (one.mean() - other.mean()) / 2, np.sqrt(a + b) / 2
    if error < 1e-12:  # nothing but rounding
        return len(one) + len(other), mean, np.nan, 1
    freedom = (a + b) ** 2 / (a**2 / (len(one) - 1) + b**2 / (len(other) - 1))
    return len(one) + len(other), mean, error, freedom


preferences = []
for first, second in combinations(conditions, 2):
    people, mean, error, freedom = {test}(first, second)
    if np.isnan(error) or error > 1e-12:  # less is rounding
        reach = stats.t.ppf(0.975, freedom) * error
        p = 2 * stats.t.sf(abs(mean - 0.5) / error, freedom)
    else:  # all agree: the sign test
        reach = 0.0
        p = 1.0 if abs(mean - 0.5) < 1e-12 else 2.0 ** (1 - people)
    low, high = max(mean - reach, 0), min(mean + reach, 1)
    preferences.append(dict(first=first, second=second, people=people, mean=mean,
                            low=low, high=high, p=p))

# Holm's correction over all pairs
tested = sorted((one for one in preferences if one["p"] == one["p"]), key=lambda one: one["p"])
floor = 0.0
for step, one in enumerate(tested):
    floor = one["p_holm"] = max(floor, min(1.0, (len(tested) - step) * one["p"]))
for one in preferences:
    one.setdefault("p_holm", np.nan)
    print("{first} over {second}: {mean:.3f} [{low:.3f}, {high:.3f}], {people} people, "
          "P {p:.2g}, by Holm {p_holm:.2g}".format(**one))
"""
_STRENGTH = """\
# Bradley and Terry's model: a condition wins with the chance of its share in the sum of both.
def strengths(scores):
    wins = (1 - np.eye(len(conditions))) / 2  # half a win each way keeps all finite
    for one in scores:
        a, b = conditions.index(one["first"]), conditions.index(one["second"])
        wins[a, b] += float(one["score"])
        wins[b, a] += 1 - float(one["score"])
    strength = np.full(len(conditions), 1 / len(conditions))
    for _ in range(200):
        both = strength[:, None] + strength
        strength = wins.sum(1) / ((wins + wins.T) / both).sum(1)
        strength /= strength.sum()
    return strength


bradley_terry = {}
if len(conditions) > 2 and judgements and judgements[0]["second"]:
    bradley_terry = dict(zip(conditions, strengths(judgements).tolist()))
print(bradley_terry)
"""
_DRAW = """\
drawn = [one for one in preferences if one["mean"] == one["mean"]]
figure, axes = plt.subplots(figsize=(7, 1 + 0.6 * max(len(drawn), 1)))
for place, one in enumerate(drawn):
    axes.plot([one["low"], one["high"]], [place, place], color="black")
    axes.plot(one["mean"], place, "o", color="black")
axes.axvline(0.5, linestyle=":", color="gray")
axes.set_yticks(range(len(drawn)), [one["first"] + " over " + one["second"] for one in drawn])
axes.set_xlim(0, 1)
axes.set_xlabel("mean score over people, with 95 % interval; 0.5: no preference")
figure.tight_layout()
figure.savefig("preference.svg")
"""
_WORDS = """\
# {title}

The tables are described in `codebook.csv`, the study in `methods.md`. A mixed model by participant
and task says the same with other assumptions; in R:
`lme4::lmer(score ~ 1 + (1 | participant) + (1 | task))` for a pair.
"""


def notebook(title: str, conditions: tuple[str, ...], *, between: bool) -> str:
    """Return the notebook of a study with this `title` and these `conditions`, as JSON.

    `between` says that each person met one condition.
    """
    codes = (
        _READ.replace("{conditions}", repr(list(conditions))),
        _PREFER.replace("{test}", "unpaired" if between else "paired"),
        _STRENGTH,
        _DRAW,
    )
    cells = [_cell("markdown", "words", _WORDS.replace("{title}", title))]
    for number, code in enumerate(codes):
        cells.append(
            _cell("code", f"code{number}", code) | {"execution_count": None, "outputs": []}
        )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    whole = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, ensure_ascii=False, indent=1)


def _cell(kind: str, name: str, text: str) -> dict[str, Any]:
    return {"cell_type": kind, "id": name, "metadata": {}, "source": text.splitlines(True)}
