"""The settings of a search that lie in a drawer of the form."""

from __future__ import annotations

from typing import NamedTuple

from .parameters import MIX, POOL, Parameter
from .question import Question
from .site import PLAIN, Site


class Field(NamedTuple):
    """A number to fill in."""

    name: str
    label: str
    value: str
    usual: str  # what need not be said in the address
    meaning: str
    least: str = ""
    most: str = ""
    step: str = ""


class Drawer(NamedTuple):
    """The fields, and a line that names those that are not as usual."""

    summary: str
    fields: list[Field]


def drawer(site: Site, question: Question) -> Drawer:
    """Return what the form's drawer holds, and the line that names it."""
    fields = [_number(POOL, "Pool", question.pool, "1", site)]
    if site.access != PLAIN:
        fields.append(_number(MIX, "Mix", question.mix, "any", site))
    changed = [f"{each.label.lower()} {each.value}" for each in fields if each.value != each.usual]
    return Drawer(f"Settings: {', '.join(changed)}" if changed else "Settings", fields)


def _number(parameter: Parameter, label: str, value: float, step: str, site: Site) -> Field:
    usual = parameter.usual(site)
    numbers = (value, usual, parameter.least, parameter.most)
    shown, left_out, least, most = (f"{number:.15g}" for number in numbers)
    return Field(parameter.name, label, shown, left_out, parameter.meaning, least, most, step)
