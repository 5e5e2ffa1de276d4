"""The addresses that page jobs are after, so that none is asked for twice: redirects may lead many jobs to one.

A job that comes to an address which another is after waits for that one. What was redirected to in vain is remembered,
so that later jobs need not try it again.
"""

from scenthound.drivers.live.jobs import Job
from scenthound.drivers.live.orders import Refused
from scenthound.reasons import Reason

#: Addresses that are remembered to have been sought in vain.
MOST_IN_VAIN = 10_000


class SoughtAddresses:
    """Who is after what, and who waits for whom."""

    def __init__(self) -> None:
        self._owner: dict[str, Job] = {}
        self._waiting: dict[str, list[Job]] = {}
        self._in_vain: dict[str, Refused] = {}

    def why_in_vain(self, url: str) -> Refused | None:
        """What became of the address before, if that is worth no second try."""
        return self._in_vain.get(url)

    def take_on(self, job: Job) -> bool:
        """Let the job be after its address; False if it has to wait for another one."""
        owner = self._owner.setdefault(job.url, job)
        if owner is job:
            return True
        owner.n_followers += 1
        self._waiting.setdefault(job.url, []).append(job)
        return False

    def let_go(self, url: str) -> list[Job]:
        """The address is sought no more; those that waited for it."""
        owner = self._owner.pop(url, None)
        if owner is not None:
            owner.n_followers = 0
        return self._waiting.pop(url, [])

    def note_in_vain(self, job: Job, refused: Refused) -> None:
        """A job came to nothing. Others may come, or wait, if it was redirected, or if it was waited for. That it was
        redirected too often is its own fault and not the address's."""
        if refused.reason is Reason.REDIRECT_LOOP or not (job.passed or job.n_followers):
            return
        if len(self._in_vain) >= MOST_IN_VAIN:
            del self._in_vain[next(iter(self._in_vain))]
        self._in_vain[job.url] = refused
