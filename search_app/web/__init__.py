"""The web applications: one serves a workspace's site with its pages and API, one a study."""

from __future__ import annotations

from pathlib import Path

from flask import Flask
from jinja2 import StrictUndefined

from .. import __version__
from ..disclosure.numbers import two_decimals
from ..errors import UsageError
from ..settings import DEMO, PLAIN, PRIVATE
from . import layout
from .api import device as api_device
from .api import dial as api_dial
from .api import experiments as api_experiments
from .api import groups as api_groups
from .api import health, metrics, opensearch
from .api import profile as api_profile
from .api import search as api
from .api import study as api_study
from .api.described import docs
from .escaping import escape_quickly
from .faults import API, show_faults
from .headers import guard
from .pages import (
    about,
    admin,
    compare,
    device,
    experiments,
    groups,
    log,
    me,
    search,
    why,
)
from .pages.lesson import attack, dial, lecture
from .pages.study import leader, participant, serving
from .pages.study.place import KEY as STUDY
from .pages.study.place import ServedStudy, leads
from .parameters import LONGEST
from .question import link
from .site import KEY, Example, Live, Site, give_back_site, this_site
from .visitors import sign_in
from .visitors.limits import limit
from .wording import unparted

__all__ = ["Example", "Live", "ServedStudy", "Site", "create_app", "create_study_app"]

_PAGES = (
    *(search, compare, device, dial, lecture, attack, groups, log, experiments, me, about, health),
)
_API = (api, api_device, api_dial, api_profile, api_groups, api_experiments, docs)
_DOORS = (sign_in, admin, why, layout, opensearch, metrics)


def create_app(site: Site | Live) -> Flask:
    """Return the application that serves `site`, or whichever site a `Live` one has now."""
    app = _bare("base.html", ("search.show", "To the search page"))
    app.extensions[KEY] = site if isinstance(site, Live) else Live(site)
    app.teardown_appcontext(give_back_site)
    app.jinja_env.filters["two_decimals"] = two_decimals
    app.jinja_env.filters["unparted"] = unparted
    app.jinja_env.globals.update(
        offered=layout.offered,
        navigation=layout.navigation,
        drawer=layout.drawer,
        DEMO=DEMO,
        PRIVATE=PRIVATE,
        PLAIN=PLAIN,
    )
    app.context_processor(lambda: {"site": this_site()})
    settings = app.extensions[KEY].now.settings
    metrics.measure(app)
    # Checks run in the order of registration: host and origin, sign-in, then rate.
    guard(app, settings, tokens=API)
    for module in (*_PAGES, *_API, *_DOORS):
        app.register_blueprint(module.pages)
    limit(app, settings.rate)
    show_faults(app)
    return app


def create_study_app(place: ServedStudy) -> Flask:
    """Return the application that serves the study of `place`, and nothing else."""
    app = _bare("study/frame.html", ("study.show", "Go on"))
    app.extensions[STUDY] = place
    app.jinja_env.globals.update(study=place.study, leads=leads)
    guard(app, place.settings)
    for module in (serving, participant, api_study, leader, layout):
        app.register_blueprint(module.pages)
    show_faults(app)
    return app


def _bare(frame: str, start: tuple[str, str]) -> Flask:
    """Return an application without pages; `frame` is around each, `start` leads out of faults."""
    app = Flask(__name__, static_folder=None, template_folder=str(_templates()))
    # Each route takes the methods that it names and no other.
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    # Merging slashes would answer //about with a redirect made from the request's own path.
    app.url_map.merge_slashes = False
    app.jinja_env.undefined = StrictUndefined
    escape_quickly(app)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.globals.update(
        version=__version__, url_for=link, longest=LONGEST, frame=frame, start=start
    )
    return app


def _templates() -> Path:
    """Return the folder of templates: next to this file when installed, else in the checkout."""
    here = Path(__file__).resolve().parent
    for folder in (here / "templates", here.parents[1] / "templates"):
        if (folder / "base.html").is_file():
            return folder
    raise UsageError("the page templates are missing; install veilsearch again")
