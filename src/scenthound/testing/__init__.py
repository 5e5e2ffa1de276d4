"""Public: checks for strategies and metrics of plug-ins, and synthetic webs of a few or of millions of pages.

>>> from scenthound.testing import SyntheticWeb, check_strategy, topical_web, visited
"""

from scenthound.testing.metric_checks import check_metric
from scenthound.testing.strategy_checks import check_strategy
from scenthound.testing.synthetic_web import SyntheticWeb, visited
from scenthound.testing.topical_graph import TopicalWeb
from scenthound.testing.topical_web import topical_web

__all__ = ["SyntheticWeb", "TopicalWeb", "check_metric", "check_strategy", "topical_web", "visited"]
