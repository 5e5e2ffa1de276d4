"""A frontier that is sorted at each pop, host by host and page by page."""

from random import Random

import numpy as np

from scenthound.frontier.base import COMBINE, NO_HOST, PoppedPage, PriorityFrontier, ReadyHosts, regret

MASK = (1 << 64) - 1


def splitmix(page: int, salt: int) -> int:
    mixed = (salt + page * 0x9E3779B97F4A7C15) & MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
    return mixed ^ (mixed >> 31)


class SlowFrontier(PriorityFrontier):
    """`pop_one_per_host` is that of the contract."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self.salt: int | None = None
        self.queued: dict[int, float] = {}
        self.host_of: dict[int, int] = {}
        self.popped: set[int] = set()

    def __len__(self):
        return len(self.queued)

    def knows(self, page):
        return page in self.queued or page in self.popped

    def _push(self, pages, hosts, scores, rule):
        if self.salt is None:
            self.salt = self._rng.getrandbits(64)
        for page, host, score in zip(pages.tolist(), hosts.tolist(), scores.tolist(), strict=True):
            if page not in self.popped:
                self.host_of.setdefault(page, host)
                self.queued[page] = COMBINE[rule](self.queued[page], score) if page in self.queued else score

    def scores(self, pages):
        return np.array([self.queued.get(page, np.nan) for page in pages.tolist()])

    def queued_pages(self):
        return np.array(list(self.queued), np.int32)

    def pop(self, n, ready=None):
        ready_hosts = ReadyHosts.of(ready) or ReadyHosts(lambda _host: True)
        popped, best, waiting_host = [], None, NO_HOST
        for page in sorted(self.queued, key=lambda page: (-self.queued[page], splitmix(page, self.salt))):
            score, host = self.queued[page], self.host_of[page]
            if len(popped) == n or ready_hosts.refuses():
                break
            if host in ready_hosts.held or ready_hosts.is_waiting(host):
                if best is None:
                    best, waiting_host = score, host
                if ready_hosts.is_patient and host not in ready_hosts.held:
                    ready_hosts.pass_over(host)
            elif host not in ready_hosts.used:
                lost = 0.0 if best is None else regret(best, score)
                popped.append(PoppedPage(page, host, score, lost, waiting_host if lost else NO_HOST))
                del self.queued[page]
                self.popped.add(page)
        return popped

    def state(self):
        return {
            "salt": self.salt,
            "queued": dict(self.queued),
            "host_of": dict(self.host_of),
            "popped": sorted(self.popped),
        }

    def restore(self, state):
        self.salt, self.popped = state["salt"], set(state["popped"])
        self.queued, self.host_of = dict(state["queued"]), dict(state["host_of"])
