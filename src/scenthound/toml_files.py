"""TOML files: tables whose names, types and limits are checked, and values as TOML.

The fields of a dataclass say what a table may have; limits are annotations, `Annotated[int, msgspec.Meta(ge=1)]`.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from scenthound.errors import InvalidInput, InvalidParameter, UnknownName, printable
from scenthound.files import text_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Kind = TypeVar("Kind", bound="DataclassInstance")

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """The tables of a file; `what` says what the file should be."""
    return parsed_toml(text_of(path), f"{printable(path)} is no {what}")


def parsed_toml(text: str, problem: str) -> dict[str, Any]:
    """The tables of a text; an InvalidInput begins with the problem."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{problem}: not TOML ({printable(error, 200)}).") from None
    except (RecursionError, ValueError):
        raise InvalidInput(f"{problem}: nested too deeply, or a number that is too long.") from None


def table_as(kind: type[Kind], table: Any, where: str) -> Kind:
    """A dataclass from a table, with names, types and limits checked."""
    if not isinstance(table, dict):
        raise InvalidParameter(f"{where} must be a table.")
    known = [each.name for each in fields(kind)]
    for name in table:
        if name not in known:
            raise InvalidParameter(f"{where}: {UnknownName.among('key', printable(name, 60), known)}")
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as problem:
        text, _, name = str(problem).partition(" - at `$")
        raise InvalidParameter(f"{where}{name and ', '}{name.strip('.`')}: {text}.") from None


def toml_value(value: Any) -> str:
    """A value as TOML: the standard library reads TOML, but does not write it. Lone surrogates are escaped."""
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(toml_lines(value))}}}"
    raise InvalidParameter(
        f"{printable(repr(value), 60)} cannot be written as TOML; use strings, numbers, booleans and lists."
    )


def toml_lines(table: Mapping[str, Any]) -> list[str]:
    """`key = value` for each entry of a table."""
    return [
        f"{key if _BARE_KEY.fullmatch(key) else _string(key)} = {toml_value(value)}" for key, value in table.items()
    ]


def _string(text: str) -> str:
    escaped = text.encode("utf-8", "backslashreplace").decode()
    # A JSON string is a TOML string, except for the delete character, which TOML requires to be escaped.
    return json.dumps(escaped, ensure_ascii=False).replace("\x7f", "\\u007f")
