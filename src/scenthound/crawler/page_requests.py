"""The requests that a page makes while it is rendered, for scripts and data: sent by the crawl, under its own rules.

Rules
- The fetcher is that of the crawl, with its limits, addresses and proxies. Nothing that the browser knows is sent,
  except what it accepts. Headers and cookies of the user are sent only if page and request belong to one registrable
  domain: no page may read with them what another site shows to the user.
- robots.txt of every host is respected. The rules of hosts that the crawl knows are those of the crawl; those of others
  are fetched first. Hosts that `--deny-domain` names, and hosts that are disabled, receive no request.
- Requests to a host are sent one at a time, its delay apart (`host_gate`). A host that fails backs off, and receives no
  further request after `MAX_FAILURES` failures in a row.
- Redirects are followed here, each under the same rules.
- A response is kept for the rest of the run, up to a number of bytes: the pages of a site share their scripts. So is a
  refusal by robots.txt or `--deny-domain`. What may pass is asked for again: failures, 429 and 5xx.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from scenthound.crawler.engine import Engine
from scenthound.crawler.host_gate import HostGate
from scenthound.crawler.reader import LATER, REDIRECTS, retry_after_seconds
from scenthound.crawler.robots_cache import ROBOTS_LIFETIME_S, origin_of, robots_url
from scenthound.crawler.scheduler import ROBOTS_REDIRECTS
from scenthound.crawler.scope import is_covered
from scenthound.crawler.settings import CrawlSettings
from scenthound.reasons import SkipReason
from scenthound.web.browser import PASSED_HEADERS
from scenthound.web.dns import Resolved, Resolver
from scenthound.web.fetch import Fetcher, NotFetched, Request, Response, location_of
from scenthound.web.robots import ALLOW_ALL, DISALLOW_ALL, READ_BYTES, RobotsRules, rules_from_response
from scenthound.web.urls import canonical, host_of, registrable_domain, resolve

#: Scripts are larger than pages.
MAX_BYTES = 5_000_000
CACHE_BYTES = 32_000_000
#: What an entry of the cache takes besides its content.
ENTRY_BYTES = 500
MAX_ORIGINS = 1_000
#: When an unreachable robots.txt is requested again.
UNREACHABLE_LIFETIME_S = 60.0
MAX_FAILURES = 3
MAX_ACCEPT_CHARACTERS = 200
#: The longest that a failure of a request of a page holds up the tasks of its host.
MAX_HOLD_S = 60.0
#: By URL, `Accept`, and whether the request was made with headers and cookies of the user.
CacheKey = tuple[str, str, bool]


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, as a page receives it."""

    status: int
    headers: dict[str, str]
    content: bytes


class PageRequests:
    """`plain_fetcher` makes a fetcher without headers and cookies of the user; `clock` is that of the engine."""

    def __init__(
        self,
        engine: Engine,
        settings: CrawlSettings,
        fetcher: Fetcher,
        resolver: Resolver,
        *,
        plain_fetcher: Callable[[], Fetcher],
        clock: Callable[[], float],
    ) -> None:
        self._engine, self._settings = engine, settings
        self._fetcher, self._resolver, self._clock = fetcher, resolver, clock
        self._make_plain_fetcher = plain_fetcher
        self._loop = asyncio.get_running_loop()
        self.gate = HostGate(self._loop, clock, self._delay_of, settings.politeness.effective_address_delay_s)
        self._cache: OrderedDict[CacheKey, Answer | None] = OrderedDict()
        self._cache_bytes = 0
        self._rules: OrderedDict[str, tuple[RobotsRules, float]] = OrderedDict()
        self._robots_locks: dict[str, asyncio.Lock] = {}
        self._crawl_delays: dict[str, float] = {}
        self._failures: Counter[str] = Counter()

    def close(self) -> None:
        if "_plain" in vars(self):
            self._plain.close()

    async def answer(self, page: str, written: str, accept: str = "*/*") -> Answer | None:
        """The answer to a request of the page at a URL; None if it is refused, or failed."""
        url = canonical(written)
        if url is None:
            return None
        accept = accept if accept.isascii() and accept.isprintable() and len(accept) <= MAX_ACCEPT_CHARACTERS else "*/*"
        key = url, accept, _is_one_site(page, url)
        if key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key]
        answer, is_kept = await self._followed(page, url, accept)
        if is_kept:
            self._keep(key, answer)
        return answer

    async def _followed(self, page: str, url: str, accept: str) -> tuple[Answer | None, bool]:
        """The answer after redirects, and whether it may be kept."""
        is_own = _is_one_site(page, url)
        for _ in range(self._settings.redirects + 1):
            # A redirect never leads back to headers and cookies of the user.
            is_own = is_own and _is_one_site(page, url)
            if self._failures[host_of(url)] >= MAX_FAILURES:
                return None, False
            if not await self._is_allowed(url):
                # robots.txt may have been unreachable.
                return None, not self._failures[host_of(url)]
            request = Request(url, (), False, MAX_BYTES, (f"Accept: {accept}",))
            response = await self._get(request, self._fetcher if is_own else self._plain)
            if isinstance(response, NotFetched):
                return None, False
            if response.truncated:
                break
            if response.status not in REDIRECTS:
                is_kept = "no-store" not in (response.header("cache-control") or "").lower()
                return _answer_of(response), is_kept and not _has_failed(response)
            target = resolve(url, location_of(response.head) or "")
            if target is None:
                break
            url = target
        return None, True

    @cached_property
    def _plain(self) -> Fetcher:
        return self._make_plain_fetcher()

    def _keep(self, key: CacheKey, answer: Answer | None) -> None:
        if key in self._cache:  # A page may request something twice at the same time.
            self._cache_bytes -= _n_bytes(self._cache.pop(key))
        self._cache[key] = answer
        self._cache_bytes += _n_bytes(answer)
        while self._cache_bytes > CACHE_BYTES:
            self._cache_bytes -= _n_bytes(self._cache.popitem(last=False)[1])

    # robots.txt

    async def _is_allowed(self, url: str) -> bool:
        host = host_of(url)
        if any(is_covered(host.rstrip("."), domain) for domain in self._settings.scope.deny_domains):
            return False
        known = self._engine.allows(url, self._clock())
        if known is not None:
            return known
        return (await self._rules_of(origin_of(url))).allows(url)

    async def _rules_of(self, origin: str) -> RobotsRules:
        # Several requests of a page come to a new host at the same time.
        async with self._robots_locks.setdefault(origin, asyncio.Lock()):
            rules, valid_until_s = self._rules.get(origin, (DISALLOW_ALL, 0.0))
            if valid_until_s <= self._clock():
                rules = await self._fetch_rules(origin)
                lifetime_s = UNREACHABLE_LIFETIME_S if self._failures[host_of(origin + "/")] else ROBOTS_LIFETIME_S
                self._rules[origin] = rules, self._clock() + lifetime_s
            if len(self._rules) > MAX_ORIGINS:
                forgotten, _ = self._rules.popitem(last=False)
                self._robots_locks.pop(forgotten, None)
        return rules

    async def _fetch_rules(self, origin: str) -> RobotsRules:
        url = robots_url(origin)
        for _ in range(ROBOTS_REDIRECTS + 1):
            response = await self._get(Request(url, (), False, READ_BYTES), self._plain)
            if isinstance(response, NotFetched):
                return DISALLOW_ALL
            if response.status not in REDIRECTS:
                return self._with_delay(
                    origin, rules_from_response(response.status, response.content, self._settings.agent)
                )
            target = resolve(url, location_of(response.head) or "")
            if target is None:
                break
            url = target
        return ALLOW_ALL

    def _with_delay(self, origin: str, rules: RobotsRules) -> RobotsRules:
        delay_s = rules.crawl_delay_s
        if delay_s is not None:
            if delay_s > self._settings.politeness.max_delay_s:
                return DISALLOW_ALL
            host = host_of(origin + "/")
            self._crawl_delays[host] = max(delay_s, self._crawl_delays.get(host, 0.0))
            self.gate.hold(host, delay_s)
        return rules

    # Requests

    async def _get(self, request: Request, fetcher: Fetcher) -> Response | NotFetched:
        """Send a request when its host may receive one. It ends on its own if the page does not wait any more."""
        host = host_of(request.url)
        resolved = await self._resolved(host)
        if isinstance(resolved, NotFetched):
            return resolved
        cooldown_s = self._cooldown_s(host)
        if cooldown_s > MAX_HOLD_S:
            return NotFetched(SkipReason.HOST_DISABLED, host, 0.0)
        await asyncio.sleep(cooldown_s)
        await self._turn(host, resolved.addresses[0])
        answer: asyncio.Future[Response | NotFetched] = self._loop.create_future()

        def on_done(result: Response | NotFetched) -> None:
            self.gate.done(host, hold_s=self._hold_s(host, result))
            if not answer.done():
                answer.set_result(result)

        addressed = Request(request.url, resolved.addresses, False, request.body_bytes, request.headers)
        fetcher.start(addressed, on_done)
        return await answer

    async def _resolved(self, host: str) -> Resolved | NotFetched:
        found: asyncio.Future[Resolved | NotFetched] = self._loop.create_future()
        self._resolver.start(host, lambda result: None if found.done() else found.set_result(result))
        return await found

    def _cooldown_s(self, host: str) -> float:
        """How long the engine would wait, for example after a failure; that of a disabled host never ends."""
        number, politeness = self._engine.hosts.find(host), self._engine.politeness
        if number is None or (politeness.is_busy(number) and not politeness.is_disabled(number)):
            return 0.0
        return max(0.0, politeness.waits_until_s(number) - self._clock())

    async def _turn(self, host: str, address: str) -> None:
        granted: asyncio.Future[None] = self._loop.create_future()

        def start() -> None:
            granted.set_result(None)

        self.gate.request(host, address, start)
        try:
            await granted
        except asyncio.CancelledError:
            if granted.cancelled():
                self.gate.withdraw(host, start)
            else:
                self.gate.done(host, is_sent=False)
            raise

    def _delay_of(self, host: str) -> float:
        number = self._engine.hosts.find(host)
        least_s = max(self._settings.politeness.delay_s, self._crawl_delays.get(host, 0.0))
        if number is None or not self._engine.politeness.is_known(number):
            return least_s
        return max(least_s, self._engine.politeness.current_delay_s(number))

    def _hold_s(self, host: str, result: Response | NotFetched) -> float:
        """How long the host needs after a request, besides its delay."""
        if isinstance(result, Response) and not _has_failed(result):
            self._failures.pop(host, None)
            return self._settings.politeness.delay_factor * min(result.elapsed_s, MAX_HOLD_S / 10)
        self._failures[host] += 1
        header = result.header("retry-after") if isinstance(result, Response) else None
        retry_after_s = None if header is None else retry_after_seconds(header, self._clock())
        backoff_s = max(1.0, self._delay_of(host)) * 2.0 ** self._failures[host]
        return min(MAX_HOLD_S, max(backoff_s, retry_after_s or 0.0))


def _is_one_site(page: str, url: str) -> bool:
    return registrable_domain(host_of(page)) == registrable_domain(host_of(url))


def _has_failed(response: Response) -> bool:
    return response.status in LATER or response.status >= 500


def _answer_of(response: Response) -> Answer:
    names = (line.partition(b":")[0].decode("latin-1").strip().lower() for line in response.head.split(b"\r\n")[1:])
    headers = {name: response.header(name) or "" for name in names if name in PASSED_HEADERS}
    return Answer(response.status, headers, response.content)


def _n_bytes(answer: Answer | None) -> int:
    return ENTRY_BYTES + (0 if answer is None else len(answer.content))
