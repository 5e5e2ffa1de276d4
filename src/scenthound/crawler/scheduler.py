"""From jobs to orders: a job is ordered when its host is ready, its name looked up, and its robots.txt agrees.

Rules
- A host with jobs that wait is asked for nothing else: first come, first served.
- A place in the budgets is taken when a page is ordered, and given back if the page is not taken in the end.
- What is dropped here is told through `give_up`, with the reason.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from scenthound.crawler.live_web import SitemapLinks
from scenthound.crawler.tasks import (
    NO_PAGE,
    AddressesResolved,
    CrawlRules,
    Failed,
    Hosts,
    Job,
    Kind,
    Redirected,
    RobotsFetched,
    SitemapFetched,
    Task,
    TaskResult,
    WaitingJobs,
)
from scenthound.frontier.politeness import PageLimits, Politeness, RequestOutcome
from scenthound.reasons import SkipReason
from scenthound.web.robots import ALLOW_ALL, DISALLOW_ALL, RobotsRules, rules_from_response
from scenthound.web.traps import TrapCosts
from scenthound.web.urls import resolve

# What the robots.txt of each origin says, as far as it was asked.
#
# Rules (RFC 9309)
# - An origin is scheme, host and port: each has a robots.txt of its own.
# - What was had is good for `LIFETIME_S`, a day (2.4), and is then asked for again.
# - An origin whose robots.txt cannot be had is not crawled at all (2.3.1.4).
# - Redirects that lead nowhere mean that there is no robots.txt (2.3.1.2).

LIFETIME_S = 86_400.0
#: Failures that keep a host from answering at all: its pages are dropped for the same reason. For any other failure the
#: reason is that robots.txt could not be had.
UNREACHABLE = frozenset(
    {
        SkipReason.DNS_NOT_FOUND,
        SkipReason.DNS_FAILED,
        SkipReason.ADDRESS_FORBIDDEN,
        SkipReason.CONNECT_FAILED,
        SkipReason.CONNECT_TIMEOUT,
        SkipReason.TLS_FAILED,
        SkipReason.HOST_DISABLED,
    }
)
LEADS_NOWHERE = frozenset({SkipReason.REDIRECT_LOOP, SkipReason.REDIRECT_FORBIDDEN})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The rules of an origin, and why a page that they bar is barred."""

    rules: RobotsRules
    because: SkipReason
    good_until_s: float


class RobotsBook:
    """Verdicts by origin."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._verdicts: dict[str, Verdict] = {}

    def verdict(self, origin: str, now_s: float) -> Verdict | None:
        """None if robots.txt has to be asked for first."""
        verdict = self._verdicts.get(origin)
        return verdict if verdict is not None and verdict.good_until_s > now_s else None

    def set_rules(self, origin: str, now_s: float, status: int, body: bytes) -> RobotsRules:
        return self._note(origin, now_s, rules_from_response(status, body, self._agent), SkipReason.ROBOTS)

    def failed(self, origin: str, now_s: float, reason: SkipReason) -> None:
        if reason in LEADS_NOWHERE:
            self._note(origin, now_s, ALLOW_ALL, reason)
        else:
            self._note(origin, now_s, DISALLOW_ALL, reason if reason in UNREACHABLE else SkipReason.ROBOTS_UNREACHABLE)

    def _note(self, origin: str, now_s: float, rules: RobotsRules, because: SkipReason) -> RobotsRules:
        self._verdicts[origin] = Verdict(rules, because, now_s + LIFETIME_S)
        return rules


def origin_of(url: str) -> str:
    """Scheme, host and port of a canonical URL."""
    return url[: url.index("/", len("https://"))]


def robots_url(origin: str) -> str:
    return f"{origin}/robots.txt"


#: Failures that may pass.
PASSING = frozenset(
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
#: Failures of a host, as against failures of a page.
HOST_FAILURES = PASSING | {
    SkipReason.DNS_NOT_FOUND,
    SkipReason.TLS_FAILED,
    SkipReason.ADDRESS_FORBIDDEN,
    SkipReason.BODY_TIMEOUT,
}
NOT_CONNECTED = frozenset({SkipReason.CONNECT_FAILED, SkipReason.CONNECT_TIMEOUT})

FOR_PAGES = frozenset({Kind.PAGE, Kind.RECORDED})
#: Redirects that are followed for robots.txt, at least (RFC 9309, 2.3.1.2).
ROBOTS_REDIRECTS = 5
#: A page whose host rests longer than this does not hold up the others: it waits beside the budget.
LONG_REST_S = 10.0


class Scheduler:
    """Jobs on their way. `give_up` is told of page jobs that came to nothing."""

    def __init__(self, rules: CrawlRules, hosts: Hosts, give_up: Callable[[Job, Failed], None]) -> None:
        self._rules = rules
        self._tell_given_up = give_up
        self.hosts = hosts
        self.politeness = Politeness(rules.politeness)
        self.sitemaps = SitemapLinks()
        self.held = WaitingJobs()
        self.outstanding: dict[int, tuple[Task, Job]] = {}
        self._budgets = PageLimits(rules.politeness)
        self._robots = RobotsBook(rules.agent)
        self._traps = TrapCosts()
        #: Jobs that wait for an origin's robots.txt, and their hosts.
        self._awaiting: dict[str, list[Job]] = {}
        self._awaiting_hosts: Counter[int] = Counter()
        self._crawl_delays: dict[int, dict[str, float]] = {}
        self._resolving: set[int] = set()
        self._n_orders = 0
        self._now_s = 0.0
        self._issued: list[Task] = []
        #: Orders for pages that have no answer yet, and how many more the page budget allows in this turn.
        self.n_pages_ordered = 0
        self._pages_left = 0
        #: Pages whose hosts will rest for long, as of this turn.
        self.n_waiting_long = 0

    @property
    def n_issued(self) -> int:
        """Orders of this turn so far."""
        return len(self._issued)

    def begin_turn(self, now_s: float, pages_left: int) -> list[Task]:
        """From here on it is so late, and so many pages may be ordered. The list grows with the orders."""
        self._now_s = now_s
        self._pages_left = pages_left
        self._issued = []
        return self._issued

    def take_completed(self, now_s: float, number: int) -> tuple[Task, Job]:
        """An order that was answered, at this time. Until the next turn no order is made."""
        self._now_s = now_s
        task, job = self.outstanding.pop(number)
        self.n_pages_ordered -= task.kind in FOR_PAGES
        return task, job

    def is_ready(self, strategy_host: int) -> bool:
        """Whether the strategy may ask for pages of a host, which it knows by a number of its own. A retired host is
        ready too: what is asked of it is dropped at once, so that nothing waits for ever."""
        host = self.hosts.of_strategy(strategy_host)
        if host in self.held or host in self._resolving or self._awaiting_hosts[host]:
            return False
        return self.politeness.ready(host, self._now_s) or self.politeness.is_disabled(host)

    def issue_held(self, room: int) -> None:
        """Order what waited for its host, as far as there is room."""
        self.n_waiting_long = 0
        for host in self.held.hosts():
            if self.politeness.is_disabled(host):
                self._retire_jobs(host)
            while self.n_issued < room and host in self.held and self._may_ask(host):
                if not self._go(self.held.next(host)):
                    break
            if host in self.held and LONG_REST_S < self.politeness.waits_until_s(host) - self._now_s < inf:
                self.n_waiting_long += sum(map(self._n_pages_held_up, self.held.of(host)))

    def _n_pages_held_up(self, job: Job) -> int:
        """The pages that wait for what becomes of a job: its own, those that follow it, those that its robots.txt is
        for."""
        if job.kind is Kind.ROBOTS:
            return sum(map(self._n_pages_held_up, self._awaiting.get(job.origin, ())))
        return 0 if job.page == NO_PAGE else 1 + job.n_followers

    def _retire_jobs(self, host: int) -> None:
        """Give up what would need a request to a host that is asked no more."""
        for job in list(self.held.take_all(host)):
            if job.kind is Kind.RECORDED:
                self._order_page(job)
            else:
                self.give_up(job, Failed(SkipReason.HOST_DISABLED))

    def send(self, job: Job) -> None:
        """Let a page job with a new address go its way, unless something speaks against it."""
        reason = self._reason_against(job)
        if reason is not None:
            self.give_up(job, Failed(reason))
        elif job.kind is Kind.RECORDED:
            self._order_page(job)
        elif job.host in self.held or not self._may_ask(job.host):
            self.held.add(job)
        else:
            self._go(job)

    def issue(self, kind: Kind, job: Job) -> None:
        asked = job.passed[0] if job.passed else job.url
        task = Task(self._n_orders, kind, job.url, self._now_s, self.hosts.addresses(job.host), job.page, asked)
        self._n_orders += 1
        self.outstanding[task.number] = task, job
        self._issued.append(task)
        if kind in FOR_PAGES:
            self.n_pages_ordered += 1
            self._pages_left -= 1

    def settle(self, job: Job, *, taken: bool) -> None:
        """Give the job's place in the budgets up, to the page if it was taken."""
        if job.has_slot:
            self._budgets.settle(job.host, self.hosts.domain(job.host), counted=taken)
            job.has_slot = False

    def _may_ask(self, host: int) -> bool:
        return host not in self._resolving and self.politeness.ready(host, self._now_s)

    def _reason_against(self, job: Job) -> SkipReason | None:
        if job.kind is Kind.PAGE and self.politeness.is_disabled(job.host):
            return SkipReason.HOST_DISABLED
        spent = self._budgets.reached(job.host, self.hosts.domain(job.host))
        is_charged = self._rules.traps and job.kind is Kind.PAGE
        return spent or (self._traps.charge(job.url, job.host) if is_charged else None)

    def _go(self, job: Job) -> bool:
        """Take a job on a ready host a step further; False if it has to wait for others."""
        if job.kind is Kind.RECORDED:
            return self._order_page(job)
        if not self.hosts.addresses(job.host):
            self._resolving.add(job.host)
            self.held.add(job, first=True)
            self.issue(Kind.ADDRESS, job)
            return True
        if job.kind is not Kind.ROBOTS:
            verdict = self._robots.verdict(origin_of(job.url), self._now_s)
            if verdict is None:
                self._ask_for_robots(job)
                return True
            if not verdict.rules.allows(job.url):
                self.give_up(job, Failed(verdict.because))
                return True
        if job.kind is Kind.PAGE:
            return self._order_page(job)
        self.politeness.started(job.host, self._now_s)
        self.issue(job.kind, job)
        return True

    def _order_page(self, job: Job) -> bool:
        if self._pages_left <= 0:
            self.held.add(job, first=True)
            return False
        if not self._has_place(job):
            return self._wait_for_place(job)
        if job.kind is Kind.PAGE:
            self.politeness.started(job.host, self._now_s)
        self.issue(job.kind, job)
        return True

    def _has_place(self, job: Job) -> bool:
        """Whether the budgets have, or now give, the job a place."""
        domain = self.hosts.domain(job.host)
        if not job.has_slot and self._budgets.has_room(job.host, domain):
            self._budgets.reserve(job.host, domain)
            job.has_slot = True
        return job.has_slot

    def _wait_for_place(self, job: Job) -> bool:
        spent = self._budgets.reached(job.host, self.hosts.domain(job.host))
        if spent is not None:
            self.give_up(job, Failed(spent))
            return True
        self.held.add(job, first=True)
        return False

    # Answers

    def finished(self, job: Job, result: TaskResult) -> None:
        """A request to the job's host came to its end."""
        if not isinstance(result, Failed):
            self.politeness.finished(job.host, self._now_s, RequestOutcome(result.elapsed_s))
            return
        failed = result.reason in HOST_FAILURES
        self.politeness.finished(job.host, self._now_s, RequestOutcome(result.elapsed_s, failed, result.retry_after_s))
        if result.reason in NOT_CONNECTED:
            # The host may have moved: its name is looked up again before the next request.
            self.hosts.set_addresses(job.host, ())

    def resolved(self, job: Job, result: TaskResult) -> None:
        self._resolving.discard(job.host)
        if isinstance(result, AddressesResolved):
            self.hosts.set_addresses(job.host, result.addresses)
            self.politeness.set_address(job.host, result.addresses[0])
        elif isinstance(result, Failed):
            self.politeness.failed(job.host, self._now_s)
            if result.reason in PASSING:
                if job.host in self.held:
                    self.fail(self.held.next(job.host), result)
                return
            self.politeness.disable(job.host)
            for waiting in list(self.held.take_all(job.host)):
                self.give_up(waiting, result)

    def redirect(self, job: Job, redirect: Redirected) -> bool:
        """Send a job to where it was redirected; False if that leads nowhere."""
        job.passed.append(job.url)
        most = max(self._rules.redirects, ROBOTS_REDIRECTS) if job.kind is Kind.ROBOTS else self._rules.redirects
        host = self.hosts.of_url(redirect.url)
        if len(job.passed) > most or redirect.url in job.passed:
            self.give_up(job, Failed(SkipReason.REDIRECT_LOOP, f"to {redirect.url}", redirect.status))
            return False
        if job.kind is Kind.SITEMAP and host != job.host:
            self.give_up(job, Failed(SkipReason.REDIRECT_FORBIDDEN))
            return False
        self.settle(job, taken=False)
        job.url, job.host = redirect.url, host
        if job.kind is not Kind.PAGE:
            self.held.add(job, first=True)
        return True

    def fail(self, job: Job, failure: Failed) -> None:
        """Try again later, if that may help."""
        job.n_tries += 1
        if failure.reason in PASSING and job.n_tries < self._rules.tries:
            # It may rest for long, and others could have its place.
            self.settle(job, taken=False)
            self.held.add(job, first=True)
        else:
            self.give_up(job, failure)

    def give_up(self, job: Job, failure: Failed) -> None:
        self.settle(job, taken=False)
        if job.kind is Kind.ROBOTS:
            self._robots.failed(job.origin, self._now_s, failure.reason)
            self._release(job.origin)
        elif job.kind is not Kind.SITEMAP:
            self._tell_given_up(job, failure)

    def apply_robots(self, job: Job, found: RobotsFetched) -> None:
        rules = self._robots.set_rules(job.origin, self._now_s, found.status, found.body)
        host = self.hosts.of_url(job.origin + "/")
        self._slow_down(host, job.origin, rules.crawl_delay_s)
        self._release(job.origin)
        if self._rules.sitemaps:
            named = [resolve(robots_url(job.origin), reference) for reference in rules.sitemaps]
            self._ask_for_sitemaps(host, named)

    def _slow_down(self, host: int, origin: str, crawl_delay_s: float | None) -> None:
        """Origins of one host may wish for different delays; the longest counts for all of them."""
        wishes = self._crawl_delays.get(host, {})
        if crawl_delay_s is not None:
            wishes = self._crawl_delays.setdefault(host, wishes)
            wishes[origin] = crawl_delay_s
        else:
            wishes.pop(origin, None)
        self.politeness.set_crawl_delay(host, max(wishes.values(), default=None))

    def note_sitemap(self, job: Job, found: SitemapFetched) -> None:
        self.sitemaps.add(job.host, found.urls)
        self._ask_for_sitemaps(job.host, [resolve(job.url, reference) for reference in found.sitemaps])

    def _ask_for_robots(self, job: Job) -> None:
        origin = origin_of(job.url)
        waiting = self._awaiting.setdefault(origin, [])
        waiting.append(job)
        self._awaiting_hosts[job.host] += 1
        if len(waiting) == 1:
            self._go(Job(Kind.ROBOTS, robots_url(origin), job.host, origin=origin))

    def _release(self, origin: str) -> None:
        for job in self._awaiting.pop(origin, ()):
            self._awaiting_hosts[job.host] -= 1
            self.held.add(job)

    def _ask_for_sitemaps(self, host: int, urls: Sequence[str | None]) -> None:
        """Those on the host itself, before the pages that wait for it: the next page tells of their links."""
        own = [url for url in urls if url is not None and self.hosts.of_url(url) == host]
        for url in reversed(self.sitemaps.take_new(host, own)):
            self.held.add(Job(Kind.SITEMAP, url, host), first=True)
