"""The people to choose from."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from flask import Flask
from markupsafe import escape

from .site import Site, this_site


def chooser(app: Flask) -> Callable[[str], str]:
    """Render the list of a site's people once; return what marks the chosen one in it."""
    lists: WeakKeyDictionary[Site, str] = WeakKeyDictionary()  # keeps no former site

    def chosen(user: str) -> str:
        site = this_site()
        if site not in lists:
            template = app.jinja_env.get_template("search/people.html")
            lists[site] = template.render(people=site.people)
        value = f'value="{escape(user)}"'
        return lists[site].replace(value, f"{value} selected", 1)

    return chosen
