from random import Random

import numpy as np
import pytest

from scenthound.errors import LeakageError, PluginError
from scenthound.model import Topic
from scenthound.reasons import EndReason
from scenthound.relevance.cosine import Cosine
from scenthound.simulator.scores import Observation, PageScores, TopicWords, scores_for
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import MissReason, Numbering, SimulatedWeb, VisibleLinks
from scenthound.store.batches import RawPage
from scenthound.store.builder import web_of
from scenthound.strategies.best_n_first import BestFirst
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.testing import SyntheticWeb

NOTHING = Observation(SyntheticWeb({name: [] for name in "abc"}).scores())


def crawl(web, strategy, pages=1000, **options):
    return simulate(web.recorded, strategy, [0], web.scores(), rng=Random(0), page_budget=pages, plain=True, **options)


def visit_of(window, number):
    """Get a page and hear what its strategy would."""
    window.get(number)
    return window.visit(number)


def test_numbers_are_given_in_order_of_discovery():
    numbering = Numbering(100, "Page")
    assert numbering.numbers(np.array([70, 3, 70, 50])).tolist() == [0, 1, 0, 2]
    assert numbering.numbers(np.array([50, 4])).tolist() == [2, 3]
    assert [numbering.id_of(number) for number in range(4)] == [70, 3, 50, 4]
    assert numbering.numbers(np.array([], dtype=np.int32)).tolist() == []


def test_a_number_tells_nothing_about_the_page_behind_it():
    # The recorded page c and the dead link b differ in the recording's numbers, but not in the crawl's.
    window = SimulatedWeb(SyntheticWeb({"a": ["b", "c", "b"]}, fails={"b"}).recorded, NOTHING)
    window.seeds([0])
    assert visit_of(window, 0).links.pages.tolist() == [1, 2, 1]


def test_a_crawl_ends_at_its_budget_or_at_an_empty_frontier():
    web = SyntheticWeb({"a": ["b", "c"], "b": ["d"]})
    assert crawl(web, BreadthFirst(), pages=2).ended is EndReason.BUDGET
    assert crawl(web, BreadthFirst(), pages=4).ended is EndReason.BUDGET
    assert crawl(web, BreadthFirst(), pages=5).ended is EndReason.FRONTIER
    assert len(crawl(web, BreadthFirst(), pages=2).pages) == 2


def test_pages_that_cannot_be_had_are_counted_and_cost_nothing_of_the_budget():
    web = SyntheticWeb({"a": ["dead", "b", "moved", "c"]}, fails={"dead"}, redirects={"moved": "b"})
    done = crawl(web, BreadthFirst(), pages=3)
    assert [web.names[page] for page in done.pages] == ["a", "b", "c"]
    assert (done.n_missing, done.n_repeated) == (1, 1)


def test_a_redirect_is_followed_to_the_page_it_leads_to():
    web = SyntheticWeb({"a": ["moved"], "b": ["c"]}, redirects={"moved": "b"})
    done = crawl(web, BreadthFirst())
    assert [web.names[page] for page in done.pages] == ["a", "b", "c"]


def test_what_the_strategy_costs_is_charged_to_every_page():
    done = crawl(SyntheticWeb.random(Random(0)), BestFirst())
    assert len(done.cpu_us) == len(done.pages) == len(done.relevance)
    assert (done.cpu_us >= 0).all()
    assert done.cpu_us.sum() > 0


def test_the_same_seed_gives_the_same_trace_and_another_seed_another():
    web = SyntheticWeb.random(Random(0), n_pages=200)

    def trace(seed):
        return simulate(
            web.recorded, BestFirst(), [0], web.scores(), rng=Random(seed), page_budget=500, plain=True
        ).pages.tolist()

    assert trace(1) == trace(1)
    assert trace(1) != trace(2)


def recorded(**pages):
    return web_of(RawPage(f"http://w.test/{name}", html=html) for name, html in pages.items())


def names(web, done):
    return [web.url(page).rsplit("/", 1)[1] for page in done.pages]


PAGES = {
    "a": "<p>balloon <a href=b rel=nofollow>b</a> <a href=c>c</a> <a href=gone>gone</a>",
    "b": "race",
    "c": "<meta name=robots content=nofollow><a href=b>b</a>",
}


def test_links_that_ask_not_to_be_followed_are_not_followed():
    web = recorded(**PAGES)
    scores = PageScores(web, Cosine().for_topic(Topic("t", ("balloon",)), web))

    def run(**rules):
        return simulate(
            web, BreadthFirst(), [0], scores, rng=Random(0), page_budget=9, links=VisibleLinks(web, **rules), plain=True
        )

    assert names(web, run()) == ["a", "c"]
    assert names(web, run(respect_nofollow=False)) == ["a", "b", "c"]


def test_in_a_closed_world_links_that_leave_it_are_hidden():
    web = recorded(**PAGES)
    scores = PageScores(web, Cosine().for_topic(Topic("t", ("balloon",)), web))
    opened, closed = (
        simulate(
            web, BreadthFirst(), [0], scores, rng=Random(0), page_budget=9, links=VisibleLinks(web, closed_world=yes)
        )
        for yes in (False, True)
    )
    assert (opened.n_missing, closed.n_missing) == (1, 0)
    assert opened.pages.tolist() == closed.pages.tolist()


def test_the_strategy_is_told_the_cosine_of_the_page():
    web = recorded(a="<title>Balloon</title>race race <a href=b>x</a>")
    scores = PageScores(web, Cosine().for_topic(Topic("t", ("balloon",)), web))
    done = simulate(web, BestFirst(), [0], scores, rng=Random(0), page_budget=9, plain=True)
    # balloon 1, race 2; x is a single letter and so a stop word.
    assert done.relevance.tolist() == pytest.approx([1 / 5**0.5])


class Peeker(BreadthFirst):
    """Looks at the first link of each page before it has visited it."""

    def __init__(self, question):
        super().__init__()
        self._question = question

    def start(self, seeds, rng, seen):
        super().start(seeds, rng, seen)
        self._seen = seen

    def tell(self, visit):
        super().tell(visit)
        getattr(self._seen, self._question)(int(visit.links.pages[0]))


@pytest.mark.parametrize("question", ["words", "link_positions", "links"])
def test_reading_anything_of_an_unvisited_page_raises(question):
    with pytest.raises(LeakageError, match=r"^Page 1 .*\bvisited\b(?!.*\bseed\b)"):
        crawl(SyntheticWeb({"a": ["b"]}), Peeker(question))


def test_what_a_strategy_is_handed_can_neither_fetch_nor_look_ahead():
    handed = {name for name in dir(SimulatedWeb(SyntheticWeb({"a": ["b"]}).recorded, NOTHING).seen) if name[0] != "_"}
    assert handed == {"url", "host", "words", "link_positions", "links", "domain", "topic_words"}


def test_the_links_of_a_visited_page_can_be_read_once_more():
    web = SyntheticWeb({"a": ["b", "c", "b"], "c": ["a"]}, predicted={("a", "b"): 0.5}, anchors={("a", "c"): 0.25})
    window = SimulatedWeb(web.recorded, Observation(web.scores(), context_words=20, anchors=True))
    window.seeds([0])
    first = visit_of(window, 0).links
    visit_of(window, 2)
    again = window.seen.links(0)
    for links in (first, again):
        assert links.pages.tolist() == [1, 2, 1]
        assert links.predicted.tolist() == [0.5, 0, 0.5]
        assert links.anchors.tolist() == [0, 0.25, 0]


def test_hosts_of_one_registrable_domain_share_its_number_and_unknown_hosts_have_none():
    hosts = {"a": "x.one", "b": "y.one", "c": "two"}
    window = SimulatedWeb(SyntheticWeb({"a": ["b", "c"], "c": ["d"]}, host_of=hosts).recorded, NOTHING)
    window.seeds([0])
    visit_of(window, 0)
    assert window.seen.domain(0) == window.seen.domain(1) != window.seen.domain(2)
    with pytest.raises(LeakageError, match=r"^Host 3 "):
        window.seen.domain(3)


def test_a_crawl_is_told_the_words_of_its_topic():
    web = recorded(a="<p>balloons and racing</p>")
    topic = Topic("t", ("balloon", "unheard"), description="A race of balloons, a race")
    window = SimulatedWeb(web, Observation(NOTHING.scores, TopicWords.of(topic, web)))
    stems = [web.vocabulary[word] for word in window.seen.topic_words()]
    described = [web.vocabulary[word] for word in window.seen.topic_words(description=True)]
    assert (stems, described) == (["balloon"], ["race", "balloon", "race"])


def test_the_address_of_a_link_is_known_but_not_that_of_a_page_nobody_linked_to():
    window = SimulatedWeb(SyntheticWeb({"a": ["b"], "c": []}).recorded, NOTHING)
    window.seeds([0])
    with pytest.raises(LeakageError, match=r"^Page 1 .*\bseed\b"):
        window.seen.url(1)
    visit_of(window, 0)
    assert window.seen.url(1) == "http://web.test/b"
    with pytest.raises(LeakageError):
        window.seen.url(2)
    with pytest.raises(LeakageError):
        window.seen.url(-1)


def test_the_host_of_a_link_is_known_but_not_that_of_a_page_nobody_linked_to():
    window = SimulatedWeb(SyntheticWeb({"a": ["b"], "c": []}, host_of={"a": "one", "b": "two"}).recorded, NOTHING)
    window.seeds([0])
    with pytest.raises(LeakageError, match=r"^Page 1 .*\bseed\b"):
        window.seen.host(1)
    links = visit_of(window, 0).links
    assert [window.seen.host(0), window.seen.host(1)] == [0, *links.hosts.tolist()] == [0, 1]
    for unknown in (2, -1):
        with pytest.raises(LeakageError, match=rf"^Page {unknown} .*\bseed\b"):
            window.seen.host(unknown)


def test_what_was_visited_can_be_read():
    web = recorded(a="<p>one balloon <a href=b>big race</a></p>")
    window = SimulatedWeb(web, NOTHING)
    window.seeds([0])
    window.get(0)
    start, end = window.seen.link_positions(0)
    anchor = window.seen.words(0)[start[0] : end[0]]
    assert [web.vocabulary[word] for word in anchor] == ["big", "race"]


def test_the_same_page_is_not_got_twice():
    window = SimulatedWeb(SyntheticWeb({"a": ["b"]}, redirects={"b": "a"}).recorded, NOTHING)
    window.seeds([0])
    visit_of(window, 0)
    assert window.get(1) is MissReason.REPEATED
    with pytest.raises(PluginError, match=r"^Page 0 .*\btwice\b"):
        window.get(0)


def test_predictions_are_made_for_strategies_that_want_them():
    class Curious(BreadthFirst):
        context_words = 20
        predicted = None

        def tell(self, visit):
            super().tell(visit)
            self.predicted = self.predicted if self.predicted is not None else visit.links.predicted.tolist()

    filler = "race " * 30
    web = recorded(a=f"<a href=b>balloon</a> {filler} <a href=c>race</a>")
    strategy = Curious()
    scores = PageScores(web, Cosine().for_topic(Topic("t", ("balloon",)), web))
    simulate(web, strategy, [0], scores, rng=Random(0), page_budget=1, plain=True)
    # Around the first link: balloon and the races after it; around the second only races.
    assert strategy.predicted[0] > 0
    assert strategy.predicted[1] == 0


def test_hosts_are_numbered_in_order_of_discovery():
    # In the recording the hosts are numbered x, y, z; in the crawl it is z, y, x.
    hosts = {"d": "x", "b": "y", "a": "z", "c": "z"}
    web = SyntheticWeb({"d": [], "b": [], "a": ["b", "c", "d"]}, host_of=hosts)
    window = SimulatedWeb(web.recorded, NOTHING)
    (seed,) = window.seeds([2])
    assert seed.host == 0
    assert visit_of(window, 0).links.hosts.tolist() == [1, 0, 2]


def test_link_positions_are_those_of_the_links_shown():
    web = recorded(a="<p>one <a href=b rel=nofollow>two</a> <a href=c>big race</a></p>")
    window = SimulatedWeb(web, NOTHING)
    window.seeds([0])
    assert len(visit_of(window, 0).links) == 1
    start, end = window.seen.link_positions(0)
    assert [web.vocabulary[word] for word in window.seen.words(0)[start[0] : end[0]]] == ["big", "race"]


def test_what_was_read_gives_no_hold_on_the_rest_of_the_web():
    web = recorded(a="<p>one balloon", b="<p>secret")
    window = SimulatedWeb(web, NOTHING)
    window.seeds([0])
    window.get(0)
    assert window.seen.words(0).base is None


class Listener(BreadthFirst):
    def __init__(self):
        super().__init__()
        self.dropped = []

    def drop(self, page):
        self.dropped.append(page)


def test_the_strategy_is_told_of_pages_that_cannot_be_had():
    strategy = Listener()
    crawl(SyntheticWeb({"a": ["b", "c", "d"]}, fails={"b"}, redirects={"d": "c"}), strategy)
    assert strategy.dropped == [1, 3]


@pytest.fixture
def ticking(monkeypatch):
    """A clock that shows 1 us more each time it is read, instead of the clocks of the simulator."""
    clock = iter(range(0, 10**9, 1000))
    for name in ("simulator.perf_counter_ns", "simulator.thread_time_ns", "scores.perf_counter_ns"):
        monkeypatch.setattr(f"scenthound.simulator.{name}", lambda: next(clock))


@pytest.mark.usefixtures("ticking")
def test_a_page_is_charged_what_was_spent_since_the_page_before():
    done = crawl(SyntheticWeb({"a": ["dead", "b"]}, fails={"dead"}), BreadthFirst())
    # Every call takes 1 us by this clock. a: start, ask, tell. b: ask, drop, ask, tell.
    assert done.cpu_us.tolist() == [3.0, 4.0]


@pytest.mark.usefixtures("ticking")
def test_time_that_the_processor_gave_to_others_is_not_charged(monkeypatch):
    cpu = iter([0, 5_000])
    monkeypatch.setattr("scenthound.simulator.simulator.thread_time_ns", lambda: next(cpu))
    done = crawl(SyntheticWeb({"a": ["b"]}), BreadthFirst())
    # Wall: begun at 0; start, ask, tell, ask, tell and the ask that ends it read 12 times more; the last look is at 13.
    assert done.cpu_us.tolist() == pytest.approx([3 * 5 / 13, 2 * 5 / 13])


@pytest.mark.usefixtures("ticking")
def test_scoring_is_a_cost_of_strategies_that_look_at_the_score():
    web = recorded(a="<p>balloon")
    scores = PageScores(web, Cosine().for_topic(Topic("t", ("balloon",)), web))
    costs = [
        simulate(web, strategy, [0], scores, rng=Random(0), page_budget=1, plain=True).cpu_us.tolist()
        for strategy in (BreadthFirst(), BestFirst(), BestFirst())
    ]
    # start, ask, tell; and for Best-First the score, also when it was known already.
    assert costs == [[3.0], [4.0], [4.0]]


class Insists(BreadthFirst):
    def ask(self, n, ready=None):
        return [0]


class AnswersWithNothing(BreadthFirst):
    def ask(self, n, ready=None):
        return None


@pytest.mark.parametrize(("strategy", "says"), [(Insists, "requested twice"), (AnswersWithNothing, "not NoneType")])
def test_a_strategy_that_breaks_its_contract_is_stopped(strategy, says):
    with pytest.raises(PluginError, match=says):
        crawl(SyntheticWeb({"a": ["b"]}), strategy())


class Prying:
    """A relevance model that keeps what it is handed."""

    def for_topic(self, topic, index):
        self.handed = topic, index
        return self

    def page(self, words, norm):
        self.words = words
        return 0.5

    def contexts(self, words, first, last):
        return np.zeros(len(first))


def test_a_relevance_model_is_told_words_and_no_pages():
    web = recorded(a="<p>balloon", b="<p>secret")
    topic = Topic("t", ("balloon",), examples=("http://w.test/b",), targets=("http://w.test/b",))
    model = Prying()
    scores_for(topic, model, web).page(0)
    told_topic, index = model.handed
    assert (told_topic.keywords, told_topic.examples, told_topic.targets) == (("balloon",), (), ())
    assert {name for name in dir(index) if name[0] != "_"} == {"find_words", "n_words", "stems_from"}
    assert model.words.base is None


@pytest.mark.parametrize("score", [float("nan"), 7.0, -1.0])
def test_a_score_beyond_its_range_is_refused(score):
    class Wild(Prying):
        def page(self, words, norm):
            return score

    web = recorded(a="<p>balloon")
    with pytest.raises(PluginError, match=rf" {score}; .* 0 .* 1\."):
        scores_for(Topic("t", ("balloon",)), Wild(), web).page(0)
