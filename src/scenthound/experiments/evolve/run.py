"""Run a search: evaluate the individuals that it asks for in worker processes, log them, and pass them to the search.

Rules
- What an earlier run logged is not evaluated again; neither are genes that occur again, unless `reevaluate` is set.
- The log must have exactly the evaluations that the search asks for, in their order, or it is rejected before anything
  is written.
- Evaluations are logged and passed to the search in the order in which it asked, so that the number of workers changes
  nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import zip_longest
from math import isclose

from scenthound.errors import InvalidInput
from scenthound.experiments.evolve.evaluation import Evaluation
from scenthound.experiments.evolve.folder import Logged, SearchFolder, invalid_line
from scenthound.experiments.evolve.settings import STRATEGY, EvolutionSettings
from scenthound.experiments.search.base import Genes, Scored, Search, Summary
from scenthound.processes import WorkerPool
from scenthound.strategies.rank_file import Generation, RankFile, rank_file_text
from scenthound.strategies.rank_rules import RankRules

#: Fractional genes come from linear algebra, whose last digits may differ between machines.
SAME_GENES = 1e-6


@dataclass(frozen=True, slots=True)
class EvolutionStatus:
    """The progress of a search. Visits are those of this run."""

    summary: Summary
    n_done: int  #: of the current round, known ones included
    n_asked: int
    n_visits: int

    @property
    def n_told(self) -> int:
        """Individuals whose fitness is known."""
        return self.summary.n_evaluated + self.n_done

    @property
    def share(self) -> float:
        return self.n_told / self.summary.most_evaluations


Watch = Callable[[EvolutionStatus], None]


class EvolutionRun:
    """One run of a search, from the beginning or from where an earlier run stopped."""

    def __init__(
        self,
        settings: EvolutionSettings,
        web_fingerprint: str,
        folder: SearchFolder,
        watch: Watch,
    ) -> None:
        self.settings = settings
        self.folder = folder
        self._web_fingerprint = web_fingerprint
        self._watch = watch
        self._logged = folder.logged()
        self._n_recalled = 0  #: of those logged
        self._known: dict[Genes, Evaluation] = {}
        self._crawled: set[tuple[int, int]] = set()  #: by round and index
        self.search: Search = settings.new_search()
        self.n_evaluated = 0  #: in this run; so are the visits
        self.n_visits = 0

    @property
    def n_distinct(self) -> int:
        """Individuals whose fitness is known."""
        return len(self._known)

    @property
    def n_evaluated_in_all(self) -> int:
        """Including earlier runs."""
        return len(self._logged) + self.n_evaluated

    @property
    def n_visits_in_all(self) -> int:
        return sum(each.evaluation.n_visits for each in self._logged) + self.n_visits

    def catch_up(self) -> None:
        """Replay the complete rounds of earlier runs, and write the best rules so far."""
        while not self.search.done:
            asked = self.search.ask()
            self._recall(asked)
            if self._places_to_crawl(asked):
                break
            self._tell(asked)
        if self._n_recalled < len(self._logged):
            raise self._mismatch()
        if self.search.best is not None:
            self._write_best()

    def finish(self, pool: WorkerPool[RankRules, Evaluation]) -> None:
        """Search to the end."""
        while not self.search.done:
            asked = self.search.ask()
            self._evaluate(asked, pool)
            self._tell(asked)
            self._write_best()
            self._report(0, 0)

    def _recall(self, asked: Sequence[Genes]) -> None:
        """Take over what an earlier run logged for this round."""
        places = self._places_to_crawl(asked)
        for place, noted in zip(places, self._logged[self._n_recalled :], strict=False):
            if not self._is_asked_for(noted, place, asked[place]):
                raise self._mismatch()
            self._known[asked[place]] = noted.evaluation
            self._crawled.add((noted.round, noted.place))
            self._n_recalled += 1

    def _is_asked_for(self, noted: Logged, place: int, genes: Genes) -> bool:
        crawls = [self.settings.n_crawls] * len(self.settings.experiment.topics)
        return (
            (noted.round, noted.place) == (len(self.search.history), place)
            and _are_same(noted.genes, genes)
            and list(map(len, noted.evaluation.crawls)) == crawls
        )

    def _mismatch(self) -> InvalidInput:
        """The error for the first logged line that does not match the search."""
        reason = "the search took another course there than here, perhaps with another version of a library"
        return invalid_line(self.folder.log, self._n_recalled + 1, reason)

    def _places_to_crawl(self, asked: Sequence[Genes]) -> list[int]:
        """The indices of this round that must be evaluated: the first of equal genes, or all of them."""
        if self.settings.reevaluate:
            return [place for place in range(len(asked)) if (len(self.search.history), place) not in self._crawled]
        return [place for place, genes in enumerate(asked) if genes not in self._known and genes not in asked[:place]]

    def _evaluate(self, asked: Sequence[Genes], pool: WorkerPool[RankRules, Evaluation]) -> None:
        """Evaluate in worker processes what is not known."""
        places = self._places_to_crawl(asked)
        n_known = len(asked) - len(places)
        self._report(n_known, len(asked))
        evaluated = pool.in_order(self._rules_of(asked[place]) for place in places)
        for n_new, (place, evaluation) in enumerate(zip(places, evaluated, strict=True), 1):
            self.folder.append(Logged(len(self.search.history), place, asked[place], evaluation))
            self._known[asked[place]] = evaluation
            self._crawled.add((len(self.search.history), place))
            self.n_evaluated += 1
            self.n_visits += evaluation.n_visits
            if n_new < len(places):  # the last one is reported when the search has received it
                self._report(n_known + n_new, len(asked))

    def _tell(self, asked: Sequence[Genes]) -> None:
        self.search.tell([self._known[genes].fitness for genes in asked])

    def _rules_of(self, genes: Genes) -> RankRules:
        return self.settings.rules_of(self.search.weights_of(genes))

    def _report(self, n_done: int, n_asked: int) -> None:
        self._watch(EvolutionStatus(self.search.summary(), n_done, n_asked, self.n_visits))

    @property
    def best(self) -> Scored:
        best = self.search.best
        assert best is not None, "a search always asks for individuals first"
        return best

    def best_rules(self) -> RankRules:
        return self._rules_of(self.best.genes)

    def _write_best(self) -> None:
        self.folder.write_result(rank_file_text(self._rank_file()))

    def _rank_file(self) -> RankFile:
        """The best rules so far, and where they come from."""
        return RankFile(
            rules=self.best_rules(),
            relevance_model=self.settings.experiment.relevance_models()[STRATEGY],
            threshold=self.settings.threshold,
            training=self._training(),
            history=tuple(
                Generation(each.generation, each.best, each.mean, each.n_evaluated) for each in self.search.history
            ),
        )

    def _training(self) -> dict[str, object]:
        """The training record: plain values, independent of this run and this machine."""
        settings, experiment = self.settings, self.settings.experiment
        return {
            "fitness": settings.fitness,
            "best_fitness": self.best.fitness,
            "search": settings.search,
            "seed": settings.seed,
            "evaluations": self.search.n_evaluated,
            "is_complete": self.search.done,
            "topics": [topic.id for topic in experiment.topics],
            "web_fingerprint": self._web_fingerprint,
            "crawls": settings.n_crawls,
            "pages": experiment.page_budget,
            "mode": experiment.mode,
            "same_start": settings.same_start,
            "task": experiment.task.value,
            "start_pages": experiment.n_start,
            "train": experiment.n_train,
            "as_published": experiment.as_published,
            "closed_world": experiment.closed_world,
            "respect_nofollow": experiment.respect_nofollow,
            "scores": list(settings.scores),
            "split": settings.split,
            "seeded_with": len(settings.winners),
            "seeded_topics": list(settings.seeded_topics),
            "scenthound": version("scenthound"),
        }


def _are_same(noted: Genes, asked: Genes) -> bool:
    return all(
        here is not None and there is not None and isclose(here, there, abs_tol=SAME_GENES)
        for here, there in zip_longest(noted, asked)
    )
