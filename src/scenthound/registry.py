"""Registries of plug-ins: strategies, metrics and relevance models, chosen by name, class or instance.

A name is written `name:parameter=value,...` and prints as it parses. Names come from entry points; built-ins are
registered in the same way as plug-ins of other packages. The parameters of a plug-in are the keyword arguments of its
factory. Their annotations give the valid range, `n: Annotated[int, Bounds(1)] = 1`, or the valid strings,
`distance: Literal["words", "links"] = "words"`. A plug-in may define named sets of values in `presets`, chosen by
`name:preset=menczer2001,...`; parameters written beside a preset override it.

`Registry.resolve` also accepts classes and instances, wherever they are defined. It registers them in this process and
in the worker processes that this process starts, so that the name of the choice is valid wherever a name is.

`ListedRegistry` has the same interface for a fixed list of classes.
"""

import inspect
import math
import types
import typing
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache, partial
from importlib.metadata import EntryPoint, entry_points
from numbers import Integral, Real
from typing import Any, ClassVar, Generic, TypeVar, Union

import numpy as np

from scenthound import by_value
from scenthound.errors import InvalidParameter, PluginError, ScenthoundError, UnknownName

Value = int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class Bounds:
    """The valid range of a parameter; None: no bound. `above` excludes `low` itself, `below` excludes `high`."""

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
    choices: tuple[str, ...] = ()  #: the valid strings, if only some are valid

    def __str__(self) -> str:
        return f"{self.name}={format_value(self.default)}"

    @property
    def range(self) -> str:
        """The valid values, as text."""
        if self.choices or self.kind is bool:
            return " or ".join(self.choices or ("true", "false"))
        what = "any text" if self.kind is str else str(self.bounds)
        return f"{what}{' or none' if self.optional else ''}"

    def parse(self, text: str, owner: str) -> Value:
        """Parse and check a value."""
        if self.optional and text.lower() == "none":
            return None
        try:
            value: Value = _BOOLEANS[text.lower()] if self.kind is bool else self.kind(text)
        except (ValueError, KeyError, TypeError):
            what = "true or false" if self.kind is bool else f"a value of type {self.kind.__name__}"
            none = " or none" if self.optional else ""
            raise InvalidParameter(f"{owner}: {self.name}={text} should be {what}{none}.") from None
        self.check(value, owner)
        return value

    def check(self, value: Value, owner: str) -> None:
        """Raise UsageError for an invalid value."""
        if value is None and self.optional:
            return
        if not isinstance(value, _KINDS.get(self.kind, object)):
            raise InvalidParameter(
                f"{owner}: {self.name}={format_value(value)} should be a value of type {self.kind.__name__}."
            )
        if self.choices and value not in self.choices:
            raise UnknownName.among(f"value of {owner}: {self.name}", str(value), self.choices)
        if isinstance(value, int | float | np.number) and (not math.isfinite(value) or float(value) not in self.bounds):
            raise InvalidParameter(
                f"{owner}: {self.name}={format_value(value)} is out of range; it must be {self.range}."
            )


#: The types that the values of a parameter must have; numpy numbers are numbers.
_KINDS: dict[type, Any] = {int: Integral, float: Real, bool: (bool, np.bool_), str: str}
#: The key of a named set of values.
PRESET = "preset"
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class Choice:
    """A plug-in with parameters."""

    name: str
    parameters: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        chosen = ",".join(f"{key}={format_value(value)}" for key, value in self.parameters)
        return f"{self.name}:{chosen}" if chosen else self.name


def format_value(value: Value) -> str:
    """The text of a value."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def check_arguments(factory: Callable[..., Any], owner: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Raise UsageError for arguments out of range, as `Registry.parse` does."""
    parameters = _known_parameters(factory)
    for name, value in _signature(factory).bind_partial(*args, **named).arguments.items():
        if name in parameters:
            parameters[name].check(value, owner)


def all_arguments(factory: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each parameter, defaults included."""
    bound = _signature(factory).bind_partial(*args, **named)
    bound.apply_defaults()
    return bound.arguments


@lru_cache
def _known_parameters(factory: Callable[..., Any]) -> dict[str, Parameter]:
    """The parameters of a factory that have a default."""
    arguments = _signature(factory).parameters.values()
    called = factory.__init__ if inspect.isclass(factory) else factory
    try:
        hints = typing.get_type_hints(called, include_extras=True)
    except Exception as error:
        raise PluginError.by(error, f"{factory.__name__}: cannot read its annotations") from error
    return {each.name: _parameter(each, hints) for each in arguments if each.default is not inspect.Parameter.empty}


def _signature(factory: Callable[..., Any]) -> inspect.Signature:
    """The signature of a factory, for a class that of its constructor without `self`."""
    if not inspect.isclass(factory):
        return inspect.signature(factory)
    if factory.__init__ is object.__init__:
        return inspect.Signature()
    signature = inspect.signature(factory.__init__)
    parameters = list(signature.parameters.values())[1:]
    if "__dataclass_fields__" in vars(factory):
        # What a class adds comes before what it inherits.
        added = inspect.get_annotations(factory)
        parameters.sort(key=lambda each: (each.kind, each.name not in added))
    return signature.replace(parameters=parameters)


def parameters_of(factory: Callable[..., Any]) -> Iterable[Parameter]:
    known = _known_parameters(factory)
    for name in _signature(factory).parameters:
        if name not in known:
            raise PluginError(f"{factory.__name__}: parameter {name} needs a default value.")
    return known.values()


def _parameter(argument: inspect.Parameter, hints: Mapping[str, Any]) -> Parameter:
    default = argument.default
    hint = hints.get(argument.name, str if default is None else type(default))
    bounds, optional = Bounds(), default is None
    if typing.get_origin(hint) is typing.Annotated:
        bounds = next((extra for extra in hint.__metadata__ if isinstance(extra, Bounds)), bounds)
        hint = hint.__origin__
    if typing.get_origin(hint) in (Union, types.UnionType):
        optional = optional or types.NoneType in typing.get_args(hint)
        hint = next(kind for kind in typing.get_args(hint) if kind is not types.NoneType)
    if typing.get_origin(hint) is typing.Literal:
        return Parameter(argument.name, str, default, optional, bounds, typing.get_args(hint))
    return Parameter(argument.name, hint, default, optional, bounds)


Plugin = TypeVar("Plugin")


@dataclass(slots=True)
class _Local:
    """The plug-ins of one group that were passed as classes or instances, and not installed."""

    classes: dict[str, type] = field(default_factory=dict)
    #: Choices that their text cannot reproduce, with what makes the object.
    templates: dict[str, tuple[Choice, Callable[[], Any]]] = field(default_factory=dict)


#: By entry-point group.
_LOCAL: dict[str, _Local] = {}


def dump_local_plugins() -> bytes:
    """The plug-ins that only this process knows, for `load_local_plugins` in another one."""
    return by_value.dumps(_LOCAL) if any(local.classes or local.templates for local in _LOCAL.values()) else b""


def load_local_plugins(dumped: bytes) -> None:
    _LOCAL.update(by_value.loads(dumped) if dumped else {})


class Registry(Generic[Plugin]):
    """The plug-ins of one entry-point group: factories of `Plugin`."""

    def __init__(self, kind: str, group: str, must_be: type | None = None) -> None:
        self.kind = kind
        self._group = group
        self._must_be = must_be

    @cached_property
    def _found(self) -> dict[str, list[EntryPoint]]:
        """The entry points of each name; more than one if packages disagree."""
        found: dict[str, list[EntryPoint]] = {}
        for point in entry_points(group=self._group):
            meanings = found.setdefault(point.name, [])
            if point.value not in [other.value for other in meanings]:
                meanings.append(point)
        return found

    @property
    def _local(self) -> _Local:
        return _LOCAL.setdefault(self._group, _Local())

    def names(self) -> list[str]:
        """The names of the installed plug-ins."""
        return sorted(self._found)

    def installed(self) -> Mapping[str, list[EntryPoint]]:
        """The entry points of each name; more than one if packages disagree."""
        return self._found

    def factory(self, name: str) -> Callable[..., Plugin]:
        """The class or function behind a name."""
        if name in self._local.classes:
            return self._local.classes[name]
        if name not in self._found:
            raise UnknownName.among(self.kind, name, [*self._found, *self._local.classes])
        if len(self._found[name]) > 1:
            points = [f"{each.dist.name} ({each.value})" if each.dist else each.value for each in self._found[name]]
            both = " and ".join(sorted(points))
            raise PluginError(
                f"The {self.kind} {name!r} is defined by {both}: uninstall one of these packages, or rename its entry "
                "point."
            )
        try:
            loaded: Callable[..., Plugin] = self._found[name][0].load()
        except (Exception, SystemExit) as error:
            raise PluginError.by(error, f"The {self.kind} {name!r} cannot be loaded") from error
        if not callable(loaded):
            raise PluginError(f"The {self.kind} {name!r} is neither a class nor a function.")
        return loaded

    def summary(self, name: str) -> str:
        """One line about a plug-in, which it defines itself."""
        return str(getattr(self.factory(name), "summary", ""))

    def parameters(self, name: str) -> dict[str, Parameter]:
        """The parameters of a plug-in that can be written in text."""
        if name in self._local.classes:
            return _known_parameters(self._local.classes[name])
        return {found.name: found for found in parameters_of(self.factory(name))}

    def presets(self, name: str) -> Mapping[str, Mapping[str, Value]]:
        """Named sets of parameter values, for example those of a study."""
        return getattr(self.factory(name), "presets", {})

    def parse(self, text: str) -> Choice:
        """Read `name:parameter=value,...`. A preset comes first, then the parameters in the order of the factory."""
        if text in self._local.templates:
            return self._local.templates[text][0]
        name, _, rest = text.strip().partition(":")
        known = self.parameters(name)
        if presets := tuple(self.presets(name)):
            known = {PRESET: Parameter(PRESET, str, None, False, Bounds(), presets), **known}
        self._check_defaults(name)
        chosen: dict[str, Value] = {}
        for part in filter(None, (piece.strip() for piece in rest.split(","))):
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not value:
                raise InvalidParameter(f"{name}: {part!r} should be written parameter=value.")
            if key == PRESET and key not in known:
                raise UnknownName(f"{name} has no presets; its parameters: {', '.join(known) or 'none'}.")
            if key not in known:
                raise UnknownName.among("parameter", key, known, owner=name)
            if key in chosen:
                raise InvalidParameter(f"{name}: {key} appears twice.")
            chosen[key] = known[key].parse(value, name)
        return Choice(name, tuple((key, chosen[key]) for key in known if key in chosen))

    def _check_defaults(self, name: str) -> None:
        """InvalidParameter for a class whose constructor needs values that a text cannot have."""
        variable = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
        known = _signature(self._local.classes[name]).parameters.values() if name in self._local.classes else ()
        needed = [each.name for each in known if each.default is each.empty and each.kind not in variable]
        if needed:
            example = f"{name}({', '.join(f'{each}=...' for each in needed)})"
            raise InvalidParameter(
                f"The {self.kind} {name} has no default for {', '.join(needed)}: pass an instance such as {example}."
            )

    def resolve(self, item: "str | Choice | type[Plugin] | Plugin") -> Choice:
        """The choice of a text, a class or an instance. Its text is valid as a name from now on.

        An instance that records its `parameters`, as every strategy does, is a template: `make` constructs a new object
        with the same parameters each time. Any other instance is used itself.
        """
        if isinstance(item, Choice):
            return item
        if isinstance(item, str):
            return self.parse(item)
        registered = dict(self._local.classes)
        try:
            if inspect.isclass(item):
                return self.parse(self._name_of(item))
            return self._resolve_instance(item, self._name_of(type(item)))
        except ScenthoundError:
            self._local.classes = registered  # A class that is rejected is not known.
            raise

    def _resolve_instance(self, item: Any, name: str) -> Choice:
        arguments = _arguments_of(item)
        choice = Choice(name, tuple(_short_values(type(item), arguments)))
        if isinstance(getattr(item, "parameters", None), Mapping):
            make = partial(_construct, type(item), arguments)
        else:
            make = partial(_unchanged, item)
            if not self._is_reproduced(choice) or by_value.digest(self.make(choice)) != by_value.digest(item):
                choice = Choice(name, (*choice.parameters, ("state", by_value.digest(item)[:8])))
        if not self._is_reproduced(choice):
            self._local.templates[str(choice)] = choice, make
        return choice

    def _is_reproduced(self, choice: Choice) -> bool:
        """Whether the text of a choice is enough to make it again."""
        if str(choice) in self._local.templates:
            return False
        try:
            return self.parse(str(choice)) == choice
        except ScenthoundError:
            return False

    def _name_of(self, cls: type) -> str:
        """The name of an installed class; any other class is registered under its own name."""
        self._check_kind(cls)
        value = f"{cls.__module__}:{cls.__qualname__}"
        for installed, points in self._found.items():
            if [point.value for point in points] == [value]:
                return installed
        own = getattr(cls, "name", None)
        name = own if isinstance(own, str) else cls.__name__
        other = self._local.classes.get(name, cls)
        if name in self._found or (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise InvalidParameter(f"There is another {self.kind} named {name!r}: rename the class {cls.__qualname__}.")
        if problem := _name_problem(name):
            raise InvalidParameter(f"{cls.__qualname__}: {problem}.")
        if other is not cls:
            for text in [text for text, (choice, _) in self._local.templates.items() if choice.name == name]:
                del self._local.templates[text]
        self._local.classes[name] = cls
        return name

    def _check_kind(self, cls: type) -> None:
        if self._must_be is not None and not issubclass(cls, self._must_be):
            raise InvalidParameter(
                f"{cls.__qualname__} is not a {self.kind}: pass a subclass of {self._must_be.__name__}, an instance of "
                f"one, or one of these names: {', '.join(self.names())}."
            )
        if missing := _abstract_methods(cls):
            raise InvalidParameter(f"The {self.kind} {cls.__qualname__} is incomplete: define {missing}.")

    def values(self, choice: Choice) -> dict[str, Value]:
        """The keyword arguments of a choice: those of its preset, overridden by its own."""
        values = dict(choice.parameters)
        preset = values.pop(PRESET, None)
        return {**self.presets(choice.name)[preset], **values} if isinstance(preset, str) else values

    def resolve_all(self, items: "Iterable[str | Choice | type[Plugin] | Plugin]") -> list[Choice]:
        """The choices of all items. Two different classes must not share a name."""
        choices: list[Choice] = []
        classes: dict[str, object] = {}
        for item in items:
            choice = self.resolve(item)
            factory = self.factory(choice.name)
            if classes.setdefault(choice.name, factory) is not factory:
                raise InvalidParameter(f"Two classes are named {choice.name!r}: rename one of them.")
            choices.append(choice)
        return choices

    def distinct(self, items: "Iterable[str | Choice | type[Plugin] | Plugin]") -> list[str]:
        """The texts of all choices; of those with the same parameter values, the first."""
        texts: dict[tuple[str, tuple[tuple[str, Value], ...]], str] = {}
        for choice in self.resolve_all(items):
            defaults = {name: each.default for name, each in self.parameters(choice.name).items()}
            texts.setdefault((choice.name, tuple({**defaults, **self.values(choice)}.items())), str(choice))
        return list(texts.values())

    def make(self, item: "str | Choice | type[Plugin] | Plugin") -> Plugin:
        """A new object of the chosen plug-in."""
        choice = self.resolve(item)
        factory = self.factory(choice.name)
        if missing := _abstract_methods(factory):
            raise PluginError(f"The {self.kind} {choice.name!r} is incomplete: define {missing}.")
        try:
            if str(choice) in self._local.templates:
                made: Plugin = self._local.templates[str(choice)][1]()
            else:
                made = factory(**self.values(choice))
        except ScenthoundError:
            raise
        except Exception as error:
            raise PluginError.by(error, f"The {self.kind} {choice} cannot be constructed") from error
        if self._must_be is not None and not isinstance(made, self._must_be):
            raise self._wrong_kind(choice.name, self._must_be)
        return made

    def _wrong_kind(self, name: str, must_be: type) -> PluginError:
        return PluginError(f"{name!r} is not a {self.kind}: it is no {must_be.__name__}.")

    def check(self, name: str) -> None:
        """Raise ScenthoundError if an installed plug-in cannot be used: it is loaded, and constructed with its
        defaults."""
        factory = self.factory(name)
        if self._must_be is not None and inspect.isclass(factory) and not issubclass(factory, self._must_be):
            raise self._wrong_kind(name, self._must_be)
        if problem := _name_problem(name):
            raise PluginError(f"The {self.kind} {name!r} cannot be chosen: {problem}. Rename its entry point.")
        self.make(name)


def _name_problem(name: str) -> str:
    """Why a name cannot be part of a choice; empty if it can."""
    return f"the name {name!r} must not contain spaces or any of : , = @" if set(name) & set(":,=@ ") else ""


def _abstract_methods(factory: Callable[..., Any]) -> str:
    return ", ".join(sorted(getattr(factory, "__abstractmethods__", ())))


def _arguments_of(item: Any) -> dict[str, Any]:
    """What an object was constructed with: its recorded `parameters`, or its attributes of the same names."""
    recorded = getattr(item, "parameters", None)
    if isinstance(recorded, Mapping):
        return dict(recorded)
    return {name: getattr(item, name) for name in _signature(type(item)).parameters if hasattr(item, name)}


def _short_values(cls: type, arguments: Mapping[str, Any]) -> Iterable[tuple[str, Value]]:
    """The arguments that are not at their defaults; a digest stands for a value that cannot be written."""
    parameters = _signature(cls).parameters
    for name, value in arguments.items():
        if parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            yield from ((key, _short_value(each)) for key, each in value.items())
        elif parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            yield from ([(name, _short_value(value))] if value else [])
        elif by_value.digest(_plain(value)) != by_value.digest(_plain(parameters[name].default)):
            yield name, _short_value(value)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _short_value(value: Any) -> Value:
    value = _plain(value)
    if value is None or isinstance(value, int | float | bool) or (isinstance(value, str) and value.isprintable()):
        return value
    return f"{type(value).__name__}-{by_value.digest(value)[:8]}"


def _construct(cls: type[Plugin], arguments: Mapping[str, Any]) -> Plugin:
    bound = inspect.BoundArguments(_signature(cls), OrderedDict(arguments))
    return cls(*bound.args, **bound.kwargs)


def _unchanged(item: Plugin) -> Plugin:
    return item


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value whose dataclass fields are parameters, each with a default. It prints as it parses."""

    name: ClassVar[str]
    #: One line for lists of such values.
    summary: ClassVar[str]
    presets: ClassVar[Mapping[str, Mapping[str, Value]]] = {}

    def __post_init__(self) -> None:
        check_arguments(type(self), self.name, (), {each.name: getattr(self, each.name) for each in fields(self)})

    def __str__(self) -> str:
        """Parameters with default values are left out, so that equal values have equal texts."""
        values = ((each.name, getattr(self, each.name), each.default) for each in fields(self))
        return str(Choice(self.name, tuple((name, value) for name, value, default in values if value != default)))


Listed = TypeVar("Listed", bound=NamedValue)


class ListedRegistry(Registry[Listed]):
    """A registry of a fixed list of classes."""

    def __init__(self, kind: str, classes: Iterable[type[Listed]]) -> None:
        super().__init__(kind, group="")
        self._classes = {each.name: each for each in classes}

    def names(self) -> list[str]:
        return sorted(self._classes)

    def factory(self, name: str) -> Callable[..., Listed]:
        if name not in self._classes:
            raise UnknownName.among(self.kind, name, self._classes)
        return self._classes[name]

    def _name_of(self, cls: type) -> str:
        for name, known in self._classes.items():
            if known is cls:
                return name
        raise InvalidParameter(f"{cls.__qualname__} is not a {self.kind}: choose one of {', '.join(self.names())}.")
