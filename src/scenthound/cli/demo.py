"""`scenthound demo`: crawl a small web on this machine."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenthound.api.progress import show_progress
from scenthound.options import Option
from scenthound.ui.terminal import print_commands, print_facts, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scenthound.crawler.runner import Watch
    from scenthound.experiments.demo.run import Demo, DemoCrawl, DemoResult
    from scenthound.experiments.evaluate import Evaluation

#: The demo web has fewer.
MAX_PAGES = 10_000


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """A demonstration.

    out: Folder for the results.
    pages: Page budget of each crawl.
    serve: Make no crawls, but serve the small web for yours until Ctrl-C.
    port: Port for --serve.
    """

    out: Path = Path("scenthound-demo")
    pages: Annotated[int, Option(ge=1, le=MAX_PAGES)] = 150
    serve: bool = False
    port: Annotated[int | None, Option(ge=1, le=65_535, shown="one that is free")] = None


def demo(options: DemoOptions) -> None:
    """Crawl a small web on this machine, live, and compare the crawls with simulated ones.

    scenthound demo --out demo

    scenthound demo --serve --out demo
    """
    from scenthound.cli import INTERRUPTED
    from scenthound.errors import UsageError
    from scenthound.experiments.demo.run import Demo

    made = Demo(options.out, say=say, show_progress=show_progress, show_crawl=_show_crawl)
    if options.serve:
        _serve(made, options.port or 0, options.out)
        return
    if options.port is not None:
        raise UsageError("--port is the port of a web that is served: add --serve.")
    result = made.make(page_budget=options.pages)
    if result.evaluation is None:
        typer.echo("Stopped. Run the demo again to see all results.")
        sys.exit(INTERRUPTED)
    _report(result, result.evaluation, options.out)


def _serve(made: Demo, port: int, out: Path) -> None:
    """Serve the demo web until Ctrl-C."""
    from scenthound.cli.crawl_results import program

    server = made.serve(port)
    with server:
        say(
            f"Serving {len(server.pages)} pages of {len(server.hosts)} hosts on this machine, at port {server.port}. "
            "Leave this running, and crawl them from another terminal:"
        )
        hosts = f"--hosts {out / 'hosts'} --allow-private --delay 0.05"
        seed = server.url("http://socket.test/socket.html")
        crawl = f"{program()} crawl --keywords socket --keywords network --seed {seed} {hosts} --pages 60 --out sockets"
        print_commands({crawl: "a live crawl"})
        say("Stop it with Ctrl-C.")
        wait_for_interrupt()


def wait_for_interrupt() -> None:
    """Return on Ctrl-C."""
    with suppress(KeyboardInterrupt):
        threading.Event().wait()


@contextmanager
def _show_crawl(title: str) -> Iterator[Watch]:
    """The display of a live crawl on a terminal. The demo's crawls are too short for lines in a log."""
    from scenthound.cli.crawl_progress import LiveDisplay
    from scenthound.crawler.runner import ignore

    if not sys.stderr.isatty():
        yield ignore
        return
    with LiveDisplay(title, None) as display:
        yield display.watch


def _report(result: DemoResult, evaluation: Evaluation, out: Path) -> None:
    from scenthound.cli.results import print_metrics
    from scenthound.crawler.options import DEFAULT_STRATEGY
    from scenthound.experiments.evaluate import write_evaluation
    from scenthound.files import write_atomic
    from scenthound.ui.figures import figure_files
    from scenthound.ui.reports.run import evaluation_figure

    write_evaluation(evaluation, out)
    title = "Crawling the documentation of Python's standard library"
    for name, image in figure_files([evaluation_figure(evaluation)], title=title).items():
        write_atomic(out / name, image)
    typer.echo()
    print_metrics(evaluation)
    say("Target recall: share of the topic's pages, those it starts from aside, that a crawl found.")
    say("Precision: share of a crawl's pages that belong to the topic.")
    n_topics = len({crawl.topic.id for crawl in result.crawls})
    say("The strategy that was simulated is the strategy that crawls:")
    say(
        f"  Live in strict order and without safeguards, {DEFAULT_STRATEGY} made the same visits as simulated, for "
        f"{result.n_like_simulated} of {n_topics} topics."
    )
    say(
        "  By default a live crawl waits little for a host's crawl delay but takes the best page of another host: it "
        "is faster, and the scores given up are the price. Which hosts have to wait depends on timing, so the row "
        "`live` differs from run to run."
    )
    typer.echo(f"Curves: {out / 'curves.png'}")
    reports = _reports(result.crawls[0], out)
    typer.echo("Reports, for a web browser:")
    print_facts(reports)
    typer.echo("Look closer:")
    print_commands(_next_steps(result, out))


def _reports(crawl: DemoCrawl, out: Path) -> dict[str, str]:
    """Write reports of the simulated crawls and of one of the live ones; return their paths with descriptions."""
    from scenthound.api.laboratory import evaluate
    from scenthound.api.results import report

    evaluate(out / "run", progress=True).save()
    run, live = report(out / "run", force=True), report(crawl.summary.folder, force=True)
    return {str(run): "the simulated crawls", str(live): f"the live crawl for {crawl.topic.id}"}


def _next_steps(result: DemoResult, out: Path) -> dict[str, str]:
    from scenthound.cli.crawl_results import program

    crawl = result.crawls[0]
    twin = next(each for each in reversed(result.crawls) if each.topic.id == crawl.topic.id)
    scenthound, folder, topics, web = program(), crawl.summary.folder, out / "topics.toml", out / "web"
    replay = f"{scenthound} crawl {topics} --topic {crawl.topic.id} --web {web} --offline --out again"
    return {
        f"{scenthound} dashboard {out}": "all of it in the browser, with search",
        f"{scenthound} explain {folder} {crawl.a_target or 'URL'}": "why it was visited",
        f"{scenthound} export {folder} --to jsonl --out pages.jsonl": "its pages, for other programs",
        replay: "a live crawl that reads a recording",
        f"{scenthound} evaluate {out / 'run'}": "evaluate the simulated crawls",
        f"{scenthound} report {folder} {twin.summary.folder}": "two crawls side by side",
    }
