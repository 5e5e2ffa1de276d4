"""The fetch-list of wang2009: a strategy is asked for many pages at once, which all workers share.

Rules
- A list is asked for without regard to hosts, and only when every page of the last one is back.
- A worker takes the first page of the list whose host is ready, and a host has one page at a time.
"""

from scenthound.drivers.modes.base import Asking
from scenthound.frontier.priority import Ready, Turns


class FetchList:
    """Stands between the workers and a strategy, and is asked like one."""

    def __init__(self, asking: Asking, size: int, workers: int) -> None:
        self._asking = asking
        self._size = size
        self._workers = workers
        self._host_of: dict[int, int] = {}  #: of the pages that no worker took yet, in the order of the list

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        """The first n pages of the list that are on ready hosts, each on another."""
        all_are_back = n == self._workers
        if not self._host_of and all_are_back:
            self._host_of = {page: self.host(page) for page in self._asking.ask(self._size)}
        turns = Turns(ready or (lambda _host: True))
        taken: list[int] = []
        for page, host in self._host_of.items():
            if len(taken) < n and turns(host):
                turns.give(host)
                taken.append(page)
        for page in taken:
            del self._host_of[page]
        return taken

    def n_waiting(self) -> int:
        return len(self._host_of)

    def host(self, page: int) -> int:
        return self._asking.host(page)
