"""Every way in which the hostile site misbehaves, in one table with what must come of it.

A case says what a single fetch must answer (`fetched`) and what must become of the page in a whole crawl (`crawled`):
a reason, or PAGE_TAKEN. Cases live in `hostile_http`, `hostile_heads`, `hostile_bodies` and `hostile_hosts`, and
`hostile_server.CASES` is all of them.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from hostile_wire import Wire
from scenthound.reasons import SkipReason

PAGE_TAKEN = "page"
HOST = "hostile.test"

Answer = Callable[[Wire], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class HostileCase:
    """`listener` names the socket that it is served on, `host` the name in its address."""

    name: str
    told: str
    fetched: SkipReason | str
    crawled: SkipReason | str
    answer: Answer
    path: str
    host: str = HOST
    listener: str = "plain"
    html_only: bool = True
    #: A single fetch takes no more CPU time of the one who fetches.
    most_cpu_s: float = 3.0
    #: A fetch costs the server at most this many requests.
    most_requests: int = 1


_REGISTERED: list[HostileCase] = []


def case(
    name: str,
    told: str,
    fetched: SkipReason | str,
    *,
    crawled: SkipReason | str | None = None,
    host: str = HOST,
    path: str | None = None,
    listener: str = "plain",
    html_only: bool = True,
) -> Callable[[Answer], Answer]:
    """Register what the decorated coroutine does as a case."""

    def register(answer: Answer) -> Answer:
        _REGISTERED.append(
            HostileCase(
                name=name,
                told=told,
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
