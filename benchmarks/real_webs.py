"""Target recall, precision and CPU time of every strategy on two real collections (estimated 30 minutes).

Each collection is one site, so PageRank may use links within a domain. The relevance model of strategies that train one
learns from the start pages only.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random

from benchmarks import command_parser
from benchmarks.data import collection, recorded
from scenthound.api.progress import show_progress
from scenthound.cli.results import print_evaluation
from scenthound.experiments.evaluate import chosen_metrics, evaluate, write_evaluation
from scenthound.experiments.runs import RunFolder, simulate_topics
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import TopicChoice
from scenthound.topics.files import read_topics
from scenthound.ui.figures import figure_files
from scenthound.ui.reports.run import evaluation_figure

COLLECTIONS = ("wpschools", "nlab")
PAGE_BUDGET = 2000
STRATEGIES = (
    "breadth_first",
    "best_n_first:n=1",
    "best_n_first:n=256",
    "adaptive_n_first",
    "keyword_pagerank",
    "pagerank:other_domains=false",
    f"infospiders:max_pages={PAGE_BUDGET}",
    "fish_search",
    "shark_search",
    "link_context",
    "opic",
    "otie",
    "hub_otie",
    "rank_function:preset=johnson2003",
    "rank_function:preset=best_first",
)
METRICS = ("target_recall", "precision")
CHECKPOINTS = (100, 500, 1000, 2000)
N_SEEDS = 5
N_TOPICS = 30


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_parser("real_webs", __doc__)
    parser.add_argument("out", type=Path, nargs="?", help="folder for curves, as figures and tables")
    parser.add_argument("--topics", type=int, default=N_TOPICS, help="size of the random sample of topics; 0 for all")
    options = parser.parse_args(arguments)
    for name in COLLECTIONS:
        folder = collection(name)
        if folder is not None:
            _compare(name, folder, options.out and options.out / name, options.topics)


def _compare(name: str, folder: Path, out: Path | None, n_topics: int) -> None:
    topics = folder / "topics.jsonl"
    with recorded(folder) as web, tempfile.TemporaryDirectory(prefix="scenthound-bench-") as temporary:
        run = Path(temporary) / "run"
        with show_progress(name) as progress:
            setup = ExperimentSetup(
                web=web,
                topics=TopicChoice(topics, _sample(topics, n_topics), skip_missing=True),
                strategies=STRATEGIES,
                page_budget=PAGE_BUDGET,
                repeats=N_SEEDS,
            )
            done = simulate_topics(setup, run, progress=progress)
        evaluation = evaluate(RunFolder.open(run), chosen_metrics(METRICS)[0], CHECKPOINTS)
        print(f"  {name}: {done.n_crawls:,} crawls, {done.n_pages:,} pages", flush=True)
        print_evaluation(evaluation, print_all=True)
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            write_evaluation(evaluation, out)
            for file, image in figure_files([evaluation_figure(evaluation)], title=name).items():
                (out / file).write_bytes(image)


def _sample(topics: Path, n_topics: int) -> tuple[str, ...]:
    """A random sample of the topics, the same in every run; empty for all topics."""
    ids = [topic.id for topic in read_topics(topics)]
    return () if n_topics == 0 else tuple(Random(0).sample(ids, min(n_topics, len(ids))))


if __name__ == "__main__":
    main()
