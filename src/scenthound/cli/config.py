"""`scenthound config`: which options are set by configuration files and environment variables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from scenthound.cli.options import Printed, print_json
from scenthound.errors import UnknownName, printable
from scenthound.options import Option


def _commands() -> Iterable[str]:
    from scenthound.cli.app import MODULE_OF

    return MODULE_OF


@dataclass(frozen=True, kw_only=True)
class ConfigOptions:
    """Which settings are shown.

    command: Only options of this command.
    """

    command: Annotated[Sequence[str], Option(metavar="[COMMAND]...", is_argument=True, values=_commands)] = ()


def config(context: typer.Context, options: ConfigOptions, printed: Printed) -> None:
    """Show which options configuration files, profiles and environment variables set.

    All of them are checked, also those of other commands.

    scenthound config

    scenthound config crawl --profile polite
    """
    from scenthound.cli.configuration import Configuration, all_options

    defaults: Any = context.default_map
    configuration: Configuration = defaults.configuration
    known = {" ".join(words): words for words in all_options()}
    name = " ".join(options.command)
    if name and not any(each == name or each.startswith(f"{name} ") for each in known):
        raise UnknownName.among("command", printable(name, 80), known)
    rows = [
        (each, setting.option.key, masked(at, setting.value), setting.origin)
        for each, words in known.items()
        if each == name or each.startswith(f"{name} ".lstrip())
        for at, setting in configuration.settings(words).items()
    ]
    if printed.as_json:
        print_json(
            {
                "files": [str(file.path) for file in configuration.files],
                "profile": configuration.profile,
                "profiles": _profiles(configuration),
                "settings": [dict(zip(("command", "option", "value", "set_by"), row, strict=True)) for row in rows],
            }
        )
    else:
        _print(configuration, rows)


def masked(name: str, value: Any) -> Any:
    """A value to be shown: without credentials, and with paths as texts."""
    from scenthound.web.access import masked_header
    from scenthound.web.proxies import masked_proxy

    if isinstance(value, list | tuple):
        return [masked(name, each) for each in value]
    if name == "header":
        return masked_header(value)
    if name == "proxy":
        return masked_proxy(value)
    return value if isinstance(value, int | float | bool) else str(value)


def _profiles(configuration: Any) -> list[str]:
    return sorted({name for file in configuration.files for name in file.profiles})


def _print(configuration: Any, rows: list[tuple[str, str, Any, str]]) -> None:
    from scenthound.cli.configuration_files import shown, user_file
    from scenthound.ui.terminal import print_facts, print_rows

    user = user_file()
    places = f"scenthound.toml here or above{'' if user is None else f', {shown(user)}'}"
    profiles = [f"{name} (in use)" if name == configuration.profile else name for name in _profiles(configuration)]
    print_facts(
        {
            "files": ", ".join(printable(shown(file.path)) for file in configuration.files) or f"none ({places})",
            "profiles": ", ".join(map(printable, profiles)) or "none",
        }
    )
    if rows:
        texts = [[name, key, text_of(value), origin] for name, key, value, origin in rows]
        print_rows("Options that are set", ["command", "option", "value", "set by"], texts, n_text_columns=4)
    else:
        typer.echo("No option is set.")


def text_of(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(text_of, value))
    return str(value).lower() if isinstance(value, bool) else printable(value, 200)
