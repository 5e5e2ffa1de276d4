"""The top hosts of crawls, counted a piece at a time: of a large crawl, what is counted by then is told at once."""

import threading
from collections import OrderedDict
from time import monotonic

from scenthound.dashboard.answers import TopHost, TopHosts
from scenthound.dashboard.crawl_key import CrawlKey
from scenthound.lab.overview.top_hosts import HostTally
from scenthound.store.page_lists import PageLists

N_TOP = 50
#: How long one answer may count.
COUNTED_FOR_S = 0.5
#: Visits between two looks at the clock.
_PIECE_VISITS = 20_000
#: Crawls whose tallies are kept.
_MOST_KEPT = 16


class HostTallies:
    """Tallies by crawl; those that were not asked for longest go first. Any thread may ask."""

    def __init__(self) -> None:
        self._kept: OrderedDict[CrawlKey, _Tally] = OrderedDict()
        self._lock = threading.Lock()

    def top_of(self, crawl: PageLists) -> TopHosts:
        """Counts on for a while, and tells what is known by then."""
        return self._of(CrawlKey.of(crawl)).top_of(crawl)

    def _of(self, key: CrawlKey) -> "_Tally":
        with self._lock:
            tally = self._kept.setdefault(key, _Tally())
            self._kept.move_to_end(key)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
            return tally


class _Tally:
    def __init__(self) -> None:
        self._tally = HostTally()
        self._lock = threading.Lock()

    def top_of(self, crawl: PageLists) -> TopHosts:
        with self._lock:
            until_s = monotonic() + COUNTED_FOR_S
            while not self._tally.read_on(crawl, _PIECE_VISITS) and monotonic() < until_s:
                continue
            hosts = (TopHost(each.host, each.pages, each.mean_relevance) for each in self._tally.top(N_TOP))
            return TopHosts(tuple(hosts), self._tally.n_hosts, self._tally.share_read)
