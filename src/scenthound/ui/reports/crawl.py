"""The page of a crawl, finished or not: what it came to in words, then figures, tables and what repeats it."""

import math
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np

from scenthound.errors import printable
from scenthound.model import FloatArray
from scenthound.store.visit_columns import VisitLine
from scenthound.ui.crawl_curves import WINDOW, CrawlCurves
from scenthound.ui.crawl_overview import CrawlOverview, overview_of
from scenthound.ui.document import Cell, Chart, GraphNode, LinkGraph, Mark, Page, Prose, Section, Series, TableBlock
from scenthound.ui.reports import crawl_text as words
from scenthound.ui.reports.crawl_settings import files_section, go_on_section, settings_section
from scenthound.ui.reports.crawl_text import (
    counted,
    has_several_scales,
    n_regrets,
    noted,
    scales_note,
    seeds_passed,
    span,
)
from scenthound.web.urls import host_of

# The figures of a crawl: what it found, how fast, what waited, and how its link graph looks.

MOST_BARS = 20
#: The relevance that a bar covers is the first of these with which there are not too many bars.
WIDTHS = (0.005, 0.01, 0.02, 0.05)
#: Speed is told of this many parts of the time, so that it is no mere noise.
N_SPEEDS = 60


def harvest_chart(crawl: CrawlOverview) -> Chart:
    so_far, recent = _means(crawl.relevance)
    pages = np.arange(1.0, crawl.n_pages + 1)
    late = (Series(f"last {WINDOW} pages", pages, recent),) if crawl.n_pages > WINDOW else ()
    return Chart(
        "harvest",
        "Harvest",
        "pages taken",
        "mean relevance",
        (Series("all pages so far", pages, so_far), *late),
        marks=tuple(
            Mark(float(each.visit), _model_text(each.n_positive, each.n_negative)) for each in crawl.relevance_models
        ),
        note=noted(crawl, "Harvest is the mean relevance of the pages taken, by the model that guided the crawl.")
        + (" A mean over both is of two scales." if has_several_scales(crawl) else ""),
    )


def _means(relevance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """After each page: the mean of all so far, and of the last ones."""
    total = np.concatenate([[0.0], np.cumsum(relevance)])
    pages = np.arange(1, len(total))
    before = np.maximum(pages - WINDOW, 0)
    return total[1:] / pages, (total[pages] - total[before]) / (pages - before)


def _model_text(n_positive: int, n_negative: int) -> str:
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
        "resting": curves.hosts_waiting,
        "ready": curves.hosts_ready,
        "retired": curves.hosts_disabled,
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
        waiting.append(Series("not taken", pages, curves.skipped))
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


# The tables of a crawl: its best and latest pages, its hosts, and why pages were not taken.

#: Of a title, and of an address, which is whole in the link.
MOST_LETTERS = 90
MOST_EXAMPLE_LETTERS = 50
VISITS_TOLD = "Visits are counted from 0. Score: what the strategy asked for the page with."


def best_table(crawl: CrawlOverview) -> TableBlock:
    caption = f"The {len(crawl.best)} most relevant of {crawl.n_pages:,}"
    return _pages("best-pages", caption, crawl.best, noted(crawl, VISITS_TOLD))


def latest_table(crawl: CrawlOverview) -> TableBlock:
    caption = f"The last {len(crawl.latest)}, the latest first"
    return _pages("latest-pages", caption, crawl.latest, noted(crawl, VISITS_TOLD))


def hosts_table(crawl: CrawlOverview) -> TableBlock:
    rows = tuple(
        (
            Cell(each.host),
            Cell(f"{each.pages:,}"),
            Cell(f"{each.pages / crawl.n_pages:.1%}"),
            _figure(each.mean_relevance),
        )
        for each in crawl.hosts
    )
    caption = f"The {len(rows)} of {crawl.n_hosts:,} hosts that most pages are of"
    if len(rows) == crawl.n_hosts:
        caption = counted(crawl.n_hosts, "host", "hosts")
    return TableBlock("hosts", caption, ("host", "pages", "share", "mean relevance"), rows, note=scales_note(crawl))


def refused_table(crawl: CrawlOverview) -> TableBlock:
    rows = tuple(
        (
            Cell(f"{each.reason.text} ({each.reason.value})"),
            Cell(shortened(each.urls[0], MOST_EXAMPLE_LETTERS), link=each.urls[0]),
            Cell(f"{each.n_pages:,}"),
        )
        for each in crawl.refused
    )
    caption = f"{counted(crawl.n_refused, 'page that was', 'pages that were')} asked for and not taken"
    return TableBlock("not-taken", caption, ("reason", "one of them", "pages"), rows, n_words=2)


def _pages(name: str, caption: str, visits: Iterable[VisitLine], note: str) -> TableBlock:
    return TableBlock(name, caption, ("page", "relevance", "visit", "score"), tuple(map(_page_row, visits)), note=note)


def _page_row(visit: VisitLine) -> tuple[Cell, ...]:
    """The host stands last, where a title cannot pretend to be another one."""
    title = shortened(" ".join(visit.title.split()) or "no title")
    return (
        Cell(f"{title} ({host_of(visit.url)})", link=visit.url),
        _figure(visit.relevance),
        Cell(f"{visit.visit:,}"),
        _score(visit.score),
    )


def _score(score: float | None) -> Cell:
    """A seed comes before all other pages, so its score is endless."""
    if score is None:
        return Cell("-")
    return Cell(f"{score:.3g}") if math.isfinite(score) else Cell("seed")


def _figure(value: float) -> Cell:
    return Cell(f"{value:.3f}")


def shortened(text: str, longest: int = MOST_LETTERS) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def crawl_page(folder: str | Path) -> Page:
    """BadInput if the folder is no crawl that can be read."""
    return overview_page(overview_of(folder))


def overview_page(crawl: CrawlOverview) -> Page:
    sections = [*_found(crawl), *_went(crawl)] if crawl.n_pages else []
    return Page(
        kind="crawl",
        title=f"Crawl for {printable(crawl.plan.topic.id, 100)}",
        summary=words.summary(crawl),
        sections=(*sections, *_not_taken(crawl), go_on_section(crawl), *files_section(crawl), settings_section(crawl)),
        key_facts=key_facts(crawl),
    )


def key_facts(crawl: CrawlOverview) -> tuple[tuple[str, str], ...]:
    facts = [("pages", f"{crawl.n_pages:,}"), ("state", crawl.state.state.value)]
    if crawl.n_pages:
        facts += [
            *_harvests(crawl),
            ("hosts", f"{crawl.n_hosts:,}"),
            ("time", words.rough_span(crawl.seconds)),
            ("still waiting", f"{crawl.n_waiting:,}"),
        ]
    facts.append(("not taken", f"{crawl.n_refused:,}"))
    regret = words.regret(crawl)
    return (*facts, *([("regret", words.small(regret))] if regret is not None else []))


def _harvests(crawl: CrawlOverview) -> list[tuple[str, str]]:
    """A mean over two scales would mean nothing: then that of the last guide alone is told."""
    ours = crawl.relevance[crawl.scorers[-1].first :]
    name = "harvest of its last guide" if has_several_scales(crawl) else "harvest"
    late = [("harvest of late", f"{ours[-WINDOW:].mean():.3f}")] if len(ours) > WINDOW else []
    return [(name, f"{ours.mean():.3f}"), *late]


def _found(crawl: CrawlOverview) -> list[Section]:
    """What the crawl found."""
    return [
        Section("What it found", (harvest_chart(crawl), relevance_chart(crawl))),
        Section("Best pages", (best_table(crawl),)),
        Section("How pages were found", (link_graph(crawl),)),
        Section("Hosts", (hosts_table(crawl),)),
    ]


def _went(crawl: CrawlOverview) -> list[Section]:
    """How the crawl went."""
    return [
        Section("Speed and hosts over time", time_charts(crawl)),
        Section("Waiting", waiting_charts(crawl)),
        Section("Latest pages", (latest_table(crawl),)),
    ]


def _not_taken(crawl: CrawlOverview) -> list[Section]:
    title = "Pages not taken"
    if crawl.refused:
        return [Section(title, (refused_table(crawl),))]
    return [Section(title, (Prose(("Every page that was asked for was taken.",)),))] if crawl.n_pages else []
