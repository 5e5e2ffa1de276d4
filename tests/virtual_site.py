"""What the tests of live crawls share: made-up sites that answer orders at made-up times, and crawls of them."""

import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from scenthound.crawler.assembly import CrawlParts
from scenthound.crawler.live_crawl import RawResult
from scenthound.crawler.plan import CrawlSettings
from scenthound.crawler.replay import VirtualRun
from scenthound.crawler.start import take_up
from scenthound.crawler.tasks import Kind, Task
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import Topic
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.batches import RawPage
from scenthound.store.builder import web_of
from scenthound.store.crawl_folder import ArchiveSettings
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.recorded_web import RecordedWeb
from scenthound.web.dns import Resolved
from scenthound.web.fetch import NotFetched, Response
from scenthound.web.urls import host_of

WORDS = ("sea", "wave", "harbour", "ship", "anchor", "sail", "wind", "storm", "island", "coast", "tide", "reef", "rope")
TOPIC = Topic("sea", keywords=("sea", "wave"), description="Waves and storms at sea.")
ADDRESS = "192.0.2.1"


@dataclass
class VirtualSite:
    """Pages by URL, redirects, and other answers by URL as (status, headers, body). What is none of them is a 404."""

    pages: dict[str, str]
    redirects: dict[str, str] = field(default_factory=dict)
    others: dict[str, tuple[int, str, bytes]] = field(default_factory=dict)
    requests: Counter[str] = field(default_factory=Counter)
    #: Every request, and when it was ordered.
    asked: list[tuple[float, str]] = field(default_factory=list)
    own_addresses: bool = False
    #: Hosts whose names cannot be looked up, and why.
    lost: dict[str, SkipReason] = field(default_factory=dict)
    takes_s: Callable[[Task], float] = lambda order: zlib.crc32(order.url.encode()) % 1000 / 1000

    def answer(self, order: Task) -> tuple[float, RawResult | None]:
        takes_s = self.takes_s(order)
        if order.kind is Kind.RECORDED:
            return 0.0, None
        if order.kind is Kind.ADDRESS:
            host = host_of(order.url)
            return takes_s, NotFetched(self.lost[host], host, takes_s) if host in self.lost else self._resolved(host)
        self.requests[order.url] += 1
        self.asked.append((order.issued_s, order.url))
        return takes_s, self.response(order.url)

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
    odd = set(rng.sample(urls[1:], n_pages // 5))
    dead, moved = sorted(odd)[::2], sorted(odd)[1::2]
    sound = [url for url in urls if url not in odd]
    pages = {}
    for url in sound:
        parts = [f"<title>{rng.choice(WORDS)}</title>"]
        for target in rng.choices(urls, k=rng.randint(3, 9)):
            words = " ".join(rng.choices(WORDS, k=rng.randint(0, 12)))
            parts.append(f"<p>{words} <a href='{target}'>{rng.choice(WORDS)}</a>")
        pages[url] = "".join(parts)
    assert dead
    return VirtualSite(pages, {url: rng.choice(sound) for url in moved})


def busy_site(seed: int) -> VirtualSite:
    """The same with robots.txt files, sitemaps, redirects to redirects, failures and hosts that ask for time."""
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
            said = f"User-agent: *\nDisallow: /{rng.randrange(1, 8)}\nCrawl-delay: {rng.randrange(12)}\n"
            site.others[robots] = (200, "", f"{said}Sitemap: /map{host}.xml".encode())
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
    """A plan without delays and guards, one page after the other, in the strategy's order."""
    chosen: dict[str, Any] = {
        "strategy": "breadth_first",
        "politeness": PolitenessSettings(delay_s=0.0, delay_factor=0.0),
        "connections": 1,
        "strict_order": True,
        "traps": False,
        "near_duplicates": False,
        "soft_404s": False,
        "page_budget": 1000,
    }
    return CrawlSettings(TOPIC, seeds, **chosen | settings)


class Killed(Exception):
    """The crawl was killed: nothing after its last commit counts."""


def crawl_virtually(
    folder: Path,
    plan: CrawlSettings,
    site: VirtualSite,
    *,
    commit: Callable[[], bool] = lambda: True,
    kill: Callable[[], bool] = lambda: False,
    stems: list[str] | None = None,
) -> EndReason:
    """Crawl into a folder, or go on there. `commit` and `kill` are asked after each event."""
    is_new = not folder.exists()
    store = (
        CrawlStore.create(folder, plan.as_settings(), ArchiveSettings("test")) if is_new else CrawlStore.open(folder)
    )
    with closing(store):
        if stems is not None and is_new:
            store.add_stems(stems)
            store.commit()
        with closing(CrawlParts(plan, store)) as parts:
            stands = take_up(parts, plan, store)

            def after_event() -> None:
                if commit():
                    parts.crawl.commit()
                if kill():
                    raise Killed

            run = VirtualRun(parts.crawl, site.answer, plan.page_budget, stands)
            ended = run.run(after_event)
            parts.crawl.commit()
            return ended


def visited_urls(folder: Path) -> list[str]:
    with CrawlStore.open(folder) as store:
        return [row.url for row in store.visits()]
