"""A small web of two topics that is the same everywhere: as pages of JSON Lines, and on a server on loopback.

Nothing of the package is used here, so that the net judges it from outside. The hosts have one fixed port, which is
part of their URLs; only the address on loopback differs between servers.
"""

import json
import os
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

PORT = 8099
N_PAGES = 240
ENDS = ("ck", "nd", "rm", "st", "tt")


def _words(text: str) -> list[str]:
    return text.split()


BALLOON = _words(
    "balloon basket burner envelope gondola pilot ascent altitude helium propane flight wind inflate tether launch "
    "landing balloonist aeronaut festival dawn drift lift gas hot"
)
TRAIN = _words(
    "train locomotive carriage railway station platform signal engine boiler steam track gauge conductor freight "
    "tunnel sleeper junction timetable wagon driver express brake points coupling"
)
OTHER = _words(
    "garden kitchen recipe flour butter river mountain forest painter museum novel author market price village church "
    "football goal season player doctor illness school teacher weather summer winter song singer guitar theatre film "
    "camera bread cheese coffee island beach harbour castle king queen battle army letter window table chair lamp "
    "computer network paper pencil colour green yellow metal copper stone bridge street house tower horse cattle"
)
#: Rare words, so that pages share few of them.
OTHER += [a + b + c for a, b, c in product(_words("bar cor den fal gim hol"), _words("ba do ki la mo re su"), ENDS)]
GLUE = _words("the of and a in with for on that was by from which are")
WORDS = {"balloon": BALLOON, "train": TRAIN, "other": OTHER}
HOSTS = _words(
    "www.balloons.test news.balloons.test aero.test flight.test www.rail.test steam.rail.test trains.test museum.test "
    "garden.test www.food.test town.test music.test"
)
MAIN_TOPIC = {
    **dict.fromkeys(HOSTS[:4], "balloon"),
    **dict.fromkeys(HOSTS[4:7], "train"),
    **dict.fromkeys(HOSTS[7:], "other"),
}


@dataclass(frozen=True)
class Page:
    url: str
    topic: str
    title: str
    html: str


@dataclass
class Site:
    """Pages and redirects by URL. What is neither is not found."""

    pages: dict[str, Page] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)

    def of_topic(self, topic: str) -> list[str]:
        return [page.url for page in self.pages.values() if page.topic == topic]

    def write_jsonl(self, path: Path) -> Path:
        """The input of `scenthound record`."""
        aliases: dict[str, list[str]] = {}
        for alias, target in self.redirects.items():
            aliases.setdefault(target, []).append(alias)
        with path.open("w") as file:
            for page in self.pages.values():
                row: dict[str, object] = {"url": page.url, "html": page.html, "topics": [page.topic]}
                if page.url in aliases:
                    row["aliases"] = aliases[page.url]
                file.write(json.dumps(row) + "\n")
        return path

    def write_topics(self, path: Path) -> Path:
        """Three topics; the last has start pages and no examples."""
        topics = [
            {
                "id": "balloons",
                "keywords": ["balloon", "balloonist", "hot air"],
                "description": "Balloons, their pilots and their flights: burner, basket and envelope.",
                "examples": self.of_topic("balloon")[::2],
            },
            {
                "id": "trains",
                "keywords": ["locomotive", "railway"],
                "description": "Trains, steam engines and the railway.",
                "examples": self.of_topic("train")[::2],
            },
            {"id": "from seeds", "keywords": ["burner", "steam"], "seeds": [*self.pages][:2]},
        ]
        path.write_text("".join(json.dumps(topic) + "\n" for topic in topics))
        return path


def small_site(n_pages: int = N_PAGES, seed: int = 41) -> Site:
    """Pages with topical locality, hubs, popular pages, words around links, redirects, dead and nofollow links.

    Only `random()` is drawn, whose sequence Python guarantees.
    """
    draw = random.Random(seed).random

    def below(n: int) -> int:
        return int(draw() * n)

    def one_of(values: list[str]) -> str:
        return values[below(len(values))]

    def text_of(topic: str, n_words: int, purity: float) -> str:
        words = [
            one_of(GLUE) if draw() < 0.3 else one_of(WORDS[topic]) if draw() < purity else one_of(OTHER)
            for _ in range(n_words)
        ]
        return " ".join(words)

    site = Site()
    plan: list[tuple[str, str, bool]] = []
    for number in range(n_pages):
        host = HOSTS[int(draw() ** 1.5 * len(HOSTS))] if number >= len(HOSTS) else HOSTS[number]
        topic = MAIN_TOPIC[host] if draw() < 0.75 else one_of(["balloon", "train", "other"])
        path = "" if number < len(HOSTS) else f"{one_of(WORDS[topic])}-{number}.html"
        plan.append((f"http://{host}:{PORT}/{path}", topic, draw() < 0.12))
    by_topic = {name: [url for url, topic, _ in plan if topic == name] for name in WORDS}
    urls = [url for url, _, _ in plan]
    for number in range(0, n_pages, 17):
        alias = f"http://{HOSTS[number % len(HOSTS)]}:{PORT}/moved-{number}"
        site.redirects[alias] = urls[number]
    aliases = [*site.redirects]
    for number, (url, topic, is_hub) in enumerate(plan):
        title = " ".join(one_of(WORDS[topic]) for _ in range(3)).capitalize() + f" {number}"
        parts = [f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title></head><body>"]
        parts.append(f"<h1>{title}</h1>")
        purity = 0.01 + 0.5 * draw() ** 3
        for _ in range(2 + below(3)):
            parts.append(f"<p>{text_of(topic, 25 + below(30), purity).capitalize()}.</p>")
        for _ in range(18 if is_hub else 3 + below(6)):
            kind = draw()
            if kind < 0.62:
                target = one_of(by_topic[topic])
            elif kind < 0.72:
                target = urls[int(draw() ** 3 * n_pages)]
            elif kind < 0.94:
                target = one_of(urls)
            elif kind < 0.97:
                target = one_of(aliases)
            else:
                target = f"http://{one_of(list(HOSTS))}:{PORT}/gone-{below(9)}"
            about = next((each for each in WORDS if target in by_topic[each]), "other")
            nofollow = " rel=nofollow" if draw() < 0.03 else ""
            anchor = text_of(about, 1 + below(3), 0.5)
            parts.append(
                f"<p>{text_of(about, 4 + below(6), 0.2)} <a href='{target}'{nofollow}>{anchor}</a> "
                f"{text_of(about, 3, 0.2)}</p>"
            )
        parts.append("</body></html>\n")
        site.pages[url] = Page(url, topic, title, "".join(parts))
    return site


ROBOTS = b"User-agent: *\nDisallow: /private\n"
ODD = f"http://town.test:{PORT}/odd/"
Answer = tuple[int, dict[str, str], bytes]


def odd_pages(site: Site) -> dict[str, Answer]:
    """Pages that a crawl skips, each for another reason, and a page that links to them."""
    html = {"Content-Type": "text/html; charset=utf-8"}
    copied = next(page for page in site.pages.values() if page.topic == "balloon")
    answers: dict[str, Answer] = {
        "gone": (410, html, b"<title>Gone</title>"),
        "forbidden": (403, html, b"<title>Forbidden</title>"),
        "picture.png": (200, {"Content-Type": "image/png"}, b"\x89PNG\r\n\x1a\n" + bytes(range(200))),
        "notes.txt": (200, {"Content-Type": "text/plain"}, b"Notes of a balloon pilot, written as plain text.\n" * 9),
        "data.json": (200, {"Content-Type": "application/json"}, b'{"balloon": 1}'),
        "empty": (200, html, b""),
        "loop": (302, {"Location": f"{ODD}loop"}, b""),
        "chain": (301, {"Location": f"{ODD}chain-2"}, b""),
        "chain-2": (301, {"Location": next(iter(site.pages))}, b""),
        "elsewhere": (302, {"Location": "ftp://town.test/"}, b""),
        "noindex": (
            200,
            html,
            b"<title>Hidden balloon</title><meta name=robots content='noindex,nofollow'><p>A <a href=n>balloon</a>",
        ),
        "latin": (
            200,
            {"Content-Type": "text/html; charset=iso-8859-1"},
            "<title>Höhe</title><p>Über den Wolken.".encode("latin-1"),
        ),
        "copy": (200, html, copied.html.encode()),
        "canonical": (200, html, f"<link rel=canonical href='{copied.url}'><title>Same</title><p>Balloons.".encode()),
    }
    names = [*answers, "../private/diary", "session?id=1", "javascript:void(0)"]
    index = "".join(f"<p>The balloon, number {n}: <a href='{name}'>balloon {n}</a>" for n, name in enumerate(names))
    index += f"<p>More of a <a href='{copied.url}'>balloon</a>"
    pages = {ODD + name: answer for name, answer in answers.items()}
    return {ODD: (200, html, f"<title>Odd balloons</title>{index}".encode()), **pages}


@dataclass
class Server:
    """A server of the site. `requests` has the URLs in the order in which they came, also those not found."""

    hosts_file: Path
    requests: list[str] = field(default_factory=list)
    #: Other bodies by URL: status, headers, body.
    others: dict[str, Answer] = field(default_factory=dict)
    #: Called with each URL before it is answered.
    before: Callable[[str], None] = lambda url: None


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_: object) -> None:
        """A crawl that was killed reads no answers."""


@contextmanager
def served(site: Site, folder: Path, address: str | None = None) -> Iterator[Server]:
    """Serve a site on a free address of 127.0.0.0/8, or wait for this one; the file of hosts leads all its names
    there."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Responses must not wait for an acknowledgement.
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            url = f"http://{self.headers['Host']}{self.path}"
            server.requests.append(url)
            server.before(url)
            status, headers, body = 404, {"Content-Type": "text/html"}, b"<title>Not found</title>"
            if url in server.others:
                status, headers, body = server.others[url]
            elif urlsplit(url).path == "/robots.txt":
                status, headers, body = 200, {"Content-Type": "text/plain"}, ROBOTS
            elif url in site.pages:
                page = site.pages[url].html.encode()
                status, headers, body = 200, {"Content-Type": "text/html; charset=utf-8"}, page
            elif url in site.redirects:
                status, headers, body = 301, {"Location": site.redirects[url]}, b""
            self.send_response_only(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    listener, address = _listening(Handler, address)
    hosts_file = folder / "hosts"
    hosts_file.write_text("".join(f"{address} {host}\n" for host in HOSTS))
    server = Server(hosts_file)
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()


def _listening(handler: type[BaseHTTPRequestHandler], address: str | None) -> tuple[_Listener, str]:
    """A listener on an address that no other test uses: several may run on one machine at a time."""
    draw = random.Random(f"{os.getpid()} {time.monotonic_ns()}")
    for _ in range(600):
        found = address or f"127.{draw.randrange(100, 250)}.{draw.randrange(1, 250)}.{draw.randrange(1, 250)}"
        try:
            return _Listener((found, PORT), handler), found
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"no free address with port {PORT} on loopback")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])
