"""A topical web of some hosts, and traps beside it that no URL gives away."""

import zlib
from collections.abc import Callable
from random import Random
from urllib.parse import urlsplit

from virtual_site import VirtualSite

N_GOOD_HOSTS = 2
PAGES_PER_HOST = 1_500
LINKS = 8
SEED = "http://good0.test/0"
SEA = ["sea", "wave", "harbour", "ship", "anchor", "sail", "wind", "storm", "island", "coast", "tide", "reef"]
OTHER = ["invoice", "office", "printer", "keyboard", "carpet", "ceiling", "lamp", "window", "ladder", "hammer"]

#: The URLs of a trap's page that it links to, from its own URL and a generator of its own.
Trap = Callable[[str, Random], list[str]]


def random_paths(url: str, rng: Random) -> list[str]:
    parts = urlsplit(url)
    return [f"{parts.scheme}://{parts.netloc}/{_word(rng)}-{_word(rng)}" for _ in range(LINKS)]


def counter(url: str, rng: Random) -> list[str]:
    """The next pages, without a sign of a trap such as a query."""
    base, _, last = url.rpartition("/")
    number = int(last) if last.isdigit() else 0
    return [f"{base}/{number + step}" for step in range(1, LINKS + 1)]


def wildcard_hosts(url: str, rng: Random) -> list[str]:
    return [f"http://{_word(rng)}{rng.randrange(10_000)}.trap.test/" for _ in range(LINKS)]


TRAPS: dict[str, Trap] = {"random paths": random_paths, "counter": counter, "wildcard hosts": wildcard_hosts}


def _word(rng: Random) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=6))


def text_of(words: list[str], rng: Random) -> str:
    """A text with some words that no other page has, so that it is nearly like no other."""
    return " ".join([*rng.choices(words, k=60), *(_word(rng) for _ in range(20))])


def is_trap(url: str) -> bool:
    return urlsplit(url).netloc.endswith("trap.test")


def is_on_topic(url: str) -> bool:
    """Two thirds of the pages of good hosts are on topic."""
    return not is_trap(url) and zlib.crc32(url.encode()) % 3 > 0


class TrapPages(dict[str, str]):
    """Good hosts link among each other, and every second page also into the trap, which links into itself."""

    def __init__(self, trap: Trap) -> None:
        super().__init__()
        self._trap = trap

    def __contains__(self, url: object) -> bool:
        path = urlsplit(str(url)).path
        return path != "/robots.txt" and (is_trap(str(url)) or path[1:].isdigit())

    def __missing__(self, url: str) -> str:
        rng = Random(url)
        links = self._trap(url, rng) if is_trap(url) else self._good_links(rng)
        text = text_of(SEA if is_on_topic(url) else OTHER, rng)
        anchors = "".join(f"<p>{rng.choice(OTHER)} <a href='{link}'>{rng.choice(OTHER)}</a>" for link in links)
        return f"<title>{text[:20]}</title><p>{text}{anchors}"

    def _good_links(self, rng: Random) -> list[str]:
        hosts = rng.choices(range(N_GOOD_HOSTS), k=LINKS)
        good = [f"http://good{host}.test/{rng.randrange(PAGES_PER_HOST)}" for host in hosts]
        return [*good, "http://trap.test/"] if rng.random() < 0.5 else good


def trap_site(trap: Trap) -> VirtualSite:
    return VirtualSite(TrapPages(trap), own_addresses=True)
