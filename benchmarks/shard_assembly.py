"""The cost of assembling the folder of a whole crawl from the logs of its shards (a minute).

Real pages (wpschools) are written to the logs of shards as crawls write them: with their responses, URLs and links.
Then the folder is assembled in one go, in rounds of a few commits as while a crawl runs, and opened again. The time is
that of one page; the CPU time counts.
"""

import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import orjson

from benchmarks import command_parser, positive, target
from benchmarks.data import collection
from scenthound.files import opened
from scenthound.frontier.url_table import UrlTable
from scenthound.shards.assembly import Assembly
from scenthound.shards.logs import logs_of, shard_log_location
from scenthound.store.crawl_folder import ArchiveSettings, ShardLogs
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.text.tokenizer import WordScanner
from scenthound.web.fetch import Response
from scenthound.web.parse import parse_html

MAX_US_PER_PAGE = 100
ARCHIVE = ArchiveSettings("benchmark")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"


def main() -> int:
    parser = command_parser("shard_assembly", __doc__)
    parser.add_argument("--pages", type=positive, default=4_000, help="pages of all shards")
    parser.add_argument("--shards", type=positive, default=4)
    parser.add_argument("--pages-per-commit", type=positive, default=50, help="pages in each commit of a shard")
    options = parser.parse_args()
    folder = collection("wpschools")
    if folder is None:
        return 0
    with tempfile.TemporaryDirectory(prefix="scenthound-assembly-") as temporary:
        place = Path(temporary)
        n_pages, n_commits = _write_logs(place, folder, options.pages, options.shards, options.pages_per_commit)
        print(f"  {n_pages:,} pages of {options.shards} shards in {n_commits:,} commits; microseconds per page")
        cpu_us = _print_assembled(place, "once", options.shards, n_pages, max_commits=None)
        _print_assembled(place, "rounds", options.shards, n_pages, max_commits=options.shards)
        _print_opened(place / "once", options.shards, n_pages)
    print(f"  {target(f'at most {MAX_US_PER_PAGE} CPU', is_met=cpu_us <= MAX_US_PER_PAGE)}")
    return 0


def _settings(n_shards: int, shard: int) -> dict[str, object]:
    return {"topic": {"id": "benchmark"}, "seeds": [], "shards": n_shards, "shard": shard}


def _write_logs(place: Path, collected: Path, n_pages: int, n_shards: int, per_commit: int) -> tuple[int, int]:
    """How many pages and commits there are."""
    pages = list(itertools.islice(_pages(collected), n_pages))
    n_commits = 0
    for shard in range(n_shards):
        log = shard_log_location(place / "log", shard)
        about = _settings(n_shards, shard)
        with CrawlStore.create(place / f"shard{shard}", about, ARCHIVE, commit_log=log) as store:
            _write_pages(store, pages[shard::n_shards], per_commit)
            n_commits += store.change_counter()
    return len(pages), n_commits


def _pages(collected: Path) -> Iterator[tuple[str, bytes]]:
    with opened(collected / "pages.jsonl.zst") as lines:
        for line in lines.content:
            record = orjson.loads(line)
            if record["kind"] == "article":
                yield record["url"], record["html"].encode()


def _write_pages(store: CrawlStore, pages: Sequence[tuple[str, bytes]], per_commit: int) -> None:
    table, scanner, n_stored = UrlTable(), WordScanner(), 0
    for number, (url, html) in enumerate(pages):
        [page] = table.add_all([url]).tolist()
        parsed = parse_html(html, url, scanner)
        links = table.add_all(cast("list[str]", parsed.links))
        response = Response(url, 200, HEAD, html, html, False, "192.0.2.1", 0.1)
        location = store.archive_response(response, float(number))
        store.add(
            VisitRecord(
                visit=number,
                page=page,
                url=url,
                time_s=float(number),
                relevance=0.5,
                status=200,
                title=parsed.title,
                links=links,
                location=location,
                predicted=np.zeros(len(links)),
            )
        )
        if (number + 1) % per_commit == 0 or number + 1 == len(pages):
            store.add_urls(table.urls(n_stored, len(table)))
            n_stored = len(table)
            store.commit()


def _print_assembled(place: Path, name: str, n_shards: int, n_pages: int, max_commits: int | None) -> float:
    """Assemble the folder; returns the CPU time of a page."""
    shards = ShardLogs(n_shards, str(place / "log"))
    with CrawlStore.create(place / name, _settings(n_shards, 0), ARCHIVE, shards=shards) as store:
        assembly = Assembly(store, logs_of(place / "log", n_shards))

        def assemble() -> None:
            while assembly.catch_up(max_commits):
                pass

        cpu_us, us = _measured(assemble, n_pages)
    how = "in one go" if max_commits is None else f"{max_commits} commits at a time"
    print(f"  assembled {how}: {cpu_us:.0f} CPU, {us:.0f} in all", flush=True)
    return cpu_us


def _print_opened(folder: Path, n_shards: int, n_pages: int) -> None:
    with CrawlStore.open(folder) as store:
        cpu_us, us = _measured(lambda: Assembly(store, logs_of(folder.parent / "log", n_shards)), n_pages)
    print(f"  opened again: {cpu_us:.1f} CPU, {us:.1f} in all", flush=True)


def _measured(work: Callable[[], object], n_pages: int) -> tuple[float, float]:
    """Microseconds of CPU and of real time for a page."""
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    work()
    return 1e6 * (time.process_time() - began_cpu_s) / n_pages, 1e6 * (time.monotonic() - began_s) / n_pages


if __name__ == "__main__":
    sys.exit(main())
