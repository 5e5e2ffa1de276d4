"""Who takes part in a comparison: strategies as they are named, or with every value of parameters that are swept.

Rules
- A sweep is written `parameter=value,value,...`. Several sweeps make a grid: every value with every other.
- Every strategy that is swept must have the parameter, and must not have it set already.
- A strategy that wants to know the page budget (`max_pages`) is told that of the comparison, unless it is set.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from scenthound.errors import BadParameter, UnknownName, printable
from scenthound.registry import Value, written
from scenthound.strategies.base import STRATEGIES

#: More would take hours, and a table of them would be read by nobody.
MOST_CONTESTANTS = 200
#: The parameter that stands for the page budget of the crawl.
PAGE_BUDGET = "max_pages"


@dataclass(frozen=True, slots=True)
class Sweep:
    """A parameter and the values that it is tried with, as a person wrote them."""

    parameter: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contestant:
    """One strategy with its parameters. `base` is the strategy that was named, `swept` has the value of each sweep."""

    spec: str
    base: str
    swept: tuple[Value, ...] = ()


def parse_sweep(text: str) -> Sweep:
    """Read `parameter=value,value,...`."""
    name, equals, rest = (piece.strip() for piece in text.partition("="))
    values = tuple(dict.fromkeys(filter(None, (value.strip() for value in rest.split(",")))))
    if not equals or not name or not values:
        raise BadParameter(
            f"--sweep {printable(text)!r} should be written parameter=value,value, as buffer=64,256,1024."
        )
    return Sweep(name, values)


def contestants_of(strategies: Sequence[str], sweeps: Sequence[Sweep], page_budget: int) -> tuple[Contestant, ...]:
    """All of them, each once: of those that come to the same, the first."""
    _check_sweeps(strategies, sweeps)
    n_wanted = len(strategies)
    for sweep in sweeps:
        n_wanted *= len(sweep.values)
    if n_wanted > MOST_CONTESTANTS:
        raise BadParameter(
            f"That makes {n_wanted:,} strategies to compare, and {MOST_CONTESTANTS} is the most: "
            "sweep fewer values, or name fewer strategies."
        )
    made = [each for strategy in strategies for each in _grid(strategy, sweeps, page_budget)]
    distinct = set(STRATEGIES.distinct(each.spec for each in made))
    kept: dict[str, Contestant] = {}
    for each in made:
        if each.spec in distinct:
            kept.setdefault(each.spec, each)
    return tuple(kept.values())


def _check_sweeps(strategies: Sequence[str], sweeps: Sequence[Sweep]) -> None:
    names = [sweep.parameter for sweep in sweeps]
    for name in names:
        if names.count(name) > 1:
            raise BadParameter(f"--sweep {name} is given twice; write all its values in one: {name}=value,value.")
    if sweeps and not strategies:
        having = [known for known in STRATEGIES.names() if all(name in STRATEGIES.parameters(known) for name in names)]
        raise BadParameter(
            f"--sweep {names[0]} needs --strategy: name what to sweep it on. These have "
            f"{' and '.join(names)}: {', '.join(having) or 'none'}."
        )


def _grid(strategy: str, sweeps: Sequence[Sweep], page_budget: int) -> Iterable[Contestant]:
    base = STRATEGIES.parse(strategy)
    known = STRATEGIES.parameters(base.name)
    for sweep in sweeps:
        if sweep.parameter not in known:
            raise UnknownName.among(f"parameter of {base.name}", sweep.parameter, known)
        if sweep.parameter in dict(base.parameters):
            raise BadParameter(
                f"{printable(strategy)} has {sweep.parameter} set, and --sweep sets it too: take it out of one of them."
            )
    for written_values in product(*(sweep.values for sweep in sweeps)):
        swept = {
            sweep.parameter: known[sweep.parameter].parse(value, base.name)
            for sweep, value in zip(sweeps, written_values, strict=True)
        }
        spec = _spelled(strategy, swept)
        yield Contestant(_with_page_budget(spec, page_budget), str(base), tuple(swept.values()))


def _spelled(strategy: str, values: dict[str, Value]) -> str:
    """The strategy with more parameters, in its one spelling."""
    separator = "," if ":" in strategy else ":"
    more = ",".join(f"{name}={written(value)}" for name, value in values.items())
    return str(STRATEGIES.parse(f"{strategy}{separator}{more}" if more else strategy))


def _with_page_budget(spec: str, page_budget: int) -> str:
    choice = STRATEGIES.parse(spec)
    wants = PAGE_BUDGET in STRATEGIES.parameters(choice.name) and PAGE_BUDGET not in STRATEGIES.values(choice)
    return _spelled(spec, {PAGE_BUDGET: page_budget}) if wants else spec
