"""The overhead of a Ray cluster compared with processes, on this machine.

- Per item: items that take no time, and items of 1 ms, by two workers.
- A comparison of three strategies by two processes, and by two workers of a local cluster, with and without its start.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import scenthound as sh
from benchmarks import command_parser
from scenthound.cluster import pool
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
    with open_pool(partial(Sleeper, seconds), workers, at_most=N_WORKERS) as opened:
        for _ in opened.in_order(range(50)):
            pass
        began_s = perf_counter()
        for _ in opened.in_order(range(N_ITEMS)):
            pass
        return 1000 * (perf_counter() - began_s) / N_ITEMS


def per_piece_ms(workers: WorkersLike) -> float:
    """The same for items that are sent one by one."""
    before, pool.MAX_PIECE_ITEMS = pool.MAX_PIECE_ITEMS, 1
    try:
        return per_item_ms(workers, 0.0)
    finally:
        pool.MAX_PIECE_ITEMS = before


def compare_with(web: Path, out: Path) -> Callable[..., Any]:
    return partial(
        sh.compare, web, web / "topics.jsonl", STRATEGIES, pages=1000, topics_max=20, out=out, progress=False
    )


def main() -> None:
    command_parser("cluster_laboratory", __doc__ or "").parse_args()
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as folder:
        web = Path(folder, "web")
        sh.synthesize(web, pages=20_000, progress=False)
        compare_with(web, Path(folder, "first"))(workers=N_WORKERS)  # not measured: reads files for the first time
        with printed(f"compare, {N_WORKERS} processes"):
            compare_with(web, Path(folder, "processes"))(workers=N_WORKERS)
        with printed(f"compare, --cluster local, {N_WORKERS} workers"):
            compare_with(web, Path(folder, "cluster"))(workers=N_WORKERS, cluster=LOCAL)
        with ExitStack() as stack:
            with printed("start of a local cluster"):
                workers = stack.enter_context(cluster_workers(LOCAL, N_WORKERS))
            with printed("its first workers"):
                per_item_ms(workers, 0.0)
            with printed("compare on the running cluster"):
                compare_with(web, Path(folder, "running"))(workers=N_WORKERS, cluster=LOCAL)
            print(f"a piece of one item: {per_piece_ms(workers):.2f} ms on the cluster")
            for seconds in (0.0, 0.001):
                there, here = per_item_ms(workers, seconds), per_item_ms(N_WORKERS, seconds)
                print(f"items of {1000 * seconds:g} ms: cluster {there:.3f} ms each, processes {here:.3f} ms")
            with printed("end of the cluster"):
                stack.close()


if __name__ == "__main__":
    main()
