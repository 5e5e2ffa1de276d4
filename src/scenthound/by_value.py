"""Classes and functions that were defined in a script or a notebook cell, which no other process can import.

`dumps` sends them to worker processes by value, with cloudpickle. `digest` identifies code and values by their content,
so that cached results are found again in another session and are never stale.
"""

import hashlib
import pickle
import sys
import sysconfig
import types
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

_INSTALLED = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def dumps(value: object) -> bytes:
    """Pickle a value; what cannot be imported elsewhere is contained by value."""
    import cloudpickle

    dumped: bytes = cloudpickle.dumps(value)
    return dumped


loads = pickle.loads


def is_importable(item: type | types.FunctionType) -> bool:
    """Whether another process finds a class or function by its module and name."""
    if item.__module__ == "__main__" or "<locals>" in item.__qualname__:
        return False
    found: object = sys.modules.get(item.__module__)
    for name in item.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is item


def digest(value: object) -> str:
    """Identify a value, and the user's code that it refers to, by content. Two equal values have the same digest in
    every process; code of installed packages counts by its name only."""
    content = _Content()
    content.add(value)
    return content.hash.hexdigest()


@cache
def package_digest(package: str) -> str:
    """Identify a package, or a module without one, by all its Python files."""
    root = import_module(package)
    if hasattr(root, "__path__"):
        sources = [file for folder in root.__path__ for file in sorted(Path(folder).rglob("*.py"))]
    else:
        sources = [Path(str(root.__file__))]
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


class _Content:
    """Feeds a hash with the content of values."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self._definitions: set[type | types.FunctionType] = set()
        self._open: list[object] = []

    def _feed(self, *parts: object) -> None:
        for part in parts:
            self.hash.update(part if isinstance(part, bytes) else str(part).encode())
            self.hash.update(b"\0")

    def add(self, value: Any) -> None:
        self._feed(type(value).__name__)
        if isinstance(value, _SCALARS):
            self._feed(repr(value))
        elif isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
            self._feed(value.dtype, value.shape, value.tobytes())
        elif isinstance(value, types.ModuleType):
            self._feed(_module_identity(value.__name__))
        elif isinstance(value, type | types.FunctionType):
            self._add_definition(value)
        elif not any(value is other for other in self._open):
            self._open.append(value)
            self._add_parts(value)
            self._open.pop()

    def _add_definition(self, item: Any) -> None:
        """A class or a function: by its code if no other process can import it, else by where it is defined."""
        self._feed(item.__qualname__)
        if item in self._definitions:
            return
        self._definitions.add(item)
        if is_importable(item):
            self._feed(_module_identity(item.__module__))
        elif isinstance(item, type):
            self.add(item.__bases__)
            self.add({name: vars(item)[name] for name in sorted(vars(item).keys() - _CLASS_BOOKKEEPING)})
        else:
            names = sorted(_names_in(item.__code__) & item.__globals__.keys())
            self.add((item.__code__, item.__defaults__, item.__kwdefaults__, item.__closure__))
            self.add({name: item.__globals__[name] for name in names})

    def _add_parts(self, value: Any) -> None:
        if isinstance(value, types.CodeType):
            self._feed(value.co_code)
            parts: Iterable[Any] = (value.co_names, value.co_varnames, value.co_freevars, value.co_consts)
        elif isinstance(value, types.CellType):
            parts = [value.cell_contents] if value != types.CellType() else []
        elif isinstance(value, Mapping):
            parts = value.items()
        elif isinstance(value, set | frozenset):
            parts = sorted(map(digest, value))
        elif isinstance(value, tuple | list):
            parts = value
        elif isinstance(value, property):
            parts = value.fget, value.fset, value.fdel
        elif hasattr(value, "__wrapped__"):
            parts = [value.__wrapped__]
        else:
            parts = self._copied(value)
        for part in parts:
            self.add(part)

    def _copied(self, value: Any) -> Iterable[Any]:
        """Any other object: what a copy of it would be made from."""
        try:
            reduced = value.__reduce_ex__(4)
        except TypeError:  # It cannot be copied, for example because it is a lock: its type must do.
            return [type(value)]
        return [reduced] if isinstance(reduced, str) else reduced[:3]


_SCALARS = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
#: What every class has, and what pickling adds to one.
_CLASS_BOOKKEEPING = frozenset(
    {
        "__abstractmethods__",
        "__annotations__",
        "__dict__",
        "__doc__",
        "__firstlineno__",
        "__module__",
        "__slotnames__",
        "__static_attributes__",
        "__weakref__",
        "_abc_impl",
    }
)


def _names_in(code: types.CodeType) -> set[str]:
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return {*code.co_names, *(name for each in inner for name in _names_in(each))}


def _module_identity(module: str) -> str:
    """The name of a module, and the content of its package unless that was installed."""
    file = getattr(sys.modules.get(module), "__file__", None)
    package = module.partition(".")[0]
    if file is None or package == "scenthound" or str(file).startswith(_INSTALLED):
        return module
    return f"{module} {package_digest(package)}"
