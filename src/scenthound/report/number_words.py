"""Numbers as people read them in tables and sentences; a dash where there is none."""

from math import isnan

#: From here on values are no shares.
LARGE = 100
#: What stands where there is no number.
NOTHING = "-"


def percent_told(share: float) -> str:
    return NOTHING if isnan(share) else f"{100 * share:.0f} %"


def number_told(value: float, sign: str = "") -> str:
    """Shares need three decimals, ranks among thousands one."""
    if isnan(value):
        return NOTHING
    return f"{value:{sign}.3f}" if abs(value) < LARGE else f"{value:{sign},.1f}"


def things(number: int, thing: str) -> str:
    """The word for so many of a thing."""
    if number == 1:
        return thing
    return f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}s"


def counted(number: int, thing: str) -> str:
    return f"{number:,} {things(number, thing)}"


def mean_told(mean: float, error: float) -> str:
    return number_told(mean) if isnan(error) else f"{number_told(mean)} ± {error:.3f}"


def interval_told(low: float, high: float) -> str:
    return NOTHING if isnan(low) else f"{number_told(low, '+')} to {number_told(high, '+')}"
