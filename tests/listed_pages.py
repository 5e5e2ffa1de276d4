"""Tests of modes: a strategy with a fixed list of pages, and crawls in a mode."""

from random import Random

from hypothesis import strategies as st

from scenthound.simulator.modes import parse_mode
from scenthound.simulator.simulator import simulate
from scenthound.strategies.base import STRATEGIES


class Listed:
    """Requests pages in a fixed order. Some are known at first; a returned page makes others known."""

    def __init__(self, hosts, first=None, links=None):
        self.hosts = hosts
        self.links = links or {}
        self.waiting = list(range(len(hosts)) if first is None else first)
        self.requests = []
        self.n_out = 0

    def ask(self, n, ready=None):
        chosen, used_hosts = [], set()
        for page in self.waiting:
            host = self.hosts[page]
            if len(chosen) < n and (ready is None or (ready(host) and host not in used_hosts)):
                chosen.append(page)
                used_hosts.add(host)
        self.requests.append((n, self.n_out, chosen))
        self.waiting = [page for page in self.waiting if page not in chosen]
        self.n_out += len(chosen)
        return chosen

    def n_queued(self):
        return len(self.waiting)

    def host(self, page):
        return self.hosts[page]

    def back(self, page):
        self.n_out -= 1
        self.waiting += self.links.get(page, [])


class Salt:
    """A random generator that always returns one number."""

    def __init__(self, salt):
        self._salt = salt

    def getrandbits(self, bits):
        assert bits == 64
        return self._salt


def returned(mode, listed, salt=0):
    done = []
    for each in mode.returns(listed, Salt(salt)):
        listed.back(each.page)
        done.append(each)
    return done


def crawl(web, strategy, mode, pages=1000, seed=0):
    chosen = STRATEGIES.make(strategy) if isinstance(strategy, str) else strategy
    return simulate(
        *(web.recorded, chosen, [0], web.scores()),
        rng=Random(seed),
        page_budget=pages,
        topic=web.topic,
        mode=parse_mode(mode),
    )


def names(web, done):
    return [web.names[page] for page in done.pages]


@st.composite
def trees(draw):
    """Hosts of pages, and links from each page: each page but the first has one parent before it."""
    n_pages = draw(st.integers(1, 30))
    hosts = draw(st.lists(st.integers(0, 4), min_size=n_pages, max_size=n_pages))
    links = {}
    for page in range(1, n_pages):
        links.setdefault(draw(st.integers(max(0, page - 4), page - 1)), []).append(page)
    return hosts, links
