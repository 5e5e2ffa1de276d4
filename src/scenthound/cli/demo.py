"""`scenthound demo`: what it prints."""

from pathlib import Path

import typer

from scenthound.cli.progress import shown
from scenthound.cli.tables import print_evaluation
from scenthound.lab.demo import run_demo as make_demo
from scenthound.report.curves import draw_curves


def run_demo(out: Path, *, page_budget: int, n_seeds: int, force: bool) -> None:
    demo = make_demo(out, page_budget=page_budget, n_seeds=n_seeds, force=force, say=_say, shown=shown)
    picture = [demo.folder / "curves.png", demo.folder / "curves.svg"]
    draw_curves(demo.evaluation, picture, "Crawling the documentation of Python's standard library")
    _say("")
    print_evaluation(demo.evaluation)
    _say("Target recall: share of the pages held back that a crawl found. Precision: share of its pages that belong.")
    _say(f"Picture: {picture[0]}")
    _say(f"Look closer: scenthound evaluate {demo.folder / 'run'} --at 50 --at 100, scenthound strategies")


def _say(line: str) -> None:
    typer.echo(line)
