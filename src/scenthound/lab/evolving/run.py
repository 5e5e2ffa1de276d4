"""A search on its way: what it asks for is evaluated by a crew of processes, noted, and told.

Rules
- What is known is not evaluated again: neither what the folder tells of an earlier run, nor genes that the search asks
  for a second time.
- Evaluations are noted and told in the order of the question, so that the number of workers changes nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import zip_longest
from math import isclose

from scenthound.errors import BadInput, printable
from scenthound.evolve.base import Search
from scenthound.evolve.genome import Genes
from scenthound.evolve.scored import Scored, Summary
from scenthound.lab.evolving.evaluation import Evaluation
from scenthound.lab.evolving.search_folder import Logged, SearchFolder
from scenthound.lab.evolving.settings import STRATEGY, EvolutionSettings
from scenthound.processes import Crew
from scenthound.strategies.parts.rank_rules import RankRules
from scenthound.strategies.rank_file import Generation, RankFile, rank_file_text

#: Genes with a fraction come from linear algebra, whose last digits another machine may have otherwise.
SAME_GENES = 1e-6


@dataclass(frozen=True, slots=True)
class EvolutionStatus:
    """How a search is doing. Visits are those of this run; what an earlier one evaluated cost nothing now."""

    summary: Summary
    n_done: int  #: of the round at hand, known ones included
    n_asked: int
    n_visits: int

    @property
    def share(self) -> float:
        return (self.summary.n_evaluated + self.n_done) / self.summary.most_evaluations


Watch = Callable[[EvolutionStatus], None]


class EvolutionRun:
    """One run of a search, from the first question or from where an earlier run was."""

    def __init__(
        self,
        settings: EvolutionSettings,
        web_fingerprint: str,
        crew: Crew[RankRules, Evaluation],
        folder: SearchFolder,
        watch: Watch,
    ) -> None:
        self._settings = settings
        self._web_fingerprint = web_fingerprint
        self._crew = crew
        self._folder = folder
        self._watch = watch
        self._logged = {(each.round, each.place): each for each in folder.logged()}
        self._known: dict[Genes, Evaluation] = {}
        self.search: Search = settings.new_search()
        self.n_visits = 0

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """Of all individuals that differ."""
        return tuple(self._known.values())

    def finish(self) -> Scored:
        """Search to the end; the best individual."""
        while not self.search.done:
            asked = self.search.ask()
            self._recall(asked)
            self._evaluate(asked)
            self.search.tell([self._known[genes].fitness for genes in asked])
            self._folder.write_result(rank_file_text(self._rank_file()))
            self._report(0, 0)
        return self._best()

    def _recall(self, asked: Sequence[Genes]) -> None:
        """Learn what an earlier run noted of this round."""
        for place, genes in enumerate(asked):
            noted = self._logged.get((len(self.search.history), place))
            if noted is None:
                continue
            if not _are_same(noted.genes, genes):
                raise BadInput(
                    f"The search in {printable(self._folder.path)} went another way than it goes here, maybe under "
                    "another version of a library: begin a new one."
                )
            self._known.setdefault(genes, noted.evaluation)

    def _evaluate(self, asked: Sequence[Genes]) -> None:
        """Let the crew evaluate what is not known."""
        unknown = {genes: place for place, genes in reversed(list(enumerate(asked))) if genes not in self._known}
        in_order = sorted(unknown, key=unknown.__getitem__)
        n_known = sum(genes in self._known for genes in asked)
        self._report(n_known, len(asked))
        evaluated = self._crew.in_order(map(self._rules_of, in_order))
        for n_new, (genes, evaluation) in enumerate(zip(in_order, evaluated, strict=True), 1):
            self._folder.append(Logged(len(self.search.history), unknown[genes], genes, evaluation))
            self._known[genes] = evaluation
            self.n_visits += evaluation.n_visits
            if n_new < len(in_order):  # of the last one it is told when the search knows of it
                self._report(n_known + n_new, len(asked))

    def _rules_of(self, genes: Genes) -> RankRules:
        return self._settings.rules_of(self.search.weights_of(genes))

    def _report(self, n_done: int, n_asked: int) -> None:
        self._watch(EvolutionStatus(self.search.summary(), n_done, n_asked, self.n_visits))

    def _best(self) -> Scored:
        best = self.search.best
        assert best is not None, "every search asks for somebody"
        return best

    def best_rules(self) -> RankRules:
        return self._rules_of(self._best().genes)

    def _rank_file(self) -> RankFile:
        """The best so far, with where it comes from."""
        return RankFile(
            rules=self.best_rules(),
            guide=self._settings.experiment.guides()[STRATEGY],
            threshold=self._settings.threshold,
            training=self._training(),
            history=tuple(
                Generation(each.generation, each.best, each.mean, each.n_evaluated) for each in self.search.history
            ),
        )

    def _training(self) -> dict[str, object]:
        """What was searched, in plain values; nothing of this run or of this machine."""
        settings, experiment = self._settings, self._settings.experiment
        return {
            "fitness": settings.fitness,
            "best_fitness": self._best().fitness,
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
            "obey_nofollow": experiment.obey_nofollow,
            "scores": list(settings.scores),
            "split": settings.split,
            "seeded_with": len(settings.winners),
            "scenthound": version("scenthound"),
        }


def _are_same(noted: Genes, asked: Genes) -> bool:
    return all(
        here is not None and there is not None and isclose(here, there, abs_tol=SAME_GENES)
        for here, there in zip_longest(noted, asked)
    )
