"""The people to choose from."""

from __future__ import annotations

from collections.abc import Callable

from flask import Flask
from markupsafe import escape

from .site import Site


def chooser(app: Flask, site: Site) -> Callable[[str], str]:
    """Render the list of people once; return what marks the chosen one in it."""
    options = app.jinja_env.get_template("search/people.html").render(people=site.people)

    def chosen(user: str) -> str:
        value = f'value="{escape(user)}"'
        return options.replace(value, f"{value} selected", 1)

    return chosen
