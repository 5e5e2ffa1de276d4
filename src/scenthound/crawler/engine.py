"""The engine of a live crawl: it decides what to fetch next. No clock, no sockets, no randomness of its own.

The strategy asks for a page; the page is turned down at once, or becomes a job, which `dispatch` makes into orders. The
answers come back here. A redirect sends the job on, a failure lets it try again, and in the end the strategy is told of
the visit, or that the page is dropped, with a reason.

Rules
- The same calls with the same arguments make the same orders: so a journal of them is the whole state of a crawl.
- `now_s` never goes back.
- Pages visited and pages ordered are never more than the page budget.
- No address is asked for by two jobs at a time.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from random import Random

from scenthound.crawler.journal import Journal, NoJournal
from scenthound.crawler.live_web import LiveWeb, with_further_links
from scenthound.crawler.scheduler import Dispatch
from scenthound.crawler.tasks import (
    Answer,
    CrawlRules,
    Found,
    Got,
    Hosts,
    Job,
    Kind,
    Moved,
    Order,
    Refused,
    RobotsFound,
    SitemapFound,
)
from scenthound.errors import PluginError
from scenthound.frontier.politeness import Politeness
from scenthound.model import IntArray, Visit
from scenthound.reasons import SkipReason
from scenthound.strategies.base import Strategy

# The addresses that page jobs are after, so that none is asked for twice: redirects may lead many jobs to one.
#
# A job that comes to an address which another is after waits for that one. What was redirected to in vain is
# remembered, so that later jobs need not try it again.

#: Addresses that are remembered to have been sought in vain.
MOST_IN_VAIN = 10_000


class SoughtAddresses:
    """Who is after what, and who waits for whom."""

    def __init__(self) -> None:
        self._owner: dict[str, Job] = {}
        self._waiting: dict[str, list[Job]] = {}
        self._in_vain: dict[str, Refused] = {}

    def why_in_vain(self, url: str) -> Refused | None:
        """What became of the address before, if that is worth no second try."""
        return self._in_vain.get(url)

    def take_on(self, job: Job) -> bool:
        """Let the job be after its address; False if it has to wait for another one."""
        owner = self._owner.setdefault(job.url, job)
        if owner is job:
            return True
        owner.n_followers += 1
        self._waiting.setdefault(job.url, []).append(job)
        return False

    def let_go(self, url: str) -> list[Job]:
        """The address is sought no more; those that waited for it."""
        owner = self._owner.pop(url, None)
        if owner is not None:
            owner.n_followers = 0
        return self._waiting.pop(url, [])

    def note_in_vain(self, job: Job, refused: Refused) -> None:
        """A job came to nothing. Others may come, or wait, if it was redirected, or if it was waited for. That it was
        redirected too often is its own fault and not the address's."""
        if refused.reason is SkipReason.REDIRECT_LOOP or not (job.passed or job.n_followers):
            return
        if len(self._in_vain) >= MOST_IN_VAIN:
            del self._in_vain[next(iter(self._in_vain))]
        self._in_vain[job.url] = refused


#: Jobs that may wait for their hosts, for each connection: enough that hosts met for the first time, whose robots.txt
#: comes first, leave no connection idle.
HELD_PER_CONNECTION = 8
#: Pages that a turn asks for before others have their chance: those of a retired host are dropped one after the other,
#: and there may be a million.
MOST_ASKED = 1_000


@dataclass(frozen=True, slots=True)
class Visited:
    """A page that the strategy was told of. `n_visit` counts from 0."""

    n_visit: int
    job: Job
    got: Got
    links: IntArray


@dataclass(frozen=True, slots=True)
class Dropped:
    """A page that was asked for and will not be had."""

    page: int
    url: str
    reason: SkipReason
    detail: str
    status: int | None


class Engine:
    """`at_hand` tells whether a page can be had without a request, from a recording."""

    def __init__(
        self,
        strategy: Strategy,
        web: LiveWeb,
        rules: CrawlRules,
        at_hand: Callable[[str], bool] | None = None,
    ) -> None:
        self.strategy = strategy
        self.web = web
        self.rules = rules
        self.journal: Journal = NoJournal()
        self._at_hand = at_hand
        self._dispatch = Dispatch(rules, Hosts(web.table), self._give_up)
        #: Whether the last turn ended because it had asked enough, not because nothing was left.
        self._asked_enough = False
        self._dropped: list[Dropped] = []
        self._n_asked = 0
        #: Jobs to be sent on their way, anew, with the next turn: they were redirected, or waited for another job.
        self._to_send: list[Job] = []
        self._sought = SoughtAddresses()
        #: Pages that were asked for and are neither visited nor dropped.
        self._n_open = 0

    @property
    def n_visits(self) -> int:
        return len(self.web.visits)

    @property
    def n_in_flight(self) -> int:
        return len(self._dispatch.outstanding)

    @property
    def politeness(self) -> Politeness:
        return self._dispatch.politeness

    @property
    def hosts(self) -> Hosts:
        return self._dispatch.hosts

    def order(self, number: int) -> Order | None:
        """An order that has no answer yet."""
        return self._dispatch.outstanding[number][0] if number in self._dispatch.outstanding else None

    def outstanding(self) -> list[Order]:
        """Orders without an answer, in the order they were given."""
        return [order for order, _ in self._dispatch.outstanding.values()]

    def is_idle(self) -> bool:
        """Whether nothing is under way, so that only the strategy could bring something new."""
        return not (self._dispatch.outstanding or len(self._dispatch.held) or self._to_send)

    @property
    def wants_turn(self) -> bool:
        """Whether another turn would bring something at once."""
        return self._asked_enough or bool(self._to_send)

    def take_dropped(self) -> list[Dropped]:
        """The pages dropped since the last call."""
        dropped, self._dropped = self._dropped, []
        return dropped

    def start(self, seeds: Sequence[str], rng: Random) -> None:
        self.strategy.start(self.web.seeds(seeds), rng, self.web.seen)

    def resume(self, now_s: float) -> None:
        """Go on after a stop of which it is not known what was asked last."""
        self.journal.resumption(now_s)
        self.politeness.resume(now_s)

    def outstanding_after_stop(self) -> list[tuple[Order, float]]:
        """Orders without an answer, and how long each has to wait, in seconds, before it is carried out anew: its host
        rests once more, and hosts of one address are asked one after the other."""
        waits = []
        n_of_address: Counter[tuple[str, ...]] = Counter()
        for order, job in self._dispatch.outstanding.values():
            wait_s = 0.0
            if order.kind not in (Kind.ADDRESS, Kind.RECORDED):
                apart_s = n_of_address[order.addresses] * self.rules.politeness.effective_address_delay_s
                wait_s = self.politeness.current_delay_s(job.host) + apart_s
                n_of_address[order.addresses] += 1
            waits.append((order, wait_s))
        return waits

    def turn(self, now_s: float, room: int, page_budget: int) -> list[Order]:
        """What to do now, with room for so many orders more."""
        orders, asked = self.turn_again(now_s, room, page_budget)
        self.journal.turn(now_s, room, page_budget, asked)
        return orders

    def turn_again(self, now_s: float, room: int, page_budget: int) -> tuple[list[Order], list[int] | None]:
        """A turn without a trace in the journal: its orders, and the pages that the strategy asked for in it; None if
        it was not asked."""
        orders = self._dispatch.begin_turn(now_s, page_budget - self.n_visits - self._dispatch.n_pages_ordered)
        self._dispatch.issue_held(room)
        to_send, self._to_send = self._to_send, []
        for job in to_send:
            self._send(job, self.web.is_had(job.url))
        return orders, self._ask_strategy(room, page_budget)

    def answered(self, now_s: float, number: int, answer: Answer) -> Visited | None:
        """Take up the answer to an order; tells of the visit, if it made one."""
        order, job = self._dispatch.take_answered(now_s, number)
        if isinstance(answer, Got):
            answer = self._seen_through(job, answer)
        visited = self._take_up(order, job, answer)
        # Last of all: if the strategy looks something up meanwhile, what is then committed is whole without this.
        self.journal.answer(now_s, order, answer)
        return visited

    def _take_up(self, order: Order, job: Job, answer: Answer) -> Visited | None:
        if order.kind is Kind.ADDRESS:
            self._dispatch.resolved(job, answer)
            return None
        if order.kind is not Kind.RECORDED:
            self._dispatch.finished(job, answer)
        match answer:
            case Got():
                return self._visit(job, answer)
            case Moved():
                self._follow(job, answer)
            case Refused():
                self._dispatch.fail(job, answer)
            case RobotsFound():
                self._dispatch.obey(job, answer)
            case SitemapFound():
                self._dispatch.note_sitemap(job, answer)
            case Found():
                raise PluginError("Only the question for an address is answered with one.")
        return None

    def _follow(self, job: Job, moved: Moved) -> None:
        """Send a job on, and those that waited for its address with it."""
        followers = self._sought.let_go(job.url) if job.kind is Kind.PAGE else []
        for each in (job, *followers):
            if self._dispatch.moved(each, moved) and each.kind is Kind.PAGE:
                self._to_send.append(each)

    def _ask_strategy(self, room: int, page_budget: int) -> list[int] | None:
        asked: list[int] | None = None
        self._asked_enough = False
        while (n := self._n_wanted(room, page_budget)) > 0:
            asked = asked or []
            if len(asked) >= MOST_ASKED:
                self._asked_enough = True
                break
            pages = self.strategy.ask(n, None if self.rules.strict_order else self._dispatch.is_ready)
            if not pages:
                break
            asked += pages
            for page, regret, score in zip_longest(pages, self.strategy.regrets(), self.strategy.scores()):
                self._admit(page, regret, score)
        return asked

    def _n_wanted(self, room: int, page_budget: int) -> int:
        # Pages that wait for their hosts count, but for those that will wait for long.
        n_ordered = self._dispatch.n_pages_ordered
        n_waiting = max(0, self._n_open - n_ordered - self._dispatch.n_resting_long)
        most_waiting = HELD_PER_CONNECTION * self.rules.connections - n_waiting
        in_budget = page_budget - self.n_visits - n_ordered - n_waiting
        wanted = min(room - self._dispatch.n_issued, in_budget, most_waiting)
        if self.rules.strict_order:
            return 0 if self._n_open else min(wanted, 1)
        return wanted

    def _admit(self, page: int, regret: float | None, score: float | None) -> None:
        url = self.web.table.url(page)
        job = Job(Kind.PAGE, url, self._dispatch.hosts.of_url(url), page, regret=regret, score=score)
        job.rank, job.n_waiting = self._n_asked, len(self.strategy)
        self._n_asked += 1
        self._n_open += 1
        self._send(job, self.web.is_had_elsewhere(page))

    def _send(self, job: Job, is_had: bool) -> None:
        """Let a job with a new address go its way. If another one is after the same address, it waits for that."""
        if is_had:
            self._drop(job, Refused(SkipReason.REPEATED))
        elif (refused := self._sought.why_in_vain(job.url)) is not None:
            self._drop(job, refused)
        elif self._sought.take_on(job):
            if self._at_hand is not None and self._at_hand(job.url):
                job.kind = Kind.RECORDED
            self._dispatch.send(job)

    def _seen_through(self, job: Job, got: Got) -> Got | Refused:
        """A page as the strategy is to be told of it, unless it was had under another address meanwhile."""
        if self.web.is_had(got.url, job.page if _is_as_asked(job, got) else None):
            return Refused(SkipReason.REPEATED, elapsed_s=got.elapsed_s)
        return with_further_links(got, self._dispatch.sitemaps.next_links(job.host))

    def _visit(self, job: Job, got: Got) -> Visited:
        if got.text is not None:
            self.web.texts.keep(job.page, got.text)
        moved_to = None if _is_as_asked(job, got) else got.url
        links = self.web.visit(job.page, moved_to, got.links, (got.predicted, got.anchors))
        self._n_open -= 1
        self._to_send += self._sought.let_go(job.url)
        self._dispatch.settle(job, taken=True)
        self.strategy.tell(Visit(job.page, got.relevance, links))
        return Visited(self.n_visits - 1, job, got, links.pages)

    def _give_up(self, job: Job, refused: Refused) -> None:
        """A job that was after its address comes to nothing."""
        self._sought.note_in_vain(job, refused)
        self._to_send += self._sought.let_go(job.url)
        self._drop(job, refused)

    def _drop(self, job: Job, refused: Refused) -> None:
        self._n_open -= 1
        detail = refused.detail if refused.like is None else f"like {self.web.table.url(refused.like)}"
        self._dropped.append(Dropped(job.page, job.url, refused.reason, detail, refused.status))
        self.strategy.drop(job.page)


def _is_as_asked(job: Job, got: Got) -> bool:
    """Whether a page came from the very address that the strategy asked for."""
    return not job.passed and got.url == job.url
