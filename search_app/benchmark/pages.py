"""R3: personalized pages and comparisons against the plain page, as whole HTTP requests."""

from __future__ import annotations

from http.client import HTTPConnection

from anonymizer.profile_file import read_profiles
from index.build import open_forward

from ..workspace import Workspace
from .bars import Measured
from .invented_people import invented_queries, town_over
from .plan import Place, Plan
from .server import connected, fetch, served
from .timing import QueryCalls, divided, milliseconds, timed_over

PARTS = {
    "page": ("personalized page", "plain page"),
    "comparison": ("comparison", "plain page"),
}


def measure(plan: Plan, place: Place) -> Measured:
    """Time requests of one client to a server in another process."""
    index = Workspace(plan.workspace).find("index")
    town = town_over(index, place, plan.people)
    users = read_profiles(town.find("profiles")).users
    queries = invented_queries(open_forward(index).terms, plan.queries)
    with served(town) as port, connected(port) as connection:
        calls = pages(connection, users)
        taken = timed_over(queries, calls, plan.rounds, plan.page_warm_up)
    values, counts = divided(taken, PARTS)
    return Measured(values, milliseconds(taken), calls=counts)


def pages(connection: HTTPConnection, users: tuple[str, ...]) -> QueryCalls:
    """Return requests for whole pages, each query as another person."""

    def user(query: str) -> str:
        return users[sum(query.encode()) % len(users)]

    return {
        "plain page": lambda query: fetch(connection, "/", q=query),
        "personalized page": lambda query: fetch(
            connection, "/", q=query, user=user(query), mode="group"
        ),
        "comparison": lambda query: fetch(connection, "/compare", q=query, user=user(query)),
    }
