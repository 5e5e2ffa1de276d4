"""The demo from end to end: render the web, record it, crawl it with every strategy, judge, draw."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import BadInput
from scenthound.lab.demo_web import load_demo_topics, write_demo_pages
from scenthound.lab.evaluate import Evaluation, chosen_metrics, evaluate, write_evaluation
from scenthound.lab.run_folder import RunFolder, parquet
from scenthound.lab.simulation import TopicChoice, simulate_topics
from scenthound.model import Progress
from scenthound.store.record import record
from scenthound.topics.files import write_topics

#: The three ways of pant2002: no guidance, greedy, and exploring.
DEMO_STRATEGIES = ("breadth_first", "best_first", "best_n_first:n=16", "best_n_first:n=64")

DEMO_METRICS = ("target_recall", "precision", "mean_similarity")
#: Few, so that there is something left to find in a small web.
N_START = 3

Shown = Callable[[str], AbstractContextManager[Progress]]
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demo made."""

    folder: Path
    evaluation: Evaluation


def run_demo(out: Path, *, page_budget: int, n_seeds: int, force: bool, say: Say, shown: Shown) -> Demo:
    """`say` tells what comes next, `shown` shows the progress of each step."""
    parquet()
    web, run_folder, pages, topics = (out / name for name in ("web", "run", "pages.jsonl", "topics.toml"))
    if out.exists() and not force:
        raise BadInput(f"{out} exists already: choose another folder with --out, or replace the demo with --force.")
    out.mkdir(parents=True, exist_ok=True)

    say("1. Rendering the documentation of Python's standard library: a small web that is on every machine.")
    with shown("rendering") as progress:
        rendered = write_demo_pages(pages, progress)
    say(f"   {rendered.n_pages} pages in {pages}; {rendered.n_skipped} modules gave none here.")

    say("2. Recording them: words, links and where each link stands among the words.")
    with shown("recording") as progress:
        summary = record([pages], web, force=force, progress=progress)
    say(
        f"   {summary.links:,} links, {summary.links_recorded:,} of them inside; {summary.vocabulary:,} stems in {web}."
    )

    demo_topics = load_demo_topics()
    write_topics(topics, demo_topics)
    say(f"3. Crawling for {len(demo_topics)} topics: {', '.join(topic.id for topic in demo_topics)}.")
    say(
        f"   {len(DEMO_STRATEGIES)} strategies x {n_seeds} random starts x {page_budget} pages; "
        f"each crawl starts from {N_START} of its topic's examples."
    )
    with shown("crawling") as progress:
        done = simulate_topics(
            web,
            TopicChoice(topics, skip_missing=True),
            run_folder,
            strategies=DEMO_STRATEGIES,
            page_budget=page_budget,
            n_seeds=n_seeds,
            n_start=N_START,
            force=force,
            progress=progress,
        )
    say(f"   {done.n_crawls:,} crawls got {done.n_pages:,} pages.")

    say("4. Judging: the other examples are the targets that the crawls should find.")
    evaluation = evaluate(RunFolder(run_folder), chosen_metrics(DEMO_METRICS))
    write_evaluation(evaluation, run_folder)
    return Demo(out, evaluation)
