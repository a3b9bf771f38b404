"""The pages: one blueprint a noun; a view reads the request, makes one call and renders."""

from __future__ import annotations

from pathlib import Path

from flask import Flask
from jinja2 import StrictUndefined

from .. import __version__
from ..errors import UsageError
from . import (
    about,
    admin,
    api,
    api_device,
    api_experiments,
    api_groups,
    api_profile,
    assets,
    compare,
    device,
    docs,
    experiments,
    groups,
    health,
    lecture,
    log,
    me,
    search,
    sign_in,
    why,
)
from .addresses import link
from .drawer import drawer
from .faults import show_faults
from .headers import guard
from .limits import limit
from .live import Live
from .navigation import navigation
from .parameters import LONGEST
from .people import chooser
from .server import serve
from .site import KEY, Example, Site, give_back_site, this_site
from .wording import two_decimals, unparted

__all__ = ["Example", "Live", "Site", "create_app", "serve"]

_BLUEPRINTS = (
    search.pages,
    compare.pages,
    device.pages,
    lecture.pages,
    groups.pages,
    log.pages,
    experiments.pages,
    me.pages,
    about.pages,
    health.pages,
    api.pages,
    api_device.pages,
    api_profile.pages,
    api_groups.pages,
    api_experiments.pages,
    docs.pages,
    sign_in.pages,
    admin.pages,
    why.pages,
    assets.pages,
)


def create_app(site: Site | Live) -> Flask:
    """Return the application that serves a site, or whichever is live."""
    app = Flask(__name__, static_folder=None, template_folder=str(_templates()))
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False  # each route takes what it names
    app.url_map.merge_slashes = False  # no redirects
    app.extensions[KEY] = site if isinstance(site, Live) else Live(site)
    app.teardown_appcontext(give_back_site)
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.filters["two_decimals"] = two_decimals
    app.jinja_env.filters["unparted"] = unparted
    app.jinja_env.globals.update(
        version=__version__,
        people_options=chooser(app),
        navigation=navigation,
        url_for=link,
        drawer=drawer,
        longest=LONGEST,
    )
    app.context_processor(lambda: {"site": this_site()})
    settings = app.extensions[KEY].now.settings
    guard(app, settings)  # before the pages, which look at requests themselves
    limit(app, settings.rate)
    for pages in _BLUEPRINTS:
        app.register_blueprint(pages)
    show_faults(app)
    return app


def _templates() -> Path:
    """Find the pages' templates: beside this file when installed, else in the checkout."""
    here = Path(__file__).resolve().parent
    for folder in (here / "templates", here.parents[1] / "templates"):
        if (folder / "base.html").is_file():
            return folder
    raise UsageError("the page templates are missing; install veilsearch again")
