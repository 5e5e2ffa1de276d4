"""JSON as other programs can read it: the format has no word for what is endless or no number, so null stands for them.

The score of a seed is endless, for one.
"""

import json
import math
from typing import Any


def json_text(values: Any, indent: int | None = None) -> str:
    """Plain values as JSON; letters beyond ASCII are escaped, so that any terminal can show it."""
    return json.dumps(finite(values), indent=indent, allow_nan=False)


def finite(values: Any) -> Any:
    """Plain values with null for what is endless or no number."""
    if isinstance(values, dict):
        return {name: finite(value) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return [finite(value) for value in values]
    return None if isinstance(values, float) and not math.isfinite(values) else values
