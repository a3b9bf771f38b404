"""Escaping for pages: what markupsafe gives, to the byte, in Python and in templates."""

from __future__ import annotations

from flask import Flask, render_template_string
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup, escape

from search_app.web.escaping import escape_quickly, escaped, filled

SIGNS = st.text(st.one_of(st.sampled_from("<>&\"'%{}\0İ👩‍👧"), st.characters()), max_size=30)


class Linked(str):
    """A text that says itself how a page has it."""

    def __html__(self) -> str:
        return Markup("<a>{}</a>").format(str(self))


VALUES = st.one_of(
    SIGNS, SIGNS.map(Markup), SIGNS.map(Linked), st.integers(), st.floats(), st.none()
)


@given(VALUES)
def test_everything_is_escaped_as_markupsafe_does(value: object) -> None:
    assert escaped(value) == escape(value)


@given(SIGNS, SIGNS)
def test_what_fills_a_frame_is_escaped_and_markup_is_not_escaped_again(
    text: str, title: str
) -> None:
    made = filled('<a href="{}">{}</a>', text, filled("<b>{}</b>", title))
    assert made == f'<a href="{escape(text)}"><b>{escape(title)}</b></a>'
    assert isinstance(made, Markup)


TEMPLATE = (
    '<a title="{{ v }}">{% macro m(x) %}<i>{{ x }}</i>{% endmacro %}{{ m(v) }}'
    "{% set kept %}{{ v }}{% endset %}{{ kept }}{{ v | safe }}{{ v ~ '<' }}{{ '<b>' | e }}"
    "{% autoescape false %}{{ v }}{% endautoescape %}</a>"
)


@given(VALUES)
def test_templates_give_the_bytes_that_they_gave(value: object) -> None:
    quick, plain = Flask("quick"), Flask("plain")
    escape_quickly(quick)
    pages = []
    for app in (quick, plain):
        with app.app_context():
            pages.append(render_template_string(TEMPLATE, v=value))
    assert pages[0] == pages[1]
