"""The figures of a crawl: what it found, how fast, what waited, and how its link graph looks."""

from itertools import pairwise

import numpy as np

from scenthound.lab.overview.curves import WINDOW, CrawlCurves
from scenthound.lab.overview.overview import CrawlOverview
from scenthound.model import FloatArray
from scenthound.report.crawls.guide_words import has_several_scales, noted
from scenthound.report.crawls.words import counted, n_regrets, seeds_passed, span
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
        note=noted(crawl, "Harvest is the mean relevance of the pages taken, by the model that guided the crawl.")
        + (" A mean over both is of two scales." if has_several_scales(crawl) else ""),
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
    marks = tuple(Mark(pause.after_s / seconds, f"paused for {span(pause.lasted_s)}") for pause in crawl.pauses)
    note = _left_out(crawl)
    taken = (Series("pages", time, curves.pages.astype(np.float64)),)
    pages = Chart("pages", "Pages taken", label, "pages", taken, marks=marks, note=note)
    moments_s, speeds = _speeds(curves)
    how_fast = (Series("pages a second", moments_s / seconds, speeds),)
    speed = Chart("speed", "Speed", label, "pages a second", how_fast, marks=marks, note=note)
    return (pages, speed, _hosts(curves, time, label)) if curves.knows_hosts else (pages, speed)


def _left_out(crawl: CrawlOverview) -> str:
    """Which time is not on the axis."""
    reasons = [*(["Time between runs"] if len(crawl.runs) > 1 else []), *(["Pauses"] if crawl.pauses else [])]
    if not reasons:
        return ""
    are = "is" if reasons == ["Time between runs"] else "are"
    return f"{' and '.join(reasons).capitalize()} {are} left out."


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
        tuple(Series(name, time, numbers) for name, numbers in states.items()),
        note="In process: a request is under way. Resting: asked lately, and left alone for a while. Ready: may be "
        "asked. Retired: failed too often, and is asked no more.",
    )


def waiting_charts(crawl: CrawlOverview) -> tuple[Chart, ...]:
    """What waits, and what waiting for hosts cost."""
    curves = crawl.curves
    pages = curves.pages.astype(np.float64)
    waiting = [Series("waiting", pages, curves.frontier.astype(np.float64))]
    if curves.knows_hosts:
        waiting.append(Series("not taken", pages, curves.not_taken))
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
        "had to rest; the mean so far. Regrets of different strategies cannot be compared. "
        f"{_regrets_counted(crawl)}".rstrip(),
    )
    return frontier, regret


def _regrets_counted(crawl: CrawlOverview) -> str:
    n_counted = n_regrets(crawl)
    told = f"The mean is of {counted(n_counted, 'page', 'pages')}." if n_counted else ""
    return f"{told} {seeds_passed(crawl)}".strip()


def relevance_chart(crawl: CrawlOverview) -> Chart:
    note = noted(crawl, f"Of {counted(crawl.n_pages, 'page', 'pages')}, by the model that guided the crawl.")
    return histogram(crawl.relevance, note)


def histogram(relevance: FloatArray, note: str) -> Chart:
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
        note=note,
    )


def link_graph(crawl: CrawlOverview) -> LinkGraph:
    graph = crawl.graph
    nodes = tuple(
        GraphNode(node.title, node.url, node.visit, node.relevance, node.distance, node.parent) for node in graph.nodes
    )
    return LinkGraph(
        "link-graph", "Link graph, with the seeds in the middle", nodes, graph.links, noted(crawl, graph.note)
    )


def time_unit(seconds: float) -> tuple[str, float]:
    """In which unit so long a time is easily read, and how many seconds that has."""
    if seconds >= 2 * 86_400:
        return "days", 86_400.0
    if seconds >= 2 * 3600:
        return "hours", 3600.0
    return ("minutes", 60.0) if seconds >= 120 else ("seconds", 1.0)
