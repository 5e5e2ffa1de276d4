"""Portfolio: several strategies crawl together, and those whose requests are more relevant make more of them (our
design).

It is an insurance against a strategy that fails on the web at hand. All strategies, the *members*, learn from every
visit; each request is made by one of them. To choose it is a bandit problem with rewards that change during the crawl:
members are arms, and the reward of a request is the relevance of the page.

Which member makes the next request
- Usually by Thompson sampling with discounting (Raj and Kalyani 2017, "Taming non-stationary bandits: a Bayesian
  approach", arXiv:1707.09727): a number is drawn for each member, and the highest wins. It is drawn from a Beta
  distribution, whose parameters are the sums of relevance and of 1 - relevance over the pages that the member
  requested. Each page visited since, by whichever member, multiplies the sums by `memory`.
- Each member is given `PRIOR_PAGES` pages of average relevance in addition, so that one with few recent pages counts as
  an average one. The average starts at 1/2, which is optimistic.
- But if the share of a member of the recent requests, with the same discounting, is below `least`, the request is its.
  So no member is given up, and each makes one of the first requests.
- A page that cannot be fetched gives no reward and no penalty. A page that several members would have requested next
  counts for the one that did.

How the queues of the members are kept consistent
- When a member requests a page, the others act as if they had requested it, too. As a frontier cannot remove a page, it
  gets the lowest score there, and gets it again whenever a visit has raised it. So it is not returned while there are
  others, and counts neither as a regret nor for patience. If a member returns it nevertheless, it is skipped.
- Members are asked only if there is a queued page on a usable host, and the random number of a request is kept until
  there is a page for it. So a call of `ask` that returns nothing does not change the order of later pages.
- Hosts with better pages, which patience counts, are those that any member asked in the same call has passed over.

In shards each member departs with its own values, which are columns of one row. What one member has found and another
has not is missing there.

Strategies that discard links cannot be members: they would have no page left while others have many, and InfoSpiders
can only learn from pages that they have requested themselves. They are those with an `empty_advice`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Annotated, Any

import numpy as np

from scenthound.errors import InvalidParameter, UnknownName, printable
from scenthound.frontier.base import Ready, ReadyHosts, UpdateRule
from scenthound.frontier.departures import Departures, Home
from scenthound.model import FloatArray, IntArray, Seed, Visit
from scenthound.registry import Bounds
from scenthound.saved_state import Saved, restore_attributes, saved_attributes
from scenthound.strategies.base import (
    STRATEGIES,
    MemoryBound,
    SeenWeb,
    Sharding,
    State,
    Strategy,
    restored_rng,
)
from scenthound.strategies.frontier_strategy import FrontierStrategy, seed_arrays
from scenthound.strategies.per_url import PerUrl

#: Separates the names of members.
SEPARATOR = "+"
#: The weight of the average relevance in that of a member.
PRIOR_PAGES = 2.0
#: The bits of a random number that seeds a generator.
SEED_BITS = 64

#: The state of a URL: not found yet, in the queue, or requested, visited or dropped.
UNKNOWN, QUEUED, GONE = range(3)
#: The state of a URL, the count of its host if it has one of its own, and its member if it is in flight.
BYTES_PER_URL = 280

Memory = Annotated[float, Bounds(0, 1, above=True)]
Least = Annotated[float, Bounds(0, 0.5)]


class MemberChoice(Saved):
    """Which member makes the next request: Thompson sampling on discounted Beta counts, with a least share. Members are
    numbers."""

    _SAVED = ("n_requests", "_recent_requests", "_relevance", "_recent_pages")

    def __init__(self, n_members: int, memory: float, least: float) -> None:
        self._memory = memory
        self._least = least
        self.n_requests = [0] * n_members
        #: Discounted: by later requests, and by later visits.
        self._recent_requests = [0.0] * n_members
        self._relevance = [0.0] * n_members
        self._recent_pages = [0.0] * n_members

    def order(self, rng: Random) -> list[int]:
        """All members, the one that makes the next request first; the others in case that it has no page."""
        behind = self._behind()
        drawn = [rng.betavariate(*each) for each in self.beta_parameters()]
        return sorted(range(len(drawn)), key=lambda member: (member != behind, -drawn[member]))

    def _behind(self) -> int | None:
        """The member with the smallest share of the recent requests, if that is too small."""
        smallest = min(self._recent_requests)
        is_too_small = smallest < self._least * sum(self._recent_requests)
        return self._recent_requests.index(smallest) if is_too_small else None

    def beta_parameters(self) -> list[tuple[float, float]]:
        """Of each member: the sums of relevance and of 1 - relevance of its pages, those of the prior included."""
        average = (1 + sum(self._relevance)) / (2 + sum(self._recent_pages))
        return [
            (relevance + PRIOR_PAGES * average, n_pages - relevance + PRIOR_PAGES * (1 - average))
            for relevance, n_pages in zip(self._relevance, self._recent_pages, strict=True)
        ]

    def requested(self, member: int) -> None:
        """Note that a member made a request."""
        self.n_requests[member] += 1
        self._recent_requests = self._discounted(self._recent_requests)
        self._recent_requests[member] += 1

    def visited(self, member: int, relevance: float) -> None:
        """Note the relevance of a page that a member has requested."""
        self._relevance, self._recent_pages = self._discounted(self._relevance), self._discounted(self._recent_pages)
        self._relevance[member] += relevance
        self._recent_pages[member] += 1

    def _discounted(self, sums: list[float]) -> list[float]:
        return [self._memory * each for each in sums]


class Portfolio(Strategy):
    """`members` are the names of two or more strategies, joined by +, which have their default parameters. `memory` is
    the factor by which earlier requests and their relevance are discounted: about 1 / (1 - memory) pages count. `least`
    is the least share of the recent requests of each member."""

    summary = "several strategies in one crawl; those whose requests are more relevant make more of them"

    _SAVED = ("_status", "_choice", "_n_queued", "_n_queued_on", "_in_flight", "_next_seed")

    _rng: Random
    _seen: SeenWeb

    def __init__(self, members: str = "scent+link_context", memory: Memory = 0.98, least: Least = 0.1) -> None:
        self.members = _members(members)
        if least * len(self.members) > 1:
            raise InvalidParameter(
                f"portfolio: least={least} for each of {len(self.members)} members is more than all requests; it must "
                f"be at most {1 / len(self.members):.3g}."
            )
        self._memory = memory
        self._least = least
        self.relevance_model = _shared(
            {name: each.relevance_model for name, each in self.members.items()},
            Strategy.relevance_model,
            "use different relevance models",
            "the same model",
        )
        # That of the first member that reads some.
        self.reads_topic = next((each.reads_topic for each in self.members.values() if each.reads_topic), None)
        self.context_words = _shared(
            {name: each.context_words for name, each in self.members.items()},
            None,
            "need different numbers of words around a link",
            "the same number",
        )
        self.needs_anchors = any(member.needs_anchors for member in self.members.values())
        self._home: Home | None = None
        self._forget()

    def _forget(self) -> None:
        self._choice = MemberChoice(len(self.members), self._memory, self._least)
        self._status = PerUrl(UNKNOWN, np.int8)
        self._n_queued = 0
        self._n_queued_on: Counter[int] = Counter()  #: by host, without zeros
        self._in_flight: dict[int, int] = {}  #: the member that requested each page
        self._next_seed: int | None = None  #: the random number of the next request, if it was drawn
        self._regrets: list[float] = []
        self._scores: list[float] = []
        #: The columns of each member in the values of departures.
        self._columns: list[slice] = []

    @property
    def sharding(self) -> Sharding:
        for name, member in self.members.items():
            if member.sharding.kind == "refused" or not isinstance(member, FrontierStrategy):
                return Sharding("refused", f"{name}: {member.sharding.reason}")
        rules = self._update_rules()
        if len(rules) > 1 and UpdateRule.SUM in rules:
            return Sharding(
                "refused", "the amounts of some members are added up while they depart, those of others not"
            )
        reasons = [f"{name}: {member.sharding.reason}" for name, member in self.members.items()]
        return Sharding("approximate", "; ".join(["each shard chooses among its members", *reasons]))

    def _update_rules(self) -> set[UpdateRule]:
        return {member.update_rule for member in self.members.values() if isinstance(member, FrontierStrategy)}

    def split(self, home: Home) -> None:
        if self.sharding.kind == "refused":
            super().split(home)
        self._home = home
        for member in self.members.values():
            member.split(home)

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        self._forget()
        self._seen, self._rng = seen, Random(rng.getrandbits(SEED_BITS))
        for member in self.members.values():
            member.start(seeds, Random(rng.getrandbits(SEED_BITS)), seen)
        self._assign_columns()
        self._find(*seed_arrays(seeds))

    def _assign_columns(self) -> None:
        """At the start of a crawl, when nothing departs."""
        widths = [member.take_departures().values.shape[1] for member in self.members.values()]
        ends = np.cumsum(widths).tolist()
        self._columns = [slice(end - width, end) for width, end in zip(widths, ends, strict=True)]

    def _find(self, pages: IntArray, hosts: IntArray) -> None:
        """Queue the pages that are new."""
        if self._home is not None:
            is_home = self._home(pages, hosts)
            pages, hosts = pages[is_home], hosts[is_home]
        is_new = self._status[pages] == UNKNOWN
        new, first = np.unique(pages[is_new], return_index=True)
        self._status[new] = QUEUED
        self._n_queued += len(new)
        self._n_queued_on.update(hosts[is_new][first].tolist())

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        ready_hosts = ReadyHosts.of(ready)
        pages: list[int] = []
        self._regrets, self._scores = [], []
        while len(pages) < n and self._has_page(ready_hosts) and (page := self._request(ready_hosts)) is not None:
            pages.append(page)
        # Members need not have scores.
        self._regrets = self._regrets if len(self._regrets) == len(pages) else []
        self._scores = self._scores if len(self._scores) == len(pages) else []
        return pages

    def _has_page(self, ready_hosts: ReadyHosts | None) -> bool:
        """Whether there is a page that may be requested now."""
        if ready_hosts is None or not self._n_queued:
            return self._n_queued > 0
        return not ready_hosts.refuses() and any(True for _ in ready_hosts.usable_positions(self._n_queued_on))

    def _request(self, ready_hosts: ReadyHosts | None) -> int | None:
        """The next page of the member whose turn it is, or of another one if it has none."""
        members = list(self.members.values())
        for number in self._choice.order(self._drawn()):
            page = self._next_of(members[number], ready_hosts)
            if page is not None:
                self._note_request(number, page)
                return page
            if ready_hosts is not None and ready_hosts.refuses():
                break  # The member would rather wait for a better page.
        return None

    def _note_request(self, number: int, page: int) -> None:
        self._next_seed = None
        self._choice.requested(number)
        self._in_flight[page] = number
        members = list(self.members.values())
        member = members.pop(number)
        self._leave_queue(page, members)
        self._regrets += member.regrets()
        self._scores += member.scores()

    def _drawn(self) -> Random:
        """The generator of the next request: the same until there is a page."""
        if self._next_seed is None:
            self._next_seed = self._rng.getrandbits(SEED_BITS)
        return Random(self._next_seed)

    def _next_of(self, member: Strategy, ready_hosts: ReadyHosts | None) -> int | None:
        """The next page of a member that is still queued."""
        while asked := member.ask(1, ready_hosts):
            [page] = asked
            host = self._seen.host(page)
            if self._status[page] == QUEUED:
                if ready_hosts is not None:
                    ready_hosts.use(host)  # Members with frontiers have done so, others need not.
                return page
            if ready_hosts is not None:
                ready_hosts.used.discard(host)
            if page not in self._in_flight:
                # The member was told what is there, but before it asked: so there is no answer to wait for.
                member.drop(page)
        return None

    def _leave_queue(self, page: int, others: Iterable[Strategy]) -> None:
        self._status[page] = GONE
        self._n_queued -= 1
        host = self._seen.host(page)
        self._n_queued_on[host] -= 1
        if not self._n_queued_on[host]:
            del self._n_queued_on[host]
        for member in others:
            _put_last(member, np.array([page], np.int32))

    def regrets(self) -> list[float]:
        return self._regrets

    def scores(self) -> list[float]:
        """The scores of each page, by the member that requested it: members have no common scale."""
        return self._scores

    @property
    def n_evicted(self) -> int:
        return sum(member.n_evicted for member in self.members.values())

    def diagnostics(self) -> dict[str, float]:
        """The share of each member of all requests."""
        n_requests = self._choice.n_requests
        total = sum(n_requests)
        shares = {f"requests by {name}": n / max(total, 1) for name, n in zip(self.members, n_requests, strict=True)}
        return shares if total else {}

    def tell(self, visit: Visit) -> None:
        number = self._settle(visit.page)
        if number is not None:
            self._choice.visited(number, visit.relevance)
        pages = visit.links.pages
        self._find(pages, visit.links.hosts)
        for member in self.members.values():
            member.tell(visit)
        self._put_gone_last(pages)

    def _put_gone_last(self, pages: IntArray) -> None:
        """A visit or an arrival may have raised the scores of pages that it links to, or that are linked next to it."""
        in_flight = np.fromiter(self._in_flight, np.int32, len(self._in_flight))
        gone = np.concatenate((pages[self._status[pages] == GONE], in_flight))
        if len(gone):
            for member in self.members.values():
                _put_last(member, gone)

    def drop(self, page: int) -> None:
        self._settle(page)
        for member in self.members.values():
            member.drop(page)

    def hand_on(self, page: int, target: int, host: int) -> None:
        self._settle(page)
        for member in self.members.values():
            member.hand_on(page, target, host)

    def take_departures(self) -> Departures:
        taken = [member.take_departures() for member in self.members.values()]
        whole = np.concatenate([each.pages for each in taken])
        _, first, row_of = np.unique(whole, return_index=True, return_inverse=True)
        values = np.full((len(first), self._columns[-1].stop), np.nan)
        begin = 0
        for each, columns in zip(taken, self._columns, strict=True):
            values[row_of[begin : begin + len(each)], columns] = each.values
            begin += len(each)
        order = np.argsort(first)
        hosts = np.concatenate([each.hosts for each in taken])
        rules = self._update_rules()
        rule = rules.pop() if len(rules) == 1 else UpdateRule.LATEST
        return Departures(whole[first[order]], hosts[first[order]], values[order], rule)

    def receive(self, pages: IntArray, hosts: IntArray, values: FloatArray) -> None:
        self._find(pages, hosts)
        for member, columns in zip(self.members.values(), self._columns, strict=True):
            of_member = values[:, columns]
            is_there = ~np.isnan(of_member[:, 0])
            member.receive(pages[is_there], hosts[is_there], of_member[is_there])
        self._put_gone_last(pages)

    def _settle(self, page: int) -> int | None:
        """Note that a page was visited or dropped; returns the member that requested it, if one did."""
        if self._status[page] == QUEUED:
            self._leave_queue(page, self.members.values())
        self._status[page] = GONE
        return self._in_flight.pop(page, None)

    def __len__(self) -> int:
        """The number of distinct queued pages: 0 if the members discarded those that are left."""
        return self._n_queued if any(map(len, self.members.values())) else 0

    def state(self) -> State:
        return {
            "members": {name: member.state() for name, member in self.members.items()},
            "rng": self._rng.getstate(),
            **saved_attributes(self, self._SAVED),
        }

    def restore(self, state: State, seen: SeenWeb) -> None:
        self._forget()
        self._seen, self._rng = seen, restored_rng(state)
        for name, member in self.members.items():
            member.restore(state["members"][name], seen)
        self._assign_columns()
        restore_attributes(self, self._SAVED, dict(state))

    def memory_bound(self) -> MemoryBound:
        bounds = [member.memory_bound() for member in self.members.values()]
        queued = [bound.queued for bound in bounds if bound.queued is not None]
        # A page that was requested may still be in the queues of all members but one.
        in_queues, in_one = sum(bound.bytes_per_queued for bound in bounds), min(b.bytes_per_queued for b in bounds)
        return MemoryBound(
            sum(queued) if len(queued) == len(bounds) else None,
            bytes_per_queued=in_one,
            bytes_per_url=sum(bound.bytes_per_url for bound in bounds) + in_queues - in_one + BYTES_PER_URL,
            bytes_per_link=sum(bound.bytes_per_link for bound in bounds),
        )


def _put_last(member: Strategy, pages: IntArray) -> None:
    """Let a member with a frontier visit pages last that another member has requested."""
    if isinstance(member, FrontierStrategy):
        member.put_last(pages)


def _members(text: str) -> dict[str, Strategy]:
    """The members by name."""
    names = [name.strip() for name in text.split(SEPARATOR)]
    if len(names) < 2 or "" in names:
        raise InvalidParameter(
            f"portfolio: members={printable(text)} should be the names of two or more strategies, joined by "
            f"{SEPARATOR}, such as scent{SEPARATOR}link_context."
        )
    for name, n_times in Counter(names).items():
        if n_times > 1:
            raise InvalidParameter(f"portfolio: members={printable(text)} names {printable(name)} more than once.")
    return {name: _member(name) for name in names}


def _member(name: str) -> Strategy:
    if ":" in name:
        raise InvalidParameter(
            f"portfolio: the member {printable(name)} must be a name only; members have their default parameters."
        )
    try:
        member = STRATEGIES.make(name)
    except UnknownName as unknown:
        raise InvalidParameter(f"portfolio: {unknown.message}") from None
    if isinstance(member, Portfolio):
        raise InvalidParameter(f"portfolio: {name} cannot be a member: name its members instead.")
    if member.empty_advice:
        raise InvalidParameter(
            f"portfolio: {name} cannot be a member: it discards links, so that it may have no page left while others "
            "have many."
        )
    return member


def _shared(values: Mapping[str, Any], default: Any, problem: str, advice: str) -> Any:
    """The value of all members that do not have the default."""
    chosen = {name: value for name, value in values.items() if value != default}
    if len(set(chosen.values())) > 1:
        listed = ", ".join(f"{name}: {value}" for name, value in chosen.items())
        raise InvalidParameter(f"portfolio: the members {problem} ({listed}); choose members with {advice}.")
    return next(iter(chosen.values()), default)
