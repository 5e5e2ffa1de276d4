"""Names to factories: strategies, metrics and relevance models are found by their entry points.

A choice is written `name:parameter=value,...` wherever a name is asked for, and prints as it parses. The parameters of
a plug-in are the keyword arguments of its factory; their bounds stand in the annotation, `n: Annotated[int, Bounds(1)]
= 1`, or the words it may be, `distance: Literal["words", "links"] = "words"`. A plug-in may name sets of values in
`presets`, chosen by `name:preset=menczer2001,...`; what is given beside a preset overrides it. Built-ins are registered
the same way as plug-ins. What a plug-in cannot add to is written alike, but listed (`ListedRegistry`).
"""

from scenthound.registry.listed import ListedRegistry, NamedValue
from scenthound.registry.parameters import Bounds, Choice, Parameter, Value, all_arguments, check_arguments, written
from scenthound.registry.plugins import Registry

__all__ = [
    "Bounds",
    "Choice",
    "ListedRegistry",
    "NamedValue",
    "Parameter",
    "Registry",
    "Value",
    "all_arguments",
    "check_arguments",
    "written",
]
