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
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec

from scenthound.cli.app import MODULE_OF, load
from scenthound.cli.configuration_files import (
    PROFILES,
    ConfigurationFile,
    check_table,
    found_files,
    read_file,
    shown,
)
from scenthound.errors import InvalidParameter, UnknownName, nearest_name, printable
from scenthound.options import Declared, listed, members, out_of_range, text_problem

PREFIX = "SCENTHOUND_"
CONFIG_VARIABLE = "SCENTHOUND_CONFIG"
PROFILE_VARIABLE = "SCENTHOUND_PROFILE"
#: Variables that are not options: a browser, the folder of its programs, and whether clusters may be used that demand
#: no token.
OTHER_VARIABLES = (
    CONFIG_VARIABLE,
    PROFILE_VARIABLE,
    "SCENTHOUND_BROWSER",
    "SCENTHOUND_BROWSER_FOLDER",
    "SCENTHOUND_CLUSTER_WITHOUT_TOKEN",
)
#: The words of a command, for example `("topics", "select")`.
Words = tuple[str, ...]
#: The options of a command by their keys.
Options = dict[str, Declared]


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of an option, and where it comes from."""

    option: Declared
    value: Any
    origin: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of a file: the profile (empty for none) and the command that it is written below, and its value."""

    file: ConfigurationFile
    profile: str
    words: Words
    key: str
    value: Any

    @property
    def table(self) -> str:
        return f"[{'.'.join((PROFILES, self.profile, *self.words) if self.profile else self.words)}]"

    @property
    def origin(self) -> str:
        return f"{shown(self.file.path)}, {self.table}"


def variable_of(words: Words, key: str) -> str:
    """`SCENTHOUND_CRAWL_PAGE_BYTES`."""
    return PREFIX + "_".join((*words, key)).upper().replace("-", "_")


@cache
def options_of(name: str) -> dict[Words, Options]:
    """The options of a command, or of the commands of a group, by their keys."""
    command = load(name)
    inner = getattr(command, "commands", None)
    found = {(name,): command} if inner is None else {(name, each): inner[each] for each in inner}
    return {
        words: {each.key: each for each in command.declared.values() if not each.option.is_argument}
        for words, command in found.items()
    }


def all_options() -> dict[Words, Options]:
    return {words: options for name in MODULE_OF for words, options in options_of(name).items()}


class Configuration:
    """What files and environment say about the options of all commands."""

    def __init__(
        self, files: Iterable[ConfigurationFile], profile: str | None = None, notes: Iterable[str] = ()
    ) -> None:
        #: The most important first.
        self.files = tuple(files)
        self.profile = profile
        self._notes = tuple(notes)
        self._entries = [entry for file in reversed(self.files) for entry in _entries(file)]
        for entry in self._entries:
            self._check(entry)
        if profile is not None and not any(profile in file.profiles for file in self.files):
            known = [name for file in self.files for name in file.profiles]
            where = ", ".join(printable(shown(file.path)) for file in self.files) or "a configuration file"
            raise UnknownName.among("profile", printable(profile, 80), known, where)

    @classmethod
    def found(cls, config: str | Path | None, profile: str | None) -> Configuration:
        """Of the files that are found, or of a chosen one."""
        if config is not None:
            return cls([read_file(Path(config))], profile)
        paths, notes = found_files()
        return cls(map(read_file, paths), profile, notes=notes)

    def settings(self, words: Words) -> dict[str, Setting]:
        """The options of a command that are set somewhere, by the names of its parameters; their values are checked."""
        options = options_of(words[0]).get(words, {})
        settings: dict[str, Setting] = {}
        for profile in dict.fromkeys(("", self.profile)):
            for entry in self._entries:
                if (entry.words, entry.profile) == (words, profile):
                    option, where = options[_normal(entry.key)], f"{printable(entry.key)} in {entry.origin}"
                    value = _checked(option, entry.value, where, entry.file.path.parent)
                    settings[option.name] = Setting(option, value, entry.origin)
        for key, option in options.items():
            variable = variable_of(words, key)
            if text := os.environ.get(variable):
                settings[option.name] = Setting(option, _checked(option, _parsed(option, text), variable), variable)
        return settings

    def _check(self, entry: Entry) -> None:
        """UnknownName for a key that is no option of a command."""
        key, words, where = printable(entry.key, 80), entry.words, shown(entry.file.path)
        if not words:
            if key in MODULE_OF:
                check_table(entry.value, f"[{key}]", where)
            owners = [".".join(each) for each, options in all_options().items() if _normal(key) in options]
            below = min(owners, key=lambda name: name != "crawl", default="crawl")
            raise UnknownName(
                f"{key} in {where} is in no table: options are written below the name of their command, [{below}]."
            )
        if words[0] not in MODULE_OF:
            raise UnknownName.among("command", printable(words[0], 80), [*MODULE_OF, PROFILES], where)
        commands = options_of(words[0])
        if (*words, key) in commands:
            check_table(entry.value, f"[{'.'.join((*words, key))}]", where)
        if _normal(words[-1]) in commands.get(words[:-1], {}):
            raise InvalidParameter(
                f"{words[-1]} in [{'.'.join(words[:-1])}] of {where} should be a value, not a table."
            )
        if words not in commands:
            known = [".".join(each[1:]) for each in commands if each[1:]]
            name = printable(".".join(words[1:]), 80) or key
            raise UnknownName.among(f"command of {words[0]}", name, known, f"[{words[0]}] of {where}")
        if _normal(entry.key) not in commands[words]:
            raise UnknownName.among("option", key, commands[words], f"{entry.table} of {where}")

    def notes(self) -> list[str]:
        """Lines about files that others can read, and about variables that mean nothing."""
        notes = [*self._notes]
        for file in dict.fromkeys(entry.file.path for entry in self._entries if _is_secret(entry)):
            with suppress(OSError):
                if file.stat().st_mode & 0o044:
                    path = printable(shown(file))
                    notes.append(f"{path} has credentials, and other users can read it: run `chmod 600 {path}`.")
        own = sorted(name for name in os.environ if name.startswith(PREFIX) and name not in OTHER_VARIABLES)
        known = {variable_of(words, key) for words, options in all_options().items() for key in options} if own else ()
        for variable in own:
            if variable not in known:
                nearest = nearest_name(variable, [*OTHER_VARIABLES, *known])
                guess = f": did you mean {nearest}?" if nearest else "."
                notes.append(f"The environment variable {printable(variable, 80)} has no effect{guess}")
        return notes


def _entries(file: ConfigurationFile) -> Iterator[Entry]:
    """All keys with their values, at any depth."""
    for name, tables in file.profiles.items():
        check_table(tables, f"[{PROFILES}.{name}]", file.path)
    waiting: list[tuple[Words, Any]] = [((), file.tables)]
    for names, table in waiting:
        for key, value in table.items():
            if key != _normal(key) and _normal(key) in table:
                both = f"{printable(key, 80)} and {printable(_normal(key), 80)} in {shown(file.path)}"
                raise InvalidParameter(f"{both} are the same option: remove one of them.")
            if isinstance(value, dict):
                waiting.append(((*names, key), value))
            elif names[:1] == (PROFILES,):
                yield Entry(file, names[1], names[2:], key, value)
            else:
                yield Entry(file, "", names, key, value)


def _normal(key: str) -> str:
    return key.replace("_", "-")


def _is_secret(entry: Entry) -> bool:
    values = entry.value if isinstance(entry.value, list) else [entry.value]
    texts = [each for each in values if isinstance(each, str)]
    return any(entry.key == "header" or (entry.key == "proxy" and "@" in text) for text in texts)


def _parsed(option: Declared, text: str) -> Any:
    """The value of a variable: a list is written as in a file, ["a", "b"]; anything else is one value."""
    kind = option.command_line_type
    if get_origin(kind) is list:
        if text.lstrip().startswith("["):
            import tomllib

            with suppress(ValueError, RecursionError):
                return tomllib.loads(f"value = {text}")["value"]
        (kind,) = get_args(kind)
    with suppress(ValueError):
        return _FLAGS.get(text.lower(), text) if kind is bool else kind(text) if kind in (int, float) else text
    return text


_FLAGS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _checked(option: Declared, raw: Any, where: str, folder: Path | None = None) -> Any:
    """The value of an option; InvalidParameter if it has the wrong type or is out of range. Paths in a file are
    relative to its folder."""
    kind = option.command_line_type
    if get_origin(kind) is list:
        return [_item(option, each, get_args(kind)[0], where, folder) for each in listed(raw)]
    if isinstance(raw, list):
        raise InvalidParameter(f"{where} should be one value, not a list.")
    return _item(option, raw, kind, where, folder)


#: What values of a type are called, and which type they have in a file.
_KINDS: dict[Any, tuple[str, Any]] = {
    bool: ("true or false", bool),
    int: ("a whole number", int),
    float: ("a number", float),
    str: ("text", str),
    Path: ("text", str),
}


def _item(option: Declared, value: Any, kind: Any, where: str, folder: Path | None) -> Any:
    called, type_ = _KINDS[kind]
    if kind is str and float in members(option.type):
        type_ = str | int | float
    with suppress(msgspec.ValidationError):
        converted = kind(msgspec.convert(value, type_))
        if problem := out_of_range(option, converted):
            raise InvalidParameter(f"{where} should be {problem}, not {_written(value)}.")
        if problem := text_problem(value, option.default):
            raise InvalidParameter(f"{where} {problem}.")
        if kind is Path and folder is not None:
            with suppress(RuntimeError):  # Nobody has the name behind ~.
                converted = converted.expanduser()
            converted = folder / converted
        return converted
    raise InvalidParameter(f"{where} should be {called}, not {_written(value)}.")


def _written(value: Any) -> str:
    """A value as a file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a table"
    return printable(repr(value) if isinstance(value, str) else value, 40)
