"""Options that several commands share, how help lays them out, and how they become arguments of the API."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from scenthound.errors import UsageError, printable

if TYPE_CHECKING:
    from scenthound.cli.configuration import Configuration, Setting

Function = TypeVar("Function", bound=Callable[..., None])

#: How help writes a value of a type; flags have none.
METAVARS: dict[Any, str] = {bool: "", int: "N", float: "NUMBER", str: "TEXT", Path: "PATH"}


def panels(groups: Mapping[str, str]) -> Callable[[Function], Function]:
    """Group the options of a command in its help: by title, the names of its parameters."""

    def decorate(command: Function) -> Function:
        command.panels = {name: title for title, names in groups.items() for name in names.split()}  # type: ignore[attr-defined]
        return command

    return decorate


def _laid_out(command: Any, parameters: list[Any]) -> list[Any]:
    panel_of = getattr(command.callback, "panels", {})
    for parameter in parameters:
        parameter.rich_help_panel = panel_of.get(parameter.name)
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: ""  # Its name says what to write.
        elif parameter.metavar is None:
            annotation = parameter.type_descriptor.annotation
            parameter.metavar = METAVARS.get(get_args(annotation)[0] if get_origin(annotation) is list else annotation)
    return parameters


CONFIG_HELP = "Read this configuration file instead of scenthound.toml and the one of the user."
PROFILE_HELP = "Use this profile of the configuration files."
CONFIGURATION = "Configuration"
_FLAG = re.compile(r"--[a-z][a-z0-9-]*")


@cache
def _configuration_options() -> tuple[Any, ...]:
    """`--config` and `--profile`, which every command has. They are read first, and are no arguments of the command."""

    def remember(context: typer.Context, parameter: typer.CallbackParam, value: Any) -> None:
        if value is not None:
            context.meta[f"scenthound.{parameter.name}"] = value

    def options(
        config: Annotated[
            Path | None,
            typer.Option(metavar="FILE", help=CONFIG_HELP, is_eager=True, expose_value=False, callback=remember),
        ] = None,
        profile: Annotated[
            str | None,
            typer.Option(metavar="NAME", help=PROFILE_HELP, is_eager=True, expose_value=False, callback=remember),
        ] = None,
    ) -> None:
        """Only its parameters are used."""

    only = typer.Typer(add_completion=False)
    only.command()(options)
    return tuple(get_command(only).params)


class Command(TyperCommand):
    """A command with options that configuration files and environment variables may set (`configuration`)."""

    def get_params(self, ctx: Any) -> list[Any]:
        *own, help_option = super().get_params(ctx)
        common = _configuration_options()
        parameters = _laid_out(self, [*own, help_option, *common])
        for parameter in common:
            parameter.rich_help_panel = CONFIGURATION
        return parameters

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        commands = getattr(ctx.find_root().command, "configurable", None)
        if commands is not None and not ctx.resilient_parsing:
            ctx.default_map = _ConfiguredDefaults(ctx, commands)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Errors that name an option say where it comes from, if that is not the command line."""
        try:
            return super().invoke(ctx)
        except UsageError as error:
            if ctx.default_map is not None:
                error.args = (error.message + ctx.default_map.origins_in(error.message), *error.args[1:])
            raise


class _ConfiguredDefaults:
    """What configuration files and environment variables set, in the place of the defaults of a command. It is loaded
    when a value is needed: after `--config` and `--profile` were read, and not for help."""

    def __init__(self, context: Any, commands: Any) -> None:
        self._context = context
        self._commands = commands

    def get(self, name: str, default: Any = None) -> Any:
        if self._context.resilient_parsing or name in ("config", "profile", "help"):
            return default
        setting = self.settings.get(name)
        return default if setting is None else setting.value

    @cached_property
    def configuration(self) -> "Configuration":
        from scenthound.cli.configuration import Configuration

        context = self._context
        chosen = context.find_root().params
        config, profile = (context.meta.get(f"scenthound.{name}", chosen.get(name)) for name in ("config", "profile"))
        configuration = Configuration.found(self._commands, config, profile)
        for note in configuration.notes():
            typer.echo(f"Note: {note}", err=True)
        return configuration

    @cached_property
    def settings(self) -> "dict[str, Setting]":
        return self.configuration.settings(tuple(self._context.command_path.split()[1:]))

    def origins_in(self, message: str) -> str:
        """Where options come from that a message names; empty for those of the command line."""
        names = {flag: each.name for each in self._context.command.params for flag in each.opts}
        lines = []
        for flag in dict.fromkeys(_FLAG.findall(message)):
            setting = self.settings.get(names.get(flag, ""))
            if setting is not None and not is_from_command_line(self._context, names[flag]):
                lines.append(f" {flag} is set by {setting.origin}.")
        return "".join(lines)


def is_from_command_line(context: typer.Context, name: str) -> bool:
    """Whether the value of a parameter was written in the command, not configured and no default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


class Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _laid_out(self, super().get_params(ctx))


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the result of an earlier run.")]
ReplaceFile = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Worker processes.", show_default="all cores")]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Use the workers of a Ray cluster: host:port of its head node, or local. --workers then limits them.",
    ),
]
RandomSeed = Annotated[int, typer.Option(help="Seed of the random generator.")]
WEB_HELP = "A recorded web or a crawl folder, as `scenthound record` and `crawl` make them."
TOPICS_HELP = "A topic file: TOML or JSON Lines."
Web = Annotated[Path, typer.Option(help=WEB_HELP)]
Topics = Annotated[Path, typer.Option(help=TOPICS_HELP)]
#: For commands that can do without, for example to resume.
OptionalWeb = Annotated[Path | None, typer.Option(help=WEB_HELP)]
OptionalTopics = Annotated[Path | None, typer.Option(help=TOPICS_HELP)]
TopicId = Annotated[str | None, typer.Option(metavar="ID", help="Which topic, if the file has several.")]
TopicsMax = Annotated[int | None, typer.Option(min=1, help="Only the first N topics.")]
SkipMissing = Annotated[
    bool,
    typer.Option("--skip-missing", help="Skip topics without start pages in the web or without usable keywords."),
]
SeedPages = Annotated[
    list[str] | None,
    typer.Option(
        metavar="URL", help="A page to start from; repeatable. Replaces the seeds or examples of the topic file."
    ),
]
Strategies = Annotated[list[str], typer.Option(help="name or name:parameter=value,...; repeatable.")]
PageBudget = Annotated[int, typer.Option(min=1, help="Page budget of each crawl.")]
Task = Annotated[str, typer.Option(help="Start from `examples`, or from their `neighbours` two links away.")]
StartPages = Annotated[int, typer.Option(min=1, help="Pages each crawl starts from; the other examples are targets.")]
Repeats = Annotated[int, typer.Option(min=1, help="Independent starts of each topic, each with its own start pages.")]
ClosedWorld = Annotated[bool, typer.Option("--closed-world", help="Hide links to pages that were not recorded.")]
FollowNofollow = Annotated[bool, typer.Option("--follow-nofollow", help="Follow links marked rel=nofollow.")]
Relevance = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help="Scores pages and links for all strategies: rocchio, cosine, svm; `scenthound relevance` "
        "lists the models.",
        show_default="rocchio; for evolved:file=..., that of the file",
    ),
]
Train = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="Set up to N examples of each topic aside to train relevance models, in addition to the start pages; they "
        "are not targets. At most half of the targets, and in all as many pages as --training-pages says.",
    ),
]
TrainFrom = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Train relevance models on the .html, .htm and .txt pages in DIR/positive and DIR/negative.",
    ),
]
TrainingPages = Annotated[
    str,
    typer.Option(
        metavar="STUDY",
        help="How many pages train relevance models. wang2009: up to 75 of the topic, and twice as many examples of "
        "other topics. johnson2003: up to 139 of the topic, and five times as many random pages of the web.",
    ),
]
Judge = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="Set up to N examples of each topic aside to train the classifiers of the metric harvest; 75 in wang2009.",
    ),
]
AsPublished = Annotated[
    bool, typer.Option("--as-published", help="Train relevance models on any example, targets too, as in wang2009.")
]
#: On a narrow terminal a word of more than 26 letters is cut off.
MODE_HELP = (
    "The order in which requested pages return. sequential: one after the other. roulette (size=100, "
    "refill_at=50): drawn from a current list, as in johnson2003. polite (workers=30, delay_s=1, fetch_s=0.5, "
    "patience=0, fetch_list=none): workers and crawl delays in simulated time; polite:preset=wang2009 has the fetch "
    "list of wang2009. Parameters are written like those of strategies: polite:delay_s=2."
)
Mode = Annotated[str, typer.Option(metavar="MODE", help=MODE_HELP)]
OptionalMode = Annotated[
    str | None,
    typer.Option(
        metavar="MODE", help=MODE_HELP, show_default="polite if the web has several hosts, otherwise sequential"
    ),
]
Plain = Annotated[
    bool, typer.Option("--plain", help="Use no compiled code: slower, with the same results; CPU time is measured.")
]


def api_arguments(context: typer.Context, *left_out: str, **renamed: str) -> dict[str, Any]:
    """The options of a command that have a value, as arguments of the API; `renamed` are those with another name."""
    return {
        renamed.get(name, name): value
        for name, value in context.params.items()
        if value is not None and value not in ((), []) and name not in ("as_json", *left_out)
    }


def refuse_settings(
    context: typer.Context, what: str, folder: Path, allowed: Iterable[str], *, option: str = "resume"
) -> None:
    """UsageError for an option that would change the settings of a crawl or a search that is resumed or refreshed."""
    options = {each.name or "": "FILE" if each.name == "file" else each.opts[0] for each in context.command.params}
    for name, refused in options.items():
        if name not in (option, *allowed) and is_from_command_line(context, name):
            *first, last = [options[each] for each in allowed]
            raise UsageError(
                f"{refused} cannot be changed when a {what} is {option.removesuffix('e')}ed; {printable(folder)} has "
                f"its settings. Use only {', '.join(first)} and {last} with --{option}."
            )


def note_missing_pages(web: Path) -> None:
    """Print a note if a crawl lacks pages as a web, because it read them from a recording."""
    from scenthound.store.record import pages_elsewhere

    elsewhere = pages_elsewhere(web)
    if elsewhere is not None and elsewhere.n_recorded < elsewhere.n_pages:
        typer.echo(f"Note: {elsewhere.message()}", err=True)
