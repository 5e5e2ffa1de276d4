"""Parameters of tests, most of which run in `make test-all` only."""

from collections.abc import Iterable
from typing import Any

import pytest


def few_of(values: Iterable[Any], n: int = 2) -> list[Any]:
    """All of the values; the first `n` run in `make test`, and the others are slow tests."""
    return [value if i < n else pytest.param(value, marks=pytest.mark.slow) for i, value in enumerate(values)]


def few_strategies(names: Iterable[str]) -> list[Any]:
    """All strategies; those that differ most in what they keep run in `make test`, and the others are slow tests."""
    chosen = ("best_first", "infospiders", "portfolio")
    return few_of(sorted(names, key=lambda name: name not in chosen), len(chosen))
