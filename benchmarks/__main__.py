"""Run the benchmarks by name, or all of them."""

import sys
from importlib import import_module

NAMES = (
    "record",
    "pages",
    "frontier",
    "strategies",
    "simulate",
    "compiled",
    "real_webs",
    "realism",
    "pagerank",
    "studies",
    "full_search",
    "dashboard",
)


def main() -> int:
    chosen = sys.argv[1:] or NAMES
    for name in chosen:
        if name not in NAMES:
            print(f"No benchmark {name!r}. Known: {', '.join(NAMES)}.", file=sys.stderr)
            return 2
    for name in chosen:
        print(f"== {name}", flush=True)
        import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
