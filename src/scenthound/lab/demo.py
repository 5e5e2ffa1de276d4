"""The demo from end to end: render the web, record it, crawl it with some strategies, judge them."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from scenthound.errors import BadInput
from scenthound.lab.demo_web import load_demo_topics, write_demo_pages
from scenthound.lab.evaluate import Evaluation, chosen_metrics, evaluate
from scenthound.lab.run_folder import RunFolder, require_parquet
from scenthound.lab.simulation import TopicChoice, simulate_topics
from scenthound.model import Progress
from scenthound.store.record import record
from scenthound.topics.files import write_topics

#: The ways of pant2002: no guidance, greedy, and exploring more and more.
DEMO_STRATEGIES = (
    "breadth_first",
    "best_first",
    "best_n_first:n=16",
    "infospiders:max_pages=150",
    "shark_search",
    "link_context",
    "otie",
    "rank_function",
)
DEMO_METRICS = ("target_recall", "precision", "mean_similarity")
#: Few, so that there is something left to find in a small web.
N_START = 3
#: Marks a folder as the demo's own, to be replaced by the next one.
MARK = ".scenthound-demo"

Shown = Callable[[str], AbstractContextManager[Progress]]
Say = Callable[[str], None]


class Demo:
    """Tells people what it does through `say`, and shows the progress of each step through `shown`."""

    def __init__(self, folder: Path, *, say: Say, shown: Shown) -> None:
        require_parquet()
        self.folder = folder
        self._say = say
        self._shown = shown
        self._pages, self._web, self._topics, self._run = (
            folder / name for name in ("pages.jsonl", "web", "topics.toml", "run")
        )

    def make(self, *, page_budget: int, n_seeds: int) -> Evaluation:
        self._take_folder()
        self._render()
        self._record()
        self._crawl(page_budget, n_seeds)
        self._say("4. Judging: the other examples are the targets that the crawls should find.")
        metrics, _ = chosen_metrics(DEMO_METRICS)
        return evaluate(RunFolder.open(self._run), metrics)

    def _take_folder(self) -> None:
        if self.folder.exists() and not (self.folder / MARK).is_file():
            raise BadInput(f"{self.folder} exists and is not a demo's, so it is left alone: choose another with --out.")
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / MARK).touch()

    def _render(self) -> None:
        self._say("1. Rendering the documentation of Python's standard library: a small web that is on every machine.")
        with self._shown("rendering") as progress:
            rendered = write_demo_pages(self._pages, progress)
        self._say(f"   {rendered.n_pages} pages in {self._pages}; {rendered.n_skipped} modules gave none here.")

    def _record(self) -> None:
        self._say("2. Recording them: words, links and where each link stands among the words.")
        with self._shown("recording") as progress:
            summary = record([self._pages], self._web, force=True, progress=progress)
        self._say(
            f"   {summary.links:,} links, {summary.links_recorded:,} of them inside; {summary.vocabulary:,} stems "
            f"in {self._web}."
        )

    def _crawl(self, page_budget: int, n_seeds: int) -> None:
        topics = load_demo_topics()
        write_topics(self._topics, topics)
        self._say(f"3. Crawling for {len(topics)} topics: {', '.join(topic.id for topic in topics)}.")
        self._say(
            f"   {len(DEMO_STRATEGIES)} strategies x {n_seeds} random starts x {page_budget} pages; "
            f"each crawl starts from {N_START} of its topic's examples."
        )
        with self._shown("crawling") as progress:
            done = simulate_topics(
                self._web,
                TopicChoice(self._topics, skip_missing=True),
                self._run,
                strategies=DEMO_STRATEGIES,
                page_budget=page_budget,
                n_seeds=n_seeds,
                n_start=N_START,
                force=True,
                progress=progress,
            )
        self._say(f"   {done.n_crawls:,} crawls got {done.n_pages:,} pages.")
