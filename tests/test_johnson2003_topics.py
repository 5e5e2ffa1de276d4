"""The topics of johnson2003, sparse, dense and unseen ones, and the sizes of its crawls."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolution_web import N, record_topical, url
from scenthound.errors import InvalidParameter, InvalidTopic
from scenthound.experiments.johnson2003.study import (
    evolve_settings,
    fitting_start,
    search_conditions,
    seed_set_sizes,
)
from scenthound.experiments.johnson2003.topics import even_positions, search_topics
from scenthound.experiments.study.settings import Needs, SearchSettings, read_settings
from scenthound.model import Topic
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import write_topics

SEARCH = SearchSettings(topics=2, examples=8, unseen=4)
SETTINGS = replace(read_settings("johnson2003"), needs=Needs(topics=2, examples=4))
SIZES = (21, 8, 32, 10, 30, 20, 9, 31, 22)


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    return RecordedWeb.open(record_topical(tmp_path_factory.mktemp("topical")))


def apart(*sizes):
    """A topic of each size, with its size as name, that shares no page with others."""
    assert sum(sizes) <= N
    pages = iter(range(N))
    return {size: [next(pages) for _ in range(size)] for size in sizes}


def chosen(web, folder, examples, search=SEARCH, settings=SETTINGS):
    topics = [
        Topic(str(name), ("balloon",), examples=tuple(url(page) for page in pages)) for name, pages in examples.items()
    ]
    write_topics(folder / "topics.jsonl", topics)
    return search_topics(settings, search, web, folder / "topics.jsonl")


def sizes_of(topics):
    return [len(topic.examples) for topic in topics]


@pytest.mark.parametrize(("n_searches", "sizes"), [(1, [21]), (2, [8, 32]), (3, [8, 21, 32])])
def test_searches_are_for_topics_from_the_sparsest_to_the_densest(web, tmp_path, n_searches, sizes):
    found = chosen(web, tmp_path, apart(*SIZES), replace(SEARCH, topics=n_searches))
    assert sizes_of(found.searched) == sizes


def test_notes_say_which_topics_were_chosen_and_why(web, tmp_path):
    first, second = (note for note in chosen(web, tmp_path, apart(*SIZES)).notes if "%" in note)
    # 8 of 240 pages are 3.3 %.
    assert re.search(r"'8': 8 pages .*\b3\.3%.*\b1 of 9 topics .*\b8 examples\b", first)
    assert re.search(r"'32': 32 pages .*\b9 of 9\b", second)


def test_the_choice_is_the_same_every_time(web, tmp_path):
    assert chosen(web, tmp_path, apart(*SIZES)) == chosen(web, tmp_path, apart(*SIZES))


def test_no_search_is_for_a_topic_with_too_few_examples(web, tmp_path):
    found = chosen(web, tmp_path, apart(8, 30, 9, 31, 7, 6), replace(SEARCH, examples=30))
    assert sizes_of(found.searched) == [30, 31]
    assert sorted(sizes_of(found.unseen)) == [6, 7, 8, 9]


@pytest.mark.parametrize(("sharing", "instead"), [((32,), 31), ((32, 31), 30), ((32, 31, 30, 22), 21)])
def test_a_topic_that_shares_examples_is_replaced_by_its_nearest_neighbour(web, tmp_path, sharing, instead):
    examples = apart(*SIZES)
    for size in sharing:
        examples[size][0] = examples[8][0]
    assert sizes_of(chosen(web, tmp_path, examples).searched) == [8, instead]


def test_topics_that_all_share_examples_are_used_with_a_note(web, tmp_path):
    examples = apart(*SIZES)
    for size in SIZES:
        examples[size][:2] = examples[8][:2]
    found = chosen(web, tmp_path, examples)
    assert sizes_of(found.searched) == [8, 32]
    assert any(re.search(r"'32' .*\b2 examples\b", note) for note in found.notes)


def test_unseen_topics_share_no_example_with_those_searched_on(web, tmp_path):
    examples = apart(*SIZES)
    examples[20][0] = examples[32][0]
    found = chosen(web, tmp_path, examples, replace(SEARCH, unseen=9))
    assert len(found.unseen) == 6
    assert 20 not in sizes_of(found.unseen)
    assert set(found.unseen).isdisjoint(found.searched)
    assert any(re.match(r"6 unseen topics\b.*\b9\b", note) for note in found.notes)


@pytest.mark.parametrize(("topics_max", "n_unseen"), [(None, 4), (2, 2)])
def test_topics_max_is_the_number_of_unseen_topics(web, tmp_path, topics_max, n_unseen):
    found = chosen(web, tmp_path, apart(*SIZES), settings=replace(SETTINGS, topics_max=topics_max))
    assert (len(found.searched), len(found.unseen)) == (2, n_unseen)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((9, 8, 7), r"\b2 topics .*\b20 examples .* 0 .* 9: .*`examples = 8`"),
        ((30, 8, 7), r"\b2 topics .*\b20 examples .* 1 .* 30: .*`examples = 8`"),
    ],
)
def test_too_few_topics_with_enough_examples_are_rejected_with_what_is_possible(web, tmp_path, sizes, message):
    with pytest.raises(InvalidTopic, match=message):
        chosen(web, tmp_path, apart(*sizes), replace(SEARCH, examples=20))


@given(n_wanted=st.integers(2, 12), more=st.integers(0, 60))
def test_positions_go_from_the_first_candidate_to_the_last_without_repeats(n_wanted, more):
    positions = even_positions(n_wanted + more, n_wanted)
    assert (positions[0], positions[-1], len(positions)) == (0, n_wanted + more - 1, n_wanted)
    assert all(here < there for here, there in pairwise(positions))


def test_crawls_start_from_at_most_a_quarter_of_their_pages():
    assert [fitting_start(139, budget) for budget in (10_000, 556, 555, 300, 3)] == [139, 139, 138, 75, 1]
    search = SearchSettings(start=139, pages_share=0.5, population=6, generations=2)
    conditions = search_conditions(search, 300)
    # Half of 300 pages are 150, and a quarter of these is 37.
    assert (conditions.page_budget, conditions.n_start) == (150, 37)
    settings = evolve_settings(search, 3)
    assert (settings.search, settings.seed) == ("johnson2003:population=6,generations=2", 3)


def test_seed_sets_are_scaled_down_in_proportion():
    search = SearchSettings(large=250, small=50)
    sizes = {shortest: seed_set_sizes(search, shortest) for shortest in (10_000, 300, 8)}
    assert sizes == {10_000: (250, 50), 300: (75, 15), 8: (2, 1)}
    assert seed_set_sizes(replace(search, small=249), 8) == (2, 1), "the small one is always smaller"


def test_crawls_too_short_for_two_seed_sets_are_rejected():
    with pytest.raises(InvalidParameter, match=r"\b7 pages\b.*\b8: .*--pages"):
        seed_set_sizes(SearchSettings(), 7)
