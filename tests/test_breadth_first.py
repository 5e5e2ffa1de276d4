"""What a full queue lets go."""

import pytest

from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.testing import SyntheticWeb, check_strategy, visited

#   a -> b c d e f      d -> g h      e -> b
WEB = SyntheticWeb({"a": ["b", "c", "d", "e", "f"], "d": ["g", "h"], "e": ["b"]})


def test_a_full_queue_drops_new_links():
    # Queue of 3. a: b c d enter, e f are dropped. b, c lead nowhere. d: g h enter.
    assert visited(BreadthFirst(buffer=3), WEB) == ["a", "b", "c", "d", "g", "h"]


def test_a_full_queue_may_drop_the_oldest_instead():
    # Queue of 3. a: b c d e f enter, b and c are dropped. d: e f g h, e is dropped, and with it the way to b.
    assert visited(BreadthFirst(buffer=3, when_full="drop_oldest"), WEB) == ["a", "d", "f", "g", "h"]


def test_what_was_dropped_as_the_oldest_counts_as_dealt_with():
    # Queue of 2. a: b c enter. b: c d e, c is dropped. d links to c, in vain.
    web = SyntheticWeb({"a": ["b", "c"], "b": ["d", "e"], "d": ["c"]})
    assert visited(BreadthFirst(buffer=2, when_full="drop_oldest"), web) == ["a", "b", "d", "e"]


@pytest.mark.slow
def test_the_contract_is_kept_when_the_oldest_are_dropped():
    check_strategy(lambda: BreadthFirst(buffer=3, when_full="drop_oldest"))
