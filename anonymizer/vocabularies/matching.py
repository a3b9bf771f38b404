"""The matching of a vocabulary with the centre of a cluster that saves most.

Both sides are groups of equal items: a bag of the centre may stand there several times, and a term
may occur 99 times. So rows have supplies and columns demands, and a step moves many items at once.
Rows are taken one after the other, each by shortest paths. What matches nothing pays nothing here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Ints, Marks, Numbers
from ..compiled import compiled

GIVEN_UP = -1  # in place of a total that is not worth its search
_FAR = 1 << 62


class Savings(NamedTuple):
    """What a centre can match: class `c` saves `weight` with the bags at `at[slot[c]]` on."""

    slot: Numbers  # of each class of terms; -1: no bag is close to it
    classes: Numbers  # those that have a slot
    at: Ints
    bag: Numbers
    weight: Ints
    best: Ints  # of each slot, the most that an occurrence can take off the distance
    room: Ints  # of each slot, how many occurrences its bags can take


@compiled
def best_matching(
    savings: Any, stand: Any, classes: Any, counts: Any, low: int, high: int, need: int
) -> tuple[int, Any, Any, Any]:
    """Return the largest total saving, and how many of which bags match which terms.

    `stand` says how often each bag stands in the centre. The vocabulary has `counts[low:high]`
    occurrences of terms of `classes`. A search that can't reach `need` is given up.
    """
    local, bags, terms, most = _met(savings, stand, classes, counts, low, high)
    height, width = bags.size, terms.size
    if most < need:
        return GIVEN_UP, np.zeros((0, 0), dtype=np.int64), bags, terms
    # The smaller side are the rows.
    flip = width < height
    weight = np.zeros((width, height) if flip else (height, width), dtype=np.int64)
    supply, demand = np.empty(weight.shape[0], np.int64), np.empty(weight.shape[1], np.int64)
    of_bags, of_terms = (demand, supply) if flip else (supply, demand)
    for row in range(height):
        of_bags[row] = stand[bags[row]]
    for column in range(width):
        of_terms[column] = counts[terms[column]]
        slot = savings.slot[classes[terms[column]]]
        for place in range(savings.at[slot], savings.at[slot + 1]):
            row = local[savings.bag[place]]
            if flip:
                weight[column, row] = savings.weight[place]
            else:
                weight[row, column] = savings.weight[place]
    total, flow = transported(weight, supply, demand, need)
    return total, (flow.T if flip else flow), bags, terms


@compiled
def _met(
    savings: Any, stand: Any, classes: Any, counts: Any, low: int, high: int
) -> tuple[Any, Any, Any, int]:
    """Return the places of the bags that can match, these bags, the terms that can, and a bound.

    Bags and terms together save no more than it: neither side can save more with its best partners.
    """
    local = np.full(stand.size, -1, dtype=np.int64)
    bags, terms = np.empty(stand.size, dtype=np.int64), np.empty(high - low, dtype=np.int64)
    tops, wanted = np.zeros(stand.size, np.int64), np.zeros(stand.size, np.int64)
    width = height = by_terms = by_bags = 0
    for term in range(low, high):
        slot = savings.slot[classes[term]]
        if slot < 0:
            continue
        terms[width] = term
        width += 1
        top = 0
        for place in range(savings.at[slot], savings.at[slot + 1]):
            bag, weight = savings.bag[place], savings.weight[place]
            if local[bag] < 0:
                local[bag], bags[height] = height, bag
                height += 1
            top, tops[bag] = max(top, weight), max(tops[bag], weight)
            wanted[bag] += counts[term]
        by_terms += top * min(counts[term], savings.room[slot])
    for bag in bags[:height]:
        by_bags += tops[bag] * min(wanted[bag], stand[bag])
    return local, bags[:height], terms[:width], min(by_terms, by_bags)


class _Tree(NamedTuple):
    """Shortest paths from one row, over columns that are used up to the rows that use them."""

    distance: Ints  # of each column
    scanned: Marks
    from_row: Ints  # the row before each column
    reached: Ints  # how far each row is; -1: not in the tree
    from_column: Ints  # the column before each row
    pending: Ints


@compiled
def transported(  # noqa: C901 a compiled loop
    weight: Any, supply: Any, demand: Any, need: int
) -> tuple[int, Any]:
    """Return the largest total of `weight` that `supply` can bring to `demand`, and the flow.

    Nothing moves where the weight is 0. If the total can't reach `need`, it is GIVEN_UP.
    """
    rows, columns = weight.shape
    flow, demand = np.zeros((rows, columns), dtype=np.int64), demand.copy()
    tops = np.zeros(rows, dtype=np.int64)
    for row in range(rows):
        for column in range(columns):
            tops[row] = max(tops[row], weight[row, column])
    left = (tops * supply).sum()
    total = 0
    # Prices: -weight - of_row - of_column is 0 where something moves, and nowhere below it.
    of_row, of_column = np.zeros(rows, dtype=np.int64), np.zeros(columns, dtype=np.int64)
    tree = _Tree(
        np.empty(columns, np.int64),
        np.empty(columns, np.bool_),
        np.empty(columns, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
    )
    # The row with most to save goes first, so that a hopeless search ends early.
    for start in np.argsort(-tops, kind="mergesort"):
        if total + left < need:
            return GIVEN_UP, flow
        left -= tops[start] * supply[start]
        for column in range(columns):
            if weight[start, column] > 0:
                of_row[start] = min(of_row[start], -weight[start, column] - of_column[column])
        remaining = supply[start]
        while remaining > 0:
            end, last, length = _grow(tree, weight, flow, demand, of_row, of_column, start)
            for column in range(columns):
                if tree.scanned[column]:
                    of_column[column] -= length - tree.distance[column]
            for row in range(rows):
                if tree.reached[row] >= 0:
                    of_row[row] += length - tree.reached[row]
            moved = _move(tree, flow, demand, start, end, last, remaining)
            remaining -= moved
            total -= moved * of_row[start]
    if total < need:
        return GIVEN_UP, flow
    return total, flow


@compiled
def _grow(  # noqa: C901 a compiled loop
    tree: Any, weight: Any, flow: Any, demand: Any, of_row: Any, of_column: Any, start: int
) -> tuple[int, int, int]:
    """Grow the `tree` from row `start`; return where the shortest path ends, and its length.

    It ends at a column, or at -1: then the last row leaves something unmatched instead.
    """
    rows, columns = weight.shape
    tree.distance[:], tree.scanned[:], tree.reached[:] = _FAR, False, -1
    tree.reached[start], tree.pending[0], waiting = 0, start, 1
    idle, least = start, _FAR
    while True:
        while waiting:
            waiting -= 1
            row = tree.pending[waiting]
            so_far = tree.reached[row] - of_row[row]
            if so_far < least:  # nothing is paid for what stays unmatched
                least, idle = so_far, row
            for column in range(columns):
                if weight[row, column] > 0 and not tree.scanned[column]:
                    length = so_far - weight[row, column] - of_column[column]
                    if length < tree.distance[column]:
                        tree.distance[column], tree.from_row[column] = length, row
        column, nearest = -1, least
        for other in range(columns):
            # Of equally short paths one that matches more is taken.
            if not tree.scanned[other] and tree.distance[other] < nearest + (column < 0):
                column, nearest = other, tree.distance[other]
        if column < 0:
            return -1, idle, least
        if demand[column]:
            return column, tree.from_row[column], nearest
        tree.scanned[column] = True
        for row in range(rows):
            if flow[row, column] and tree.reached[row] < 0:
                tree.reached[row], tree.from_column[row] = nearest, column
                tree.pending[waiting] = row
                waiting += 1


@compiled
def _move(tree: Any, flow: Any, demand: Any, start: int, end: int, last: int, most: int) -> int:
    """Move as much as can be, at most `most`, along the path to row `last` and column `end`."""
    moved, row = most, last
    if end >= 0:
        moved = min(moved, demand[end])
    while row != start:
        column = tree.from_column[row]
        moved = min(moved, flow[row, column])
        row = tree.from_row[column]
    if end >= 0:
        demand[end] -= moved
        flow[last, end] += moved
    row = last
    while row != start:
        column = tree.from_column[row]
        flow[row, column] -= moved
        row = tree.from_row[column]
        flow[row, column] += moved
    return moved
