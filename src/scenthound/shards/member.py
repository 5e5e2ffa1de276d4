"""A shard as a member of its crawl: it applies grants and parcels, and reports.

Rules
- Parcels may be delivered twice, in any order, or not at all. They are applied in the order of their commits; while one
  is missing, later ones wait. The coordinator says which commits had parcels, and missing ones are read from the log of
  their shard.
- Nothing is acknowledged: what was applied follows from the commits of this shard.
"""

from collections.abc import Callable, Iterable, Mapping

from scenthound.crawler.live_crawl import LiveCrawl
from scenthound.shards.coordinator import N_BEST, Grant, Report

#: Reads the parcels that a shard has sent to this one, from one commit to another, both included: (commit, content).
ReadParcels = Callable[[int, int, int], Iterable[tuple[int, bytes]]]
#: Parcels of one shard that wait for an earlier one, at most. Others are read from the log.
MAX_WAITING = 1_000


class Inbox:
    """Parcels that have arrived, until they are applied."""

    def __init__(self, crawl: LiveCrawl) -> None:
        self._crawl = crawl
        self._waiting: dict[int, dict[int, bytes]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def deliver(self, now_s: float, source: int, commit: int, content: bytes) -> None:
        """Apply a parcel and those that have waited for it, or let it wait."""
        waiting = self._waiting.setdefault(source, {})
        if not self._crawl.receive(now_s, source, commit, content) and len(waiting) < MAX_WAITING:
            waiting[commit] = content
        for number in sorted(waiting):
            if not self._crawl.receive(now_s, source, number, waiting[number]):
                break
            del waiting[number]

    def missing(self, sent: Mapping[int, int]) -> dict[int, tuple[int, int]]:
        """The first and the last commit to look for parcels in, by shard, if these are the last ones with parcels."""
        received = self._crawl.received
        return {
            source: (received.get(source, 0) + 1, commit)
            for source, commit in sent.items()
            if commit > received.get(source, 0)
        }


class ShardMember:
    """One shard. The caller passes the time, and fetches what `missing` names."""

    def __init__(self, crawl: LiveCrawl, shard: int) -> None:
        self.crawl = crawl
        self.shard = shard
        self.inbox = Inbox(crawl)
        self.page_budget = 0
        self._n_requests = 0
        #: The parcels that were missing when the last two grants came.
        self._missing: dict[int, tuple[int, int]] = {}
        self._asked_tokens: set[str] = set()
        #: Addresses that were not in a report that was answered.
        self._addresses: list[str] = []
        self._n_addresses_reported = 0

    def apply(self, now_s: float, grant: Grant) -> dict[int, tuple[int, int]]:
        """Use a grant; returns the commits in which parcels were missing at the last two grants."""
        self.page_budget = grant.page_budget
        del self._addresses[: self._n_addresses_reported]
        self._n_addresses_reported = 0
        politeness = self.crawl.engine.politeness
        tokens = {address: n for address, n in grant.tokens.items() if politeness.tokens_of(address) != n}
        if self.crawl.engine.shards is not None and (tokens or grant.n_requests != self._n_requests):
            self.crawl.grant(now_s, grant.n_requests, tokens)
            self._n_requests = grant.n_requests
        self._asked_tokens = set(grant.tokens)
        before, self._missing = self._missing, self.inbox.missing(grant.sent)
        # They may be on their way: look for them if nothing has come since the last grant.
        return {
            source: span for source, span in self._missing.items() if source in before and before[source][0] == span[0]
        }

    def report(self, now_s: float) -> Report:
        crawl, engine = self.crawl, self.crawl.engine
        politeness = engine.politeness
        n_queued = len(engine.strategy)
        self._addresses += politeness.take_new_addresses()
        self._n_addresses_reported = len(self._addresses)
        return Report(
            shard=self.shard,
            page_budget=self.page_budget,
            n_pages=engine.n_visits,
            n_issued=engine.n_pages_issued,
            n_requests=self._n_requests,
            n_requested=engine.n_requested,
            n_waiting=engine.n_waiting,
            n_queued=n_queued,
            best=engine.strategy.best_queued(N_BEST).tolist(),
            is_idle=self._is_idle(now_s, n_queued),
            sent=dict(crawl.sent_acknowledged),
            received=dict(crawl.received),
            backlog=len(self.inbox),
            addresses=tuple(self._addresses),
            in_use={address: politeness.tokens_in_use(address) for address in self._asked_tokens},
            unused=politeness.unused_addresses(now_s),
        )

    def _is_idle(self, now_s: float, n_queued: int) -> bool:
        """Whether nothing will happen before something arrives."""
        engine = self.crawl.engine
        if not engine.is_idle() or self.crawl.has_uncommitted_parcels or len(self.inbox):
            return False
        if not n_queued:
            return True
        is_plain = engine.shards is None
        has_room = engine.n_visits < self.page_budget and (is_plain or engine.n_requested < self._n_requests)
        politeness = engine.politeness
        return has_room and not politeness.awaits_tokens and politeness.next_ready_s(now_s) is None
