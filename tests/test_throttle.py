"""Off-topic throttling: traps without a sign in their URLs get few pages, and nothing on topic is lost."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scenthound.crawler import throttle
from scenthound.crawler.scheduler import Scheduler
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.tasks import Hosts, Job, Kind
from scenthound.crawler.throttle import (
    ALLOWANCE,
    MAX_ALLOWANCE,
    MAX_PAGES_BETWEEN,
    MIN_SHARE,
    PAGES_BETWEEN,
    SEED_ALLOWANCE,
    Throttle,
)
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.frontier.url_table import UrlTable
from scenthound.reasons import SkipReason
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.recorded_web import RecordedWeb
from scenthound.testing import topical_web
from scenthound.topics.files import read_topics
from slow_cases import few_of
from trap_sites import OTHER, SEA, SEED, TRAPS, is_on_topic, is_trap, text_of, trap_site
from virtual_site import VirtualSite, crawl_virtually, crawl_with_kills, plan, visited_urls

N_PAGES = 500
LIVE = {
    "strategy": "otie",
    "relevance": "rocchio",
    "strict_order": False,
    "connections": 16,
    "politeness": PolitenessSettings(),
    "traps": True,
    "near_duplicates": True,
    "soft_404s": True,
    "page_budget": N_PAGES,
}


def crawled(folder: Path, site: VirtualSite, seeds: tuple[str, ...] = (SEED,), **settings: Any) -> list[str]:
    crawl_virtually(folder, plan(seeds, **LIVE | settings), site, commit=lambda: False)
    return visited_urls(folder)


# Crawls


@pytest.mark.parametrize("relevance", few_of(["rocchio", "cosine"], 1))
@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_without_a_sign_gets_few_pages(trap: str, relevance: str, tmp_path: Path) -> None:
    free = crawled(tmp_path / "free", trap_site(TRAPS[trap]), relevance=relevance)
    throttled = crawled(tmp_path / "throttled", trap_site(TRAPS[trap]), relevance=relevance, throttle=True)
    assert len(free) == len(throttled) == N_PAGES
    # The allowance and, because each has to wait for longer than the one before, a few others.
    assert sum(map(is_trap, throttled)) < ALLOWANCE + 40 < N_PAGES / 5 < sum(map(is_trap, free))
    assert sum(map(is_on_topic, throttled)) > 1.2 * sum(map(is_on_topic, free))


def test_a_throttled_crawl_killed_again_and_again_equals_one_that_was_not(tmp_path: Path) -> None:
    settings = plan((SEED,), **LIVE | {"throttle": True, "page_budget": 160})
    site = TRAPS["wildcard hosts"]
    crawl_virtually(tmp_path / "complete", settings, trap_site(site), commit=lambda: False)
    n_kills = crawl_with_kills(
        tmp_path / "killed", settings, lambda: trap_site(site), Random(1), commits=0.2, kills=0.005
    )
    assert n_kills > 2
    complete = visited_urls(tmp_path / "complete")
    assert visited_urls(tmp_path / "killed") == complete
    assert complete != crawled(tmp_path / "free", trap_site(site), page_budget=160)


def chain(host: str, n_off_topic: int, n_on_topic: int) -> dict[str, str]:
    """Pages that link to the next, off topic at first."""
    pages = {}
    for number in range(n_off_topic + n_on_topic):
        words = OTHER if number < n_off_topic else SEA
        link = f"<a href='http://{host}/{number + 1}'>{words[0]}</a>"
        pages[f"http://{host}/{number}"] = f"<p>{text_of(words, Random(f'{host}{number}'))} {link}"
    return pages


def test_throttling_neither_ends_nor_changes_a_crawl_of_one_domain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "MAX_ALLOWANCE", 60)
    site = VirtualSite(chain("a.test", 300, 20) | chain("start.a.test", 0, 60))
    last = "http://start.a.test/59"
    site.pages[last] = site.pages[last].replace("http://start.a.test/60", "http://a.test/0")

    def visits(*, is_throttled: bool) -> list[tuple[str, float]]:
        folder = tmp_path / f"{is_throttled}"
        crawled(folder, site, ("http://start.a.test/0",), throttle=is_throttled)
        with CrawlStore.open(folder) as store:
            return [(row.url, row.time_s) for row in store.visits()]

    throttled = visits(is_throttled=True)
    assert throttled == visits(is_throttled=False)
    assert len(throttled) == len(site.pages)


def test_throttled_pages_wait_while_the_only_other_page_is_in_flight(tmp_path: Path) -> None:
    """It may have more links, and it has: each page of the good host leads to the next."""
    seed = "http://a.test/0"
    site = VirtualSite(chain("a.test", 0, 400) | chain("b.test", 400, 0), own_addresses=True)
    site.pages[seed] += "<a href='http://b.test/0'>b</a>"
    free = crawled(tmp_path / "free", site, (seed,), page_budget=300)
    throttled = crawled(tmp_path / "throttled", site, (seed,), page_budget=300, throttle=True)
    assert sum("b.test" in url for url in throttled) < ALLOWANCE + 20 < sum("b.test" in url for url in free)


@pytest.mark.parametrize("strategy", ["otie", "breadth_first", "best_n_first:n=8", "opic"])
def test_a_throttled_crawl_visits_all_pages_in_the_end(strategy: str, tmp_path: Path) -> None:
    seed = "http://a.test/0"
    site = VirtualSite(chain("a.test", 0, 60) | chain("b.test", 150, 5) | chain("c.test", 80, 5), own_addresses=True)
    site.pages[seed] += "<a href='http://b.test/0'>b</a> <a href='http://c.test/0'>c</a>"
    visited = crawled(tmp_path / "crawl", site, (seed,), strategy=strategy, throttle=True)
    assert set(visited) == set(site.pages)


def test_pages_on_topic_behind_many_others_are_found_while_there_are_other_pages(tmp_path: Path) -> None:
    seed = "http://a.test/0"
    site = VirtualSite(chain("a.test", 0, 2_000) | chain("deep.test", ALLOWANCE + 6, 30), own_addresses=True)
    site.pages[seed] += "<a href='http://deep.test/0'>more</a>"
    visited = crawled(tmp_path / "crawl", site, (seed,), throttle=True, strategy="breadth_first", patience=0.0)
    deep = [url for url in visited if "deep" in url]
    assert len(visited) == N_PAGES
    assert len(deep) == ALLOWANCE + 6 + 30


@pytest.mark.slow
def test_a_topical_web_loses_no_page_on_topic(tmp_path: Path) -> None:
    topical_web(tmp_path / "web", pages=8_000, pages_per_host=400, topics=20, seed=5)
    web = RecordedWeb.open(tmp_path / "web")
    settings = {**LIVE, "strategy": "breadth_first", "web": str(tmp_path / "web"), "offline": True}
    settings |= {"page_budget": 1_000, "near_duplicates": False, "traps": False}
    n_different = 0
    for topic in read_topics(tmp_path / "web" / "topics.jsonl")[6:9]:
        labelled = {web.url(page) for page in web.labelled(topic.id).tolist()}
        seeds = tuple(Random(1).sample(sorted(labelled), 3))
        visited = []
        for is_throttled in (False, True):
            folder = tmp_path / f"{topic.id}-{is_throttled}"
            plan_of_topic = CrawlSettings(topic, seeds, **settings, throttle=is_throttled)
            crawl_virtually(folder, plan_of_topic, VirtualSite({}), commit=lambda: False)
            visited.append(visited_urls(folder))
        free, throttled = visited
        assert len(labelled.intersection(throttled)) >= len(labelled.intersection(free)) > 50
        n_different += throttled != free
    assert n_different


def test_strict_order_is_not_throttled(tmp_path: Path) -> None:
    settings = {"strict_order": True, "page_budget": 250, "strategy": "breadth_first"}
    free, throttled = (
        crawled(tmp_path / str(is_throttled), trap_site(TRAPS["counter"]), throttle=is_throttled, **settings)
        for is_throttled in (False, True)
    )
    assert throttled == free


# Allowances


class Pages:
    """Requests and visits of pages, without a crawl."""

    def __init__(self, *seeds: str) -> None:
        self.hosts = Hosts(UrlTable())
        self.throttle = Throttle(self.hosts, seeds)

    def is_held(self, url: str) -> bool:
        return self.throttle.is_held(self.hosts.of_url(url))

    def start(self, url: str) -> Job:
        job = Job(Kind.PAGE, url, self.hosts.of_url(url))
        self.throttle.start(job)
        return job

    def visit(self, url: str, relevance: float = 0.0, times: int = 1) -> None:
        for _ in range(times):
            self.throttle.visited(self.start(url), relevance)

    def n_free(self, url: Callable[[int], str]) -> int:
        """How many pages without relevance are requested before the next one is held."""
        for number in range(2 * MAX_ALLOWANCE):
            if self.is_held(url(number)):
                return number
            self.visit(url(number))
        raise AssertionError("never held")


GOOD = "http://good.test/"


@pytest.fixture
def pages() -> Pages:
    """After some relevant pages, so that the crawl has a mean."""
    made = Pages("http://seed.test/")
    made.visit(GOOD, 0.5, times=20)
    return made


def test_hosts_domains_and_domains_of_seeds_have_allowances(pages: Pages) -> None:
    assert pages.n_free(lambda _: "http://a.test/") == ALLOWANCE
    assert pages.n_free(lambda number: f"http://w{number}.b.test/") == ALLOWANCE
    assert pages.is_held("http://new.b.test/")
    assert not pages.is_held("http://new.test/")
    assert pages.n_free(lambda _: "http://docs.seed.test/") == SEED_ALLOWANCE


def test_a_host_is_held_although_its_domain_is_productive(pages: Pages) -> None:
    for _ in range(ALLOWANCE):
        pages.visit("http://trap.a.test/")
        pages.visit("http://www.a.test/", 0.5)
    assert pages.is_held("http://trap.a.test/")
    assert not pages.is_held("http://www.a.test/")


def test_a_held_host_waits_for_more_and_more_pages_of_others(pages: Pages) -> None:
    pages.visit("http://b.test/", times=ALLOWANCE)
    pages.visit("http://a.test/", times=ALLOWANCE)
    waited = []
    for _ in range(3):
        n_others = 0
        while pages.is_held("http://a.test/"):
            pages.visit("http://b.test/")  # held as well: it does not count as another page
            pages.visit(GOOD, 0.5)
            n_others += 1
        waited.append(n_others)
        pages.visit("http://a.test/")
    assert waited == [PAGES_BETWEEN, 2 * PAGES_BETWEEN, 3 * PAGES_BETWEEN]


def test_a_host_never_waits_for_more_pages_than_the_maximum(pages: Pages) -> None:
    pages.visit("http://a.test/", times=ALLOWANCE + MAX_PAGES_BETWEEN)
    pages.visit(GOOD, 0.5, times=MAX_PAGES_BETWEEN - 1)
    assert pages.is_held("http://a.test/")
    pages.visit(GOOD, 0.5)
    assert not pages.is_held("http://a.test/")


def test_a_relevant_page_ends_the_wait(pages: Pages) -> None:
    pages.visit("http://a.test/", times=ALLOWANCE + 5)
    pages.visit("http://a.test/", 0.9)
    assert not pages.is_held("http://a.test/")


def test_pages_that_are_not_far_below_the_mean_cost_nothing(pages: Pages) -> None:
    pages.visit(GOOD, 0.5, times=10_000)
    pages.visit("http://a.test/", 0.5 * MIN_SHARE, times=300)
    assert not pages.is_held("http://a.test/")
    pages.visit("http://b.test/", 0.5 * MIN_SHARE / 2, times=3 * ALLOWANCE)
    assert pages.is_held("http://b.test/")


def test_the_scale_of_relevance_does_not_matter() -> None:
    small = Pages()
    small.visit(GOOD, 0.001, times=10_000)
    small.visit("http://a.test/", 0.001, times=100)
    assert not small.is_held("http://a.test/")
    assert small.n_free(lambda _: "http://b.test/") == ALLOWANCE


def test_a_crawl_without_any_relevance_holds_nothing() -> None:
    pages = Pages()
    pages.visit("http://a.test/", times=3 * SEED_ALLOWANCE)
    assert not pages.throttle.is_active


def test_an_allowance_is_bounded(pages: Pages) -> None:
    pages.visit("http://a.test/", 1.0, times=1_000)
    assert pages.n_free(lambda _: "http://a.test/") == MAX_ALLOWANCE


def test_pages_in_flight_have_earned_nothing_yet(pages: Pages) -> None:
    jobs = [pages.start(f"http://w{number}.a.test/") for number in range(ALLOWANCE)]
    assert pages.is_held("http://new.a.test/")
    pages.throttle.ended(jobs[0], SkipReason.CLIENT_ERROR)
    assert not pages.is_held("http://new.a.test/")
    pages.start("http://again.a.test/")
    pages.throttle.ended(jobs[1], SkipReason.NEAR_DUPLICATE)
    assert pages.is_held("http://new.a.test/")


def test_hosts_that_are_known_to_be_held_are_held() -> None:
    """Whatever happens to their pages and to those of others."""
    rng = Random(1)
    urls = [f"http://w{number % 3}.d{number // 3}.test/" for number in range(18)]
    n_forgotten = 0
    for _ in range(20):
        pages, in_flight = Pages(urls[0]), []
        known = pages.throttle.known_held
        for _ in range(1_500):
            url, kind = rng.choice(urls), rng.random()
            if kind < 0.2:
                in_flight.append(pages.start(url))
            elif kind < 0.4 and in_flight:
                reason = rng.choice([SkipReason.NEAR_DUPLICATE, SkipReason.CLIENT_ERROR])
                pages.throttle.ended(in_flight.pop(rng.randrange(len(in_flight))), reason)
            else:
                pages.visit(url, rng.choice((0.0, 0.0, 0.9)) if url < urls[9] else 0.01)
            n_forgotten += not known
            assert all(map(pages.throttle.is_held, known))
            known.update(host for host in map(pages.hosts.of_url, urls) if pages.throttle.is_held(host))
    assert 0 < n_forgotten < 20 * 1_500


@pytest.mark.parametrize("strategy", ["link_context", "breadth_first", "best_n_first:n=8:buffer=60", "infospiders"])
@pytest.mark.parametrize("patience", few_of([0.7, 0.0], 1))
def test_what_is_known_of_held_hosts_changes_no_decision(
    strategy: str, patience: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"strategy": strategy.replace(":buffer", ",buffer"), "patience": patience, "page_budget": 300}
    visits = []
    for name in ("known", "forgotten"):
        if name == "forgotten":
            monkeypatch.setattr(Scheduler, "known_held", property(lambda _: set()))
        crawled(tmp_path / name, trap_site(TRAPS["wildcard hosts"]), throttle=True, **settings)
        with CrawlStore.open(tmp_path / name) as store:
            visits.append([(row.url, row.time_s, row.rank, row.queue_size, row.regret) for row in store.visits()])
    assert visits[0] == visits[1]


def test_ending_a_job_twice_or_before_its_start_changes_nothing(pages: Pages) -> None:
    job = Job(Kind.PAGE, GOOD, pages.hosts.of_url(GOOD))
    pages.throttle.ended(job, SkipReason.SOFT_404)
    pages.throttle.start(job)
    pages.throttle.ended(job)
    pages.throttle.ended(job)
    assert not job.is_pending
