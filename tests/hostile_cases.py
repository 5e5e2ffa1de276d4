"""The cases of the hostile site, with their expected results.

A case has the expected result of a single fetch (`fetched`) and of the page in a crawl (`crawled`): a skip reason, or
PAGE_FETCHED. Cases are in `hostile_http`, `hostile_heads`, `hostile_bodies` and `hostile_hosts`; `hostile_server.CASES`
has all of them.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from hostile_wire import Wire
from scenthound.reasons import SkipReason

PAGE_FETCHED = "page"
HOST = "hostile.test"

Handler = Callable[[Wire], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class HostileCase:
    """A case. `listener` is the name of its socket, `host` the host name in its URL."""

    name: str
    description: str
    fetched: SkipReason | str
    crawled: SkipReason | str
    answer: Handler
    path: str
    host: str = HOST
    listener: str = "plain"
    html_only: bool = True
    #: CPU time limit of a single fetch.
    max_cpu_s: float = 3.0
    #: Maximum number of requests of a fetch.
    max_requests: int = 1


_REGISTERED: list[HostileCase] = []


def case(
    name: str,
    description: str,
    fetched: SkipReason | str,
    *,
    crawled: SkipReason | str | None = None,
    host: str = HOST,
    path: str | None = None,
    listener: str = "plain",
    html_only: bool = True,
) -> Callable[[Handler], Handler]:
    """Register the decorated coroutine as a case."""

    def register(answer: Handler) -> Handler:
        _REGISTERED.append(
            HostileCase(
                name=name,
                description=description,
                fetched=fetched,
                crawled=fetched if crawled is None else crawled,
                answer=answer,
                path=f"/{name}" if path is None else path,
                host=host,
                listener=listener,
                html_only=html_only,
            )
        )
        return answer

    return register


def registered() -> tuple[HostileCase, ...]:
    return tuple(_REGISTERED)
