"""Real Scrapy projects on disk, and a loopback site for them with as many hosts as it likes.

Scrapy runs in an environment of its own, which has this checkout and the packages of the running Python behind its own.
It reaches the site through a proxy, which is the site itself: so hosts have names, and nothing else can be requested.
"""

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from textwrap import dedent
from threading import Thread
from typing import Any

from environments import environment
from virtual_site import VirtualSite

NEWEST, OLDEST = "2.19.0", "2.13.2"
#: Later versions of Twisted lack what Scrapy 2.13 uses.
REQUIREMENTS = {NEWEST: (f"scrapy=={NEWEST}",), OLDEST: (f"scrapy=={OLDEST}", "twisted==24.11.0")}
TIMEOUT_S = 120
SOURCES = Path(__file__).resolve().parents[1] / "src"

#: Follows all links, and writes what it visits, in order.
SPIDER = """
    import scrapy

    class Follow(scrapy.Spider):
        name = "follow"

        @classmethod
        def update_settings(cls, settings):
            super().update_settings(settings)
            cls.start_urls = settings.getlist("START")

        def parse(self, response):
            with open("visited.txt", "a") as file:
                print(response.url, file=file)
            for href in response.css("a::attr(href)").getall():
                yield response.follow(href)
"""


@dataclass(frozen=True, slots=True)
class Finished:
    """A crawl that has ended: the log, and the statistics that Scrapy prints."""

    log: str
    stats: Mapping[str, Any]

    def lines(self, level: str) -> list[str]:
        """The messages of a level, without times."""
        mark = f"] {level}: "
        return [line.partition(mark)[2] for line in self.log.splitlines() if mark in line]


class ScrapyProject:
    """A project in a folder, with one spider."""

    def __init__(self, folder: Path, spider: str = SPIDER, version: str = NEWEST, extra: str = "") -> None:
        self._folder = folder
        self._python = environment(*REQUIREMENTS[version]) / "bin" / "python"
        package = folder / "project"
        package.mkdir(parents=True)
        (folder / "scrapy.cfg").write_text("[settings]\ndefault = project.settings\n")
        (package / "__init__.py").touch()
        (package / "spider.py").write_text(dedent(spider))
        settings = """
            SPIDER_MODULES = ["project"]
            SCHEDULER = "scenthound.scrapy.Scheduler"
            ROBOTSTXT_OBEY = False
            TELNETCONSOLE_ENABLED = False
            RETRY_TIMES = 1
            DOWNLOAD_DELAY = 0
            STATS_CLASS = "project.stats.WrittenStats"
        """
        (package / "settings.py").write_text(f"{dedent(settings)}\n{dedent(extra)}")
        stats = """
            import json
            from scrapy.statscollectors import MemoryStatsCollector

            class WrittenStats(MemoryStatsCollector):
                def close_spider(self, *arguments, **named):
                    super().close_spider(*arguments, **named)
                    with open("stats.json", "w") as file:
                        json.dump(self.get_stats(), file, default=str)
        """
        (package / "stats.py").write_text(dedent(stats))
        start = folder / "start"
        start.mkdir()
        paths = [str(SOURCES), sysconfig.get_path("purelib"), *_inherited_paths()]
        (start / "sitecustomize.py").write_text(f"import sys\nsys.path.extend({paths!r})\n")

    def write(self, name: str, code: str) -> None:
        """Add a module to the project."""
        (self._folder / "project" / name).write_text(dedent(code))

    def crawl(self, proxy: str, start: Sequence[str], **settings: object) -> Finished:
        """`scrapy crawl follow` with settings of Scenthound, without their prefix, and of Scrapy, in capitals."""
        command = [str(self._python), "-m", "scrapy", "crawl", "follow", "-s", f"START={','.join(start)}"]
        for name, value in settings.items():
            command += ["-s", f"{name if name.isupper() else f'SCENTHOUND_{name.upper()}'}={value}"]
        variables = {**os.environ, "http_proxy": proxy, "PYTHONPATH": str(self._folder / "start")}
        (self._folder / "stats.json").unlink(missing_ok=True)
        ended = subprocess.run(
            command, cwd=self._folder, env=variables, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        stats = self._folder / "stats.json"
        return Finished(ended.stderr, json.loads(stats.read_text()) if stats.exists() else {})

    def visited(self) -> list[str]:
        """The pages whose callbacks were called, in order."""
        file = self._folder / "visited.txt"
        return file.read_text().split() if file.exists() else []


def _inherited_paths() -> list[str]:
    """The folders of packages that the running Python has besides its own: those of the environment it was made in."""
    return [path for path in sys.path if path.endswith("site-packages")]


@contextmanager
def served(site: VirtualSite) -> Iterator[str]:
    """The URL of a proxy that has the responses of a site."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            site.requests[self.path] += 1
            response = site.response(self.path)
            self.send_response_only(response.status)
            for line in response.head.decode().splitlines()[1:]:
                name, _, value = line.partition(":")
                if value:
                    self.send_header(name, value.strip())
            self.send_header("Content-Length", str(len(response.content)))
            self.end_headers()
            self.wfile.write(response.content)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
