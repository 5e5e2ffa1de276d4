"""Scenthound: a topic-driven web crawler, and a laboratory that measures crawls.

    import scenthound as sh

    crawl = sh.crawl(sh.Topic(keywords=["hot air balloon"]), seeds="https://example.org", pages=500, out="balloons")
    crawl.pages.to_pandas()
    run = sh.simulate("web", topics="topics.toml", strategies=["otie", "best_first"], pages=2000)
    run.evaluate("target_recall")

Names are imported when they are first used, so `import scenthound` itself is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scenthound.api.catalog import Topics as Topics
    from scenthound.api.catalog import import_topics as import_topics
    from scenthound.api.catalog import list_metrics as list_metrics
    from scenthound.api.catalog import list_plugins as list_plugins
    from scenthound.api.catalog import list_relevance_models as list_relevance_models
    from scenthound.api.catalog import list_strategies as list_strategies
    from scenthound.api.catalog import new_strategy as new_strategy
    from scenthound.api.catalog import open_topics as open_topics
    from scenthound.api.catalog import select_topics as select_topics
    from scenthound.api.crawls import Crawl as Crawl
    from scenthound.api.crawls import dashboard as dashboard
    from scenthound.api.crawls import export as export
    from scenthound.api.crawls import open_crawl as open_crawl
    from scenthound.api.laboratory import Run as Run
    from scenthound.api.laboratory import compare as compare
    from scenthound.api.laboratory import evaluate as evaluate
    from scenthound.api.laboratory import open_run as open_run
    from scenthound.api.laboratory import simulate as simulate
    from scenthound.api.laboratory import study as study
    from scenthound.api.plans import CrawlPlan as CrawlPlan
    from scenthound.api.plans import plan as plan
    from scenthound.api.results import Table as Table
    from scenthound.api.results import report as report
    from scenthound.api.runs import acrawl as acrawl
    from scenthound.api.runs import crawl as crawl
    from scenthound.api.runs import refresh as refresh
    from scenthound.api.runs import resume as resume
    from scenthound.api.searches import evolve as evolve
    from scenthound.api.searches import fit_scent as fit_scent
    from scenthound.api.searches import pages_to_label as pages_to_label
    from scenthound.api.searches import resume_search as resume_search
    from scenthound.api.searches import threshold as threshold
    from scenthound.api.searches import validate as validate
    from scenthound.api.webs import Web as Web
    from scenthound.api.webs import open_web as open_web
    from scenthound.api.webs import record as record
    from scenthound.api.webs import synthesize as synthesize
    from scenthound.errors import ScenthoundError as ScenthoundError
    from scenthound.metrics.base import Metric as Metric
    from scenthound.model import Topic as Topic
    from scenthound.relevance.base import Relevance as Relevance
    from scenthound.relevance.base import RelevanceModel as RelevanceModel
    from scenthound.strategies.base import Strategy as Strategy

    __version__: str

#: The public names of each module.
_NAMES = {
    "api.catalog": (
        "Topics import_topics list_metrics list_plugins list_relevance_models list_strategies new_strategy open_topics "
        "select_topics"
    ),
    "api.crawls": "Crawl dashboard export open_crawl",
    "api.laboratory": "Run compare evaluate open_run simulate study",
    "api.plans": "CrawlPlan plan",
    "api.results": "Table report",
    "api.runs": "acrawl crawl refresh resume",
    "api.searches": "evolve fit_scent pages_to_label resume_search threshold validate",
    "api.webs": "Web open_web record synthesize",
    "errors": "ScenthoundError",
    "metrics.base": "Metric",
    "model": "Topic",
    "relevance.base": "Relevance RelevanceModel",
    "strategies.base": "Strategy",
}
_MODULE_OF = {name: f"scenthound.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = [  # noqa: PLE0604 - the names are those of the table
    "__version__",
    *sorted(_MODULE_OF),
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("scenthound")
    elif name in _MODULE_OF:
        value = getattr(import_module(_MODULE_OF[name]), name)
    else:
        raise AttributeError(f"module 'scenthound' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
