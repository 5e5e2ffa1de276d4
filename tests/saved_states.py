"""States of strategies and frontiers, to compare."""

from typing import Any

import numpy as np


def as_lists(state: Any) -> Any:
    """The state with arrays as lists, in which NaN is None, so that equal states are equal."""
    if isinstance(state, dict):
        return {key: as_lists(value) for key, value in state.items()}
    if isinstance(state, np.ndarray):
        is_missing = np.isnan(state) if state.dtype.kind == "f" else np.zeros(state.shape, np.bool_)
        return np.where(is_missing, None, state).tolist()
    return [as_lists(each) for each in state] if isinstance(state, list | tuple) else state
