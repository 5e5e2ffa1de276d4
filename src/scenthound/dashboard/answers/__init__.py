"""What the API answers with. The pages are made from these answers and from nothing else.

Rules
- Every answer is a value of one of these classes, written as JSON; `openapi` describes the API from them.
- Texts that came from crawled pages are plain: whoever shows them writes them as text.
- Moments are seconds since 1970; what is not known is null.
"""

from scenthound.dashboard.answers.crawls import (
    AskedHost,
    Crawl,
    Curves,
    Guide,
    HostState,
    Overlap,
    ReasonCount,
    SideBySide,
    Status,
    TopHost,
    TopHosts,
)
from scenthound.dashboard.answers.folders import Experiment, Folder, Folders, Kind, SearchProgress, State
from scenthound.dashboard.answers.labels import GuideQuality, Labels, Retrained
from scenthound.dashboard.answers.pages import (
    Explanation,
    Indexing,
    LinkingPage,
    Order,
    Pages,
    RefusedPage,
    RefusedPages,
    TakenPage,
)
from scenthound.dashboard.answers.shared import Done, Fact, Problem
from scenthound.dashboard.answers.watching import Live

__all__ = [
    "AskedHost",
    "Crawl",
    "Curves",
    "Done",
    "Experiment",
    "Explanation",
    "Fact",
    "Folder",
    "Folders",
    "Guide",
    "GuideQuality",
    "HostState",
    "Indexing",
    "Kind",
    "Labels",
    "LinkingPage",
    "Live",
    "Order",
    "Overlap",
    "Pages",
    "Problem",
    "ReasonCount",
    "RefusedPage",
    "RefusedPages",
    "Retrained",
    "SearchProgress",
    "SideBySide",
    "State",
    "Status",
    "TakenPage",
    "TopHost",
    "TopHosts",
]
