"""A job: what the engine wants to have, through all its redirects and retries; and the jobs that wait."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from scenthound.drivers.live.orders import NO_PAGE, Kind


@dataclass(slots=True)
class Job:
    """`url` and `host` change with redirects; `page` stays what the strategy asked for."""

    kind: Kind
    url: str
    host: int
    page: int = NO_PAGE
    origin: str = ""  #: whose robots.txt this is for
    n_tries: int = 0
    passed: list[str] = field(default_factory=list)  #: the addresses that redirected
    n_followers: int = 0  #: other jobs that wait for what becomes of this one
    has_place: bool = False  #: whether a place in the budgets is reserved for it
    regret: float | None = None
    score: float | None = None
    rank: int = 0  #: how many pages had been asked for before
    n_waiting: int = 0  #: how many pages waited when it was asked for


class HeldJobs:
    """Jobs that wait for their host to be ready, first come, first served."""

    def __init__(self) -> None:
        self._of_host: dict[int, deque[Job]] = {}
        self._n_jobs = 0

    def __len__(self) -> int:
        return self._n_jobs

    def __contains__(self, host: int) -> bool:
        return host in self._of_host

    def hosts(self) -> list[int]:
        return list(self._of_host)

    def add(self, job: Job, *, first: bool = False) -> None:
        jobs = self._of_host.setdefault(job.host, deque())
        if first:
            jobs.appendleft(job)
        else:
            jobs.append(job)
        self._n_jobs += 1

    def next(self, host: int) -> Job:
        jobs = self._of_host[host]
        job = jobs.popleft()
        if not jobs:
            del self._of_host[host]
        self._n_jobs -= 1
        return job

    def of(self, host: int) -> Iterable[Job]:
        """The jobs of a host, the next one first."""
        return self._of_host[host]

    def take_all(self, host: int) -> Iterator[Job]:
        while host in self._of_host:
            yield self.next(host)
