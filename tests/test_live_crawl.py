"""What a live crawl does with what hosts say: robots.txt, redirects, failures, budgets, sitemaps, repeated pages."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scenthound.crawler.sitemap_links import LINKS_PER_PAGE
from scenthound.crawler.tasks import Kind, Task
from scenthound.frontier.politeness import Politeness, PolitenessSettings, RequestOutcome
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.record import open_web
from virtual_site import VirtualSite, crawl_virtually, plan, visited_urls

A, B, C, D = (f"http://a.test/{name}" for name in "abcd")
OTHER = "http://b.test/x"


def page(*links: str, text: str = "sea") -> str:
    return f"<title>{text}</title>" + "".join(f"<p>{text} <a href='{link}'>wave</a>" for link in links)


def crawled(folder: Path, site: VirtualSite, seeds: tuple[str, ...] = (A,), **settings: Any) -> list[str]:
    crawl_virtually(folder / "crawl", plan(seeds, **settings), site)
    return visited_urls(folder / "crawl")


def skipped(folder: Path) -> dict[str, SkipReason]:
    with CrawlStore.open(folder / "crawl") as store:
        urls = store.urls()
        return {urls[row.page]: row.reason for row in store.skipped()}


def test_robots_txt_is_requested_once_per_origin_and_respected(tmp_path: Path) -> None:
    site = VirtualSite({A: page(B, C), B: page(), C: page()}, others={"http://a.test/robots.txt": (200, "", b"")})
    site.others["http://a.test/robots.txt"] = (200, "", b"User-agent: *\nDisallow: /b\n")
    assert crawled(tmp_path, site) == [A, C]
    assert skipped(tmp_path) == {B: SkipReason.ROBOTS}
    assert site.requests == {"http://a.test/robots.txt": 1, A: 1, C: 1}


def test_an_unreachable_robots_txt_disallows_all(tmp_path: Path) -> None:
    site = VirtualSite({A: page(OTHER), OTHER: page()}, others={"http://b.test/robots.txt": (500, "", b"")})
    assert crawled(tmp_path, site) == [A]
    assert skipped(tmp_path) == {OTHER: SkipReason.ROBOTS_UNREACHABLE}
    assert site.requests["http://b.test/robots.txt"] == 3
    assert site.requests[OTHER] == 0


def test_a_missing_robots_txt_allows_all(tmp_path: Path) -> None:
    assert crawled(tmp_path, VirtualSite({A: page(B), B: page()})) == [A, B]


def test_robots_txt_is_found_behind_redirects(tmp_path: Path) -> None:
    site = VirtualSite(
        {A: page(B), B: page()},
        {"http://a.test/robots.txt": "http://b.test/rules"},
        {"http://b.test/rules": (200, "", b"User-agent: scenthound\nDisallow: /b")},
    )
    assert crawled(tmp_path, site) == [A]
    assert skipped(tmp_path) == {B: SkipReason.ROBOTS}


def test_a_redirect_is_followed_to_the_final_url(tmp_path: Path) -> None:
    site = VirtualSite({A: page(B), C: page(D), D: page()}, {B: OTHER, OTHER: C})
    assert crawled(tmp_path, site) == [A, C, D]


def test_the_location_of_a_redirect_may_have_raw_utf_8(tmp_path: Path) -> None:
    target = "http://a.test/caf%C3%A9"
    site = VirtualSite({A: page(B), target: page()}, {B: "/café"})
    assert crawled(tmp_path, site) == [A, target]
    assert site.requests == {"http://a.test/robots.txt": 1, A: 1, B: 1, target: 1}
    web = open_web(tmp_path / "crawl")
    assert web.page_of(B) == web.page_of(target) == 1


def test_a_redirect_to_a_visited_page_is_skipped(tmp_path: Path) -> None:
    site = VirtualSite({A: page(B, C), C: page()}, {B: A})
    assert crawled(tmp_path, site) == [A, C]
    assert skipped(tmp_path) == {B: SkipReason.REPEATED}
    assert site.requests[A] == 1


def test_a_page_visited_by_a_redirect_is_not_fetched_again(tmp_path: Path) -> None:
    site = VirtualSite({A: page(B, C), C: page()}, {B: C})
    assert crawled(tmp_path, site) == [A, C]
    assert skipped(tmp_path) == {C: SkipReason.REPEATED}
    assert site.requests[C] == 1


def test_redirect_loops_and_long_chains_are_dropped(tmp_path: Path) -> None:
    chain = {f"http://a.test/{i}": f"http://a.test/{i + 1}" for i in range(20)}
    site = VirtualSite({A: page(B, "http://a.test/0")}, {B: C, C: B} | chain)
    assert crawled(tmp_path, site) == [A]
    assert skipped(tmp_path) == {B: SkipReason.REDIRECT_LOOP, "http://a.test/0": SkipReason.REDIRECT_LOOP}
    assert sum(site.requests[url] for url in chain) == 6


@pytest.mark.parametrize("location", ["file:///etc/passwd", "javascript:alert(1)", "ftp://a.test/", "http://"])
def test_a_redirect_to_another_scheme_is_rejected(location: str, tmp_path: Path) -> None:
    site = VirtualSite({A: page(B)}, {B: location})
    crawled(tmp_path, site)
    assert skipped(tmp_path) == {B: SkipReason.REDIRECT_FORBIDDEN}


def test_a_redirect_obeys_the_robots_txt_of_where_it_leads(tmp_path: Path) -> None:
    site = VirtualSite({A: page(B), OTHER: page()}, {B: OTHER})
    site.others["http://b.test/robots.txt"] = (200, "", b"User-agent: *\nDisallow: /")
    assert crawled(tmp_path, site) == [A]
    assert skipped(tmp_path) == {B: SkipReason.ROBOTS}
    assert site.requests[OTHER] == 0


@pytest.mark.parametrize(
    ("status", "reason", "n_requests"),
    [
        (404, SkipReason.CLIENT_ERROR, 1),
        (403, SkipReason.CLIENT_ERROR, 1),
        (500, SkipReason.SERVER_ERROR, 3),
        (503, SkipReason.RATE_LIMITED, 3),
        (429, SkipReason.RATE_LIMITED, 3),
        (204, SkipReason.UNEXPECTED_STATUS, 1),
    ],
)
def test_failures_have_a_reason_and_a_number_of_tries(
    status: int, reason: SkipReason, n_requests: int, tmp_path: Path
) -> None:
    site = VirtualSite({A: page(B, C), C: page()}, others={B: (status, "Content-Type: text/html", b"<p>no")})
    assert crawled(tmp_path, site) == [A, C]
    assert skipped(tmp_path) == {B: reason}
    assert site.requests[B] == n_requests


def test_retry_after_is_respected(tmp_path: Path) -> None:
    requested_at: list[float] = []
    site = VirtualSite({A: page(B)}, others={B: (429, "Retry-After: 120", b"")})

    def takes_s(task: Task) -> float:
        if task.url == B and task.kind is Kind.PAGE:
            requested_at.append(task.issued_s)
        return 0.5

    site.takes_s = takes_s
    crawled(tmp_path, site)
    assert [later - earlier for earlier, later in pairwise(requested_at)] == pytest.approx([120.5, 120.5], rel=1e-9)


def test_the_crawl_delay_of_robots_txt_is_respected(tmp_path: Path) -> None:
    issued: list[float] = []
    site = VirtualSite({A: page(B, C), B: page(), C: page()})
    site.others["http://a.test/robots.txt"] = (200, "", b"User-agent: *\nCrawl-delay: 7")

    def takes_s(task: Task) -> float:
        if task.kind is not Kind.ADDRESS:
            issued.append(task.issued_s)
        return 0.0

    site.takes_s = takes_s
    assert crawled(tmp_path, site, politeness=PolitenessSettings(delay_s=1)) == [A, B, C]
    assert [later - earlier for earlier, later in pairwise(issued)] == [7, 7, 7]


def test_budgets_of_hosts_and_domains_are_spent_to_the_last_page(tmp_path: Path) -> None:
    urls = [f"http://h{i % 2}.a.test/{i}" for i in range(8)] + [OTHER]
    site = VirtualSite({A: page(*urls)} | {url: page() for url in urls})
    rules = PolitenessSettings(delay_s=0, pages_per_host=3, pages_per_domain=6)
    visited = crawled(tmp_path, site, politeness=rules, connections=8, strict_order=False)
    assert OTHER in visited
    assert len([url for url in visited if ".a.test" in url or "//a.test" in url]) == 6
    assert set(skipped(tmp_path).values()) <= {SkipReason.HOST_BUDGET, SkipReason.DOMAIN_BUDGET}
    assert len(visited) + len(skipped(tmp_path)) == 10


def test_the_page_budget_is_exact_whatever_is_in_flight(tmp_path: Path) -> None:
    urls = [f"http://h{i}.test/" for i in range(50)]
    site = VirtualSite({A: page(*urls)} | {url: page() for url in urls[::2]})
    settings = plan((A,), page_budget=20, connections=16, strict_order=False)
    assert crawl_virtually(tmp_path / "crawl", settings, site) is EndReason.BUDGET
    assert len(visited_urls(tmp_path / "crawl")) == 20
    assert sum(site.requests[url] for url in urls if url in site.pages) == 19


def test_the_target_of_several_redirects_is_requested_once(tmp_path: Path) -> None:
    # All four are in flight together; one of the targets is there, the other is gone.
    redirects = {f"http://r{i}.test/": OTHER if i < 3 else "http://gone.test/" for i in range(6)}
    site = VirtualSite({A: page(OTHER, *redirects), OTHER: page()}, redirects, own_addresses=True)
    visited = crawled(tmp_path, site, connections=8, strict_order=False)
    assert visited == [A, OTHER]
    assert site.requests[OTHER] == site.requests["http://gone.test/"] == 1
    reasons = skipped(tmp_path)
    assert [reasons[url] for url in redirects] == [SkipReason.REPEATED] * 3 + [SkipReason.CLIENT_ERROR] * 3


def test_jobs_that_waited_for_an_address_share_its_fate_when_it_is_turned_down(tmp_path: Path) -> None:
    redirects = {f"http://r{i}.test/": OTHER for i in range(4)}
    site = VirtualSite({A: page(*redirects), OTHER: page()}, redirects, own_addresses=True)
    site.others["http://b.test/robots.txt"] = (200, "", b"User-agent: *\nDisallow: /")
    assert crawled(tmp_path, site, connections=8, strict_order=False) == [A]
    assert skipped(tmp_path) == dict.fromkeys(redirects, SkipReason.ROBOTS)


def test_robots_txt_is_followed_through_redirects_even_if_pages_are_not(tmp_path: Path) -> None:
    site = VirtualSite({A: page(B), B: page()}, {"http://a.test/robots.txt": "http://b.test/rules"})
    site.others["http://b.test/rules"] = (200, "", b"User-agent: *\nDisallow: /b")
    assert crawled(tmp_path, site, redirects=0) == [A]


def test_the_longest_crawl_delay_of_all_origins_of_a_host_counts(tmp_path: Path) -> None:
    other_port = "http://a.test:8080/x"
    site = VirtualSite({A: page(other_port, B, C), other_port: page(), B: page(), C: page()})
    site.others["http://a.test/robots.txt"] = (200, "", b"User-agent: *\nCrawl-delay: 7")
    site.takes_s = lambda _order: 0.0
    crawled(tmp_path, site, politeness=PolitenessSettings(delay_s=1))
    assert {later - earlier for (earlier, _), (later, _) in pairwise(site.requested)} == {7.0}


def test_hosts_with_long_delays_do_not_hold_up_others(tmp_path: Path) -> None:
    slow = [f"http://slow{i}.test/" for i in range(40)]
    quick = [f"http://quick{i % 3}.test/{i}" for i in range(12)]
    site = VirtualSite({A: page(*slow, *quick)} | {url: page() for url in quick}, own_addresses=True)
    site.others |= dict.fromkeys(slow, (503, "Retry-After: 1800", b""))
    settings = plan((A,), connections=4, strict_order=False, page_budget=13, politeness=PolitenessSettings())
    assert crawl_virtually(tmp_path / "crawl", settings, site) is EndReason.BUDGET
    with CrawlStore.open(tmp_path / "crawl") as store:
        assert max(row.time_s for row in store.visits()) < 60


@pytest.mark.parametrize("what", ["robots", "target", "domain"])
def test_jobs_waiting_for_a_slow_host_do_not_hold_up_others(what: str, tmp_path: Path) -> None:
    """Pages wait for a robots.txt, for another job with the same URL, or for a slot in a page limit."""
    slow = [f"http://h{i}.slow.test/" for i in range(30)]
    quick = [f"http://quick{i}.test/" for i in range(12)]
    site = VirtualSite({A: page(*slow, *quick)} | {url: page() for url in quick}, own_addresses=True)
    later = (503, "Retry-After: 1800", b"")
    if what == "target":
        site.redirects = dict.fromkeys(slow, "http://target.test/")
        site.others = {"http://target.test/": later}
    else:
        site.others = {(f"{url}robots.txt" if what == "robots" else url): later for url in slow}
    polite = PolitenessSettings(pages_per_domain=5 if what == "domain" else None)
    settings = plan((A,), connections=4, strict_order=False, page_budget=13, politeness=polite)
    assert crawl_virtually(tmp_path / "crawl", settings, site) is EndReason.BUDGET
    with CrawlStore.open(tmp_path / "crawl") as store:
        assert max(row.time_s for row in store.visits()) < 120


def test_a_chain_too_long_for_one_job_is_not_too_long_for_another(tmp_path: Path) -> None:
    site = VirtualSite({C: page()}, {A: B, B: C})
    assert crawled(tmp_path, site, (A, B), redirects=1) == [C]
    assert skipped(tmp_path) == {A: SkipReason.REDIRECT_LOOP}


def test_a_redirecting_url_is_requested_once(tmp_path: Path) -> None:
    redirects = {f"http://r{i}.test/": B for i in range(6)} | {B: C}
    site = VirtualSite({A: page(*redirects), C: page()}, redirects, own_addresses=True)
    assert crawled(tmp_path, site, connections=8, strict_order=False) == [A, C]
    assert site.requests[B] == site.requests[C] == 1


def test_recorded_pages_of_a_retired_host_are_still_read(tmp_path: Path) -> None:
    urls = [f"http://a.test/{i}" for i in range(4)]
    site = VirtualSite({A: page(*urls)} | {url: page() for url in urls})
    crawled(tmp_path / "first", site)
    site.pages["http://b.test/start"] = page("http://a.test/new", *urls)
    site.others["http://a.test/new"] = (429, "Retry-After: 99999", b"")
    settings = {"web": str(tmp_path / "first" / "crawl"), "strict_order": False}
    visited = crawled(tmp_path / "second", site, ("http://b.test/start",), **settings)
    assert set(urls) <= set(visited)
    assert skipped(tmp_path / "second") == {"http://a.test/new": SkipReason.HOST_DISABLED}


def test_a_name_that_cannot_be_looked_up_is_tried_again_unless_it_does_not_exist(tmp_path: Path) -> None:
    site = VirtualSite({A: page("http://gone.test/", "http://ill.test/")})
    site.unresolved = {"gone.test": SkipReason.DNS_NOT_FOUND, "ill.test": SkipReason.DNS_FAILED}
    crawled(tmp_path, site, politeness=PolitenessSettings(delay_s=1))
    assert skipped(tmp_path) == {
        "http://gone.test/": SkipReason.DNS_NOT_FOUND,
        "http://ill.test/": SkipReason.DNS_FAILED,
    }


def test_requests_to_one_ip_address_are_delayed(tmp_path: Path) -> None:
    urls = [f"http://h{i}.test/" for i in range(12)]
    site = VirtualSite({A: page(*urls)} | {url: page() for url in urls})
    crawled(tmp_path, site, connections=8, strict_order=False, politeness=PolitenessSettings(delay_s=1))
    assert min(later - earlier for (earlier, _), (later, _) in pairwise(site.requested)) >= 0.25


def test_sitemaps_respect_robots_txt(tmp_path: Path) -> None:
    site = VirtualSite({A: page(B), B: page()})
    robots = b"User-agent: *\nDisallow: /hidden\nSitemap: /hidden/map.xml\nSitemap: /moved.xml"
    site.others["http://a.test/robots.txt"] = (200, "", robots)
    site.redirects["http://a.test/moved.xml"] = "http://a.test/hidden/moved.xml"
    crawled(tmp_path, site, sitemaps=True)
    assert site.requests["http://a.test/moved.xml"] == 1
    assert not any("/hidden" in url for url in site.requests)


def test_a_seed_without_links_has_the_links_of_its_sitemap(tmp_path: Path) -> None:
    site = VirtualSite({A: "<p>sea", B: page()})
    site.others["http://a.test/robots.txt"] = (200, "", b"Sitemap: /map.txt")
    site.others["http://a.test/map.txt"] = (200, "Content-Type: text/plain", B.encode())
    assert crawled(tmp_path, site, sitemaps=True) == [A, B]


def test_a_huge_sitemap_does_not_flood_the_frontier(tmp_path: Path) -> None:
    urls = [f"http://a.test/listed/{i}" for i in range(60_000)]
    site = VirtualSite({A: page(B, C), B: page(), C: page()})
    site.others["http://a.test/robots.txt"] = (200, "", b"Sitemap: /map.txt\nSitemap: /more.txt")
    site.others["http://a.test/map.txt"] = (200, "Content-Type: text/plain", "\n".join(urls).encode())
    crawled(tmp_path, site, sitemaps=True, page_budget=1)
    with CrawlStore.open(tmp_path / "crawl") as store:
        assert len(store.urls()) == 3 + LINKS_PER_PAGE
        assert sum(map(len, store.events())) < 200_000
    assert site.requests["http://a.test/more.txt"] == 0, "there are links enough"


def test_budgets_of_hosts_hold_for_recorded_pages_too(tmp_path: Path) -> None:
    urls = [f"http://a.test/{i}" for i in range(10)]
    site = VirtualSite({A: page(*urls)} | {url: page() for url in urls})
    crawled(tmp_path / "live", site)
    rules = PolitenessSettings(delay_s=0, pages_per_host=3)
    recorded = {"web": str(tmp_path / "live" / "crawl"), "offline": True}
    assert len(crawled(tmp_path / "again", site, politeness=rules, **recorded)) == 3
    assert set(skipped(tmp_path / "again").values()) == {SkipReason.HOST_BUDGET}


def test_a_resumed_crawl_waits_for_the_crawl_delay_of_every_host() -> None:
    politeness = Politeness(PolitenessSettings(delay_s=2))
    politeness.started(0, 10.0)
    politeness.finished(0, 10.5, RequestOutcome(0.1))
    politeness.set_crawl_delay(1, 7.0)
    politeness.resume(20.0)
    assert [politeness.ready(host, 21.9) for host in (0, 1, 2)] == [False, False, False]
    assert [politeness.ready(host, 22.0) for host in (0, 1, 2)] == [True, False, True]
    assert politeness.next_ready_s(20.5) == 22.0
    assert politeness.next_ready_s(22.0) == 27.0


def test_sitemaps_bring_links_with_the_next_page_of_their_host(tmp_path: Path) -> None:
    site = VirtualSite({A: page(B), B: page(), C: page()})
    site.others["http://a.test/robots.txt"] = (200, "", b"Sitemap: http://a.test/map.xml")
    listed = f"<urlset><url><loc>{C}</loc></url><url><loc>{OTHER}</loc></url></urlset>".encode()
    site.others["http://a.test/map.xml"] = (200, "Content-Type: text/xml", listed)
    assert C not in crawled(tmp_path / "without", site)
    assert sorted(crawled(tmp_path / "with", site, sitemaps=True)) == [A, B, C]


def test_nofollow_links_are_not_followed(tmp_path: Path) -> None:
    html = f"<a rel=nofollow href='{B}'>b</a><a href='{C}'>c</a>"
    site = VirtualSite({A: html, B: page(), C: page(D), D: page()})
    site.others[C] = (200, "Content-Type: text/html\r\nX-Robots-Tag: nofollow", page(D).encode())
    assert crawled(tmp_path / "obeys", site) == [A, C]
    assert crawled(tmp_path / "follows", site, respect_nofollow=False) == [A, B, C, D]


def test_near_duplicates_and_soft_404s_are_skipped(tmp_path: Path) -> None:
    words = " ".join(f"word{i} harbour{i % 7}" for i in range(200))
    gone = "<title>404 Not Found</title><p>The page was not found."
    site = VirtualSite({A: page(B, C, D), B: f"<p>{words}", C: f"<p>{words} today", D: gone})
    visited = crawled(tmp_path, site, near_duplicates=True, soft_404s=True)
    assert visited == [A, B]
    assert skipped(tmp_path) == {C: SkipReason.NEAR_DUPLICATE, D: SkipReason.SOFT_404}


def test_a_trap_costs_a_bounded_number_of_pages(tmp_path: Path) -> None:
    class Endless(dict[str, str]):
        """Each page links to itself one folder deeper."""

        def __contains__(self, url: object) -> bool:
            return str(url).startswith("http://a.test/") and "robots" not in str(url)

        def __missing__(self, url: str) -> str:
            return page(f"{url}/a/b", text=f"sea {len(url)}")

    site = VirtualSite(Endless())
    crawled(tmp_path, site, traps=True)
    assert SkipReason.TRAP_PATH in skipped(tmp_path).values()
    assert site.requests.total() < 100
