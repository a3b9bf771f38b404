"""How sensitive texts are: a CSV file of text,probability [I/O], read strictly."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from ...errors import BadInput
from ...querylog.formats import normalized
from ...storage.records import plain_errors

HEAD = ["text", "probability"]


def read_probabilities(path: Path) -> dict[str, float]:
    """Return the probability to be sensitive of each text in the file at `path`, normalized.

    No error holds a text.
    """
    probabilities: dict[str, float] = {}
    with plain_errors(path, "read"), path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, strict=True)
        try:
            if next(lines, None) != HEAD:
                raise BadInput(f"{path}, line 1: the header must be {','.join(HEAD)}")
            for line in lines:
                if line:
                    _add(line, probabilities, f"{path}, line {lines.line_num}")
        except csv.Error as fault:
            raise BadInput(f"{path}, line {lines.line_num}: {fault}; quote it as CSV") from fault
        except UnicodeDecodeError as fault:
            raise BadInput(f"{path}: it is not UTF-8; convert it") from fault
    return probabilities


def _add(line: list[str], probabilities: dict[str, float], place: str) -> None:
    if len(line) != len(HEAD):
        raise BadInput(f"{place}: there must be two columns, {' and '.join(HEAD)}")
    text = normalized(line[0])
    try:
        probability = float(line[1])
    except ValueError:
        probability = math.nan
    if not 0 <= probability <= 1:
        raise BadInput(f"{place}: the probability must be a number from 0 to 1")
    if probabilities.setdefault(text, probability) != probability:
        raise BadInput(f"{place}: this text has another probability in an earlier line")
