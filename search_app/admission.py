"""Who may ask a server as whom: demo, private or plain, and what each of them needs."""

from __future__ import annotations

import ipaddress

from .errors import UsageError
from .settings import ACCESS, Settings
from .workspace import Workspace

DEMO, PRIVATE, PLAIN = ACCESS
SHORTEST = 20
_VARIABLE = "VEILSEARCH_ADMIN_TOKEN"
_COMMAND = "python3 -c 'import secrets; print(secrets.token_urlsafe())'"


def access_of(settings: Settings, *, invented: bool, loopback: bool) -> str:
    """Return the chosen mode, or demo for invented people and plain for all others.

    Refuse demo where people are real or strangers can come: anybody is anybody there.
    """
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


def refuse_private(settings: Settings, workspace: Workspace) -> None:
    """Refuse private mode without profiles or without a secret of the operator's."""
    workspace.find("profiles")
    if fault := token_fault(settings.admin_token):
        raise UsageError(f"mode private: {fault}; {token_remedy()}")


def token_fault(token: str) -> str:
    """Say what is wrong with the operator's token, if anything is."""
    if not token:
        return f"{_VARIABLE} is not set"
    if len(token) < SHORTEST:
        return f"{_VARIABLE} has {len(token)} characters and needs at least {SHORTEST}"
    return ""


def token_remedy() -> str:
    """Say how to make a token."""
    return f'make one with: export {_VARIABLE}="$({_COMMAND})"'


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a host."""
    host = host.strip("[]").lower().partition("%")[0]
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
