"""Where the crawls of a topic start, what they shall find, and which pages are relevant."""

import json

import pytest

from ring_web import N, topic, url
from scenthound.errors import InvalidParameter, InvalidTopic
from scenthound.experiments.starts import DEFAULT_START, Starts, Task, check_start, known_relevant
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.testing import SyntheticWeb


def test_seeds_and_targets_are_drawn_from_the_examples_and_disjoint(web_path):
    start = Starts(RecordedWeb.open(web_path)).draw(topic(), seed=3)
    assert len(start.seeds) == 10
    assert len(start.targets) == 10
    assert not set(start.seeds) & set(start.targets)
    assert all(page % 2 == 0 for page in (*start.seeds, *start.targets))


def test_starts_depend_on_the_seed_and_the_topic_only(web_path):
    starts = Starts(RecordedWeb.open(web_path))
    assert starts.draw(topic(), 1) == starts.draw(topic(), 1)
    assert starts.draw(topic(), 1).seeds != starts.draw(topic(), 2).seeds


def test_a_page_and_its_alias_are_one_example(web_path):
    aliased = topic(examples=(url("zero"), url(0), url(2)))
    start = Starts(RecordedWeb.open(web_path)).draw(aliased, 0)
    assert sorted((*start.seeds, *start.targets)) == [0, 2]


def test_neighbours_start_two_links_before_the_examples(web_path):
    start = Starts(RecordedWeb.open(web_path), Task.NEIGHBOURS).draw(topic(examples=(url(20),)), 0)
    # In-links of 20: 19, 18, 13; in-links of those: 18, 17, 12, 16, 11, 6.
    assert set(start.seeds) == {6, 11, 12, 16, 17, 18}
    assert start.targets == (20,)


def test_the_relevant_pages_are_those_labelled_or_named(web_path):
    web = RecordedWeb.open(web_path)
    assert known_relevant(web, topic(examples=(url(1),))).tolist() == [*range(0, 2, 2), 1, *range(2, N, 2)]
    assert known_relevant(web, topic(id="unlabelled", examples=(url(5), url("gone")))).tolist() == [5]


def test_topics_with_the_same_examples_draw_different_starts(web_path):
    starts = Starts(RecordedWeb.open(web_path))
    assert starts.draw(topic(id="one"), 0).seeds != starts.draw(topic(id="two"), 0).seeds


def test_pages_of_the_description_are_no_targets_even_by_an_alias(web_path):
    web = RecordedWeb.open(web_path)
    described = topic(description_from=(url("zero"), url(2)))
    for task in Task:
        for seed in range(5):
            assert not {0, 2} & set(Starts(web, task).draw(described, seed).targets)


def test_the_number_of_neighbours_is_the_requested_one(web_path):
    web = RecordedWeb.open(web_path)
    assert len(Starts(web, Task.NEIGHBOURS, n_start=3).draw(topic(examples=(url(20),)), 0).seeds) == 3


def test_named_targets_that_are_not_recorded_raise_in_both_tasks(web_path):
    lost = topic(targets=("http://gone.test/",))
    for task in Task:
        with pytest.raises(InvalidTopic, match=r"'balloon' .*description_from "):
            Starts(RecordedWeb.open(web_path), task).draw(lost, 0)


def test_neighbours_are_chosen_by_in_degree(tmp_path):
    # 25 pages link to the example; the first 5 have no in-link of their own, the others have one.
    pages = {"goal": []}
    for i in range(25):
        pages[f"near{i:02}"] = ["goal"]
        if i >= 5:
            pages[f"far{i:02}"] = [f"near{i:02}"]
    with (tmp_path / "pages.jsonl").open("w") as file:
        for name, links in pages.items():
            html = "".join(f"<a href={link}>on</a>" for link in links)
            file.write(json.dumps({"url": url(name), "html": f"<p>balloon {html}"}) + "\n")
    record([tmp_path / "pages.jsonl"], tmp_path / "web", workers=1)
    web = RecordedWeb.open(tmp_path / "web")
    start = Starts(web, Task.NEIGHBOURS, n_start=100).draw(topic(examples=(url("goal"),)), 0)
    # The 20 in-links of the goal with the highest in-degree are near05 to near24, so all 20 far pages are reached.
    assert {web.url(page) for page in start.seeds} == {url(f"far{i:02}") for i in range(5, 25)}


def test_too_many_start_pages_raise_but_the_default_does_not():
    web = SyntheticWeb({"a": ["b", "c"]}).recorded
    check_start(DEFAULT_START, web)
    with pytest.raises(InvalidParameter, match=rf"start .*\b{DEFAULT_START + 1}, .*\b{web.n_pages} pages\b"):
        check_start(DEFAULT_START + 1, web)
