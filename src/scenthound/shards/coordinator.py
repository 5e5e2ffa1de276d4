"""The coordinator of a crawl in shards: how many pages each shard may visit, which shards use an address, and when the
crawl is over.

It has no clock and no durable state: shards report, and it answers with grants. After its loss a new one learns
everything from the reports of resumed shards.

Rules
- Visits and leases together never exceed the page budget. Nothing is granted before all shards have reported. A lease
  that a shard does not use is taken back, and counts until the shard has confirmed that.
- A lease also limits requests: a shard whose best links are dead must not go on with worse ones than others have.
- The only shard of a crawl gets everything at once, and has no lease of requests.
- Shards with better queued pages get more: each round assigns the best queued scores of all shards. The round grows
  while shards use up their leases, and shrinks while they cannot, because hosts have to wait. Shards whose scores do
  not compare get equal leases.
- The tokens of an address are divided among the shards that have hosts there. A token is a connection, and a request
  each time that a host's delay has passed: so an address gets no more connections and no more requests per time than
  from one crawl. If there are more shards than tokens, they take turns; the turn of a shard that does not use it ends.
- A token is assigned to a shard only after the one before has given it back.
- What a lost shard had counts until its lease of time has ended.
- The crawl is over if the page budget is reached, or if all shards are idle and every parcel that was sent was
  received, in two rounds in a row with the same numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from scenthound.frontier.politeness import PolitenessSettings
from scenthound.reasons import EndReason
from scenthound.store.crawl_records import CrawlStatus

#: Pages of a shard's first lease.
FIRST_PAGES = 4
#: How many of the best queued scores a shard reports. In larger rounds each of them stands for several pages.
N_BEST = 64
#: Pages of the largest round, for each shard.
MAX_PAGES = 2_000
#: After this many rounds in a row of which most was not used, the next ones are smaller.
UNUSED_ROUNDS = 4
#: How long a shard may use an address before it is another shard's turn.
TURN_S = 10.0
#: Shares are computed again after the reports of one in this many shards: for many shards that takes milliseconds.
SHARES_PART = 8
#: A shard with this many parcels that wait halves the leases of all.
BACKLOG = 100


@dataclass(frozen=True, slots=True)
class Report:
    """What a shard says of itself.

    `page_budget` is its lease, `n_pages` are visited pages, `n_issued` those in flight. `n_requests` is its lease of
    requests, `n_requested` are pages requested so far, dead or not, and `n_waiting` those of them that wait for their
    hosts; `best` are the scores of its best queued pages, in descending order. `is_idle`: nothing will happen
    unless something arrives, although its lease would allow it. `sent` and `received` have the commit of the last
    parcel for and from each other shard. `addresses` are those that it needs tokens for since its last report, `in_use`
    the tokens that it has or still uses, of the addresses of the last grant, and `unused` addresses that it has tokens
    of, but has sent no request to for a while."""

    shard: int
    page_budget: int
    n_pages: int
    n_issued: int
    n_requests: int
    n_requested: int
    n_waiting: int
    n_queued: int
    best: Sequence[float]
    is_idle: bool
    sent: Mapping[int, int] = field(default_factory=dict)
    received: Mapping[int, int] = field(default_factory=dict)
    backlog: int = 0
    addresses: Sequence[str] = ()
    in_use: Mapping[str, int] = field(default_factory=dict)
    unused: Sequence[str] = ()
    status: CrawlStatus | None = None

    @property
    def n_taken(self) -> int:
        """Pages that have used up the lease, or may do so."""
        return self.n_pages + self.n_issued

    @property
    def has_used_up(self) -> bool:
        """Whether the shard could have requested more pages than its lease allows."""
        return self.n_queued > 0 and self.n_requested >= self.n_requests > 0


@dataclass(frozen=True, slots=True)
class Grant:
    """What a shard may do: visit and request this many pages in all, and use this many tokens of these addresses.
    `sent` are the commits of the last parcels that other shards have for it."""

    page_budget: int
    n_requests: int = 0
    tokens: Mapping[str, int] = field(default_factory=dict)
    sent: Mapping[int, int] = field(default_factory=dict)


class AddressTokens:
    """The tokens of all addresses: what each shard should have, and what it may still have."""

    def __init__(self, n_tokens: int) -> None:
        self._n_tokens = n_tokens
        #: The shards that need an address. The first ones, as many as there are tokens, have their turn.
        self._claims: dict[str, list[int]] = {}
        #: When the turns at an address began.
        self._turns_s: dict[str, float] = {}
        #: What a shard has, at most.
        self._held: dict[str, dict[int, int]] = {}
        #: Addresses whose assignment is not what it should be, or has to change with time.
        self._unsettled: set[str] = set()

    def claim(self, address: str, shard: int) -> None:
        shards = self._claims.setdefault(address, [])
        if shard not in shards:
            shards.append(shard)
        self._held.setdefault(address, {}).setdefault(shard, 0)
        self._unsettled.add(address)

    def confirm(self, shard: int, in_use: Mapping[str, int]) -> None:
        """A shard has no more than these tokens."""
        for address, tokens in in_use.items():
            self._held[address][shard] = tokens

    def release(self, shard: int) -> None:
        """A shard is gone, and uses nothing any more."""
        for address, shards in self._claims.items():
            if shard in shards:
                shards.remove(shard)
                del self._held[address][shard]
                self._unsettled.add(address)

    def pass_on(self, shard: int, addresses: Sequence[str]) -> None:
        """A shard does not use its tokens of these addresses: it is the turn of others."""
        for address in addresses:
            if shard in self._claims.get(address, ()) and self._takes_turns(address):
                self._claims[address].remove(shard)
                self._claims[address].append(shard)

    def grant(self, shard: int, now_s: float) -> dict[str, int]:
        """The tokens that the shard is to have from now on, where that changes."""
        granted = {}
        for address in sorted(self._unsettled):
            if shard not in self._claims[address]:
                continue
            self._change_turns(address, now_s)
            held, wanted = self._held[address], self.wanted(address)
            if held == wanted and not self._takes_turns(address):
                self._unsettled.discard(address)
            tokens = wanted[shard]
            if tokens > held[shard]:
                tokens = min(tokens, self._n_tokens - sum(held.values()) + held[shard])
            if tokens != held[shard]:
                granted[address] = tokens
                held[shard] = max(held[shard], tokens)
        return granted

    def wanted(self, address: str) -> dict[int, int]:
        """How the tokens should be divided now."""
        shards, n = self._claims[address], self._n_tokens
        if self._takes_turns(address):
            return {shard: int(position < n) for position, shard in enumerate(shards)}
        return {shard: n // len(shards) + (i < n % len(shards)) for i, shard in enumerate(shards)}

    def _change_turns(self, address: str, now_s: float) -> None:
        """After some time it is the turn of the next shards."""
        if now_s - self._turns_s.setdefault(address, now_s) >= TURN_S and self._takes_turns(address):
            self._turns_s[address] = now_s
            shards = self._claims[address]
            self._claims[address] = shards[self._n_tokens :] + shards[: self._n_tokens]

    def _takes_turns(self, address: str) -> bool:
        return len(self._claims[address]) > self._n_tokens


class Coordinator:
    """One crawl. Each shard has one exchange at a time: it receives a grant, applies it, and reports. Times are those
    of the coordinator's own clock."""

    def __init__(self, n_shards: int, page_budget: int, politeness: PolitenessSettings) -> None:
        self.n_shards = n_shards
        self.page_budget = page_budget
        #: Why the crawl is over; None if it is not.
        self.ended: EndReason | None = None
        self._tokens = AddressTokens(politeness.address_connections)
        self._reports: dict[int, Report] = {}
        #: Pages that each shard may visit in all, at most.
        self._leases = dict.fromkeys(range(n_shards), 0)
        self._round_size = FIRST_PAGES * n_shards
        self._n_unused_rounds = 0
        #: Shares of shards, and reports since they were computed.
        self._shares: dict[int, int] = {}
        self._n_reports = 0
        #: Shards that have reported in this round, and those that never have.
        self._heard: set[int] = set()
        self._unknown = set(range(n_shards))
        self._last_numbers: list[tuple[int, dict[int, int], dict[int, int]]] | None = None

    @property
    def reports(self) -> Mapping[int, Report]:
        """The latest of each shard."""
        return self._reports

    @property
    def has_begun(self) -> bool:
        """Whether all shards have reported once, so that pages can be granted."""
        return not self._unknown

    @property
    def n_pages(self) -> int:
        """Visited pages of the shards that have reported."""
        return sum(report.n_pages for report in self._reports.values())

    @property
    def is_awaited(self) -> bool:
        """Whether a shard can hardly go on before its next grant, because it has used up its lease or has found new
        addresses."""
        return any(report.has_used_up or report.addresses for report in self._reports.values())

    def note(self, report: Report) -> None:
        """A shard has reported."""
        shard = report.shard
        for address in report.addresses:
            self._tokens.claim(address, shard)
        self._tokens.confirm(shard, report.in_use)
        self._tokens.pass_on(shard, report.unused)
        self._reports[shard] = report
        self._leases[shard] = max(report.page_budget, report.n_taken)
        self._unknown.discard(shard)
        self._n_reports += 1
        self._heard.add(shard)
        if len(self._heard) == self.n_shards:
            self._heard.clear()
            self._end_round([self._reports[each] for each in range(self.n_shards)])

    def lose(self, shard: int) -> None:
        """A shard is gone, and its lease of time has ended. Its pages and its lease of pages count until its successor
        reports."""
        self._tokens.release(shard)
        self._reports.pop(shard, None)
        self._heard.discard(shard)
        self._last_numbers = None

    def grant(self, shard: int, now_s: float) -> Grant:
        """The next grant of a shard. Nobody may do anything before all have reported once, because it is not known how
        many pages the others have visited."""
        report = self._reports.get(shard)
        if report is None:
            return Grant(0)
        if not self.has_begun:
            return Grant(report.n_taken, report.n_requested)
        others = sum(lease for each, lease in self._leases.items() if each != shard)
        room = max(0, self.page_budget - others)
        if self._n_reports > self.n_shards // SHARES_PART:
            self._shares, self._n_reports = self._new_shares(), 0
        share = self._shares.get(shard, 0)
        lease = max(report.n_taken, min(report.n_taken + report.n_waiting + share, room))
        self._leases[shard] = max(self._leases[shard], lease)
        sent = {each.shard: each.sent[shard] for each in self._reports.values() if shard in each.sent}
        return Grant(lease, report.n_requested + share, self._tokens.grant(shard, now_s), sent)

    def _end_round(self, reports: Sequence[Report]) -> None:
        if self.n_pages >= self.page_budget:
            self.ended = EndReason.BUDGET
        is_quiet = all(each.is_idle for each in reports) and _all_received(reports)
        numbers = [(each.n_pages, dict(each.sent), dict(each.received)) for each in reports] if is_quiet else None
        if is_quiet and numbers == self._last_numbers:
            self.ended = self.ended or EndReason.FRONTIER
        self._last_numbers = numbers
        self._adapt(reports)

    def _adapt(self, reports: Sequence[Report]) -> None:
        """Change the size of the next round by how the last one was used."""
        if any(each.has_used_up for each in reports):
            self._n_unused_rounds = 0
            self._round_size *= 2
        elif not self.is_awaited:
            # Rounds in which shards are awaited are short.
            unused = sum(max(0, each.n_requests - each.n_requested) for each in reports)
            self._n_unused_rounds = self._n_unused_rounds + 1 if 2 * unused > self._round_size else 0
            if self._n_unused_rounds == UNUSED_ROUNDS:
                self._n_unused_rounds = 0
                self._round_size //= 2
        self._round_size = min(max(self._round_size, FIRST_PAGES * self.n_shards), MAX_PAGES * self.n_shards)

    def _new_shares(self) -> dict[int, int]:
        """How many of the next requests each shard should make."""
        if self.n_shards == 1:
            return {0: self.page_budget}
        waiting = {shard: report for shard, report in self._reports.items() if report.n_queued}
        backlog = max(each.backlog for each in self._reports.values())
        size = max(1, int(self._round_size / (1 + backlog / BACKLOG)))
        if not all(len(report.best) for report in waiting.values()):
            return dict.fromkeys(waiting, -(-size // len(waiting)))
        of_shards = [np.array(report.best[:N_BEST]) for report in waiting.values()]
        scores = np.concatenate(of_shards) if of_shards else np.zeros(0)
        owners = np.repeat(np.array(list(waiting), np.int64), [len(each) for each in of_shards])
        best = owners[np.argsort(-scores, kind="stable")[:size]]
        counts = np.bincount(best, minlength=self.n_shards) * max(1, size // max(1, len(best)))
        shares = {shard: min(int(counts[shard]), report.n_queued) for shard, report in self._reports.items()}
        # If few pages are queued, those that arrive before the next grant can be visited at once.
        n_taken = sum(report.n_taken + report.n_waiting for report in self._reports.values())
        n_left = self.page_budget - n_taken - sum(shares.values())
        rest = max(0, min(size - sum(shares.values()), n_left)) // self.n_shards
        return {shard: n + rest for shard, n in shares.items()}


def _all_received(reports: Sequence[Report]) -> bool:
    """Whether no parcel is on its way."""
    return all(
        reports[destination].received.get(report.shard, 0) == commit
        for report in reports
        for destination, commit in report.sent.items()
    )
