"""Labels as CSV, models as arrays without pickle, and probabilities as CSV. [I/O]

No error quotes a text, as texts are people's queries.
"""

from __future__ import annotations

import csv
import io
import math
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Marks
from ..errors import BadInput
from ..model import Texts
from ..querylog.formats import LONGEST_LINE, normalized
from ..storage.files import replaced_whole
from ..storage.records import csv_text, plain_errors
from .classifier import CalibratedBayes, SensitivityModel

LABELS_HEAD = ["text", "label"]
PROBABILITIES_HEAD = ["text", "probability"]
FORMAT = "veilsearch-sensitivity-1"
_DAMAGED = (ValueError, TypeError, KeyError, IndexError, EOFError, OSError, zipfile.BadZipFile)


def read_labels(path: Path) -> tuple[list[str], Marks]:
    """Return the texts and the labels (1: sensitive) in the CSV file at `path`."""
    texts, labels = list[str](), list[bool]()
    for place, text, label in _lines(path, LABELS_HEAD):
        if label.strip() not in ("0", "1"):
            raise BadInput(f"{place}: the label must be 0 or 1 (1: sensitive)")
        texts.append(text)
        labels.append(label.strip() == "1")
    return texts, np.array(labels, dtype=bool)


def read_probabilities(path: Path) -> dict[str, float]:
    """Return the probability to be sensitive of each text in the file at `path`, normalized."""
    probabilities: dict[str, float] = {}
    for place, text, number in _lines(path, PROBABILITIES_HEAD):
        try:
            probability = float(number)
        except ValueError:
            probability = math.nan
        if not 0 <= probability <= 1:
            raise BadInput(f"{place}: the probability must be a number from 0 to 1")
        if probabilities.setdefault(normalized(text), probability) != probability:
            raise BadInput(f"{place}: this text has another probability in an earlier line")
    return probabilities


def holds_texts(path: Path) -> bool:
    """Return whether the file at `path` begins like labels or probabilities, or is a model."""
    with suppress(OSError, zipfile.BadZipFile), path.open("rb") as file:
        first = file.readline(1 << 6).removeprefix(b"\xef\xbb\xbf").strip().lower()
        heads = {",".join(head).encode() for head in (LABELS_HEAD, PROBABILITIES_HEAD)}
        if first in heads or not first.startswith(b"pk"):
            return first in heads
        return {"words.npy", "evidence.npy"} <= {*zipfile.ZipFile(file).namelist()}
    return False


def _lines(path: Path, head: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the place and the two cells of each line of the CSV file at `path` after its `head`."""
    # `--apply` writes queries of any length that a log may have. The limit is that of all readers.
    before = csv.field_size_limit(LONGEST_LINE)
    with plain_errors(path, "read"), path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, strict=True)
        try:
            if [name.strip().lower() for name in next(lines, [])] != head:
                raise BadInput(f"{path}, line 1: the header must be {','.join(head)}")
            for line in filter(None, lines):
                place = f"{path}, line {lines.line_num}"
                if len(line) != len(head):
                    raise BadInput(f"{place}: there must be two columns, {' and '.join(head)}")
                yield place, line[0], line[1]
        except csv.Error as fault:
            raise BadInput(f"{path}, line {lines.line_num}: {fault}; quote it as CSV") from fault
        except UnicodeDecodeError as fault:
            raise BadInput(f"{path}: it is not UTF-8; convert it") from fault
        finally:
            csv.field_size_limit(before)


def probabilities_csv(texts: Sequence[str], probabilities: Floats) -> str:
    """Return CSV with one line for each of `texts`, in alphabetical order, with `probabilities`."""
    pairs = sorted(zip(texts, probabilities.tolist(), strict=True))
    lines = ((query, f"{probability:.6f}") for query, probability in pairs)
    return csv_text([PROBABILITIES_HEAD, *lines])


def write_model(model: SensitivityModel, path: Path) -> None:
    """Write `model` to `path`, for its owner only, as its words may be those of a log."""
    words = Texts.of(model.words)
    arrays: dict[str, NDArray[Any]] = {
        "format": np.array(FORMAT),
        "labels": np.array(model.labels),
        "weak": np.array(model.weak),
        "figures": np.array([model.accuracy, model.half_lexicon_auc]),
        "words": words.blob,
        "words_at": words.at,
        "evidence": np.stack([part.evidence for part in model.parts]),
        "lines": np.array([(part.base, part.slope, part.intercept) for part in model.parts]),
    }
    for at, part in enumerate(model.parts):
        arrays[f"scale{at}"] = np.stack([part.before, part.after])
    content = io.BytesIO()
    # Without times in it, the same labels give the same bytes.
    np.savez(content, allow_pickle=False, **arrays)
    with plain_errors(path, "written"), replaced_whole(path) as file:
        file.write(content.getvalue())


def read_model(path: Path) -> SensitivityModel:
    """Return the model in the file at `path`, after checking every number in it."""
    with plain_errors(path, "read"):
        if not path.is_file():
            raise BadInput(f"{path}: must be a model that veilsearch sensitivity wrote")
        raw = path.read_bytes()
    try:
        # Loading a pickle could run code.
        with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
            return _model(dict(arrays))
    except _DAMAGED as fault:
        raise BadInput(
            f"{path}: is no intact model; train it again by veilsearch sensitivity"
        ) from fault


def _model(arrays: dict[str, NDArray[Any]]) -> SensitivityModel:
    """Return the model in `arrays`; raise ValueError or KeyError if they are none."""
    at, evidence, lines = arrays["words_at"], arrays["evidence"], arrays["lines"]
    _need(str(arrays["format"]) == FORMAT)
    _need(at[0] == 0 and at[-1] == arrays["words"].size and np.all(np.diff(at) > 0))
    _need(evidence.shape == (len(lines), at.size - 1) and lines.shape == (len(lines), 3))
    _need(len(lines) > 0 and np.isfinite(evidence).all() and np.isfinite(lines).all())
    parts = []
    for number, (row, line) in enumerate(zip(evidence, lines.tolist(), strict=True)):
        base, slope, intercept = line
        before, after = scale = arrays[f"scale{number}"]
        # Not the opposite: NaN would pass that.
        _need(before.size > 0 and np.all((scale >= 0) & (scale <= 1)))
        _need(np.all(np.diff(scale, axis=1) >= 0))
        parts.append(CalibratedBayes(row, base, slope, intercept, before, after))
    words = tuple(Texts(arrays["words"], at).strings())
    accuracy, auc = arrays["figures"].tolist()
    labels, weak = str(arrays["labels"]), bool(arrays["weak"])
    return SensitivityModel(words, tuple(parts), labels, weak, accuracy, auc)


def _need(good: object) -> None:
    if not good:
        raise ValueError("the arrays do not fit")
