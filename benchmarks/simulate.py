"""Visits per second of simulated crawls on real pages, and CPU time per visit, in one process (a minute).

Every round scores its pages anew, so that relevance models are measured too: the default one learns during each crawl.
"""

from collections.abc import Sequence
from pathlib import Path
from time import process_time

from benchmarks import command_parser
from benchmarks.data import collection, recorded
from scenthound.experiments import pipeline
from scenthound.experiments.setup import Experiment
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import read_topics

N_TOPICS = 10
PAGE_BUDGET = 1000
N_ROUNDS = 2
#: Strategy, mode and relevance model; None: the model of the strategy.
CHOICES = (
    ("best_first", "sequential", None),
    ("link_context", "sequential", None),
    ("best_first", "polite", None),
    ("link_context", "polite", None),
    ("best_first", "sequential", "cosine"),
    ("best_n_first:n=256", "sequential", "cosine"),
    ("best_first", "polite", "cosine"),
    ("link_context", "polite", "cosine"),
    ("rank_function", "roulette", "cosine"),
    ("scent", "polite", None),
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_parser("simulate", __doc__)
    parser.add_argument("--collection", default="wpschools", help="a folder in ../shared/data")
    folder = collection(parser.parse_args(arguments).collection)
    if folder is None:
        return
    topics = tuple(read_topics(folder / "topics.jsonl"))[:N_TOPICS]
    with recorded(folder) as path:
        print(f"  {folder.name}, {len(topics)} topics x {PAGE_BUDGET} pages")
        for strategy, mode, relevance in CHOICES:
            _measure(
                Experiment(
                    web=Path(path),
                    topics=topics,
                    strategies=(strategy,),
                    mode=mode,
                    relevance=relevance,
                    page_budget=PAGE_BUDGET,
                )
            )


def _measure(experiment: Experiment) -> None:
    web = RecordedWeb.open(experiment.web)
    planned = pipeline.plan(experiment, web)

    def crawl_all() -> tuple[float, int]:
        crawls = pipeline.Crawls(pipeline.CrawlSource(experiment, web))
        started_s = process_time()
        visits = sum(len(run.crawl.pages) for each in planned for run in crawls.of(*each))
        return process_time() - started_s, visits

    seconds, visits = min(crawl_all() for _ in range(N_ROUNDS))
    name = f"{experiment.strategies[0]}, {experiment.mode}, {experiment.relevance or 'default model'}"
    print(f"  {name:48} {visits / seconds:9,.0f} visits/s {1e6 * seconds / visits:9.1f} µs/visit", flush=True)


if __name__ == "__main__":
    main()
