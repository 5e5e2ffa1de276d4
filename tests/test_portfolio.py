"""Portfolios: several strategies in one crawl, whose requests go to the one that finds more relevant pages."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from saved_states import as_lists
from scenthound.errors import InvalidParameter
from scenthound.frontier.base import ReadyHosts
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.simulator.modes import parse_mode
from scenthound.simulator.simulator import simulate
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.best_n_first import BestFirst, LinkContext
from scenthound.strategies.opic import Opic
from scenthound.strategies.portfolio import MemberChoice, Portfolio
from scenthound.testing import SyntheticWeb, check_strategy, visited
from slow_cases import few_of
from stepped_crawl import SteppedCrawl, trace_with_checkpoint
from test_patience import live_visits, polite_visits
from virtual_site import VirtualSite, plan, random_site

MEMBERS = [
    "scent+link_context",
    "scent+link_context+opic",
    "otie+best_first",
    "adaptive_n_first+hub_otie+rank_function",
    "pagerank+keyword_pagerank+breadth_first",
]
members = pytest.mark.parametrize("names", MEMBERS)


# The contract


@pytest.mark.slow
@members
def test_a_portfolio_keeps_the_contract(names):
    check_strategy(lambda: Portfolio(members=names))


@members
def test_a_state_survives_a_checkpoint(names):
    web = SyntheticWeb.random(Random(3))
    for n_steps in (0, 1, 15):
        assert trace_with_checkpoint(lambda: Portfolio(names), web, n_steps) == visited(Portfolio(names), web)


def test_two_runs_give_the_same_trace_and_another_seed_another():
    web = SyntheticWeb.random(Random(5), n_pages=150)
    one, same, other = (visited(Portfolio(), web, seed=seed) for seed in (1, 1, 2))
    assert one == same != other


def test_it_is_installed_with_defaults_that_can_be_written():
    made = STRATEGIES.make("portfolio:members=opic+best_first,memory=0.9,least=0.2")
    assert dict(made.parameters) == {"members": "opic+best_first", "memory": 0.9, "least": 0.2}
    assert list(STRATEGIES.make("portfolio").members) == ["scent", "link_context"]


def test_it_needs_what_its_members_need():
    both, neither = Portfolio(), Portfolio("opic+best_first")
    assert (both.context_words, both.needs_anchors, both.relevance_model) == (20, True, "rocchio")
    assert (neither.context_words, neither.needs_anchors, neither.needs_relevance) == (None, False, True)
    assert (neither.reads_topic, Portfolio("opic+keyword_pagerank").reads_topic) == (None, "keywords")


def test_a_model_that_one_member_prefers_is_that_of_all(monkeypatch):
    install(monkeypatch, By="cosine")
    assert Portfolio("scent+By").relevance_model == "cosine"


# Which member makes a request

N_CHAIN = 400


def chain(*, misleads: str) -> SyntheticWeb:
    """A relevant page links to three of the next relevant ones and to one of no relevance, which link to each other.
    The words around links, or else the pages that they are on, speak for the wrong ones."""
    links, relevance, predicted = {}, {}, {}
    for i in range(N_CHAIN):
        good, bad = f"g{i}", f"b{i}"
        relevance |= {good: 0.9, bad: 0.0}
        next_good, next_bad = [f"g{i + step}" for step in (1, 2, 3)], [f"b{i + step}" for step in (1, 2, 3)]
        if misleads == "words":
            links |= {good: [*next_good, bad], bad: next_bad}
        else:
            # The links of relevant pages lead to the others, and only words tell which of those lead back.
            links |= {good: [*next_bad, f"g{i + 1}"], bad: [good, *next_bad]}
        for page in (good, bad):
            right, wrong = (0.0, 1.0) if misleads == "words" else (1.0, 0.0)
            predicted |= {(page, target): right if target.startswith("g") else wrong for target in links[page]}
    return SyntheticWeb(links, relevance=relevance, predicted=predicted)


@pytest.mark.parametrize(("misleads", "better"), [("words", "best_first"), ("pages", "link_context")])
def test_requests_shift_to_the_member_that_is_not_misled(misleads, better):
    web = chain(misleads=misleads)
    crawl = SteppedCrawl(Portfolio("best_first+link_context"), web)
    for _ in range(200):
        crawl.step()
    assert crawl.strategy.diagnostics()[f"requests by {better}"] > 0.75
    found = {name: n_relevant(visited(STRATEGIES.make(name), web, pages=200)) for name in crawl.strategy.members}
    worse = min(found, key=found.get)
    assert worse != better
    assert n_relevant(crawl.trace) > (found[better] + found[worse]) / 2


def n_relevant(trace: list[str]) -> int:
    return sum(name.startswith("g") for name in trace)


@pytest.mark.parametrize("least", [0.05, 0.1, 0.3])
def test_no_share_falls_below_the_least(least):
    names = ["best_first", "link_context", "breadth_first"]
    crawl = SteppedCrawl(Portfolio("+".join(names), least=least), chain(misleads="words"))
    for n_requests in range(1, 601):
        crawl.step()
        shares = crawl.strategy.diagnostics()
        assert list(shares) == [f"requests by {name}" for name in names]
        assert sum(shares.values()) == pytest.approx(1)
        # A share is that of whole requests. Each member makes one of the first requests.
        assert min(shares.values()) * n_requests > least * n_requests - 1
        assert n_requests < 3 or min(shares.values()) > 0


def test_there_are_no_shares_before_the_first_request():
    assert SteppedCrawl(Portfolio(), chain(misleads="words")).strategy.diagnostics() == {}


def test_beta_parameters_worked_out_by_hand():
    choice = MemberChoice(2, memory=0.5, least=0.0)
    # The average is 1/2, of which the prior has two pages.
    assert choice.beta_parameters() == [(1, 1), (1, 1)]
    choice.visited(0, 1.0)
    choice.visited(1, 0.5)
    # Relevance 0.5 of 0.5 pages, and 0.5 of 1. Average: (1 + 1) / (2 + 1.5) = 4/7.
    (a0, b0), (a1, b1) = choice.beta_parameters()
    assert (a0, b0) == pytest.approx((0.5 + 8 / 7, 0 + 6 / 7))
    assert (a1, b1) == pytest.approx((0.5 + 8 / 7, 0.5 + 6 / 7))


def test_the_least_share_worked_out_by_hand():
    choice = MemberChoice(2, memory=0.5, least=0.2)
    choice.requested(1)
    choice.requested(0)
    # The recent requests of 1 count 0.5, those of 0 count 1: a third.
    assert {choice.order(Random(seed))[0] for seed in range(20)} == {0, 1}
    choice.requested(0)
    # 0.25 and 1.5: a seventh, which is too little.
    assert {choice.order(Random(seed))[0] for seed in range(20)} == {1}


def test_a_better_member_is_drawn_more_often_and_the_worse_one_is_not_given_up():
    choice = MemberChoice(2, memory=0.98, least=0.1)
    drawn = []
    for seed in range(1000):
        member = choice.order(Random(seed))[0]
        choice.requested(member)
        choice.visited(member, 0.6 if (member == 0) == (seed < 500) else 0.2)
        drawn.append(member)
    assert drawn[100:500].count(0) > 300
    assert drawn[600:].count(1) > 300


def test_dropped_pages_give_neither_reward_nor_penalty():
    web = SyntheticWeb({"a": ["b", "c", "d"]}, fails={"b", "c", "d"}, relevance={"a": 0.5})
    crawl = SteppedCrawl(Portfolio(), web)
    crawl.step()
    before = crawl.strategy._choice.beta_parameters()
    crawl.finish()
    assert len(crawl.dropped) == 3
    assert crawl.strategy._choice.beta_parameters() == before


def test_a_page_counts_for_the_member_that_requested_it():
    crawl = SteppedCrawl(
        Portfolio("best_first+breadth_first"), SyntheticWeb({"a": ["b"]}, relevance={"a": 1.0, "b": 0})
    )
    crawl.finish()
    # Both requested one page: the first member the relevant one, or the second.
    (a0, b0), (a1, b1) = crawl.strategy._choice.beta_parameters()
    assert (a0 > a1) == (b0 < b1)
    assert crawl.strategy.diagnostics() == {"requests by best_first": 0.5, "requests by breadth_first": 0.5}


# The queues of the members


@members
def test_no_page_is_requested_twice_and_the_length_is_that_of_the_distinct_queued_pages(names):
    for seed in range(3):
        web = SyntheticWeb.random(Random(seed), n_pages=100)
        crawl = SteppedCrawl(Portfolio(names), web, web.names[:2])
        found, requested, rng = set(crawl.seeds), [], Random(seed)
        while len(crawl.strategy):
            assert len(crawl.strategy) == len(found - set(requested))
            waiting = {host for host in range(5) if rng.random() < 0.4}
            requested += crawl.step(rng.randint(1, 4), lambda host, waiting=waiting: host not in waiting)
            found |= {page for visit in crawl.visits for page in visit.links.pages.tolist()}
        assert sorted(requested) == sorted(found)
        assert crawl.strategy.ask(5) == []


@members
def test_asking_for_four_pages_equals_asking_four_times_for_one(names):
    web = SyntheticWeb.random(Random(2), n_pages=150, n_hosts=12)
    large, small = (SteppedCrawl(Portfolio(names), web, web.names[:3]) for _ in range(2))
    rng = Random(1)
    while len(large.strategy):
        waiting = {host for host in range(12) if rng.random() < 0.4}
        pages, regrets = large.strategy.ask(4, lambda host, waiting=waiting: host not in waiting), []
        ready_hosts, singles = ReadyHosts(lambda host, waiting=waiting: host not in waiting), []
        while len(singles) < 4 and (asked := small.strategy.ask(1, ready_hosts)):
            singles += asked
            regrets += small.strategy.regrets()
        assert (pages, large.strategy.regrets()) == (singles, regrets)
        for page in pages:
            large.visit(page)
            small.visit(page)
    assert len(large.trace) > 100


@members
def test_an_ask_that_returns_nothing_changes_nothing(names):
    web = SyntheticWeb.random(Random(4), n_pages=100)
    crawl = SteppedCrawl(Portfolio(names), web, web.names[:2])
    for _ in range(30):
        crawl.step(2, lambda host: host != 1)
    asked = crawl.strategy.ask(3, lambda host: host != 1)
    while pages := crawl.strategy.ask(3, lambda host: host != 1):
        asked += pages
    before = as_lists(crawl.strategy.state())
    assert len(crawl.strategy) > 0
    assert crawl.strategy.ask(3, lambda host: host != 1) == []
    assert crawl.strategy.ask(3, lambda host: False) == []
    assert as_lists(crawl.strategy.state()) == before


def test_hosts_whose_pages_were_all_requested_are_not_scanned():
    web = SyntheticWeb({"a": ["b", "c"]}, host_of={"a": "one", "b": "two", "c": "three"})
    crawl = SteppedCrawl(Portfolio(), web)
    crawl.step()
    [first] = crawl.strategy.ask(1)
    before = as_lists(crawl.strategy.state())
    assert crawl.strategy.ask(1, lambda host: host == crawl.window.seen.host(first)) == []
    assert as_lists(crawl.strategy.state()) == before


@members
def test_pages_that_a_patient_driver_refuses_do_not_change_the_order(names):
    web = SyntheticWeb.random(Random(6), n_pages=100, n_hosts=8)
    trace, refused = patient_trace(names, web, set())
    assert len(refused) > 5
    assert patient_trace(names, web, refused)[0] == trace


def patient_trace(names: str, web: SyntheticWeb, not_asked: set[int]) -> tuple[list[str], set[int]]:
    """The trace of a crawl in turns, in each of which half of the hosts wait: a patient driver asks, but in some turns,
    and then an impatient one. Returns also the turns in which the patient one was given nothing."""
    crawl, rng, refused = SteppedCrawl(Portfolio(names), web, web.names[:2]), Random(1), set()
    for turn in range(1000):
        waiting = {host for host in range(8) if rng.random() < 0.5}
        if turn not in not_asked and not crawl.step(1, ReadyHosts(lambda host: host not in waiting, 2)):  # noqa: B023
            refused.add(turn)
        crawl.step(1, lambda host: host not in waiting)  # noqa: B023
        if not len(crawl.strategy):
            break
    return crawl.trace, refused


def test_a_page_that_another_member_requested_is_no_reason_to_wait():
    # Both members like b best, on the host of a; then c. While b is in flight its host waits, and has nothing better.
    web = SyntheticWeb({"a": ["b"], "z": ["c"]}, relevance={"a": 0.9, "z": 0.1}, host_of={"z": "other", "c": "other"})
    crawl = SteppedCrawl(Portfolio("best_first+link_context"), web, ["a", "z"])
    crawl.step()
    crawl.step()
    host_of = crawl.window.seen.host
    b, c = crawl.number("b"), crawl.number("c")
    assert crawl.strategy.ask(1) == [b]
    patient = ReadyHosts(lambda host: host != host_of(b), 1)
    assert crawl.strategy.ask(1, patient) == [c]
    assert crawl.strategy.regrets() == [0.0]
    assert patient.used == {host_of(c)}


@pytest.mark.parametrize("seed", few_of(range(8), 2))
def test_nor_is_it_when_a_better_page_links_to_it_meanwhile(seed):
    # b is requested before z is visited, which links to b, too, and is more relevant than a.
    hosts = {"z": "other", "c": "third"}
    web = SyntheticWeb({"a": ["b"], "z": ["b", "c"]}, relevance={"a": 0.1, "z": 0.9}, host_of=hosts)
    crawl = SteppedCrawl(Portfolio("best_first+link_context"), web, ["a", "z"], seed)
    host_of = crawl.window.seen.host
    a, z = crawl.seeds
    crawl.step(1, lambda host: host != host_of(z))
    assert crawl.strategy.ask(1, lambda host: host != host_of(z)) == [crawl.number("b")]
    crawl.step()
    assert crawl.strategy.ask(1, ReadyHosts(lambda host: host != host_of(a), 1)) == [crawl.number("c")]
    assert crawl.strategy.regrets() == [0.0]


def test_a_member_waits_for_a_better_page_on_a_waiting_host():
    web = SyntheticWeb(
        {"a": ["b", "d"], "z": ["c"]}, relevance={"a": 0.9, "z": 0.1}, host_of={"z": "other", "c": "other"}
    )
    crawl = SteppedCrawl(Portfolio("best_first+link_context"), web, ["a", "z"])
    crawl.step()
    crawl.step()
    host_of = crawl.window.seen.host
    waiting = host_of(crawl.number("b"))
    [first] = crawl.strategy.ask(1)
    # Of b and d one is left, on the waiting host.
    assert crawl.strategy.ask(1, ReadyHosts(lambda host: host != waiting, 1)) == []
    assert crawl.strategy.ask(1, lambda host: host != waiting) == [crawl.number("c")]
    [regret] = crawl.strategy.regrets()
    assert regret > 0
    assert crawl.strategy.ask(9) == [({crawl.number("b"), crawl.number("d")} - {first}).pop()]


def test_scores_and_regrets_are_those_of_the_member_that_asked():
    web = SyntheticWeb({"a": ["b", "c"]}, relevance={"a": 0.4}, predicted={("a", "b"): 0.8})
    crawl = SteppedCrawl(Portfolio("best_first+link_context"), web)
    crawl.step()
    asked = [crawl.strategy.ask(1)[0], crawl.strategy.scores()[0]]
    asked += [crawl.strategy.ask(1)[0], crawl.strategy.scores()[0]]
    b, c = crawl.number("b"), crawl.number("c")
    # Best-first scores both with 0.4, link-context prediction with 0.1 + 0.6 and 0.1. Each requests one of two pages,
    # because each has to make a request soon.
    context = {b: pytest.approx(0.7), c: pytest.approx(0.1)}
    assert sorted(asked[::2]) == sorted([b, c])
    for page, score in zip(asked[::2], asked[1::2], strict=True):
        assert score in (0.4, context[page])


def test_a_cash_member_passes_on_the_cash_of_pages_that_others_requested():
    web = SyntheticWeb.random(Random(1), n_pages=120)
    crawl = SteppedCrawl(Portfolio("opic+best_first"), web, web.names[:2])
    opic = crawl.strategy.members["opic"]
    assert isinstance(opic, Opic)
    while len(crawl.strategy):
        crawl.step(2)
        assert opic.circulating() + opic.lost == pytest.approx(1)
    shared = [opic.history_of(visit.page) for visit in crawl.visits if len(visit.links)]
    assert min(shared) > 0
    assert 0.1 < crawl.strategy.diagnostics()["requests by opic"] < 0.9


def test_visits_that_were_not_requested_are_learned_from_and_not_requested_again():
    # As when another version of the crawler takes over a crawl.
    web = SyntheticWeb.random(Random(2))
    crawl, other = (SteppedCrawl(each, web) for each in (Portfolio("otie+best_first"), BestFirst()))
    other.finish()
    for visit in other.visits[:10]:
        crawl.visit(visit.page)
    before = list(crawl.trace)
    crawl.finish()
    assert len(set(crawl.trace)) == len(crawl.trace) > len(before)
    assert set(crawl.trace) == set(other.trace)


class Picky(BestFirst):
    """Follows links of relevant pages only, and has nothing to say about it."""

    def tell(self, visit):
        if visit.relevance > 0.5:
            super().tell(visit)


def test_a_crawl_ends_when_members_have_discarded_the_pages_that_are_left(monkeypatch):
    monkeypatch.setitem(STRATEGIES._local.classes, "Picky", Picky)
    monkeypatch.setitem(STRATEGIES._local.classes, "Choosy", type("Choosy", (Picky,), {}))
    web = SyntheticWeb({"a": ["b", "c"], "b": ["d"], "d": ["e"]}, relevance={"a": 0.9, "c": 0.8})
    crawl = SteppedCrawl(Portfolio("Picky+Choosy"), web)
    assert sorted(crawl.finish()) == ["a", "b", "c"]
    assert len(crawl.strategy) == 0
    # One member that keeps all links is enough.
    assert len(visited(Portfolio("Picky+best_first"), web)) == 5


class ReadsHostsOnly(BestFirst):
    """Has no scores, and does not mark hosts as used."""

    def ask(self, n, ready=None):
        return super().ask(n, None if ready is None else ready.__call__)

    def regrets(self):
        return []

    def scores(self):
        return []


@pytest.mark.slow
def test_members_need_neither_scores_nor_marks_on_hosts(monkeypatch):
    monkeypatch.setitem(STRATEGIES._local.classes, "ReadsHostsOnly", ReadsHostsOnly)
    check_strategy(lambda: Portfolio("ReadsHostsOnly+link_context"))


@pytest.mark.parametrize("patience", [0.0, 0.7])
@pytest.mark.parametrize("names", ["scent+link_context", "otie+best_first"])
def test_a_live_crawl_equals_a_polite_simulation(names: str, patience: float, tmp_path: Path) -> None:
    site = random_site(1, n_pages=120, n_hosts=7)
    site = VirtualSite(site.pages, takes_s=lambda _task: 0.5)
    settings = plan(
        tuple(list(site.pages)[:3]),
        strategy=f"portfolio:members={names}",
        relevance="cosine",
        random_seed=3,
        connections=4,
        strict_order=False,
        patience=patience,
        politeness=PolitenessSettings(delay_s=1.0, delay_factor=0.0),
    )
    live = live_visits(tmp_path / "crawl", settings, site)
    assert live == polite_visits(settings, site)
    assert len(live) > 40


def test_shares_are_the_diagnostics_of_a_simulated_crawl():
    web = SyntheticWeb.random(Random(0), n_pages=150)
    crawl = simulate(
        *(web.recorded, Portfolio(), [0], web.scores()),
        rng=Random(0),
        page_budget=100,
        topic=web.topic,
        mode=parse_mode("polite:workers=5,patience=0.5"),
    )
    assert set(crawl.diagnostics) == {"requests by scent", "requests by link_context"}
    assert len(np.unique(crawl.pages)) == len(crawl.pages) == 100


def test_the_memory_is_that_of_the_members_and_more():
    bounds = [STRATEGIES.make(name).memory_bound() for name in ("scent", "rank_function")]
    bound = Portfolio("scent+rank_function").memory_bound()
    assert bound.queued is None
    assert bound.bytes_per_link == sum(each.bytes_per_link for each in bounds) > 0
    per_queued_url = sum(each.bytes_per_url + each.bytes_per_queued for each in bounds)
    assert bound.bytes_per_url + bound.bytes_per_queued > per_queued_url


def test_the_queue_is_bounded_if_those_of_all_members_are(monkeypatch):
    for name, size in (("Few", 3), ("Many", 5)):
        bounded = type(name, (BestFirst,), {"__init__": lambda self, size=size: BestFirst.__init__(self, buffer=size)})
        monkeypatch.setitem(STRATEGIES._local.classes, name, bounded)
    assert Portfolio("Few+Many").memory_bound().queued == 8
    assert Portfolio("Few+best_first").memory_bound().queued is None
    web = SyntheticWeb({"a": [f"p{i}" for i in range(20)]})
    crawl = SteppedCrawl(Portfolio("Few+Many"), web)
    crawl.finish()
    evicted = [member.n_evicted for member in crawl.strategy.members.values()]
    assert crawl.strategy.n_evicted == sum(evicted) > 17


# Parameters that are refused


def install(monkeypatch, *, Wide: int = 20, By: str = "rocchio", ByToo: str = "rocchio") -> None:  # noqa: N803
    """Strategies of this process: one with another number of words, and two with another relevance model."""
    wide = type("Wide", (LinkContext,), {"__init__": lambda self: LinkContext.__init__(self, window=Wide)})
    monkeypatch.setitem(STRATEGIES._local.classes, "Wide", wide)
    for name, model in (("By", By), ("ByToo", ByToo)):
        monkeypatch.setitem(STRATEGIES._local.classes, name, type(name, (BestFirst,), {"relevance_model": model}))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"members": "scent+link_contex"}, "No strategy 'link_contex'. Did you mean 'link_context'"),
        ({"members": "scent+scent"}, "names scent more than once"),
        ({"members": "scent"}, "two or more strategies, joined by"),
        ({"members": ""}, "two or more strategies"),
        ({"members": "scent+"}, "two or more strategies"),
        ({"members": "scent+best_n_first:n=4"}, "best_n_first:n=4 must be a name only"),
        ({"members": "scent+portfolio"}, "portfolio cannot be a member: name its members instead"),
        ({"members": "scent+fish_search"}, "fish_search cannot be a member: it discards links"),
        ({"members": "shark_search+scent"}, "shark_search cannot be a member: it discards links"),
        ({"members": "infospiders+scent"}, "infospiders cannot be a member: it discards links"),
        ({"members": "scent+Wide"}, r"different numbers of words around a link \(scent: 20, Wide: 30\)"),
        ({"members": "By+scent+ByToo"}, r"different relevance models \(By: svm, ByToo: cosine\)"),
        ({"least": 0.4, "members": "scent+opic+otie"}, "it must be at most 0.333"),
        ({"least": 0.6}, "least=0.6 is out of range; it must be 0 to 0.5"),
        ({"memory": 0.0}, "memory=0.0 is out of range"),
        ({"memory": 1.1}, "memory=1.1 is out of range"),
    ],
)
def test_invalid_parameters_cost_one_line(parameters, message, monkeypatch):
    install(monkeypatch, Wide=30, By="svm", ByToo="cosine")
    with pytest.raises(InvalidParameter, match=message) as error:
        Portfolio(**parameters)
    assert "\n" not in str(error.value)
