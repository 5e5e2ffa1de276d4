"""A Scrapy project beside `scenthound simulate`, on the articles of wpschools (estimated 5 minutes).

The same spider, which follows all links, crawls them from the same start pages with Scrapy's own scheduler, depth-first
by default and breadth-first, with `scenthound.scrapy.Scheduler` in strict order, and with 16 requests at a time. It
reaches the pages through a proxy on the loopback interface. Recall is the share of the topic's other examples that are
among the visited pages, as a mean over topics. CPU is that of the Scrapy process per page, without that of a crawl of a
few pages; that of the scheduler, with its filter of duplicates, is a part of it. The last lines show the first pages of
one topic side by side.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import orjson

import scenthound as sh
from benchmarks import command_parser, positive
from benchmarks.data import collection, recorded
from benchmarks.live_scrapy import ScrapyEnvironment
from scenthound.errors import Failure
from scenthound.files import opened
from scenthound.model import Topic
from scenthound.store.batches import RawPage
from scenthound.store.sources.records import ReadOptions, record_of
from scenthound.topics.files import read_topics, write_topics
from scenthound.web.urls import canonical

COLLECTION = "wpschools"
STRATEGY = "link_context"
N_SEEDS = 3
MIN_EXAMPLES = 60
#: A crawl of this many pages has all the costs of a start.
N_FIRST = 10
N_SHOWN = 12

_SPIDER = """
import scrapy
from scrapy.linkextractors import LinkExtractor

class Follow(scrapy.Spider):
    name = "follow"
    links = LinkExtractor(deny_extensions=[])
    n_visited = 0

    async def start(self):
        for url in self.settings.getlist("START"):
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response):
        self.n_visited += 1
        if self.n_visited > self.settings.getint("PAGES"):
            raise scrapy.exceptions.CloseSpider("pages")
        with open("visited.txt", "a") as file:
            print(response.url, file=file)
        yield from response.follow_all(self.links.extract_links(response))
"""
#: Schedulers that write their CPU time to a file.
_TIMED = """
from time import thread_time

from scrapy.core.scheduler import Scheduler as ScrapyScheduler

from scenthound.scrapy import Scheduler

spent_s = 0.0

def timed(method):
    def call(*arguments):
        global spent_s
        before_s = thread_time()
        try:
            return method(*arguments)
        finally:
            spent_s += thread_time() - before_s
    return call

class Written:
    def close(self, reason):
        with open("scheduler_s.txt", "w") as file:
            print(spent_s, file=file)
        return super().close(reason)

class Scrapys(Written, ScrapyScheduler):
    pass

class Ours(Written, Scheduler):
    def _response_received(self, response, request):
        timed(super()._response_received)(response, request)

for each in (Scrapys, Ours):
    for name in ("enqueue_request", "next_request", "has_pending_requests"):
        setattr(each, name, timed(getattr(each, name)))
"""
_SETTINGS = """
SPIDER_MODULES = ["project"]
ROBOTSTXT_OBEY = False
TELNETCONSOLE_ENABLED = False
DOWNLOAD_DELAY = 0
LOG_LEVEL = "WARNING"
SCHEDULER = "project.timed.Scrapys"
"""
_OURS = {
    "SCHEDULER": "project.timed.Ours",
    "SCENTHOUND_STRATEGY": STRATEGY,
    "SCENTHOUND_TOPICS": "topics.jsonl",
}
_ONE_AT_A_TIME = {"CONCURRENT_REQUESTS": "1"}
_MANY = {"CONCURRENT_REQUESTS": "16", "CONCURRENT_REQUESTS_PER_DOMAIN": "16"}
_BREADTH_FIRST = {
    "DEPTH_PRIORITY": "1",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
STRICT = "Scrapy, our scheduler, strict order"
#: The settings of each crawl.
CRAWLS: Mapping[str, Mapping[str, str]] = {
    "Scrapy, depth-first (default)": _ONE_AT_A_TIME,
    "Scrapy, breadth-first": {**_ONE_AT_A_TIME, **_BREADTH_FIRST},
    STRICT: {**_OURS, "SCENTHOUND_STRICT_ORDER": "True"},
    "Scrapy, our scheduler, 16 at a time": {**_OURS, **_MANY},
}
SIMULATED = "scenthound simulate"


@dataclass(frozen=True, slots=True)
class Measured:
    visited: list[str]
    cpu_s: float
    #: Of the scheduler.
    scheduler_s: float


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command_parser("scrapy_order", __doc__)
    parser.add_argument("--pages", type=positive, default=300, help="pages of each crawl")
    parser.add_argument("--topics", type=positive, default=3, help="topics, each with its own crawls")
    options = parser.parse_args(arguments)
    folder = collection(COLLECTION)
    if folder is None:
        return 0
    python = ScrapyEnvironment().python
    topics = [
        _with_seeds(topic) for topic in read_topics(folder / "topics.jsonl") if len(topic.examples) >= MIN_EXAMPLES
    ]
    topics = topics[: options.topics]
    pages = dict(_pages(folder))
    print(f"{len(pages):,} pages of {COLLECTION}, {options.pages} per crawl; topics: {', '.join(t.id for t in topics)}")
    with recorded(folder) as web, _served(pages) as proxy:
        simulated = {topic.id: _simulated(web, topic, options.pages) for topic in topics}
        crawls = {
            name: {topic.id: _crawl(python, proxy, topic, settings, options.pages) for topic in topics}
            for name, settings in CRAWLS.items()
        }
        starts = {name: _crawl(python, proxy, topics[0], settings, N_FIRST) for name, settings in CRAWLS.items()}
    print(f"{'':38} {'recall':>7} {'CPU ms/page':>12} {'scheduler':>10} {'as simulated':>14}")
    for name, by_topic in crawls.items():
        recall = _mean([_recall(topic, by_topic[topic.id].visited) for topic in topics])
        start = starts[name]
        cpu_ms = _mean(
            [1000 * (each.cpu_s - start.cpu_s) / (len(each.visited) - len(start.visited)) for each in by_topic.values()]
        )
        scheduler_ms = _mean([1000 * each.scheduler_s / len(each.visited) for each in by_topic.values()])
        same = sum(_n_same(each.visited, simulated[topic]) for topic, each in by_topic.items())
        total = sum(map(len, simulated.values()))
        print(f"{name:38} {recall:7.1%} {cpu_ms:12.1f} {scheduler_ms:10.1f} {f'{same} of {total}':>14}")
    recall = _mean([_recall(topic, simulated[topic.id]) for topic in topics])
    print(f"{SIMULATED:38} {recall:7.1%}")
    _print_beside(topics[0], crawls[STRICT][topics[0].id].visited, simulated[topics[0].id])
    return 0


def _with_seeds(topic: Topic) -> Topic:
    """The topic with its first examples as start pages."""
    return replace(topic, seeds=topic.examples[:N_SEEDS])


def _pages(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The pages that are recorded, by URL; the URLs of redirects have a Location instead."""
    options = ReadOptions(without_leaks=True, where=(("kind", "article"),))
    for file in sorted(folder.glob("pages*.jsonl.zst")):
        with opened(file) as content:
            for line in content.content:
                page = record_of(orjson.loads(line), "", options)
                if isinstance(page, RawPage) and isinstance(page.html, str):
                    yield canonical(page.url) or page.url, page.html.encode("utf-8", "replace")
                    for alias in page.aliases:
                        yield canonical(alias) or alias, b"Location: " + page.url.encode()


@contextmanager
def _served(pages: Mapping[str, bytes]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            content = pages.get(canonical(self.path) or self.path)
            is_moved = content is not None and content.startswith(b"Location: ")
            self.send_response_only(404 if content is None else 301 if is_moved else 200)
            if content is not None and is_moved:
                self.send_header("Location", content.decode().removeprefix("Location: "))
                content = b""
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _simulated(web: Path, topic: Topic, n_pages: int) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as folder:
        # Scrapy's link extractors return nofollow links too.
        run = sh.simulate(
            web, topic, STRATEGY, pages=n_pages, out=Path(folder) / "run", progress=False, follow_nofollow=True
        )
        return [page.url for page in run.pages]


def _crawl(python: Path, proxy: str, topic: Topic, settings: Mapping[str, str], n_pages: int) -> Measured:
    """`scrapy crawl` in a project of its own."""
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as name:
        folder = Path(name)
        (folder / "project").mkdir()
        (folder / "scrapy.cfg").write_text("[settings]\ndefault = project.settings\n")
        (folder / "project" / "__init__.py").touch()
        (folder / "project" / "settings.py").write_text(_SETTINGS)
        (folder / "project" / "spider.py").write_text(_SPIDER)
        (folder / "project" / "timed.py").write_text(_TIMED)
        write_topics(folder / "topics.jsonl", [topic])
        # Scrapy's own packages come first, then this checkout and the packages of this Python.
        paths = [str(Path(sh.__file__).parents[1]), sysconfig.get_path("purelib"), *sys.path]
        (folder / "sitecustomize.py").write_text(f"import sys\nsys.path.extend({[path for path in paths if path]!r})\n")
        chosen = {**settings, "START": ",".join(topic.seeds), "PAGES": str(n_pages)}
        command = [str(python), "-m", "scrapy", "crawl", "follow"]
        command += [part for name, value in chosen.items() for part in ("-s", f"{name}={value}")]
        variables = {**os.environ, "http_proxy": proxy, "PYTHONPATH": str(folder)}
        before = os.times()
        ended = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
        after = os.times()
        if not (folder / "visited.txt").exists():
            raise Failure(f"Scrapy visited no page: {ended.stderr.strip()[-500:]}")
        cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
        scheduler_s = float((folder / "scheduler_s.txt").read_text())
        return Measured((folder / "visited.txt").read_text().split(), cpu_s, scheduler_s)


def _recall(topic: Topic, visited: Sequence[str]) -> float:
    targets = {canonical(url) for url in topic.examples} - {canonical(url) for url in topic.seeds}
    return len(targets.intersection(map(canonical, visited))) / len(targets)


def _n_same(visited: Sequence[str], simulated: Sequence[str]) -> int:
    """How many pages are the same before the first that is not."""
    pairs = list(zip(visited, simulated, strict=False))
    return next((number for number, (one, other) in enumerate(pairs) if canonical(one) != other), len(pairs))


def _print_beside(topic: Topic, visited: Sequence[str], simulated: Sequence[str]) -> None:
    print(f"\n{topic.id}: {STRICT:50} {SIMULATED}")
    for one, other in list(zip(visited, simulated, strict=False))[:N_SHOWN]:
        print(f"  {one.rpartition('/')[2][:54]:56} {other.rpartition('/')[2][:54]}")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


if __name__ == "__main__":
    sys.exit(main())
