"""Records: frozen dataclasses whose fields describe themselves, and their conversion from and to JSON.

A record is defined once. Database columns, JSON, metrics, API schemas and table headings are derived from its fields:

    @dataclass(frozen=True, slots=True)
    class Progress:
        n_pages: int = column("pages", help="pages stored on disk")
        harvest: float | None = column("mean relevance", default=None)

`to_json` and `from_json` are inverse for dataclasses, enums, paths, UUIDs, containers and plain values. JSON has no
NaN: numbers that are not finite are written as null, and null is read as NaN where a plain float is expected.
"""

import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import numpy as np
import numpy.typing as npt

from scenthound.errors import CorruptData

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Column:
    """A field of a record as a table or a schema shows it."""

    name: str
    type: Any
    title: str
    unit: str = ""
    help: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


def column(
    title: str = "",
    *,
    unit: str = "",
    help: str = "",  # noqa: A002 - named like the attribute it becomes
    default: Any = MISSING,
    default_factory: Any = MISSING,
    **options: Any,
) -> Any:
    """A dataclass field with a title, a unit and a description; `options` are for the module that reads them."""
    metadata = {"title": title, "unit": unit, "help": help, "options": options}
    return field(default=default, default_factory=default_factory, metadata=metadata)


@cache
def columns_of(record: type[Any]) -> tuple[Column, ...]:
    """The fields of a record, in order. A field without a title is called by its name."""
    hints = get_type_hints(record)
    return tuple(_column_of(each, hints[each.name]) for each in fields(record))


def _column_of(described: Field[Any], type_: Any) -> Column:
    values = {key: value for key, value in described.metadata.items() if key in Column.__slots__}
    values["title"] = values.get("title") or described.name.replace("_", " ")
    return Column(described.name, type_, **values)


def to_json(value: Any) -> Any:  # noqa: PLR0911 - one case for each kind of value
    """Plain values that `json.dumps` accepts."""
    match value:
        case Enum():
            return value.value
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Path() | UUID():
            return str(value)
        case np.ndarray() | np.generic():
            return to_json(value.tolist())
        case Mapping():
            return {str(to_json(key)): to_json(each) for key, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return [to_json(each) for each in value]
    if is_dataclass(value):
        return {each.name: to_json(getattr(value, each.name)) for each in fields(value)}
    raise TypeError(f"cannot write a {type(value).__name__} as JSON")


def from_json(type_: type[Record], value: Any, source: object = "JSON") -> Record:
    """The value that `to_json` was given. Unknown keys are ignored, and missing ones take the field's default.

    CorruptData, with `source` in its message, if the value does not fit the type.
    """
    with CorruptData.wrapping(source, "file of this kind"):
        result: Record = _read(type_, value)
    return result


def _read(type_: Any, value: Any) -> Any:  # noqa: PLR0911 - one case for each kind of type
    origin, arguments = get_origin(type_), get_args(type_)
    if type_ is Any or type_ is object:
        return value
    if origin in (Union, types.UnionType):
        return _read_union(arguments, value)
    if origin is Literal:
        return _checked(value, value in arguments, type_)
    if origin is tuple:
        return _read_tuple(arguments, value)
    if origin in (list, set, frozenset, Sequence):
        make = list if origin is Sequence else origin
        return make(_read(arguments[0], each) for each in _checked(value, isinstance(value, list), type_))
    if origin in (dict, Mapping):
        content = _checked(value, isinstance(value, dict), type_)
        return {_read_key(arguments[0], key): _read(arguments[1], each) for key, each in content.items()}
    if item_type := array_item_type(type_):
        return np.array(value, item_type)
    if is_dataclass(type_):
        return _read_record(type_, _checked(value, isinstance(value, dict), type_))
    if type_ is float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return math.nan if value is None else float(_checked(value, is_number, type_))
    if isinstance(type_, type) and issubclass(type_, Enum | Path | UUID):
        return type_(value)
    is_exact = isinstance(value, type_) and (type_ is not int or not isinstance(value, bool))
    return _checked(value, is_exact, type_)


def array_item_type(type_: Any) -> type[np.generic] | None:
    """`np.int32` for `NDArray[np.int32]`; None if the type is not one of arrays."""
    origin, arguments = get_origin(type_), get_args(type_)
    item_type: type[np.generic] | None = None
    if origin is np.ndarray:
        item_type = get_args(arguments[1])[0]
    elif origin is npt.NDArray:  # from numpy 2.5 on
        item_type = arguments[0]
    return item_type


def _checked(value: Any, fits: bool, type_: Any) -> Any:
    if not fits:
        raise ValueError(f"{value!r:.60} is not a {getattr(type_, '__name__', type_)}")
    return value


def _read_union(choices: tuple[Any, ...], value: Any) -> Any:
    """The first of the choices that fits."""
    if value is None and types.NoneType in choices:
        return None
    problems = []
    for choice in choices:
        try:
            return _read(choice, value)
        except (TypeError, ValueError, LookupError) as problem:
            problems.append(str(problem))
    raise ValueError(problems[0])


def _read_tuple(arguments: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    _checked(value, isinstance(value, list), tuple)
    if arguments[-1] is Ellipsis:
        return tuple(_read(arguments[0], each) for each in value)
    return tuple(_read(each, part) for each, part in zip(arguments, value, strict=True))


def _read_key(type_: Any, key: str) -> Any:
    return type_(key) if type_ in (int, float) else _read(type_, key)


def _read_record(type_: Any, values: dict[str, Any]) -> Any:
    arguments = {}
    for each in columns_of(type_):
        if each.name in values:
            try:
                arguments[each.name] = _read(each.type, values[each.name])
            except (TypeError, ValueError, LookupError) as problem:
                raise ValueError(f"{each.name}: {problem}") from None
    return type_(**arguments)
