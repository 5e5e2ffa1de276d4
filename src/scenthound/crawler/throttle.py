"""Off-topic throttling: hosts and domains whose pages are hardly relevant get few pages while others have some.

It stops crawler traps that no URL gives away (`web.traps` knows the others): random paths, counters, ever new hosts of
one domain. It also limits large sites on other topics.

Rules
- Each host and each registrable domain has an allowance of pages: at first `ALLOWANCE`, or `SEED_ALLOWANCE` in the
  domains of the seeds. A page costs one, and earns one if its relevance is `MIN_SHARE` of the crawl's mean, in
  proportion. So only pages well below the mean spend it, whatever the scale of the relevance model.
- When the allowance of its host or domain is spent, a page waits for `PAGES_BETWEEN` other pages of the crawl, the next
  one for twice as many, then three times, and so on, up to `MAX_PAGES_BETWEEN`. It stays in the frontier meanwhile. A
  page of at least mean relevance starts this anew.
- Others are the pages within their allowances, so that throttled domains do not wait for each other.
- If there are no other pages, in the frontier or in flight, throttled ones are requested as usual: throttling neither
  ends nor slows down a crawl that has nothing better to do.
- Pages in flight have earned nothing yet. Near-duplicates and soft 404s cost as much as pages; other failures are free.
- Only the relevance of visits decides. There is no clock.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenthound.crawler.tasks import Hosts, Job
from scenthound.reasons import SkipReason
from scenthound.saved_state import State, restore_attributes, saved_attributes

if TYPE_CHECKING:
    from scenthound.crawler.scheduler import Scheduler

ALLOWANCE = 50
#: The first pages of a site may only lead to those on topic.
SEED_ALLOWANCE = 200
#: A site with many pages on topic may have a trap, too.
MAX_ALLOWANCE = 500
MIN_SHARE = 0.25
PAGES_BETWEEN = 10
MAX_PAGES_BETWEEN = 1_000
#: Failures of pages that were fetched and brought nothing new.
NOTHING_NEW = frozenset({SkipReason.NEAR_DUPLICATE, SkipReason.SOFT_404, SkipReason.EMPTY_PAGE})


@dataclass(slots=True)
class _Account:
    """The allowance of a host or domain. `next_turn` is the number of other pages after which it gets a page, if the
    allowance is spent."""

    allowance: float
    n_pending: int = 0
    n_beyond: int = 0  #: pages beyond the allowance
    next_turn: int = 0

    @property
    def is_spent(self) -> bool:
        return self.allowance - self.n_pending < 1

    def start(self, n_others: int) -> None:
        self.n_beyond += self.is_spent
        self.n_pending += 1
        self.next_turn = n_others + min(PAGES_BETWEEN * (self.n_beyond + 1), MAX_PAGES_BETWEEN)

    def end(self, share_of_mean: float) -> None:
        self.n_pending -= 1
        self.allowance = min(max(0.0, self.allowance - 1) + share_of_mean / MIN_SHARE, MAX_ALLOWANCE)
        if share_of_mean >= 1:
            self.n_beyond = 0

    def cancel(self) -> None:
        self.n_pending -= 1


class _Accounts:
    """Accounts by the number of a host or domain, and the next turns of those whose allowance is spent. `on_release` is
    called if one of these comes earlier or is not needed any more."""

    def __init__(self, on_release: Callable[[], None]) -> None:
        self._accounts: dict[int, _Account] = {}
        self._on_release = on_release
        self.spent: dict[int, int] = {}
        #: All turns that were ever next and are still to come.
        self.turns: set[int] = set()

    def state(self) -> State:
        accounts = [[a.allowance, a.n_pending, a.n_beyond, a.next_turn] for a in self._accounts.values()]
        values = [list(column) for column in zip(*accounts, strict=True)]
        return {"numbers": list(self._accounts), "accounts": values, **saved_attributes(self, ("spent", "turns"))}

    def restore(self, state: State) -> None:
        accounts = (_Account(*values) for values in zip(*state["accounts"], strict=True))
        self._accounts = dict(zip(state["numbers"], accounts, strict=True))
        restore_attributes(self, ("spent", "turns"), state)

    def start(self, number: int, allowance: int, n_others: int) -> None:
        self._accounts.setdefault(number, _Account(allowance)).start(n_others)
        self._note(number)

    def end(self, number: int, share_of_mean: float | None) -> None:
        account = self._accounts[number]
        if share_of_mean is None:
            account.cancel()
        else:
            account.end(share_of_mean)
        self._note(number)

    def pass_turn(self, n_others: int) -> None:
        """This many others have been visited."""
        if n_others in self.turns:
            self.turns.discard(n_others)
            self._on_release()

    def _note(self, number: int) -> None:
        account = self._accounts[number]
        before = self.spent.get(number)
        if account.is_spent:
            self.spent[number] = account.next_turn
            self.turns.add(account.next_turn)
        elif before is not None:
            del self.spent[number]
        if before is not None and (not account.is_spent or account.next_turn < before):
            self._on_release()


class Throttle:
    """The allowances of a crawl. Page jobs are started once per URL, and then visited or ended."""

    _SAVED = "_total_relevance", "_n_pages", "_n_others"

    def __init__(self, hosts: Hosts, seeds: Iterable[str]) -> None:
        self._table = hosts
        self._seed_domains = frozenset(hosts.domain(hosts.of_url(seed)) for seed in seeds)
        #: Hosts, by the strategy's numbers, that are known to be held (`Turns`). Emptied when any may be released,
        #: which is rare, so that thousands of held hosts are not checked again for every request.
        self.known_held: set[int] = set()
        self._hosts, self._domains = _Accounts(self.known_held.clear), _Accounts(self.known_held.clear)
        self._total_relevance = 0.0
        self._n_pages = 0
        self._n_others = 0

    def state(self) -> State:
        """A checkpoint for `restore`. Hosts that are known to be held are found again."""
        own = saved_attributes(self, self._SAVED)
        return {**own, "hosts": self._hosts.state(), "domains": self._domains.state()}

    def restore(self, state: State) -> None:
        """Continue from a checkpoint."""
        restore_attributes(self, self._SAVED, state)
        self._hosts.restore(state["hosts"])
        self._domains.restore(state["domains"])
        self.known_held.clear()

    @property
    def is_active(self) -> bool:
        """Whether any allowance is spent."""
        return bool(self._hosts.spent or self._domains.spent)

    def is_held(self, host: int) -> bool:
        """Whether the pages of a host have to wait for others. Called for every host in the frontier, so kept short."""
        n_others = self._n_others
        return (
            self._hosts.spent.get(host, 0) > n_others or self._domains.spent.get(self._table.domain(host), 0) > n_others
        )

    def start(self, job: Job) -> None:
        domain = self._table.domain(job.host)
        allowance = SEED_ALLOWANCE if domain in self._seed_domains else ALLOWANCE
        self._hosts.start(job.host, allowance, self._n_others)
        self._domains.start(domain, allowance, self._n_others)
        job.is_pending = True

    def visited(self, job: Job, relevance: float) -> None:
        self._total_relevance += relevance
        self._n_pages += 1
        mean = self._total_relevance / self._n_pages
        self._end(job, relevance / mean if mean > 0 else 1.0)
        if job.host not in self._hosts.spent and self._table.domain(job.host) not in self._domains.spent:
            self._n_others += 1
            self._hosts.pass_turn(self._n_others)
            self._domains.pass_turn(self._n_others)

    def ended(self, job: Job, reason: SkipReason | None = None) -> None:
        """A job failed, or was redirected and has no reason. Jobs that were not started are ignored."""
        if job.is_pending:
            self._end(job, 0.0 if reason in NOTHING_NEW else None)

    def _end(self, job: Job, share_of_mean: float | None) -> None:
        self._hosts.end(job.host, share_of_mean)
        self._domains.end(self._table.domain(job.host), share_of_mean)
        job.is_pending = False


class Turns:
    """The readiness of hosts for one request to the strategy, and what it shows of the pages in the frontier: whether
    hosts were held, and whether others will soon be ready."""

    def __init__(self, schedule: "Scheduler") -> None:
        self._schedule = schedule
        self.known_held = schedule.known_held
        self.has_held = False
        self.has_others = False

    def is_ready(self, host: int) -> bool:
        if host in self.known_held or self._schedule.is_held(host):
            self.known_held.add(host)
            self.has_held = True
            return False
        is_ready = self._schedule.is_ready(host)
        self.has_others = self.has_others or (not is_ready and not self._schedule.waits_long(host))
        return is_ready

    def waits_long(self, host: int) -> bool:
        return host in self.known_held or self._schedule.waits_long(host)
