"""Visits per second of simulated crawls on real pages, by strategy; CPU time of one process (half a minute)."""

from collections.abc import Sequence
from random import Random
from time import process_time

from benchmarks import command_parser
from benchmarks.data import collection, recorded
from scenthound.experiments.starts import Starts
from scenthound.relevance.cosine import Cosine
from scenthound.simulator.scores import PageScores
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.topics.files import read_topics

N_TOPICS = 20
PAGE_BUDGET = 2000
CHOICES = ("breadth_first:buffer=256", "breadth_first", "best_first:buffer=256", "best_first", "best_n_first:n=256")


def main(arguments: Sequence[str] | None = None) -> None:
    command_parser("simulate", __doc__).parse_args(arguments)
    folder = collection("wpschools")
    if folder is None:
        return
    with recorded(folder) as path:
        web = RecordedWeb.open(path)
        starts = Starts(web)
        jobs = []
        for topic in read_topics(folder / "topics.jsonl")[:N_TOPICS]:
            scores = PageScores(web, Cosine().for_topic(topic, web))
            jobs.append((starts.draw(topic, 0).seeds, scores))
        print(f"  wpschools, {N_TOPICS} topics x {PAGE_BUDGET} pages; requests include pages that are not recorded")
        for choice in CHOICES:
            _measure(choice, web, jobs)


def _measure(choice: str, web: RecordedWeb, jobs: list[tuple[tuple[int, ...], PageScores]]) -> None:
    links = VisibleLinks(web)

    def crawl_all() -> tuple[float, int, int]:
        started_s = process_time()
        crawls = [
            simulate(web, STRATEGIES.make(choice), seeds, scores, rng=Random(1), page_budget=PAGE_BUDGET, links=links)
            for seeds, scores in jobs
        ]
        visits = sum(len(crawl.pages) for crawl in crawls)
        return process_time() - started_s, visits, visits + sum(c.n_missing + c.n_repeated for c in crawls)

    crawl_all()  # Fills the cache of page scores, so that only the crawl is measured.
    seconds, visits, requests = min(crawl_all() for _ in range(2))
    print(f"  {choice:28} {visits / seconds:9,.0f} visits/s {requests / seconds:9,.0f} requests/s")


if __name__ == "__main__":
    main()
