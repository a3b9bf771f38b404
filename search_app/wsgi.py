"""`search_app.wsgi:app`, the pages for any WSGI server [I/O]: import it in the process that serves.

The workspace and the operator's token come from the environment. Others can reach such a server, so
mode demo is refused.
"""

from __future__ import annotations

import atexit
import os
from contextlib import ExitStack
from typing import Any

from . import console
from .errors import UsageError
from .server.following import followed_app
from .server.opening import Serving
from .server.waitress import behind
from .settings import load_settings
from .web import Live
from .web.visitors.limits import OPEN


def _open() -> Any:
    settings = load_settings()
    serving = Serving(settings, console.say, loopback=False)
    serving.check()
    following = ExitStack()
    opened = following.enter_context(followed_app(serving, Live(serving.open())))
    atexit.register(following.close)
    opened.config[OPEN] = True
    return _here_only(behind(opened, settings.proxy, settings.https))


def _here_only(application: Any) -> Any:
    """Return `application`; in a process that was forked from this one, it refuses to answer."""
    opened_by = os.getpid()

    def answer(environ: Any, start_response: Any) -> Any:
        # Neither Java nor the thread that follows the workspace is in a forked process.
        if os.getpid() != opened_by:
            raise UsageError(
                "the workspace was opened before this process was forked; let each worker import "
                "search_app.wsgi itself (no --preload)"
            )
        return application(environ, start_response)

    return answer


app = _open()
