"""Default parameters of earlier versions: a crawl that was started with them is resumed with them."""

from scenthound.errors import ScenthoundError
from scenthound.strategies.base import STRATEGIES

#: The sizes of the frontiers that are unbounded since 0.8.
BUFFERS_OF_0_7 = {
    "adaptive_n_first": 256,
    "best_first": 256,
    "best_n_first": 256,
    "breadth_first": 256,
    "infospiders": 200,
    "keyword_pagerank": 256,
    "pagerank": 200,
}


def with_defaults_of_0_7(strategy: str) -> str:
    """A strategy as it was written, with the buffer that it had by default."""
    name = strategy.partition(":")[0].strip()
    if name not in BUFFERS_OF_0_7:
        return strategy
    try:
        if "buffer" in STRATEGIES.values(STRATEGIES.parse(strategy)):
            return strategy
    except ScenthoundError:
        return strategy
    separator = "," if ":" in strategy else ":"
    return f"{strategy}{separator}buffer={BUFFERS_OF_0_7[name]}"
