"""The engine of a live crawl: it decides what to fetch next. It has no clock, no sockets and no randomness of its own.

A page that the strategy returns is skipped at once, or becomes a job, which the scheduler turns into tasks. Their
results come back here: a redirect changes the job's URL, and a temporary failure is retried. In the end the strategy
receives the visit, or drops the page.

Rules
- The same calls with the same arguments give the same tasks, so a journal of them is the complete state of a crawl.
- `now_s` never decreases.
- Visited pages and pages in flight together never exceed the page budget.
- No URL is requested by two jobs at a time.
- In a shard (`shard`), what an event has for other shards is taken after the event (`take_outgoing`).
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from itertools import zip_longest
from random import Random

from scenthound.crawler.journal import Granted, Journal, ParcelArrived, Resumed, Turn
from scenthound.crawler.live_web import LiveWeb
from scenthound.crawler.page_set import PageSet
from scenthound.crawler.scheduler import Scheduler
from scenthound.crawler.scope import ScopeFilter
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.shard import Outgoing, Parcel, ShardMap
from scenthound.crawler.sitemap_links import with_sitemap_links
from scenthound.crawler.tasks import (
    REQUESTS,
    AddressesResolved,
    Failed,
    Fetched,
    Hosts,
    Job,
    Kind,
    Redirected,
    RobotsFetched,
    SavedJobs,
    SitemapFetched,
    Task,
    TaskResult,
)
from scenthound.crawler.throttle import Turns
from scenthound.errors import PluginError
from scenthound.frontier.base import ReadyHosts
from scenthound.frontier.politeness import HostCounts
from scenthound.model import IntArray, Visit
from scenthound.reasons import SkipReason
from scenthound.saved_state import State, restore_attributes, saved_attributes
from scenthound.store.crawl_records import SkippedRecord, VisitRecord
from scenthound.strategies.base import Strategy

#: Failed targets of redirects that are remembered.
MAX_EARLIER_FAILURES = 10_000


class RequestedUrls:
    """Deduplicates requests: redirects may lead many jobs to one URL.

    A job for a URL that another job requests waits for that one. Failed targets of redirects are remembered, so that
    later jobs do not request them again.
    """

    def __init__(self) -> None:
        self._owner: dict[str, Job] = {}
        self._waiting: dict[str, list[Job]] = {}
        #: How earlier jobs for URLs failed.
        self.earlier_failures: dict[str, Failed] = {}

    def state(self, saved: SavedJobs) -> State:
        """A checkpoint for `restore`."""
        return {
            "owners": saved.numbers(self._owner.values()),
            "waiting": [list(self._waiting), [saved.numbers(jobs) for jobs in self._waiting.values()]],
            "earlier_failures": [[url, asdict(failure)] for url, failure in self.earlier_failures.items()],
        }

    def restore(self, state: State, saved: SavedJobs) -> None:
        """Continue from a checkpoint."""
        self._owner = {job.url: job for job in saved.jobs(state["owners"])}
        self._waiting = {url: saved.jobs(numbers) for url, numbers in zip(*state["waiting"], strict=True)}
        failures = state["earlier_failures"]
        self.earlier_failures = {
            url: Failed(**{**each, "reason": SkipReason(each["reason"])}) for url, each in failures
        }

    def claim(self, job: Job) -> bool:
        """Let the job request its URL; False if it has to wait for another job."""
        owner = self._owner.setdefault(job.url, job)
        if owner is job:
            return True
        owner.n_followers += 1
        self._waiting.setdefault(job.url, []).append(job)
        return False

    def release(self, url: str) -> list[Job]:
        """Forget the job for a URL; returns the jobs that waited for it."""
        owner = self._owner.pop(url, None)
        if owner is not None:
            owner.n_followers = 0
        return self._waiting.pop(url, [])

    def note_failure(self, job: Job, failure: Failed) -> None:
        """Remember a failure if other jobs may come to the same URL. Too many redirects are no failure of the URL."""
        if failure.reason is SkipReason.REDIRECT_LOOP or not (job.passed or job.n_followers):
            return
        if len(self.earlier_failures) >= MAX_EARLIER_FAILURES:
            del self.earlier_failures[next(iter(self.earlier_failures))]
        self.earlier_failures[job.url] = failure


#: Jobs per connection that may wait for their hosts: enough to keep connections busy during robots.txt requests.
WAITING_PER_CONNECTION = 8
#: Pages requested in one turn. Pages of a disabled host are skipped one by one, and there may be a million of them.
MAX_REQUESTED = 1_000


@dataclass(frozen=True, slots=True)
class Visited:
    """A visited page. `n_visit` counts from 0."""

    n_visit: int
    job: Job
    fetched: Fetched
    links: IntArray


class Engine:
    """`is_recorded` returns whether a URL is read from a recorded web; `journal` receives all inputs, if it is set."""

    _SAVED = "_has_more_to_ask", "n_requested", "_n_open", "_hops", "_max_requested"

    def __init__(
        self,
        strategy: Strategy,
        web: LiveWeb,
        settings: CrawlSettings,
        scope: ScopeFilter,
        is_recorded: Callable[[str], bool],
        *,
        shards: ShardMap | None = None,
    ) -> None:
        self.strategy = strategy
        self.shards = shards
        self.web = web
        self.settings = settings
        if shards is not None:
            with self._strategy_fails_in("split"):
                strategy.split(shards.is_home)
        self.journal: Journal | None = None
        self._is_recorded = is_recorded
        self.hosts = Hosts(web.table)
        self._scheduler = Scheduler(settings, scope, self.hosts, self._fail, web.robots, shards=shards)
        self.politeness, self.sitemaps = self._scheduler.politeness, self._scheduler.sitemaps
        #: Whether the last turn ended at `MAX_REQUESTED`, not because nothing was left.
        self._has_more_to_ask = False
        self._skipped: list[SkippedRecord] = []
        #: Pages that the strategy returned so far.
        self.n_requested = 0
        #: Jobs for the next turn: they were redirected, waited for another job, or are requested again (`begin_anew`).
        self.to_send: list[Job] = []
        self._requested = RequestedUrls()
        #: Pages requested, and neither visited nor skipped yet.
        self._n_open = 0
        #: Tasks that a stop left without a result, and when they are to be repeated.
        self.repeated: list[tuple[Task, float]] = []
        self._n_hosts_seen = self._n_foreign_hosts = 0
        #: In a shard, the pages that the strategy may be asked for in all.
        self._max_requested = 0
        #: Redirects that led to a page in other shards, until it is requested; and those of pages that are handed on.
        self._hops: dict[int, int] = {}
        self._hops_on: dict[int, int] = {}
        #: Pages that were visited or skipped without being requested by this engine (`take_over`).
        self._settled = PageSet()

    @property
    def n_visits(self) -> int:
        return len(self.web.visits)

    @property
    def now_s(self) -> float:
        """The time of the last event."""
        return self._scheduler.now_s

    @property
    def n_in_flight(self) -> int:
        return len(self._scheduler.outstanding)

    @property
    def n_pages_issued(self) -> int:
        """Pages in flight."""
        return self._scheduler.n_pages_issued

    @property
    def n_waiting(self) -> int:
        """Requested pages that are not in flight and will not wait for long."""
        return max(0, self._n_open - self._scheduler.n_pages_issued - self._scheduler.n_waiting_long)

    def host_counts(self, now_s: float) -> HostCounts:
        """The states of the hosts of this crawl, or shard."""
        counts = self.politeness.counts(now_s)
        if self.shards is None:
            return counts
        # Those of other shards have numbers, too, and never get a request.
        names, known = self.hosts.names, self.politeness.n_known
        new = names[self._n_hosts_seen : known]
        self._n_foreign_hosts += sum(not self.shards.is_home_host(name) for name in new)
        self._n_hosts_seen = max(self._n_hosts_seen, min(known, len(names)))
        return counts._replace(ready=max(0, counts.ready - self._n_foreign_hosts))

    def allows(self, url: str, now_s: float) -> bool | None:
        """Whether robots.txt allows a canonical URL; None if that is not known yet. Changes nothing."""
        return self._scheduler.allows(url, now_s)

    def task(self, number: int) -> Task | None:
        """A task without a result."""
        return self._scheduler.outstanding[number][0] if number in self._scheduler.outstanding else None

    def is_idle(self) -> bool:
        return not (self._scheduler.outstanding or self._scheduler.waiting or self.to_send)

    @property
    def wants_turn(self) -> bool:
        """Whether another turn would give tasks at once."""
        return self._has_more_to_ask or bool(self.to_send) or self._scheduler.has_new_jobs

    def take_skipped(self) -> list[SkippedRecord]:
        """The pages skipped since the last call."""
        skipped, self._skipped = self._skipped, []
        return skipped

    def start(self, seeds: Sequence[str], rng: Random) -> None:
        with self._strategy_fails_in("start"):
            self.strategy.start(self.web.seeds(seeds), rng, self.web.seen)

    def state(self) -> State:
        """A checkpoint for `restore`, between two calls; skipped pages must have been taken."""
        saved = SavedJobs()
        with self._strategy_fails_in("state"):
            strategy = dict(self.strategy.state())
        return {
            "strategy": strategy,
            "web": self.web.state(),
            "scheduler": self._scheduler.state(saved),
            "requested": self._requested.state(saved),
            "to_send": saved.numbers(self.to_send),
            "settled": self._settled.state(),
            **saved_attributes(self, self._SAVED),
            "jobs": saved.state(),  # Last: all of them have their numbers now.
        }

    def restore(self, state: State) -> None:
        """Continue from a checkpoint: called instead of `start`."""
        saved = SavedJobs(state["jobs"])
        self.web.restore(state["web"])
        self._scheduler.restore(state["scheduler"], saved)
        self._requested.restore(state["requested"], saved)
        self.to_send = saved.jobs(state["to_send"])
        self._settled.restore(state["settled"])
        restore_attributes(self, self._SAVED, state)
        with self._strategy_fails_in("restore"):
            self.strategy.restore(state["strategy"], self.web.seen)

    def _strategy_fails_in(self, method: str) -> AbstractContextManager[None]:
        """Report errors of the strategy as PluginError."""
        return PluginError.wrapping(f"Strategy {self.settings.strategy} failed in `{method}`")

    def take_over(self, visit: VisitRecord) -> None:
        """Register a visit that this engine did not request. `begin_anew` must follow."""
        url = self.web.table.url(visit.page)
        redirected_to = None if visit.url == url else visit.url
        scores = visit.predicted, visit.anchors
        _, links = self.web.visit(visit.page, redirected_to, visit.links, scores)
        self._settled.add(visit.page)
        # A strategy may know only pages that it has requested. It then learns of the links from other pages.
        with suppress(PluginError), self._strategy_fails_in("tell"):
            self.strategy.tell(Visit(visit.page, visit.relevance, links))

    def begin_anew(self, now_s: float, skipped: Iterable[int], n_robots: int) -> None:
        """Continue with nothing in flight, after visits were taken over. Pages that were requested, and neither visited
        nor skipped since, are requested again."""
        self._settled.update(skipped)
        jobs = {job.page: job for job in (*self._scheduler.take_page_jobs(now_s, n_robots), *self.to_send)}
        self._requested = RequestedUrls()
        self.to_send = []
        self._n_open = 0
        for page, job in jobs.items():
            if page in self._settled and page not in self.web.visits:
                with self._strategy_fails_in("drop"):
                    self.strategy.drop(page)
            elif page not in self._settled:
                url = self.web.table.url(page)
                again = Job(Kind.PAGE, url, self.hosts.of_url(url), page, regret=job.regret, score=job.score)
                again.rank, again.queue_size = job.rank, job.queue_size
                self.to_send.append(again)
                self._n_open += 1

    def resume(self, event: Resumed) -> None:
        """Continue after a stop."""
        if self.journal is not None:
            self.journal.add(event)
        self.politeness.resume(event.now_s)
        if self.shards is None:
            self.repeated = self._tasks_to_repeat(event.now_s)
        else:
            # Addresses are shared with other shards, and tokens of them have to be assigned first.
            self._scheduler.requeue(event.now_s)
            self._max_requested = 0

    def receive(self, event: ParcelArrived, parcel: Parcel) -> None:
        """Take what another shard has sent."""
        self._scheduler.now_s = event.now_s
        if parcel.urls:
            pages = self.web.table.add_all(list(parcel.urls))
            hosts = self.web.table.hosts(pages)
            for url, n_hops in parcel.hops.items():
                page = self.web.table.find(url)
                if page is not None and page not in self.web.visits:
                    self._hops[page] = n_hops
            with self._strategy_fails_in("receive"):
                self.strategy.receive(pages, hosts, parcel.values)
        for request in parcel.requests:
            self._scheduler.request_robots_for(request)
        for answer in parcel.answers:
            self._scheduler.answered(answer)
        if self.journal is not None:
            self.journal.add(event)

    def grant(self, event: Granted) -> None:
        """Request this many pages in all, and use this many of the connections that shards share."""
        self._scheduler.now_s = event.now_s
        self._max_requested = event.n_requests
        for address, tokens in event.tokens.items():
            self.politeness.set_tokens(address, tokens, event.now_s)
        if self.journal is not None:
            self.journal.add(event)

    def take_outgoing(self) -> Outgoing:
        """What other shards are to know since the last call."""
        scheduler = self._scheduler
        with self._strategy_fails_in("take_departures"):
            links = self.strategy.take_departures()
        outgoing = Outgoing(links, self._hops_on, scheduler.robots_requests, scheduler.robots_answers)
        self._hops_on, scheduler.robots_requests, scheduler.robots_answers = {}, [], []
        return outgoing

    def _tasks_to_repeat(self, now_s: float) -> list[tuple[Task, float]]:
        """The tasks without a result, and when each is to be repeated: after a crawl delay of its host, and one request
        at a time per IP address, which other hosts do not use before the last of them."""
        repeated = []
        for task, job in self._scheduler.outstanding.values():
            due_s = now_s
            if task.kind in REQUESTS:
                due_s = now_s + self.politeness.current_delay_s(job.host)
            repeated.append((due_s, task, job.host))
        repeated.sort(key=lambda each: (each[0], each[1].number))
        return [
            (task, self.politeness.reserve_address(host, now_s, due_s) if task.kind in REQUESTS else due_s)
            for due_s, task, host in repeated
        ]

    def turn(self, now_s: float, room: int, page_budget: int) -> list[Task]:
        """The next tasks, at most `room`."""
        return self.turn_and_pages(now_s, room, page_budget)[0]

    def turn_and_pages(self, now_s: float, room: int, page_budget: int) -> tuple[list[Task], list[int] | None]:
        """The next tasks, and the pages that the strategy returned; None if it was not called."""
        tasks = self._scheduler.begin_turn(now_s, page_budget - self.n_visits - self._scheduler.n_pages_issued)
        self._scheduler.issue_waiting(room)
        to_send, self.to_send = self.to_send, []
        for job in to_send:
            self._send(job, self.web.is_visited(job.url))
        requested = self._ask_strategy(room, page_budget)
        if self.journal is not None:
            self.journal.add(Turn(now_s, room, page_budget, requested))
        return tasks, requested

    def complete(self, now_s: float, number: int, result: TaskResult) -> Visited | None:
        """Process the result of a task; returns the visit, if it is one."""
        task, job = self._scheduler.take_completed(now_s, number)
        if isinstance(result, Fetched):
            result = self._checked(job, result)
        visited = self._apply(task, job, result)
        # Last: the strategy may cause a commit before, which must not contain this event.
        if self.journal is not None:
            self.journal.result(now_s, task, result)
        return visited

    def _apply(self, task: Task, job: Job, result: TaskResult) -> Visited | None:
        if task.kind is Kind.ADDRESS:
            self._scheduler.resolved(job, result)
            return None
        if task.kind is not Kind.RECORDED:
            self._scheduler.finished(job, result)
        match result:
            case Fetched():
                return self._visit(job, result)
            case Redirected():
                self._follow(job, result)
            case Failed():
                self._scheduler.fail(job, result)
            case RobotsFetched():
                self._scheduler.apply_robots(job, result)
            case SitemapFetched():
                self._scheduler.note_sitemap(job, result)
            case AddressesResolved():
                raise PluginError("Only address tasks have addresses as results.")
        return None

    def _follow(self, job: Job, redirect: Redirected) -> None:
        """Redirect a job, and the jobs that waited for it."""
        followers = self._requested.release(job.url) if job.kind is Kind.PAGE else []
        for each in (job, *followers):
            if self._scheduler.redirect(each, redirect) and each.kind is Kind.PAGE:
                self.to_send.append(each)

    def _ask_strategy(self, room: int, page_budget: int) -> list[int] | None:
        requested: list[int] | None = None
        self._has_more_to_ask = False
        while (n := self._n_wanted(room, page_budget)) > 0:
            requested = requested or []
            if len(requested) >= MAX_REQUESTED:
                self._has_more_to_ask = True
                break
            with self._strategy_fails_in("ask"):
                pages = self._ask(n)
                if not pages:
                    break
                requested += pages
                scored = list(zip_longest(pages, self.strategy.regrets(), self.strategy.scores()))
            for page, regret, score in scored:
                self._admit(page, regret, score)
        return requested

    def _ask(self, n: int) -> list[int]:
        if self.settings.strict_order:
            return self.strategy.ask(n)
        if self._scheduler.is_throttling:
            turns = Turns(self._scheduler)
            ready = ReadyHosts(turns.is_ready, self.settings.max_better, turns.waits_long, turns.known_held)
            pages = self.strategy.ask(n, ready)
            has_held = turns.has_held or ready.has_held
            if pages or not has_held or turns.has_others or self._scheduler.expects_others():
                return pages
        hosts = self._scheduler
        return self.strategy.ask(n, ReadyHosts(hosts.is_ready, self.settings.max_better, hosts.waits_long))

    def _n_wanted(self, room: int, page_budget: int) -> int:
        # Pages that wait for their hosts count, except those that will wait for long.
        n_issued_pages = self._scheduler.n_pages_issued
        queue_size = self.n_waiting
        max_waiting = WAITING_PER_CONNECTION * self.settings.connections - queue_size
        in_budget = page_budget - self.n_visits - n_issued_pages - queue_size
        wanted = min(room - self._scheduler.n_issued, in_budget, max_waiting)
        if self.shards is not None:
            wanted = min(wanted, self._max_requested - self.n_requested)
        if self.settings.strict_order:
            return 0 if self._n_open else min(wanted, 1)
        return wanted

    def _admit(self, page: int, regret: float | None, score: float | None) -> None:
        if page in self._settled:
            with self._strategy_fails_in("drop"):
                self.strategy.drop(page)
            return
        url = self.web.table.url(page)
        job = Job(Kind.PAGE, url, self.hosts.of_url(url), page, regret=regret, score=score)
        job.rank, job.queue_size = self.n_requested, len(self.strategy)
        if self._hops:
            job.n_hops = self._hops.pop(page, 0)
        self.n_requested += 1
        self._n_open += 1
        self._send(job, self.web.is_visited_elsewhere(page))

    def _send(self, job: Job, is_visited: bool) -> None:
        """Schedule a job with a new URL, or let it wait for another job with the same URL."""
        if is_visited:
            self._drop(job, Failed(SkipReason.REPEATED))
        elif (failure := self._requested.earlier_failures.get(job.url)) is not None:
            self._drop(job, failure)
        elif self._requested.claim(job):
            if self._is_recorded(job.url):
                job.kind = Kind.RECORDED
            self._scheduler.send(job)

    def _checked(self, job: Job, fetched: Fetched) -> Fetched | Failed:
        """The page with links of sitemaps, or a failure if it was visited under another URL meanwhile."""
        if self.web.is_visited(fetched.url, job.page if _is_as_requested(job, fetched) else None):
            return Failed(SkipReason.REPEATED, elapsed_s=fetched.elapsed_s)
        if self.web.depths is not None and not self.web.depths.has_visible_links(job.page):
            return fetched
        return with_sitemap_links(fetched, self._scheduler.next_sitemap_links(job.host))

    def _visit(self, job: Job, fetched: Fetched) -> Visited:
        if fetched.text is not None:
            self.web.texts.add(job.page, fetched.text)
        redirected_to = None if _is_as_requested(job, fetched) else fetched.url
        numbers, links = self.web.visit(job.page, redirected_to, fetched.links, (fetched.predicted, fetched.anchors))
        self._n_open -= 1
        self.to_send += self._requested.release(job.url)
        self._scheduler.visited(job, fetched.relevance)
        with self._strategy_fails_in("tell"):
            self.strategy.tell(Visit(job.page, fetched.relevance, links))
        return Visited(self.n_visits - 1, job, fetched, numbers)

    def _fail(self, job: Job, failure: Failed) -> None:
        """A job fails for good."""
        self._requested.note_failure(job, failure)
        self.to_send += self._requested.release(job.url)
        self._drop(job, failure)

    def _drop(self, job: Job, failure: Failed) -> None:
        self._n_open -= 1
        detail = failure.detail if failure.like is None else f"like {self.web.table.url(failure.like)}"
        now_s = self._scheduler.now_s
        self._skipped.append(SkippedRecord(job.page, job.url, failure.reason, detail, now_s, failure.status))
        if failure.reason is SkipReason.HANDED_ON:
            self._hand_on(job, failure.detail.removeprefix("to "))
            return
        with self._strategy_fails_in("drop"):
            self.strategy.drop(job.page)

    def _hand_on(self, job: Job, url: str) -> None:
        """A page redirects to a page of another shard."""
        target = self.web.table.add_all([url])
        host = self.web.table.hosts(target)
        self._hops_on[int(target[0])] = len(job.passed) + job.n_hops
        with self._strategy_fails_in("hand_on"):
            self.strategy.hand_on(job.page, int(target[0]), int(host[0]))


def _is_as_requested(job: Job, fetched: Fetched) -> bool:
    """Whether a page came from the URL that the strategy requested."""
    return not job.passed and fetched.url == job.url
