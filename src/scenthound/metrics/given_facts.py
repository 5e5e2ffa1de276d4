"""Facts about a pool that are known beforehand: for tests, and for judgements that need none."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from scenthound.metrics.base import PoolVectors
from scenthound.model import BoolArray, FloatArray, IntArray
from scenthound.text.vectors import TermRows

_NONE: FloatArray = np.zeros(0)
_NO_PAGES: IntArray = np.zeros(0, np.int32)
_NO_VECTORS = PoolVectors(TermRows(np.zeros(1, np.int64), _NO_PAGES, _NO_PAGES), _NONE, _NO_PAGES)


@dataclass(frozen=True, slots=True)
class GivenFacts:
    """A `PoolFacts` of these values; what is not given is not known."""

    similarities: FloatArray = field(default_factory=lambda: _NONE)
    lexical_ranks: FloatArray = field(default_factory=lambda: _NONE)
    printed_ranks: FloatArray = field(default_factory=lambda: _NONE)
    linkage_ranks: FloatArray = field(default_factory=lambda: _NONE)
    accepted: Mapping[str, BoolArray] = field(default_factory=dict)
    host_numbers: IntArray = field(default_factory=lambda: _NO_PAGES)
    seed_host_numbers: IntArray = field(default_factory=lambda: _NO_PAGES)
    weighted: PoolVectors = _NO_VECTORS

    def similarity(self) -> FloatArray:
        return self.similarities

    def lexical_rank(self, *, as_printed: bool = False) -> FloatArray:
        return self.printed_ranks if as_printed else self.lexical_ranks

    def linkage_rank(self) -> FloatArray:
        return self.linkage_ranks

    def accepted_by(self, judge: str) -> BoolArray | None:
        return self.accepted.get(judge)

    def hosts(self) -> IntArray:
        return self.host_numbers

    def seed_hosts(self) -> IntArray:
        return self.seed_host_numbers

    def vectors(self) -> PoolVectors:
        return self.weighted
