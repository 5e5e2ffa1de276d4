"""The links that crawls are shown, as a graph of pages that measures can walk."""

from scenthound.drivers.simulated_web import ShownLinks
from scenthound.metrics.page_graph import PageGraph
from scenthound.store.recorded_web import RecordedWeb


def page_graph(web: RecordedWeb, shown: ShownLinks) -> PageGraph:
    """The links between recorded pages that crawls are shown, redirects followed."""
    return PageGraph.of(shown.offset, web.url_page[shown.url])
