"""The settings of politeness hold in random schedules, checked by a simple model."""

from math import inf, nextafter

from hypothesis import example, given
from hypothesis import strategies as st

from scenthound.frontier.politeness import Politeness, PolitenessSettings, RequestOutcome

#: Binary fractions, so that sums of times are exact and delays compare without tolerance.
eighths = st.integers(0, 80).map(lambda n: n / 8)
step = st.one_of(
    st.tuples(st.just("wait"), eighths),
    st.tuples(st.just("wait for the next")),
    st.tuples(st.just("start"), st.integers(0, 5)),
    st.tuples(st.just("start"), st.integers(0, 5)),
    st.tuples(
        st.just("finish"),
        st.integers(0, 5),
        st.builds(RequestOutcome, st.just(0.0) | eighths, st.booleans(), st.none() | st.just(70.0)),
    ),
    st.tuples(st.just("crawl delay"), st.integers(0, 5), st.none() | eighths | st.just(100.0)),
    st.tuples(st.just("address"), st.integers(0, 5), st.sampled_from("abc")),
    st.tuples(st.just("fail"), st.integers(0, 5)),
)
settings = st.builds(
    PolitenessSettings,
    delay_s=st.sampled_from([0.0, 1.0, 4.0]),
    max_delay_s=st.just(64.0),
    address_delay_s=st.sampled_from([None, 0.0, 2.0]),
    address_connections=st.integers(1, 3),
    max_failures=st.integers(1, 4),
)


class Model:
    """Runs a schedule, records it in dictionaries, and asserts the settings."""

    def __init__(self, settings):
        self.settings, self.politeness = settings, Politeness(settings)
        self.now_s = 1000.0
        self.calls = []
        self.in_flight, self.ended_s, self.crawl_delay_s, self.address = {}, {}, {}, {}
        self.address_started_s = {}

    def call(self, name, *arguments):
        self.calls.append((name, arguments))
        getattr(self.politeness, name)(*arguments)

    def apply(self, kind, *values):
        if kind == "wait":
            self.now_s += values[0]
        elif kind == "wait for the next":
            self.now_s = self.politeness.next_ready_s(self.now_s) or self.now_s
        elif kind == "start" and self.politeness.ready(values[0], self.now_s):
            self.start(values[0])
        elif kind == "finish" and values[0] in self.in_flight:
            self.call("finished", values[0], self.now_s, values[1])
            del self.in_flight[values[0]]
            self.ended_s[values[0]] = self.now_s
        elif kind == "crawl delay":
            self.call("set_crawl_delay", *values)
            self.crawl_delay_s[values[0]] = values[1] or 0.0
        elif kind == "address" and values[0] not in self.in_flight:
            self.call("set_address", *values)
            self.address[values[0]] = values[1]
        elif kind == "fail":
            self.call("failed", values[0], self.now_s)

    def start(self, host):
        assert host not in self.in_flight
        assert not self.politeness.is_disabled(host)
        delay_s = max(self.settings.delay_s, self.crawl_delay_s.get(host, 0.0))
        assert self.now_s - self.ended_s.get(host, -inf) >= delay_s
        address = self.address.get(host)
        if address is not None:
            assert list(self.in_flight.values()).count(address) < self.settings.address_connections
            quiet_s = self.now_s - self.address_started_s.get(address, -inf)
            assert quiet_s >= self.settings.effective_address_delay_s
            self.address_started_s[address] = self.now_s
        self.in_flight[host] = address
        self.call("started", host, self.now_s)

    def check_next(self):
        """No host is ready before the time returned; if no hosts share an address, one is ready then."""
        now_s, next_s = self.now_s, self.politeness.next_ready_s(self.now_s)
        waiting = [host for host in range(6) if not self.politeness.ready(host, now_s)]
        before_s = 1e12 if next_s is None else nextafter(next_s, -inf)
        assert next_s is None or next_s > now_s
        assert not any(self.politeness.ready(host, before_s) for host in waiting)
        if next_s is not None and len(set(self.address.values())) == len(self.address):
            assert any(self.politeness.ready(host, next_s) for host in waiting)


@given(settings, st.lists(step, max_size=60))
@example(
    PolitenessSettings(delay_s=1.0, address_delay_s=None),
    [("address", 4, "a"), ("start", 4), ("finish", 4, RequestOutcome(0.0, False, None)), ("address", 4, "a")],
)
def test_no_schedule_breaks_the_rules(settings, steps):
    model = Model(settings)
    for each in steps:
        model.apply(*each)
        model.check_next()
        counts = model.politeness.counts(model.now_s)
        assert counts.active == sum(not model.politeness.is_disabled(host) for host in model.in_flight)
        assert min(counts) >= 0


@given(settings, st.lists(step, max_size=60))
def test_the_same_calls_lead_to_the_same_state_whatever_is_queried_between(settings, steps):
    model = Model(settings)
    for each in steps:
        model.apply(*each)
        model.politeness.counts(model.now_s)
        model.politeness.next_ready_s(model.now_s)
    again = Politeness(settings)
    for name, arguments in model.calls:
        getattr(again, name)(*arguments)
    for later_s in (0.0, 0.5, 2.0, 8.0, 32.0, 1e6):
        now_s = model.now_s + later_s
        assert [again.ready(host, now_s) for host in range(6)] == [
            model.politeness.ready(host, now_s) for host in range(6)
        ]
        assert again.counts(now_s) == model.politeness.counts(now_s)
        assert again.next_ready_s(now_s) == model.politeness.next_ready_s(now_s)
