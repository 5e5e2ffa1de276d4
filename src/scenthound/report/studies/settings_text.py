"""The settings of a study as TOML, so that what was run can be run again: `read_settings` reads what this writes."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from re import fullmatch
from typing import Any

from scenthound.lab.studies.settings import StudySettings

#: Fields whose tables have another name in the file: there each stands for itself.
TABLE_NAMES = {"arms": "arm"}


def settings_toml(settings: StudySettings) -> str:
    """The whole file. What is None or an empty list is left out, which means the same."""
    return "\n".join(_lines(settings, "")).strip() + "\n"


def _lines(values: Any, path: str) -> Iterator[str]:
    """Plain values first, because all that follows the head of a table belongs to it."""
    named = _named(values)
    for name, value in named.items():
        if value not in (None, ()) and not _is_table(value) and not _is_tables(value):
            yield f"{_key(name)} = {_value(value)}"
    for name, value in named.items():
        place = f"{path}{_key(TABLE_NAMES.get(name, name))}"
        for head, table in _tables(place, value):
            yield from ("", head, *_lines(table, f"{place}."))


def _named(values: Any) -> Mapping[str, Any]:
    return values if isinstance(values, Mapping) else {each.name: getattr(values, each.name) for each in fields(values)}


def _tables(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    if _is_table(value):
        yield f"[{place}]", value
    elif _is_tables(value):
        yield from ((f"[[{place}]]", table) for table in value)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or is_dataclass(value)


def _is_tables(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(map(_is_table, value))


def _key(name: str) -> str:
    return name if fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # JSON escapes as TOML does, but for this one sign.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)
