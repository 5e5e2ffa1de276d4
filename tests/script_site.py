"""A site whose pages are made by scripts: without a browser they have neither text nor links."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from scenthound.api.runs import new_run
from scenthound.crawler.options import CrawlArguments
from scenthound.crawler.settings import CrawlSettings
from scenthound.web.static_server import StaticPage, StaticServer

N_PAGES = 6
HOST, CDN, PRIVATE = "app.test", "cdn.test", "private.test"
ADDRESSES = {HOST: "127.62.0.1", CDN: "127.62.0.2", PRIVATE: "127.62.0.3"}
ROBOTS = b"User-agent: *\nDisallow: /hidden\n"
APP = """
const shown = document.getElementById("app");
fetch(`/data${location.pathname}.json`).then(response => response.json()).then(page => {
  document.title = page.title;
  const links = page.links.map(link => `<p>balloon <a href="${link}">a balloon</a>`);
  shown.innerHTML = `<h1>${page.title}</h1><p>${page.text}</p>${links.join("")}`;
});
"""


@dataclass
class ScriptSite:
    """Pages `/0` to `/5`; each links to the next two. `pages` are others, by host and path, and replace these;
    `on_request` is called with each path."""

    server: StaticServer
    folder: Path
    pages: dict[tuple[str, str], StaticPage] = field(default_factory=dict)
    on_request: Callable[[str], None] = lambda path: None

    def url(self, path: str = "/0", host: str = HOST) -> str:
        return self.server.url(f"http://{host}{path}")

    def count(self, path: str, host: str = HOST) -> int:
        return self.server.requests[self.url(path, host)]

    def log(self, host: str) -> list[tuple[float, str]]:
        """The times and URLs of all requests to a host."""
        lines = (line.split(" ", 1) for line in (self.folder / "log").read_text().splitlines())
        return [(float(time_s), url) for time_s, url in lines if f"//{host}:" in url]

    @property
    def hosts(self) -> Path:
        return self.folder / "hosts"

    def settings(self, **arguments: Any) -> CrawlSettings:
        """Those of a crawl that may connect to the addresses of the first two hosts only."""
        given = {"hosts": self.hosts, "delay": 0, "no_throttle": True, "pages": 2 * N_PAGES, "render": "auto"}
        settings = new_run(CrawlArguments("balloon", **({"seeds": [self.url()]} | given | arguments))).settings
        return CrawlSettings.from_settings(
            {**settings.as_settings(), "also_allowed": [ADDRESSES[HOST], ADDRESSES[CDN]]}
        )

    def command(self, *more: object) -> list[object]:
        where = ("--seed", self.url(), "--hosts", self.hosts, "--allow-private", "--delay", 0, "--no-throttle")
        return ["crawl", "--keywords", "balloon", *where, "--render", "auto", *more]

    def page_of(self, host: str, path: str) -> StaticPage | None:
        self.on_request(path)
        if (host, path) in self.pages:
            return self.pages[host, path]
        if path == "/robots.txt":
            return StaticPage(ROBOTS, content_type="text/plain")
        if path == "/app.js":
            return StaticPage(APP.encode(), content_type="text/javascript")
        if found := re.fullmatch(r"/data/(\d)\.json", path):
            return StaticPage(orjson.dumps(data_of(int(found[1]))), content_type="application/json")
        is_page = re.fullmatch(r"/[0-9]", path) is not None and int(path[1:]) < N_PAGES
        return shell() if is_page else None


def shell(more: str = "", headers: tuple[tuple[str, str], ...] = ()) -> StaticPage:
    html = f"<!doctype html><title>App</title><div id=app></div><img src=/logo.png>{more}<script src=/app.js></script>"
    return StaticPage(html.encode(), headers=headers)


def data_of(number: int) -> dict[str, object]:
    words = " ".join(f"word{number}x{i}" for i in range(30))
    links = [f"/{each}" for each in (number + 1, number + 2) if each < N_PAGES]
    return {"title": f"Page {number}", "text": f"balloon {words}", "links": links}


@contextmanager
def script_site(folder: Path) -> Iterator[ScriptSite]:
    def page_of(host: str, path: str) -> StaticPage | None:
        return site.page_of(host, path)

    server = StaticServer(page_of, list(ADDRESSES.values()), log=folder / "log")
    site = ScriptSite(server, folder)
    site.hosts.write_text("".join(f"{address} {name}\n" for name, address in ADDRESSES.items()))
    with server:
        yield site


def descendants(process: int) -> set[int]:
    """The processes that a process started, and those that they started."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except OSError:  # It has ended.
            continue
        parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    found, last = set(), {process}
    while last := {child for child, parent in parents.items() if parent in last}:
        found |= last
    return found


def browsers_of(process: int) -> set[int]:
    """The browser's own process, without those of tabs and the shell that may have started it."""
    found = set()
    for each in descendants(process):
        try:
            command, program = Path(f"/proc/{each}/cmdline").read_text(), os.readlink(f"/proc/{each}/exe")
        except OSError:
            continue
        if "--user-data-dir=" in command and "--type=" not in command and not program.endswith("sh"):
            found.add(each)
    return found
