"""Whether a method's parameters are all there, no others, and each one that it may be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

MOST = 2**31 - 1  # more people or terms than there can be; a longer number may be an id
Words = Mapping[str, tuple[str, ...]]
Numbers = Mapping[str, tuple[Callable[[Any], bool], str]]


def parameter_faults(
    parameters: Mapping[str, Any], words: Words, numbers: Numbers
) -> Iterator[str]:
    """Yield what is wrong with parameters; their values are not told, lest one is a user's id."""
    names = {*words, *numbers}
    for name in sorted(names - parameters.keys()):
        yield f"{name} is missing"
    if parameters.keys() - names:
        yield f"there are others than {', '.join(sorted(names))}"
    for name in sorted(names & parameters.keys()):
        value = parameters[name]
        if name in numbers and not numbers[name][0](value):
            yield f"{name} must be {numbers[name][1]}"
        elif name in words and value not in words[name]:
            yield f"{name} must be one of {', '.join(words[name])}"
