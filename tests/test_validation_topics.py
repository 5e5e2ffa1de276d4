"""The topics of a validation: what searches saw is in their files, and never unseen."""

import re

import pytest

from ring_web import topic, url
from scenthound.errors import InvalidInput, InvalidTopic, UnknownName
from scenthound.experiments.starts import Starts, TopicChoice
from scenthound.experiments.validate.settings import (
    Record,
    ValidationProtocol,
    chosen_topics,
    record_notes,
    training_records,
    untrained_notes,
)
from scenthound.experiments.validate.validation import prepared
from scenthound.store.recorded_web import RecordedWeb
from validations import PUBLISHED, rank_file, validation_arguments


def chosen(web_path, records, *topics, trained=(), **protocol):
    starts = Starts(RecordedWeb.open(web_path), n_start=6)
    listed = topics or (topic("balloon"), topic("train"))
    choice = TopicChoice(web_path, trained)
    return chosen_topics(choice, ValidationProtocol(**protocol), {each.id: each for each in listed}, records, starts)


def test_the_topics_that_a_search_saw_are_in_its_file(tmp_path):
    evolved = rank_file(tmp_path, "balloon", "kite")
    assert training_records([PUBLISHED, evolved, "evolved"]) == {evolved: Record(("balloon", "kite"))}


def test_a_search_has_seen_the_topics_of_the_winners_it_started_with(web_path, tmp_path):
    file = tmp_path / "evolved.toml"
    file.write_text('formula = "PARENT_1"\n[training]\ntopics = ["balloon"]\nseeded_topics = ["train"]\n')
    records = training_records([f"evolved:file={file}"])
    assert list(records.values()) == [Record(("balloon",), ("train",))]
    with pytest.raises(InvalidTopic, match=rf"'train' .*{file} .*\bwinners\b"):
        chosen(web_path, records, unseen_topics=("train",))
    found = chosen(web_path, records, unseen_max=9)
    assert [each.id for each in found.trained] == ["balloon"]
    assert found.unseen == ()


def test_notes_say_what_records_leave_open():
    listed = {"balloon": topic("balloon")}
    records = {"here": Record(("balloon",), (), "this web"), "there": Record(("balloon",), ("kite",), "that web")}
    other_web, not_listed = record_notes(records, listed, "this web")
    assert re.match(r"there .*\bweb: ", other_web)
    assert re.match(r"there .*\('kite'\); ", not_listed)


def test_another_relevance_model_than_in_the_search_is_noted(web_path, topics_file, tmp_path):
    file = tmp_path / "evolved.toml"
    file.write_text('relevance_model = "cosine"\nformula = "PARENT_1"\n')
    strategy = f"evolved:file={file}"
    note = f"{strategy} was evolved with the relevance model cosine; here it uses svm."
    for relevance, notes in (("svm", (note,)), ("cosine", ())):
        settings = {"strategies": (strategy,), "relevance": relevance}
        assert prepared(*validation_arguments(web_path, topics_file, ("balloon",), **settings))[2] == notes


def test_a_training_record_without_a_list_of_topics_is_rejected(tmp_path):
    (tmp_path / "e.toml").write_text('formula = "PARENT_1"\n[training]\ntopics = "balloon"\n')
    with pytest.raises(InvalidInput, match=r"e\.toml: `topics`"):
        training_records([f"evolved:file={tmp_path / 'e.toml'}"])


def test_topics_trained_on_are_those_of_the_records_unless_named(web_path, tmp_path):
    records = {"evolved": Record(("train", "lost"))}
    assert [each.id for each in chosen(web_path, records).trained] == ["train"]
    with pytest.raises(InvalidTopic, match=r"'balloon' .*\(lost, train\); .*--unseen\b"):
        chosen(web_path, records, trained=("balloon",))


def test_notes_name_strategies_that_were_not_trained_on_the_topics_of_others(web_path, topics_file, tmp_path):
    (tmp_path / "other").mkdir()
    both, one = rank_file(tmp_path, "balloon", "train"), rank_file(tmp_path / "other", "train")
    _, ready, notes = prepared(*validation_arguments(web_path, topics_file, strategies=(both, one, PUBLISHED)))
    assert [each.id for each in ready.trained] == ["balloon", "train"]
    of_one, of_published = notes
    assert re.match(rf"{one} .* 'balloon': ", of_one)
    assert re.match(rf"{PUBLISHED} .* 'balloon', 'train': ", of_published)


def test_without_training_records_there_are_no_notes():
    assert untrained_notes([PUBLISHED, "evolved"], ["balloon"], {"evolved": Record()}) == []


def test_a_topic_that_a_search_saw_is_not_unseen(web_path, tmp_path):
    with pytest.raises(InvalidTopic, match=r"'train' .*\bevolved .*--topic\b"):
        chosen(web_path, {"evolved": Record(("train",))}, unseen_topics=("train",))
    with pytest.raises(InvalidTopic, match=r"'train' .*\bboth\b"):
        chosen(web_path, {}, trained=("train",), unseen_topics=("train",))


def test_drawn_topics_share_nothing_with_those_trained_on_and_have_start_pages(web_path, tmp_path):
    overlapping = topic("train", id="overlapping", examples=(url(0), url(1), url(3)))
    lost = topic("train", id="lost", examples=("http://gone.test/",))
    others = [topic("train", id=f"train {i}") for i in range(6)]
    listed = (topic("balloon"), overlapping, lost, *others)
    found = chosen(web_path, {}, *listed, trained=("balloon",), unseen_max=3)
    drawn = [each.id for each in found.unseen]
    assert len(drawn) == 3
    assert set(drawn) < {each.id for each in others}
    assert [each.id for each in found.others] == [each.id for each in listed[1:] if each.id not in drawn]
    every_topic = chosen(web_path, {}, *listed, trained=("balloon",), unseen_max=100)
    assert every_topic.unseen == tuple(others)
    assert every_topic.notes == ()


def test_a_named_topic_that_shares_examples_is_used_with_a_note(web_path, tmp_path):
    overlapping = topic("train", id="overlapping", examples=(url("zero"), url(1), url(2)))
    found = chosen(web_path, {}, topic("balloon"), overlapping, trained=("balloon",), unseen_topics=("overlapping",))
    # Zero is an alias of page 0.
    (note,) = found.notes
    assert re.search(r"'overlapping' .*\b2 examples\b", note)


def test_unknown_topics_and_an_empty_choice_are_rejected(web_path, tmp_path):
    with pytest.raises(UnknownName, match="'balloon'"):
        chosen(web_path, {}, unseen_topics=("baloon",))
    with pytest.raises(InvalidTopic, match=r"--topic, --unseen .*--unseen-max"):
        chosen(web_path, {})
