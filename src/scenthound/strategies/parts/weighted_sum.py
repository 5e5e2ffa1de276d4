"""Weighted sums of named terms, as a person writes them: `0.7*harvest + 0.3*distance`.

Rules
- Terms stand in any order, names in any case, `harvest` for `1*harvest`.
- No name stands twice. What a weight may be, whoever uses the sum decides.
"""

import re
from dataclasses import dataclass

from scenthound.errors import BadParameter, UnknownName, printable

_TERM = re.compile(r"(?:([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*\*\s*)?([A-Za-z_]\w*)", re.ASCII)
#: A plus, but not that of a number such as 1e+3.
_BETWEEN_TERMS = re.compile(r"(?<![\d.][eE])\+")


@dataclass(frozen=True, slots=True)
class SumReader:
    """Reads sums of one kind: what they are called, what their terms are called, which there are, and an example."""

    kind: str
    term: str
    names: tuple[str, ...]
    example: str

    def weights_of(self, text: str) -> dict[str, float]:
        """The weight of each name in a sum, in the order in which they stand there."""
        found: dict[str, float] = {}
        for term in _BETWEEN_TERMS.split(text):
            name, weight = self._read(term.strip())
            if name in found:
                raise BadParameter(f"The {self.term} {name} stands twice in a {self.kind}; add up its weights.")
            found[name] = weight
        return found

    def _read(self, term: str) -> tuple[str, float]:
        read = _TERM.fullmatch(term)
        if read is None:
            raise BadParameter(
                f"{printable(term, 60)!r} is no term of a {self.kind}; write weight*{self.term}, as in {self.example}."
            )
        spelled = {name.lower(): name for name in self.names}
        if read[2].lower() not in spelled:
            raise UnknownName.among(self.term, printable(read[2], 60), self.names)
        return spelled[read[2].lower()], float(read[1] or 1)
