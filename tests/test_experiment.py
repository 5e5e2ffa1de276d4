"""Experiments on a small recorded web: who starts alike, what guides a crawl, what is refused."""

import json
import re
from dataclasses import replace

import pytest

from ring_web import experiment, runs, simulated, topic, url
from scenthound.errors import InvalidParameter, InvalidTopic, PluginError
from scenthound.experiments.runs import simulate_topics
from scenthound.experiments.setup import Experiment, ExperimentSetup
from scenthound.experiments.starts import TopicChoice, skipped_text
from scenthound.simulator.modes import SEQUENTIAL, Roulette
from scenthound.simulator.simulator import simulate
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.topics.files import write_topics


def test_all_strategies_have_the_same_starts(web_path):
    done = runs(experiment(web_path, repeats=2), web_path)
    assert [(each.start.seed, each.strategy) for each in done] == [
        (0, "breadth_first"),
        (0, "best_first"),
        (1, "breadth_first"),
        (1, "best_first"),
    ]
    assert done[0].start == done[1].start
    assert set(done[0].crawl.pages[:10]) == set(done[1].crawl.pages[:10]) == set(done[0].start.seeds)


def test_workers_do_not_change_traces(web_path):
    settings = experiment(web_path, topics=(topic("balloon"), topic("train")), repeats=2)
    one, two = runs(settings, web_path, workers=1), runs(settings, web_path, workers=2)
    assert [each.crawl.pages.tolist() for each in one] == [each.crawl.pages.tolist() for each in two]
    assert [each.start for each in one] == [each.start for each in two]


def test_mode_and_plain_reach_the_crawls(web_path, monkeypatch):
    told = []

    def noting(*given, **named):
        told.append((named["mode"], named["plain"]))
        return simulate(*given, **named)

    monkeypatch.setattr("scenthound.experiments.pipeline.simulate", noting)
    one = experiment(web_path, strategies=("best_first",))
    runs(one, web_path)
    runs(replace(one, mode="roulette:size=7,refill_at=2", plain=True), web_path)
    assert told == [(SEQUENTIAL, False), (Roulette(7, 2), True)]


def test_a_mode_is_stored_in_canonical_form(web_path):
    assert experiment(web_path).mode == "sequential"
    assert experiment(web_path, mode="polite:preset=wang2009,delay_s=1").mode == "polite:fetch_list=50"


def test_a_topic_without_a_page_in_the_web_raises_or_is_skipped(web_path, tmp_path):
    write_topics(tmp_path / "topics.jsonl", [topic("balloon"), topic("lost", examples=("http://gone.test/",))])
    with pytest.raises(InvalidTopic, match="'lost'"):
        simulated(web_path, tmp_path / "topics.jsonl", tmp_path / "run")
    topics = TopicChoice(tmp_path / "topics.jsonl", skip_missing=True)
    setup = ExperimentSetup(web=web_path, topics=topics, strategies=("breadth_first",), page_budget=5)
    done = simulate_topics(setup, tmp_path / "run", workers=1)
    assert list(done.skipped_topics) == ["lost"]
    assert "'lost'" in done.skipped_topics["lost"]
    assert done.n_crawls == 1


#: Topics with start pages whose keywords are unusable: only stop words, and words that no page has.
UNUSABLE = (
    topic("odd", keywords=("go", "the"), description=""),
    topic("strange", keywords=("quetzalcoatlus",), description=""),
)


def skipping(web_path, tmp_path, *strategies, **settings):
    """The topics skipped by `skip_missing`, after a check that they are errors without it."""
    write_topics(tmp_path / "topics.jsonl", [topic("balloon"), *UNUSABLE])
    with pytest.raises(InvalidTopic, match="--skip-missing"):
        simulated(web_path, tmp_path / "topics.jsonl", tmp_path / "run", strategies=strategies, **settings)
    topics = TopicChoice(tmp_path / "topics.jsonl", skip_missing=True)
    setup = ExperimentSetup(web=web_path, topics=topics, strategies=strategies, page_budget=5, **settings)
    done = simulate_topics(setup, tmp_path / "run", workers=1)
    assert done.n_crawls == (3 - len(done.skipped_topics)) * len(strategies)
    return done.skipped_topics


def test_topics_without_words_in_their_keywords_are_skipped_on_request(web_path, tmp_path):
    skipped = skipping(web_path, tmp_path, "breadth_first")
    # The default model also learns from start pages, so it needs no word that is in the web.
    assert list(skipped) == ["odd"]
    assert "'odd'" in skipped["odd"]


def test_topics_whose_keywords_are_not_in_the_web_are_skipped_if_the_relevance_model_has_nothing_else(
    web_path, tmp_path
):
    skipped = skipping(web_path, tmp_path, "breadth_first", relevance="cosine")
    assert list(skipped) == ["odd", "strange"]
    assert "cosine" in skipped["strange"]


def test_a_model_reads_the_description_only_if_it_is_told_to(web_path, tmp_path):
    described = topic("told", keywords=("quetzalcoatlus",), description="balloon")
    write_topics(tmp_path / "topics.jsonl", [topic("balloon"), described])
    topics = TopicChoice(tmp_path / "topics.jsonl", skip_missing=True)
    setup = ExperimentSetup(web=web_path, topics=topics, strategies=("breadth_first",), page_budget=5)
    skipped = {
        relevance: list(
            simulate_topics(replace(setup, relevance=relevance), tmp_path / relevance[:11], workers=1).skipped_topics
        )
        for relevance in ("cosine", "cosine:description=true")
    }
    assert skipped == {"cosine": ["told"], "cosine:description=true": []}


def test_topics_whose_keywords_are_not_in_the_web_are_skipped_if_a_strategy_needs_them(web_path, tmp_path):
    skipped = skipping(web_path, tmp_path, "breadth_first", "keyword_pagerank")
    assert list(skipped) == ["odd", "strange"]
    assert "keyword_pagerank" in skipped["strange"]


def test_models_that_are_trained_need_no_keywords(web_path, tmp_path):
    write_topics(tmp_path / "topics.jsonl", [topic("balloon"), topic("odd", keywords=("go",), description="")])
    topics = TopicChoice(tmp_path / "topics.jsonl", skip_missing=True)
    setup = ExperimentSetup(
        web=web_path, topics=topics, strategies=("breadth_first",), page_budget=5, relevance="svm", n_start=2
    )
    assert [each.id for each in setup.choose_topics(RecordedWeb.open(web_path)).topics] == ["balloon", "odd"]


def test_the_message_about_skipped_topics_counts_and_names_them():
    assert skipped_text({}) == ""
    assert re.search(r"\b1 topic: odd\..*: because$", skipped_text({"odd": "because"}))
    many = skipped_text({f"topic{i}": f"reason{i}" for i in range(12)})
    assert re.search(r"\b12 topics: topic0, .*topic9 .*\b2\b.*: reason0$", many)
    assert "topic10" not in many


def test_more_start_pages_than_the_web_has_raise(web_path, topics_file, tmp_path):
    n_pages = RecordedWeb.open(web_path).n_pages
    with pytest.raises(InvalidParameter, match=rf"start\b.* {n_pages + 1}\b.* {n_pages}\b"):
        simulated(web_path, topics_file, tmp_path / "run", n_start=n_pages + 1)
    assert not (tmp_path / "run").exists()
    assert simulated(web_path, topics_file, tmp_path / "run", n_start=n_pages).experiment.n_start == n_pages


#: Every page of this star is as good as any other, so a crawl's order is its generator's.
STAR = {"hub": [f"leaf{i}" for i in range(30)]}


def star_orders(tmp_path, topics, repeats=1):
    with (tmp_path / "star.jsonl").open("w") as file:
        for name in ["hub", *STAR["hub"]]:
            links = "".join(f"<a href={leaf}>on</a>" for leaf in STAR.get(name, []))
            file.write(json.dumps({"url": url(name), "html": f"<p>balloon {links}"}) + "\n")
    record([tmp_path / "star.jsonl"], tmp_path / "star", workers=1)
    settings = Experiment(web=tmp_path / "star", topics=topics, strategies=("best_first",), repeats=repeats)
    return [each.crawl.pages.tolist() for each in runs(settings, tmp_path / "star")]


def from_the_hub(name):
    return topic("balloon", id=name, seeds=(url("hub"),), examples=(url("leaf0"),))


def test_crawls_of_different_topics_and_seeds_are_independent(tmp_path):
    orders = star_orders(tmp_path, (from_the_hub("one"), from_the_hub("two")), repeats=2)
    assert len({tuple(order) for order in orders}) == 4
    assert {tuple(sorted(order)) for order in orders} == {tuple(range(31))}


def test_cosine_uses_the_keywords_and_not_the_description_of_the_evaluation(web_path):
    settings = experiment(web_path, topics=(topic("balloon", description="Train, train, train."),), relevance="cosine")
    for each in runs(settings, web_path):
        even = each.crawl.pages % 2 == 0
        assert (each.crawl.relevance[even] > 0).all()
        assert (each.crawl.relevance[~even] == 0).all()


def test_crawls_use_the_description_if_requested(web_path):
    settings = experiment(
        web_path, topics=(topic("balloon", description="Trains."),), relevance="cosine:description=true"
    )
    for each in runs(settings, web_path):
        even = each.crawl.pages % 2 == 0
        assert (each.crawl.relevance[even] == 0).all()
        assert (each.crawl.relevance[~even] > 0).all()


NOFOLLOW = {
    "a": '<p>balloon <a href=b rel=nofollow>b</a> <a href=c>c</a> <a href="http://gone.test/">x</a>',
    "b": "<p>b",
    "c": "<p>c",
}


def test_closed_world_and_nofollow_reach_the_crawls(tmp_path):
    with (tmp_path / "pages.jsonl").open("w") as file:
        file.writelines(json.dumps({"url": url(name), "html": html}) + "\n" for name, html in NOFOLLOW.items())
    record([tmp_path / "pages.jsonl"], tmp_path / "web", workers=1)
    start = topic(seeds=(url("a"),), examples=(url("c"),))

    def crawled(**rules):
        (each,) = runs(
            experiment(tmp_path / "web", topics=(start,), strategies=("breadth_first",), **rules), tmp_path / "web"
        )
        return len(each.crawl.pages), each.crawl.n_missing

    assert crawled() == (2, 1)
    assert crawled(respect_nofollow=False) == (3, 1)
    assert crawled(closed_world=True) == (2, 0)


def test_a_budget_above_the_limit_raises(web_path):
    with pytest.raises(InvalidParameter, match=r"pages .*3000000000"):
        experiment(web_path, page_budget=3_000_000_000)


class Stumbles(BreadthFirst):
    def tell(self, visit):
        raise ValueError("no way")


def test_a_strategy_that_fails_is_named_with_file_and_line(web_path, monkeypatch):
    settings = experiment(web_path, strategies=("breadth_first",), repeats=2, plain=True)
    monkeypatch.setattr("scenthound.strategies.breadth_first.BreadthFirst.tell", Stumbles.tell)
    with pytest.raises(PluginError, match=r"breadth_first .*'balloon': ValueError at .*: no way"):
        runs(settings, web_path, workers=1)
