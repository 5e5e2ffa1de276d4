"""Options from configuration files and environment variables.

Rules
- What counts, the first that has the option: command line, environment, profile, table of the command, default.
- `[crawl]` of a file has options of `scenthound crawl`, `[topics.select]` those of `scenthound topics select`, and
  `[profile.NAME.crawl]` those that `--profile NAME` selects. A key is the name of an option, with hyphens or with
  underscores.
- A variable is `SCENTHOUND_COMMAND_OPTION`; an empty one counts as not set.
- Keys, types and ranges are those of the commands' parameters: there is no second list.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import typer

from scenthound.cli.configuration_files import (
    PROFILES,
    ConfigurationFile,
    check_table,
    found_files,
    read_file,
    shown,
)
from scenthound.errors import InvalidInput, InvalidParameter, UnknownName, nearest_name, printable

PREFIX = "SCENTHOUND_"
CONFIG_VARIABLE = "SCENTHOUND_CONFIG"
PROFILE_VARIABLE = "SCENTHOUND_PROFILE"
#: Variables that are not options: a browser, the folder of its programs, whether clusters may be used that demand no
#: token, and whether the extension in C is used.
OTHER_VARIABLES = (
    CONFIG_VARIABLE,
    PROFILE_VARIABLE,
    "SCENTHOUND_BROWSER",
    "SCENTHOUND_BROWSER_FOLDER",
    "SCENTHOUND_CLUSTER_WITHOUT_TOKEN",
    "SCENTHOUND_NATIVE",
)
#: Options whose values may be secrets.
SECRETS = ("header", "proxy")

#: The words of a command, for example `("topics", "select")`.
Words = tuple[str, ...]
#: The options of a command by their keys; None if there is no such command.
Options = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of an option, and where it comes from."""

    value: Any
    origin: str


def option_key(parameter: Any) -> str:
    """`page-bytes` for `--page-bytes`."""
    return str(next(name for name in parameter.opts if name.startswith("--"))).removeprefix("--")


def options_of(command: Any) -> Options:
    """The options of a command by their keys."""
    parameters = (each for each in command.params if each.param_type_name == "option")
    return {option_key(each): each for each in parameters if any(name.startswith("--") for name in each.opts)}


def variable_of(words: Words, key: str) -> str:
    """`SCENTHOUND_CRAWL_PAGE_BYTES`."""
    return PREFIX + "_".join((*words, key)).upper().replace("-", "_")


class Commands:
    """The commands of the program, loaded when they are needed. `load` returns a command or a group by its name."""

    def __init__(self, names: Iterable[str], load: Callable[[str], Any]) -> None:
        self.names = tuple(names)
        self._load = load
        self._loaded: dict[str, Any] = {}

    def loaded(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def of(self, name: str) -> dict[Words, Options]:
        """The command of a name, or the commands of a group."""
        command = self.loaded(name)
        if hasattr(command, "commands"):
            return {(name, each): options_of(command.commands[each]) for each in command.commands}
        return {(name,): options_of(command)}

    def all(self) -> dict[Words, Options]:
        return {words: options for name in self.names for words, options in self.of(name).items()}


class Configuration:
    """What files and environment say about the options of all commands."""

    def __init__(
        self,
        commands: Commands,
        files: Iterable[ConfigurationFile],
        profile: str | None = None,
        environment: Mapping[str, str] | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        self.commands = commands
        #: The most important first.
        self.files = tuple(files)
        self.profile = profile
        self._environment = os.environ if environment is None else environment
        self._notes = tuple(notes)
        for file in self.files:
            self._check_keys(file)
        if profile is not None and not any(profile in file.profiles for file in self.files):
            known = [name for file in self.files for name in file.profiles]
            where = ", ".join(printable(shown(file.path)) for file in self.files) or "a configuration file"
            raise UnknownName.among("profile", printable(profile, 80), known, where)

    @classmethod
    def found(cls, commands: Commands, config: Path | None, profile: str | None) -> Configuration:
        """Of the files that are found, or of a chosen one."""
        if config is not None:
            return cls(commands, [read_file(config)], profile)
        paths, notes = found_files()
        return cls(commands, map(read_file, paths), profile, notes=notes)

    def settings(self, words: Words) -> dict[str, Setting]:
        """The options of a command that are set somewhere, by the names of its parameters; their values are checked."""
        options = self.commands.of(words[0]).get(words, {})
        settings: dict[str, Setting] = {}
        for origin, path, table in self._tables(words):
            for key, raw in table.items():
                parameter = options[_normal(key)]
                where = f"{printable(key)} in {origin}"
                settings[parameter.name] = Setting(_checked(parameter, raw, where, path.parent), origin)
        for key, parameter in options.items():
            variable = variable_of(words, key)
            if text := self._environment.get(variable):
                settings[parameter.name] = Setting(_checked(parameter, _parsed(parameter, text), variable), variable)
        return settings

    def _tables(self, words: Words) -> Iterator[tuple[str, Path, Mapping[str, Any]]]:
        """The tables of a command, the least important first: origin, file and content."""
        profiles = [()] if self.profile is None else [(), (PROFILES, self.profile)]
        for prefix in profiles:
            for file in reversed(self.files):
                names = (*prefix, *words)
                table: Any = file.tables
                for name in names:
                    table = table.get(name, {})
                yield f"{shown(file.path)}, [{'.'.join(names)}]", file.path, table

    def _check_keys(self, file: ConfigurationFile) -> None:
        where = shown(file.path)
        self._check_tables({key: value for key, value in file.tables.items() if key != PROFILES}, (), where)
        for name, tables in file.profiles.items():
            prefix = (PROFILES, name)
            check_table(tables, f"[{'.'.join(prefix)}]", file.path)
            self._check_tables(tables, prefix, where)

    def _check_tables(self, tables: Mapping[str, Any], prefix: Words, where: str) -> None:
        """UnknownName for a table that is no command, and for a key that is no option of its command."""
        for name, table in tables.items():
            if name not in self.commands.names:
                raise self._unknown_table(name, prefix, where)
            title = ".".join((*prefix, name))
            check_table(table, f"[{title}]", where)
            for words, options in self.commands.of(name).items():
                if len(words) == 1:
                    _check_options(table, options, f"[{title}] of {where}")
                    continue
                known = [each[1] for each in self.commands.of(name)]
                for key in table:
                    if key not in known:
                        raise UnknownName.among(
                            f"command of {name}", printable(key, 80), known, f"[{title}] of {where}"
                        )
                inner = table.get(words[1], {})
                check_table(inner, f"[{title}.{words[1]}]", where)
                _check_options(inner, options, f"[{title}.{words[1]}] of {where}")

    def _unknown_table(self, name: str, prefix: Words, where: str) -> UnknownName:
        if not prefix and (owners := self._owners(name)):
            return UnknownName(
                f"{printable(name)} in {where} is in no table: options are written below the name of their command, "
                f"[{owners[0]}]."
            )
        what = f"[{'.'.join(prefix)}] of {where}" if prefix else where
        return UnknownName.among(
            "command", printable(name, 80), [*self.commands.names, *([] if prefix else [PROFILES])], what
        )

    def _owners(self, key: str) -> list[str]:
        """The commands that have an option, `crawl` first."""
        found = [".".join(words) for words, options in self.commands.all().items() if _normal(key) in options]
        return sorted(found, key=lambda name: name != "crawl")

    def notes(self) -> list[str]:
        """Lines about files that others can read, and about variables that mean nothing."""
        return [*self._notes, *self._readable_secrets(), *self._unknown_variables()]

    def _readable_secrets(self) -> Iterator[str]:
        for file in self.files:
            with suppress(OSError):
                if file.path.stat().st_mode & 0o044 and any(map(_is_secret, _values(file.tables))):
                    path = printable(shown(file.path))
                    yield f"{path} has credentials, and other users can read it: run `chmod 600 {path}`."

    def _unknown_variables(self) -> Iterator[str]:
        for variable in sorted(name for name in self._environment if name.startswith(PREFIX)):
            if variable in OTHER_VARIABLES or self._is_option(variable):
                continue
            names = (variable_of(words, key) for words, options in self.commands.all().items() for key in options)
            nearest = nearest_name(variable, [*OTHER_VARIABLES, *names])
            guess = f": did you mean {nearest}?" if nearest else "."
            yield f"The environment variable {printable(variable, 80)} has no effect{guess}"

    def _is_option(self, variable: str) -> bool:
        """Loads only the commands that it may be of."""
        return any(
            variable_of(words, key) == variable
            for name in self.commands.names
            if variable.startswith(variable_of((name,), ""))
            for words, options in self.commands.of(name).items()
            for key in options
        )


def _normal(key: str) -> str:
    return key.replace("_", "-")


def _check_options(table: Mapping[str, Any], options: Options, where: str) -> None:
    keys: set[str] = set()
    for key in table:
        if _normal(key) not in options:
            raise UnknownName.among("option", printable(key, 80), options, where)
        if _normal(key) in keys:
            raise InvalidInput(f"{printable(key)} is set twice in {where}: with hyphens and with underscores.")
        keys.add(_normal(key))


def _values(tables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All keys and values, at any depth; lists item by item."""
    for key, value in tables.items():
        if isinstance(value, dict):
            yield from _values(value)
        else:
            yield from ((key, each) for each in (value if isinstance(value, list) else [value]))


def _is_secret(item: tuple[str, Any]) -> bool:
    key, value = item
    return key in SECRETS and isinstance(value, str) and (key == "header" or "@" in value)


def _parsed(parameter: Any, text: str) -> Any:
    """The value of a variable: a list is written as in a file, ["a", "b"]; anything else is one value."""
    if parameter.multiple and text.lstrip().startswith("["):
        import tomllib

        with suppress(tomllib.TOMLDecodeError):
            return tomllib.loads(f"value = {text}")["value"]
    return text


def _checked(parameter: Any, raw: Any, where: str, folder: Path | None = None) -> Any:
    """The value of an option; InvalidParameter if it has the wrong type or is out of range. Paths in a file are
    relative to its folder."""
    annotation = parameter.type_descriptor.annotation
    kind = get_args(annotation)[0] if get_origin(annotation) is list else annotation
    is_list = isinstance(raw, list)
    if is_list and not parameter.multiple:
        raise InvalidParameter(f"{where} should be one value, not a list.")
    items = [_item(each, kind, where, folder) for each in (raw if is_list else [raw])]
    context = typer.Context(typer.core.TyperCommand(None))
    try:
        return parameter.process_value(context, items if parameter.multiple else items[0])
    except typer.TyperException as error:
        raise InvalidParameter(f"{where} {_wrong(parameter, raw, kind, error.format_message())}.") from None


def _item(value: Any, kind: type, where: str, folder: Path | None) -> Any:
    if folder is None:
        return value
    is_plain = isinstance(value, bool | int | float | str)
    if not is_plain or isinstance(value, bool) != (kind is bool):
        raise InvalidParameter(f"{where} should be {_needed(kind)}, not {_written(value)}.")
    if kind is str and isinstance(value, int | float):
        return str(value)
    if kind is Path and isinstance(value, str):
        return str(folder / Path(value).expanduser())
    return value


def _wrong(parameter: Any, raw: Any, kind: type, reason: str) -> str:
    """What is wrong with a value: its type, or else what the parameter says."""
    items = raw if isinstance(raw, list) else [raw]
    for each in items:
        if not _has_type(each, kind):
            return f"should be {_needed(kind)}, not {_written(each)}"
    value = "this" if parameter.name in SECRETS else ", ".join(map(_written, items))
    reason = reason.rpartition(": ")[2].rstrip(".")
    if reason.startswith("Input should be "):
        return f"should be {reason.removeprefix('Input should be ')}, not {value}"
    return f"cannot be {value}: {reason[:1].lower()}{reason[1:]}"


def _has_type(raw: Any, kind: type) -> bool:
    """Whether a number, or the text of one, is what its parameter needs."""
    if kind not in (int, float):
        return kind is not bool and isinstance(raw, str)
    try:
        number = float(raw)
        return kind is float or bool(int(raw) == number)
    except (TypeError, ValueError, OverflowError):
        return False


def _needed(kind: type) -> str:
    return {bool: "true or false", int: "a whole number", float: "a number"}.get(kind, "text")


def _written(value: Any) -> str:
    """A value as a file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a table"
    return printable(repr(value) if isinstance(value, str) else value, 40)
