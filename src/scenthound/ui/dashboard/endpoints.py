"""The endpoints of the API. The router and its OpenAPI description are derived from them.

Each request opens the crawl for itself, which takes a millisecond or two: connections are never shared, and a replaced
folder is read as it is now. Endpoints block, so they run in worker threads.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal, get_type_hints

from scenthound.crawler import control
from scenthound.crawler.explain import explain, explain_visit
from scenthound.crawler.state import crawl_state
from scenthound.experiments import retraining
from scenthound.experiments.labels import Labels
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.crawl_curves import display_curves
from scenthound.ui.dashboard import crawl_views, queries, responses
from scenthound.ui.dashboard.folder_views import experiment_response
from scenthound.ui.dashboard.problems import NotFound
from scenthound.ui.dashboard.services import Services
from scenthound.ui.link_graph import CrawlGraph, crawl_graph, in_common, page_numbers

#: Labelled pages in a response, latest first.
MAX_LABELLED = 200
#: Crawls with more pages in total are not checked for common pages.
MAX_OVERLAP_PAGES = 3_000_000

Handler = Callable[[Services, Any], Any]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`handler` is called with a query of type `query` and returns a value of type `response`. Requests that `is_slow`
    run in threads of their own, so that they do not delay others."""

    method: Literal["GET", "POST"]
    path: str
    summary: str
    query: type
    response: Any
    handler: Handler
    is_slow: Callable[[Any], bool]

    @property
    def name(self) -> str:
        """The operation id in OpenAPI."""
        parts = self.path.removeprefix("/api/").replace("{", "").replace("}", "").replace("-", "/").split("/")
        return "_".join([self.method.lower(), *parts])


ENDPOINTS: list[Endpoint] = []
#: Server-sent events of a crawl. The response has no end, so it is not in the list.
EVENTS_PATH = "/api/crawls/{id}/events"


def _endpoint(
    method: Literal["GET", "POST"], path: str, is_slow: bool | Callable[[Any], bool] = False
) -> Callable[[Handler], Handler]:
    """Register a function. Its docstring is the summary; its annotations are the types of query and response."""

    def register(handler: Handler) -> Handler:
        _, query, response = get_type_hints(handler).values()
        slow = is_slow if callable(is_slow) else lambda _query: is_slow
        ENDPOINTS.append(Endpoint(method, path, inspect.getdoc(handler) or "", query, response, handler, slow))
        return handler

    return register


@contextmanager
def _opened(services: Services, folder_id: str) -> Iterator[StoredCrawl]:
    with StoredCrawl.open(services.folders.crawl(folder_id).path) as crawl:
        yield crawl


# Folders and experiments


@_endpoint("GET", "/api/folders")
def folders(services: Services, _query: queries.NoQuery) -> responses.Folders:
    """All crawls and experiments."""
    return services.overview.all()


@_endpoint("GET", "/api/columns")
def columns(_services: Services, _query: queries.NoQuery) -> responses.Columns:
    """How fields are displayed."""
    return crawl_views.column_infos()


@_endpoint("GET", "/api/experiments/{id}")
def experiment(services: Services, query: queries.FolderQuery) -> responses.Experiment:
    """The result folder of an experiment."""
    return experiment_response(services.folders.experiment(query.id))


@_endpoint("GET", "/api/compare", is_slow=True)
def compare(services: Services, query: queries.CompareQuery) -> responses.SideBySide:
    """Crawls side by side."""
    found = [services.folders.crawl(each) for each in dict.fromkeys(query.crawl)]
    with ExitStack() as stack:
        opened = [stack.enter_context(StoredCrawl.open(each.path)) for each in found]
        return responses.SideBySide(
            tuple(map(crawl_views.crawl_response, found, opened)),
            tuple(map(_curves, opened)),
            _overlaps([each.id for each in found], opened),
        )


def _overlaps(ids: list[str], crawls: list[StoredCrawl]) -> tuple[responses.Overlap, ...] | None:
    if sum(crawl.n_visits() for crawl in crawls) > MAX_OVERLAP_PAGES:
        return None
    pairs = combinations(zip(ids, map(page_numbers, crawls), strict=True), 2)
    overlaps = [(first, second, in_common(pages, other_pages)) for (first, pages), (second, other_pages) in pairs]
    return tuple(
        responses.Overlap(first, second, **asdict(both), jaccard=both.jaccard) for first, second, both in overlaps
    )


# Crawls


@_endpoint("GET", "/api/crawls/{id}")
def crawl(services: Services, query: queries.FolderQuery) -> responses.Crawl:
    """The state of a crawl."""
    found = services.folders.crawl(query.id)
    with StoredCrawl.open(found.path) as stored:
        return crawl_views.crawl_response(found, stored)


@_endpoint("GET", "/api/crawls/{id}/curves", is_slow=True)
def curves(services: Services, query: queries.FolderQuery) -> responses.Curves:
    """The time series of a crawl."""
    with _opened(services, query.id) as stored:
        return _curves(stored)


def _curves(stored: StoredCrawl) -> responses.Curves:
    return crawl_views.curves_response(display_curves(stored, is_alive=crawl_state(stored).is_alive))


def _scans_all(query: queries.PagesQuery) -> bool:
    return bool(query.query or query.host) or query.order in ("best", "worst")


@_endpoint("GET", "/api/crawls/{id}/pages", is_slow=_scans_all)
def pages(services: Services, query: queries.PagesQuery) -> responses.Pages:
    """Visited pages in an order, or those that match a search."""
    with _opened(services, query.id) as stored, services.indexes.of(stored) as index:
        labels = crawl_views.labels_of(stored)
        if not query.query.strip():
            return replace(crawl_views.listed_pages(stored, query, labels), indexing=index.progress(stored))
        hits = index.search(query, stored)
        seeds = crawl_views.seeds_of(stored)
        found = tuple(
            crawl_views.visited_page(row, stored, labels, seeds, index.excerpt(stored, row, query.query))
            for row in stored.visits_numbered(hits.visits)
        )
        return responses.Pages(found, hits.next, hits.n_found, index.progress(stored))


@_endpoint("GET", "/api/crawls/{id}/pages/{visit}", is_slow=True)
def page(services: Services, query: queries.VisitQuery) -> responses.Explanation:
    """Why a page was visited, by its visit number."""
    with _opened(services, query.id) as stored:
        if query.visit >= stored.n_visits():
            raise _no_visit(stored, query.visit)
        return crawl_views.explanation_response(explain_visit(stored, query.visit), stored)


def _no_visit(stored: StoredCrawl, visit: int) -> NotFound:
    return NotFound(f"There is no visit {visit:,}: the crawl has {stored.n_visits():,}, counted from 0.")


@_endpoint("GET", "/api/crawls/{id}/explain", is_slow=True)
def explain_url(services: Services, query: queries.UrlQuery) -> responses.Explanation:
    """Why a page was visited or skipped, by its URL."""
    with _opened(services, query.id) as stored:
        return crawl_views.explanation_response(explain(stored.folder, query.url.strip()), stored)


@_endpoint("GET", "/api/crawls/{id}/skipped", is_slow=True)
def skipped(services: Services, query: queries.SkippedQuery) -> responses.SkippedPages:
    """Skipped pages."""
    with _opened(services, query.id) as stored:
        return crawl_views.skipped_pages(stored, query)


@_endpoint("GET", "/api/crawls/{id}/hosts", is_slow=True)
def hosts(services: Services, query: queries.FolderQuery) -> responses.TopHosts:
    """Hosts with most pages."""
    with _opened(services, query.id) as stored:
        return services.host_counts.top(stored)


@_endpoint("GET", "/api/crawls/{id}/graph", is_slow=True)
def graph(services: Services, query: queries.FolderQuery) -> CrawlGraph:
    """Some pages and the links between them."""
    with _opened(services, query.id) as stored:
        return crawl_graph(stored)


# Control of a running crawl


@_endpoint("POST", "/api/crawls/{id}/pause")
def pause(services: Services, query: queries.FolderQuery) -> responses.Done:
    """Pause: start no new requests."""
    return responses.Done(control.pause(services.folders.crawl(query.id).path))


@_endpoint("POST", "/api/crawls/{id}/resume")
def resume(services: Services, query: queries.FolderQuery) -> responses.Done:
    """Resume after a pause."""
    return responses.Done(control.resume(services.folders.crawl(query.id).path))


@_endpoint("POST", "/api/crawls/{id}/stop")
def stop(services: Services, query: queries.FolderQuery) -> responses.Done:
    """Finish requests in flight and stop."""
    return responses.Done(control.stop(services.folders.crawl(query.id).path))


@_endpoint("POST", "/api/crawls/{id}/budget")
def budget(services: Services, query: queries.BudgetChange) -> responses.Done:
    """Change the page budget."""
    return responses.Done(control.set_page_budget(services.folders.crawl(query.id).path, query.pages))


# Labels and retraining


@_endpoint("GET", "/api/crawls/{id}/labels")
def labels(services: Services, query: queries.FolderQuery) -> responses.Labels:
    """Pages that were labelled by a person."""
    with _opened(services, query.id) as stored:
        return _labels(stored)


@_endpoint("POST", "/api/crawls/{id}/labels")
def label(services: Services, query: queries.LabelChange) -> responses.Labels:
    """Label a page."""
    with _opened(services, query.id) as stored:
        rows = stored.visits_numbered([query.visit])
        if not rows:
            raise _no_visit(stored, query.visit)
        Labels.of_crawl(stored.folder, stored.about.crawl_id).add(rows[0], query.relevant)
        return _labels(stored)


def _labels(stored: StoredCrawl) -> responses.Labels:
    by_visit = Labels.of(stored).by_visit()
    latest = list(by_visit)[::-1][:MAX_LABELLED]
    n_positive = sum(by_visit.values())
    return responses.Labels(
        pages=crawl_views.visited_pages(stored.visits_numbered(latest), stored, by_visit),
        n_positive=n_positive,
        n_negative=len(by_visit) - n_positive,
        missing=retraining.missing_for_training(stored.folder),
    )


@_endpoint("POST", "/api/crawls/{id}/retrain", is_slow=True)
def retrain(services: Services, query: queries.FolderQuery) -> responses.Retrained:
    """Retrain the relevance model on the labels."""
    folder = services.folders.crawl(query.id).path
    with services.trainings.hold(folder):
        done = retraining.retrain(folder)
    return responses.Retrained(done.quality, done.is_used_now, done.folder_name, done.command, done.says)
