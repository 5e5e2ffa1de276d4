"""Real pages as sites on loopback addresses: collections of ../shared/data with links that are all alive.

Rules
- The bytes of a page are those of the source (in UTF-8, which the server declares) except the targets of its links: the
  `href` of `a` and `area`, the `src` of frames.
- A link to another page of the site leads to that page. Any other http link leads to a page that a digest of its URL
  selects; if it stayed on its host in the source, it stays on its host. So a page has as many links as in the source.
- Links within a host keep their form (relative, root-relative, absolute) and all keep their fragment; links to other
  hosts are absolute. Links with other schemes are left as they are.
- Of a collection of one host, pages are drawn, so that their sizes are those of the collection. Each address has a run
  of them in breadth-first order from the start page: pages of a host link to each other, as on the web. Of a collection
  with many hosts, hosts are drawn, and each has its own address.
- A path gets the suffix `.html` if it has none, so that it is a file and no folder.
- Pages with a base element or a refresh are left out.
- All pages can be reached from the seed. The site is the same in every run; it is written once, to the system's
  temporary folder, and reused. With more hosts it is larger.
"""

import html
import json
import os
import re
import shutil
import tempfile
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

import orjson

from benchmarks.data import collection
from benchmarks.live_site import Site
from scenthound.files import opened
from scenthound.web.urls import canonical, host_of, resolve

VERSION = 1
N_HOSTS = 100
#: Pages that are drawn from a collection of one host, for each host of the site.
DRAWN_PAGES = 60
#: Hosts of a collection with many hosts have at least and at most this many pages.
HOST_PAGES = range(20, 201)
MAX_NAME_BYTES = 200

_TAG = re.compile(
    r"<!--.*?-->|<(script|style|textarea|title|xmp)\b.*?</\1"
    # A quotation mark that is not behind an equals sign is an ordinary character.
    r"""|<(?:(a|area)|i?frame)(?=[\s/])(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+'|))*+>""",
    re.IGNORECASE | re.DOTALL,
)
_HREF = re.compile(r"""(?<=[\s"'/])(?:href)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE)
_SRC = re.compile(_HREF.pattern.replace("href", "src"), re.IGNORECASE)
_UNSUPPORTED = re.compile(r"""<base\s|http-equiv\s*=\s*["']?refresh""", re.IGNORECASE)
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Collection:
    """Where a crawl of a collection starts, and what it looks for."""

    start: str
    keywords: tuple[str, ...]


COLLECTIONS: Mapping[str, Collection] = {
    "wpschools": Collection("http://schools-wikipedia.org/wp/s/Science.htm", ("chemistry", "chemical element", "acid")),
    "nlab": Collection("https://ncatlab.org/nlab/show/mathematics", ("gravity", "gravitation", "general relativity")),
    "mdn": Collection("https://developer.mozilla.org/en-US/docs/Web", ("webgl", "canvas", "shader")),
    "debdocs": Collection("", ("parser", "grammar", "syntax tree")),
}


def write_real_site(name: str, port: int, n_hosts: int = N_HOSTS) -> Site | None:
    """Write the site of a collection, unless an earlier run did. None if there is no such collection."""
    source = collection(name)
    if source is None:
        return None
    folder = Path(tempfile.gettempdir()) / f"scenthound-live-{name}-{VERSION}-{n_hosts}-{port}-{os.getuid()}"
    facts = folder.with_suffix(".json")
    if not (folder.is_dir() and facts.is_file()):
        print(f"  writing pages of {name} into {folder}, where they stay for later runs", flush=True)
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        layout = layout_of(lambda: read_pages(source), COLLECTIONS[name].start, n_hosts)
        written = write_pages(lambda: read_pages(source), layout, part, port)
        hosts = sorted(host.name for host in part.iterdir())
        seed = layout.places[written[0]].url(port)
        facts.write_text(json.dumps({"hosts": hosts, "seed": seed, "pages": len(written)}))
        part.rename(folder)
    known = json.loads(facts.read_text())
    return Site(folder, port, tuple(known["hosts"]), (known["seed"],), COLLECTIONS[name].keywords, int(known["pages"]))


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page of a collection: `urls` are its canonical URL, then those that redirect to it."""

    urls: tuple[str, ...]
    html: str

    @property
    def url(self) -> str:
        return self.urls[0]


ReadPages = Callable[[], Iterable[SourcePage]]


def read_pages(source: Path) -> Iterator[SourcePage]:
    """The pages of a collection that a site can have, in the order of its files."""
    for file in sorted(source.glob("pages*.jsonl.zst")):
        with opened(file) as content:
            for line in content.content:
                page = orjson.loads(line)
                urls = tuple(url for each in (page["url"], *page.get("aliases", ())) if (url := canonical(each)))
                if urls and _fits(urls[0]) and not _UNSUPPORTED.search(page["html"]):
                    yield SourcePage(urls, page["html"])


def _fits(url: str) -> bool:
    """Whether the path can be one of a file."""
    names = unquote(urlsplit(url).path).split("/")
    return not urlsplit(url).query and all(
        len(name.encode()) <= MAX_NAME_BYTES and name not in (".", "..") and "\0" not in name for name in names
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page of the site is: `path` is that of its URL."""

    host: str
    path: str

    def url(self, port: int) -> str:
        return f"http://{self.host}:{port}{self.path}"

    @property
    def file(self) -> str:
        return f"{self.host}{unquote(self.path)}"


@dataclass(frozen=True, slots=True)
class Layout:
    """The pages of a site by their number, and the numbers by URL, without scheme."""

    places: Sequence[Place]
    number_of: Mapping[str, int]
    start: int
    on_host: Mapping[str, list[int]] = field(default_factory=dict)

    def number(self, url: str) -> int | None:
        return self.number_of.get(_without_scheme(url))


def layout_of(pages: ReadPages, start: str, n_hosts: int = N_HOSTS) -> Layout:
    """The pages of a site and their hosts. With several hosts the start page is the first one."""
    urls: list[str] = []
    number_of: dict[str, int] = {}
    for page in pages():
        for url in page.urls:
            number_of.setdefault(_without_scheme(url), len(urls))
        urls.append(page.url)
    sizes = Counter(map(host_of, urls))
    if len(sizes) == 1:
        by_digest = sorted(range(len(urls)), key=lambda number: (urls[number] != start, _digest(urls[number])))
        order = _breadth_first(pages, number_of, by_digest[: DRAWN_PAGES * n_hosts])
        hosts = [number * n_hosts // len(order) for number in range(len(order))]
    else:
        fitting = sorted((host for host in sizes if sizes[host] in HOST_PAGES), key=_digest)[:n_hosts]
        new_number = {host: number for number, host in enumerate(fitting)}
        # Some pages have the URL of another one.
        own = (number for number, url in enumerate(urls) if number_of[_without_scheme(url)] == number)
        order = [number for number in own if host_of(urls[number]) in new_number]
        hosts = [new_number[host_of(urls[number])] for number in order]
    return _placed(order, hosts, urls, number_of)


def _placed(order: list[int], hosts: list[int], urls: list[str], number_of: dict[str, int]) -> Layout:
    places = [Place(_address(host), _path(urls[number])) for number, host in zip(order, hosts, strict=True)]
    new_number = {number: position for position, number in enumerate(order)}
    numbers = {url: new_number[number] for url, number in number_of.items() if number in new_number}
    on_host: dict[str, list[int]] = {}
    for position, place in enumerate(places):
        on_host.setdefault(place.host, []).append(position)
    return Layout(places, numbers, 0, on_host)


def _address(host: int) -> str:
    return f"127.0.{1 + host // 250}.{1 + host % 250}"


def _breadth_first(pages: ReadPages, number_of: Mapping[str, int], drawn: list[int]) -> list[int]:
    """The drawn pages in breadth-first order from the first; those that cannot be reached are last."""
    links: dict[int, list[int]] = {number: [] for number in drawn}
    for number, page in enumerate(pages()):
        if number in links:
            targets = dict.fromkeys(number_of.get(_without_scheme(url)) for url in link_targets(page))
            links[number] = [target for target in targets if target in links]
    return list(dict.fromkeys([*reachable(links, drawn[0]), *drawn]))


def reachable(links: Mapping[int, list[int]], start: int) -> list[int]:
    """The pages that can be reached, in breadth-first order."""
    found = {start: None}
    waiting = deque(found)
    while waiting:
        new = [number for number in links[waiting.popleft()] if number not in found]
        found.update(dict.fromkeys(new))
        waiting.extend(dict.fromkeys(new))
    return list(found)


def link_targets(page: SourcePage) -> list[str]:
    """The canonical URLs that a page links to."""
    found: list[str] = []

    def note(reference: str) -> str | None:
        url = resolve(page.url, reference)
        if url is not None:
            found.append(url)
        return None

    rewritten(page.html, note)
    return found


def write_pages(pages: ReadPages, layout: Layout, folder: Path, port: int) -> list[int]:
    """Write the pages that can be reached from the start page; returns their numbers, that of the start page first. If
    most pages cannot be reached from it, the first page from which they can is the start page instead."""
    links: dict[int, list[int]] = {}
    for page in pages():
        number = layout.number(page.url)
        if number is not None and number not in links:
            rewriter = LinkRewriter(page.url, number, layout, port)
            file = folder / layout.places[number].file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(rewritten(page.html, rewriter.reference).encode("utf-8", "replace"))
            links[number] = rewriter.targets
    found = from_start = reachable(links, layout.start)
    for number in links:
        if 2 * len(found) >= len(links):
            break
        found = reachable(links, number)
    else:
        found = from_start
    for number in links.keys() - set(found):
        (folder / layout.places[number].file).unlink()
    return found


class LinkRewriter:
    """Gives the links of a page of the site their new targets, which are collected in `targets`."""

    def __init__(self, url: str, number: int, layout: Layout, port: int) -> None:
        self._url = url
        self._place = layout.places[number]
        self._layout = layout
        self._port = port
        self.targets: list[int] = []

    def reference(self, reference: str) -> str | None:
        """The new spelling of a reference; None to leave it as it is."""
        url = resolve(self._url, reference)
        if url is None or reference.startswith("#") or not reference:
            return None
        number = self._target(url)
        self.targets.append(number)
        hash_sign, fragment = reference.partition("#")[1:]
        return self._spelled(reference, self._layout.places[number]) + hash_sign + fragment

    def _target(self, url: str) -> int:
        number = self._layout.number(url)
        if number is not None:
            return number
        stays = host_of(url) == host_of(self._url)
        numbers = self._layout.on_host[self._place.host] if stays else range(len(self._layout.places))
        return numbers[_digest(url) % len(numbers)]

    def _spelled(self, reference: str, target: Place) -> str:
        if target.host != self._place.host or _ABSOLUTE.match(reference):
            return target.url(self._port)
        if reference.startswith("/"):
            return target.path
        relative = os.path.relpath(target.path, os.path.dirname(self._place.path))
        return f"./{relative}" if ":" in relative.partition("/")[0] else relative


def rewritten(text: str, reference_of: Callable[[str], str | None]) -> str:
    """A page whose links have the references that the function returns for theirs, None to leave one as it is."""

    def attribute(match: re.Match[str]) -> str:
        group = match.lastindex
        new = None if group is None else reference_of(html.unescape(match[group]).strip())
        if group is None or new is None:
            return match[0]
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        quoted = html.escape(new) if group != 2 else html.escape(new).replace("'", "&#39;")
        return match[0][:start] + quoted + match[0][end:]

    def tag(match: re.Match[str]) -> str:
        if match[1] or match[0].startswith("<!"):
            return match[0]
        return (_HREF if match[2] else _SRC).sub(attribute, match[0], count=1)

    return _TAG.sub(tag, text)


def _path(url: str) -> str:
    path = urlsplit(url).path
    return path if path.endswith((".html", ".htm")) else f"{path.removesuffix('/')}.html"


def _without_scheme(url: str) -> str:
    return url.partition("://")[2]


def _digest(text: str) -> int:
    return zlib.crc32(text.encode())
