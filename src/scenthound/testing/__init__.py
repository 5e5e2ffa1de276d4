"""Public: what a plug-in author needs to test a strategy or a metric.

>>> from scenthound.testing import SyntheticWeb, check_strategy, visited
"""

from scenthound.testing.metric_checks import check_metric
from scenthound.testing.strategy_checks import check_strategy
from scenthound.testing.synthetic_web import SyntheticWeb, visited

__all__ = ["SyntheticWeb", "check_metric", "check_strategy", "visited"]
