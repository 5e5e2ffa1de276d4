"""Scrapy with the strategies, relevance models and politeness order of Scenthound, for an existing spider.

In the settings of a Scrapy project:

    SCHEDULER = "scenthound.scrapy.Scheduler"
    SCENTHOUND_KEYWORDS = ["hot air balloon"]

See docs/scrapy.md. Scrapy is loaded when `Scheduler` or `relevance_of` is.
"""

from typing import TYPE_CHECKING, Any

from scenthound.errors import MissingExtra

if TYPE_CHECKING:
    from scenthound.scrapy.scheduler import Scheduler, relevance_of

__all__ = ["MissingScrapy", "Scheduler", "relevance_of"]


class MissingScrapy(MissingExtra, ImportError):
    """Scrapy is not installed. It is also an ImportError, as any module raises that cannot be imported."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import scrapy as _scrapy  # noqa: F401
    except ImportError:
        raise MissingScrapy(MissingExtra.named("scrapy", "scenthound.scrapy").message) from None
    from scenthound.scrapy import scheduler

    return getattr(scheduler, name)
