"""Speed of this checkout and of another one, such as the last release, in one run (estimated 30 minutes).

Each round runs the same three benchmarks in both checkouts, one after the other, because the speed of a shared machine
changes within minutes: a live crawl (`benchmarks.live --alone`), compiled simulations (`benchmarks.compiled`) and
`study pant2002` on a real collection. The medians and their ratio are printed. Both checkouts need their virtual
environment in `.venv`; the study needs `../shared/data`.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks import command_parser
from benchmarks.data import COLLECTIONS

ROOT = Path(__file__).resolve().parents[1]
COLLECTION = COLLECTIONS / "wpschools"
COMPILED_LINE = re.compile(r"^  (\S+) +(sequential|roulette) +([\d,]+)/s +plain +([\d,]+)/s", re.MULTILINE)
LIVE_LINE = re.compile(r"Scenthound .* ([\d.]+) CPU ms per page")

#: The values of one benchmark by name. Lower is better for names that end in "ms" or "s", higher for visits per second.
Values = dict[str, float]


def run(checkout: Path, *arguments: str | Path) -> tuple[str, float]:
    """Run Python in a checkout: its output and the CPU seconds it used, its child processes included."""
    before = os.times()
    command = [str(checkout / ".venv/bin/python"), *map(str, arguments)]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed in {checkout}:\n{done.stderr[-2000:]}")
    after = os.times()
    return done.stdout, after.children_user + after.children_system - before.children_user - before.children_system


def live(checkout: Path, n_pages: int) -> Iterator[tuple[str, float]]:
    # Without real pages there is only the generated site.
    sites = ("--sites", "generated") if (checkout / "benchmarks" / "real_sites.py").is_file() else ()
    output, _ = run(checkout, "-m", "benchmarks.live", "--alone", "--rounds", "1", "--pages", str(n_pages), *sites)
    found = LIVE_LINE.search(output)
    assert found, output
    yield "live crawl, CPU ms per page", float(found[1])


def compiled(checkout: Path, n_pages: int) -> Iterator[tuple[str, float]]:
    output, _ = run(checkout, "-m", "benchmarks.compiled", str(n_pages))
    without_dead_links = output[: output.index("  start:")]
    for strategy, mode, fast, plain in COMPILED_LINE.findall(without_dead_links):
        yield f"{strategy}, {mode}, visits/s", float(fast.replace(",", ""))
        yield f"{strategy}, {mode}, plain, visits/s", float(plain.replace(",", ""))


def study(checkout: Path, web: Path) -> Iterator[tuple[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        topics = COLLECTION / "topics.jsonl"
        arguments = ("study", "pant2002", "--web", web, "--topics", topics, "--topics-max", "10", "--pages", "500")
        _, cpu_s = run(checkout, "-c", CLI, *arguments, "--workers", "2", "--out", Path(folder) / "study")
    yield "study pant2002, CPU s", cpu_s


CLI = "import sys; from scenthound.cli import main; sys.argv[0] = 'scenthound'; sys.exit(main())"


def main() -> None:
    options = _options()
    checkouts = {"old": options.old.resolve(), "new": ROOT}
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory() as folder:
        webs = {name: Path(folder) / name for name in checkouts}
        for name, checkout in checkouts.items():
            run(checkout, "-c", CLI, "record", "--from", COLLECTION / "pages.jsonl.zst", "--out", webs[name])
        for _ in range(options.rounds):
            for name, checkout in checkouts.items():
                measured = [*live(checkout, options.pages), *study(checkout, webs[name])]
                measured += compiled(checkout, options.web_pages)
                for measure, value in measured:
                    values[measure][name].append(value)
                print(f"  {name}: " + ", ".join(f"{value:,.3g}" for _, value in measured), file=sys.stderr, flush=True)
    print(f"  {'':58}{'old':>16}{'new':>16}{'new / old':>12}")
    for measure, by_checkout in values.items():
        old, new = median(by_checkout["old"]), median(by_checkout["new"])
        print(f"  {measure:58}{old:16,.3f}{new:16,.3f}{new / old:12.2f}")


def _options() -> argparse.Namespace:
    parser = command_parser("beside", __doc__)
    parser.add_argument("old", type=Path, help="another checkout, with its virtual environment in .venv")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each benchmark in each checkout")
    parser.add_argument("--pages", type=int, default=20_000, help="pages of the live crawl")
    parser.add_argument("--web-pages", type=int, default=200_000, help="pages of the simulated web")
    return parser.parse_args()


if __name__ == "__main__":
    main()
