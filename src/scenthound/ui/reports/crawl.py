"""The report of a crawl, finished or not: summary, charts, tables, settings, and commands to resume or repeat it."""

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.command_line import in_lines
from scenthound.crawler.command import ReproduceCommand, reproduce_command
from scenthound.crawler.options import CrawlOptions
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.errors import printable
from scenthound.experiments.results import versions
from scenthound.metrics.recall_estimate import RecallEstimate
from scenthound.model import FloatArray
from scenthound.options import Option, declared, options_of
from scenthound.store.crawl_records import CheckOutcome, RefreshRecord, VisitRecord
from scenthound.ui.crawl_curves import WINDOW, harvests
from scenthound.ui.crawl_overview import MAX_LISTED, CrawlOverview
from scenthound.ui.document import (
    Block,
    Cell,
    Chart,
    CodeBlock,
    Document,
    Facts,
    LinkGraph,
    Marker,
    Section,
    Series,
    Table,
)
from scenthound.ui.formats import NO_VALUE, counted, format_versions, renders_text, sitemaps_text
from scenthound.ui.reports.crawl_summary import (
    duration,
    format_time,
    has_several_scales,
    resume_command,
    scales_note,
    seeds_note,
    summary,
    with_scales_note,
)
from scenthound.web.urls import host_of

MAX_BARS = 20
#: A curve of fewer points says nothing.
MIN_POINTS = 3
#: The width of a bar of the histogram is the first of these with which there are not too many bars.
BAR_WIDTHS = (0.005, 0.01, 0.02, 0.05)
#: Titles and URLs are cut; links keep the complete URL.
MAX_TITLE_CHARACTERS = 90
MAX_URL_CHARACTERS = 50
MAX_SEEDS = 50
MAX_DESCRIPTION_CHARACTERS = 2_000
PAGES_NOTE = "Visits are counted from 0. Score: the score with which the strategy requested the page."


def crawl_report(folder: str | Path) -> Document:
    """InvalidInput if the folder is not a readable crawl."""
    crawl = CrawlOverview(folder)
    return Document(
        kind="crawl",
        title=f"Crawl for {printable(crawl.plan.topic.id, 100)}",
        summary=summary(crawl),
        sections=tuple(_sections(crawl)),
        key_facts=tuple(_key_facts(crawl)),
    )


def _sections(crawl: CrawlOverview) -> Iterator[Section]:
    status, graph = crawl.state.status, crawl.graph
    skipped = _texts("no requested page was skipped" if crawl.n_pages else "")
    if crawl.n_pages:
        pages = with_scales_note(crawl, f"{counted(crawl.n_pages, 'page')}, by the crawl's own relevance model.")
        charts = (harvest_chart(crawl), *recall_charts(crawl), histogram(crawl.relevance, pages))
        yield Section("Harvest and relevance", charts)
        yield Section("Best pages", (_best_pages(crawl),))
        caption, note = "Link graph, with the seeds in the centre", with_scales_note(crawl, graph.note)
        yield Section("Link graph", (LinkGraph("link-graph", caption, graph.nodes, graph.links, note),))
        yield Section("Hosts", (hosts_table(crawl),))
        yield Section("Speed over time", time_charts(crawl))
        yield Section("Frontier", frontier_charts(crawl))
    if crawl.skipped:
        skipped = (skipped_table(crawl),)
    sitemaps = "" if status is None else sitemaps_text(status.skipped_sitemaps, status.n_sitemap_links_elsewhere)
    yield Section("Skipped pages", (*skipped, *_texts(sitemaps and f"sitemaps: {sitemaps}")))
    yield Section("Rendered pages", _texts("" if status is None else renders_text(status)))
    yield Section("Refreshes", (refreshes_table(crawl),) if crawl.refreshes else ())
    folder = crawl.folder.absolute()
    repeat = reproduce_command(crawl.plan, crawl.goals, str(folder.with_name(f"{folder.name}-again")))
    yield Section("Resume or repeat", tuple(_commands(crawl, repeat)))
    files = tuple(CodeBlock(name, text) for name, text in repeat.files)
    yield Section("Files that the command reads", files, collapsed=True)
    yield Section("Settings and versions", tuple(_settings(crawl)), collapsed=True)


def _texts(*texts: str) -> tuple[Block, ...]:
    """A paragraph of each text that is not empty."""
    return tuple(f"{text[:1].upper()}{text[1:]}." for text in texts if text)


def _key_facts(crawl: CrawlOverview) -> Iterator[tuple[str, str]]:
    estimate, status = crawl.recall.estimate, crawl.state.status
    yield "pages", f"{crawl.n_pages:,}"
    yield "state", crawl.state.state.value
    if crawl.n_pages:
        if crawl.n_on_topic is not None:
            yield "on topic", f"{crawl.n_on_topic:,}"
        if isinstance(estimate, RecallEstimate):
            yield "estimated recall", f"{estimate.recall:.0%}"
        # Of the last relevance model only, if there are several: a mean over two scales is meaningless.
        scores = crawl.relevance[crawl.scorers[-1].first :]
        yield "harvest, latest model" if has_several_scales(crawl) else "harvest", f"{scores.mean():.3f}"
        if len(scores) > WINDOW:
            yield "recent harvest", f"{scores[-WINDOW:].mean():.3f}"
        yield "hosts", f"{len(crawl.hosts):,}"
        yield "time", duration(crawl.seconds)
        yield "in the frontier", f"{status.frontier if status else 0:,}"
    yield "skipped", f"{crawl.n_skipped:,}"
    if status is not None and status.n_out_of_scope:
        yield "links out of scope", f"{status.n_out_of_scope:,}"
    if status is not None and status.n_rendered:
        yield "rendered", f"{status.n_rendered:,}"
    if len(crawl.given_up):
        yield "score given up", f"{crawl.given_up.mean():.1%}"


# Charts


def harvest_chart(crawl: CrawlOverview) -> Chart:
    so_far, recent = harvests(crawl.relevance)
    pages = np.arange(1.0, crawl.n_pages + 1)
    note = with_scales_note(crawl, "Harvest is the mean relevance of the visited pages, by the crawl's own model.")
    return Chart(
        "harvest",
        "Harvest",
        "pages visited",
        "mean relevance",
        (
            Series("all pages so far", pages, so_far),
            *((Series(f"last {WINDOW} pages", pages, recent),) if crawl.n_pages > WINDOW else ()),
        ),
        markers=tuple(
            Marker(
                float(each.visit),
                f"model retrained on {each.n_positive:,} relevant and {each.n_negative:,} other pages",
            )
            for each in crawl.relevance_models
        ),
        note=note + (" A mean over both mixes two scales." if has_several_scales(crawl) else ""),
    )


def recall_charts(crawl: CrawlOverview) -> tuple[Chart, ...]:
    """The estimated recall during the crawl, if there are several estimates."""
    if len(crawl.recall.curve) < MIN_POINTS:
        return ()
    numbers = [(n_visits, each.recall, each.low, each.high) for n_visits, each in crawl.recall.curve]
    visits, *curves = np.array(numbers, np.float64).T
    names = ("estimate", "lower bound", "upper bound")
    note = (
        "Pages on topic that were found, divided by those that can be reached, as estimated after each visit; the "
        "bounds are those of an interval of 90 %."
    )
    series = tuple(Series(name, visits, curve) for name, curve in zip(names, curves, strict=True))
    return (Chart("recall", "Estimated recall", "pages visited", "share of the pages on topic", series, note=note),)


def time_charts(crawl: CrawlOverview) -> tuple[Chart, ...]:
    """Pages and speed over time."""
    curves = crawl.curves
    unit, unit_s = time_unit(crawl.seconds)
    markers = tuple(Marker(pause.after_s / unit_s, f"paused for {duration(pause.lasted_s)}") for pause in crawl.pauses)
    return tuple(
        Chart(
            name,
            title,
            f"time, {unit}",
            label,
            (Series(label, curves.seconds / unit_s, values),),
            markers=markers,
            note=_excluded_time(crawl),
        )
        for name, title, label, values in (
            ("pages", "Pages visited", "pages", curves.pages.astype(np.float64)),
            ("speed", "Speed", "pages/s", curves.pages_per_s),
        )
    )


def _excluded_time(crawl: CrawlOverview) -> str:
    reasons = [*(["time between runs"] if len(crawl.runs) > 1 else []), *(["pauses"] if crawl.pauses else [])]
    return f"Without {' and '.join(reasons)}." if reasons else ""


def frontier_charts(crawl: CrawlOverview) -> tuple[Chart, ...]:
    """The size of the frontier, and what politeness cost."""
    curves = crawl.curves
    pages = curves.pages.astype(np.float64)
    series = [Series("in the frontier", pages, curves.frontier.astype(np.float64))]
    if np.isfinite(curves.n_skipped).any():
        series.append(Series("skipped", pages, curves.n_skipped))
    frontier = Chart("frontier", "Frontier", "pages visited", "pages", tuple(series))
    if not np.isfinite(curves.regret).any():
        return (frontier,)
    over = f"The mean is over {counted(len(crawl.given_up), 'page')}." if len(crawl.given_up) else ""
    note = (
        "The share of the best queued score that was given up for the page requested, because the host of the best "
        "page had to wait; the mean so far."
    )
    regret = Chart(
        "regret",
        "Cost of politeness",
        "pages visited",
        "percent of the best score",
        (Series("score given up", pages, 100 * curves.regret),),
        note=" ".join(filter(None, (note, over, seeds_note(crawl)))),
    )
    return frontier, regret


def histogram(relevance: FloatArray, note: str) -> Chart:
    """The number of pages by relevance."""
    highest = float(relevance.max(initial=0.0))
    width = next((each for each in BAR_WIDTHS if highest < each * MAX_BARS), BAR_WIDTHS[-1])
    n_bars = min(MAX_BARS, int(highest / width) + 1)
    counts, edges = np.histogram(relevance, bins=n_bars, range=(0.0, n_bars * width))
    return Chart(
        "relevance",
        "Relevance of the pages",
        "relevance",
        "pages",
        (Series("pages", np.arange(n_bars, dtype=np.float64), counts.astype(np.float64)),),
        kind="bars",
        categories=tuple(f"{low:.3g} to {high:.3g}" for low, high in pairwise(edges.tolist())),
        note=note,
    )


def time_unit(seconds: float) -> tuple[str, float]:
    """A suitable unit for a duration, and its seconds."""
    if seconds >= 2 * 86_400:
        return "days", 86_400.0
    if seconds >= 2 * 3600:
        return "hours", 3600.0
    return ("minutes", 60.0) if seconds >= 120 else ("seconds", 1.0)


# Tables


def _best_pages(crawl: CrawlOverview) -> Table:
    columns: dict[str, Callable[[VisitRecord], Cell | str]] = {
        "page": _page_link,
        "relevance": lambda visit: f"{visit.relevance:.3f}",
        "visit": lambda visit: f"{visit.visit:,}",
        "score": lambda visit: _score(visit.score),
    }
    caption = f"The {len(crawl.best)} most relevant of {crawl.n_pages:,}"
    return Table.build("best-pages", caption, columns, crawl.best, note=with_scales_note(crawl, PAGES_NOTE))


def _page_link(visit: VisitRecord) -> Cell:
    """The host is last, so that a title cannot pose as another host."""
    title = shortened(" ".join(visit.title.split()) or "no title")
    return Cell(f"{title} ({host_of(visit.url)})", link=visit.url)


def _score(score: float | None) -> str:
    """Seeds precede all other pages: their score is infinite."""
    if score is None:
        return NO_VALUE
    return f"{score:.3g}" if math.isfinite(score) else "seed"


def hosts_table(crawl: CrawlOverview) -> Table:
    hosts, n_hosts = crawl.hosts[:MAX_LISTED], len(crawl.hosts)
    return Table.build(
        "hosts",
        counted(n_hosts, "host") if len(hosts) == n_hosts else f"The {len(hosts)} of {n_hosts:,} hosts with most pages",
        {
            "host": lambda host: host.host,
            "pages": lambda host: f"{host.pages:,}",
            "share": lambda host: f"{host.pages / crawl.n_pages:.1%}",
            "mean relevance": lambda host: f"{host.mean_relevance:.3f}",
        },
        hosts,
        note=scales_note(crawl),
    )


def skipped_table(crawl: CrawlOverview) -> Table:
    return Table.build(
        "skipped",
        f"{counted(crawl.n_skipped, 'requested page was', 'requested pages were')} skipped",
        {
            "reason": lambda each: f"{each.reason.text} ({each.reason.value})",
            "example": lambda each: Cell(shortened(each.urls[0], MAX_URL_CHARACTERS), link=each.urls[0]),
            "pages": lambda each: f"{each.n_pages:,}",
        },
        crawl.skipped,
        n_text_columns=2,
    )


def shortened(text: str, longest: int = MAX_TITLE_CHARACTERS) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


# Commands and settings


def _commands(crawl: CrawlOverview, repeat: ReproduceCommand) -> Iterator[Block]:
    if crawl.state.can_resume:
        yield CodeBlock("Resume the crawl", in_lines(resume_command(crawl.folder, crawl.state)))
    if repeat.line:
        yield CodeBlock("Start such a crawl again", in_lines(repeat.line))
    yield (
        "The web changes, and which hosts are ready depends on timing, so a repeated crawl visits other pages. With "
        f"--web {printable(crawl.folder.absolute())} --offline it visits pages of this crawl only."
    )
    if repeat.unsaid:
        yield f"The command lacks credentials, and settings without an option: {', '.join(repeat.unsaid)}."
    if crawl.relevance_models:
        yield "The relevance model was retrained during the crawl, on pages that a person labelled."


def _settings(crawl: CrawlOverview) -> Iterator[Block]:
    yield Facts(tuple(settings_facts(crawl.plan, crawl.goals, crawl.relevance_model)))
    if crawl.runs:
        yield _runs_table(crawl)
    yield Facts(
        (
            ("folder", printable(crawl.folder.absolute())),
            ("crawl id", str(crawl.about.crawl_id)),
            ("user agent", printable(crawl.about.archive.user_agent)),
            ("started", format_time(crawl.runs[0].began_s if crawl.runs else None)),
            ("last page", format_time(crawl.last_s)),
            ("report made by", format_versions(versions())),
        )
    )


def _runs_table(crawl: CrawlOverview) -> Table:
    return Table.build(
        "runs",
        "Runs of this crawl",
        {
            "started": lambda run: format_time(run.began_s),
            "duration": lambda run: NO_VALUE if run.ended_s is None else duration(run.ended_s - run.began_s),
            "ended": lambda run: printable(run.ended or "not recorded"),
            "Scenthound": lambda run: printable(run.version),
            "pages before": lambda run: f"{run.n_pages_before:,}",
        },
        crawl.runs,
        n_text_columns=4,
    )


def refreshes_table(crawl: CrawlOverview) -> Table:
    columns: dict[str, Callable[[tuple[RefreshRecord, Mapping[CheckOutcome, int]]], str]] = {
        "started": lambda row: format_time(row[0].began_s),
        "ended": lambda row: "complete" if row[0].is_complete else printable(row[0].ended or "not recorded"),
    }
    for outcome in CheckOutcome:
        columns[outcome.value] = lambda row, outcome=outcome: f"{row[1][outcome]:,}"  # type: ignore[misc]
    caption = "Pages that were checked again, by what was found"
    return Table.build("refreshes", caption, columns, crawl.refreshes, n_text_columns=2)


def settings_facts(plan: CrawlSettings, goals: StopConditions, relevance_model: str) -> list[tuple[str, str]]:
    """The topic, and all options that are not empty. `relevance_model` is the one that the crawl started with."""
    topic, seeds = plan.topic, plan.seeds
    values = {each.name: value for each, value in options_of(CrawlOptions, plan.masked())} | {
        "relevance": relevance_model,
        "pages": goals.page_budget or plan.page_budget,
        "min_harvest": goals.harvest_floor,
        "until_recall": goals.until_recall,
    }
    more = f" and {len(seeds) - MAX_SEEDS:,} more" if len(seeds) > MAX_SEEDS else ""
    facts = [
        ("topic", printable(topic.id)),
        ("keywords", ", ".join(map(printable, topic.keywords))),
        ("description", printable(topic.description, MAX_DESCRIPTION_CHARACTERS)),
        ("start pages", ", ".join(map(printable, seeds[:MAX_SEEDS])) + more),
        *((name, _option_text(values.get(name), each.option)) for name, each in declared(CrawlOptions).items()),
    ]
    return [(name.replace("_", " "), value) for name, value in facts if value]


def _option_text(value: Any, option: Option) -> str:
    """Empty for a flag that is not set, and for an option without a value."""
    if isinstance(value, list | tuple | Mapping):
        return ", ".join(map(printable, value))
    if isinstance(value, bool) or value is None:
        return "yes" if value else ""
    return f"{value:g}{' s' if option.metavar == 'SECONDS' else ''}" if isinstance(value, float) else printable(value)
