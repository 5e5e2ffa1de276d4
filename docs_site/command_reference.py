"""The reference of the command line: a page for each command, from the definitions of its options."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from docs_site.text import definitions, escaped, table
from scenthound.cli.app import COMMANDS, load

#: The heading of options that are in no panel.
OPTIONS = "Options"


def command_pages() -> dict[str, str]:
    """The pages by file name, in the order of `scenthound --help`: an overview first."""
    pages = {"index.md": _overview()}
    for commands in COMMANDS.values():
        pages |= {f"{name}.md": command_page(name, load(name)) for name in commands}
    return pages


def _overview() -> str:
    parts = ["# Command line", "Every command prints its options with `--help`."]
    for panel, commands in COMMANDS.items():
        rows = [[f"[`{name}`]({name}.md)", escaped(summary)] for name, (_, summary) in commands.items()]
        parts += [f"## {panel}", table(["command", "what it does"], rows)]
    return "\n\n".join(parts) + "\n"


def command_page(name: str, command: Any) -> str:
    """The page of a command; subcommands are sections."""
    subcommands: Mapping[str, Any] = getattr(command, "commands", {})
    # The menu has the name alone.
    parts = [f"---\ntitle: {name}\n---", f"# scenthound {name}", *_description(command.help)]
    for sub_name, subcommand in subcommands.items():
        parts += [f"## scenthound {name} {sub_name}", *_description(subcommand.help), *_options(subcommand, "###")]
    if not subcommands:
        parts += _options(command, "##")
    return "\n\n".join(parts) + "\n"


def _description(text: str) -> Iterator[str]:
    """Paragraphs of a docstring: those that are commands become one block of code."""
    lines = (" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    for is_code, group in groupby(lines, lambda line: line.startswith("scenthound ")):
        together = list(group)
        yield "\n".join(["```", *together, "```"]) if is_code else "\n\n".join(map(escaped, together))


def _options(command: Any, heading: str) -> Iterator[str]:
    panels: dict[str, dict[str, list[str]]] = {}
    for parameter in parameters_of(command):
        entry = panels.setdefault(parameter.rich_help_panel or OPTIONS, {})
        entry[_written(parameter)] = [" ".join([escaped(parameter.help or ""), *_limits(parameter)])]
    for panel, items in panels.items():
        yield f"{heading} {panel}"
        yield definitions(items)


def parameters_of(command: Any) -> list[Any]:
    """The arguments and options of a command, without `--help`."""
    context = command.make_context(command.name, [], resilient_parsing=True)
    return [each for each in command.get_params(context) if each.name != "help" and not each.hidden]


def _written(parameter: Any) -> str:
    """How an argument or option is written: `--pages N`, `--sitemaps / --no-sitemaps`."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    value = "" if _is_flag(parameter) else f" {parameter.metavar or 'TEXT'}"
    return " / ".join(f"`{each}{value}`" for each in [*parameter.opts, *parameter.secondary_opts])


def _is_flag(parameter: Any) -> bool:
    return bool(getattr(parameter, "is_flag", False))  # An argument has no such attribute.


def _limits(parameter: Any) -> Iterator[str]:
    """Sentences about the range and the default of a parameter."""
    if parameter.required:
        yield "Required."
    least, most = (getattr(parameter.type, name, None) for name in ("min", "max"))
    if getattr(parameter, "multiple", False) and "epeatable" not in (parameter.help or ""):
        yield "Repeatable."
    if least is not None and most is not None:
        yield f"From {least:g} to {most:g}."
    elif least is not None:
        yield f"At least {least:g}."
    if isinstance(parameter.show_default, str):
        is_value = re.fullmatch(r"[\w.:/-]+", parameter.show_default) is not None
        yield f"Default: {_values(parameter.show_default) if is_value else escaped(parameter.show_default)}."
    elif parameter.show_default and not _is_flag(parameter) and parameter.default not in (None, "", [], ()):
        yield f"Default: {_values(parameter.default)}."


def _values(default: Any) -> str:
    values: Iterable[Any] = default if isinstance(default, list | tuple) else [default]
    return ", ".join(f"`{value}`" for value in values)


def option_help() -> dict[str, dict[str, str]]:
    """The help of each argument and option, by command (`topics select` for a subcommand) and parameter name."""
    commands = {name: load(name) for panel in COMMANDS.values() for name in panel}
    for name in [name for name, command in commands.items() if hasattr(command, "commands")]:
        commands |= {f"{name} {inner}": each for inner, each in commands.pop(name).commands.items()}
    return {
        name: {each.name: re.sub(r"\s+", " ", each.help or "") for each in parameters_of(command)}
        for name, command in commands.items()
    }
