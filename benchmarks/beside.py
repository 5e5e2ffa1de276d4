"""Speed of this checkout and of another one, such as the last release, in one run (estimated 25 minutes).

Each round runs the same commands in both checkouts, one after the other, because the speed of a shared machine changes
within minutes: what users run, with its start and its files, on a real collection, and a live crawl (`benchmarks.live
--alone`). The medians of CPU times and their ratio are printed; below 1 is faster. Both checkouts need their virtual
environment in `.venv`, and the collection is read from `../shared/data`.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

from benchmarks import command_parser
from benchmarks.data import COLLECTIONS

ROOT = Path(__file__).resolve().parents[1]
LIVE_LINE = re.compile(r"Scenthound .* ([\d.]+) CPU ms per page")
SIMULATE = "simulate --web WEB --topics TOPICS --topics-max 30 --pages 1000 --workers 1 --out OUT"
#: What is measured: a name, and a command.
COMMANDS = {
    "record": "record --from PAGES --out OUT",
    "simulate, default model": f"{SIMULATE} --strategy best_first --strategy link_context",
    "simulate, default model, polite": f"{SIMULATE} --strategy best_first --strategy link_context --mode polite",
    "simulate, cosine": f"{SIMULATE} --strategy best_first --strategy best_n_first:n=256 --relevance cosine",
    "simulate, cosine, polite": f"{SIMULATE} --strategy best_first --strategy otie --relevance cosine --mode polite",
    "compare": "compare --web WEB --topics TOPICS --topics-max 10 --pages 1000 --skip-missing --out OUT "
    "--strategy best_first --strategy link_context --strategy otie --strategy scent",
    "evolve": "evolve --web WEB --topics FEW --skip-missing --pages 2000 --out OUT "
    "--search cma:population=8,generations=4",
    "study pant2002": "study pant2002 --web WEB --topics TOPICS --topics-max 10 --pages 500 --workers 2 --out OUT",
}
LIVE = "live crawl, ms per page"


def run(checkout: Path, program: str, *arguments: str | Path) -> tuple[str, float]:
    """Run an installed program of a checkout: its output and the CPU seconds it used, its child processes included."""
    before = os.times()
    command = [str(checkout / ".venv/bin" / program), *map(str, arguments)]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed in {checkout}:\n{done.stderr[-2000:]}")
    after = os.times()
    return done.stdout, after.children_user + after.children_system - before.children_user - before.children_system


def cpu_seconds(checkout: Path, command: str, paths: dict[str, Path]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        places = {**paths, "OUT": Path(folder) / "out"}
        return run(checkout, "scenthound", *(places.get(word, word) for word in command.split()))[1]


def live_milliseconds(checkout: Path, n_pages: int) -> float:
    arguments = "-m", "benchmarks.live", "--alone", "--rounds", "1", "--sites", "generated", "--pages", str(n_pages)
    output, _ = run(checkout, "python", *arguments)
    found = LIVE_LINE.search(output)
    assert found, output
    return float(found[1])


def main() -> None:
    options = _options()
    data = COLLECTIONS / options.collection
    checkouts = {"old": options.old.resolve(), "new": ROOT}
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory() as folder:
        paths = {"PAGES": data / "pages.jsonl.zst", "TOPICS": data / "topics.jsonl", "FEW": Path(folder) / "few.jsonl"}
        topics = paths["TOPICS"].read_text(encoding="utf-8").splitlines(keepends=True)
        paths["FEW"].write_text("".join(topics[:: min(50, len(topics) // 3)]), encoding="utf-8")
        webs = {name: {**paths, "WEB": Path(folder) / name} for name in checkouts}
        for name, checkout in checkouts.items():
            run(checkout, "scenthound", "record", "--from", paths["PAGES"], "--out", webs[name]["WEB"])
        for _ in range(options.rounds):
            for measure, command in COMMANDS.items():
                for name, checkout in checkouts.items():
                    values[measure][name].append(cpu_seconds(checkout, command, webs[name]))
            for name, checkout in checkouts.items():
                values[LIVE][name].append(live_milliseconds(checkout, options.pages))
            print(".", end="", file=sys.stderr, flush=True)
    print(f"\n  {f'{options.collection}, CPU seconds':40}{'old':>10}{'new':>10}{'new / old':>12}")
    for measure, by_checkout in values.items():
        old, new = median(by_checkout["old"]), median(by_checkout["new"])
        print(f"  {measure:40}{old:10,.2f}{new:10,.2f}{new / old:12.2f}")


def _options() -> argparse.Namespace:
    parser = command_parser("beside", __doc__ or "")
    parser.add_argument("old", type=Path, help="another checkout, with its virtual environment in .venv")
    parser.add_argument("--collection", default="wpschools", help="a folder in ../shared/data")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each command in each checkout")
    parser.add_argument("--pages", type=int, default=10_000, help="pages of the live crawl")
    return parser.parse_args()


if __name__ == "__main__":
    main()
