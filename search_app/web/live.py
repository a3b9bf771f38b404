"""Which site is served now: a request keeps the one it began with until its end."""

from __future__ import annotations

import threading
from contextlib import ExitStack

from .site import Site


class Live:
    """A site that another can take the place of; the former is closed when nobody uses it."""

    def __init__(self, site: Site):
        self._lock = threading.Lock()
        self._now = site
        self._users = {site: 0}

    @property
    def now(self) -> Site:
        """Return the site that is served now, to look at."""
        return self._now

    def borrow(self) -> Site:
        """Return the site that is served now; it stays open until it is given back."""
        with self._lock:
            self._users[self._now] += 1
            return self._now

    def give_back(self, site: Site) -> None:
        """End one use of a site."""
        with self._lock:
            self._users[site] -= 1

    def switch(self, site: Site) -> None:
        """Serve another site from now on."""
        with self._lock:
            self._users.setdefault(site, 0)
            self._now = site

    def close_unused(self) -> int:
        """Close the former sites that no request uses any more; return how many.

        One that fails to close keeps none of the others open; its fault is raised at the end.
        """
        with self._lock:
            unused = [s for s, users in self._users.items() if not users and s is not self._now]
            for site in unused:
                del self._users[site]
        with ExitStack() as closing:
            for site in unused:
                closing.callback(site.close)
        return len(unused)
