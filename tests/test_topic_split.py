"""Seeds and targets: draws, exclusions, and errors."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidParameter, InvalidTopic
from scenthound.model import Topic
from scenthound.topics.split import SeedsAndTargets, split_examples

URLS = st.lists(st.integers(0, 40).map(lambda number: f"http://a.test/{number}"), max_size=40)


def urls(*numbers: int) -> tuple[str, ...]:
    return tuple(f"http://a.test/{number}" for number in numbers)


def topic(
    examples: tuple[str, ...] = (),
    seeds: tuple[str, ...] = (),
    targets: tuple[str, ...] = (),
    description_from: tuple[str, ...] = (),
) -> Topic:
    return Topic("t", ("k",), "", "", examples, seeds, targets, description_from)


def split(a_topic: Topic, available: set[str] | None = None, seed: int = 1) -> SeedsAndTargets:
    everything = {*a_topic.examples, *a_topic.seeds, *a_topic.targets}
    return split_examples(a_topic, everything if available is None else available, random.Random(seed))


@given(examples=URLS, description=URLS, missing=URLS, seed=st.integers(0, 99))
def test_a_split_keeps_every_rule(examples: list[str], description: list[str], missing: list[str], seed: int) -> None:
    a_topic = topic(tuple(examples), description_from=tuple(description))
    usable = set(examples) - set(missing)
    if not usable:
        with pytest.raises(InvalidTopic, match="'t'"):
            split(a_topic, usable, seed)
        return
    drawn = split(a_topic, usable, seed)
    expected = 10 if len(usable) >= 20 else max(1, len(usable) // 2)
    assert len(drawn.seeds) == len(set(drawn.seeds)) == expected
    assert set(drawn.seeds) <= usable
    assert set(drawn.targets) == usable - set(drawn.seeds) - set(description)
    assert bool(drawn.targets) == (len(usable) > 1 and bool(usable - set(description)))


def test_ten_of_twenty_five_examples_are_seeds_and_fifteen_are_targets() -> None:
    drawn = split(topic(urls(*range(25))))
    assert (len(drawn.seeds), len(drawn.targets)) == (10, 15)


@pytest.mark.parametrize(("n_examples", "n_seeds"), [(20, 10), (19, 9), (3, 1), (2, 1), (1, 1)])
def test_with_few_examples_half_are_seeds(n_examples: int, n_seeds: int) -> None:
    assert len(split(topic(urls(*range(n_examples)))).seeds) == n_seeds


def test_the_draw_depends_on_the_generator_alone_and_not_on_the_order_of_examples() -> None:
    forward, backward = topic(urls(*range(30))), topic(urls(*reversed(range(30))))
    assert split(forward, seed=5) == split(forward, seed=5)
    assert set(split(forward, seed=5).seeds) == set(split(backward, seed=5).seeds)
    assert len({split(forward, seed=seed) for seed in range(20)}) > 10


def test_every_example_is_a_seed_about_equally_often() -> None:
    rng = random.Random(7)
    a_topic = topic(urls(*range(20)))
    drawn = [url for _ in range(400) for url in split_examples(a_topic, a_topic.examples, rng).seeds]
    assert all(150 < drawn.count(url) < 250 for url in a_topic.examples)


def test_given_seeds_and_targets_are_used() -> None:
    drawn = split(topic(urls(1, 2, 3), seeds=urls(9, 8), targets=urls(5, 4)))
    assert drawn == SeedsAndTargets(urls(9, 8), urls(5, 4))


def test_a_given_target_that_is_a_seed_or_a_description_page_is_no_target() -> None:
    drawn = split(topic(seeds=urls(1), targets=urls(1, 2, 3), description_from=urls(3)))
    assert drawn.targets == urls(2)


def test_with_given_targets_seeds_are_drawn_from_the_other_examples() -> None:
    drawn = split(topic(urls(*range(12)), targets=urls(0, 1, 2)))
    assert drawn == SeedsAndTargets(urls(*range(3, 12)), urls(0, 1, 2))


def test_with_given_seeds_the_remaining_examples_are_targets() -> None:
    drawn = split(topic(urls(1, 2, 3, 4), seeds=urls(2), description_from=urls(4)))
    assert drawn == SeedsAndTargets(urls(2), urls(1, 3))


def test_a_topic_with_seeds_alone_has_no_targets() -> None:
    assert split(topic(seeds=urls(1))) == SeedsAndTargets(urls(1), ())


def test_a_description_page_may_be_a_seed_but_targets_remain() -> None:
    a_topic = topic(urls(1, 2), description_from=urls(1))
    assert {split(a_topic, seed=seed) for seed in range(20)} == {SeedsAndTargets(urls(1), urls(2))}


def test_availability_may_be_a_function() -> None:
    drawn = split_examples(topic(urls(1, 2)), lambda url: url.endswith("2"), random.Random(0))
    assert drawn == SeedsAndTargets(urls(2), ())


def test_a_given_seed_must_be_recorded() -> None:
    with pytest.raises(InvalidTopic, match=r"http://a\.test/2 .*'t'"):
        split(topic(seeds=urls(1, 2)), available={*urls(1)})


@pytest.mark.parametrize("recorded", ["https://a.test/x", "http://a.test/x/", "https://a.test/x/"])
def test_a_seed_that_is_not_recorded_is_answered_with_a_similar_url(recorded: str) -> None:
    with pytest.raises(InvalidTopic, match=rf" {recorded}\?$"):
        split(topic(seeds=("http://a.test/x",)), available={recorded})


def test_unrecorded_targets_are_rejected() -> None:
    with pytest.raises(InvalidTopic, match=r"'t' .*description_from "):
        split(topic(seeds=urls(1), targets=urls(2)), available={*urls(1)})


def test_examples_that_are_all_targets_leave_nothing_to_start_from() -> None:
    with pytest.raises(InvalidTopic, match=r"'t' .*\bexamples: 2, targets: 2\b"):
        split(topic(urls(1, 2), targets=urls(1, 2)))


def test_a_crawl_needs_a_seed() -> None:
    with pytest.raises(InvalidParameter, match=r"n_seeds .* 0"):
        split_examples(topic(urls(1)), urls(1), random.Random(0), n_seeds=0)
