"""A live crawl that also tells how much CPU time went into what it notes for those who watch it."""

import time
from collections.abc import Callable
from typing import Any

from benchmarks import live_scenthound
from scenthound.crawler.control import ControlReader
from scenthound.crawler.status import SampleRecorder
from scenthound.store.crawl_records import CrawlStatus


class _Stopwatch:
    """Adds up the CPU time of calls, which are all made by one thread."""

    def __init__(self) -> None:
        self.cpu_s = 0.0

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            began_s = time.thread_time()
            try:
                return call(*arguments, **named)
            finally:
                self.cpu_s += time.thread_time() - began_s

        return timed


def main() -> None:
    notes, print_line = _Stopwatch(), live_scenthound.print_line

    def with_notes(status: CrawlStatus, **further: object) -> None:
        print_line(status, **further, notes_cpu_s=notes.cpu_s)

    SampleRecorder.record = notes.around(SampleRecorder.record)  # type: ignore[method-assign]
    ControlReader.poll = notes.around(ControlReader.poll)  # type: ignore[method-assign]
    live_scenthound.print_line = with_notes
    live_scenthound.main()


if __name__ == "__main__":
    main()
