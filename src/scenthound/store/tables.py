"""Database tables of records: SQL and conversion are derived from the fields.

A nested record is stored as its own columns, which are all NULL if it is None. Bytes of fields marked `is_packed` are
compressed where it helps; the column `packed` says whether they are. Fields marked `is_array` are not stored here.
Columns are selected by name, so that a table may have had another order once.
"""

import types
import zlib
from collections.abc import Callable
from dataclasses import is_dataclass
from enum import Enum
from typing import Any, Generic, TypeVar, Union, get_args, get_origin

from isal import isal_zlib

from scenthound.records import Column, columns_of

Row = TypeVar("Row")
#: Shorter content is not compressed.
_MIN_PACKED_BYTES = 100
_LEVEL = 1
_SQL_TYPES = {int: "INTEGER", bool: "INTEGER", float: "REAL", str: "TEXT", bytes: "BLOB"}


class Table(Generic[Row]):
    """The table of one kind of record. `key` is its primary key; without one, rows are numbered. A row with a key that
    exists is an error, unless the table `replaces` rows. One that `is_late` is made when it is needed. `index` names
    the columns of an index."""

    def __init__(
        self,
        name: str,
        record: Callable[..., Row],
        key: str | None = None,
        *,
        replaces: bool = False,
        is_late: bool = False,
        index: str = "",
    ) -> None:
        self.name = name
        self.record: Any = record
        self.replaces = replaces
        self.is_late = is_late
        self._fields = [_StoredField(each) for each in columns_of(self.record) if not each.options.get("is_array")]
        columns = [column for each in self._fields for column in each.columns]
        self.columns = tuple(name for name, _ in columns)
        self.selected = ", ".join(self.columns)
        numbered = columns if key else [("number", "INTEGER"), *columns]
        listed = (f"{each} {kind}{' PRIMARY KEY' * (each == (key or 'number'))}" for each, kind in numbered)
        self.schema = [f"CREATE TABLE IF NOT EXISTS {name} ({', '.join(listed)})"]
        if index:
            first = index.partition(",")[0]
            self.schema.append(f"CREATE INDEX IF NOT EXISTS {name}_{first} ON {name} ({index})")

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
        self._is_packed = bool(described.options.get("is_packed"))
        if self._nested is not None:
            self.columns = [(each.name, _SQL_TYPES[each.type]) for each in columns_of(self._nested)]
        else:
            self.columns = [(described.name, _SQL_TYPES[str if issubclass(plain, Enum) else plain])]
        if self._is_packed:
            self.columns.insert(0, ("packed", "INTEGER"))
        self._encode, self._decode = _conversions(plain)

    def write(self, value: Any, values: list[object]) -> None:
        if self._is_packed:
            values += packed(value)
        elif self._nested is None:
            values.append(None if value is None else self._encode(value))
        else:
            values.extend(None if value is None else getattr(value, name) for name, _ in self.columns)

    def read(self, values: tuple[Any, ...]) -> Any:
        if None in values:
            if self._is_optional and not any(value is not None for value in values):
                return None
            raise ValueError(f"{self.name} is missing")
        if self._is_packed:
            return unpacked(*values)
        return self._decode(values[0]) if self._nested is None else self._nested(*values)


def without_none(type_: Any) -> Any:
    if get_origin(type_) in (Union, types.UnionType):
        (type_,) = (each for each in get_args(type_) if each is not types.NoneType)
    return type_


def _conversions(type_: Any) -> tuple[Callable[[Any], object], Callable[[Any], Any]]:
    if issubclass(type_, Enum):
        return (lambda value: value.value), type_
    if type_ is str:
        # SQLite stores UTF-8, which has no lone surrogates. Pages do.
        return lambda text: text if text.isascii() else text.encode("utf-8", "replace").decode(), _unchanged
    if type_ is bool:
        return int, bool
    # SQLite would store a number of numpy as bytes.
    return (int, _unchanged) if type_ is int else (_unchanged, _unchanged)


def _unchanged(value: Any) -> Any:
    return value


def packed(content: bytes) -> tuple[bool, bytes]:
    """Whether the content is compressed, and the content to store."""
    if len(content) >= _MIN_PACKED_BYTES:
        smaller = isal_zlib.compress(content, _LEVEL)
        if len(smaller) < 0.9 * len(content):
            return True, smaller
    return False, content


def unpacked(is_packed: int, stored: bytes) -> bytes:
    """ValueError or TypeError if it is damaged."""
    try:
        return zlib.decompress(stored) if is_packed else bytes(stored)
    except zlib.error as reason:
        raise ValueError(reason) from None
