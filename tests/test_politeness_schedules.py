"""The invariants of politeness over random schedules, told by a witness who keeps plain notes."""

from math import inf, nextafter

from hypothesis import given
from hypothesis import strategies as st

from scenthound.frontier.politeness import Politeness
from scenthound.frontier.politeness_rules import HostAnswer, PolitenessRules

#: Binary fractions, so that sums of times are exact and rests can be compared without slack.
eighths = st.integers(0, 80).map(lambda n: n / 8)
step = st.one_of(
    st.tuples(st.just("wait"), eighths),
    st.tuples(st.just("wait for the next")),
    st.tuples(st.just("start"), st.integers(0, 5)),
    st.tuples(st.just("start"), st.integers(0, 5)),
    st.tuples(
        st.just("finish"),
        st.integers(0, 5),
        st.builds(HostAnswer, st.just(0.0) | eighths, st.booleans(), st.none() | st.just(70.0)),
    ),
    st.tuples(st.just("crawl delay"), st.integers(0, 5), st.none() | eighths | st.just(100.0)),
    st.tuples(st.just("address"), st.integers(0, 5), st.sampled_from("abc")),
    st.tuples(st.just("fail"), st.integers(0, 5)),
)
rules = st.builds(
    PolitenessRules,
    delay_s=st.sampled_from([0.0, 1.0, 4.0]),
    longest_rest_s=st.just(64.0),
    address_delay_s=st.sampled_from([None, 0.0, 2.0]),
    address_connections=st.integers(1, 3),
    failures_to_retire=st.integers(1, 4),
)


class Witness:
    """Drives a schedule, notes what it saw in the plainest way, and holds politeness to its invariants."""

    def __init__(self, rules):
        self.rules, self.politeness = rules, Politeness(rules)
        self.now_s = 1000.0
        self.calls = []
        self.in_flight, self.ended_s, self.crawl_delay_s, self.address = {}, {}, {}, {}
        self.address_asked_s = {}

    def call(self, name, *arguments):
        self.calls.append((name, arguments))
        getattr(self.politeness, name)(*arguments)

    def take(self, kind, *told):
        if kind == "wait":
            self.now_s += told[0]
        elif kind == "wait for the next":
            self.now_s = self.politeness.next_ready_s(self.now_s) or self.now_s
        elif kind == "start" and self.politeness.ready(told[0], self.now_s):
            self.start(told[0])
        elif kind == "finish" and told[0] in self.in_flight:
            self.call("finished", told[0], self.now_s, told[1])
            del self.in_flight[told[0]]
            self.ended_s[told[0]] = self.now_s
        elif kind == "crawl delay":
            self.call("set_crawl_delay", *told)
            self.crawl_delay_s[told[0]] = told[1] or 0.0
        elif kind == "address" and told[0] not in self.in_flight:
            self.call("set_address", *told)
            self.address[told[0]] = told[1]
        elif kind == "fail":
            self.call("failed", told[0], self.now_s)

    def start(self, host):
        assert host not in self.in_flight
        assert not self.politeness.is_retired(host)
        rest_s = max(self.rules.delay_s, self.crawl_delay_s.get(host, 0.0))
        assert self.now_s - self.ended_s.get(host, -inf) >= rest_s
        address = self.address.get(host)
        if address is not None:
            assert list(self.in_flight.values()).count(address) < self.rules.address_connections
            quiet_s = self.now_s - self.address_asked_s.get(address, -inf)
            assert quiet_s >= self.rules.between_requests_to_address_s
            self.address_asked_s[address] = self.now_s
        self.in_flight[host] = address
        self.call("started", host, self.now_s)

    def check_next(self):
        """Nobody is ready before the time told; and with a host alone at its address somebody is, then."""
        now_s, next_s = self.now_s, self.politeness.next_ready_s(self.now_s)
        at_rest = [host for host in range(6) if not self.politeness.ready(host, now_s)]
        before_s = 1e12 if next_s is None else nextafter(next_s, -inf)
        assert next_s is None or next_s > now_s
        assert not any(self.politeness.ready(host, before_s) for host in at_rest)
        if next_s is not None and len(set(self.address.values())) == len(self.address):
            assert any(self.politeness.ready(host, next_s) for host in at_rest)


@given(rules, st.lists(step, max_size=60))
def test_no_schedule_breaks_the_invariants(rules, steps):
    witness = Witness(rules)
    for one in steps:
        witness.take(*one)
        witness.check_next()
        counts = witness.politeness.counts(witness.now_s)
        assert counts.active == sum(not witness.politeness.is_retired(host) for host in witness.in_flight)
        assert min(counts) >= 0


@given(rules, st.lists(step, max_size=60))
def test_the_same_calls_make_the_same_state_whatever_was_asked_between(rules, steps):
    witness = Witness(rules)
    for one in steps:
        witness.take(*one)
        witness.politeness.counts(witness.now_s)
        witness.politeness.next_ready_s(witness.now_s)
    again = Politeness(rules)
    for name, arguments in witness.calls:
        getattr(again, name)(*arguments)
    for later_s in (0.0, 0.5, 2.0, 8.0, 32.0, 1e6):
        now_s = witness.now_s + later_s
        assert [again.ready(host, now_s) for host in range(6)] == [
            witness.politeness.ready(host, now_s) for host in range(6)
        ]
        assert again.counts(now_s) == witness.politeness.counts(now_s)
        assert again.next_ready_s(now_s) == witness.politeness.next_ready_s(now_s)
