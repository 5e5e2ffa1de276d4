"""Scent: features by hand and by a slow version, and topics that say little."""

import math
from pathlib import Path
from random import Random

import numpy as np
import pytest

from oracles.link_evidence import SlowEvidence
from scenthound.errors import InvalidInput, PluginError
from scenthound.model import Links, Topic, Visit
from scenthound.native import _native
from scenthound.relevance.rocchio import Rocchio
from scenthound.simulator.scores import TopicWords, scores_for
from scenthound.simulator.simulator import simulate
from scenthound.store.batches import RawPage
from scenthound.store.builder import web_of
from scenthound.strategies import link_evidence
from scenthound.strategies.best_n_first import LinkContext
from scenthound.strategies.link_evidence import (
    FEATURES,
    MAX_LOG_ODDS,
    FoundLinks,
    LinkEvidence,
    WordScores,
    log_odds,
)
from scenthound.strategies.scent import LEAST_HIGHEST, Scent
from scenthound.strategies.scent_weights import FittedFeature, ScentFile, default_weights, read_weights
from scenthound.strategies.word_odds import PRIOR_PAGES, WordOdds
from scenthound.testing import SyntheticWeb, check_strategy, visited
from slow_cases import few_of
from stepped_crawl import SteppedCrawl, trace_with_checkpoint


# The defaults: test_strategies.py.
@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{"n": 3, "buffer": 8}, {"max_words": 0}, {"window": 4, "buffer": 40}])
def test_scent_keeps_the_contract(parameters):
    check_strategy(lambda: Scent(**parameters))


def test_a_state_survives_a_checkpoint():
    web = SyntheticWeb.random(Random(3))
    assert trace_with_checkpoint(Scent, web, 15) == visited(Scent(), web)


# b is linked from a (relevance 1) and from c (0.9); d from a, next to b and c; e from c only. The highest scores are 1,
# so that they are not scaled.
def worked(factor: float = 1.0) -> SyntheticWeb:
    """All scores times the factor."""
    relevance = {"a": 1.0, "c": 0.9, "b": 0.2, "d": 0.0, "e": 0.0}
    predicted = {("a", "b"): 0.5, ("a", "c"): 1.0, ("a", "d"): 0.1, ("c", "b"): 0.8, ("c", "e"): 0.3}
    anchors = {("a", "b"): 0.2, ("a", "c"): 1.0, ("c", "b"): 0.5}
    return SyntheticWeb(
        {"a": ["b", "c", "d"], "c": ["b", "e"], "b": [], "d": [], "e": []},
        relevance={page: factor * value for page, value in relevance.items()},
        predicted={link: factor * value for link, value in predicted.items()},
        anchors={link: factor * value for link, value in anchors.items()},
        texts={"a": "storm at sea [b] [c] wave harbour [d] island", "c": "reef [b] tide [e] coast"},
    )


WORKED = worked()


def logit(p: float) -> float:
    return math.log(p / (1 - p))


def features_of(crawl: SteppedCrawl, name: str) -> dict[str, float]:
    pages, features = crawl.strategy.queued_features()
    return dict(zip(FEATURES, features[pages.tolist().index(crawl.number(name))].tolist(), strict=True))


def test_the_features_worked_out_by_hand():
    crawl = SteppedCrawl(Scent(), WORKED)
    crawl.step()
    assert crawl.trace == ["a"]
    crawl.step()
    assert crawl.trace == ["a", "c"]
    found = features_of(crawl, "b")
    # a and c link to b: two of five links each from pages of relevance 1 (three links) and 0.9 (two links).
    mean, share = (1 + 0.9) / 2, (3 * 1 + 2 * 0.9) / 5
    assert found["page_mean"] == pytest.approx((MAX_LOG_ODDS + logit(0.9)) / 2, abs=1e-6)
    assert found["context_mean"] == pytest.approx((0 + logit(0.8)) / 2, abs=1e-6)
    assert found["anchor_mean"] == pytest.approx((logit(0.2) + 0) / 2, abs=1e-6)
    assert found["anchor_best"] == pytest.approx(0, abs=1e-6)
    assert found["enrichment"] == pytest.approx(math.sqrt((1.9 + 2 * share) / (4 * share)), abs=1e-6)
    # On c, its latest parent, b stands next to e, which was not visited.
    assert found["neighbours"] == pytest.approx(0, abs=1e-6)
    assert found["relevant_neighbours"] == 0
    assert found["n_parents"] == pytest.approx(math.sqrt(2))
    # a gives a third of its cash of 1 to each link, and c half of what it got. Five URLs are known.
    assert found["cash"] == pytest.approx(math.sqrt((1 / 3 + 1 / 6) * 5), abs=1e-6)
    # Of the pages that a links to, c was visited; none of those that c links to.
    of_a = (0.9 + 5 * mean) / (1 + 5) - mean
    assert found["siblings"] == pytest.approx((of_a + 0) / 2, abs=1e-6)
    assert found["relevant_siblings"] == pytest.approx(math.sqrt(0.9), abs=1e-6)
    assert found["n_links"] == pytest.approx((math.sqrt(3) + math.sqrt(2)) / 2, abs=1e-6)
    # d stands next to c, which was visited.
    of_d = features_of(crawl, "d")
    assert of_d["neighbours"] == pytest.approx((0.9 + mean) / 2 - mean, abs=1e-6)
    assert of_d["relevant_neighbours"] == pytest.approx(math.sqrt(0.9), abs=1e-6)


def test_the_score_is_the_weighted_sum_of_clipped_features():
    crawl = SteppedCrawl(Scent(), WORKED)
    crawl.step()
    crawl.step()
    weights = default_weights()
    for name in "bde":
        features = np.array(list(features_of(crawl, name).values()))
        expected = (weights[0] * np.clip(features, weights[1], weights[2])).sum()
        # The URL was scored when it was found, with the averages of that moment.
        crawl.strategy._score(np.array([crawl.number(name)], np.int32))
        assert crawl.strategy._frontier.score(crawl.number(name)) == pytest.approx(expected)


def test_the_range_of_the_relevance_model_does_not_matter():
    # A power of 2, so that nothing is rounded.
    crawls = [SteppedCrawl(Scent(), web) for web in (WORKED, worked(LEAST_HIGHEST))]
    for crawl in crawls:
        for _ in range(2):
            crawl.step()
    whole, low = (crawl.strategy.queued_features() for crawl in crawls)
    assert crawls[0].trace == crawls[1].trace
    assert np.array_equal(whole[0], low[0])
    assert np.array_equal(whole[1], low[1])


def test_an_irrelevant_start_page_does_not_count_as_relevant():
    crawl = SteppedCrawl(Scent(), worked(0.01))
    crawl.step()
    assert crawl.strategy._evidence.mean_relevance == pytest.approx(0.01 / LEAST_HIGHEST)


def test_a_word_speaks_for_relevance_as_far_as_it_was_seen():
    odds = WordOdds(max_words=10)
    for _ in range(30):
        odds.learn(np.array([1, 1, 3, 12], np.int32), 1.0)
        odds.learn(np.array([2, 3, 0], np.int32), 0.0)
    odds.update(0.5)
    share = (30 + PRIOR_PAGES * 0.5) / (30 + PRIOR_PAGES)
    assert odds.log_odds[1] == pytest.approx(logit(share))
    assert odds.log_odds[2] == pytest.approx(-logit(share))
    assert odds.log_odds[3] == pytest.approx(0)
    assert len(odds.log_odds) <= 12  # of max_words
    assert len(odds.log_odds) <= 10


def test_log_odds_are_clipped():
    assert log_odds(np.array([0.0, 0.5, 1.0, 1 + 1e-9])).tolist() == [-6, 0, 6, 6]


def test_start_pages_are_visited_first_however_they_are_linked():
    web = SyntheticWeb({"a": ["c", "b"], "b": ["c"], "c": []}, relevance={"a": 0.0})
    crawl = SteppedCrawl(Scent(), web, seeds=["a", "b"])
    crawl.finish()
    assert set(crawl.trace[:2]) == {"a", "b"}


def test_links_of_earlier_pages_that_came_into_reach_have_no_words():
    """A crawl with a maximum depth adds them to the links of a visit."""
    crawl = SteppedCrawl(Scent(), WORKED)
    crawl.step()
    [page] = crawl.strategy.ask(1)
    crawl.window.get(page)
    visit = crawl.window.visit(page)
    more = np.array([crawl.number("d"), crawl.number("d") + 90], np.int32)
    longer = [np.append(part, end) for part, end in ((visit.links.pages, more), (visit.links.hosts, [0, 0]))]
    scores = [np.append(part, [0.9, 0.9]) for part in (visit.links.predicted, visit.links.anchors)]
    links = Links(*(each.astype(np.int32) for each in longer), *scores)
    crawl.strategy.tell(Visit(page, visit.relevance, links))
    assert len(crawl.strategy._evidence.words(more[1])) == 0
    assert crawl.strategy._frontier.score(int(more[1])) is not None


def test_the_words_are_those_around_the_link_with_the_best_context():
    web = SyntheticWeb(
        {},
        relevance={"a": 0.5},
        predicted={("a", "b"): 0.9},
        texts={"a": "storm wave [b] " + "calm " * 30 + "reef tide [b] coast"},
    )
    web._predicted[0][0] = 0.1  # that of the first link
    crawl = SteppedCrawl(Scent(window=4), web)
    crawl.step()
    found = set(crawl.strategy._evidence.words(crawl.number("b")).tolist())
    assert found == set(web.recorded.find_words(["reef", "tide", "coast"]).tolist())


def random_page(rng: np.random.Generator) -> tuple[float, FoundLinks, np.ndarray]:
    """The relevance of a page, its links and its words."""
    n_links = int(rng.integers(0, 30))
    words = rng.integers(0, 40, int(rng.integers(0, 200))).astype(np.int32)
    first, last = np.sort(rng.integers(0, len(words) + 1, (2, n_links)), axis=0).astype(np.int32)
    pages = rng.choice(200, n_links, replace=False).astype(np.int32)
    context, anchor = log_odds(rng.random((2, n_links)))
    return float(rng.random()), FoundLinks(pages, pages % 7, context, anchor, first.copy(), last.copy(), 0.3), words


@pytest.mark.parametrize("seed", few_of(range(6), 2))
def test_evidence_features_and_scores_are_those_of_the_slow_version_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    evidence, slow = LinkEvidence(), SlowEvidence([0, 1])
    evidence.start(np.array([0, 1], np.int32))
    relevance_sum, relevance_of_links, n_links, n_known = 0.0, 0.0, 0, 0
    for page in range(60):
        relevance, links, words = random_page(rng)
        assert evidence.visit(page, relevance).tolist() == slow.visit(page, relevance)
        evidence.add_links(page, relevance, links, words)
        slow.add_links(page, relevance, links, words.tolist())
        relevance_sum += relevance
        relevance_of_links += relevance * len(links)
        n_links += len(links)
        n_known = max(n_known, int(links.pages.max(initial=-1)) + 1)
    words = WordScores(rng.normal(size=30), rng.normal(size=25))
    averages = relevance_sum / 60, relevance_of_links / n_links, n_known
    pages, hosts, scores = evidence.scored(np.arange(200, dtype=np.int32), words, default_weights())
    assert pages.tolist() == [
        page for page in range(200) if slow.url(page).relevance == -1 and slow.url(page).n_parents
    ]
    assert hosts.tolist() == [page % 7 for page in pages.tolist()]
    rows = [slow.features(page, averages, (words.context.tolist(), words.page.tolist())) for page in pages]
    assert evidence.features(pages, words).tolist() == rows
    for score, row in zip(scores.tolist(), rows, strict=True):
        expected = 0.0
        for (weight, low, high), value in zip(default_weights().T, row, strict=True):
            expected += weight * min(max(value, low), high)
        assert score == expected


def test_the_extension_refuses_links_beyond_its_arrays():
    evidence = LinkEvidence()
    evidence.reach(4)
    one, number = np.array([9], np.int32), np.array([0.5])
    arguments = (np.zeros(4), one, one, number, number, one, one, one)
    with pytest.raises(ValueError, match="beyond the evidence"):
        _native.add_link_evidence(evidence._urls, 0, *arguments)
    with pytest.raises(ValueError, match="beyond the evidence"):
        _native.visit_link_evidence(evidence._urls, 4, 0.5)
    with pytest.raises(ValueError, match="beyond the evidence"):
        _native.link_features(evidence._urls, np.array([3, 4], np.int32), np.ones(3), number, number)
    weights = np.zeros((3, len(FEATURES) - 1))
    with pytest.raises(ValueError, match="for each feature"):
        _native.score_link_evidence(evidence._urls, one, np.zeros(3), number, number, weights)
    sums = np.zeros(9)
    for n_counts, words in ((9, one), (8, one[:0]), (9, np.array([3, -1], np.int32))):
        with pytest.raises(ValueError, match="words beyond"):
            _native.learn_words(sums, np.zeros(n_counts), words, 0.5)
    assert not sums.any()


def test_words_are_learned_once_for_each_page():
    odds, pages = WordOdds(70), [{3, 69}, {3}, {3, 5}]
    for words, relevance in zip(pages, (0.9, 0.2, 0.4), strict=True):
        # Twice each, with a stop word and one that is beyond the limit.
        odds.learn(np.array([0, 70, *words, *words], np.int32), relevance)
    odds.update(0.4)
    for word, n_pages, relevance in ((3, 3, 1.5), (5, 1, 0.4), (69, 1, 0.9), (4, 0, 0.0)):
        share = (relevance + PRIOR_PAGES * 0.4) / (n_pages + PRIOR_PAGES)
        assert odds.log_odds[word] == pytest.approx(math.log(share / (1 - share)) - math.log(0.4 / 0.6))
    assert len(odds.log_odds) == 70


def test_a_driver_that_gives_no_anchor_scores_is_named():
    crawl = SteppedCrawl(Scent(), WORKED)
    [page] = crawl.strategy.ask(1)
    crawl.window.get(page)
    links = Links(np.array([1], np.int32), np.array([0], np.int32), np.array([0.5]))
    with pytest.raises(PluginError, match="needs_anchors"):
        crawl.strategy.tell(Visit(page, 0.5, links))


# Topics and webs that say little. Relevant pages are about balloons, and are linked by words about balloons.


#: The number of a page that is about nothing, and links to the first pages.
PORTAL = 1000
TEXTS = {
    "en": ("hot air balloon burner basket flight pilot envelope", "garden soil tomato seed compost spade rose tree"),
    "ja": ("熱気球の飛行と気球の歴史と気球のバーナー", "庭の土とトマトの種と園芸の野菜"),
    "ru": ("воздушный шар горелка корзина полёт пилот", "огород почва томат семена компост лопата"),
}


def balloon_site(n_pages: int = 120, *, anchors: bool = True, language: str = "en") -> list[RawPage]:
    """Every third page is about balloons. Pages link to the next ones of both kinds."""
    on_topic, off_topic = TEXTS[language]
    pages = []
    for number in range(n_pages):
        text = on_topic if number % 3 == 0 else off_topic
        linked = [(number + step) % n_pages for step in (1, 3, 6, 9, 2, 15)]
        links = "".join(
            f"<p>{text} {text} {text} "
            f'<a href="/{other}">{(on_topic if other % 3 == 0 else off_topic) if anchors else ""}</a> {text} {text}</p>'
            for other in linked
        )
        pages.append(RawPage(f"http://one.test/{number}", f"<title>{text} {number}</title>{links}".encode(), None))
    portal = "<title>Welcome</title>" + "".join(f'<p>Read page <a href="/{n}">{n}</a> next.</p>' for n in range(6))
    pages.append(RawPage(f"http://one.test/{PORTAL}", portal.encode(), None))
    return pages


def n_relevant(strategy, pages: list[RawPage], topic: Topic, start: int = 0, budget: int = 30) -> int:
    web = web_of(pages)
    crawl = simulate(
        web,
        strategy,
        [start],
        scores_for(topic, Rocchio(), web),
        rng=Random(1),
        page_budget=budget,
        topic=TopicWords.of(topic, web),
        plain=True,
    )
    assert len(crawl.pages) == budget
    return int((np.array([int(web.url(page).rsplit("/", 1)[1]) for page in crawl.pages.tolist()]) % 3 == 0).sum())


BALLOONS = Topic(keywords=["balloon"])


@pytest.mark.parametrize(
    ("site", "topic", "start"),
    [
        pytest.param(balloon_site(), BALLOONS, 0, id="one keyword, one host"),
        pytest.param(balloon_site(), BALLOONS, 120, id="no start page on topic"),
        pytest.param(balloon_site(anchors=False), BALLOONS, 0, id="links without text"),
        pytest.param(balloon_site(language="ja"), Topic(keywords=["気球"]), 0, id="Japanese"),
        pytest.param(balloon_site(language="ru"), Topic(keywords=["воздушный шар"]), 0, id="Russian"),
    ],
)
def test_topics_that_say_little_are_crawled_as_well_as_by_link_context(site, topic, start):
    found = n_relevant(Scent(), site, topic, start)
    assert found >= n_relevant(LinkContext(), site, topic, start) - 3
    assert found > 30 / 3 + 2  # more than by chance


@pytest.mark.parametrize("relevance", [0.0, 1.0, 0.5])
def test_if_all_pages_are_equally_relevant_it_follows_the_links(relevance):
    names = [f"p{number}" for number in range(40)]
    links = {name: names[number + 1 : number + 5] for number, name in enumerate(names)}
    web = SyntheticWeb(links, relevance=dict.fromkeys(names, relevance))
    assert sorted(visited(Scent(), web)) == sorted(names)


def test_the_best_context_decides_between_links_that_are_otherwise_equal():
    web = SyntheticWeb({"a": ["b", "c", "d", "e"]}, relevance={"a": 0.6}, predicted={("a", "c"): 0.9, ("a", "e"): 0.3})
    assert visited(Scent(), web)[1] == "c"


# Files of weights


def scent_file(**changes: FittedFeature) -> ScentFile:
    return ScentFile({**{name: FittedFeature(0.0, -1.0, 1.0) for name in FEATURES}, **changes})


def test_weights_are_read_as_they_were_written(tmp_path: Path):
    written = scent_file(cash=FittedFeature(0.1 + 0.2, -1e-7, 1e6, (0.2, 0.4)))
    path = tmp_path / "weights.toml"
    path.write_text(written.text(), encoding="utf-8")
    assert read_weights(path).tolist() == written.weights().tolist()
    assert Scent(file=str(path)).parameters["file"] == str(path)


def test_weights_of_a_file_decide_the_order(tmp_path: Path):
    web = SyntheticWeb({"a": ["b", "c"]}, relevance={"a": 0.6}, anchors={("a", "b"): 0.1, ("a", "c"): 0.9})
    for weight, expected in ((1.0, "c"), (-1.0, "b")):
        path = tmp_path / f"{weight}.toml"
        path.write_text(scent_file(anchor_best=FittedFeature(weight, -6, 6)).text(), encoding="utf-8")
        assert visited(Scent(file=str(path)), web)[1] == expected


CASH = "[feature.cash]\nweight = 0.0\nlow = -1.0\nhigh = 1.0\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "not toml", "not TOML"),
        (lambda text: text.replace("scent weights", "rank function"), "format is not"),
        (lambda text: text.replace("version = 2", "version = 1"), "version is 1.*scenthound fit-scent"),
        (lambda text: text.replace("[feature.cash]", "[feature.cas]"), "Did you mean 'cash'"),
        (lambda text: text.replace(CASH, ""), "give it the weight 0"),
        (lambda text: text.replace("weight = 0.0", 'weight = "much"', 1), "feature.*weight: Expected"),
        (lambda text: text.replace("weight = 0.0", "weight = nan", 1), "weight: Expected"),
        (lambda text: text.replace("weight = 0.0", f"weight = {10**400}", 1), "weight"),
        (lambda text: text.replace("weight = 0.0", "weight = 1e308", 1), "weight: Expected .* 1000000"),
        (lambda text: text.replace("version = 2", "version = true"), "version is True"),
        (lambda text: text.replace("low = -1.0", "low = 2.0", 1), "lower limit"),
        (lambda text: 'format = "scenthound scent weights"\nversion = 2\n', "feature.NAME"),
    ],
)
def test_a_file_that_has_no_weights_costs_one_line(change, message, tmp_path: Path):
    path = tmp_path / "weights.toml"
    path.write_text(change(scent_file().text()), encoding="utf-8")
    with pytest.raises(InvalidInput, match=message) as error:
        read_weights(path)
    assert "\n" not in str(error.value)


def test_the_weights_of_the_package_have_all_features_and_intervals():
    path = Path(link_evidence.__file__).with_name("scent.toml")
    text = path.read_text(encoding="utf-8")
    assert text.count("[feature.") == len(FEATURES)
    # Those that are left out have no interval.
    assert text.count("interval = ") == len(FEATURES) - text.count("weight = 0.0\n") > 10
    assert read_weights(path).shape == (3, len(FEATURES))
