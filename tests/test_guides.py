"""Which model scores for which strategy, and what is refused before the first crawl."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ring_web import experiment, runs, topic
from scenthound.errors import InvalidInput, InvalidParameter, InvalidTopic, MissingExtra, PluginError, UnknownName
from scenthound.experiments.pipeline import plan, relevance_models_for
from scenthound.relevance.cosine import Cosine
from scenthound.relevance.svm import LinearSvm
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.best_n_first import BestFirst

BOTH = (topic("balloon"), topic("train"))


def folder_of(folder, positive="balloon", negative="train"):
    for kind, text in (("positive", positive), ("negative", negative)):
        (folder / kind).mkdir(parents=True)
        (folder / kind / "page.txt").write_text(text)
    return folder


def test_each_strategy_has_its_own_guide_unless_one_is_named(web_path, monkeypatch):
    assert experiment(web_path).relevance_models() == {"breadth_first": "rocchio", "best_first": "rocchio"}
    monkeypatch.setattr(BestFirst, "relevance_model", "svm:features=5")
    assert experiment(web_path).relevance_models() == {"breadth_first": "rocchio", "best_first": "svm:features=5"}
    chosen = experiment(web_path, relevance="cosine:description=yes")
    assert set(chosen.relevance_models().values()) == {"cosine:description=true"}


def test_strategies_are_told_the_scores_of_their_own_guides(web_path, monkeypatch):
    alone = {
        name: [
            each.crawl.relevance.tolist() for each in runs(experiment(web_path, topics=BOTH, relevance=name), web_path)
        ]
        for name in ("rocchio", "svm")
    }
    monkeypatch.setattr(BestFirst, "relevance_model", "svm")
    mixed = [each.crawl.relevance.tolist() for each in runs(experiment(web_path, topics=BOTH), web_path)]
    assert mixed[0::2] == alone["rocchio"][0::2]
    assert mixed[1::2] == alone["svm"][1::2]
    assert alone["rocchio"] != alone["svm"]


def test_what_is_learnt_is_made_anew_for_each_start_and_a_cosine_for_each_topic(web_path, monkeypatch):
    monkeypatch.setattr(BestFirst, "relevance_model", "svm")
    strategies = ("breadth_first", "best_first", "best_first:buffer=9")
    settings = experiment(web_path, topics=BOTH, strategies=strategies, repeats=2)
    web = RecordedWeb.open(web_path)
    relevance_models = relevance_models_for(settings, web)
    cosine, svm, same_svm = zip(
        *([relevance_models.scores(strategy, *each) for strategy in strategies] for each in plan(settings, web)),
        strict=True,
    )
    # Each topic has two starts in a row.
    assert cosine[0] is cosine[1] is not cosine[2] is cosine[3]
    assert len(set(map(id, svm))) == 4
    assert svm == same_svm


def test_two_workers_learn_what_one_does(web_path):
    settings = experiment(web_path, topics=BOTH, strategies=("best_first",), relevance="svm", repeats=2)
    one, two = (runs(settings, web_path, workers=n) for n in (1, 2))
    assert [each.crawl.relevance.tolist() for each in one] == [each.crawl.relevance.tolist() for each in two]


def test_a_folder_of_pages_trains_instead_of_the_start(web_path, tmp_path):
    # Also if the topic is trains: the folder says what is positive.
    settings = experiment(web_path, topics=BOTH[1:], relevance="svm", train_from=folder_of(tmp_path))
    for each in runs(settings, web_path):
        even = each.crawl.pages % 2 == 0
        assert each.crawl.relevance[even].min() > each.crawl.relevance[~even].max()
        assert (each.start.training, each.start.negatives) == ((), ())


def test_a_folder_of_pages_is_for_one_topic(web_path, tmp_path):
    with pytest.raises(InvalidParameter, match=r"--train-from .*\b2\b.*--topic\b"):
        experiment(web_path, topics=BOTH, relevance="svm", train_from=folder_of(tmp_path))


def test_what_is_wrong_with_a_combination_of_parameters_is_said_before_any_crawl(web_path):
    with pytest.raises(InvalidParameter, match=r"adaptive_n_first: least=3, start_n=\d+, most=\d+\b"):
        experiment(web_path, strategies=("breadth_first", "adaptive_n_first:least=3"), relevance="cosine")


def test_a_topic_without_the_words_that_a_strategy_goes_by_is_refused(web_path):
    for strategy in ("infospiders:description=true", "infospiders:preset=menczer2001"):
        undescribed = replace(topic("balloon"), description="")
        settings = experiment(web_path, topics=(undescribed,), strategies=(strategy,), relevance="cosine")
        with pytest.raises(InvalidTopic, match=r"'balloon': infospiders\S* .*\bdescription\b"):
            plan(settings, RecordedWeb.open(web_path))


def test_a_topic_alone_can_be_learnt_from_a_folder(web_path, tmp_path):
    assert runs(experiment(web_path, relevance="svm", train_from=folder_of(tmp_path)), web_path)


def test_a_folder_without_positives_is_refused_before_the_crawl(web_path, tmp_path):
    (folder_of(tmp_path) / "positive" / "page.txt").unlink()
    settings = experiment(web_path, relevance="svm", train_from=tmp_path)
    with pytest.raises(InvalidInput, match=rf"{tmp_path / 'positive'} .*\.txt\b"):
        plan(settings, RecordedWeb.open(web_path))


def test_a_topic_that_cannot_be_scored_is_refused_whichever_guide_it_is(web_path, monkeypatch):
    monkeypatch.setattr(BestFirst, "relevance_model", "svm")
    settings = experiment(web_path, topics=(*BOTH, topic("train", id="mute", keywords=("the",), description="")))
    with pytest.raises(InvalidTopic, match=r"'mute': .*\bkeywords\b"):
        plan(settings, RecordedWeb.open(web_path))


@pytest.mark.parametrize(
    "settings",
    [
        {"n_train": 3, "as_published": True},
        {"n_train": 3, "train_from": Path("pages")},
        {"as_published": True, "train_from": Path("pages")},
    ],
)
def test_there_is_one_thing_to_learn_from(web_path, settings):
    with pytest.raises(InvalidParameter, match=r"--train, .*--train-from .*--as-published "):
        experiment(web_path, **settings)


def test_settings_that_make_no_sense_are_refused(web_path):
    with pytest.raises(InvalidParameter, match=r"^--train -1 must be at least 0\.$"):
        experiment(web_path, n_train=-1)
    with pytest.raises(UnknownName, match=r"'cosin'.*'cosine'"):
        experiment(web_path, relevance="cosin")


def test_without_the_library_nothing_is_crawled(web_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(MissingExtra, match=r"\bsvm .*scenthound\[learn\]"):
        plan(experiment(web_path, topics=BOTH, relevance="svm"), RecordedWeb.open(web_path))


def test_a_model_that_fails_to_learn_is_named_with_the_place_in_one_line(web_path, monkeypatch):
    def stumble(self, topic, index, training=None):
        raise ValueError("no\nway")

    for model, name in ((LinearSvm, "svm"), (Cosine, "cosine")):
        monkeypatch.setattr(model, "for_topic", stumble)
        says = rf"^Relevance model {name} failed on topic 'balloon': ValueError at .*: no way$"
        with pytest.raises(PluginError, match=says):
            plan(experiment(web_path, topics=BOTH, relevance=name), RecordedWeb.open(web_path))


def test_what_is_learnt_from_targets_shows_only_as_published(web_path):
    """With one seed the default guide knows one page; as published it knows all twenty."""
    learnt = {}
    for as_published in (False, True):
        settings = experiment(web_path, topics=BOTH, relevance="svm", n_start=1, as_published=as_published)
        (_, start), *_ = plan(settings, RecordedWeb.open(web_path))
        learnt[as_published] = start
    assert learnt[False].training == learnt[False].seeds
    assert set(learnt[True].targets) < set(learnt[True].training)
    assert np.array_equal(learnt[False].targets, learnt[True].targets)
