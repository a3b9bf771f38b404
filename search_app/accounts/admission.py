"""The access modes of a server: demo, private or plain, and what each of them needs."""

from __future__ import annotations

import ipaddress

from ..errors import UsageError
from ..settings import DEMO, PLAIN, Settings

SHORTEST = 20  # characters of the operator's token
_VARIABLE = "VEILSEARCH_ADMIN_TOKEN"
_COMMAND = "python3 -c 'import secrets; print(secrets.token_urlsafe())'"


def access_of(settings: Settings, *, invented: bool, loopback: bool) -> str:
    """Return the access mode of `settings`; by default demo for `invented` people, else plain."""
    # In mode demo everybody may search as anybody. So it is refused for real people, and unless
    # `loopback` keeps strangers out.
    chosen = settings.access or (DEMO if invented else PLAIN)
    if chosen == DEMO and not invented:
        raise UsageError(
            f"mode demo shows invented people only, and {settings.workspace} has none; serve with "
            "--mode private (people sign in) or --mode plain (nobody is known)"
        )
    if chosen == DEMO and not loopback:
        raise UsageError(
            "mode demo lets everybody search as anybody, so only this machine may reach it; serve "
            "with --host 127.0.0.1, or with --mode private or --mode plain"
        )
    return chosen


def refuse_private(settings: Settings) -> None:
    """Refuse mode private if `settings` have no good operator's token."""
    if fault := token_fault(settings.admin_token):
        raise UsageError(f"mode private: {fault}; {token_remedy()}")


def token_fault(token: str) -> str:
    """Return what is wrong with the operator's `token`; empty if nothing is."""
    if not token:
        return f"{_VARIABLE} is not set"
    if len(token) < SHORTEST:
        return f"{_VARIABLE} has {len(token)} characters and needs at least {SHORTEST}"
    return ""


def token_remedy() -> str:
    """Return how to make a token."""
    return f'make one with: export {_VARIABLE}="$({_COMMAND})"'


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach `host`."""
    host = host.strip("[]").lower().partition("%")[0]
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
