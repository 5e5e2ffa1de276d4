"""The overhead of a Ray cluster compared with processes, on this machine: python -m benchmarks.cluster_laboratory

- Per item: items that take no time, and items of 1 ms, by two workers.
- A comparison of three strategies by two processes, and by two workers of a local cluster, with and without its start.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import scenthound as sh
from scenthound.cluster.connection import LOCAL, cluster_workers
from scenthound.processes import WorkersLike, open_pool

N_ITEMS = 3000
N_WORKERS = 2
STRATEGIES = ("best_first", "otie", "breadth_first")


class Sleeper:
    """Items that take a fixed time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __call__(self, item: int) -> int:
        if self._seconds:
            sleep(self._seconds)
        return item


@contextmanager
def printed(what: str) -> Iterator[None]:
    began_s = perf_counter()
    yield
    print(f"{what:58} {perf_counter() - began_s:8.2f} s", flush=True)


def per_item_ms(workers: WorkersLike, seconds: float) -> float:
    """How long an item takes when the workers have started."""
    with open_pool(partial(Sleeper, seconds), workers, at_most=N_WORKERS) as pool:
        for _ in pool.in_order(range(50)):
            pass
        began_s = perf_counter()
        for _ in pool.in_order(range(N_ITEMS)):
            pass
        return 1000 * (perf_counter() - began_s) / N_ITEMS


def compare_with(web: Path, out: Path) -> Callable[..., Any]:
    return partial(
        sh.compare, web, web / "topics.jsonl", STRATEGIES, pages=1000, topics_max=20, out=out, progress=False
    )


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as folder:
        web = Path(folder, "web")
        sh.synthesize(web, pages=20_000, progress=False)
        compare_with(web, Path(folder, "first"))(workers=N_WORKERS)  # compiles, in a new installation
        with printed(f"compare, {N_WORKERS} processes"):
            compare_with(web, Path(folder, "processes"))(workers=N_WORKERS)
        with printed(f"compare, --cluster local, {N_WORKERS} workers"):
            compare_with(web, Path(folder, "cluster"))(workers=N_WORKERS, cluster=LOCAL)
        with (
            printed("a local cluster: start, all of the following, and end"),
            cluster_workers(LOCAL, N_WORKERS) as workers,
        ):
            with printed("compare on the running cluster"):
                compare_with(web, Path(folder, "running"))(workers=N_WORKERS, cluster=LOCAL)
            for seconds in (0.0, 0.001):
                there, here = per_item_ms(workers, seconds), per_item_ms(N_WORKERS, seconds)
                print(f"items of {1000 * seconds:g} ms: cluster {there:.3f} ms each, processes {here:.3f} ms")


if __name__ == "__main__":
    main()
