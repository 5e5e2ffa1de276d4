"""Database tables of records: SQL and conversion are derived from the fields.

A nested record is stored as its own columns, which are all NULL if it is None. Fields marked `is_array` are not stored
here. Columns are selected by name, so that a table may have had another order once.
"""

import types
from collections.abc import Callable
from dataclasses import is_dataclass
from enum import Enum
from typing import Any, Generic, TypeVar, Union, get_args, get_origin

from scenthound.records import Column, columns_of

Row = TypeVar("Row")
_SQL_TYPES = {int: "INTEGER", bool: "INTEGER", float: "REAL", str: "TEXT", bytes: "BLOB"}


class Table(Generic[Row]):
    """The table of one kind of record. `key` is its primary key; without one, rows are numbered. A row with a key that
    exists is an error, unless the table `replaces` rows."""

    def __init__(self, name: str, record: Any, key: str | None = None, *, replaces: bool = False) -> None:
        self.name = name
        self.key = key or "number"
        self.record: type[Any] = record
        self._is_numbered = key is None
        self.replaces = replaces
        self._fields = [_StoredField(each) for each in columns_of(record) if not each.options.get("is_array")]
        self.columns = [name for each in self._fields for name, _ in each.columns]
        self.selected = ", ".join(self.columns)

    def schema(self) -> str:
        columns = [("number", "INTEGER")] * self._is_numbered
        columns += [column for each in self._fields for column in each.columns]
        listed = (f"{name} {kind}{' PRIMARY KEY' * (name == self.key)}" for name, kind in columns)
        return f"CREATE TABLE IF NOT EXISTS {self.name} ({', '.join(listed)});"

    def values(self, row: Row) -> tuple[Any, ...]:
        """The values of its columns."""
        values: list[object] = []
        for each in self._fields:
            each.write(getattr(row, each.name), values)
        return tuple(values)

    def row(self, values: tuple[Any, ...], **arrays: Any) -> Row:
        """The record of a selected row. TypeError or ValueError if the values are not those of one."""
        if len(values) != len(self.columns):
            raise ValueError(f"{len(values)} values for {len(self.columns)} columns of {self.name}")
        arguments, start = {}, 0
        for each in self._fields:
            end = start + len(each.columns)
            arguments[each.name] = each.read(values[start:end])
            start = end
        row: Row = self.record(**arguments, **arrays)
        return row


class _StoredField:
    """How one field is written to columns and read from them."""

    def __init__(self, described: Column) -> None:
        self.name = described.name
        plain = without_none(described.type)
        self._is_optional = plain is not described.type
        self._nested: type[Any] | None = plain if is_dataclass(plain) and isinstance(plain, type) else None
        if self._nested is not None:
            self.columns = [(each.name, _SQL_TYPES[each.type]) for each in columns_of(self._nested)]
        else:
            self.columns = [(described.name, _SQL_TYPES[str if issubclass(plain, Enum) else plain])]
        self._encode, self._decode = _conversions(plain)

    def write(self, value: Any, values: list[object]) -> None:
        if self._nested is None:
            values.append(None if value is None else self._encode(value))
        else:
            values.extend(None if value is None else getattr(value, name) for name, _ in self.columns)

    def read(self, values: tuple[Any, ...]) -> Any:
        if None in values:
            if self._is_optional and not any(value is not None for value in values):
                return None
            raise ValueError(f"{self.name} is missing")
        return self._decode(values[0]) if self._nested is None else self._nested(*values)


def without_none(type_: Any) -> Any:
    if get_origin(type_) in (Union, types.UnionType):
        (type_,) = (each for each in get_args(type_) if each is not types.NoneType)
    return type_


def _conversions(type_: Any) -> tuple[Callable[[Any], object], Callable[[Any], Any]]:
    if issubclass(type_, Enum):
        return (lambda value: value.value), type_
    if type_ is str:
        return storable, _unchanged
    if type_ is bool:
        return int, bool
    # SQLite would store a number of numpy as bytes.
    return (int, _unchanged) if type_ is int else (_unchanged, _unchanged)


def _unchanged(value: Any) -> Any:
    return value


def storable(text: str) -> str:
    """SQLite stores UTF-8, which has no lone surrogates. Pages do."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
