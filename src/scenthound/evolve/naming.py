"""Searches by name: `johnson2003`, `chc:population=100`, `cma:population=20,generations=50`."""

from scenthound.evolve.base import Method
from scenthound.evolve.chc import Chc
from scenthound.evolve.cma import Cma
from scenthound.evolve.genetic import Johnson2003
from scenthound.registry import ListedRegistry

METHODS: ListedRegistry[Method] = ListedRegistry("search", (Johnson2003, Chc, Cma))


def parse_search(text: str) -> Method:
    """The method that `name:parameter=value,...` names; what is not given has its default."""
    return METHODS.make(text)
