"""What judges know of the crawls for a topic, and that they find it out only when asked."""

import numpy as np
import pytest

import scenthound.experiments.ground_truth as module
from scenthound.experiments.bounds import page_graph
from scenthound.experiments.ground_truth import RelevantShares, TopicGroundTruth, crawled_page_rank, other_seeds
from scenthound.experiments.starts import Start
from scenthound.metrics.base import PoolFacts, parse_metric
from scenthound.model import Topic, Trace
from scenthound.simulator.web import VisibleLinks
from scenthound.testing import SyntheticWeb

TEXTS = {
    "a": "balloon race",
    "b": "balloon festival",
    "c": "train station",
    "d": "train timetable ticket",
    "e": "balloon balloon race basket",
    "f": "station ticket",
}
LINKS = {"a": ["b", "c", "f"], "b": ["a"], "c": ["a", "d"], "d": [], "e": ["a"], "f": ["f", "b"]}
WEB = SyntheticWeb(LINKS, texts=TEXTS, host_of={"c": "rail", "d": "rail"})
A, B, C, D, E, F = (WEB.names.index(name) for name in "abcdef")
TOPIC = Topic("t", ("balloons", "racing"), description="A balloon race.", examples=(WEB.url("a"), WEB.url("b")))
START = Start("t", 0, (A,), (B,))
OTHER = Start("trains", 0, (C, D), ())


def trace(*pages):
    return Trace("t", "s", 0, np.array(pages, np.int32), np.zeros(len(pages)))


TRACES = [trace(A, B, C), trace(A, C, E)]


def judge(topic=TOPIC, **options):
    return TopicGroundTruth(WEB.recorded, topic, TRACES, **options)


def facts(topic=TOPIC, start=START, starts=(), **options) -> PoolFacts:
    return judge(topic, **options).ground_truth(start, starts).facts


def page_rank():
    return crawled_page_rank(page_graph(WEB.recorded, VisibleLinks(WEB.recorded)), TRACES)


def test_the_pool_is_the_union_of_all_crawls_and_relevant_are_named_pages():
    ground_truth = judge().ground_truth(START)
    assert ground_truth.pool.tolist() == sorted((A, B, C, E))
    assert ground_truth.relevant.tolist() == sorted((A, B))
    assert (ground_truth.seeds.tolist(), ground_truth.targets.tolist()) == ([A], [B])
    assert ground_truth.positions(trace(E, A)).tolist() == [ground_truth.pool.tolist().index(page) for page in (E, A)]


def test_starts_of_a_topic_share_the_facts_of_the_pool():
    both = judge()
    one, other = both.ground_truth(START), both.ground_truth(Start("t", 1, (B,), (A,)))
    assert (one.seeds.tolist(), other.seeds.tolist()) == ([A], [B])
    assert one.facts.similarity() is other.facts.similarity()
    assert both.ground_truth(START).facts is one.facts


def test_the_page_that_is_the_description_ranks_first_and_those_without_its_words_last():
    # Page c shares no word with the description; of the pool b, e and a only a has no other word.
    ranks = dict(zip(sorted((A, B, C, E)), facts().lexical_rank(), strict=True))
    assert ranks[A] == 1
    assert ranks[C] == 4
    assert facts().similarity()[sorted((A, B, C, E)).index(A)] == pytest.approx(1)


def test_the_printed_formula_ranks_differently():
    # Balloon stands twice on c, among three words; once on b, where train stands twice. By the maxima of the pages c
    # comes before b. By that of the pool, which is 6, two balloons weigh little more than one, and c has a word more.
    texts = {"a": "race balloon", "b": "balloon train train", "c": "race train balloon balloon", "d": "station " * 6}
    web = SyntheticWeb(dict.fromkeys("abcd", ()), texts=texts)
    topic = Topic("t", ("balloon",), description="Balloon")
    known = TopicGroundTruth(web.recorded, topic, [trace(0, 1, 2, 3)]).ground_truth(START).facts
    assert known.lexical_rank().tolist() == [1, 3, 2, 4]
    assert known.lexical_rank(as_printed=True).tolist() == [1, 2, 3, 4]


def test_a_topic_without_description_has_no_lexical_rank_and_without_keywords_in_the_web_no_linkage_rank():
    bare = Topic("t", ("zeppelin",))
    for known in (
        facts(bare, page_rank=page_rank()).linkage_rank(),
        facts(bare).lexical_rank(),
        facts(bare).similarity(),
    ):
        assert len(known) == 0
    # And without PageRank there is none either.
    assert len(facts().linkage_rank()) == 0


def test_page_rank_is_over_links_among_crawled_pages_only():
    ranks = page_rank()
    assert np.isnan(ranks[[D, F]]).all()
    assert np.nansum(ranks) == pytest.approx(1)
    # Nothing links to e; a, which b, c and e link to, comes first.
    assert np.nanargmin(ranks) == E
    assert np.nanargmax(ranks) == A


def test_linkage_ranks_use_distinct_keyword_stems_and_then_page_rank():
    # Keywords balloon and race: a and e have both, b one, c none; a has the higher PageRank.
    ranks = facts(page_rank=page_rank()).linkage_rank()
    assert dict(zip(sorted((A, B, C, E)), ranks, strict=True)) == {A: 1, E: 2, B: 3, C: 4}
    assert facts(page_rank=page_rank).linkage_rank().tolist() == ranks.tolist()
    # Whatever the ranks of pages that nobody visited.
    made_up = np.zeros(6)
    made_up[[A, E, F]] = (0.1, 0.2, 0.9)
    ranks = facts(page_rank=made_up).linkage_rank()
    assert dict(zip(sorted((A, B, C, E)), ranks, strict=True)) == {E: 1, A: 2, B: 3, C: 4}


def test_facts_are_computed_lazily(monkeypatch):
    def refuse(*_args, **_named):
        raise AssertionError("asked for too early")

    for name in ("similarities", "lexical_ranks", "linkage_ranks", "trained_judge"):
        monkeypatch.setattr(module, name, refuse)
    ground_truth = judge(page_rank=refuse).ground_truth(START, (START, OTHER))
    assert parse_metric("precision").curve(TRACES[0], ground_truth, 3) == pytest.approx([1, 1, 2 / 3])


def test_hosts_are_those_of_the_pages_and_of_all_seeds():
    known = facts(start=Start("t", 0, (A, D), ()))
    hosts = dict(zip(sorted((A, B, C, E)), known.hosts().tolist(), strict=True))
    assert hosts[A] == hosts[B] == hosts[E] != hosts[C]
    # Page d is on c's host, and nobody visited it.
    assert sorted(known.seed_hosts().tolist()) == sorted({hosts[A], hosts[C]})


def test_a_web_of_one_host_has_no_host_facts():
    web = SyntheticWeb(LINKS, texts=TEXTS)
    ground_truth = TopicGroundTruth(web.recorded, TOPIC, TRACES).ground_truth(START)
    assert len(ground_truth.facts.hosts()) == 0
    assert np.isnan(parse_metric("new_relevant_hosts").curve(TRACES[0], ground_truth, 3)).all()


def test_other_seeds_are_those_of_topics_that_share_none_under_the_same_random_seed():
    starts = [
        START,
        OTHER,
        Start("shares", 0, (A, F), ()),
        Start("later", 1, (F,), ()),
        Start("again", 0, (D, E), ()),
    ]
    assert other_seeds(START, starts) == (C, D, E)


def test_classifiers_learn_seeds_against_those_of_other_topics():
    accepted = facts(starts=(START, OTHER)).accepted_by("rocchio")
    assert dict(zip(sorted((A, B, C, E)), accepted.tolist(), strict=True)) == {A: True, B: True, C: False, E: True}
    assert facts(starts=(START,)).accepted_by("rocchio") is None
    assert facts(start=Start("t", 0, (), ()), starts=(OTHER,)).accepted_by("rocchio") is None


def test_voters_learn_from_pages_set_aside_and_two_of_three_decide(monkeypatch):
    opinions = {"svm": [1, 1, 0, 0], "naive_bayes": [1, 0, 0, 1], "neural_net": [0, 1, 0, 0]}
    learnt = []

    class Opinion:
        def __init__(self, name):
            self.name = name

        def accepts(self, pages):
            assert len(pages) == 4
            return np.array(opinions[self.name], np.bool_)

    def trained(name, labelled):
        learnt.append((name, len(labelled.rows), labelled.is_positive.tolist()))
        return Opinion(name)

    monkeypatch.setattr(module, "trained_judge", trained)
    known = facts(start=Start("t", 0, (A,), (), judging=(B,), judging_negatives=(C, D)))
    assert known.accepted_by("vote").tolist() == [True, True, False, False]
    assert known.accepted_by("svm").tolist() == [True, True, False, False]
    # Each was trained once, though it was asked for twice.
    assert learnt == [(name, 3, [True, False, False]) for name in opinions]
    assert facts().accepted_by("vote") is None


def test_calibrated_voters_are_told_the_share_of_the_other_topics(monkeypatch):
    told = []

    class Opinion:
        def accepts(self, pages):
            return np.ones(len(pages), np.bool_)

    def calibrated(name, labelled, share):
        told.append((name, len(labelled.rows), share))
        return Opinion()

    monkeypatch.setattr(module, "calibrated_judge", calibrated)
    start = Start("t", 0, (A,), (), judging=(A, B), judging_negatives=(C, D))
    others = [Topic("one", examples=(WEB.url("c"),)), Topic("two", examples=tuple(map(WEB.url, "cd")))]
    shares = RelevantShares(WEB.recorded, [TOPIC, *others])
    assert facts(start=start, shares=shares).accepted_by("vote", calibrated=True).tolist() == [True] * 4
    # One and two of six pages; those of the topic itself do not count.
    assert told == [(name, 4, pytest.approx(1.5 / 6)) for name in ("svm", "naive_bayes", "neural_net")]


def test_judges_are_not_calibrated_without_other_topics_or_with_a_single_page():
    start = Start("t", 0, (A,), (), judging=(A, B), judging_negatives=(C, D))
    alone = RelevantShares(WEB.recorded, [TOPIC])
    assert alone.for_topic("t") is None
    assert facts(start=start, shares=alone).accepted_by("svm", calibrated=True) is None
    assert facts(start=start).accepted_by("vote", calibrated=True) is None
    both = RelevantShares(WEB.recorded, [TOPIC, Topic("one", examples=(WEB.url("c"),))])
    single = Start("t", 0, (A,), (), judging=(A,), judging_negatives=(C, D))
    assert facts(start=single, shares=both).accepted_by("svm", calibrated=True) is None
    assert facts(start=start, shares=both).accepted_by("svm", calibrated=True) is not None


# The default relevance model as a judge

OTHER_WORDS = ("cloud", "stone", "music", "winter", "table", "bread")


def text_of(i: int) -> str:
    others = " ".join(OTHER_WORDS[i * k % len(OTHER_WORDS)] for k in (1, 2, 3))
    own = " ".join(f"own{i}x{k}" for k in range(12))
    return f"{'paper' if i % 4 else 'balloon'} {others} {own}"


#: Every fourth page is about balloons.
MANY = SyntheticWeb({str(i): () for i in range(800)}, texts={str(i): text_of(i) for i in range(800)})
FIRST, SECOND, FAR = (MANY.recorded.page_of(MANY.url(name)) for name in ("0", "4", "1"))
BALLOONS = Topic("t", ("balloon",), seeds=(MANY.url("0"),))
ALL = range(800)


def on_topic(topic=BALLOONS, crawls=(ALL,), seeds=(FIRST,)):
    known = TopicGroundTruth(MANY.recorded, topic, [trace(*pages) for pages in crawls])
    return known.ground_truth(Start("t", 0, seeds, ())).facts.accepted_by("relevance_model")


def test_the_relevance_model_judges_the_pages_of_a_topic_without_examples():
    assert on_topic().tolist() == [int(MANY.names[page]) % 4 == 0 for page in ALL]


def test_the_model_learns_start_pages_first_and_then_pages_of_the_pool_in_an_order_of_their_own(monkeypatch):
    learned: list[tuple[str, bool]] = []
    learn = module.RocchioRelevance.learn

    def recorded(model, words, *, is_start):
        learned.append((words.tobytes(), is_start))
        learn(model, words, is_start=is_start)

    monkeypatch.setattr(module.RocchioRelevance, "learn", recorded)
    on_topic()
    one_crawl = learned.copy()
    learned.clear()
    on_topic(crawls=(reversed(range(300, 800)), range(400)))
    assert learned == one_crawl
    assert [is_start for _, is_start in learned] == [True] + 640 * [False]
    # Not in page order, in which the first pages of a recording would be all that is learned.
    assert [words for words, _ in learned[1:]] != [MANY.recorded.words(page).tobytes() for page in range(1, 641)]


def test_all_starts_of_a_topic_have_the_same_judge():
    topic = Topic("t", ("balloon",), examples=(MANY.url("0"), MANY.url("4")))
    starts = [Start("t", seed, (page,), ()) for seed, page in enumerate((FIRST, SECOND))]
    known = TopicGroundTruth(MANY.recorded, topic, [trace(*ALL)])
    one, other = (known.ground_truth(start, starts).facts.accepted_by("relevance_model") for start in starts)
    assert one is other


def test_start_pages_that_the_topic_does_not_name_teach_nothing(monkeypatch):
    """Neighbours of examples may be off topic."""
    taught = []
    monkeypatch.setattr(module, "_taught_model", lambda _web, _topic, starts, _pool: taught.append(starts))
    topic = Topic("t", ("balloon",), examples=(MANY.url("0"),))
    on_topic(topic, seeds=(FAR,))
    on_topic(topic, seeds=(FAR, FIRST))
    assert taught == [(), (FIRST,)]


def test_seeds_alone_are_enough_to_judge_but_nothing_at_all_is_not():
    accepted = on_topic(Topic("t", seeds=(MANY.url("0"),)))
    assert accepted[[FIRST, FAR]].tolist() == [True, False]
    assert on_topic(Topic("t", ("submarine",)), seeds=()) is None
    assert on_topic(Topic("t", ("the", "of"))) is None


def test_topics_without_visited_pages_have_an_empty_pool():
    ground_truth = TopicGroundTruth(WEB.recorded, TOPIC, [trace()], page_rank=page_rank).ground_truth(START)
    for name in ("rank", "coverage", "mean_similarity", "novelty", "new_relevant_hosts", "rank:by=linkage"):
        assert np.isnan(parse_metric(name).curve(trace(), ground_truth, 3)).all()
    for name in ("precision", "on_topic", "on_topic_recall"):
        assert parse_metric(name).curve(trace(), ground_truth, 2).tolist() == [0, 0]
