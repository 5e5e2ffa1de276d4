"""`scenthound demo`: what it prints."""

from pathlib import Path

import typer

from scenthound.cli.progress import shown
from scenthound.cli.tables import print_evaluation
from scenthound.lab.demo import Demo
from scenthound.report.curves import draw_curves
from scenthound.report.evaluation_files import write_evaluation


def run_demo(out: Path, *, page_budget: int, n_seeds: int) -> None:
    evaluation = Demo(out, say=typer.echo, shown=shown).make(page_budget=page_budget, n_seeds=n_seeds)
    write_evaluation(evaluation, out)
    picture = [out / "curves.png", out / "curves.svg"]
    draw_curves(evaluation, picture, "Crawling the documentation of Python's standard library")
    typer.echo()
    print_evaluation(evaluation)
    typer.echo("Target recall: share of the pages held back that a crawl found.")
    typer.echo("Precision: share of its pages that belong to the topic.")
    typer.echo(f"Picture: {picture[0]}")
    typer.echo(f"Look closer: scenthound evaluate {out / 'run'} --at 50 --at 100, scenthound strategies")
