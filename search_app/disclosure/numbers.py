"""Numbers as words and digits, written the same way on all pages."""

from __future__ import annotations

import math

NO_VALUE = "–"
_NUMBERS = ("no", "one", "two", "three", "four")


def count(number: int, one: str, many: str) -> str:
    """Return `number` with its noun: `one` after 1, else `many`."""
    return f"{number:,} {one if number == 1 else many}"


def in_letters(number: int) -> str:
    """Return `number` as a word if it is small, else in digits."""
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"


def two_decimals(value: float | None) -> str:
    """Return `value` with two decimals, a true minus and no minus zero; None is a dash."""
    return NO_VALUE if value is None else f"{round(value, 2) + 0:.2f}".replace("-", "−")


def hundredths(value: float) -> str:
    """Return `value`, a share, in hundredths."""
    # Rounded as two_decimals does, so that a page never shows 0.35 next to 34 %.
    return f"{100 * round(value, 2):.0f}"


def rounded_up(share: float) -> int:
    """Return `share`, which is at worst, in hundredths that are never less than it."""
    return math.ceil(round(100 * share, 7))  # what lies behind that is noise of the computation


def at_worst(share: float | None) -> str:
    """Return `share` with two decimals, never less than it; only what is certain is 1.00."""
    if share is None:
        return NO_VALUE
    return "over 0.99" if _nearly(share) else f"{rounded_up(share) / 100:.2f}"


def up_to(share: float) -> str:
    """Return in words that something happens in `share` of 100 cases at worst, never less."""
    return "more than 99" if _nearly(share) else f"up to {rounded_up(share)}"


def _nearly(share: float) -> bool:
    return 99 < round(100 * share, 7) < 100


def whole_percent(share: float) -> str:
    """Return `share` in whole percent; a small share above 0 is "under 1 %", never 0."""
    return "under 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def percent(share: float) -> str:
    """Return `share` in percent with one decimal; only all is 100, and only nothing is 0."""
    shown = f"{100 * share:.1f}"
    if shown == "0.0" and share > 0:
        return "under 0.1"
    return "over 99.9" if shown == "100.0" and share < 1 else shown.removesuffix(".0")


def rounded_share(share: float) -> str:
    """Return in percent a `share` that a release states rounded: 0 and 1 may be near misses."""
    if share in (0.0, 1.0):
        return "over 99 %" if share else "under 1 %"
    return f"{share:.0%}".replace("%", " %")
