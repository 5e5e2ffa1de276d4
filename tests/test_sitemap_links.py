"""Sitemaps of a live crawl: which are requested for whom, also on other hosts, and how their links reach the crawl."""

from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from scenthound.cli.crawl_results import print_summary
from scenthound.crawler.assembly import CrawlParts
from scenthound.crawler.replay import start_or_replay
from scenthound.crawler.scope import Scope, ScopeFilter
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.sitemap_links import (
    LINKS_PER_PAGE,
    MAX_REPEATS,
    MAX_SITEMAP_LINKS,
    MAX_SITEMAPS,
    MAX_WAITING_LINKS,
    SitemapLinks,
    with_sitemap_links,
)
from scenthound.crawler.start import crawl, resume
from scenthound.crawler.tasks import Fetched, Hosts, Job, PageText, SitemapFetched
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.frontier.url_table import UrlTable
from scenthound.reasons import SkipReason
from scenthound.store.crawl_store import CrawlStore
from scenthound.ui.reports.crawl import crawl_report
from scenthound.web.static_server import StaticPage, StaticServer
from slow_cases import few_of
from virtual_site import TOPIC, VirtualSite, crawl_virtually, crawl_with_kills, plan, visited_urls

SEED, PAGE, OTHER = "http://a.test/", "http://a.test/listed", "http://b.test/listed"
MAP = "http://b.test/map.xml"
ROBOTS_A, ROBOTS_B = "http://a.test/robots.txt", "http://b.test/robots.txt"


def links_of(n_hosts: int) -> SitemapLinks:
    """For the owners `http://h0.test/` and so on, which have the numbers 0, 1, ..."""
    hosts = Hosts(UrlTable())
    for number in range(n_hosts):
        hosts.of_url(f"http://h{number}.test/")
    return SitemapLinks(hosts, ScopeFilter(Scope()))


def listed(n_urls: int, owner: int = 0) -> SitemapFetched:
    return SitemapFetched(tuple(f"http://h{owner}.test/{number}" for number in range(n_urls)), ())


def next_job(links: SitemapLinks, owner: int = 0) -> Job:
    job = links.next_job(owner)
    assert job is not None
    return job


def test_sitemap_links_come_in_batches() -> None:
    links = links_of(2)
    links.name(0, "http://h0.test/robots.txt", ["/a"])
    links.completed(next_job(links), listed(LINKS_PER_PAGE + 5))
    assert len(links.next_links(0)) == LINKS_PER_PAGE
    assert links.next_links(0) == [f"http://h0.test/{LINKS_PER_PAGE + number}" for number in range(5)]
    assert links.next_links(0) == links.next_links(1) == []


def test_the_number_of_sitemaps_is_limited() -> None:
    links = links_of(1)
    links.name(0, "http://h0.test/robots.txt", ["/a", "/b"])
    links.name(0, "http://h0.test/index.xml", ["/c"] * MAX_SITEMAPS)
    requested = []
    while (job := links.next_job(0)) is not None:
        requested.append(job.url)
        assert links.next_job(0) is None, "one at a time"
        links.skip(job, SkipReason.CLIENT_ERROR)
    assert requested == [f"http://h0.test/{name}" for name in "ab" + "c" * (MAX_SITEMAPS - 2)]
    assert links.skipped == {SkipReason.CLIENT_ERROR: MAX_SITEMAPS}


def test_the_next_sitemap_is_requested_when_the_links_of_the_others_are_used_up() -> None:
    links = links_of(1)
    links.name(0, "http://h0.test/robots.txt", ["/a", "/b"])
    links.completed(next_job(links), listed(LINKS_PER_PAGE))
    assert links.next_job(0) is None
    links.next_links(0)
    assert next_job(links).url == "http://h0.test/b"


def test_huge_sitemaps_take_bounded_memory() -> None:
    n_hosts = 2 * MAX_WAITING_LINKS // MAX_SITEMAP_LINKS
    links = links_of(n_hosts)
    for owner in range(n_hosts):
        links.name(owner, f"http://h{owner}.test/robots.txt", ["/a"])
        links.completed(next_job(links, owner), listed(2 * MAX_SITEMAP_LINKS, owner))
    assert sum(map(len, links._links.values())) == MAX_WAITING_LINKS
    assert max(map(len, links._links.values())) == MAX_SITEMAP_LINKS


def test_a_sitemap_that_many_hosts_name_is_requested_for_a_few_of_them() -> None:
    links = links_of(MAX_REPEATS + 3)
    jobs = []
    for owner in range(MAX_REPEATS + 3):
        links.name(owner, f"http://h{owner}.test/robots.txt", ["http://h0.test/map.xml"])
        jobs.append(links.next_job(owner))
    # On its own host it is not counted.
    assert [None if job is None else job.owner for job in jobs] == [*range(MAX_REPEATS + 1), None, None]
    assert links.skipped == {SkipReason.SITEMAP_REPEATED: 2}


@pytest.mark.parametrize(("own", "score"), [([0.5, 0.125], 0.125), ([], 0.0)])
def test_sitemap_links_score_as_low_as_the_lowest_link_of_the_page(own: list[float], score: float) -> None:
    positions = np.arange(len(own), dtype=np.int32)
    text = PageText(np.array([4, 5, 6], np.int32), positions, positions)
    urls = [f"http://a.test/{i}" for i in range(len(own))]
    fetched = Fetched("http://a.test/", 0.75, urls, np.array(own), np.array(own), text)
    more = with_sitemap_links(fetched, ["http://a.test/c"])
    assert more.links == [*urls, "http://a.test/c"]
    assert more.predicted is not None
    assert more.anchors is not None
    assert more.text is not None
    assert more.predicted.tolist() == more.anchors.tolist() == [*own, score]
    assert more.text.link_start.tolist() == more.text.link_end.tolist() == [*positions, 3]


# Sitemaps on other hosts


def robots(*lines: str) -> tuple[int, str, bytes]:
    return 200, "", "\n".join(lines).encode()


def sitemap(*urls: str) -> tuple[int, str, bytes]:
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return 200, "Content-Type: text/xml", f"<urlset>{entries}</urlset>".encode()


def index(*urls: str) -> tuple[int, str, bytes]:
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return 200, "Content-Type: text/xml", f"<sitemapindex>{entries}</sitemapindex>".encode()


def two_hosts() -> VirtualSite:
    """The robots.txt of a.test names a sitemap on b.test. The seed has no links."""
    pages = {SEED: "<p>sea", PAGE: "<p>wave", OTHER: "<p>storm"}
    return VirtualSite(pages, others={ROBOTS_A: robots(f"Sitemap: {MAP}"), MAP: sitemap(PAGE, OTHER)})


def sitemaps_of(folder: Path, **settings: Any) -> SitemapLinks:
    """The state of the sitemaps at the end of a crawl, from its journal."""
    chosen = plan((SEED,), sitemaps=True, **settings)
    with closing(CrawlStore.open(folder)) as store:
        parts = CrawlParts(chosen, store)
        start_or_replay(parts, chosen, store)
        return parts.crawl.engine.sitemaps


def crawled(folder: Path, site: VirtualSite, **settings: Any) -> tuple[list[str], SitemapLinks]:
    crawl_virtually(folder / "crawl", plan((SEED,), sitemaps=True, **settings), site)
    return visited_urls(folder / "crawl"), sitemaps_of(folder / "crawl", **settings)


def test_a_sitemap_may_be_on_another_host_and_lists_pages_of_its_owner(tmp_path: Path) -> None:
    site = two_hosts()
    visited, sitemaps = crawled(tmp_path, site)
    assert visited == [SEED, PAGE]
    assert site.requests == dict.fromkeys((ROBOTS_A, ROBOTS_B, MAP, SEED, PAGE), 1)
    assert (sitemaps.n_elsewhere, sitemaps.skipped) == (1, {})


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (robots("User-agent: *", "Disallow: /map"), SkipReason.ROBOTS),
        ((500, "", b""), SkipReason.ROBOTS_UNREACHABLE),
        (robots("User-agent: *", "Crawl-delay: 9999"), SkipReason.HOST_DISABLED),
    ],
)
def test_robots_txt_of_the_other_host_decides_about_the_sitemap(
    rules: tuple[int, str, bytes], reason: SkipReason, tmp_path: Path
) -> None:
    site = two_hosts()
    site.others[ROBOTS_B] = rules
    visited, sitemaps = crawled(tmp_path, site)
    assert visited == [SEED]
    assert site.requests[MAP] == 0
    assert sitemaps.skipped == {reason: 1}


@pytest.mark.parametrize("reason", [SkipReason.DNS_NOT_FOUND, SkipReason.ADDRESS_FORBIDDEN])
def test_a_sitemap_on_a_host_without_a_usable_address_is_skipped(reason: SkipReason, tmp_path: Path) -> None:
    site = two_hosts()
    site.unresolved["b.test"] = reason
    visited, sitemaps = crawled(tmp_path, site)
    assert visited == [SEED]
    assert sitemaps.skipped == {reason: 1}
    assert not {ROBOTS_B, MAP} & set(site.requests)


def test_the_crawl_delay_of_the_other_host_is_that_of_the_sitemap(tmp_path: Path) -> None:
    site = two_hosts()
    site.others[ROBOTS_B] = robots("User-agent: *", "Crawl-delay: 7")
    site.takes_s = lambda _: 0.25
    visited, _ = crawled(tmp_path, site, politeness=PolitenessSettings(delay_s=1))
    assert visited == [SEED, PAGE]
    requested_s = {url: time_s for time_s, url in site.requested}
    assert requested_s[MAP] - requested_s[ROBOTS_B] >= 7.25
    assert requested_s[SEED] > requested_s[MAP]


def test_a_start_page_does_not_wait_for_a_slow_host(tmp_path: Path) -> None:
    site = two_hosts()
    site.others[ROBOTS_B] = robots("User-agent: *", "Crawl-delay: 600")
    visited, _ = crawled(tmp_path, site, politeness=PolitenessSettings(delay_s=1))
    requested_s = {url: time_s for time_s, url in site.requested}
    # No page of the host is left that could bring the links.
    assert visited == [SEED]
    assert requested_s[SEED] + 500 < requested_s[MAP]


def test_an_index_may_list_sitemaps_of_its_own_host_and_of_the_owner(tmp_path: Path) -> None:
    site = two_hosts()
    own, third = "http://a.test/own.xml", "http://c.test/map.xml"
    site.others |= {MAP: index("/more.xml", own, third), "http://b.test/more.xml": sitemap(PAGE), own: sitemap(SEED)}
    visited, sitemaps = crawled(tmp_path, site)
    assert visited == [SEED, PAGE]
    assert site.requests[own] == site.requests["http://b.test/more.xml"] == 1
    assert site.requests[third] == 0
    assert sitemaps.skipped == {SkipReason.SITEMAP_ELSEWHERE: 1}


def test_an_index_of_the_owner_may_list_sitemaps_of_any_host(tmp_path: Path) -> None:
    site = two_hosts()
    site.others |= {ROBOTS_A: robots("Sitemap: /index.xml"), "http://a.test/index.xml": index(MAP)}
    assert crawled(tmp_path, site)[0] == [SEED, PAGE]


def test_a_sitemap_may_be_redirected_to_another_host(tmp_path: Path) -> None:
    site = two_hosts()
    site.others[ROBOTS_A] = robots("Sitemap: /moved.xml")
    site.redirects["http://a.test/moved.xml"] = MAP
    assert crawled(tmp_path / "open", site)[0] == [SEED, PAGE]
    site.requests.clear()
    scope = Scope.of(allow_domain=["a.test"])
    visited, sitemaps = crawled(tmp_path / "limited", site, scope=scope)
    assert visited == [SEED]
    assert site.requests[MAP] == site.requests[ROBOTS_B] == 0
    assert sitemaps.skipped == {SkipReason.OUT_OF_SCOPE: 1}


@pytest.mark.parametrize("domains", [{"allow_domain": ["a.test"]}, {"deny_domain": ["b.test"]}])
def test_no_sitemap_is_requested_from_a_domain_out_of_scope(domains: dict[str, list[str]], tmp_path: Path) -> None:
    site = two_hosts()
    visited, sitemaps = crawled(tmp_path, site, scope=Scope.of(**domains))
    assert visited == [SEED]
    assert set(site.requests) == {ROBOTS_A, SEED}
    assert sitemaps.skipped == {SkipReason.OUT_OF_SCOPE: 1}


def test_patterns_of_the_scope_are_for_pages_not_for_sitemaps(tmp_path: Path) -> None:
    assert crawled(tmp_path, two_hosts(), scope=Scope.of(include=["http://a.test/*"]))[0] == [SEED, PAGE]


def test_the_sitemaps_of_a_host_without_pages_in_the_crawl_are_not_requested(tmp_path: Path) -> None:
    site = two_hosts()
    own = "http://b.test/own.xml"
    site.others |= {ROBOTS_B: robots(f"Sitemap: {own}"), own: sitemap(OTHER)}
    assert crawled(tmp_path / "without", site)[0] == [SEED, PAGE]
    assert site.requests[own] == 0
    first, second = "http://b.test/1", "http://b.test/2"
    site.pages |= {SEED: f"<a href='{first}'>sea</a>", first: f"<a href='{second}'>sea</a>", second: "<p>sea"}
    assert sorted(crawled(tmp_path / "with", site)[0]) == sorted([SEED, PAGE, first, second, OTHER])
    assert site.requests[own] == 1


def test_two_hosts_may_have_the_sitemaps_of_each_other(tmp_path: Path) -> None:
    site = two_hosts()
    site.pages["http://b.test/"] = "<p>sea"
    map_of_b = "http://a.test/map.xml"
    site.others |= {ROBOTS_B: robots(f"Sitemap: {map_of_b}"), map_of_b: sitemap(OTHER)}
    settings = plan((SEED, "http://b.test/"), sitemaps=True, strict_order=False, connections=4)
    crawl_virtually(tmp_path / "crawl", settings, site)
    assert sorted(visited_urls(tmp_path / "crawl")) == sorted([SEED, "http://b.test/", PAGE, OTHER])


def crossed_site(seed: int) -> VirtualSite:
    """Six hosts with sitemaps and indexes on each other, some disallowed, missing, moved or slow."""
    rng = Random(seed)
    hosts = [f"http://h{number}.test" for number in range(6)]
    urls = [f"{host}/{number}" for host in hosts for number in range(8)]
    pages = {url: "".join(f"<a href='{rng.choice(urls)}'>sea</a>" for _ in range(2)) for url in urls}
    maps = [f"{rng.choice(hosts)}/{number}.xml" for number in range(14)]
    site = VirtualSite(pages)
    for number, url in enumerate(maps):
        listed = rng.sample(maps, 3) if number % 4 == 0 else rng.sample(urls, 20)
        site.others[url] = index(*listed) if number % 4 == 0 else sitemap(*listed)
    site.others[maps[1]] = (503, "Retry-After: 20", b"")
    del site.others[maps[2]]
    site.redirects[maps[3]] = rng.choice(maps[4:])
    for host in hosts:
        named = (f"Sitemap: {url}" for url in rng.sample(maps, 4))
        site.others[f"{host}/robots.txt"] = robots("User-agent: *", f"Disallow: /{rng.randrange(14)}.xml", *named)
    return site


@pytest.mark.parametrize("seed", few_of(range(8)))
def test_a_crawl_with_sitemaps_on_other_hosts_that_is_killed_equals_one_that_is_not(seed: int, tmp_path: Path) -> None:
    settings = plan(
        ("http://h0.test/0", "http://h3.test/1"),
        sitemaps=True,
        connections=1 + seed % 4,
        strict_order=seed % 4 == 0,
        politeness=PolitenessSettings(),
        page_budget=40,
    )
    site = crossed_site(seed)
    crawl_virtually(tmp_path / "complete", settings, site)
    crawl_with_kills(tmp_path / "killed", settings, lambda: crossed_site(seed), Random(seed), kills=0.1)
    visited = visited_urls(tmp_path / "complete")
    assert len(visited) > 20
    assert visited_urls(tmp_path / "killed") == visited
    assert any(url.endswith(".xml") for url in site.requests)


def test_skipped_sitemaps_are_counted_in_status_summary_and_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over loopback, where each host has its own address."""

    def page_of(host: str, path: str) -> StaticPage | None:
        at = f":{server.port}"
        pages = {
            f"{SEED}robots.txt": f"Sitemap: http://b.test{at}/map.txt\nSitemap: http://b.test{at}/hidden.txt",
            ROBOTS_B: "User-agent: *\nDisallow: /hidden",
            "http://b.test/map.txt": f"http://a.test{at}/listed\nhttp://b.test{at}/listed",
            SEED: "<p>sea",
            PAGE: "<p>wave",
        }
        text = pages.get(f"http://{host}{path}")
        return None if text is None else StaticPage(text.encode())

    addresses = {"a.test": "127.61.2.1", "b.test": "127.61.2.2"}
    with StaticServer(page_of, list(addresses.values())) as server:
        settings = CrawlSettings(
            TOPIC,
            (server.url(SEED),),
            politeness=PolitenessSettings(delay_s=0.0, delay_factor=0.0),
            near_duplicates=False,
            allow_private=True,
            hosts=addresses,
        )
        done = crawl(settings, tmp_path / "crawl")
        assert visited_urls(tmp_path / "crawl") == [server.url(SEED), server.url(PAGE)]
        assert server.requests[server.url("http://b.test/hidden.txt")] == 0
    assert done.status.skipped_sitemaps == {SkipReason.ROBOTS: 1}
    assert done.status.n_sitemap_links_elsewhere == 1
    again = resume(tmp_path / "crawl").status
    assert (again.skipped_sitemaps, again.n_sitemap_links_elsewhere) == ({SkipReason.ROBOTS: 1}, 1)
    print_summary(done)
    assert SkipReason.ROBOTS.text in capsys.readouterr().out
    blocks = [block for section in crawl_report(tmp_path / "crawl").sections for block in section.blocks]
    assert any(SkipReason.ROBOTS.text in block for block in blocks if isinstance(block, str))
