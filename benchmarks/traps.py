"""How many pages crawler traps without signs take from a crawl, with and without throttling (estimated 1 minute).

Two topical hosts of 1,500 pages each link to a trap: random paths, a counter, or ever new hosts of one domain. A live
crawl of 1,500 pages runs on virtual hosts and a virtual clock, with a crawl delay of one second and without sitemaps.
"""

import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from benchmarks import command_parser
from scenthound.crawler.options import DEFAULT_STRATEGY
from scenthound.frontier.politeness import PolitenessSettings

TESTS = Path(__file__).resolve().parents[1] / "tests"
PAGE_BUDGET = 1_500


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_parser("traps", __doc__)
    parser.add_argument("strategies", nargs="*", default=[DEFAULT_STRATEGY], help="strategies that crawl")
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(TESTS))
    traps, virtual = import_module("trap_sites"), import_module("virtual_site")
    print(f"  {'strategy':14} {'trap':16} {'throttled':>9} {'trap pages':>11} {'on topic':>9}")
    for strategy in options.strategies:
        for name, trap in traps.TRAPS.items():
            for throttle in (False, True):
                settings = virtual.plan(
                    (traps.SEED,),
                    strategy=strategy,
                    relevance="rocchio",
                    strict_order=False,
                    connections=16,
                    politeness=PolitenessSettings(delay_factor=0.0),
                    traps=True,
                    near_duplicates=True,
                    soft_404s=True,
                    throttle=throttle,
                    page_budget=PAGE_BUDGET,
                )
                with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as temporary:
                    folder = Path(temporary) / "crawl"
                    virtual.crawl_virtually(folder, settings, traps.trap_site(trap), commit=lambda: False)
                    urls = virtual.visited_urls(folder)
                n_trap, n_on_topic = sum(map(traps.is_trap, urls)), sum(map(traps.is_on_topic, urls))
                print(
                    f"  {strategy:14} {name:16} {'yes' if throttle else 'no':>9} {n_trap:11,} {n_on_topic:9,}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
