"""Memory of a large live crawl, and the cost of resuming it after a kill (100,000 pages: 1 minute; a million: 10).

Pages come from a server that makes them up (`benchmarks.generated_site`). At each of several sizes the crawl is killed
with SIGKILL and resumed. Printed for each: resident memory of the crawler, bytes for each known URL beyond that of the
first pages, the longest pause of the crawl for a checkpoint, and the CPU seconds of resuming, from the start of the
process to the first request. The cost of starting a new crawl is part of them.
"""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import command_parser, target
from benchmarks.generated_site import PORT, GeneratedSite, serving
from benchmarks.live_crawl import STRATEGY, LiveCrawl
from benchmarks.processes import resident_bytes
from scenthound.store.stored_crawl import StoredCrawl

CONNECTIONS = 64
#: Pages after which a crawl is killed, beside its last one.
STOPS = (20_000, 50_000, 100_000, 300_000)
KEYWORDS = ["word1", "word2", "word3"]
MAX_BASE_MB = 300
MAX_BYTES_PER_URL = 100
MAX_PAUSE_MS = 100
#: CPU seconds to resume this many pages.
MAX_RESUME_CPU_S = {20_000: 3.0, 100_000: 3.0, 1_000_000: 10.0}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_parser("live_large", __doc__)
    parser.add_argument("--pages", type=int, default=100_000, help="pages to crawl")
    parser.add_argument("--hosts", type=int, default=1_000, help="hosts that they are on")
    parser.add_argument("--strategy", default=STRATEGY, help="strategy of the crawl")
    parser.add_argument("--port", type=int, default=PORT, help="port of the web server")
    options = parser.parse_args(arguments)
    site = GeneratedSite(2 * options.pages, options.hosts, options.port)
    with serving(site), tempfile.TemporaryDirectory(prefix="scenthound-live-") as temporary:
        folder = Path(temporary) / "crawl"
        for n_pages in [*(n_pages for n_pages in STOPS if n_pages < options.pages), options.pages]:
            crawl = _crawl(site, folder, 10 * options.pages, options.strategy)
            _run_until_killed(crawl, folder, n_pages)
            _print_resumed(crawl, folder)


def _crawl(site: GeneratedSite, folder: Path, n_pages: int, strategy: str) -> LiveCrawl:
    seeds = [site.url(page) for page in range(100)]
    return LiveCrawl(str(folder), seeds, KEYWORDS, n_pages, CONNECTIONS, watch_s=0.1, strategy=strategy)


def _run_until_killed(crawl: LiveCrawl, folder: Path, n_pages: int) -> None:
    """Crawl until this many pages are on disk, then kill the crawler; prints its memory."""
    began_s = time.monotonic()
    with subprocess.Popen(crawl.command(), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        peak = 0
        for line in process.stdout:
            peak = max(peak, resident_bytes(process.pid))
            status = json.loads(line)
            if status["pages"] >= n_pages:
                break
        now = resident_bytes(process.pid)
        process.kill()
        process.wait()
    with StoredCrawl.open(folder) as stored:
        n_urls = stored.position().urls
    is_met = now <= MAX_BASE_MB * 1e6 + MAX_BYTES_PER_URL * n_urls
    print(
        f"  {status['pages']:9,} pages, {n_urls:10,} URLs known, {status['cpu_s']:7.1f} CPU s in this run, "
        f"{time.monotonic() - began_s:6.0f} s; memory {now / 1e6:6.0f} MB, at most {peak / 1e6:.0f} MB; "
        + target(f"{MAX_BASE_MB} MB and {MAX_BYTES_PER_URL} bytes for each URL", is_met=is_met),
        flush=True,
    )
    pause_ms = 1000 * status["checkpoint_pause_s"]
    print(f"  {'':9} longest pause for a checkpoint {pause_ms:.0f} ms; ", end="")
    print(target(f"{MAX_PAUSE_MS} ms", is_met=pause_ms <= MAX_PAUSE_MS), flush=True)


def _print_resumed(crawl: LiveCrawl, folder: Path) -> None:
    with StoredCrawl.open(folder) as stored:
        n_pages = stored.n_visits()
    began_s = time.monotonic()
    with subprocess.Popen(crawl.command(), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        first = next(status for status in map(_status, process.stdout) if status["in_flight"])
        elapsed_s = time.monotonic() - began_s
        process.send_signal(signal.SIGINT)
        process.communicate()
    limit = next((limit for size, limit in MAX_RESUME_CPU_S.items() if n_pages <= 1.1 * size), None)
    met = "" if limit is None else f"; {target(f'{limit:g} CPU s', is_met=first['cpu_s'] <= limit)}"
    size_mb = sum(_size(path) for path in (folder / "checkpoints").iterdir()) / 1e6
    print(
        f"  {n_pages:9,} pages resumed after a kill: {first['cpu_s']:5.2f} CPU s, {elapsed_s:5.1f} s until the first "
        f"request; checkpoints {size_mb:.0f} MB{met}",
        flush=True,
    )


def _status(line: bytes) -> dict[str, Any]:
    status: dict[str, Any] = json.loads(line)
    return status


def _size(path: Path) -> int:
    with contextlib.suppress(OSError):
        return os.stat(path).st_size
    return 0


if __name__ == "__main__":
    main()
