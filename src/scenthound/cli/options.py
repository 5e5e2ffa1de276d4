"""Commands made from functions and the settings classes of their parameters; how help lays out their options."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import MISSING, dataclass, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from scenthound.errors import UsageError, printable
from scenthound.options import Declared, Option, check, declared, listed, text_problem

if TYPE_CHECKING:
    from scenthound.cli.configuration import Configuration, Setting

Result = TypeVar("Result")
Returned = TypeVar("Returned")

#: How help writes a value of a type.
METAVARS: dict[Any, str] = {int: "N", float: "NUMBER", str: "TEXT", Path: "PATH"}
#: What messages call numbers, by Typer's names for them.
_NUMBERS = {"int": "whole number", "int range": "whole number", "float": "number", "float range": "number"}


@dataclass(frozen=True, kw_only=True)
class Printed:
    """How a command prints its result.

    as_json: Print JSON instead of tables.
    """

    as_json: Annotated[bool, Option(flag="--json")] = False

    def show(self, result: Result, values: Callable[[Result], Any], print_it: Callable[[Result], None]) -> None:
        """Print a result: its plain values as JSON, or as `print_it` does."""
        if self.as_json:
            print_json(values(result))
        else:
            print_it(result)


def print_json(values: Any) -> None:
    from scenthound.ui.formats import json_text

    typer.echo(json_text(values, indent=1))


def command_of(function: Callable[..., None]) -> Any:
    """The command of a function whose parameters are settings classes, and perhaps the context. Each of the classes is
    made from the options that are given; others keep their defaults."""
    hints = get_type_hints(function)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    options = {
        name: each for kind in groups.values() for name, each in declared(kind).items() if not each.is_python_only
    }

    def called(context: typer.Context, **values: Any) -> None:
        given = {name: value for name, value in values.items() if value is not None and value not in ((), [])}
        arguments: dict[str, Any] = {}
        for parameter, kind in groups.items():
            known = declared(kind)
            shown = {"progress": True} if "progress" in known else {}
            missing = {name: None for name, each in known.items() if each.option.is_required is False}
            arguments[parameter] = kind(
                **{**missing, **shown, **{name: given[name] for name in known if name in given}}
            )
        if typer.Context in hints.values():
            arguments["context"] = context
        function(**arguments)

    parameters = [
        inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        *(_parameter(each) for each in options.values()),
    ]
    vars(called)["__signature__"] = inspect.Signature(parameters)
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    called.__doc__ = function.__doc__
    only = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    only.command(cls=Command)(called)
    command: Any = get_command(only)
    command.declared = options
    return command


def group_of(text: str, functions: Mapping[str, Callable[..., None]]) -> Any:
    """The group of the commands of functions, by the names of these."""
    commands = {name: command_of(function) for name, function in functions.items()}
    for name, command in commands.items():
        command.name = name
    return Group(help=text, commands=commands, no_args_is_help=True)


def _parameter(each: Declared) -> inspect.Parameter:
    option, kind, default = each.option, each.command_line_type, each.default
    if option.is_required or (default is MISSING and option.is_required is None):
        default = inspect.Parameter.empty
    elif default is MISSING:
        default = None
    elif option.shown or isinstance(default, tuple):
        default = False if kind is bool and default is not None else None
    about: dict[str, Any] = {
        "help": each.help,
        "metavar": option.metavar or (None if option.is_argument else METAVARS.get((*get_args(kind), kind)[0])),
        "min": option.ge,
        "max": option.le,
        "rich_help_panel": each.panel,
        "show_default": option.shown or True,
    }
    if option.values is not None:
        about["autocompletion"] = option.values
    described = typer.Argument(**about) if option.is_argument else typer.Option(each.flag, **about)
    annotation = kind if default is inspect.Parameter.empty else kind | None
    if kind is bool and each.default is not None:
        annotation = bool
    return inspect.Parameter(
        each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[annotation, described]
    )


def _laid_out(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        parameter.type = copy(parameter.type)
        parameter.type.name = _NUMBERS.get(parameter.type.name, parameter.type.name)
        if parameter.param_type_name == "argument":
            # Its name says what to write.
            parameter.type.get_metavar = lambda param, ctx: ""
        elif parameter.is_flag:
            parameter.metavar = ""
    return parameters


CONFIG_HELP = "Read this configuration file instead of scenthound.toml and the one of the user."
PROFILE_HELP = "Use this profile of the configuration files."
_FLAG = re.compile(r"--[a-z][a-z0-9-]*")


def _remember(context: typer.Context, parameter: typer.CallbackParam, value: Any) -> None:
    if value is not None:
        context.meta[f"scenthound.{parameter.name}"] = value


@cache
def _configuration_options() -> tuple[TyperOption, ...]:
    """`--config` and `--profile`, which every command has. They are read first, and are no arguments of the command."""
    about: Any = {"is_eager": True, "expose_value": False, "callback": _remember, "rich_help_panel": "Configuration"}
    return (
        TyperOption(param_decls=["--config"], metavar="FILE", help=CONFIG_HELP, **about),
        TyperOption(param_decls=["--profile"], metavar="NAME", help=PROFILE_HELP, **about),
    )


class Command(TyperCommand):
    """A command with options that configuration files and environment variables may set (`configuration`)."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _laid_out([*super().get_params(ctx), *_configuration_options()])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if ctx.parent is not None and not ctx.resilient_parsing:
            ctx.default_map = _ConfiguredDefaults(ctx)
            # As they were written: an empty path would become the current folder.
            given, _, parameters = self.make_parser(ctx).parse_args(args=[*args])
            for each in parameters:
                if problem := text_problem(listed(given[each.name or ""]), each.default):
                    raise typer.BadParameter(f"it {problem}", ctx, each)
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

    def __init__(self, context: Any) -> None:
        self._context = context

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
        configuration = Configuration.found(config, profile)
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
        return _laid_out(super().get_params(ctx))


def with_options(function: Callable[..., Returned], options: Any) -> Returned:
    """Call a function of the API with its settings: errors name flags."""
    check(options)
    returned: Returned = inspect.unwrap(function)(options)
    return returned


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
