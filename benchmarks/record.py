"""How fast a web is recorded and opened: real pages on all processors, and a made-up web of a million pages.

Run with `python -m benchmarks.record`. Memory is that of all processes together, sampled while they work.
"""

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.data import collection
from benchmarks.proc import parent_of, resident_bytes
from scenthound.files import opened
from scenthound.processes import processors
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.testing import topical_web

SAMPLE_EVERY_S = 0.05
MILLION = 1_000_000


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _recording(Path(folder) / "web")
        _opening(Path(folder) / "large")


def _recording(out: Path) -> None:
    folder = collection("wpschools")
    if folder is None:
        return
    file = folder / "pages.jsonl.zst"
    with _peak_memory() as peak:
        started = time.perf_counter()
        summary = record([file], out)
        seconds = time.perf_counter() - started
    megabytes = _unpacked_bytes(file) / 1e6
    print(
        f"  wpschools: {summary.pages:,} pages, {summary.links:,} links, {summary.words:,} words in {seconds:.2f} s: "
        f"{summary.pages / seconds:,.0f} pages/s, {megabytes / seconds:.0f} MB/s "
        f"({summary.bytes_read / 1e6 / seconds:.1f} MB/s as compressed on disk)"
    )
    print(f"  at most {peak[0] / 1e6:,.0f} MB of memory in all processes together; {processors()} processors")


def _unpacked_bytes(file: Path) -> int:
    with opened(file) as source:
        return sum(map(len, iter(lambda: source.content.read(1 << 20), b"")))


def _opening(folder: Path) -> None:
    topical_web(folder, pages=MILLION, links_per_page=20, words_per_page=5)
    started = time.perf_counter()
    web = RecordedWeb.open(folder)
    is_open = time.perf_counter()
    link = web.links(MILLION // 2)[-1]
    used = time.perf_counter()
    print(
        f"  open {web.n_pages:,} pages and {web.n_links:,} links in {1e3 * (is_open - started):.1f} ms, "
        f"then the links of one page in {1e3 * (used - is_open):.2f} ms (the last leads to {web.url(link)})"
    )


@contextmanager
def _peak_memory() -> Iterator[list[int]]:
    """A list whose one number is, when the block has ended, the most bytes that this process and those it started
    held at a time. Pages they share are counted once for each. 0 where there is no /proc."""
    peak = [0]
    done = threading.Event()

    def sample() -> None:
        while not done.wait(SAMPLE_EVERY_S):
            peak[0] = max(peak[0], sum(map(resident_bytes, _family())))

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield peak
    finally:
        done.set()
        sampler.join()


def _family() -> set[int]:
    parent = {int(path.parent.name): parent_of(path) for path in Path("/proc").glob("[0-9]*/stat")}
    family = {os.getpid()}
    while born := {process for process, its_parent in parent.items() if its_parent in family} - family:
        family |= born
    return family


if __name__ == "__main__":
    main()
