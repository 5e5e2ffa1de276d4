"""Default parameters of earlier versions: a crawl that was started with them is resumed with them."""

from scenthound.errors import ScenthoundError
from scenthound.strategies.base import STRATEGIES

#: Parameters whose defaults changed in 0.8, with those of 0.7. Frontiers are unbounded since.
DEFAULTS_OF_0_7 = {
    "adaptive_n_first": ("buffer", "256"),
    "best_first": ("buffer", "256"),
    "best_n_first": ("buffer", "256"),
    "breadth_first": ("buffer", "256"),
    "fish_search": ("threshold", "0.0"),
    "hub_otie": ("dead_links", "true"),
    "infospiders": ("buffer", "200"),
    "keyword_pagerank": ("buffer", "256"),
    "pagerank": ("buffer", "200"),
}


def with_defaults_of_0_7(strategy: str) -> str:
    """A strategy as it was written, with the parameter that it had by default."""
    name = strategy.partition(":")[0].strip()
    if name not in DEFAULTS_OF_0_7:
        return strategy
    parameter, value = DEFAULTS_OF_0_7[name]
    try:
        if parameter in STRATEGIES.values(STRATEGIES.parse(strategy)):
            return strategy
    except ScenthoundError:
        return strategy
    separator = "," if ":" in strategy else ":"
    return f"{strategy}{separator}{parameter}={value}"
