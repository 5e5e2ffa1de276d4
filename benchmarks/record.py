"""Speed of recording a web on all processors, and of opening a recorded web of a million pages (half a minute).

Memory is the total of all processes, sampled while they work.
"""

import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks import command_parser
from benchmarks.data import collection, synthetic_web
from benchmarks.processes import processes, resident_bytes
from scenthound.files import opened
from scenthound.processes import processors
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb

SAMPLE_EVERY_S = 0.05
MILLION = 1_000_000


def main(arguments: Sequence[str] | None = None) -> None:
    command_parser("record", __doc__).parse_args(arguments)
    folder = collection("wpschools")
    if folder is not None:
        _recording(folder / "pages.jsonl.zst")
    _opening()


def _recording(file: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary, _peak_memory() as peak:
        started = time.perf_counter()
        summary = record([file], Path(temporary) / "web")
        seconds = time.perf_counter() - started
    megabytes = _unpacked_bytes(file) / 1e6
    print(
        f"  wpschools: {summary.pages:,} pages, {summary.links:,} links, {summary.words:,} words in {seconds:.2f} s: "
        f"{summary.pages / seconds:,.0f} pages/s, {megabytes / seconds:.0f} MB/s "
        f"({summary.bytes_read / 1e6 / seconds:.1f} MB/s compressed)"
    )
    print(f"  peak memory of all processes {peak[0] / 1e6:,.0f} MB; {processors()} processors")


def _unpacked_bytes(file: Path) -> int:
    with opened(file) as source:
        return sum(map(len, iter(lambda: source.content.read(1 << 20), b"")))


def _opening() -> None:
    with synthetic_web(pages=MILLION, links_per_page=20, words_per_page=5) as folder:
        started = time.perf_counter()
        web = RecordedWeb.open(folder)
        opened_at = time.perf_counter()
        web.url(web.links(MILLION // 2)[-1])
        read_at = time.perf_counter()
    print(
        f"  open {web.n_pages:,} pages and {web.n_links:,} links in {1e3 * (opened_at - started):.1f} ms, "
        f"then read the links of one page in {1e3 * (read_at - opened_at):.2f} ms"
    )


@contextmanager
def _peak_memory() -> Iterator[list[int]]:
    """A list whose only item is, after the block, the peak of the resident bytes of this process and its descendants.

    Shared memory counts once for each process. The value is 0 on systems without /proc."""
    peak = [0]
    done = threading.Event()

    def sample() -> None:
        while not done.wait(SAMPLE_EVERY_S):
            peak[0] = max(peak[0], sum(map(resident_bytes, _descendants())))

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield peak
    finally:
        done.set()
        sampler.join()


def _descendants() -> set[int]:
    """This process and all its descendants."""
    parent_of = {process.id: process.parent for process in processes()}
    found = {os.getpid()}
    while children := {process for process, parent in parent_of.items() if parent in found} - found:
        found |= children
    return found


if __name__ == "__main__":
    main()
