"""The robots.txt rules of many origins: how long they are valid, and in how much memory."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from scenthound.crawler import robots_cache
from scenthound.crawler.robots_cache import ROBOTS_LIFETIME_S, RobotsCache, origin_of, robots_url
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.reasons import SkipReason
from scenthound.store.crawl_records import RobotsRecord
from scenthound.store.crawl_store import CrawlStore
from slow_cases import few_of
from virtual_site import VirtualSite, busy_site, crawl_virtually, crawl_with_kills, plan, visited_urls


def never(number: int) -> RobotsRecord:
    raise AssertionError(f"robots.txt file {number} is in memory")


def loaded_from(bodies: list[bytes], loaded: list[int]) -> Callable[[int], RobotsRecord]:
    """Reads files by number, and notes their numbers."""

    def load(number: int) -> RobotsRecord:
        loaded.append(number)
        return RobotsRecord(f"http://{number}.test/robots.txt", 0.0, 200, bodies[number])

    return load


def robots_txt(seed: int, n_rules: int) -> bytes:
    """Rules that hardly compress; /never is disallowed."""
    rng = Random(seed)
    rules = (f"Disallow: /{rng.getrandbits(64):016x}" for _ in range(n_rules))
    return "\n".join(("User-agent: *", *rules, "Disallow: /never")).encode()


def is_allowed(cache: RobotsCache, url: str) -> bool:
    origin = cache.get(origin_of(url), 1.0)
    assert origin is not None
    return cache.allows(origin, url)


def test_robots_txt_is_valid_for_a_day() -> None:
    cache = RobotsCache("scenthound", never)
    assert cache.get("http://a.test", 0.0) is None
    cache.set_rules("http://a.test", 10.0, 200, b"User-agent: *\nDisallow: /b")
    origin = cache.get("http://a.test", 10.0 + ROBOTS_LIFETIME_S - 1)
    assert origin is not None
    assert not cache.allows(origin, "http://a.test/b")
    assert cache.get("http://a.test", 10.0 + ROBOTS_LIFETIME_S) is None


@pytest.mark.parametrize(
    ("failure", "because"),
    [
        (SkipReason.DNS_NOT_FOUND, SkipReason.DNS_NOT_FOUND),
        (SkipReason.TLS_FAILED, SkipReason.TLS_FAILED),
        (SkipReason.SERVER_ERROR, SkipReason.ROBOTS_UNREACHABLE),
        (SkipReason.BODY_TIMEOUT, SkipReason.ROBOTS_UNREACHABLE),
        (SkipReason.REDIRECT_LOOP, None),
    ],
)
def test_an_unreachable_robots_txt_disallows_all_unless_it_redirects_nowhere(
    failure: SkipReason, because: SkipReason | None
) -> None:
    cache = RobotsCache("scenthound", never)
    cache.set_failed("http://a.test", 0.0, failure)
    origin = cache.get("http://a.test", 1.0)
    assert origin is not None
    assert cache.allows(origin, "http://a.test/") == (because is None)
    if because is not None:
        assert origin.skip_reason is because


def test_an_origin_has_its_port_and_its_scheme() -> None:
    assert origin_of("https://a.test:8443/b/c?d") == "https://a.test:8443"
    assert robots_url("https://a.test:8443") == "https://a.test:8443/robots.txt"


def test_the_rules_of_many_origins_take_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots_cache, "TEXT_BYTES", 100_000)
    monkeypatch.setattr(robots_cache, "INDEX_BYTES", 100_000)
    bodies = [robots_txt(number, 1_000) for number in range(30)]
    loaded: list[int] = []
    tracemalloc.start()
    cache = RobotsCache("scenthound", loaded_from(bodies, loaded))
    for number, body in enumerate(bodies):
        cache.set_rules(f"http://{number}.test", 0.0, 200, body)
    for _ in range(2):
        for number in range(len(bodies)):
            assert not is_allowed(cache, f"http://{number}.test/never")
            assert is_allowed(cache, f"http://{number}.test/else")
    n_bytes = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    # All texts take 0.4 MB compressed, all indexes 3 MB.
    assert n_bytes < 300_000
    assert len(loaded) > len(bodies)


def test_an_origin_takes_some_hundred_bytes_whatever_its_rules() -> None:
    n_origins = 5_000
    tracemalloc.start()
    cache = RobotsCache("scenthound", never)
    for number in range(n_origins):
        cache.set_rules(f"http://{number}.test", float(number), 404, b"")
    n_bytes = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert n_bytes / n_origins < 300


def test_a_file_larger_than_the_cache_is_read_for_each_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots_cache, "TEXT_BYTES", 0)
    monkeypatch.setattr(robots_cache, "INDEX_BYTES", 0)
    loaded: list[int] = []
    bodies = [b"", b"User-agent: *\nDisallow: /never", b"User-agent: *\nDisallow: /"]
    cache = RobotsCache("scenthound", loaded_from(bodies, loaded))
    for number, body in enumerate(bodies):
        cache.set_rules(f"http://{number}.test", 0.0, 200, body)
    urls = [f"http://{number}.test/{path}" for number in range(3) for path in ("never", "else")]
    assert [is_allowed(cache, url) for url in urls] == [True, True, False, True, False, False]
    # Without rules there is nothing to read.
    assert loaded == [1, 1, 2, 2]


def test_the_latest_file_of_an_origin_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots_cache, "TEXT_BYTES", 0)
    bodies = [b"User-agent: *\nDisallow: /a", b"User-agent: *\nDisallow: /b"]
    cache = RobotsCache("scenthound", loaded_from(bodies, []))
    for body in bodies:
        cache.set_rules("http://a.test", 0.0, 200, body)
    assert [is_allowed(cache, f"http://a.test/{path}") for path in "ab"] == [True, False]


@pytest.mark.parametrize("seed", few_of(range(6)))
def test_rules_that_are_read_back_do_not_change_a_crawl(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does a kill. Files that are not on disk yet are committed first; some were found behind redirects."""
    site = busy_site(seed)
    seeds = tuple(list(site.pages)[:2])
    settings = plan(
        seeds, connections=4, strict_order=False, sitemaps=True, politeness=PolitenessSettings(), page_budget=50
    )
    crawl_virtually(tmp_path / "usual", settings, site)
    monkeypatch.setattr(robots_cache, "TEXT_BYTES", 0)
    monkeypatch.setattr(robots_cache, "INDEX_BYTES", 0)
    crawl_virtually(tmp_path / "read back", settings, busy_site(seed), commit=lambda: False)
    crawl_with_kills(tmp_path / "killed", settings, lambda: busy_site(seed), Random(seed), kills=0.1)
    visited = visited_urls(tmp_path / "usual")
    assert len(visited) > 10
    assert visited_urls(tmp_path / "read back") == visited_urls(tmp_path / "killed") == visited


def test_a_crawl_keeps_neither_the_files_nor_their_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots_cache, "TEXT_BYTES", 50_000)
    monkeypatch.setattr(robots_cache, "INDEX_BYTES", 50_000)
    urls = [f"http://{number}.test/{page}" for page in range(2) for number in range(20)]
    site = VirtualSite(dict.fromkeys(urls, "<p>sea"))
    site.pages["http://a.test/"] = "".join(f"<a href='{url}'>sea</a>" for url in urls)
    for number in range(20):
        site.others[f"http://{number}.test/robots.txt"] = (200, "", robots_txt(number, 2_000))
    settings = plan(("http://a.test/",), page_budget=41)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    grown: list[int] = []

    def commit() -> bool:
        grown.append(tracemalloc.get_traced_memory()[0] - before)
        return True

    crawl_virtually(tmp_path / "crawl", settings, site, commit=commit)
    tracemalloc.stop()
    with CrawlStore.open(tmp_path / "crawl") as store:
        assert store.n_visits() == 41
        assert sum(len(file.body) for file in store.robots()) > 1_000_000
    # Their rules alone are 0.7 MB, and their indexes 4 MB.
    assert grown[-1] - grown[len(grown) // 10] < 500_000
