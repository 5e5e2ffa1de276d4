"""Values that print as they parse, chosen from a list that is not open to plug-ins."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, TypeVar

from scenthound.errors import UnknownName
from scenthound.registry.parameters import Choice, Value, check_arguments
from scenthound.registry.plugins import Registry


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value whose dataclass has parameters as fields, each with a default, and that prints as it parses."""

    name: ClassVar[str]
    #: One line for whoever lists such values.
    summary: ClassVar[str]
    presets: ClassVar[Mapping[str, Mapping[str, Value]]] = {}

    def __post_init__(self) -> None:
        check_arguments(type(self), self.name, (), {each.name: getattr(self, each.name) for each in fields(self)})

    def __str__(self) -> str:
        """Parameters that have their default are left out, so that equal values are written alike."""
        values = ((each.name, getattr(self, each.name), each.default) for each in fields(self))
        return str(Choice(self.name, tuple((name, value) for name, value, default in values if value != default)))


Listed = TypeVar("Listed", bound=NamedValue)


class ListedRegistry(Registry[Listed]):
    """Reads and makes what stands in a list of classes, as other registries do plug-ins."""

    def __init__(self, kind: str, classes: Iterable[type[Listed]]) -> None:
        super().__init__(kind, group="")
        self._classes = {each.name: each for each in classes}

    def names(self) -> list[str]:
        return sorted(self._classes)

    def factory(self, name: str) -> Callable[..., Listed]:
        if name not in self._classes:
            raise UnknownName.among(self.kind, name, self._classes)
        return self._classes[name]
