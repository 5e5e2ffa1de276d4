"""The whole search of johnson2003 at its full cost: 2,550 evaluations of 3 crawls of 10,000 pages, 76.5 million visits.

On a made-up web of 100,000 pages, with as many seeds as the study had, on all processors. Individuals that come up
again are crawled for again, as in the study. Asked is an end within five minutes on two cores.
"""

import tempfile
from pathlib import Path
from time import perf_counter

from scenthound.cli.evolve_output import print_evolution, watched
from scenthound.experiments.evolve.evolution import evolve
from scenthound.experiments.evolve.settings import SearchSettings
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import TopicChoice
from scenthound.testing import topical_web
from scenthound.testing.topical_web import TOPICS_FILE

N_PAGES = 100_000
N_START = 139
MOST_SECONDS = 300


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as place:
        web = Path(place) / "web"
        topical_web(web, pages=N_PAGES)
        topics = TopicChoice(web / TOPICS_FILE, ("topic0",))
        setup = ExperimentSetup(web=web, topics=topics, page_budget=10_000, n_start=N_START, mode="roulette")
        began_s = perf_counter()
        with watched() as watch:
            done = evolve(setup, SearchSettings(reevaluate=True), Path(place) / "search", watch=watch)
        seconds = perf_counter() - began_s
        print_evolution(done, seconds, as_json=False, visits_per_s=watch.visits_per_s)
        print(f"  {done.n_visits:,} visits in {seconds:,.0f} s   asked: {MOST_SECONDS} s", flush=True)


if __name__ == "__main__":
    main()
