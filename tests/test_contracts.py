"""The executable contracts catch those who break them."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from scenthound.errors import LeakageError, PluginError
from scenthound.frontier.priority import UnboundedFrontier
from scenthound.metrics.retrieval import Precision
from scenthound.strategies.base import MemoryBound
from scenthound.strategies.best_n_first import BestFirst
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.strategies.opic import Opic
from scenthound.testing import check_metric, check_strategy


class AsksTwice(BreadthFirst):
    _again = ()

    def ask(self, n, ready=None):
        return list(self._again) or super().ask(n, ready)

    def tell(self, visit):
        super().tell(visit)
        self._again = (visit.page,)


class AsksTooMuch(BreadthFirst):
    def ask(self, n, ready=None):
        return super().ask(n + 1, ready)


class IgnoresRest(BreadthFirst):
    def ask(self, n, ready=None):
        return super().ask(n)


class Forgets(BestFirst):
    def state(self):
        return {**super().state(), "frontier": UnboundedFrontier(Random(0)).state()}


class Guesses(BreadthFirst):
    def tell(self, visit):
        super().tell(visit)
        self._append(np.array([999], np.int32), np.array([0], np.int32))


class Hoards(BreadthFirst):
    def __init__(self):
        super().__init__(buffer=None)

    def memory_bound(self):
        return MemoryBound(3, 1000, 1000)


class KeepsPages(BreadthFirst):
    def __init__(self):
        super().__init__()
        self.kept = []

    def tell(self, visit):
        super().tell(visit)
        self.kept.append(bytes(2000))


class SaysTooLittleOfWhatWaits(BestFirst):
    def __init__(self):
        super().__init__()
        self.at_hand = {}

    def tell(self, visit):
        super().tell(visit)
        self.at_hand = {page: bytes(2000) for page in self._frontier.queued_pages().tolist()}


class KeepsLinks:
    """Beside a strategy: keeps a copy of every page's links, by default in a list."""

    def __init__(self):
        super().__init__()
        self.kept = self.place_to_keep()

    def place_to_keep(self):
        return []

    def keep(self, page, links):
        self.kept.append(links)

    def tell(self, visit):
        super().tell(visit)
        self.keep(visit.page, visit.links.pages.copy())


class OpicThatKeepsLinks(KeepsLinks, Opic):
    pass


class BreadthFirstThatKeepsLinks(KeepsLinks, BreadthFirst):
    pass


class HidesLinksInAnArray(KeepsLinks, BreadthFirst):
    def place_to_keep(self):
        return np.empty(500, object)

    def keep(self, page, links):
        self.kept[page] = links


class HidesLinksInAFunction(KeepsLinks, BreadthFirst):
    def place_to_keep(self):
        return [].append

    def keep(self, page, links):
        self.kept(links)


class SaysThatItKeepsLinks(BreadthFirstThatKeepsLinks):
    def memory_bound(self):
        return replace(super().memory_bound(), bytes_per_link=4)


class RegretsNothing(BestFirst):
    def regrets(self):
        return [-1.0 for _ in super().regrets()]


class RegretsInVain(BestFirst):
    def regrets(self):
        return [1.0 for _ in super().regrets()]


class Whimsical(BestFirst):
    whim = 0

    def start(self, seeds, rng, seen):
        Whimsical.whim += 1
        rng.seed(Whimsical.whim)
        super().start(seeds, rng, seen)


class Lazy(BreadthFirst):
    def ask(self, n, ready=None):
        return []


class HidesWhatWaits(BreadthFirst):
    def __len__(self):
        return 0


class SharesItsState(BestFirst):
    def state(self):
        return {"all": self}

    def restore(self, state, seen):
        self.__dict__ = state["all"].__dict__


class SharesAList(BestFirst):
    def __init__(self):
        super().__init__()
        self.visited = []

    def tell(self, visit):
        super().tell(visit)
        self.visited.append(visit.page)

    def memory_bound(self):
        return replace(super().memory_bound(), bytes_per_url=1000)

    def state(self):
        return {**super().state(), "visited": self.visited}


class SavesASet(BestFirst):
    def state(self):
        return {**super().state(), "mine": [{"visited": {1, 2}}]}


class SavesObjects(BestFirst):
    def state(self):
        return {**super().state(), "mine": np.array([{}], object)}


class SavesNumbersAsKeys(BestFirst):
    def state(self):
        return {**super().state(), "mine": {3: 1.0}}


class SavesNothingOfUse(BestFirst):
    def state(self):
        return {**super().state(), "mine": {"a": [None, True, np.float64("nan"), np.full(2, np.nan), ("text", 1)]}}


class CountsDroppedPages(BreadthFirst):
    n_dropped = 0

    def drop(self, page):
        self.n_dropped += 1

    def __len__(self):
        return super().__len__() + self.n_dropped


class ReturnsAnArray(BreadthFirst):
    def ask(self, n, ready=None):
        return np.array(super().ask(n, ready), np.int32)


class GivesUpOnDeadLinks(BreadthFirst):
    def drop(self, page):
        raise PluginError("A dead link must not stop a strategy.", rule="its-own")


class WantsPredictions(BreadthFirst):
    context_words = 20

    def tell(self, visit):
        assert len(visit.links.predicted) == len(visit.links)
        super().tell(visit)


def test_a_strategy_that_wants_predictions_gets_them():
    check_strategy(WantsPredictions)


class Peeks(BreadthFirst):
    def start(self, seeds, rng, seen):
        super().start(seeds, rng, seen)
        self._seen = seen

    def tell(self, visit):
        super().tell(visit)
        for page in visit.links.pages.tolist():
            self._seen.words(page)


@pytest.mark.parametrize(
    ("strategy", "rule", "values"),
    [
        (AsksTwice, "requested-twice", r"Page \d+.* (visited|dropped|flight)\b"),
        (AsksTooMuch, "too-many-pages", r"ask\(1\).*\b2\b"),
        (IgnoresRest, "host-not-ready", r"Page \d+.* host \d+"),
        (Forgets, "restore", r"\d.* page \d+"),
        (Guesses, "unknown-page", r"Page \d+"),
        (Hoards, "queue-size", r"`memory_bound`.*\b3\b"),
        (KeepsPages, "bytes", r"`memory_bound`.*: kept [\d,]+, "),
        (SaysTooLittleOfWhatWaits, "bytes", r"[\d,]+ bytes.* [1-9]\d* .*`memory_bound`"),
        (OpicThatKeepsLinks, "bytes-per-link", r"`memory_bound` \(0 .*: kept [\d,]+, "),
        (BreadthFirstThatKeepsLinks, "bytes-per-link", "`memory_bound`"),
        (HidesLinksInAnArray, "bytes-per-link", "`memory_bound`"),
        (HidesLinksInAFunction, "bytes-per-link", "`memory_bound`"),
        (RegretsNothing, "negative-regret", None),
        (RegretsInVain, "regret-without-wait", None),
        (Whimsical, "not-reproducible", None),
        (HidesWhatWaits, "len", r"len\(\).*\b0\b"),
        (SharesItsState, "state", r"state\(\)\['all'\].*SharesItsState"),
        (SharesAList, "shared-state", None),
        (SavesASet, "state", r"state\(\)\['mine'\]\[0\]\['visited'\].*\bset\b"),
        (SavesObjects, "state", r"state\(\)\['mine'\].*\bndarray\b"),
        (SavesNumbersAsKeys, "state", r"state\(\)\['mine'\].*\b3\b"),
        (CountsDroppedPages, "pages-left", r"len\(\) is (\d+).*\(\1 "),
        (ReturnsAnArray, "not-a-list", r"array\(\["),
        (BreadthFirst(), "factory", "BreadthFirst"),
        (lambda: BreadthFirst, "factory", "BreadthFirst"),
        (iter([BreadthFirst()] * 2).__next__, "factory", None),
        (Lazy, "visits-nothing", None),
        (GivesUpOnDeadLinks, "its-own", None),
    ],
)
def test_a_strategy_that_breaks_a_rule_is_told_which(strategy, rule, values):
    with pytest.raises(PluginError, match=values) as broken:
        check_strategy(strategy)
    assert broken.value.rule == rule


def test_a_state_may_have_everything_that_a_checkpoint_stores():
    check_strategy(SavesNothingOfUse)


def test_a_strategy_may_keep_the_links_that_it_says_it_keeps():
    check_strategy(SaysThatItKeepsLinks)


def test_a_strategy_that_peeks_is_caught():
    with pytest.raises(LeakageError):
        check_strategy(Peeks)


class SeesTheFuture(Precision):
    def curve(self, trace, ground_truth, n_steps):
        return np.full(n_steps, super().curve(trace, ground_truth, max(len(trace), 1))[-1])


class TooShort(Precision):
    def curve(self, trace, ground_truth, n_steps):
        return super().curve(trace, ground_truth, n_steps)[1:]


class StopsWithTheCrawl(Precision):
    def curve(self, trace, ground_truth, n_steps):
        return super().curve(trace, ground_truth, min(n_steps, len(trace)))


class Meddles(Precision):
    def curve(self, trace, ground_truth, n_steps):
        curve = super().curve(trace, ground_truth, n_steps)
        ground_truth.targets[:] = 0
        return curve


class Whims(Precision):
    whim = 0.0

    def curve(self, trace, ground_truth, n_steps):
        Whims.whim += 1
        return super().curve(trace, ground_truth, n_steps) + Whims.whim


class HalfDefined(Precision):
    def curve(self, trace, ground_truth, n_steps):
        curve = super().curve(trace, ground_truth, n_steps)
        if not len(ground_truth.targets):
            curve[: n_steps // 2] = 0
        return curve


class Undecided(Precision):
    def curve(self, trace, ground_truth, n_steps):
        return np.full(n_steps, np.nan)


@pytest.mark.parametrize(
    ("metric", "rule"),
    [
        (SeesTheFuture, "later-pages"),
        (TooShort, "length"),
        (StopsWithTheCrawl, "length"),
        (Whims, "not-reproducible"),
        (HalfDefined, "partly-defined"),
        (Meddles, "changed-arguments"),
        (Undecided, "not-a-number"),
    ],
)
def test_a_metric_that_breaks_a_rule_is_told_which(metric, rule):
    with pytest.raises(PluginError) as broken:
        check_metric(metric())
    assert broken.value.rule == rule
