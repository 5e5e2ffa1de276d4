"""Link-context prediction: scores by Eq. 9 of wang2009."""

from random import Random

import pytest

from scenthound.errors import PluginError
from scenthound.model import Links, Visit
from scenthound.strategies.best_n_first import BestNFirst, LinkContext
from scenthound.testing import SyntheticWeb, check_strategy, visited
from stepped_crawl import SteppedCrawl, trace_with_checkpoint


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{"n": 50}, {"n": 3, "buffer": 8}])
def test_link_context_keeps_the_contract(parameters):
    check_strategy(lambda: LinkContext(**parameters))


def test_a_state_survives_json():
    web = SyntheticWeb.random(Random(3))
    assert trace_with_checkpoint(LinkContext, web, 15) == visited(LinkContext(), web)


# Each link's score is 0.25 * page + 0.75 * context (Eq. 9).
#   a (0.4): d 0.1 + 0    = 0.1      c 0.1 + 0.15 = 0.25     b 0.1 + 0.6 = 0.7    -> b
#   b (0.0): e 0.225                 c 0.375, higher than 0.25                    -> c
#   c (0.8): f 0.2 + 0    = 0.2      d 0.2 + 0.075 = 0.275, higher than 0.1       -> d, then e (0.225), then f (0.2)
WORKED = SyntheticWeb(
    {"a": ["d", "c", "b"], "b": ["e", "c"], "c": ["f", "d"]},
    relevance={"a": 0.4, "c": 0.8},
    predicted={("a", "c"): 0.2, ("a", "b"): 0.8, ("b", "e"): 0.3, ("b", "c"): 0.5, ("c", "d"): 0.1},
)


def test_the_trace_worked_out_by_hand():
    assert visited(LinkContext(), WORKED) == ["a", "b", "c", "d", "e", "f"]


def test_the_scores_worked_out_by_hand():
    crawl = SteppedCrawl(LinkContext(), WORKED)
    for _ in range(3):
        crawl.step()
    waiting = {name: crawl.strategy._frontier.score(crawl.number(name)) for name in "def"}
    assert waiting == pytest.approx({"d": 0.275, "e": 0.225, "f": 0.2})


def test_a_url_may_keep_the_score_it_was_found_with_first():
    # As above, but c stays at 0.25 and d at 0.1: after c come e (0.225), f (0.2) and d.
    assert visited(LinkContext(found_again="first"), WORKED) == ["a", "b", "c", "e", "f", "d"]


def test_a_url_linked_twice_has_the_better_of_both_contexts():
    # b stands twice on a, with contexts of 0.8 and 0: 0.6 in either order; c has 0.5 * 0.75 = 0.375.
    for order in (["b", "b", "c"], ["c", "b", "b"]):
        web = SyntheticWeb({"a": order}, predicted={("a", "b"): 0.8, ("a", "c"): 0.5})
        web._predicted[0][order.index("b")] = 0.0  # the first of both
        assert visited(LinkContext(), web) == ["a", "b", "c"]


def test_with_all_the_weight_on_the_page_it_is_best_n_first():
    for seed in range(10):
        web = SyntheticWeb.random(Random(seed))
        assert visited(LinkContext(b=1.0, n=4), web) == visited(BestNFirst(n=4, buffer=None), web)


def test_the_window_is_what_drivers_are_asked_for():
    assert LinkContext().context_words == 20
    assert LinkContext(window=7).context_words == 7


def test_links_without_contexts_are_refused_in_one_line():
    crawl = SteppedCrawl(LinkContext(), WORKED)
    (page,) = crawl.strategy.ask(1)
    crawl.window.get(page)
    links = crawl.window.visit(page).links
    with pytest.raises(PluginError, match="context_words"):
        crawl.strategy.tell(Visit(page, 0.5, Links(links.pages, links.hosts)))
