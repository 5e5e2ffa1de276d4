"""What a web is like, in numbers worked out by hand."""

import math

import numpy as np
import pytest
from benchmarks.realism_statistics import degrees_of, page_links, realism, tail_exponent

from scenthound.errors import InvalidInput
from scenthound.store.batches import RawPage
from scenthound.store.builder import web_of
from scenthound.store.recorded_web import RecordedWeb


def web(links: dict[str, list[str]], topics: dict[str, tuple[str, ...]], aliases: dict[str, str] | None = None):
    """Pages by name, on the host that stands before the slash."""
    by_page = {page: (f"http://{alias}",) for alias, page in (aliases or {}).items()}
    return web_of(
        RawPage(
            f"http://{name}",
            text="",
            links=tuple(f"http://{target}" for target in targets),
            topics=topics.get(name, ()),
            aliases=by_page.get(name, ()),
        )
        for name, targets in links.items()
    )


@pytest.fixture
def chain() -> RecordedWeb:
    """a/1 and a/2 link to each other; a/2 links to b/3 twice and by an alias, b/3 to itself, to b/4 and out."""
    links = {
        "a.test/1": ["a.test/2"],
        "a.test/2": ["a.test/1", "b.test/3", "b.test/3", "b.test/three"],
        "b.test/3": ["b.test/3", "b.test/4", "out.test/"],
        "b.test/4": [],
    }
    topics = {"a.test/1": ("x",), "a.test/2": ("x", "y"), "b.test/4": ("x",)}
    return web(links, topics, {"b.test/three": "b.test/3"})


def test_links_count_once_between_pages_and_not_to_the_same_page(chain: RecordedWeb) -> None:
    links = page_links(chain)
    assert links.offset.tolist() == [0, 1, 3, 4, 4]
    assert links.target.tolist() == [1, 0, 2, 3]


def test_shares_of_links_and_of_labels(chain: RecordedWeb) -> None:
    measured = realism(chain, np.random.default_rng(0), n_walks=3)
    assert (measured.pages, measured.links, measured.hosts) == (4, 4, 2)
    # Of 1-2, 2-1, 2-3 and 3-4 all but 2-3 stay on their host, and the first two go both ways.
    assert measured.within_host == 3 / 4
    assert measured.reciprocal == 2 / 4
    # One of the eight links of pages leads out.
    assert measured.not_recorded == 1 / 8
    assert measured.labelled == 3 / 4
    assert measured.labels_per_page == pytest.approx(4 / 3)


def test_nofollow_links_do_not_count() -> None:
    pages = [
        RawPage("http://a.test/1", html="<a href=2 rel=nofollow>2</a><a href=3>3</a>", topics=("x",)),
        RawPage("http://a.test/2", html=""),
        RawPage("http://a.test/3", html=""),
    ]
    assert page_links(web_of(pages)).target.tolist() == [2]


def test_the_topic_by_distance_on_a_ring() -> None:
    # A ring of six pages, each linking to the next; the three first are of the topic. From page 0 the pages at distance
    # 0 to 5 are of it: yes, yes, yes, no, no, no; from 1: yes, yes, no, no, no, yes; from 2: yes, no, no, no, yes, yes.
    names = [f"a.test/{i}" for i in range(6)]
    links = {name: [names[(i + 1) % 6]] for i, name in enumerate(names)}
    ring = web(links, dict.fromkeys(names[:3], ("x",)))
    measured = realism(ring, np.random.default_rng(0), n_walks=3000)
    assert measured.base_rate == 0.5
    assert [at.distance for at in measured.autocorrelation] == [0, 1, 2, 3, 4, 5]
    chances = [at.chance for at in measured.autocorrelation]
    assert chances == pytest.approx([1, 2 / 3, 1 / 3, 0, 1 / 3, 2 / 3], abs=0.04)
    assert [at.pages for at in measured.autocorrelation] == [1] * 6


def test_a_page_counts_at_its_shortest_distance_only() -> None:
    # From a: b and c at distance 1, and d, which both link to, once at distance 2; nothing is at distance 3.
    links = {"a.test/a": ["a.test/b", "a.test/c"], "a.test/b": ["a.test/c", "a.test/d", "a.test/a"]}
    links |= {"a.test/c": ["a.test/d"], "a.test/d": []}
    measured = realism(web(links, {"a.test/a": ("x",)}), np.random.default_rng(0), n_walks=1)
    assert [at.pages for at in measured.autocorrelation] == [1, 2, 1, 0, 0, 0]
    assert [at.chance for at in measured.autocorrelation[:3]] == [1, 0, 0]
    assert all(math.isnan(at.chance) for at in measured.autocorrelation[3:])


def test_the_same_generator_gives_the_same_numbers(chain: RecordedWeb) -> None:
    one, same = (realism(chain, np.random.default_rng(4), n_walks=5) for _ in range(2))
    assert str(one) == str(same)


def test_degrees_of_pages() -> None:
    degrees = degrees_of(np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 10]))
    assert degrees.mean == pytest.approx(30 / 11)
    assert degrees.none == pytest.approx(2 / 11)
    # Of eleven values the second, the sixth and the tenth; and a tenth of the way from the tenth to the last less
    # a hundredth of them all: 4 + 0.9 * 6.
    assert degrees.quantiles == pytest.approx((0, 2, 4, 9.4))
    assert degrees.most == 10


def test_the_exponent_of_a_tail_worked_out_by_hand() -> None:
    # Of twenty values the largest tenth begins at 4: the 0.9 quantile is 4.
    values = np.array([1] * 16 + [4, 4, 4, 8])
    expected = 1 + 4 / (3 * math.log(4 / 3.5) + math.log(8 / 3.5))
    assert tail_exponent(values) == pytest.approx(expected)


@pytest.mark.parametrize("exponent", [2.2, 2.5, 3.0])
def test_the_exponent_of_a_power_law_is_found_again(exponent: float) -> None:
    u = 1 - np.random.default_rng(1).random(200_000)
    # Values that are whole numbers from 10 on, by rounding those of a law over all numbers from 9.5 on.
    values = np.floor(9.5 * u ** (-1 / (exponent - 1)) + 0.5).astype(np.int64)
    assert tail_exponent(values) == pytest.approx(exponent, rel=0.03)


def test_equal_values_have_no_tail() -> None:
    assert math.isnan(tail_exponent(np.array([3, 3, 3])))
    assert math.isnan(tail_exponent(np.array([0, 0])))


def test_a_web_without_labels_raises() -> None:
    with pytest.raises(InvalidInput, match=r"\blabel\b"):
        realism(web({"a.test/1": []}, {}), np.random.default_rng(0))


def test_a_web_without_links_can_be_measured() -> None:
    measured = realism(web({"a.test/1": [], "a.test/2": []}, {"a.test/1": ("x",)}), np.random.default_rng(0), n_walks=2)
    assert measured.links == 0
    assert math.isnan(measured.within_host)
    assert math.isnan(measured.reciprocal)
    assert measured.base_rate == 0.5
