"""Searches by name: `johnson2003`, `chc:population=100`, `cma:population=20,generations=50`."""

from collections.abc import Callable

from scenthound.errors import UnknownName
from scenthound.evolve.base import Method
from scenthound.evolve.chc import Chc
from scenthound.evolve.cma import Cma
from scenthound.evolve.genetic import Johnson2003
from scenthound.registry import Registry

_METHODS: dict[str, Callable[..., Method]] = {method.name: method for method in (Johnson2003, Chc, Cma)}


class Methods(Registry[Method]):
    """The searches there are, written as plug-ins are; but they stand here and not among the entry points."""

    def __init__(self) -> None:
        super().__init__("search", "scenthound.searches", Method)

    def names(self) -> list[str]:
        return sorted(_METHODS)

    def factory(self, name: str) -> Callable[..., Method]:
        if name not in _METHODS:
            raise UnknownName.among(self.kind, name, _METHODS)
        return _METHODS[name]


METHODS = Methods()


def parse_search(text: str) -> Method:
    """The method that `name:parameter=value,...` names; what is not given has its default."""
    return METHODS.make(text)
