"""How long each host rests after an answer, by its wishes and by how it copes.

Rules
- A host rests `delay_s`, or its Crawl-delay, or `delay_factor` times its smoothed response time, whichever is longest.
- After a failure it rests at least twice that, and twice as long again with each further failure. A success takes one
  doubling back, so that a host that is up again, or that limits rates, is not met at once with what it could not bear.
- A failure drops the smoothed response time: it was measured on a host that could cope.
- A host that failed too often in a row, or asks for too long a rest, is to be asked no more.

Hosts are numbers 0, 1, 2, ...; lists go by them.
"""

from scenthound.frontier.politeness_rules import HostAnswer, PolitenessRules

#: Even in a crawl without delays a host that fails is left alone for twice so long.
SHORTEST_BACK_OFF_S = 1.0
#: What the newest response time counts in the smoothed one.
NEWEST_SHARE = 0.25
#: 2 to this power is beyond any rest that is granted, whatever the settings.
MOST_DOUBLINGS = 64
#: Stands for a smoothed response time that is not known.
UNKNOWN_S = -1.0


class HostPace:
    """Told how each request ended, answers how long its host rests; None for good."""

    def __init__(self, rules: PolitenessRules) -> None:
        self._rules = rules
        self._delay_s: list[float] = []
        self._response_s: list[float] = []
        self._failures: list[int] = []
        self._doublings: list[int] = []

    def grow(self, n_hosts: int) -> None:
        """Know hosts up to this many."""
        more = n_hosts - len(self._delay_s)
        self._delay_s += [self._rules.delay_s] * more
        self._response_s += [UNKNOWN_S] * more
        self._failures += [0] * more
        self._doublings += [0] * more

    def set_crawl_delay(self, host: int, crawl_delay_s: float | None) -> float | None:
        """The rest from now on, of which a Crawl-delay can only make more; None if it is too long."""
        if crawl_delay_s is None or not crawl_delay_s > self._rules.delay_s:
            crawl_delay_s = self._rules.delay_s
        if crawl_delay_s > max(self._rules.longest_rest_s, self._rules.delay_s):
            return None
        self._delay_s[host] = crawl_delay_s
        return crawl_delay_s

    def rest_s(self, host: int, answer: HostAnswer) -> float | None:
        elapsed_s, failed, retry_after_s = answer
        rest_s = self._after_failure(host) if failed else self._after_success(host, elapsed_s)
        if rest_s is None or retry_after_s is None or not retry_after_s > rest_s:
            return rest_s
        return retry_after_s if retry_after_s <= self._rules.longest_rest_s else None

    def _after_success(self, host: int, elapsed_s: float) -> float:
        self._failures[host] = 0
        smoothed_s = self._response_s[host]
        if smoothed_s != UNKNOWN_S:
            elapsed_s = smoothed_s + NEWEST_SHARE * (elapsed_s - smoothed_s)
        self._response_s[host] = elapsed_s
        doublings = self._doublings[host]
        if doublings:
            self._doublings[host] = doublings = doublings - 1
        return self._backed_off_s(host, doublings) if doublings else self.usual_s(host)

    def _after_failure(self, host: int) -> float | None:
        # Before the estimate is dropped: a slow host that fails rests longer, not shorter, than it did.
        self._failures[host] += 1
        self._doublings[host] = doublings = min(self._doublings[host] + 1, MOST_DOUBLINGS)
        rest_s = self._backed_off_s(host, doublings)
        self._response_s[host] = UNKNOWN_S
        return rest_s if self._failures[host] < self._rules.failures_to_retire else None

    def usual_s(self, host: int) -> float:
        """The rest after an answer in which nothing failed."""
        adaptive_s = self._rules.delay_factor * self._response_s[host]
        delay_s = self._delay_s[host]
        return delay_s if adaptive_s <= delay_s else max(delay_s, min(adaptive_s, self._rules.longest_adaptive_s))

    def _backed_off_s(self, host: int, doublings: int) -> float:
        usual_s = max(self.usual_s(host), SHORTEST_BACK_OFF_S)
        return max(usual_s, min(usual_s * 2.0**doublings, self._rules.longest_rest_s))
