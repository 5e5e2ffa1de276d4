"""Run benchmarks by name, or all that `make bench` runs."""

import argparse
import ast
import sys
from importlib import import_module
from pathlib import Path

NAMES = (
    "record",
    "pages",
    "readers",
    "frontier",
    "strategies",
    "simulate",
    "native_crawls",
    "real_webs",
    "realism",
    "pagerank",
    "studies",
    "full_search",
    "dashboard",
    "robots",
    "scent",
)
#: Run by `python -m benchmarks.NAME` only.
SEPARATE_NAMES = (
    "relevance",
    "default_strategy",
    "judging",
    "extraction",
    "documentation_sites",
    "corpus",
    "patience",
    "shard_quality",
    "shard_speed",
    "cluster_scale",
    "cluster_faults",
    "cluster_laboratory",
    "significance",
    "many_hosts",
    "traps",
    "document_frequencies",
    "live",
    "live_politeness",
    "live_resume",
    "live_kills",
    "live_large",
    "commit_log",
    "shard_assembly",
    "rendering",
    "scrapy_order",
    "soak",
    "codebase",
    "lines",
    "installation",
    "beside",
    "trec_agreement",
)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=_description(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run, by default all of the first list")
    names = parser.parse_args().names or NAMES
    for name in names:
        if name not in NAMES:
            parser.error(f"No benchmark {name!r}. Available: {', '.join(NAMES)}.")
    for name in names:
        print(f"== {name}", flush=True)
        import_module(f"benchmarks.{name}").main([])
    return 0


def _description() -> str:
    first = "Benchmarks, with their approximate duration on two cores:"
    separate = "Only as `python -m benchmarks.NAME`, with options (see --help):"
    return "\n".join([first, *_lines(NAMES), "", separate, *_lines(SEPARATE_NAMES)])


def _lines(names: tuple[str, ...]) -> list[str]:
    """Each name with the first line of its docstring, read without importing the module."""
    sources = {name: Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8") for name in names}
    return [f"  {name:22}{str(ast.get_docstring(ast.parse(text))).splitlines()[0]}" for name, text in sources.items()]


if __name__ == "__main__":
    sys.exit(main())
