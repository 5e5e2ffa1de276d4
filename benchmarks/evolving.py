"""The study of johnson2003 on two real collections: search, validation, and the verdict on its findings (H17 to H20).

On each collection one topic is trained on: the one whose half of the examples comes nearest to the study's 139 seeds.
The search is the study's own, its crawls as long as the shortest of the validation. The evolved and the published rank
function are then held against Best-First on that topic and on others that share no example with it, drawn by lot.
`python -m benchmarks.evolving FOLDER` leaves searches, findings and pictures there; a search behind it, such as
`johnson2003:population=10,generations=5`, takes the place of the study's.
"""

import sys
import tempfile
from pathlib import Path
from time import perf_counter

from benchmarks.data import collection, recorded
from scenthound.cli.evolve_progress import watched
from scenthound.cli.evolve_tables import print_evolution
from scenthound.cli.progress import shown
from scenthound.cli.validation_tables import print_validation
from scenthound.lab.evolving.evolution import Evolution, evolve
from scenthound.lab.topic_choice import TopicChoice
from scenthound.lab.validating.settings import JOHNSON2003_BUDGETS, ValidationSettings, fitting_budgets
from scenthound.lab.validating.topics import TopicsWanted
from scenthound.report.validation_folder import validate_into
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.evolved import choice_of
from scenthound.topics.files import read_topics

COLLECTIONS = ("wpschools", "nlab")
SEARCH = "johnson2003"
PUBLISHED = "rank_function:preset=johnson2003"
#: Seeds of the study's search.
N_START = 139
N_UNSEEN = 10


def main(folder: Path | None = None, search: str = SEARCH) -> None:
    """Print the tables; with a folder, leave everything there."""
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as place:
        for name in COLLECTIONS:
            pages = collection(name)
            if pages is not None:
                with recorded(pages) as web:
                    _study(name, web, pages / "topics.jsonl", (folder or Path(place)) / name, search)


def _study(name: str, web: Path, topics: Path, out: Path, search: str) -> None:
    topic = _topic_like_the_study(topics)
    n_pages = RecordedWeb.open(web).n_pages
    print(f"  {name}: {n_pages:,} pages, trained on {topic}", flush=True)
    page_budget = fitting_budgets(JOHNSON2003_BUDGETS, n_pages)[0]
    evolved = _evolved(web, TopicChoice(topics, (topic,)), out / "search", search, page_budget)
    began_s = perf_counter()
    wished = ValidationSettings((choice_of(evolved.result), PUBLISHED))
    with shown(f"{name}: validating") as progress:
        wanted = TopicsWanted(topics, (topic,), most_unseen=N_UNSEEN)
        done = validate_into(out / "validation", web, wanted, wished, progress=progress)
    print_validation(done)
    print(f"  validated in {perf_counter() - began_s:,.0f} s", flush=True)


def _evolved(web: Path, topics: TopicChoice, out: Path, search: str, page_budget: int) -> Evolution:
    began_s = perf_counter()
    with watched() as watch:
        done = evolve(web, topics, out, search=search, page_budget=page_budget, n_start=N_START, watch=watch)
    print_evolution(done, perf_counter() - began_s, as_json=False, visits_per_s=watch.visits_per_s)
    return done


def _topic_like_the_study(topics: Path) -> str:
    return min(read_topics(topics), key=lambda topic: (abs(len(topic.examples) - 2 * N_START), topic.id)).id


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None, *sys.argv[2:3])
