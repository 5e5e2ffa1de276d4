"""What commands share: options, and how their help shows values."""

from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

#: How a value of a type is shown in help; flags show none.
METAVARS: dict[Any, str] = {bool: "", int: "N", float: "NUMBER", str: "TEXT", Path: "PATH"}


def _with_metavars(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: ""  # Its name says what to write.
        elif parameter.metavar is None:
            annotation = parameter.type_descriptor.annotation
            parameter.metavar = METAVARS.get(get_args(annotation)[0] if get_origin(annotation) is list else annotation)
    return parameters


class Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _with_metavars(super().get_params(ctx))


class Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _with_metavars(super().get_params(ctx))


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the result of an earlier run.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Worker processes.", show_default="all cores")]
ClosedWorld = Annotated[bool, typer.Option("--closed-world", help="Hide links to pages that were not recorded.")]
FollowNofollow = Annotated[bool, typer.Option("--follow-nofollow", help="Follow links marked rel=nofollow.")]
RecordedWebFolder = Annotated[
    Path, typer.Option("--web", help="A recorded web or a crawl folder, as `scenthound record` and `crawl` make them.")
]
TopicsFile = Annotated[Path, typer.Option("--topics", help="A topic file: TOML or JSON Lines.")]
TaskName = Annotated[
    str, typer.Option("--task", help="Start from `examples`, or from their `neighbours` two links away.")
]
StartPages = Annotated[
    int, typer.Option("--start", min=1, help="Pages each crawl starts from; the other examples are targets.")
]
Repeats = Annotated[int, typer.Option(min=1, help="Independent starts of each topic, each with its own start pages.")]


def experiment_options(context: typer.Context) -> Any:
    """The conditions of simulated crawls among the options of a command, as the API takes them."""
    from scenthound.api.laboratory import ExperimentOptions

    given = context.params
    return {name: given[name] for name in ExperimentOptions.__annotations__ if given.get(name) is not None}


def note_missing_pages(web: Path) -> None:
    """Say so if a crawl is used as a web that lacks pages, because it read them from a recording."""
    from scenthound.store.crawl_web import pages_elsewhere

    elsewhere = pages_elsewhere(web)
    if elsewhere is not None and elsewhere.n_recorded < elsewhere.n_pages:
        typer.echo(f"Note: {elsewhere.told()}", err=True)
