"""The requests of pages that are rendered: which are sent, when, and with what."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from scenthound.crawler import page_requests
from scenthound.crawler.page_requests import MAX_FAILURES, Answer, PageRequests
from scenthound.crawler.settings import CrawlSettings
from scenthound.frontier.politeness import Politeness, PolitenessSettings, RequestOutcome
from scenthound.model import Topic
from scenthound.reasons import SkipReason
from scenthound.web.dns import Resolved
from scenthound.web.fetch import NotFetched, Request, Response
from timing import VirtualLoop

PAGE = "http://www.a.test/page"
OWN, OTHER = "http://data.a.test/data", "http://b.test/data"
ROBOTS_OF_OTHER = "http://b.test/robots.txt"

#: Status, header lines and body; status 0 is a failed connection.
Content = tuple[int, str, bytes]
#: By URL, one for all requests or one for each, the last for all further ones; others are 404.
Site = Mapping[str, Content | list[Content]]


@dataclass
class SiteFetcher:
    """Every response takes a tenth of a second."""

    site: Site
    sent: list[tuple[float, str]] = field(default_factory=list)
    headers: list[tuple[str, ...]] = field(default_factory=list)

    def start(self, request: Request, on_done: Callable[[Response | NotFetched], None]) -> None:
        loop = asyncio.get_running_loop()
        self.sent.append((loop.time() - 1_000, request.url))
        self.headers.append(request.headers)
        contents = self.site.get(request.url, (404, "", b""))
        if isinstance(contents, list):
            contents = contents[min(self.urls.count(request.url), len(contents)) - 1]
        status, lines, body = contents
        head = f"HTTP/1.1 {status} X\r\n{lines}".encode()
        is_cut = len(body) > (request.body_bytes or 0)
        result: Response | NotFetched = Response(request.url, status, head, body, body, is_cut, "127.0.0.1", 0.1)
        if status == 0:
            result = NotFetched(SkipReason.CONNECT_FAILED, "", 0.1)
        loop.call_later(0.1, on_done, result)

    def close(self) -> None:
        pass

    @property
    def urls(self) -> list[str]:
        return [url for _, url in self.sent]


class SiteResolver:
    def start(self, host: str, on_done: Callable[[Resolved], None]) -> None:
        asyncio.get_running_loop().call_soon(on_done, Resolved((f"address of {host}",)))


@dataclass
class KnownHosts:
    """An engine that knows robots.txt and delays of the host of the page."""

    politeness: Politeness
    disallowed: tuple[str, ...] = ()

    @property
    def hosts(self) -> Any:
        return SimpleNamespace(find=lambda name: 0 if name == "www.a.test" else None)

    def allows(self, url: str, now_s: float) -> bool | None:
        return url not in self.disallowed if url.startswith("http://www.a.test/") else None


def answers(
    site: Site,
    *urls: str,
    together: int = 0,
    accepts: Sequence[str] = (),
    engine: KnownHosts | None = None,
    **settings: Any,
) -> tuple[list[Answer | None], SiteFetcher, SiteFetcher]:
    """The answers to requests of the page, the first `together` at the same time and then one after the other, and the
    fetchers with and without credentials."""
    own, plain = SiteFetcher(site), SiteFetcher(site)
    given = {"politeness": PolitenessSettings(delay_s=1.0), **settings}
    crawl = CrawlSettings(Topic("t", keywords=("t",)), (PAGE,), **given)
    known = engine or KnownHosts(Politeness(crawl.politeness))

    async def run() -> list[Answer | None]:
        clock = asyncio.get_running_loop().time
        requests = PageRequests(known, crawl, own, SiteResolver(), plain_fetcher=lambda: plain, clock=clock)
        first = await asyncio.gather(*(requests.answer(PAGE, url) for url in urls[:together]))
        asked = zip(urls[together:], accepts or ["*/*"] * (len(urls) - together), strict=True)
        return first + [await requests.answer(PAGE, url, accept) for url, accept in asked]

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(run()), own, plain


def test_headers_and_cookies_of_the_user_are_sent_within_a_site_only() -> None:
    (first, second), own, plain = answers({OWN: (200, "", b"1"), OTHER: (200, "", b"2")}, OWN, OTHER)
    assert first is not None
    assert second is not None
    assert (first.content, second.content) == (b"1", b"2")
    assert own.urls == [OWN]
    assert plain.urls == ["http://data.a.test/robots.txt", ROBOTS_OF_OTHER, OTHER]
    assert own.headers == [("Accept: */*",)]


def test_a_redirect_to_another_site_and_back_loses_them() -> None:
    site = {
        OWN: (302, f"Location: {OTHER}\r\n", b""),
        OTHER: (302, "Location: http://www.a.test/end\r\n", b""),
        "http://www.a.test/end": (200, "Content-Type: text/plain\r\nSet-Cookie: a=1\r\n", b"end"),
    }
    (answer,), own, plain = answers(site, OWN)
    assert answer == Answer(200, {"content-type": "text/plain"}, b"end")
    assert own.urls == [OWN]
    assert plain.urls[-2:] == [OTHER, "http://www.a.test/end"]


def test_a_response_is_requested_once_unless_it_must_not_be_stored() -> None:
    site = {OWN: (200, "", b"1"), OTHER: (200, "Cache-Control: private, no-store\r\n", b"2")}
    _, own, plain = answers(site, OWN, OWN, OTHER, OTHER, f"{OWN}?gone", f"{OWN}?gone")
    assert own.urls == [OWN, f"{OWN}?gone"]
    assert plain.urls.count(OTHER) == 2
    assert plain.urls.count(ROBOTS_OF_OTHER) == 1


FAILURES: list[Content] = [(503, "Retry-After: 1\r\n", b"busy"), (429, "", b""), (500, "", b""), (0, "", b"")]


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_that_may_pass_is_not_kept(failure: Content) -> None:
    found, own, _ = answers({OWN: [failure, (200, "", b"1")]}, OWN, OWN, OWN)
    assert [each and each.status for each in found] == [failure[0] or None, 200, 200]
    assert own.urls == [OWN, OWN]


def test_an_unreachable_robots_txt_is_requested_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    site: Site = {ROBOTS_OF_OTHER: [(503, "", b""), (200, "", b"")], OTHER: (200, "", b"2")}
    found, _, plain = answers(site, OTHER, OTHER)
    assert (found, plain.urls) == ([None, None], [ROBOTS_OF_OTHER])
    monkeypatch.setattr(page_requests, "UNREACHABLE_LIFETIME_S", 0.0)
    found, _, plain = answers(site, OTHER, OTHER)
    assert (found[0], found[1] and found[1].content) == (None, b"2")
    assert plain.urls == [ROBOTS_OF_OTHER, ROBOTS_OF_OTHER, OTHER]


def test_responses_are_kept_by_what_the_page_accepts() -> None:
    site = {OWN: (200, "", b"1")}
    _, own, _ = answers(site, OWN, OWN, accepts=("application/json", "text/html"))
    assert own.headers == [("Accept: application/json",), ("Accept: text/html",)]
    _, own, _ = answers(site, OWN, OWN, accepts=("text/html", "text/html"))
    assert own.urls == [OWN]


def test_a_response_that_is_requested_twice_at_the_same_time_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_requests, "CACHE_BYTES", 1_000)
    page = "http://www.a.test/0"
    found, own, _ = answers({page: (200, "", b"x" * 400)}, page, page, page, together=2)
    assert [each and len(each.content) for each in found] == [400, 400, 400]
    assert own.urls == [page, page]


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_requests, "CACHE_BYTES", 2_000)
    urls = [f"http://www.a.test/{number}" for number in range(3)]
    _, own, _ = answers(dict.fromkeys(urls, (200, "", b"x" * 400)), *urls, urls[0], urls[2])
    assert own.urls == [*urls, urls[0]]


def test_robots_txt_is_respected_after_redirects_too() -> None:
    site = {
        ROBOTS_OF_OTHER: (200, "", b"User-agent: scenthound\nDisallow: /data\nCrawl-delay: 5"),
        "http://www.a.test/to": (301, f"Location: {OTHER}\r\n", b""),
        "http://b.test/free": (200, "", b"free"),
    }
    engine = KnownHosts(Politeness(PolitenessSettings()), ("http://www.a.test/no",))
    (direct, redirected, known, free), own, plain = answers(
        site, OTHER, "http://www.a.test/to", "http://www.a.test/no", "http://b.test/free", engine=engine
    )
    assert (direct, redirected, known) == (None, None, None)
    assert free is not None
    assert own.urls == ["http://www.a.test/to"]
    # The crawl delay counts from the end of the request for robots.txt.
    assert plain.sent == [(0.0, ROBOTS_OF_OTHER), (pytest.approx(5.1), "http://b.test/free")]


@pytest.mark.parametrize("robots", [(500, "", b""), (0, "", b""), (429, "", b"")])
def test_a_host_with_an_unreachable_robots_txt_receives_no_request(robots: Content) -> None:
    (answer,), own, plain = answers({ROBOTS_OF_OTHER: robots, OTHER: (200, "", b"2")}, OTHER)
    assert (answer, own.urls, plain.urls) == (None, [], [ROBOTS_OF_OTHER])


def test_requests_to_a_host_are_a_delay_apart_and_never_overlap() -> None:
    urls = [f"http://www.a.test/{number}" for number in range(3)]
    _, own, _ = answers(dict.fromkeys(urls, (200, "", b"1")), *urls, together=3)
    assert [time_s for time_s, _ in own.sent] == [0.0, pytest.approx(1.1), pytest.approx(2.2)]


def test_a_cooldown_of_the_engine_is_respected() -> None:
    engine = KnownHosts(Politeness(PolitenessSettings(delay_s=1.0)))
    engine.politeness.started(0, 999.0)
    engine.politeness.finished(0, 1_000.0, RequestOutcome(0.1, failed=True, retry_after_s=20.0))
    _, own, _ = answers({}, "http://www.a.test/0", engine=engine)
    assert own.sent == [(20.0, "http://www.a.test/0")]
    engine.politeness.disable(0)
    (answer,), own, _ = answers({}, "http://www.a.test/0", engine=engine)
    assert (answer, own.sent) == (None, [])


def test_a_host_that_fails_backs_off_and_then_receives_no_request() -> None:
    urls = [f"http://www.a.test/{number}" for number in range(MAX_FAILURES + 1)]
    site = dict.fromkeys(urls, (503, "Retry-After: 10\r\n", b""))
    found, own, _ = answers(site, *urls)
    assert found[-1] is None
    assert [time_s for time_s, _ in own.sent] == [0.0, pytest.approx(10.1), pytest.approx(20.2)]


def test_denied_domains_truncated_responses_and_other_schemes_are_refused() -> None:
    site = {OWN: (200, "", b"x" * (page_requests.MAX_BYTES + 1)), OTHER: (200, "", b"2")}
    scope = CrawlSettings(Topic("t"), (PAGE,)).scope
    denying = scope.of(allow_domain=[], deny_domain=["b.test"], include=[], exclude=[], max_depth=None)
    found, _, plain = answers(site, OWN, OTHER, "ftp://a.test/", "http://[", scope=denying)
    assert found == [None] * 4
    assert OTHER not in plain.urls
    assert ROBOTS_OF_OTHER not in plain.urls


def test_a_request_that_nobody_waits_for_any_more_does_not_block_its_host() -> None:
    own = SiteFetcher({})
    crawl = CrawlSettings(Topic("t"), (PAGE,), politeness=PolitenessSettings(delay_s=1.0))

    async def run() -> None:
        loop = asyncio.get_running_loop()
        requests = PageRequests(
            KnownHosts(Politeness(crawl.politeness)),
            crawl,
            own,
            SiteResolver(),
            plain_fetcher=lambda: own,
            clock=loop.time,
        )
        tasks = [loop.create_task(requests.answer(PAGE, f"http://www.a.test/{n}")) for n in range(3)]
        await asyncio.sleep(0.05)
        for task in tasks:  # The first is in flight, the others wait for their turn.
            task.cancel()
        await requests.answer(PAGE, "http://www.a.test/next")

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(run())
    assert own.sent == [(0.0, "http://www.a.test/0"), (pytest.approx(1.1), "http://www.a.test/next")]
