"""A site whose pages a test can change, with validators or without: for tests of `crawl --refresh`."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from scenthound.web.static_server import StaticPage, StaticServer

N_HOSTS = 2
ADDRESSES = [f"127.62.0.{host + 1}" for host in range(N_HOSTS)]
#: When pages were last modified; their versions are minutes apart.
MONDAY = "Mon, 05 Jan 2026 08:00:00 GMT"


@dataclass
class ChangingSite:
    """Each page links to the next. `versions` are the numbers of those that were changed, `gone` those that have
    disappeared; `moved` are redirects, by the number of the page."""

    server: StaticServer
    hosts: Path
    n_pages: int
    validators: str = "etag"
    versions: dict[int, int] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    moved: dict[int, str] = field(default_factory=dict)
    moved_status: int = 301
    empty: set[int] = field(default_factory=set)  #: pages that are sent without content
    same_validators: bool = False  #: of all pages
    robots: str = ""
    more_headers: tuple[tuple[str, str], ...] = ()
    gzip_level: int = 0  #: pages are compressed if it is not 0

    def url(self, page: int) -> str:
        return self.server.url(f"http://c{page % N_HOSTS}.test/{page}")

    def crawl(self, folder: Path, *more: object) -> list[object]:
        """The arguments of the command that crawls all pages."""
        where = ("--seed", self.url(0), "--hosts", self.hosts, "--allow-private", "--delay", 0)
        return ["crawl", "--keywords", "balloon", *where, "--pages", self.n_pages, "--out", folder, *more]

    def forget(self) -> None:
        """Count from now on."""
        self.server.requests.clear()
        self.server.body_bytes.clear()

    def pages_requested(self) -> dict[str, int]:
        return {url: count for url, count in self.server.requests.items() if not url.endswith("/robots.txt")}

    @property
    def body_bytes(self) -> int:
        """Bytes of pages sent."""
        return sum(count for url, count in self.server.body_bytes.items() if not url.endswith("/robots.txt"))

    def html(self, page: int) -> str:
        follow = self.url((page + 1) % self.n_pages)
        words = " ".join(f"word{page}x{number}" for number in range(60))
        news = f"<p>news {self.versions[page]}" if page in self.versions else ""
        return f"<title>Page {page}</title><p>balloon <a href='{follow}'>balloon</a>{news}<p>{words}"

    def page_of(self, _host: str, path: str) -> StaticPage | None:
        name = path[1:]
        if name == "robots.txt":
            return StaticPage(self.robots.encode(), content_type="text/plain") if self.robots else None
        number = int(name) if name.isdigit() else -1
        if number in self.moved:
            return StaticPage(b"", self.moved_status, headers=(("Location", self.moved[number]),))
        if number in self.gone or not 0 <= number < self.n_pages:
            return StaticPage(f"moved to {name}".encode()) if name.startswith("new") else None
        body, headers = (
            b"\n" if number in self.empty else self.html(number).encode(),
            (*self._validators(number), *self.more_headers),
        )
        if self.gzip_level:
            body, headers = gzip.compress(body, self.gzip_level, mtime=0), (*headers, ("Content-Encoding", "gzip"))
        return StaticPage(body, headers=headers)

    def _validators(self, page: int) -> list[tuple[str, str]]:
        version = self.versions.get(page, 0)
        name = "any" if self.same_validators else page
        etag = [("ETag", f'W/"{name}-{version}"')] if self.validators == "etag" else []
        modified = MONDAY.replace("08:00", f"08:{version:02}")
        return [*etag, *([("Last-Modified", modified)] if self.validators == "modified" else [])]


@contextmanager
def changing_site(folder: Path, n_pages: int = 6, validators: str = "etag") -> Iterator[ChangingSite]:
    def page_of(host: str, path: str) -> StaticPage | None:
        return site.page_of(host, path)

    hosts = folder / "hosts"
    hosts.write_text("".join(f"{address} c{host}.test\n" for host, address in enumerate(ADDRESSES)))
    site = ChangingSite(StaticServer(page_of, ADDRESSES), hosts, n_pages, validators)
    with site.server:
        yield site
