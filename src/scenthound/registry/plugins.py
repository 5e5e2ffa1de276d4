"""Plug-ins found by their entry points, by name."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from scenthound.errors import BadParameter, BrokenContract, ScenthoundError, UnknownName
from scenthound.registry.parameters import PRESET, Bounds, Choice, Parameter, Value, parameters_of

Plugin = TypeVar("Plugin")


class Registry(Generic[Plugin]):
    """The plug-ins of one entry-point group: factories of `Plugin`."""

    def __init__(self, kind: str, group: str, must_be: type | None = None) -> None:
        self.kind = kind
        self._group = group
        self._must_be = must_be

    @cached_property
    def _found(self) -> dict[str, list[EntryPoint]]:
        """What each name stands for; more than one thing if packages disagree."""
        found: dict[str, list[EntryPoint]] = {}
        for point in entry_points(group=self._group):
            meanings = found.setdefault(point.name, [])
            if point.value not in [other.value for other in meanings]:
                meanings.append(point)
        return found

    def names(self) -> list[str]:
        return sorted(self._found)

    def factory(self, name: str) -> Callable[..., Plugin]:
        """The class or function behind a name."""
        if name not in self._found:
            raise UnknownName.among(self.kind, name, self._found)
        if len(self._found[name]) > 1:
            both = " and ".join(sorted(point.value for point in self._found[name]))
            raise BrokenContract(f"The {self.kind} {name!r} is claimed by {both}: uninstall or rename one of them.")
        try:
            loaded: Callable[..., Plugin] = self._found[name][0].load()
        except Exception as error:
            raise BrokenContract.by(error, f"The {self.kind} {name!r} cannot be loaded") from error
        if not callable(loaded):
            raise BrokenContract(f"The {self.kind} {name!r} is no class and no function, so nothing can be made of it.")
        return loaded

    def summary(self, name: str) -> str:
        """The line that a plug-in says of itself."""
        return str(getattr(self.factory(name), "summary", ""))

    def parameters(self, name: str) -> dict[str, Parameter]:
        return {found.name: found for found in parameters_of(self.factory(name))}

    def presets(self, name: str) -> Mapping[str, Mapping[str, Value]]:
        """Sets of values that a plug-in names, for example after the study that used them."""
        return getattr(self.factory(name), "presets", {})

    def parse(self, text: str) -> Choice:
        """Read `name:parameter=value,...`; parameters come back in the order of the factory, a preset before them."""
        name, _, rest = text.strip().partition(":")
        known = {**self._preset_parameter(name), **self.parameters(name)}
        chosen: dict[str, Value] = {}
        for part in filter(None, (piece.strip() for piece in rest.split(","))):
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not value:
                raise BadParameter(f"{name}: {part!r} should be written parameter=value.")
            if key == PRESET and key not in known:
                raise UnknownName(f"{name} has no presets; its parameters: {', '.join(known) or 'none'}.")
            if key not in known:
                raise UnknownName.among(f"parameter of {name}", key, known)
            if key in chosen:
                raise BadParameter(f"{name}: {key} is given twice.")
            chosen[key] = known[key].parse(value, name)
        return Choice(name, tuple((key, chosen[key]) for key in known if key in chosen))

    def _preset_parameter(self, name: str) -> dict[str, Parameter]:
        named = tuple(self.presets(name))
        return {PRESET: Parameter(PRESET, str, None, False, Bounds(), named)} if named else {}

    def values(self, choice: Choice) -> dict[str, Value]:
        """The keyword arguments that a choice stands for: those of its preset, overridden by those given beside it."""
        given = dict(choice.parameters)
        preset = given.pop(PRESET, None)
        return {**self.presets(choice.name)[preset], **given} if isinstance(preset, str) else given

    def distinct(self, texts: Iterable[str]) -> list[str]:
        """Choices in their one spelling; of those that come to the same values, the first."""
        spelled: dict[tuple[str, tuple[tuple[str, Value], ...]], str] = {}
        for choice in map(self.parse, texts):
            defaults = {name: each.default for name, each in self.parameters(choice.name).items()}
            spelled.setdefault((choice.name, tuple({**defaults, **self.values(choice)}.items())), str(choice))
        return list(spelled.values())

    def make(self, choice: Choice | str) -> Plugin:
        """A new object of the chosen plug-in."""
        chosen = self.parse(choice) if isinstance(choice, str) else choice
        factory = self.factory(chosen.name)
        try:
            made = factory(**self.values(chosen))
        except ScenthoundError:
            raise
        except Exception as error:
            raise BrokenContract.by(error, f"The {self.kind} {chosen} cannot be made") from error
        if self._must_be is not None and not isinstance(made, self._must_be):
            raise BrokenContract(f"{chosen.name!r} is no {self.kind}: it is not of the kind {self._must_be.__name__}.")
        return made
