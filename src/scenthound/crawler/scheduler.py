"""From jobs to tasks: a job is issued when its host is ready and resolved, and when robots.txt allows it.

Rules
- Jobs of a host are served first come, first served.
- A page reserves a slot in the page limits when it is issued, and releases it if it is not visited in the end.
- Page jobs that are dropped are reported to `on_failed`, with the reason.
- In a shard, no job requests a host of another shard (`shard`).
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from math import inf

from scenthound.crawler.robots_cache import RobotsCache, origin_of, robots_url
from scenthound.crawler.scope import ScopeFilter
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.shard import RobotsAnswer, RobotsRequest, ShardMap
from scenthound.crawler.sitemap_links import SitemapLinks
from scenthound.crawler.tasks import (
    NO_PAGE,
    NO_SHARD,
    AddressesResolved,
    Failed,
    Hosts,
    Job,
    Kind,
    Redirected,
    RobotsFetched,
    SavedJobs,
    SitemapFetched,
    Task,
    TaskResult,
    WaitingJobs,
)
from scenthound.crawler.throttle import Throttle
from scenthound.frontier.politeness import PageLimits, Politeness, RequestOutcome
from scenthound.reasons import SkipReason
from scenthound.saved_state import State, restore_attributes, saved_attributes
from scenthound.store.crawl_records import RobotsRecord
from scenthound.web.traps import TrapCosts

#: Redirects that are followed for robots.txt, at least (RFC 9309, 2.3.1.2).
ROBOTS_REDIRECTS = 5
#: Temporary failures, which are retried.
TEMPORARY = frozenset(
    {
        SkipReason.DNS_FAILED,
        SkipReason.CONNECT_FAILED,
        SkipReason.CONNECT_TIMEOUT,
        SkipReason.HEADERS_TIMEOUT,
        SkipReason.PROTOCOL_ERROR,
        SkipReason.SERVER_ERROR,
        SkipReason.RATE_LIMITED,
    }
)
#: Failures of a host, as opposed to failures of a page.
HOST_FAILURES = TEMPORARY | {
    SkipReason.DNS_NOT_FOUND,
    SkipReason.TLS_FAILED,
    SkipReason.ADDRESS_FORBIDDEN,
    SkipReason.BODY_TIMEOUT,
}
NOT_CONNECTED = frozenset({SkipReason.CONNECT_FAILED, SkipReason.CONNECT_TIMEOUT})
PAGE_KINDS = frozenset({Kind.PAGE, Kind.RECORDED})
#: A page whose host waits longer than this does not count as queued, so that it does not hold up other pages.
LONG_WAIT_S = 10.0


def out_of_scope(url: str, excluded_by: str, status: int | None = None) -> Failed:
    """The failure of a page that redirects to a URL out of scope."""
    return Failed(SkipReason.OUT_OF_SCOPE, f"redirect to {url}, excluded by {excluded_by}", status)


class Scheduler:
    """`on_failed` receives page jobs that failed for good; `load_robots` reads back a robots.txt file by its number.
    `shards` is set if other shards crawl other hosts."""

    _SAVED = (
        *("now_s", "_n_awaiting_robots", "_crawl_delays", "_resolving", "_n_tasks", "_last_issued_s"),
        *("n_pages_issued", "n_waiting_long"),
    )
    _PARTS = "hosts", "politeness", "_limits", "_robots", "_traps"

    def __init__(
        self,
        settings: CrawlSettings,
        scope: ScopeFilter,
        hosts: Hosts,
        on_failed: Callable[[Job, Failed], None],
        load_robots: Callable[[int], RobotsRecord],
        *,
        shards: ShardMap | None = None,
    ) -> None:
        self._settings = settings
        self._scope = scope
        self._on_failed = on_failed
        self._shards = shards
        self.hosts = hosts
        self.politeness = Politeness(settings.politeness, needs_tokens=shards is not None)
        self.sitemaps = SitemapLinks(hosts, scope, shards)
        #: What other shards are to request, and answers to them, with the shard that they are for.
        self.robots_requests: list[tuple[int, RobotsRequest]] = []
        self.robots_answers: list[tuple[int, RobotsAnswer]] = []
        self.waiting = WaitingJobs()
        self.outstanding: dict[int, tuple[Task, Job]] = {}
        self.now_s = 0.0
        #: Whether jobs came during the turn, which another turn may issue.
        self.has_new_jobs = False
        self._limits = PageLimits(settings.politeness)
        self._robots = RobotsCache(settings.agent, load_robots)
        self._traps = TrapCosts()
        #: Strict order is that of the strategy alone.
        is_throttled = settings.throttle and not settings.strict_order
        self._throttle = Throttle(hosts, settings.seeds) if is_throttled else None
        #: Jobs that wait for an origin's robots.txt, and how many of each host.
        self._awaiting_robots: dict[str, list[Job]] = {}
        self._n_awaiting_robots: Counter[int] = Counter()
        #: Start pages that wait for a sitemap on another host, by their host.
        self._awaiting_sitemap: dict[int, list[Job]] = {}
        self._crawl_delays: dict[int, dict[str, float]] = {}
        self._resolving: set[int] = set()
        self._n_tasks = 0
        self._issued: list[Task] = []
        #: When the last task of each host was issued.
        self._last_issued_s: dict[int, float] = {}
        self._long_wait_s = max(LONG_WAIT_S, settings.politeness.delay_s)
        #: Page tasks without a result, and how many more the page budget allows in this turn.
        self.n_pages_issued = 0
        self._pages_left = 0
        #: Pages whose hosts will wait for long, as of this turn.
        self.n_waiting_long = 0

    def state(self, saved: SavedJobs) -> State:
        """A checkpoint for `restore`, between two calls."""
        parts = {name: getattr(self, name).state() for name in self._PARTS}
        awaiting = self._awaiting_robots
        return {
            **saved_attributes(self, self._SAVED),
            "parts": {name.lstrip("_"): state for name, state in parts.items()},
            "throttle": None if self._throttle is None else self._throttle.state(),
            "sitemaps": self.sitemaps.state(saved),
            "waiting": self.waiting.state(saved),
            "outstanding": [[asdict(task), saved.number(job)] for task, job in self.outstanding.values()],
            "awaiting_robots": [[origin, saved.numbers(jobs)] for origin, jobs in awaiting.items()],
            "awaiting_sitemap": [[host, saved.numbers(jobs)] for host, jobs in self._awaiting_sitemap.items()],
        }

    def restore(self, state: State, saved: SavedJobs) -> None:
        """Continue from a checkpoint."""
        restore_attributes(self, self._SAVED, state)
        for name in self._PARTS:
            getattr(self, name).restore(state["parts"][name.lstrip("_")])
        if self._throttle is not None:
            self._throttle.restore(state["throttle"])
        self.sitemaps.restore(state["sitemaps"], saved)
        self.waiting.restore(state["waiting"], saved)
        for values, number in state["outstanding"]:
            task = Task(**{**values, "kind": Kind(values["kind"]), "addresses": tuple(values["addresses"])})
            self.outstanding[task.number] = task, saved.job(number)
        self._awaiting_robots = {origin: saved.jobs(numbers) for origin, numbers in state["awaiting_robots"]}
        self._awaiting_sitemap = {host: saved.jobs(numbers) for host, numbers in state["awaiting_sitemap"]}

    def take_page_jobs(self, now_s: float, n_robots: int) -> list[Job]:
        """Forget everything in flight; returns the jobs for pages. The crawl has `n_robots` robots.txt files."""
        jobs = [job for _, job in self.outstanding.values()]
        for host in self.waiting.hosts():
            jobs += self.waiting.take_all(host)
        for waiting in (*self._awaiting_robots.values(), *self._awaiting_sitemap.values()):
            jobs += waiting
        for job in jobs:
            self.settle(job, visited=False)
            if self._throttle is not None:
                self._throttle.ended(job)
        self.sitemaps.forget_requests()
        self.outstanding.clear()
        self._awaiting_robots.clear()
        self._awaiting_sitemap.clear()
        self._n_awaiting_robots.clear()
        self._resolving.clear()
        self.now_s, self.n_pages_issued, self.n_waiting_long = now_s, 0, 0
        self.politeness.forget_requests(now_s)
        self._robots.n_files = n_robots
        return [job for job in jobs if job.page != NO_PAGE]

    def requeue(self, now_s: float) -> None:
        """Let the jobs whose tasks have no result wait for their hosts again, in front of others."""
        for task, job in reversed(self.outstanding.values()):
            if task.kind is Kind.ADDRESS:
                # The job is waiting already.
                self._resolving.discard(job.host)
            else:
                self.n_pages_issued -= task.kind in PAGE_KINDS
                self.waiting.add(job, first=True)
        self.outstanding.clear()
        self.has_new_jobs = True
        self.politeness.forget_requests(now_s)

    @property
    def n_issued(self) -> int:
        """Tasks of this turn so far."""
        return len(self._issued)

    def begin_turn(self, now_s: float, pages_left: int) -> list[Task]:
        """Start a turn in which at most `pages_left` pages may be issued. The list grows with the tasks."""
        self.now_s = now_s
        self.has_new_jobs = False
        self._pages_left = pages_left
        self._issued = []
        return self._issued

    def take_completed(self, now_s: float, number: int) -> tuple[Task, Job]:
        """A task that has a result now. Until the next turn no task is issued."""
        self.now_s = now_s
        task, job = self.outstanding.pop(number)
        self.n_pages_issued -= task.kind in PAGE_KINDS
        return task, job

    def is_ready(self, strategy_host: int) -> bool:
        """Whether the strategy may request pages of a host, by the strategy's number. A disabled host counts as ready:
        its pages are skipped at once, so that nothing waits forever."""
        host = self.hosts.of_strategy(strategy_host)
        if host in self.waiting or host in self._resolving or self._n_awaiting_robots[host]:
            return False
        return self.politeness.ready(host, self.now_s) or self.politeness.is_disabled(host)

    def waits_long(self, strategy_host: int) -> bool:
        """Whether a host that is not ready will not be ready soon, as far as is known: it has a long delay, or its last
        task, or a task on another host that it depends on, takes long."""
        return self._waits_long(self.hosts.of_strategy(strategy_host))

    def _waits_long(self, host: int) -> bool:
        delay_s = self.politeness.delay_after_s(host, self.now_s)
        if delay_s > 0 and not self.politeness.is_busy(host):
            return delay_s > self._long_wait_s
        running_s = self.now_s - self._last_issued_s.get(host, self.now_s)
        return max(delay_s, running_s) > self._long_wait_s

    def allows(self, url: str, now_s: float) -> bool | None:
        """Whether robots.txt allows a canonical URL; None if it has to be requested first."""
        origin = self._robots.get(origin_of(url), now_s)
        return None if origin is None else self._robots.allows(origin, url)

    @property
    def is_throttling(self) -> bool:
        """Whether pages of some hosts have to wait for those of others."""
        return self._throttle is not None and self._throttle.is_active

    @property
    def known_held(self) -> set[int]:
        """Some of the hosts that are held, by the strategy's numbers."""
        return set() if self._throttle is None else self._throttle.known_held

    def is_held(self, strategy_host: int) -> bool:
        """Whether the pages of a host have to wait for those of others."""
        return self._is_held(self.hosts.of_strategy(strategy_host))

    def _is_held(self, host: int) -> bool:
        return self._throttle is not None and self._throttle.is_held(host)

    def expects_others(self) -> bool:
        """Whether a job on a host that is not held will soon have a result."""
        hosts = {job.host for _, job in self.outstanding.values()}.union(self.waiting.hosts())
        return any(not self._is_held(host) and not self._waits_long(host) for host in hosts)

    def issue_waiting(self, room: int) -> None:
        """Issue jobs that waited for their hosts, as far as there is room."""
        for owner in list(self._awaiting_sitemap):
            self._release_start_pages(owner)
        self.n_waiting_long = 0
        for host in self.waiting.hosts():
            if self.politeness.is_disabled(host):
                self._drop_waiting(host)
            while self.n_issued < room and host in self.waiting and self._may_request(host):
                if not self._advance(self.waiting.next(host)):
                    break
            if host in self.waiting:
                # Long waits are those for its delay, or for tokens of its address.
                delay_s = self.politeness.waits_until_s(host) - self.now_s
                if LONG_WAIT_S < delay_s < inf or self.politeness.lacks_tokens(host):
                    self.n_waiting_long += sum(map(self._n_pages_held_up, self.waiting.of(host)))

    def _n_pages_held_up(self, job: Job) -> int:
        """The pages that wait for a job: its own, those that follow it, and those that need its robots.txt."""
        if job.kind is Kind.ROBOTS:
            return sum(map(self._n_pages_held_up, self._awaiting_robots.get(job.origin, ())))
        return 0 if job.page == NO_PAGE else 1 + job.n_followers

    def _drop_waiting(self, host: int) -> None:
        """Drop all jobs that need a request to a disabled host."""
        for job in list(self.waiting.take_all(host)):
            if job.kind is Kind.RECORDED:
                self._issue_page(job)
            else:
                self.drop(job, Failed(SkipReason.HOST_DISABLED))

    def send(self, job: Job) -> None:
        """Schedule a page job with a new URL, unless it has to be skipped."""
        reason = self._skip_reason(job)
        if reason is not None:
            self.drop(job, Failed(reason))
            return
        if self._throttle is not None:
            self._throttle.start(job)
        if job.kind is Kind.RECORDED:
            self._issue_page(job)
        elif job.host in self.waiting or not self._may_request(job.host):
            self.waiting.add(job)
        else:
            self._advance(job)

    def issue(self, kind: Kind, job: Job) -> None:
        requested = job.passed[0] if job.passed else job.url
        owner = self.hosts.names[job.owner] if job.kind is Kind.SITEMAP else ""
        addresses = self.hosts.addresses(job.host)
        task = Task(self._n_tasks, kind, job.url, self.now_s, addresses, job.page, requested, owner)
        self._n_tasks += 1
        self.outstanding[task.number] = task, job
        self._issued.append(task)
        self._last_issued_s[job.host] = self.now_s
        if kind in PAGE_KINDS:
            self.n_pages_issued += 1
            self._pages_left -= 1

    def visited(self, job: Job, relevance: float) -> None:
        self.settle(job, visited=True)
        if self._throttle is not None:
            self._throttle.visited(job, relevance)

    def settle(self, job: Job, *, visited: bool) -> None:
        """Release the job's slot in the page limits, or use it up if the page was visited."""
        if job.has_slot:
            self._limits.settle(job.host, self.hosts.domain(job.host), counted=visited)
            job.has_slot = False

    def _may_request(self, host: int) -> bool:
        return host not in self._resolving and self.politeness.ready(host, self.now_s)

    def _skip_reason(self, job: Job) -> SkipReason | None:
        if job.kind is Kind.PAGE and self.politeness.is_disabled(job.host):
            return SkipReason.HOST_DISABLED
        reached = self._limits.reached(job.host, self.hosts.domain(job.host))
        is_charged = self._settings.traps and job.kind is Kind.PAGE
        return reached or (self._traps.charge(job.url, job.host) if is_charged else None)

    def _advance(self, job: Job) -> bool:
        """Issue the next task of a job on a ready host; False if the job has to wait for others."""
        if job.kind is Kind.RECORDED:
            return self._issue_page(job)
        if not self.hosts.addresses(job.host):
            self._resolving.add(job.host)
            self.waiting.add(job, first=True)
            self.issue(Kind.ADDRESS, job)
            return True
        if job.kind is not Kind.ROBOTS:
            origin = self._robots.get(origin_of(job.url), self.now_s)
            if origin is None:
                self._request_robots(job)
                return True
            if not self._robots.allows(origin, job.url):
                self.drop(job, Failed(origin.skip_reason))
                return True
        if job.kind is Kind.PAGE:
            return self._issue_page(job)
        self.politeness.started(job.host, self.now_s)
        self.issue(job.kind, job)
        return True

    def _issue_page(self, job: Job) -> bool:
        # A start page may be the only page of its host that can bring the links of a sitemap.
        if job.page < len(self._settings.seeds) and self._awaits_sitemap(job.host):
            self._awaiting_sitemap.setdefault(job.host, []).append(job)
            return True
        if self._pages_left <= 0:
            self.waiting.add(job, first=True)
            return False
        domain = self.hosts.domain(job.host)
        if not job.has_slot:
            if (reached := self._limits.reached(job.host, domain)) is not None:
                self.drop(job, Failed(reached))
                return True
            if not self._limits.has_room(job.host, domain):
                self.waiting.add(job, first=True)
                return False
            self._limits.reserve(job.host, domain)
            job.has_slot = True
        if job.kind is Kind.PAGE:
            self.politeness.started(job.host, self.now_s)
        self.issue(job.kind, job)
        return True

    # Results

    def finished(self, job: Job, result: TaskResult) -> None:
        """A request to the job's host is finished."""
        outcome = RequestOutcome(result.elapsed_s)
        if isinstance(result, Failed):
            outcome = RequestOutcome(result.elapsed_s, result.reason in HOST_FAILURES, result.retry_after_s)
        self.politeness.finished(job.host, self.now_s, outcome)
        if isinstance(result, Failed) and result.reason in NOT_CONNECTED:
            # The host may have moved: resolve its name again before the next request.
            self.hosts.set_addresses(job.host, ())

    def resolved(self, job: Job, result: TaskResult) -> None:
        self._resolving.discard(job.host)
        if isinstance(result, AddressesResolved):
            self.hosts.set_addresses(job.host, result.addresses)
            self.politeness.set_address(job.host, result.addresses[0])
        elif isinstance(result, Failed):
            self.politeness.failed(job.host, self.now_s)
            if result.reason in TEMPORARY:
                if job.host in self.waiting:
                    self.fail(self.waiting.next(job.host), result)
                return
            self.politeness.disable(job.host)
            for waiting in list(self.waiting.take_all(job.host)):
                self.drop(waiting, result)

    def redirect(self, job: Job, redirect: Redirected) -> bool:
        """Change the URL of a redirected job; False if the redirect is not followed."""
        job.passed.append(job.url)
        limit = self._settings.redirects
        if job.kind is Kind.ROBOTS:
            limit = max(limit, ROBOTS_REDIRECTS)
        host = self.hosts.of_url(redirect.url)
        if len(job.passed) + job.n_hops > limit or redirect.url in job.passed:
            self.drop(job, Failed(SkipReason.REDIRECT_LOOP, f"to {redirect.url}", redirect.status))
            return False
        excluded_by = self._redirect_exclusion(job, redirect.url, host)
        if excluded_by is not None:
            self.drop(job, out_of_scope(redirect.url, excluded_by, redirect.status))
            return False
        if self._shards is not None and (shard := self._shards.of_url(redirect.url)) != self._shards.shard:
            self._redirect_elsewhere(job, redirect, shard)
            return False
        self.settle(job, visited=False)
        if self._throttle is not None:
            self._throttle.ended(job)
        job.url, job.host = redirect.url, host
        if job.kind is not Kind.PAGE:
            self.waiting.add(job, first=True)
        return True

    def _redirect_elsewhere(self, job: Job, redirect: Redirected, shard: int) -> None:
        """A job is redirected to a host of another shard."""
        if job.kind is not Kind.ROBOTS:
            reason = SkipReason.HANDED_ON if job.kind is Kind.PAGE else SkipReason.OTHER_SHARD
            self.drop(job, Failed(reason, f"to {redirect.url}", redirect.status))
            return
        assert self._shards is not None
        asker = self._shards.shard if job.asker == NO_SHARD else job.asker
        request = RobotsRequest(job.origin, redirect.url, len(job.passed) + job.n_hops, asker)
        self.robots_requests.append((shard, request))

    def request_robots_for(self, request: RobotsRequest) -> None:
        """Request a robots.txt file that redirects to a host of this shard."""
        assert self._shards is not None
        asker = NO_SHARD if request.asker == self._shards.shard else request.asker
        job = Job(Kind.ROBOTS, request.url, self.hosts.of_url(request.url), origin=request.origin, asker=asker)
        job.n_hops = request.n_redirects
        self.waiting.add(job)
        self.has_new_jobs = True

    def answered(self, answer: RobotsAnswer) -> None:
        """Another shard has requested a robots.txt file."""
        if answer.failure is None:
            self._apply_robots(answer.origin, answer.status, answer.body)
        else:
            self._robots.set_failed(answer.origin, self.now_s, answer.failure)
            self._release(answer.origin)

    def _redirect_exclusion(self, job: Job, url: str, host: int) -> str | None:
        """The option that excludes the target of a redirect; None if it is in scope."""
        if job.kind is Kind.PAGE:
            return self._scope.exclusion(url)
        is_elsewhere = job.kind is Kind.SITEMAP and host != job.owner
        return self._scope.domain_exclusion(url) if is_elsewhere else None

    def fail(self, job: Job, failure: Failed) -> None:
        """Retry later if the failure is temporary, else drop the job."""
        job.n_tries += 1
        if failure.reason in TEMPORARY and job.n_tries < self._settings.tries:
            # It may wait for long, and others could use its slot.
            self.settle(job, visited=False)
            self.waiting.add(job, first=True)
        else:
            self.drop(job, failure)

    def drop(self, job: Job, failure: Failed) -> None:
        self.settle(job, visited=False)
        if self._throttle is not None:
            self._throttle.ended(job, failure.reason)
        if job.kind is Kind.ROBOTS and job.asker != NO_SHARD:
            self.robots_answers.append((job.asker, RobotsAnswer(job.origin, failure=failure.reason)))
        elif job.kind is Kind.ROBOTS:
            self._robots.set_failed(job.origin, self.now_s, failure.reason)
            self._release(job.origin)
        elif job.kind is Kind.SITEMAP:
            self.sitemaps.skip(job, failure.reason)
            self._request_sitemap(job.owner)
        else:
            self._on_failed(job, failure)

    def apply_robots(self, job: Job, fetched: RobotsFetched) -> None:
        if job.asker == NO_SHARD:
            self._apply_robots(job.origin, fetched.status, fetched.body)
            return
        # The file has a number, like its record.
        self._robots.set_rules(job.origin, self.now_s, fetched.status, fetched.body)
        self.robots_answers.append((job.asker, RobotsAnswer(job.origin, fetched.status, fetched.body)))

    def _apply_robots(self, origin: str, status: int, body: bytes) -> None:
        rules = self._robots.set_rules(origin, self.now_s, status, body)
        host = self.hosts.of_url(origin + "/")
        # Origins of one host may demand different delays; the longest counts for all of them.
        delays = self._crawl_delays.get(host, {})
        delays.pop(origin, None)
        if rules.crawl_delay_s is not None:
            delays[origin] = rules.crawl_delay_s
            self._crawl_delays[host] = delays
        self.politeness.set_crawl_delay(host, max(delays.values(), default=None))
        if self._settings.sitemaps:
            self.sitemaps.name(host, robots_url(origin), rules.sitemaps)
            # A host that only has a sitemap of another host may have no page in this crawl.
            if any(each.kind is Kind.PAGE or each.owner == host for each in self._awaiting_robots.get(origin, ())):
                self._request_sitemap(host)
        self._release(origin)

    def note_sitemap(self, job: Job, fetched: SitemapFetched) -> None:
        self.sitemaps.completed(job, fetched)
        self._request_sitemap(job.owner)

    def next_sitemap_links(self, host: int) -> list[str]:
        """Links of sitemaps for a page that is visited now."""
        links = self.sitemaps.next_links(host)
        self._request_sitemap(host)
        return links

    def _request_robots(self, job: Job) -> None:
        origin = origin_of(job.url)
        waiting = self._awaiting_robots.setdefault(origin, [])
        waiting.append(job)
        self._n_awaiting_robots[job.host] += 1
        if len(waiting) == 1:
            self._advance(Job(Kind.ROBOTS, robots_url(origin), job.host, origin=origin))

    def _release(self, origin: str) -> None:
        for job in self._awaiting_robots.pop(origin, ()):
            self._n_awaiting_robots[job.host] -= 1
            self.waiting.add(job)

    def _request_sitemap(self, owner: int) -> None:
        """On its own host before the pages that wait there, because the next page brings its links."""
        job = self.sitemaps.next_job(owner)
        if job is not None:
            self.waiting.add(job, first=job.host == owner)
            self.has_new_jobs = True
        self._release_start_pages(owner)

    def _awaits_sitemap(self, owner: int) -> bool:
        """Whether the first links of a host will come from a sitemap on another host soon."""
        host = self.sitemaps.awaited_host(owner)
        return host is not None and not self._waits_long(host)

    def _release_start_pages(self, owner: int) -> None:
        if not self._awaits_sitemap(owner):
            for job in self._awaiting_sitemap.pop(owner, ()):
                self.waiting.add(job)
                self.has_new_jobs = True
