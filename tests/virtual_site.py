"""Virtual sites with virtual response times, and crawls of them."""

import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from heapq import heappop, heappush
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from scenthound.crawler.journal import Turn, read_journal
from scenthound.crawler.live_crawl import LiveCrawl, RawResult
from scenthound.crawler.replay import started
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.tasks import Kind, Task
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import Topic
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.batches import RawPage
from scenthound.store.builder import web_of
from scenthound.store.checkpoints import Checkpoints
from scenthound.store.crawl_folder import CHECKPOINT_FOLDER, ArchiveSettings
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.recorded_web import RecordedWeb
from scenthound.web.dns import Resolved
from scenthound.web.fetch import NotFetched, Response
from scenthound.web.urls import host_of

WORDS = ("sea", "wave", "harbour", "ship", "anchor", "sail", "wind", "storm", "island", "coast", "tide", "reef", "rope")
TOPIC = Topic("sea", keywords=("sea", "wave"), description="Waves and storms at sea.")
ADDRESS = "192.0.2.1"
MAX_KILLS = 300


@dataclass
class VirtualSite:
    """Pages by URL, redirects, and other responses by URL as (status, headers, body). Other URLs are 404."""

    pages: dict[str, str]
    redirects: dict[str, str] = field(default_factory=dict)
    others: dict[str, tuple[int, str, bytes]] = field(default_factory=dict)
    requests: Counter[str] = field(default_factory=Counter)
    #: Every request with its time.
    requested: list[tuple[float, str]] = field(default_factory=list)
    own_addresses: bool = False
    #: Hosts that cannot be resolved, with the reason.
    unresolved: dict[str, SkipReason] = field(default_factory=dict)
    takes_s: Callable[[Task], float] = lambda task: zlib.crc32(task.url.encode()) % 1000 / 1000

    def result_of(self, task: Task) -> tuple[float, RawResult | None]:
        takes_s = self.takes_s(task)
        if task.kind is Kind.RECORDED:
            return 0.0, None
        if task.kind is Kind.ADDRESS:
            host = host_of(task.url)
            return takes_s, NotFetched(
                self.unresolved[host], host, takes_s
            ) if host in self.unresolved else self._resolved(host)
        self.requests[task.url] += 1
        self.requested.append((task.issued_s, task.url))
        return takes_s, self.response(task.url)

    def _resolved(self, host: str) -> Resolved:
        """All hosts share one address, or each has its own."""
        return Resolved((f"192.0.2.{zlib.crc32(host.encode()) % 250 + 1}" if self.own_addresses else ADDRESS,))

    def response(self, url: str) -> Response:
        if url in self.redirects:
            return response(url, 301, f"Location: {self.redirects[url]}")
        if url in self.others:
            return response(url, *self.others[url])
        if url in self.pages:
            return response(url, 200, "Content-Type: text/html; charset=utf-8", self.pages[url].encode())
        return response(url, 404, "Content-Type: text/html", b"<title>Not found</title>")

    def recorded(self) -> RecordedWeb:
        """The site as a recorded web."""
        aliases: dict[str, list[str]] = {}
        for alias in self.redirects:
            aliases.setdefault(self._end_of(alias), []).append(alias)
        return web_of(RawPage(url, html=html, aliases=tuple(aliases.get(url, ()))) for url, html in self.pages.items())

    def _end_of(self, url: str) -> str:
        while url in self.redirects:
            url = self.redirects[url]
        return url


def response(url: str, status: int, headers: str = "", body: bytes = b"") -> Response:
    head = f"HTTP/1.1 {status} Said\r\n{headers}\r\n" if headers else f"HTTP/1.1 {status} Said\r\n"
    return Response(url, status, head.encode(), body, body, False, ADDRESS, 0.01)


def random_site(seed: int, n_pages: int = 60, n_hosts: int = 6) -> VirtualSite:
    """Pages of random words and links on a few hosts, with dead links and redirects."""
    rng = Random(seed)
    urls = [f"http://h{rng.randrange(n_hosts)}.test/{i}" for i in range(n_pages)]
    unusual = set(rng.sample(urls[1:], n_pages // 5))
    dead, moved = sorted(unusual)[::2], sorted(unusual)[1::2]
    available = [url for url in urls if url not in unusual]
    pages = {}
    for url in available:
        parts = [f"<title>{rng.choice(WORDS)}</title>"]
        for target in rng.choices(urls, k=rng.randint(3, 9)):
            words = " ".join(rng.choices(WORDS, k=rng.randint(0, 12)))
            parts.append(f"<p>{words} <a href='{target}'>{rng.choice(WORDS)}</a>")
        pages[url] = "".join(parts)
    assert dead
    return VirtualSite(pages, {url: rng.choice(available) for url in moved})


def busy_site(seed: int) -> VirtualSite:
    """The same with robots.txt files, sitemaps, redirect chains, failures and Retry-After headers."""
    rng = Random(seed)
    site = random_site(seed, n_pages=80, n_hosts=8)
    urls = [*site.pages, *site.redirects]
    for url in rng.sample(list(site.pages)[2:], 12):
        del site.pages[url]
        site.redirects[url] = rng.choice(urls)
    for host in range(8):
        robots = f"http://h{host}.test/robots.txt"
        kind = rng.randrange(5)
        if kind == 0:
            site.redirects[robots] = f"http://h{rng.randrange(8)}.test/rules"
        elif kind < 4:
            rules = f"User-agent: *\nDisallow: /{rng.randrange(1, 8)}\nCrawl-delay: {rng.randrange(12)}\n"
            site.others[robots] = (200, "", f"{rules}Sitemap: /map{host}.xml".encode())
            listed = "".join(f"<url><loc>{url}</loc></url>" for url in rng.sample(urls, 10))
            site.others[f"http://h{host}.test/map{host}.xml"] = (200, "", f"<urlset>{listed}</urlset>".encode())
    for url in rng.sample(list(site.pages)[2:], 8):
        status = rng.choice([429, 500, 503])
        site.others[url] = (status, f"Retry-After: {rng.choice([1, 30])}", b"")
    return site


def page_of_words(title: str, links: list[str], seed: int) -> str:
    """A page with words of its own, so that it is nearly like no other."""
    rng = Random(seed)
    words = " ".join(f"{rng.choice(WORDS)}{rng.randrange(10_000)}" for _ in range(80))
    return f"<title>{title}</title><p>{words}" + "".join(f"<p><a href='{link}'>on</a>" for link in links)


def plan(seeds: tuple[str, ...], **settings: Any) -> CrawlSettings:
    """Settings without delays and filters, one page after the other, in the order of the strategy."""
    chosen: dict[str, Any] = {
        "strategy": "breadth_first",
        "politeness": PolitenessSettings(delay_s=0.0, delay_factor=0.0),
        "connections": 1,
        "strict_order": True,
        "sitemaps": False,
        "traps": False,
        "throttle": False,
        "near_duplicates": False,
        "soft_404s": False,
        "page_budget": 1000,
    }
    return CrawlSettings(TOPIC, seeds, **chosen | settings)


#: How long a task takes, and its result.
ResultOf = Callable[[Task], tuple[float, RawResult | None]]


class VirtualRun:
    """Runs a crawl on a virtual clock, from where its journal ends.

    The clock jumps from one event to the next, so that the same crawl has the same turns at the same times, also if it
    is stopped and resumed in between: results of tasks in flight then come when they would have come.
    """

    def __init__(
        self, crawl: LiveCrawl, result_of: ResultOf, page_budget: int, now_s: float, *, after_turn: bool
    ) -> None:
        self._crawl = crawl
        self._result_of = result_of
        self._page_budget = page_budget
        #: A turn is not repeated: a strategy may draw random numbers even if it requests nothing.
        self._turn_is_due = not after_turn or crawl.engine.wants_turn
        self._due: list[tuple[float, int, Task, RawResult | None]] = []
        self.now_s = now_s

    def run(self, after_event: Callable[[], None]) -> EndReason:
        engine = self._crawl.engine
        for task, _ in engine._scheduler.outstanding.values():
            self._start(task)
        while engine.n_visits < self._page_budget:
            if self._turn_is_due:
                room = engine.settings.connections - engine.n_in_flight
                for task in self._crawl.turn(self.now_s, room, self._page_budget):
                    self._start(task)
            self._turn_is_due = True
            if engine.wants_turn:
                continue
            if not self._advance():
                return EndReason.FRONTIER
            after_event()
        return EndReason.BUDGET

    def _start(self, task: Task) -> None:
        takes_s, result = self._result_of(task)
        heappush(self._due, (task.issued_s + takes_s, task.number, task, result))

    def _advance(self) -> bool:
        """Advance the clock to the next result, or until a host is ready; False if nothing will happen any more."""
        engine = self._crawl.engine
        ready_s = engine.politeness.next_ready_s(self.now_s)
        if self._due and (ready_s is None or self._due[0][0] <= ready_s):
            due_s, _, task, result = heappop(self._due)
            self.now_s = max(self.now_s, due_s)
            self._crawl.complete(lambda: self.now_s, task, result, lambda: None)
            return True
        if ready_s is None:
            return False
        self.now_s = ready_s
        return not (engine.is_idle() and len(engine.strategy) == 0)


class Killed(Exception):
    """The crawl was killed: nothing after its last commit counts."""


def crawl_virtually(
    folder: Path,
    plan: CrawlSettings,
    site: VirtualSite,
    *,
    commit: Callable[[], bool] = lambda: True,
    kill: Callable[[], bool] = lambda: False,
    checkpoint: Callable[[], bool] = lambda: False,
    stems: list[str] | None = None,
    commit_log: Path | None = None,
    crawl_id: UUID | None = None,
) -> EndReason:
    """Start or resume a crawl. `commit` and `kill` are called after each event, `checkpoint` after each commit. A crawl
    with a commit log is resumed even if its folder is missing."""
    is_new = not folder.exists() and not (commit_log and commit_log.exists())
    store = (
        CrawlStore.create(folder, plan.as_settings(), ArchiveSettings("test"), crawl_id=crawl_id, commit_log=commit_log)
        if is_new
        else CrawlStore.open(folder, commit_log=commit_log)
    )
    with closing(store):
        if stems is not None and is_new:
            store.add_stems(stems)
            store.commit()
        parts, replayed = started(plan, store)
        checkpoints = Checkpoints(folder / CHECKPOINT_FOLDER)

        def after_event() -> None:
            if commit():
                parts.crawl.commit()
                if checkpoint():
                    checkpoints.write(parts.crawl.state())
            if kill():
                raise Killed

        events = [event for written in [*store.events()][-1:] for event in read_journal(written)]
        after_turn = bool(events) and isinstance(events[-1], Turn) and not replayed.n_caught_up
        run = VirtualRun(parts.crawl, site.result_of, plan.page_budget, replayed.now_s, after_turn=after_turn)
        ended = run.run(after_event)
        parts.crawl.commit()
        return ended


def crawl_with_kills(
    folder: Path,
    plan: CrawlSettings,
    make_site: Callable[[], VirtualSite],
    rng: Random,
    *,
    commits: float = 0.4,
    checkpoints: float = 0.2,
    kills: float,
    before_part: Callable[[int], None] = lambda _: None,
    commit_log: Path | None = None,
) -> int:
    """Resume a crawl until it ends, and return how often it was killed. `commits` and `kills` are the shares of events
    that are followed by one, `checkpoints` the share of commits; `before_part` receives the number of each part."""
    for part in range(MAX_KILLS):
        before_part(part)
        with suppress(Killed):
            crawl_virtually(
                folder,
                plan,
                make_site(),
                commit=lambda: rng.random() < commits,
                kill=lambda: rng.random() < kills,
                checkpoint=lambda: rng.random() < checkpoints,
                commit_log=commit_log,
            )
            return part
    raise AssertionError(f"not ended after {MAX_KILLS} kills")


def visited_urls(folder: Path) -> list[str]:
    with CrawlStore.open(folder) as store:
        return [row.url for row in store.visits()]
