"""The API: a function for each endpoint. FastAPI reads requests by the annotations, and describes them in OpenAPI.

Each request opens the crawl for itself, which takes a millisecond or two: connections are never shared, and a replaced
folder is read as it is now. The functions block, so they run in threads.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial, wraps
from itertools import combinations
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from scenthound.crawler import control
from scenthound.crawler.explain import explain, explain_visit
from scenthound.errors import CorruptData, InvalidParameter
from scenthound.experiments import retraining
from scenthound.experiments.labels import Labels
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.crawl_curves import display_curves
from scenthound.ui.crawl_overview import hosts_of
from scenthound.ui.dashboard import crawl_views, responses
from scenthound.ui.dashboard.folder_views import experiment_response
from scenthound.ui.dashboard.parameters import (
    MAX_COMPARED,
    MAX_VISITS,
    BudgetChange,
    CompareQuery,
    LabelChange,
    PagesQuery,
    Parameters,
    SkippedQuery,
    UrlQuery,
)
from scenthound.ui.dashboard.problems import JSON_TYPE, NotFound, as_json
from scenthound.ui.dashboard.services import Services
from scenthound.ui.link_graph import CrawlGraph, crawl_graph, in_common, page_numbers

N_TOP_HOSTS = 50
#: Labelled pages in a response, latest first.
MAX_LABELLED = 200
#: Crawls with more pages in total are not checked for common pages.
MAX_OVERLAP_PAGES = 3_000_000

router = APIRouter(prefix="/api")
Handler = Callable[..., Any]


def _endpoint(path: str, method: str = "GET") -> Callable[[Handler], Handler]:
    """Register a function. Its docstring is the summary; what it returns is written as JSON without being validated."""

    def register(handler: Handler) -> Handler:
        kind = "experiment" if path.startswith("/experiments/") else "crawl"

        @wraps(handler)
        def respond(**values: Any) -> Response:
            query = values.get("query")
            ids = [values["folder"]] if "folder" in values else getattr(query, "crawl", [])
            with CorruptData.wrapping(" or ".join(ids), kind) if ids else ExitStack():
                # Invalid values in a folder may be noticed as late as here.
                return Response(as_json(handler(**values)), media_type=JSON_TYPE)

        model, summary = get_type_hints(handler)["return"], inspect.getdoc(handler)
        checks = [] if "query" in inspect.signature(handler).parameters else [Depends(no_query)]
        add = partial(router.add_api_route, path, respond, dependencies=checks)
        add(methods=[method], response_model=model, summary=summary)
        if method == "GET":
            add(methods=["HEAD"], include_in_schema=False)
        return handler

    return register


# Requests


async def no_query(_: Annotated[Parameters, Query()]) -> None:
    """Reject all parameters in the URL of a request that has none."""


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


Served = Annotated[Services, Depends(_services)]
Folder = Annotated[str, Path(alias="id", min_length=1, description="Id of the folder, as listed by /api/folders.")]


@contextmanager
def _opened(services: Services, folder_id: str) -> Iterator[StoredCrawl]:
    with StoredCrawl.open(services.folders.crawl(folder_id).path) as crawl:
        yield crawl


# Folders and experiments


@_endpoint("/folders")
def folders(services: Served) -> responses.Folders:
    """All crawls and experiments."""
    return services.overview.all()


@_endpoint("/columns")
def columns() -> responses.Columns:
    """How fields are displayed."""
    return crawl_views.column_infos()


@_endpoint("/experiments/{id}")
def experiment(services: Served, folder: Folder) -> responses.Experiment:
    """The result folder of an experiment."""
    return experiment_response(services.folders.experiment(folder))


@_endpoint("/compare")
def compare(services: Served, query: Annotated[CompareQuery, Query()]) -> responses.SideBySide:
    """Crawls side by side."""
    if not 2 <= len(query.crawl) <= MAX_COMPARED:
        raise InvalidParameter(f"Choose 2 to {MAX_COMPARED} crawls to compare.")
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
    return tuple(
        responses.Overlap(first, second, **asdict(in_common(pages, other_pages)))
        for (first, pages), (second, other_pages) in pairs
    )


# Crawls


@_endpoint("/crawls/{id}")
def crawl(services: Served, folder: Folder) -> responses.Crawl:
    """The state of a crawl."""
    found = services.folders.crawl(folder)
    with StoredCrawl.open(found.path) as stored:
        return crawl_views.crawl_response(found, stored)


@_endpoint("/crawls/{id}/curves")
def curves(services: Served, folder: Folder) -> responses.Curves:
    """The time series of a crawl."""
    with _opened(services, folder) as stored:
        return _curves(stored)


def _curves(stored: StoredCrawl) -> responses.Curves:
    return crawl_views.curves_response(display_curves(stored))


@_endpoint("/crawls/{id}/pages")
def pages(services: Served, folder: Folder, query: Annotated[PagesQuery, Query()]) -> responses.Pages:
    """Visited pages in an order, or those that match a search."""
    with _opened(services, folder) as stored:
        index = services.indexes.of(stored)
        if query.query.strip():
            visits, following, n_found = index.search(query, stored)
            rows = stored.visits_numbered(visits)
        else:
            rows, following, n_found = crawl_views.listed_visits(stored, query)
        found = crawl_views.visited_pages(rows, stored, crawl_views.labels_of(stored), query.query)
        return responses.Pages(found, following, n_found, index.progress(stored))


@_endpoint("/crawls/{id}/pages/{visit}")
def page(services: Served, folder: Folder, visit: Annotated[int, Path(ge=0, le=MAX_VISITS)]) -> responses.Explanation:
    """Why a page was visited, by its visit number."""
    with _opened(services, folder) as stored:
        if visit >= stored.n_visits():
            raise _no_visit(stored, visit)
        return crawl_views.explanation_response(explain_visit(stored, visit), stored)


def _no_visit(stored: StoredCrawl, visit: int) -> NotFound:
    return NotFound(f"There is no visit {visit:,}: the crawl has {stored.n_visits():,}, counted from 0.")


@_endpoint("/crawls/{id}/explain")
def explain_url(services: Served, folder: Folder, query: Annotated[UrlQuery, Query()]) -> responses.Explanation:
    """Why a page was visited or skipped, by its URL."""
    with _opened(services, folder) as stored:
        return crawl_views.explanation_response(explain(stored.folder, query.url.strip()), stored)


@_endpoint("/crawls/{id}/skipped")
def skipped(services: Served, folder: Folder, query: Annotated[SkippedQuery, Query()]) -> responses.SkippedPages:
    """Skipped pages."""
    with _opened(services, folder) as stored:
        return crawl_views.skipped_pages(stored, query)


@_endpoint("/crawls/{id}/hosts")
def hosts(services: Served, folder: Folder) -> responses.TopHosts:
    """Hosts with most pages."""
    with _opened(services, folder) as stored:
        found = hosts_of(stored)
        return responses.TopHosts(tuple(found[:N_TOP_HOSTS]), len(found))


@_endpoint("/crawls/{id}/graph")
def graph(services: Served, folder: Folder) -> CrawlGraph:
    """Some pages and the links between them."""
    with _opened(services, folder) as stored:
        return crawl_graph(stored)


# Control of a running crawl


@_endpoint("/crawls/{id}/pause", "POST")
def pause(services: Served, folder: Folder) -> responses.Done:
    """Pause: start no new requests."""
    return responses.Done(control.pause(services.folders.crawl(folder).path))


@_endpoint("/crawls/{id}/resume", "POST")
def resume(services: Served, folder: Folder) -> responses.Done:
    """Resume after a pause."""
    return responses.Done(control.resume(services.folders.crawl(folder).path))


@_endpoint("/crawls/{id}/stop", "POST")
def stop(services: Served, folder: Folder) -> responses.Done:
    """Finish requests in flight and stop."""
    return responses.Done(control.stop(services.folders.crawl(folder).path))


@_endpoint("/crawls/{id}/budget", "POST")
def budget(services: Served, folder: Folder, change: BudgetChange) -> responses.Done:
    """Change the page budget."""
    return responses.Done(control.set_page_budget(services.folders.crawl(folder).path, change.pages))


# Labels and retraining


@_endpoint("/crawls/{id}/labels")
def labels(services: Served, folder: Folder) -> responses.Labels:
    """Pages that were labelled by a person."""
    with _opened(services, folder) as stored:
        return _labels(stored)


@_endpoint("/crawls/{id}/labels", "POST")
def label(services: Served, folder: Folder, change: LabelChange) -> responses.Labels:
    """Label a page."""
    with _opened(services, folder) as stored:
        rows = stored.visits_numbered([change.visit])
        if not rows:
            raise _no_visit(stored, change.visit)
        Labels.of_crawl(stored.folder, stored.about.crawl_id).add(rows[0], change.relevant)
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


@_endpoint("/crawls/{id}/retrain", "POST")
def retrain(services: Served, folder: Folder) -> responses.Retrained:
    """Retrain the relevance model on the labels."""
    path = services.folders.crawl(folder).path
    with services.training(path):
        done = retraining.retrain(path)
    return responses.Retrained(done.quality, done.is_used_now, done.folder_name, done.command, done.says)
