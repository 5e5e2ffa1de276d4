"""Breadth-First, BFS1 and BFS256 on two real collections: target recall and precision, with standard errors."""

import sys
import tempfile
from pathlib import Path

from benchmarks.data import collection, recorded
from scenthound.cli.tables import print_evaluation
from scenthound.lab.evaluate import chosen_metrics, evaluate
from scenthound.lab.run_folder import RunFolder
from scenthound.lab.simulation import TopicChoice, simulate_topics
from scenthound.report.curves import draw_curves
from scenthound.report.evaluation_files import write_evaluation

COLLECTIONS = ("wpschools", "nlab")
STRATEGIES = ("breadth_first", "best_n_first:n=1", "best_n_first:n=256")
METRICS = ("target_recall", "precision")
PAGE_BUDGET = 2000
N_SEEDS = 2


def main(pictures: Path | None = None) -> None:
    """Print the tables; with a folder, leave the curves there as pictures and files."""
    for name in COLLECTIONS:
        folder = collection(name)
        if folder is None:
            continue
        with recorded(folder) as web, tempfile.TemporaryDirectory(prefix="scenthound-bench-") as place:
            run = Path(place) / "run"
            done = simulate_topics(
                web,
                TopicChoice(folder / "topics.jsonl", skip_missing=True),
                run,
                strategies=STRATEGIES,
                page_budget=PAGE_BUDGET,
                n_seeds=N_SEEDS,
            )
            evaluation = evaluate(RunFolder.open(run), chosen_metrics(METRICS)[0])
            print(f"  {name}: {done.n_crawls:,} crawls, {done.n_pages:,} pages", flush=True)
            print_evaluation(evaluation)
            if pictures is not None:
                target = pictures / name
                target.mkdir(parents=True, exist_ok=True)
                write_evaluation(evaluation, target)
                draw_curves(evaluation, [target / "curves.png"], name)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
