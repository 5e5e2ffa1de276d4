"""What a validation is made of: strategies and the one they are held against, topics, seed sets, budgets (johnson2003
section 3).

Rules
- The large seed set is as many examples of a topic as `n_large`, or half of them where there are fewer than twice as
  many; the others are held out. It is drawn once for a topic, and the guide learns from it and from nothing else.
- The small one is a random part of the large one, another for each random seed; its share is `n_small / n_large`.
- Longer crawls contain shorter ones, because neither strategy nor mode knows the page budget: one is made and cut.
- Where the longest crawl would take more than half of the web, all budgets shrink in proportion, so that it takes half:
  the more of a web a crawl takes, the less it says about the order it came in, and one that takes it all says nothing.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from random import Random

from scenthound.errors import BadParameter
from scenthound.lab.experiment import MOST_SEEDS, Experiment
from scenthound.lab.starts import Start, check_start
from scenthound.model import Topic
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES

#: Best-First in the study is the rank function that goes by the direct parents alone.
BEST_FIRST = "rank_function:preset=best_first"
JOHNSON2003_BUDGETS = (10_000, 20_000, 30_000)


class SeedSet(StrEnum):
    """Which of the two seed sets a crawl starts from."""

    LARGE = "large"
    SMALL = "small"


@dataclass(frozen=True, slots=True)
class ValidationSettings:
    """Everything that decides the measurements. `trained` are the topics that the strategies were evolved on, `unseen`
    those that no search saw; `other_topics` only lend their examples to guides. A page is good from the relevance
    `threshold` upwards. `plain` lets no compiled code crawl; it decides nothing."""

    strategies: tuple[str, ...]
    trained: tuple[Topic, ...] = ()
    unseen: tuple[Topic, ...] = ()
    against: str = BEST_FIRST
    budgets: tuple[int, ...] = JOHNSON2003_BUDGETS
    n_large: int = 250
    n_small: int = 50
    n_seeds: int = 15
    mode: str = "roulette"
    relevance: str = "svm"
    threshold: float = 0.5
    closed_world: bool = False
    obey_nofollow: bool = True
    plain: bool = False
    other_topics: tuple[Topic, ...] = ()

    def __post_init__(self) -> None:
        against, *strategies = STRATEGIES.distinct((self.against, *self.strategies))
        if not strategies:
            raise BadParameter(f"There is no strategy to hold against {against}; name one with --strategy.")
        object.__setattr__(self, "against", against)
        object.__setattr__(self, "strategies", tuple(strategies))
        if not self.budgets or self.budgets[0] < 1 or any(low >= high for low, high in pairwise(self.budgets)):
            budgets = ", ".join(map(str, self.budgets)) or "none"
            raise BadParameter(f"The page budgets are {budgets}; they must rise, from 1 on.")
        if not 1 <= self.n_seeds <= MOST_SEEDS:
            raise BadParameter(f"seeds is {self.n_seeds}; it must be at least 1 and at most {MOST_SEEDS:,}.")
        if not 1 <= self.n_small < self.n_large:
            raise BadParameter(
                f"--small {self.n_small} and --large {self.n_large}: the small seed set must have at least 1 page, and "
                "fewer than the large one."
            )
        if not 0 < self.threshold < 1:
            raise BadParameter(f"The threshold is {self.threshold}; it must be more than 0 and less than 1.")

    @property
    def topics(self) -> tuple[Topic, ...]:
        return (*self.trained, *self.unseen)

    def groups(self) -> dict[str, range]:
        """The groups of topics that there are: the places of their topics, by what the strategies are to them."""
        n_trained = len(self.trained)
        groups = {"trained on": range(n_trained), "unseen": range(n_trained, len(self.topics))}
        return {name: topics for name, topics in groups.items() if topics}

    @property
    def all_strategies(self) -> tuple[str, ...]:
        """The one that the others are held against comes first."""
        return (self.against, *self.strategies)

    @property
    def labels(self) -> tuple[str, ...]:
        """Short names of all strategies: specs with parameters and paths are too long for tables and pictures."""
        return ("base", *(f"S{number}" for number in range(1, len(self.strategies) + 1)))

    def experiment(self, web: RecordedWeb) -> Experiment:
        """The crawls from the large seed set at the largest budget, from which all others follow."""
        return Experiment(
            # A web in memory lies nowhere; nothing here opens one by its place.
            web=web.path or Path(),
            topics=self.topics,
            strategies=self.all_strategies,
            page_budget=self.budgets[-1],
            n_start=self.n_large,
            closed_world=self.closed_world,
            obey_nofollow=self.obey_nofollow,
            relevance=self.relevance,
            other_topics=self.other_topics,
            mode=self.mode,
            plain=self.plain,
        )

    def seeds_of(self, large: Start, seed_set: SeedSet, seed: int) -> tuple[int, ...]:
        """The pages that the crawls with this random seed start from, in the order of the large set."""
        if seed_set is SeedSet.LARGE:
            return large.seeds
        n_drawn = max(1, round(len(large.seeds) * self.n_small / self.n_large))
        drawn = set(Random(f"small/{seed}/{large.topic}").sample(large.seeds, n_drawn))
        return tuple(page for page in large.seeds if page in drawn)


def fitting_budgets(wanted: tuple[int, ...], n_pages: int) -> tuple[int, ...]:
    """The page budgets, or smaller ones in the same proportion if the longest is more than half of the web."""
    if not wanted or 2 * wanted[-1] <= n_pages:
        return wanted
    fitting = tuple(budget * n_pages // (2 * wanted[-1]) for budget in wanted)
    if fitting[0] < 1 or any(low >= high for low, high in pairwise(fitting)):
        raise BadParameter(
            f"The web has {n_pages:,} pages, too few for crawls of {len(wanted)} lengths; give smaller --pages."
        )
    return fitting


def check_large(settings: ValidationSettings, web: RecordedWeb) -> None:
    """Refuse a large seed set of more pages than there are."""
    try:
        check_start(settings.n_large, web)
    except BadParameter as reason:
        raise BadParameter(f"{reason} Give a smaller --large.") from None
