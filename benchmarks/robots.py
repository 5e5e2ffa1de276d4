"""robots.txt rules of many origins: resident memory, and CPU time per decision (2 minutes).

Large files are nearly as long as is read of a file, and more than fit into memory. The origins are asked in turn, which
is the worst order: every decision reads a file back. Other files are as long as the average of real ones.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from time import process_time

from benchmarks import command_parser, target
from benchmarks.processes import resident_bytes
from scenthound.crawler.robots_cache import INDEX_BYTES, TEXT_BYTES, RobotsCache
from scenthound.store.crawl_folder import ArchiveSettings
from scenthound.store.crawl_records import RobotsRecord
from scenthound.store.crawl_store import CrawlStore

#: Origins, rules of each of their files, and how often each origin is asked.
LARGE = 200, 20_500, 2
AVERAGE = 30_000, 25, 3
#: What the process may grow by, besides the caches: memory for parsing, and for each origin.
PARSING_BYTES = 40_000_000
ORIGIN_BYTES = 300


def robots_txt(origin: int, n_rules: int) -> bytes:
    """Patterns are random, so that they hardly compress."""
    rng = Random(origin)
    rules = (f"Disallow: /{rng.getrandbits(44):011x}" for _ in range(n_rules))
    return "\n".join(("User-agent: *", *rules, "Disallow: /never", "")).encode()


@contextmanager
def crawl_store() -> Iterator[CrawlStore]:
    with (
        tempfile.TemporaryDirectory(prefix="scenthound-bench-") as folder,
        closing(CrawlStore.create(Path(folder) / "crawl", {}, ArchiveSettings("benchmark"))) as store,
    ):
        yield store


def measure(n_origins: int, n_rules: int, n_rounds: int) -> tuple[int, int, float]:
    """The length of a file, the growth of the process in bytes, and CPU milliseconds per decision."""
    with crawl_store() as store:

        def load(number: int) -> RobotsRecord:
            record = store.robots_file(number)
            assert record is not None
            return record

        cache = RobotsCache("scenthound", load)
        before = resident_bytes(os.getpid())
        for origin in range(n_origins):
            body = robots_txt(origin, n_rules)
            cache.set_rules(f"http://{origin}.test", 0.0, 200, body)
            store.add(RobotsRecord(f"http://{origin}.test/robots.txt", 0.0, 200, body))
            if origin % 10 == 0:
                store.commit()
        store.commit()
        began_s = process_time()
        for _ in range(n_rounds):
            for origin in range(n_origins):
                rules = cache.get(f"http://{origin}.test", 1.0)
                assert rules is not None
                assert not cache.allows(rules, f"http://{origin}.test/never/7")
        used_s = process_time() - began_s
        return len(body), resident_bytes(os.getpid()) - before, 1e3 * used_s / (n_rounds * n_origins)


def main(arguments: Sequence[str] | None = None) -> None:
    command_parser("robots", __doc__).parse_args(arguments)
    for n_origins, n_rules, n_rounds in (LARGE, AVERAGE):
        n_characters, grown_bytes, decision_ms = measure(n_origins, n_rules, n_rounds)
        most_bytes = TEXT_BYTES + INDEX_BYTES + PARSING_BYTES + ORIGIN_BYTES * n_origins
        print(
            f"{n_origins:,} origins, files of {n_characters:,} bytes: {grown_bytes / 1e6:.0f} MB, "
            f"{decision_ms:.2f} ms per decision; "
            f"{target(f'{most_bytes / 1e6:.0f} MB', is_met=grown_bytes < most_bytes)}"
        )


if __name__ == "__main__":
    main()
