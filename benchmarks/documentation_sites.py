"""On-topic pages of live crawls on real documentation sites, by strategy, with default settings (15 minutes).

This is the crawl of a new user: three keywords, one start page, 400 pages, the default relevance model and settings.
The pages are those of seven sites of the collection debdocs under their public host names, served on loopback
addresses. The addresses of these sites in links are changed to http and to the port of the server; links to other
pages are dead. The crawl delay is 0.02 s instead of 1 s.

Whether a page is on topic is decided without the relevance model: if the keywords occur at least three times in its
main text, in singular or plural. The main text is the page without links, without nav, header, footer and aside
elements, and without those with the role of navigation. The document frequencies of the relevance model were counted on
this collection, too.
"""

import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import orjson
from turbohtml import parse

import scenthound as sh
from benchmarks import command_parser
from benchmarks.data import collection
from scenthound.api.runs import new_run
from scenthound.crawler.options import CrawlArguments
from scenthound.crawler.start import crawl as start_crawl
from scenthound.files import opened
from scenthound.model import Topic
from scenthound.strategies.base import STRATEGIES
from scenthound.web.static_server import StaticPage, StaticServer, at_port

COLLECTION = "debdocs"
SITES = (
    "docs.python.org",
    "docs.djangoproject.com",
    "docs.sqlalchemy.org",
    "docs.celeryq.dev",
    "www.sqlite.org",
    "httpd.apache.org",
    "www.swi-prolog.org",
)
#: The seed is the start page, without scheme.
TOPICS = (
    Topic("transactions", ("transaction", "rollback", "savepoint"), seeds="docs.sqlalchemy.org/en/14/index.html"),
    Topic("authentication", ("authentication", "password", "login"), seeds="docs.djangoproject.com/en/3.2/index.html"),
    Topic("threads", ("thread", "mutex", "race condition"), seeds="docs.python.org/3/index.html"),
)
#: Without a file it is `rank_function`.
LEFT_OUT = ("evolved",)
MIN_OCCURRENCES = 3
NOT_MAIN_TEXT = "nav, header, footer, aside, [role=navigation], a, script, style, head"
N_PAGES = 400
DELAY_S = 0.02
ON_TOPIC = 0.5


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command_parser("documentation_sites", __doc__)
    parser.add_argument("strategies", nargs="*", metavar="STRATEGY", help="by default all")
    parser.add_argument("--pages", type=int, default=N_PAGES, help="pages per crawl")
    options = parser.parse_args(arguments)
    source = collection(COLLECTION)
    if source is None:
        return 0
    pages = dict(site_pages(source))
    on_topic = {topic.id: {url for url, html in pages.items() if is_on_topic(html, topic)} for topic in TOPICS}
    print(f"  {len(pages):,} pages of {len(SITES)} sites; on topic: ", end="")
    print(", ".join(f"{len(urls)} {name}" for name, urls in on_topic.items()), flush=True)
    strategies = options.strategies or [name for name in STRATEGIES.names() if name not in LEFT_OUT]
    rows: dict[str, list[Row]] = {}
    with Sites(pages) as sites:
        for name in strategies:
            rows[name] = [sites.crawl(topic, name, options.pages, on_topic[topic.id]) for topic in TOPICS]
            print(".", end="", file=sys.stderr, flush=True)
    _print_table(rows, options.pages)
    return 0


def site_pages(source: Path) -> Iterator[tuple[str, str]]:
    """The pages of the sites by URL without scheme."""
    for file in sorted(source.glob("pages*.jsonl.zst")):
        with opened(file) as content:
            for line in content.content:
                page = orjson.loads(line)
                if urlsplit(page["url"]).hostname in SITES:
                    yield _without_scheme(page["url"]), page["html"]


def _without_scheme(url: str) -> str:
    return url.partition("://")[2]


def is_on_topic(html: str, topic: Topic) -> bool:
    phrases = "|".join(r"\s+".join(map(re.escape, keyword.split())) for keyword in topic.keywords)
    return len(re.findall(rf"\b(?:{phrases})s?\b", main_text(html), re.IGNORECASE)) >= MIN_OCCURRENCES


def main_text(html: str) -> str:
    document = parse(html)
    for element in list(document.select(NOT_MAIN_TEXT)):
        element.clear()
    return document.text


@dataclass(frozen=True, slots=True)
class Row:
    """What one crawl found: pages on topic by their main text, and by their relevance."""

    n_on_topic: int
    n_relevant: int
    share_zero: float
    seconds: float


class Sites:
    """A context manager that serves the sites, each on a loopback address of its own."""

    def __init__(self, pages: dict[str, str]) -> None:
        self._pages = pages
        self._hosts = {site: f"127.0.0.{number}" for number, site in enumerate(SITES, 2)}
        self._links = re.compile(rf"https?://({'|'.join(map(re.escape, SITES))})(?=[/\"'#?])")
        self._server = StaticServer(self._page, list(self._hosts.values()))

    def __enter__(self) -> "Sites":
        self._server.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.__exit__(None, None, None)

    def crawl(self, topic: Topic, strategy: str, n_pages: int, on_topic: set[str]) -> Row:
        with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as folder:
            started = time.perf_counter()
            visits = list(self.crawl_to(Path(folder) / "crawl", topic, strategy, n_pages).pages)
            seconds = time.perf_counter() - started
        relevance = np.array([visit.relevance for visit in visits])
        return Row(
            len({self.page_of(visit.url) for visit in visits} & on_topic),
            int((relevance >= ON_TOPIC).sum()),
            float((relevance == 0).mean()),
            seconds,
        )

    def crawl_to(self, folder: Path, topic: Topic, strategy: str, n_pages: int) -> sh.Crawl:
        run = new_run(
            CrawlArguments(
                Topic(topic.id, topic.keywords),
                [at_port(f"http://{topic.seeds[0]}", self._server.port)],
                out=folder,
                pages=n_pages,
                strategy=strategy,
                delay=DELAY_S,
                hosts=self._hosts,
                allow_private=True,
            )
        )
        # No other host is looked up: nothing leaves the machine.
        start_crawl(replace(run.settings, only_hosts=True), run.folder, run.options)
        return sh.open_crawl(run.folder)

    def page_of(self, url: str) -> str:
        """The URL in the collection, without scheme."""
        return _without_scheme(url).replace(f":{self._server.port}/", "/", 1)

    def _page(self, host: str, path: str) -> StaticPage | None:
        html = self._pages.get(f"{host}{path}")
        if html is None:
            return None
        return StaticPage(self._links.sub(rf"http://\1:{self._server.port}", html).encode())


def _print_table(rows: dict[str, list[Row]], n_pages: int) -> None:
    names = [topic.id for topic in TOPICS]
    print(f"  On-topic pages after {n_pages} pages; means over the topics:")
    print(f"| strategy | {' | '.join(names)} | mean | relevance 0.5 and more | relevance 0 | seconds |")
    print(f"|---|{'---|' * (len(names) + 4)}")
    for name, found in sorted(rows.items(), key=lambda item: -sum(row.n_on_topic for row in item[1])):
        counts = [row.n_on_topic for row in found]
        means = [np.mean([getattr(row, each) for row in found]) for each in ("n_relevant", "share_zero", "seconds")]
        print(f"| `{name}` | {' | '.join(map(str, counts))} | {np.mean(counts):.0f} ", end="")
        print(f"| {means[0]:.0f} | {means[1]:.0%} | {means[2]:.0f} |")


if __name__ == "__main__":
    sys.exit(main())
