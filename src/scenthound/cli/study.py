"""`scenthound study`: reproduce a study on a recorded web."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenthound.cli.options import AsJson, Workers
from scenthound.cli.terminal import show_progress
from scenthound.errors import InvalidParameter

if TYPE_CHECKING:
    from scenthound.experiments.study.study import FinishedStudy


def study(
    name: Annotated[str, typer.Argument(help="menczer2001, pant2002, wang2009 or johnson2003.", metavar="STUDY")],
    web: Annotated[
        Path | None, typer.Option(help="A recorded web, or a crawl; `scenthound record` and `crawl` make them.")
    ] = None,
    topics: Annotated[Path | None, typer.Option(help="A topic file: TOML or JSON Lines.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for findings, figures, tables and the report; an interrupted study continues there."),
    ] = None,
    pages: Annotated[
        int | None, typer.Option(min=1, help="Page budget; at most half of the web.", show_default="the study's")
    ] = None,
    topics_max: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Maximum number of topics, drawn at random; for johnson2003, of topics that no search saw.",
            show_default="the study's",
        ),
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Independent starts: crawls for each topic.", show_default="the study's")
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A settings file instead of the study's own.")
    ] = None,
    show_settings: Annotated[bool, typer.Option("--show-settings", help="Print the settings file and exit.")] = False,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for cached crawls, which studies can share.", show_default="crawls within --out"
        ),
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Reproduce a study of the literature, and check which of its findings hold on this web.

    scenthound study pant2002 --web web --topics topics.jsonl --out pant2002
    """
    from scenthound.experiments.study.settings import preset_text, read_settings

    chosen = read_settings(name, settings).scaled(pages, topics_max, repeats)
    if show_settings:
        from scenthound.experiments.study.results import settings_toml

        is_as_shipped = chosen == read_settings(name)
        # The shipped file has comments.
        typer.echo(preset_text(name) if is_as_shipped else settings_toml(chosen), nl=False)
        return
    if web is None or topics is None or out is None:
        given = {"--web": web, "--topics": topics, "--out": out}
        missing = [option for option, value in given.items() if value is None]
        raise InvalidParameter(f"A study needs {' and '.join(missing)}; see `scenthound study --help`.")
    from scenthound.api.laboratory import study as run_study

    with show_progress(name) as progress:
        done = run_study(
            name,
            web,
            topics,
            out,
            pages=pages,
            topics_max=topics_max,
            repeats=repeats,
            settings=settings,
            cache=cache,
            workers=workers,
            progress=progress,
        )
    _print(done.finished, out, as_json)


def _print(done: FinishedStudy, out: Path, as_json: bool) -> None:
    if as_json:
        from scenthound.experiments.study.results import FINDINGS_FILE

        typer.echo((out / FINDINGS_FILE).read_text(encoding="utf-8"), nl=False)
        return
    from scenthound.cli.results import print_study

    print_study(done, out)
