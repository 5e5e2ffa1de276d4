"""Names to factories: strategies, metrics and relevance models are found by their entry points.

A choice is written `name:parameter=value,...` wherever a name is asked for, and prints as it parses. The parameters of
a plug-in are the keyword arguments of its factory; their bounds stand in the annotation, `n: Annotated[int, Bounds(1)]
= 1`, or the words it may be, `distance: Literal["words", "links"] = "words"`. A plug-in may name sets of values in
`presets`, chosen by `name:preset=menczer2001,...`; what is given beside a preset overrides it. Built-ins are registered
the same way as plug-ins. What a plug-in cannot add to is written alike, but listed (`ListedRegistry`).
"""

import inspect
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from importlib.metadata import EntryPoint, entry_points
from numbers import Integral, Real
from typing import Any, ClassVar, Generic, TypeVar, Union

import numpy as np

from scenthound.errors import InvalidParameter, PluginError, ScenthoundError, UnknownName

# The parameters of a factory: its keyword arguments, what they may be, and how people write them.

Value = int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the greatest value that a parameter may have; None is no bound. With `above` the value must be
    greater than `low`, with `below` less than `high`."""

    low: float | None = None
    high: float | None = None
    above: bool = False
    below: bool = False

    def __contains__(self, value: float) -> bool:
        high_enough = self.low is None or (value > self.low if self.above else value >= self.low)
        low_enough = self.high is None or (value < self.high if self.below else value <= self.high)
        return high_enough and low_enough

    def __str__(self) -> str:
        if self.low is not None and self.high is not None and not (self.above or self.below):
            return f"{self.low} to {self.high}"
        ends = []
        if self.low is not None:
            ends.append(f"{'more than' if self.above else 'at least'} {self.low}")
        if self.high is not None:
            ends.append(f"{'less than' if self.below else 'at most'} {self.high}")
        return " and ".join(ends) or "a number"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One keyword argument of a plug-in's factory."""

    name: str
    kind: type
    default: Value
    optional: bool
    bounds: Bounds
    words: tuple[str, ...] = ()  #: all that it may be, where that is a word out of a few

    def __str__(self) -> str:
        return f"{self.name}={written(self.default)}"

    @property
    def range(self) -> str:
        """What it may be, in words."""
        if self.words or self.kind is bool:
            return " or ".join(self.words or ("true", "false"))
        what = "any text" if self.kind is str else str(self.bounds)
        return f"{what}{' or none' if self.optional else ''}"

    def parse(self, text: str, owner: str) -> Value:
        """Read a value as a person wrote it, or say what is wrong with it."""
        if self.optional and text.lower() == "none":
            return None
        try:
            value: Value = _BOOLEANS[text.lower()] if self.kind is bool else self.kind(text)
        except (ValueError, KeyError):
            what = "true or false" if self.kind is bool else f"a value of type {self.kind.__name__}"
            none = " or none" if self.optional else ""
            raise InvalidParameter(f"{owner}: {self.name}={text} should be {what}{none}.") from None
        self.check(value, owner)
        return value

    def check(self, value: Value, owner: str) -> None:
        """Refuse a value that the parameter may not have."""
        if value is None and self.optional:
            return
        if not isinstance(value, _KINDS.get(self.kind, object)):
            raise InvalidParameter(
                f"{owner}: {self.name}={written(value)} should be a value of type {self.kind.__name__}."
            )
        if self.words and value not in self.words:
            raise UnknownName.among(f"value of {owner}: {self.name}", str(value), self.words)
        if isinstance(value, int | float | np.number) and (not math.isfinite(value) or float(value) not in self.bounds):
            raise InvalidParameter(f"{owner}: {self.name}={written(value)} is out of range; it must be {self.range}.")


#: What the values of a parameter must be instances of; numbers of numpy are numbers.
_KINDS: dict[type, Any] = {int: Integral, float: Real, bool: (bool, np.bool_), str: str}
#: The key under which a set of values is chosen by its name.
PRESET = "preset"
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class Choice:
    """A plug-in and the parameters chosen for it."""

    name: str
    parameters: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        chosen = ",".join(f"{key}={written(value)}" for key, value in self.parameters)
        return f"{self.name}:{chosen}" if chosen else self.name


def written(value: Value) -> str:
    """A value as a person would write it."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def check_arguments(factory: Callable[..., Any], owner: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Refuse arguments that are out of the range of the parameter they are meant for, as `Registry.parse` does."""
    parameters = _known_parameters(factory)
    for name, value in _signature(factory).bind_partial(*args, **named).arguments.items():
        if name in parameters:
            parameters[name].check(value, owner)


def all_arguments(factory: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each parameter, given or by default."""
    bound = _signature(factory).bind_partial(*args, **named)
    bound.apply_defaults()
    return bound.arguments


@lru_cache
def _known_parameters(factory: Callable[..., Any]) -> dict[str, Parameter]:
    """The parameters of a factory that can be chosen, which are those with a default."""
    arguments = _signature(factory).parameters.values()
    try:
        hints = typing.get_type_hints(_called(factory), include_extras=True)
    except Exception as error:
        raise PluginError.by(error, f"{factory.__name__}: its annotations cannot be read") from error
    return {each.name: _parameter(each, hints) for each in arguments if each.default is not inspect.Parameter.empty}


def _called(factory: Callable[..., Any]) -> Callable[..., Any]:
    """The function that takes the arguments of a factory."""
    return factory.__init__ if inspect.isclass(factory) else factory


def _signature(factory: Callable[..., Any]) -> inspect.Signature:
    """What a factory takes. Of a class that is what its constructor takes, without the object itself."""
    if not inspect.isclass(factory):
        return inspect.signature(factory)
    if factory.__init__ is object.__init__:
        return inspect.Signature()
    signature = inspect.signature(factory.__init__)
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def parameters_of(factory: Callable[..., Any]) -> Iterable[Parameter]:
    known = _known_parameters(factory)
    for name in _signature(factory).parameters:
        if name not in known:
            raise PluginError(f"{factory.__name__}: parameter {name} needs a default value.")
    return known.values()


def _parameter(argument: inspect.Parameter, hints: Mapping[str, Any]) -> Parameter:
    of_default = str if argument.default is None else type(argument.default)
    hint, bounds = _without_bounds(hints.get(argument.name, of_default))
    kind, optional = _without_none(hint)
    optional = optional or argument.default is None
    if typing.get_origin(kind) is typing.Literal:
        return Parameter(argument.name, str, argument.default, optional, bounds, typing.get_args(kind))
    return Parameter(argument.name, kind, argument.default, optional, bounds)


def _without_bounds(hint: Any) -> tuple[Any, Bounds]:
    if typing.get_origin(hint) is not typing.Annotated:
        return hint, Bounds()
    found = [extra for extra in hint.__metadata__ if isinstance(extra, Bounds)]
    return hint.__origin__, found[0] if found else Bounds()


def _without_none(hint: Any) -> tuple[type, bool]:
    if typing.get_origin(hint) not in (Union, types.UnionType):
        return hint, False
    kinds = [kind for kind in typing.get_args(hint) if kind is not types.NoneType]
    return kinds[0], len(kinds) < len(typing.get_args(hint))


# Plug-ins found by their entry points, by name.

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
            raise PluginError(f"The {self.kind} {name!r} is claimed by {both}: uninstall or rename one of them.")
        try:
            loaded: Callable[..., Plugin] = self._found[name][0].load()
        except Exception as error:
            raise PluginError.by(error, f"The {self.kind} {name!r} cannot be loaded") from error
        if not callable(loaded):
            raise PluginError(f"The {self.kind} {name!r} is no class and no function, so nothing can be made of it.")
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
                raise InvalidParameter(f"{name}: {part!r} should be written parameter=value.")
            if key == PRESET and key not in known:
                raise UnknownName(f"{name} has no presets; its parameters: {', '.join(known) or 'none'}.")
            if key not in known:
                raise UnknownName.among(f"parameter of {name}", key, known)
            if key in chosen:
                raise InvalidParameter(f"{name}: {key} is given twice.")
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
            raise PluginError.by(error, f"The {self.kind} {chosen} cannot be made") from error
        if self._must_be is not None and not isinstance(made, self._must_be):
            raise PluginError(f"{chosen.name!r} is no {self.kind}: it is not of the kind {self._must_be.__name__}.")
        return made


# Values that print as they parse, chosen from a list that is not open to plug-ins.


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
