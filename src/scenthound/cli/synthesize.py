"""`scenthound synthesize`: a made-up topical web of any size, for benchmarks and tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenthound.cli.progress import shown
from scenthound.cli.shared_options import AsJson, Force
from scenthound.errors import WrongUse
from scenthound.report.json_text import json_text

if TYPE_CHECKING:
    from scenthound.store.summary import RecordSummary


def synthesize(
    out: Annotated[Path, typer.Option(help="Folder to make the web in.")],
    pages: Annotated[int, typer.Option(help="Pages of the web, up to 10 million.")] = 100_000,
    links: Annotated[float, typer.Option(help="Mean number of links of a page.")] = 20.0,
    words: Annotated[int, typer.Option(help="Mean number of words of a page, besides its anchors.")] = 30,
    topics: Annotated[int, typer.Option(help="Topics that pages are about.")] = 50,
    seed: Annotated[int, typer.Option(help="Another seed makes another web; the same makes the same bytes.")] = 1,
    more: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other setting, e.g. on_host=0.9, pages_per_host=50; repeatable. A wrong name lists all.",
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make up a recorded web with hosts, topics, hubs and words, and the topics to crawl it for.

    scenthound synthesize --pages 100000 --out web
    """
    from scenthound.testing.topical_web import topical_web

    settings = {"pages": pages, "links_per_page": links, "words_per_page": words, "topics": topics, "seed": seed}
    with shown("making pages up") as progress:
        summary = topical_web(out, force=force, progress=progress, **(settings | _numbers(more or [])))
    _print(summary, out, as_json)


def _numbers(settings: list[str]) -> dict[str, int | float]:
    numbers: dict[str, int | float] = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        try:
            numbers[name] = int(value) if value.isdecimal() else float(value)
        except ValueError:
            raise WrongUse(f"--set {setting!r} should be written NAME=NUMBER, for example on_host=0.9.") from None
    return numbers


def _print(summary: RecordSummary, out: Path, as_json: bool) -> None:
    from scenthound.cli.summaries import counted
    from scenthound.testing.topical_web import TOPICS_FILE

    topics = out / TOPICS_FILE
    if as_json:
        # Nothing was read, so nothing was left out.
        counts = {name: count for name, count in summary.counts().items() if name not in ("bytes_read", "skipped")}
        typer.echo(json_text({"folder": str(out), "topics": str(topics), **counts}, indent=1))
        return
    typer.echo(
        f"Made up {counted(summary.pages, 'page')} on {counted(summary.hosts, 'host')} in {out}: "
        f"{counted(summary.links, 'link')}, {summary.links_recorded:,} of them inside, "
        f"{counted(summary.words, 'word')}, {counted(summary.aliases, 'redirect')}; the topics are in {topics}."
    )
    typer.echo(f"Next: scenthound simulate --web {out} --topics {topics} --strategy best_first --out run")
