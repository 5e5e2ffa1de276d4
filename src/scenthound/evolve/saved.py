"""A saved search: what it was made with, every fitness that it was told, and what it asked for last.

Nothing else needs to be kept, because the same beginning and the same fitnesses lead to the same questions. The last
questions are kept to prove it: another version of Python or of a library might draw otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any, Self

from scenthound.errors import BadInput
from scenthound.evolve.genome import Genes

#: Genes with a fraction come out of linear algebra, whose last digits may differ between machines.
TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """The state of a search. `made_with` has the method and the beginning under their names, as JSON has them."""

    made_with: Mapping[str, Any]
    told: Sequence[Sequence[float]]
    asked: Sequence[Genes]

    @classmethod
    def read(cls, state: Mapping[str, Any]) -> Self:
        """From what `written` gave, as it comes back from JSON."""
        try:
            told = [[float(fitness) for fitness in fitnesses] for fitnesses in state["told"]]
            return cls(dict(state["made_with"]), told, [tuple(genes) for genes in state["asked"]])
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"This is no saved search ({type(error).__name__}: {error}): begin anew.") from None

    def written(self) -> dict[str, Any]:
        """For JSON."""
        told = [list(fitnesses) for fitnesses in self.told]
        return {"made_with": dict(self.made_with), "told": told, "asked": [list(genes) for genes in self.asked]}

    def check_made_with(self, here: Mapping[str, Any]) -> None:
        """Refuse a search that was made otherwise than the one that is to take it up."""
        for name, value in here.items():
            if self.made_with.get(name) != value:
                raise BadInput(
                    f"The saved search has {name}={self.made_with.get(name)}, this one {name}={value}: "
                    "give it the same, or begin anew."
                )

    def check_asked(self, here: Sequence[Genes]) -> None:
        """Refuse a search that asks for something else after it was told the same."""
        if len(here) != len(self.asked) or not all(map(_alike, here, self.asked)):
            raise BadInput(
                "The saved search asked for other individuals than it does here, after the same fitnesses: "
                "take it up with the versions of Python, numpy and cmaes that it was saved with, or begin anew."
            )


def _alike(here: Genes, there: Genes) -> bool:
    pairs = zip(here, there, strict=False)
    return len(here) == len(there) and all(isclose(ours, theirs, abs_tol=TOLERANCE) for ours, theirs in pairs)
