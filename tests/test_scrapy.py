"""Real Scrapy projects with our scheduler: the order of simulated crawls, and what Scrapy does to requests."""

import json
from collections import Counter
from pathlib import Path

import pytest

from scrapy_project import NEWEST, OLDEST, ScrapyProject, served
from test_live_parity import simulated_urls
from virtual_site import TOPIC, VirtualSite, random_site

pytestmark = pytest.mark.slow

HTML = "Content-Type: text/html; charset=utf-8"


def topic_file(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "topics.jsonl"
    values = {"id": TOPIC.id, "keywords": list(TOPIC.keywords), "description": TOPIC.description}
    file.write_text(json.dumps(values) + "\n")
    return file


@pytest.mark.parametrize(
    ("strategy", "version"),
    [("breadth_first", NEWEST), ("link_context", NEWEST), ("otie", NEWEST), ("scent", OLDEST)],
)
def test_a_spider_in_strict_order_visits_the_pages_of_the_simulated_crawl(
    strategy: str, version: str, tmp_path: Path
) -> None:
    """On a site with six hosts, dead links and redirects."""
    site = random_site(1)
    seeds = list(site.pages)[:2]
    project = ScrapyProject(tmp_path / "project", version=version)
    with served(site) as proxy:
        crawl = project.crawl(
            proxy, seeds, strategy=strategy, topics=topic_file(tmp_path), random_seed=3, strict_order=True
        )
    assert crawl.lines("ERROR") == []
    simulated = simulated_urls(site, strategy, "rocchio", tuple(seeds))
    assert len(simulated) == 40
    assert project.visited()[:40] == simulated
    assert crawl.stats["scenthound/pages_visited"] == len(project.visited())


SCENES = """
    import json
    import scrapy
    from scenthound.scrapy import relevance_of

    class Follow(scrapy.Spider):
        name = "follow"
        start_urls = ["http://a.test/"]

        def note(self, **facts):
            with open("notes.jsonl", "a") as file:
                print(json.dumps(facts), file=file)

        def parse(self, response):
            with open("visited.txt", "a") as file:
                print(response.url, file=file)
            own = sorted(set(response.meta) - SCRAPY_META)
            self.note(url=response.url, meta=own, relevance=relevance_of(response), n=response.meta.get("n"))
            if response.url == "http://a.test/":
                yield from self.scenes(response)
            elif response.url.endswith("/data.json"):
                yield scrapy.Request(response.json()["next"])
            else:
                yield from response.follow_all(css="a")

        def scenes(self, response):
            yield from response.follow_all(css="a", meta={"n": 7})
            yield scrapy.Request("http://b.test/urgent", priority=5)
            yield scrapy.Request("http://b.test/form", method="POST", body="q=1")
            yield scrapy.Request("http://b.test/form", method="POST", body="q=2")
            yield scrapy.Request("http://b.test/again", dont_filter=True)
            yield scrapy.Request("http://b.test/again", dont_filter=True)
            yield scrapy.Request("http://b.test/again")
            yield scrapy.Request("data:text/html,sea")
            yield scrapy.Request("http://gone.test/", errback=self.failed)

        def failed(self, failure):
            self.note(failed=failure.request.url)
            yield scrapy.Request("http://b.test/instead")

    SCRAPY_META = {"depth", "download_timeout", "download_slot", "download_latency", "retry_times", "redirect_times",
                   "redirect_ttl", "redirect_urls", "redirect_reasons", "proxy", "_scheme_proxy", "is_start_request",
                   "n"}
"""


class SceneSite(VirtualSite):
    """The page /retry is there at the second request only."""

    def response(self, url):
        if url.endswith("/retry") and self.requests[url] == 1:
            return VirtualSite({}, others={url: (503, HTML, b"later")}).response(url)
        return super().response(url)


def scene_site() -> SceneSite:
    names = ["moved", "retry", "dead", "file.pdf", "data.json", "page"]
    links = "".join(f"<p>waves at sea <a href='/{name}'>{name}</a>" for name in names)
    page = "<title>sea</title><p>waves"
    pages = {
        "http://a.test/": f"<title>sea</title>{links}",
        "http://a.test/page": f"{page}<a href='/'>home</a> <a href='/target'>target</a>",
        "http://a.test/target": page,
        "http://a.test/retry": page,
        **{f"http://b.test/{name}": page for name in ("urgent", "form", "again", "instead", "next")},
    }
    others = {
        "http://a.test/file.pdf": (200, "Content-Type: application/pdf", b"%PDF-1.4"),
        "http://a.test/data.json": (200, "Content-Type: application/json", b'{"next": "http://b.test/next"}'),
        "http://gone.test/": (500, HTML, b""),
    }
    return SceneSite(pages, {"http://a.test/moved": "http://a.test/target"}, others)


@pytest.mark.parametrize(("version", "strict_order"), [(NEWEST, True), (OLDEST, False)])
def test_every_request_of_a_spider_is_sent_as_scrapy_would(version: str, strict_order: bool, tmp_path: Path) -> None:
    site = scene_site()
    # A connection that is refused is a failure without a response.
    handled = 'HTTPERROR_ALLOW_ALL = False\nDOWNLOADER_MIDDLEWARES = {"project.fail.Fail": 1}\nLOG_LEVEL = "INFO"'
    project = ScrapyProject(tmp_path / "project", SCENES, version, handled)
    fail = """
        class Fail:
            def process_request(self, request, spider=None):
                if "gone.test" in request.url:
                    raise ValueError("no such host")
    """
    project.write("fail.py", fail)
    with served(site) as proxy:
        crawl = project.crawl(proxy, [], keywords="sea,wave", strict_order=strict_order, CONCURRENT_REQUESTS=4)
    notes = [json.loads(line) for line in (tmp_path / "project" / "notes.jsonl").read_text().splitlines()]
    visits = Counter(project.visited())
    assert visits == Counter(
        {
            "http://a.test/": 1,
            "http://a.test/page": 1,
            "http://a.test/target": 1,
            "http://a.test/retry": 1,
            "http://a.test/file.pdf": 1,
            "http://a.test/data.json": 1,
            "http://b.test/urgent": 1,
            "http://b.test/form": 2,
            "http://b.test/again": 3,
            "http://b.test/instead": 1,
            "http://b.test/next": 1,
            "data:text/html,sea": 1,
        }
    )
    assert [note["failed"] for note in notes if "failed" in note] == ["http://gone.test/"]
    assert crawl.stats["finish_reason"] == "finished"
    seen = [note for note in notes if "url" in note]
    # Nothing of ours is in `request.meta`, and what the spider has put there arrives.
    assert {name for note in seen for name in note["meta"]} == set()
    assert {note["url"] for note in seen if note["n"] == 7} >= {"http://a.test/retry", "http://a.test/page"}
    relevance = {note["url"]: note["relevance"] for note in seen}
    assert 0 < relevance["http://a.test/page"] <= 1
    assert relevance["http://a.test/file.pdf"] is relevance["http://a.test/data.json"] is None
    # The dead page, the PDF and the failure; the JSON was visited, because the spider went on from it.
    assert crawl.stats["scenthound/pages_visited"] == sum(visits.values()) - 1
    assert crawl.stats["scenthound/pages_dropped"] >= 3
    if strict_order:
        assert project.visited()[1] == "http://b.test/urgent"
        assert site.requests["http://a.test/retry"] == 2


REPEATS = """
    import scrapy

    class Follow(scrapy.Spider):
        name = "follow"

        async def start(self):
            yield scrapy.Request("http://a.test/", dont_filter=True)
            for number in range(6):
                yield scrapy.Request("http://b.test/form", method="POST", body=f"q={number}", callback=self.search)

        def note(self, response):
            with open("visited.txt", "a") as file:
                print(response.url, file=file)

        def parse(self, response):
            self.note(response)
            yield from response.follow_all(css="a", callback=self.linked, priority=1)

        def search(self, response):
            self.note(response)
            body = response.request.body.decode() + "&page=2"
            yield scrapy.Request("http://b.test/form", method="POST", body=body, callback=self.note)

        def linked(self, response):
            self.note(response)
            yield from response.follow_all(css="a", callback=self.parse)
            yield from response.follow_all(css="a", callback=self.note)
"""


@pytest.mark.parametrize("strict_order", [True, False])
def test_requests_for_one_url_are_all_sent_and_a_start_page_again_for_another_callback(
    strict_order: bool, tmp_path: Path
) -> None:
    pages = {
        "http://a.test/": "<title>sea</title><a href='/page'>page</a>",
        "http://a.test/page": "<title>sea</title><p>waves <a href='/'>home</a>",
        "http://b.test/form": "<title>sea</title>",
    }
    project = ScrapyProject(tmp_path / "project", REPEATS)
    with served(VirtualSite(pages)) as proxy:
        crawl = project.crawl(proxy, [], keywords="sea,wave", strict_order=strict_order)
    # The first of the two links back to the start page has the callback of the start request.
    assert Counter(project.visited()) == {"http://a.test/": 2, "http://a.test/page": 1, "http://b.test/form": 12}
    assert (crawl.stats["scheduler/enqueued"], crawl.stats["scheduler/dequeued"]) == (15, 15)
    assert (crawl.stats["scenthound/queue_size"], crawl.stats["scenthound/pages_dropped"]) == (0, 0)


PAUSING = """
    import scrapy

    class Follow(scrapy.Spider):
        name = "follow"
        start_urls = ["{start}"]

        def parse(self, response):
            with open("visited.txt", "a") as file:
                print(response.url, file=file)
            for href in response.css("a::attr(href)").getall():
                yield response.follow(href, callback=self.parse)
            if self.settings.getint("STOP_AFTER") == self.crawler.stats.get_value("scenthound/pages_visited"):
                raise scrapy.exceptions.CloseSpider("stopped")
"""


def test_a_spider_that_was_stopped_continues_in_the_same_order(tmp_path: Path) -> None:
    site = random_site(1)
    seed = next(iter(site.pages))
    settings = {"strategy": "otie", "topics": topic_file(tmp_path), "strict_order": True, "random_seed": 3}
    project = ScrapyProject(tmp_path / "project", PAUSING.format(start=seed))
    with served(site) as proxy:
        stopped = project.crawl(proxy, [], JOBDIR="job", STOP_AFTER=15, **settings)
        first = project.visited()
        resumed = project.crawl(proxy, [], JOBDIR="job", **settings)
    simulated = simulated_urls(site, "otie", "rocchio", (seed,))
    assert (stopped.stats["finish_reason"], resumed.stats["finish_reason"]) == ("stopped", "finished")
    assert len(first) == 16
    assert project.visited()[: len(simulated)] == simulated
    assert resumed.stats["scenthound/pages_visited"] == len(project.visited())


def test_an_invalid_setting_and_an_old_scrapy_are_one_line_and_no_request(tmp_path: Path) -> None:
    site = random_site(1)
    seed = next(iter(site.pages))
    project = ScrapyProject(tmp_path / "valid")
    old = ScrapyProject(tmp_path / "old", extra="import scrapy\nscrapy.version_info = (2, 12, 0)")
    with served(site) as proxy:
        crawls = [project.crawl(proxy, [seed], startegy="otie"), old.crawl(proxy, [seed])]
    expected = ["SCENTHOUND_STRATEGY", "2.13"]
    for crawl, text in zip(crawls, expected, strict=True):
        assert [text in line for line in crawl.lines("ERROR")] == [True]
        assert crawl.stats["finish_reason"] == "scenthound_error"
        assert "Traceback" not in crawl.log
    assert not site.requests


def test_hosts_are_not_sent_more_requests_than_the_project_allows(tmp_path: Path) -> None:
    """Without strict order all pages are visited once, several at a time, and one at a time per host: a redirect, which
    is sent at once, would wait for its host at the downloader."""
    site = VirtualSite(random_site(1).pages)
    seeds = list(site.pages)[:2]
    extra = "CONCURRENT_REQUESTS = 8\nCONCURRENT_REQUESTS_PER_DOMAIN = 1\nDOWNLOAD_DELAY = 0.02"
    middleware = "DOWNLOADER_MIDDLEWARES = {'project.count.Count': 1}"
    project = ScrapyProject(tmp_path / "project", extra=f"{extra}\n{middleware}")
    count = """
        class Count:
            at_downloader, most, most_per_host = {}, 0, 0

            def process_request(self, request, spider=None):
                cls, host = type(self), request.url.split("/")[2]
                cls.at_downloader[host] = cls.at_downloader.get(host, 0) + 1
                cls.most = max(cls.most, sum(cls.at_downloader.values()))
                cls.most_per_host = max(cls.most_per_host, cls.at_downloader[host])
                with open("most.txt", "w") as file:
                    print(cls.most, cls.most_per_host, file=file)

            def process_response(self, request, response, spider=None):
                type(self).at_downloader[request.url.split("/")[2]] -= 1
                return response
    """
    project.write("count.py", count)
    with served(site) as proxy:
        crawl = project.crawl(proxy, seeds, topics=topic_file(tmp_path), strategy="link_context")
    strict = simulated_urls(site, "link_context", "rocchio", tuple(seeds))
    assert len(set(project.visited())) == len(project.visited()) >= len(strict)
    assert crawl.stats["finish_reason"] == "finished"
    most, most_per_host = map(int, (tmp_path / "project" / "most.txt").read_text().split())
    assert most > 1
    assert most_per_host == 1
