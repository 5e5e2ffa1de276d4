"""Which topics johnson2003 is run on, sparse, dense and unseen ones, and how long its crawls are."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolution_web import N, record_topical, url
from scenthound.errors import InvalidParameter, InvalidTopic
from scenthound.experiments.johnson2003.protocol import (
    SearchCrawls,
    SeedSets,
    even_positions,
    fitting_start,
    search_topics,
)
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
    """A topic of each size, named by it, with pages of its own."""
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
def test_searches_are_on_topics_from_the_sparsest_to_the_densest(web, tmp_path, n_searches, sizes):
    taken = chosen(web, tmp_path, apart(*SIZES), replace(SEARCH, topics=n_searches))
    assert sizes_of(taken.searched) == sizes


def test_it_is_said_which_topics_were_chosen_and_why(web, tmp_path):
    first, second = (note for note in chosen(web, tmp_path, apart(*SIZES)).notes if "search is for" in note)
    # 8 of 240 pages are 3.3 %.
    assert first == (
        "A search is for topic '8': 8 pages are known to belong to it, 3.3% of the web. It has place 1 of 9 topics "
        "with 8 examples, sparsest first."
    )
    assert "place 9 of 9" in second


def test_the_draw_is_the_same_every_time(web, tmp_path):
    assert chosen(web, tmp_path, apart(*SIZES)) == chosen(web, tmp_path, apart(*SIZES))


def test_topics_with_too_few_examples_are_not_searched_on(web, tmp_path):
    taken = chosen(web, tmp_path, apart(8, 30, 9, 31, 7, 6), replace(SEARCH, examples=30))
    assert sizes_of(taken.searched) == [30, 31]
    assert sorted(sizes_of(taken.unseen)) == [6, 7, 8, 9]


@pytest.mark.parametrize(("sharing", "instead"), [((32,), 31), ((32, 31), 30), ((32, 31, 30, 22), 21)])
def test_a_topic_that_shares_examples_with_another_has_its_nearest_neighbour_instead(web, tmp_path, sharing, instead):
    examples = apart(*SIZES)
    for size in sharing:
        examples[size][0] = examples[8][0]
    assert sizes_of(chosen(web, tmp_path, examples).searched) == [8, instead]


def test_topics_that_cannot_but_share_examples_are_taken_and_that_is_said(web, tmp_path):
    examples = apart(*SIZES)
    for size in SIZES:
        examples[size][:2] = examples[8][:2]
    taken = chosen(web, tmp_path, examples)
    assert sizes_of(taken.searched) == [8, 32]
    assert "Topic '32' shares 2 examples with others that are searched on." in taken.notes


def test_unseen_topics_share_no_example_with_those_searched_on(web, tmp_path):
    examples = apart(*SIZES)
    examples[20][0] = examples[32][0]
    taken = chosen(web, tmp_path, examples, replace(SEARCH, unseen=9))
    assert len(taken.unseen) == 6
    assert 20 not in sizes_of(taken.unseen)
    assert set(taken.unseen).isdisjoint(taken.searched)
    assert any(note.startswith("6 unseen topics instead of the 9 wanted") for note in taken.notes)


@pytest.mark.parametrize(("topics_max", "n_unseen"), [(None, 4), (2, 2)])
def test_the_most_topics_wanted_are_unseen_ones(web, tmp_path, topics_max, n_unseen):
    taken = chosen(web, tmp_path, apart(*SIZES), settings=replace(SETTINGS, topics_max=topics_max))
    assert (len(taken.searched), len(taken.unseen)) == (2, n_unseen)


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ((9, 8, 7), "searches on 2 topics with 20 examples .* 0 have that, and the largest has 9: .* `examples = 8`"),
        ((30, 8, 7), "1 have that, and the largest has 30: possible is `examples = 8` under"),
    ],
)
def test_too_few_topics_with_enough_examples_are_told_with_what_is_possible(web, tmp_path, sizes, told):
    with pytest.raises(InvalidTopic, match=told):
        chosen(web, tmp_path, apart(*sizes), replace(SEARCH, examples=20))


@given(n_wanted=st.integers(2, 12), more=st.integers(0, 60))
def test_places_go_from_the_first_candidate_to_the_last_and_none_comes_twice(n_wanted, more):
    places = even_positions(n_wanted + more, n_wanted)
    assert (places[0], places[-1], len(places)) == (0, n_wanted + more - 1, n_wanted)
    assert all(here < there for here, there in pairwise(places))


def test_crawls_start_from_at_most_a_quarter_of_their_pages():
    assert [fitting_start(139, budget) for budget in (10_000, 556, 555, 300, 3)] == [139, 139, 138, 75, 1]
    crawls = SearchCrawls.of(SearchSettings(start=139, pages_share=0.5, population=6, generations=2), 300)
    # Half of 300 pages are 150, and a quarter of these is 37.
    assert (crawls.page_budget, crawls.n_start) == (150, 37)
    assert crawls.search == "johnson2003:population=6,generations=2"


def test_seed_sets_shrink_in_proportion():
    search = SearchSettings(large=250, small=50)
    sizes = {shortest: SeedSets.of(search, shortest) for shortest in (10_000, 300, 8)}
    assert {shortest: (each.large, each.small) for shortest, each in sizes.items()} == {
        10_000: (250, 50),
        300: (75, 15),
        8: (2, 1),
    }
    assert SeedSets.of(replace(search, small=249), 8).small == 1, "the small one is always the smaller"


def test_crawls_without_room_for_two_seed_sets_are_refused():
    with pytest.raises(InvalidParameter, match="have 7 pages, and need 8: give larger --pages"):
        SeedSets.of(SearchSettings(), 7)
