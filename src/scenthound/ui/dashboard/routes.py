"""The API in one table: the router is made from it, and so is its description for OpenAPI."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from scenthound.ui.dashboard import handlers as change
from scenthound.ui.dashboard import handlers as crawl
from scenthound.ui.dashboard import handlers as folder
from scenthound.ui.dashboard import queries as asked
from scenthound.ui.dashboard import responses as told
from scenthound.ui.dashboard.services import Rooms
from scenthound.ui.link_graph import CrawlGraph


def _no(_question: Any) -> bool:
    return False


def _yes(_question: Any) -> bool:
    return True


def _looks_through_all(question: asked.PagesOf) -> bool:
    return bool(question.query or question.host) or question.order in ("best", "worst")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`answer` is called with a question of the class `asks` and answers with a value of the class `answers`. Whatever
    may take longer than a blink `is_slow`, and does not hold up the rest."""

    method: Literal["GET", "POST"]
    path: str
    says: str
    asks: type
    answers: Any
    answer: Callable[[Rooms, Any], Any]
    is_slow: Callable[[Any], bool] = _no

    @property
    def name(self) -> str:
        """What OpenAPI calls the operation."""
        words = self.path.removeprefix("/api/").replace("{", "").replace("}", "").replace("-", "/").split("/")
        return "_".join([self.method.lower(), *words])


#: Where a crawl can be watched; an endless answer, so it stands beside the table.
EVENTS_PATH = "/api/crawls/{id}/events"

ENDPOINTS = (
    Endpoint("GET", "/api/folders", "All crawls and experiments.", asked.Plain, told.Folders, folder.folders),
    Endpoint("GET", "/api/columns", "How fields are displayed.", asked.Plain, told.Columns, folder.columns),
    Endpoint("GET", "/api/crawls/{id}", "A crawl as it stands.", asked.OfFolder, told.Crawl, crawl.crawl),
    Endpoint("GET", "/api/crawls/{id}/curves", "How a crawl went.", asked.OfFolder, told.Curves, crawl.curves, _yes),
    Endpoint(
        "GET",
        "/api/crawls/{id}/pages",
        "Visited pages: in order, or those that match a search.",
        asked.PagesOf,
        told.Pages,
        crawl.pages,
        _looks_through_all,
    ),
    Endpoint(
        "GET",
        "/api/crawls/{id}/pages/{visit}",
        "Why a page was visited, by its visit number.",
        asked.PageOf,
        told.Explanation,
        crawl.page,
        _yes,
    ),
    Endpoint(
        "GET",
        "/api/crawls/{id}/explain",
        "Why a page was visited or skipped, by its URL.",
        asked.AddressOf,
        told.Explanation,
        crawl.explained,
        _yes,
    ),
    Endpoint(
        "GET",
        "/api/crawls/{id}/skipped",
        "Skipped pages.",
        asked.SkippedOf,
        told.SkippedPages,
        crawl.skipped,
        _yes,
    ),
    Endpoint(
        "GET", "/api/crawls/{id}/hosts", "Hosts with most pages.", asked.OfFolder, told.TopHosts, crawl.hosts, _yes
    ),
    Endpoint(
        "GET", "/api/crawls/{id}/graph", "Some pages and their links.", asked.OfFolder, CrawlGraph, crawl.graph, _yes
    ),
    Endpoint(
        "GET", "/api/crawls/{id}/labels", "Pages that a person labelled.", asked.OfFolder, told.Labels, change.labels
    ),
    Endpoint("GET", "/api/compare", "Crawls side by side.", asked.Chosen, told.SideBySide, folder.compare, _yes),
    Endpoint(
        "GET",
        "/api/experiments/{id}",
        "The folder of an experiment.",
        asked.OfFolder,
        told.Experiment,
        folder.experiment,
    ),
    Endpoint("POST", "/api/crawls/{id}/pause", "Pause: start no new request.", asked.OfFolder, told.Done, change.pause),
    Endpoint("POST", "/api/crawls/{id}/resume", "Resume after a pause.", asked.OfFolder, told.Done, change.resume),
    Endpoint(
        "POST", "/api/crawls/{id}/stop", "Finish requests in flight and stop.", asked.OfFolder, told.Done, change.stop
    ),
    Endpoint("POST", "/api/crawls/{id}/budget", "Change the page budget.", asked.BudgetOf, told.Done, change.budget),
    Endpoint("POST", "/api/crawls/{id}/labels", "Label a page.", asked.LabelOf, told.Labels, change.label),
    Endpoint(
        "POST",
        "/api/crawls/{id}/retrain",
        "Retrain the relevance model on the labels.",
        asked.OfFolder,
        told.Retrained,
        change.retrain,
        _yes,
    ),
)
