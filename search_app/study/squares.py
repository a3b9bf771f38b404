"""Orders in which people meet conditions, such that no order and no neighbour is favoured.

Williams, Experimental Designs Balanced for the Estimation of Residual Effects of Treatments (1949):
in the rows of the square, each condition stands equally often at each place, and equally often
right after each other condition. An even number of conditions needs a row for
each, an odd one two.
"""

from __future__ import annotations


def williams(conditions: int) -> tuple[tuple[int, ...], ...]:
    """Return the rows of the Williams square for the conditions 0 to `conditions` - 1."""
    if conditions < 1:
        return ()
    # 0, 1, n-1, 2, n-2, ...: all differences between neighbours occur once.
    first = [
        (place + 1) // 2 * (1 if place % 2 else -1) % conditions for place in range(conditions)
    ]
    rows = [tuple((number + step) % conditions for number in first) for step in range(conditions)]
    # With an odd number, rows alone favour one order of neighbours; mirrored ones even it out.
    if conditions % 2 and conditions > 1:
        rows += [row[::-1] for row in rows]
    return tuple(rows)
