"""The same work done by Scrapy, tuned: run as a script by the Python of an environment that has Scrapy.

It obeys robots.txt, takes each canonical URL (WHATWG) once, reads links and words of every page, scores the page by the
cosine of its stemmed words, stop words left out, with those of the topic's keywords, follows the links of better pages
first, writes a compressed WARC file and keeps its state on disk. A page has the score that it has in Scenthound, and
some of them are told in the end, to be compared.

What is tuned: links and text are read by selectolax and not by the default link extractor; URLs are joined by ada,
which takes a third of the time of urllib and a seventh of that of w3lib; a word is stemmed once; URLs that were seen
are dropped before a Request is made, because making one and its fingerprint costs more than all else about a link;
parts that the work does not need are off; one worker takes what a page yields and not the usual hundred; uvloop runs
the loop. warcio writes the archive as it comes; with `zlib` "isal" it is patched to compress by ISA-L instead of zlib,
which nobody can ask it for. `links` "default" brings back the usual link extractor, to show its cost.

What it need not do, and Scenthound does: look for near-duplicates, soft 404s and traps, wait until the disk has what
was taken, keep links and scores of all pages, or go on after a kill as if nothing had been.
"""

# Scrapy lives in an environment of its own, where no type checker looks.
# mypy: disable-error-code="import-not-found, misc, no-any-return, attr-defined"

import json
import math
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import ada_url
import scrapy
import Stemmer
from isal import isal_zlib
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from selectolax.lexbor import LexborHTMLParser
from warcio import warcwriter
from warcio.statusandheaders import StatusAndHeaders

#: Underscores are taken out before: to leave them out here would take longer.
_WORD = re.compile(r"\w+")
_STOP = ""
#: Scores are told to Scrapy as whole numbers, and each number on each host is a file. With a thousand, 3,000 pages cost
#: a sixth more, and their mean relevance was 0.057 instead of 0.056: few are enough.
_PRIORITIES = 20
_PAGES_A_LINE = 500
#: One page in so many is told with its score.
_PAGES_A_SCORE = 100
_DOWNLOADER_PARTS_OFF = (
    "offsite.OffsiteMiddleware",
    "httpauth.HttpAuthMiddleware",
    "retry.RetryMiddleware",
    "redirect.MetaRefreshMiddleware",
    "cookies.CookiesMiddleware",
    "httpproxy.HttpProxyMiddleware",
    "stats.DownloaderStats",
    "httpcache.HttpCacheMiddleware",
)
_SPIDER_PARTS_OFF = (
    "referer.RefererMiddleware",
    "urllength.UrlLengthMiddleware",
    "depth.DepthMiddleware",
    "metacopy.MetaCopyDetectionMiddleware",
)
_EXTENSIONS_OFF = ("telnet.TelnetConsole", "memusage.MemoryUsage", "logstats.LogStats", "throttle.AutoThrottle")


@dataclass(frozen=True, slots=True)
class Work:
    """What to crawl and how; `links` is "quick" or "default", `zlib` is "isal" or "default"."""

    seed: str
    keywords: list[str]
    stop_words: list[str]
    n_pages: int
    concurrency: int
    links: str
    zlib: str
    folder: str


class FastZlib:
    """What warcio asks of zlib, answered by ISA-L at its usual level."""

    DEFLATED = isal_zlib.DEFLATED
    MAX_WBITS = isal_zlib.MAX_WBITS

    @staticmethod
    def compressobj(_level: int, method: int, window_bits: int) -> object:
        return isal_zlib.compressobj(isal_zlib.ISAL_DEFAULT_COMPRESSION, method, window_bits)


class Stems(dict[str, str]):
    """The stem of each word that was asked for; that of a stop word is `_STOP`."""

    def __init__(self, stop_words: list[str]) -> None:
        super().__init__(dict.fromkeys(stop_words, _STOP))
        self._stem = Stemmer.Stemmer("porter", 0).stemWord

    def __missing__(self, word: str) -> str:
        return self.setdefault(word, self._stem(word))

    def counted(self, text: str) -> Counter[str]:
        """How often each stem is in a text."""
        counts = Counter(map(self.__getitem__, _WORD.findall(text.lower().replace("_", " "))))
        del counts[_STOP]
        return counts


class TopicSpider(scrapy.Spider):
    """Follows the links of relevant pages first."""

    name = "topic"

    def __init__(self, work: Work) -> None:
        super().__init__()
        self._work = work
        self._stems = Stems(work.stop_words)
        self._topic = self._stems.counted(" ".join(work.keywords))
        self._topic_norm = math.hypot(*self._topic.values())
        self._extractor = LinkExtractor() if work.links == "default" else None
        self._seen = {work.seed}
        self._n_taken = 0
        self._relevance_sum = 0.0
        self._scores: dict[str, float] = {}
        self._file = (Path(work.folder) / "pages.warc.gz").open("ab")
        self._warc = warcwriter.WARCWriter(self._file, gzip=True, warc_version="WARC/1.1")

    async def start(self) -> AsyncIterator[scrapy.Request]:
        yield scrapy.Request(self._work.seed)

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        self._archive(response)
        tree = LexborHTMLParser(response.body)
        links = self._links(response, tree)
        score = self._score(tree)
        priority = round(_PRIORITIES * score)
        for url in links:
            if url not in self._seen:
                self._seen.add(url)
                yield scrapy.Request(url, priority=priority)
        self._count(response.url, score)

    def closed(self, reason: str) -> None:
        self._file.close()
        self._print(ended=reason, scores=self._scores)

    def _count(self, url: str, score: float) -> None:
        if self._n_taken % _PAGES_A_SCORE == 0:
            self._scores[url] = score
        self._n_taken += 1
        self._relevance_sum += score
        if self._n_taken % _PAGES_A_LINE == 0 or self._n_taken == self._work.n_pages:
            self._print()
        if self._n_taken == self._work.n_pages:
            raise CloseSpider("budget")

    def _print(self, **further: object) -> None:
        relevance = self._relevance_sum / max(1, self._n_taken)
        print(json.dumps({"pages": self._n_taken, "relevance": relevance, **further}), flush=True)

    def _links(self, response: Response, tree: LexborHTMLParser) -> list[str]:
        if self._extractor is not None:
            return [link.url for link in self._extractor.extract_links(response)]
        base = response.url
        urls = [_joined(base, node.attributes["href"] or "") for node in tree.css("a[href]")]
        return [url for url in urls if url.startswith(("http://", "https://"))]

    def _score(self, tree: LexborHTMLParser) -> float:
        for node in tree.css("script, style"):
            node.decompose()
        counts = self._stems.counted(tree.root.text(separator=" "))
        norm = math.hypot(*counts.values()) * self._topic_norm
        return sum(count * counts[stem] for stem, count in self._topic.items()) / norm if norm else 0.0

    def _archive(self, response: Response) -> None:
        headers = [(name.decode(), value.decode()) for name, values in response.headers.items() for value in values]
        head = StatusAndHeaders(f"{response.status} OK", headers, protocol="HTTP/1.1")
        body = BytesIO(response.body)
        self._warc.write_record(
            self._warc.create_warc_record(response.url, "response", payload=body, http_headers=head)
        )


def _joined(base: str, reference: str) -> str:
    """The canonical URL that a reference leads to, without its fragment; "" if there is none."""
    try:
        return ada_url.join_url(base, reference).partition("#")[0]
    except ValueError:
        return ""


def _settings(work: Work) -> dict[str, object]:
    return {
        "ROBOTSTXT_OBEY": True,
        "USER_AGENT": "benchmark",
        "JOBDIR": str(Path(work.folder) / "job"),
        "CONCURRENT_REQUESTS": work.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "CONCURRENT_ITEMS": 1,
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
        "LOG_ENABLED": False,
        "DOWNLOADER_MIDDLEWARES": {f"scrapy.downloadermiddlewares.{name}": None for name in _DOWNLOADER_PARTS_OFF},
        "SPIDER_MIDDLEWARES": {f"scrapy.spidermiddlewares.{name}": None for name in _SPIDER_PARTS_OFF},
        "EXTENSIONS": {f"scrapy.extensions.{name}": None for name in _EXTENSIONS_OFF},
    }


def main() -> None:
    work = Work(**json.loads(sys.argv[1]))
    if work.zlib == "isal":
        warcwriter.zlib = FastZlib
    process = CrawlerProcess(_settings(work))
    process.crawl(TopicSpider, work=work)
    process.start()


if __name__ == "__main__":
    main()
