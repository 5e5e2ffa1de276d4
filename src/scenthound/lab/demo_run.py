"""The demo's live crawls among the simulated ones, so that one judge judges all of them alike."""

from collections.abc import Iterator, Sequence

from scenthound.lab.run_folder import RunFolder
from scenthound.model import Trace


class RunWithLive(RunFolder):
    """A run folder that also has live crawls, which are the last in tables."""

    def __init__(self, run: RunFolder, live: Sequence[Trace]) -> None:
        names = list(dict.fromkeys(trace.strategy for trace in live))
        super().__init__(run.path, run.web, run.page_budget, [*run.strategies, *names])
        self._live = live

    def traces(self) -> Iterator[Trace]:
        told: set[str] = set()
        for trace in super().traces():
            if trace.topic not in told:
                yield from (live for live in self._live if live.topic == trace.topic)
                told.add(trace.topic)
            yield trace

    def n_alike(self, strategy: str, live_name: str) -> int:
        """For how many topics a live crawl made the visits of a simulated one, in the same order."""
        simulated = {trace.topic: trace.pages.tolist() for trace in super().traces() if trace.strategy == strategy}
        live = {trace.topic: trace.pages.tolist() for trace in self._live if trace.strategy == live_name}
        return sum(pages == simulated.get(topic) for topic, pages in live.items())
