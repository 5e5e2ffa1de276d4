"""Figures in the cells of tables, and names for files."""

from math import isnan

import numpy as np

from scenthound.lab.statistics import standard_error
from scenthound.model import FloatArray


def file_name(words: str) -> str:
    """A name for a file, from words for people."""
    return "-".join("".join(letter if letter.isalnum() else " " for letter in words.lower()).split())


def shown(value: float, digits: int = 3) -> str:
    """A figure, or a dash where there is none."""
    return "-" if isnan(value) else f"{value:,.{digits}f}"


def mean_and_error(values: FloatArray, digits: int = 3) -> str:
    """Over topics, those without a value left out."""
    known = values[~np.isnan(values)]
    if not len(known):
        return "-"
    error = f" ± {standard_error(known):,.{digits}f}" if len(known) > 1 else ""
    return f"{known.mean():,.{digits}f}{error}"


def p_shown(p: float) -> str:
    if isnan(p):
        return "-"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
