"""The figures of a crawl: what it found, how fast, what waited, and how its link graph looks."""

from itertools import pairwise

import numpy as np

from scenthound.lab.overview.curves import WINDOW, CrawlCurves
from scenthound.lab.overview.link_graph import CrawlGraph
from scenthound.lab.overview.overview import CrawlOverview
from scenthound.model import FloatArray
from scenthound.report.crawls.words import counted
from scenthound.report.page.values import Chart, GraphNode, LinkGraph, Mark, Series

MOST_BARS = 20
#: The relevance that a bar covers is the first of these with which there are not too many bars.
WIDTHS = (0.005, 0.01, 0.02, 0.05)
#: Speed is told of this many parts of the time, so that it is no mere noise.
N_SPEEDS = 60


def harvest_chart(crawl: CrawlOverview) -> Chart:
    so_far, of_late = _means(crawl.relevance)
    pages = np.arange(1.0, crawl.n_pages + 1)
    late = (Series(f"last {WINDOW} pages", pages, of_late),) if crawl.n_pages > WINDOW else ()
    return Chart(
        "harvest",
        "Harvest",
        "pages taken",
        "mean relevance",
        (Series("all pages so far", pages, so_far), *late),
        marks=tuple(Mark(float(each.visit), _guide_told(each.n_positive, each.n_negative)) for each in crawl.guides),
        note="Harvest is the mean relevance of the pages taken, by the model that guided the crawl.",
    )


def _means(relevance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """After each page: the mean of all so far, and of the last ones."""
    total = np.concatenate([[0.0], np.cumsum(relevance)])
    pages = np.arange(1, len(total))
    before = np.maximum(pages - WINDOW, 0)
    return total[1:] / pages, (total[pages] - total[before]) / (pages - before)


def _guide_told(n_positive: int, n_negative: int) -> str:
    return f"guide trained anew, from {n_positive:,} relevant and {n_negative:,} other pages"


def time_charts(crawl: CrawlOverview) -> tuple[Chart, ...]:
    """Pages and speed over time; hosts too, where they are known."""
    curves = crawl.curves
    unit, seconds = time_unit(crawl.seconds)
    time, label = curves.seconds / seconds, f"time, {unit}"
    pages = Chart(
        "pages",
        "Pages taken",
        label,
        "pages",
        (Series("pages", time, curves.pages.astype(np.float64)),),
        note="Time between runs is left out." if len(crawl.runs) > 1 else "",
    )
    moments_s, speeds = _speeds(curves)
    speed = Chart("speed", "Speed", label, "pages a second", (Series("pages a second", moments_s / seconds, speeds),))
    return (pages, speed, _hosts(curves, time, label)) if curves.knows_hosts else (pages, speed)


def _speeds(curves: CrawlCurves) -> tuple[FloatArray, FloatArray]:
    """The ends of parts of equal length that the time is cut into, and how fast the crawl was in each."""
    if not len(curves) or curves.seconds[-1] <= 0:
        return np.zeros(0), np.zeros(0)
    seconds = np.concatenate([[0.0], curves.seconds])
    pages = (
        np.concatenate([[0.0], curves.pages]) if curves.seconds[0] > 0 else np.append(curves.pages[:1], curves.pages)
    )
    ends = np.linspace(0.0, seconds[-1], N_SPEEDS + 1)
    return ends[1:], np.diff(np.interp(ends, seconds, pages)) / ends[1]


def _hosts(curves: CrawlCurves, time: FloatArray, label: str) -> Chart:
    states = {
        "in process": curves.hosts_active,
        "resting": curves.hosts_resting,
        "ready": curves.hosts_ready,
        "retired": curves.hosts_retired,
    }
    return Chart(
        "host-states",
        "Hosts",
        label,
        "hosts",
        tuple(Series(name, time, numbers.astype(np.float64)) for name, numbers in states.items()),
        note="In process: a request is under way. Resting: asked lately, and left alone for a while. Ready: may be "
        "asked. Retired: failed too often, and is asked no more.",
    )


def waiting_charts(crawl: CrawlOverview) -> tuple[Chart, ...]:
    """What waits, and what waiting for hosts cost."""
    curves = crawl.curves
    pages = curves.pages.astype(np.float64)
    waiting = [Series("waiting", pages, curves.frontier.astype(np.float64))]
    if curves.knows_hosts:
        waiting.append(Series("not taken", pages, curves.not_taken.astype(np.float64)))
    frontier = Chart("frontier", "Pages that wait", "pages taken", "pages", tuple(waiting))
    if not np.isfinite(curves.regret).any():
        return (frontier,)
    regret = Chart(
        "regret",
        "The price of politeness",
        "pages taken",
        "mean regret",
        (Series("regret", pages, curves.regret),),
        note="Regret: how much better, in the strategy's own score, the page was that would have been taken if no host "
        "had to rest. Regrets of different strategies cannot be compared.",
    )
    return frontier, regret


def relevance_chart(relevance: FloatArray) -> Chart:
    """How many pages are how relevant."""
    most = float(relevance.max(initial=0.0))
    width = next((each for each in WIDTHS if most < each * MOST_BARS), WIDTHS[-1])
    n_bars = min(MOST_BARS, int(most / width) + 1)
    counts, edges = np.histogram(relevance, bins=n_bars, range=(0.0, n_bars * width))
    return Chart(
        "relevance",
        "Relevance of the pages",
        "relevance",
        "pages",
        (Series("pages", np.arange(n_bars, dtype=np.float64), counts.astype(np.float64)),),
        kind="bars",
        places=tuple(f"{low:.3g} to {high:.3g}" for low, high in pairwise(edges.tolist())),
        note=f"Of {counted(len(relevance), 'page', 'pages')}, by the model that guided the crawl.",
    )


def link_graph(graph: CrawlGraph) -> LinkGraph:
    nodes = tuple(
        GraphNode(node.title, node.url, node.visit, node.relevance, node.distance, node.parent) for node in graph.nodes
    )
    return LinkGraph("link-graph", "Link graph, with the seeds in the middle", nodes, graph.links, graph.note)


def time_unit(seconds: float) -> tuple[str, float]:
    """In which unit so long a time is easily read, and how many seconds that has."""
    if seconds >= 2 * 86_400:
        return "days", 86_400.0
    if seconds >= 2 * 3600:
        return "hours", 3600.0
    return ("minutes", 60.0) if seconds >= 120 else ("seconds", 1.0)
