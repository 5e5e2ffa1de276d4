"""The report of a crawl, finished or not: summary, charts, tables, settings, and commands to resume or repeat it."""

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np

from scenthound.command_line import in_lines
from scenthound.crawler.command import ReproduceCommand, reproduce_command
from scenthound.crawler.scope import Scope
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.errors import printable
from scenthound.experiments.results import versions
from scenthound.metrics.recall_estimate import RecallEstimate
from scenthound.model import FloatArray
from scenthound.store.crawl_records import CheckOutcome, CrawlStatus, HostState, RefreshRecord, VisitRecord
from scenthound.ui.crawl_curves import WINDOW, CrawlCurves
from scenthound.ui.crawl_overview import CheckedPages, CrawlOverview, overview_of
from scenthound.ui.document import (
    Block,
    Cell,
    Chart,
    CodeBlock,
    Document,
    Facts,
    LinkGraph,
    Marker,
    Paragraphs,
    Section,
    Series,
    Table,
)
from scenthound.ui.formats import NO_VALUE, counted, format_versions, renders_text, sitemaps_text
from scenthound.ui.reports.crawl_summary import (
    duration,
    format_time,
    has_several_scales,
    mean_given_up,
    n_given_up,
    resume_command,
    scales_note,
    seeds_note,
    short_duration,
    summary,
    with_scales_note,
)
from scenthound.web.urls import host_of

MAX_BARS = 20
#: A curve of fewer points says nothing.
MIN_POINTS = 3
#: The width of a bar of the histogram is the first of these with which there are not too many bars.
BAR_WIDTHS = (0.005, 0.01, 0.02, 0.05)
#: Speed is averaged over this many parts of the time, to smooth it.
N_SPEEDS = 60
#: Titles and URLs are cut; links keep the complete URL.
MAX_TITLE_CHARACTERS = 90
MAX_URL_CHARACTERS = 50
MAX_SEEDS = 50
MAX_DESCRIPTION_CHARACTERS = 2_000
PAGES_NOTE = "Visits are counted from 0. Score: the score with which the strategy requested the page."


def crawl_report(folder: str | Path) -> Document:
    """InvalidInput if the folder is not a readable crawl."""
    crawl = overview_of(folder)
    return Document(
        kind="crawl",
        title=f"Crawl for {printable(crawl.plan.topic.id, 100)}",
        summary=summary(crawl),
        sections=(*(_page_sections(crawl) if crawl.n_pages else ()), *_other_sections(crawl)),
        key_facts=key_facts(crawl),
    )


def _page_sections(crawl: CrawlOverview) -> tuple[Section, ...]:
    best = f"The {len(crawl.best)} most relevant of {crawl.n_pages:,}"
    latest = f"The last {len(crawl.latest)}, the latest first"
    relevance = f"{counted(crawl.n_pages, 'page')}, by the crawl's own relevance model."
    graph, caption = crawl.graph, "Link graph, with the seeds in the centre"
    graph_note = with_scales_note(crawl, graph.note)
    return (
        Section(
            "Harvest and relevance",
            (
                harvest_chart(crawl),
                *recall_charts(crawl),
                histogram(crawl.relevance, with_scales_note(crawl, relevance)),
            ),
        ),
        Section("Best pages", (_pages_table(crawl, "best-pages", best, crawl.best),)),
        Section("Link graph", (LinkGraph("link-graph", caption, graph.nodes, graph.links, graph_note),)),
        Section("Hosts", (hosts_table(crawl),)),
        Section("Speed and hosts over time", time_charts(crawl)),
        Section("Frontier", frontier_charts(crawl)),
        Section("Latest pages", (_pages_table(crawl, "latest-pages", latest, crawl.latest),)),
    )


def _other_sections(crawl: CrawlOverview) -> tuple[Section, ...]:
    skipped: tuple[Block, ...] = (Paragraphs(("No requested page was skipped.",)),) if crawl.n_pages else ()
    if crawl.skipped:
        skipped = (skipped_table(crawl),)
    if sitemaps := _sitemaps(crawl.state.status):
        skipped = (*skipped, Paragraphs((sitemaps,)))
    files = tuple(CodeBlock(name, text) for name, text in _repeat(crawl).files)
    return (
        Section("Skipped pages", skipped),
        Section("Rendered pages", _rendered(crawl.state.status)),
        Section("Refreshes", (refreshes_table(crawl),) if crawl.refreshes else ()),
        Section("Resume or repeat", tuple(_commands(crawl))),
        Section("Files that the command reads", files, collapsed=True),
        Section("Settings and versions", tuple(_settings(crawl)), collapsed=True),
    )


def _sitemaps(status: CrawlStatus | None) -> str:
    text = "" if status is None else sitemaps_text(status.skipped_sitemaps, status.n_sitemap_links_elsewhere)
    return text and f"Sitemaps: {text}."


def _rendered(status: CrawlStatus | None) -> tuple[Block, ...]:
    text = "" if status is None else renders_text(status)
    return (Paragraphs((f"{text[:1].upper()}{text[1:]}.",)),) if text else ()


def key_facts(crawl: CrawlOverview) -> tuple[tuple[str, str], ...]:
    facts = [("pages", f"{crawl.n_pages:,}"), ("state", crawl.state.state.value)]
    if crawl.n_pages:
        facts += [
            *([] if crawl.n_on_topic is None else [("on topic", f"{crawl.n_on_topic:,}")]),
            *_recall_fact(crawl),
            *_harvests(crawl),
            ("hosts", f"{crawl.n_hosts:,}"),
            ("time", short_duration(crawl.seconds)),
            ("in the frontier", f"{crawl.n_queued:,}"),
        ]
    facts.append(("skipped", f"{crawl.n_skipped:,}"))
    if crawl.state.status is not None and crawl.state.status.n_out_of_scope:
        facts.append(("links out of scope", f"{crawl.state.status.n_out_of_scope:,}"))
    if crawl.state.status is not None and crawl.state.status.n_rendered:
        facts.append(("rendered", f"{crawl.state.status.n_rendered:,}"))
    given_up = mean_given_up(crawl)
    return (*facts, *([("score given up", f"{given_up:.1%}")] if given_up is not None else []))


def _recall_fact(crawl: CrawlOverview) -> list[tuple[str, str]]:
    estimate = crawl.recall.estimate
    return [("estimated recall", f"{estimate.recall:.0%}")] if isinstance(estimate, RecallEstimate) else []


def _harvests(crawl: CrawlOverview) -> list[tuple[str, str]]:
    """Of the last relevance model only, if there are several: a mean over two scales is meaningless."""
    scores = crawl.relevance[crawl.scorers[-1].first :]
    name = "harvest, latest model" if has_several_scales(crawl) else "harvest"
    recent = [("recent harvest", f"{scores[-WINDOW:].mean():.3f}")] if len(scores) > WINDOW else []
    return [(name, f"{scores.mean():.3f}"), *recent]


# Charts


def harvest_chart(crawl: CrawlOverview) -> Chart:
    so_far, recent = _means(crawl.relevance)
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
    curve = crawl.recall.curve
    if len(curve) < MIN_POINTS:
        return ()
    visits = np.array([float(n_visits) for n_visits, _ in curve])
    values = {
        "estimate": [each.recall for _, each in curve],
        "lower bound": [each.low for _, each in curve],
        "upper bound": [each.high for _, each in curve],
    }
    return (
        Chart(
            "recall",
            "Estimated recall",
            "pages visited",
            "share of the pages on topic",
            tuple(Series(name, visits, np.array(numbers)) for name, numbers in values.items()),
            note="Pages on topic that were found, divided by those that can be reached, as estimated after each visit; "
            "the bounds are those of an interval of 90 %.",
        ),
    )


def _means(relevance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """After each page: the mean of all pages so far, and of the last ones."""
    total = np.concatenate([[0.0], np.cumsum(relevance)])
    pages = np.arange(1, len(total))
    before = np.maximum(pages - WINDOW, 0)
    return total[1:] / pages, (total[pages] - total[before]) / (pages - before)


def time_charts(crawl: CrawlOverview) -> tuple[Chart, ...]:
    """Pages and speed over time; hosts too, if they are known."""
    curves = crawl.curves
    unit, unit_s = time_unit(crawl.seconds)
    time, label = curves.seconds / unit_s, f"time, {unit}"
    markers = tuple(Marker(pause.after_s / unit_s, f"paused for {duration(pause.lasted_s)}") for pause in crawl.pauses)
    note = _excluded_time(crawl)
    ends_s, speeds = _speeds(curves)
    pages_series = (Series("pages", time, curves.pages.astype(np.float64)),)
    speed_series = (Series("pages/s", ends_s / unit_s, speeds),)
    pages = Chart("pages", "Pages visited", label, "pages", pages_series, markers=markers, note=note)
    speed = Chart("speed", "Speed", label, "pages/s", speed_series, markers=markers, note=note)
    return (pages, speed, _hosts_chart(curves, time, label)) if curves.knows_hosts else (pages, speed)


def _excluded_time(crawl: CrawlOverview) -> str:
    reasons = [*(["time between runs"] if len(crawl.runs) > 1 else []), *(["pauses"] if crawl.pauses else [])]
    return f"Without {' and '.join(reasons)}." if reasons else ""


def _speeds(curves: CrawlCurves) -> tuple[FloatArray, FloatArray]:
    """The ends of parts of equal length, and the speed in each."""
    if not len(curves) or curves.seconds[-1] <= 0:
        return np.zeros(0), np.zeros(0)
    seconds = np.concatenate([[0.0], curves.seconds])
    first = [0.0] if curves.seconds[0] > 0 else curves.pages[:1]
    pages = np.concatenate([first, curves.pages])
    ends = np.linspace(0.0, seconds[-1], N_SPEEDS + 1)
    return ends[1:], np.diff(np.interp(ends, seconds, pages)) / ends[1]


def _hosts_chart(curves: CrawlCurves, time: FloatArray, label: str) -> Chart:
    states = {state.value: getattr(curves, f"hosts_{state}") for state in HostState}
    return Chart(
        "host-states",
        "Hosts",
        label,
        "hosts",
        tuple(Series(name, time, numbers) for name, numbers in states.items()),
        note="Active: a request is in flight. Waiting: for the crawl delay to pass. Ready: may be requested now. "
        "Disabled: failed too often.",
    )


def frontier_charts(crawl: CrawlOverview) -> tuple[Chart, ...]:
    """The size of the frontier, and what politeness cost."""
    curves = crawl.curves
    pages = curves.pages.astype(np.float64)
    series = [Series("in the frontier", pages, curves.frontier.astype(np.float64))]
    if curves.knows_hosts:
        series.append(Series("skipped", pages, curves.n_skipped))
    frontier = Chart("frontier", "Frontier", "pages visited", "pages", tuple(series))
    if not np.isfinite(curves.regret).any():
        return (frontier,)
    count = n_given_up(crawl)
    over = f"The mean is over {counted(count, 'page')}." if count else ""
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


def _pages_table(crawl: CrawlOverview, name: str, caption: str, visits: Iterable[VisitRecord]) -> Table:
    columns: dict[str, Callable[[VisitRecord], Cell | str]] = {
        "page": _page_link,
        "relevance": lambda visit: f"{visit.relevance:.3f}",
        "visit": lambda visit: f"{visit.visit:,}",
        "score": lambda visit: _score(visit.score),
    }
    return Table.build(name, caption, columns, visits, note=with_scales_note(crawl, PAGES_NOTE))


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
    n_rows = len(crawl.hosts)
    caption = f"The {n_rows} of {crawl.n_hosts:,} hosts with most pages"
    return Table.build(
        "hosts",
        counted(crawl.n_hosts, "host") if n_rows == crawl.n_hosts else caption,
        {
            "host": lambda host: host.host,
            "pages": lambda host: f"{host.pages:,}",
            "share": lambda host: f"{host.pages / crawl.n_pages:.1%}",
            "mean relevance": lambda host: f"{host.mean_relevance:.3f}",
        },
        crawl.hosts,
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


def _commands(crawl: CrawlOverview) -> list[Block]:
    blocks: list[Block] = []
    if crawl.state.can_resume:
        blocks.append(CodeBlock("Resume the crawl", in_lines(resume_command(crawl.folder, crawl.state))))
    repeat = _repeat(crawl)
    if repeat.line:
        blocks.append(CodeBlock("Start such a crawl again", in_lines(repeat.line)))
    notes = [
        "The web changes, and which hosts are ready depends on timing, so a repeated crawl visits other pages. With "
        f"--web {printable(crawl.folder.absolute())} --offline it visits pages of this crawl only."
    ]
    if repeat.unsaid:
        notes.append(f"There are no options for these settings, made from Python: {', '.join(repeat.unsaid)}.")
    if crawl.relevance_models:
        notes.append("The relevance model was retrained during the crawl, on pages that a person labelled.")
    return [*blocks, Paragraphs(tuple(notes))]


def _repeat(crawl: CrawlOverview) -> ReproduceCommand:
    """Into a folder beside this one."""
    folder = crawl.folder.absolute()
    return reproduce_command(crawl.plan, crawl.goals, str(folder.with_name(f"{folder.name}-again")))


def _settings(crawl: CrawlOverview) -> list[Block]:
    origin = (
        ("folder", printable(crawl.folder.absolute())),
        ("crawl id", crawl.crawl_id),
        ("user agent", printable(crawl.user_agent)),
        ("started", format_time(crawl.began_s)),
        ("last page", format_time(crawl.last_s)),
        ("report made by", format_versions(versions())),
    )
    settings = Facts(tuple(settings_facts(crawl.plan, crawl.goals, crawl.relevance_model)))
    return [settings, *([_runs_table(crawl)] if crawl.runs else []), Facts(origin)]


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
    return Table.build(
        "refreshes",
        "Pages that were checked again, by what was found",
        {
            "started": lambda each: format_time(each.refresh.began_s),
            "ended": lambda each: _refresh_ending(each.refresh),
            **{outcome.value: _count_of(outcome) for outcome in CheckOutcome},
        },
        crawl.refreshes,
        n_text_columns=2,
    )


def _refresh_ending(refresh: RefreshRecord) -> str:
    return "complete" if refresh.is_complete else printable(refresh.ended or "not recorded")


def _count_of(outcome: CheckOutcome) -> Callable[[CheckedPages], str]:
    return lambda each: f"{each.counts[outcome]:,}"


def scope_text(scope: Scope) -> str:
    """What limits the URLs of a crawl; empty if nothing does."""
    limits = {
        "only hosts of": scope.allow_domains,
        "no hosts of": scope.deny_domains,
        "only URLs like": scope.include,
        "no URLs like": scope.exclude,
    }
    parts = [f"{name} {', '.join(map(printable, values))}" for name, values in limits.items() if values]
    if scope.max_depth is not None:
        parts.append(f"at most {counted(scope.max_depth, 'link')} from the nearest seed")
    return "; ".join(parts)


def settings_facts(plan: CrawlSettings, goals: StopConditions, relevance_model: str) -> list[tuple[str, str]]:
    """Labels and values. `relevance_model` is the one that the crawl started with."""
    topic, seeds, politeness, limits = plan.topic, plan.seeds, plan.politeness, plan.limits
    more = f" and {len(seeds) - MAX_SEEDS:,} more" if len(seeds) > MAX_SEEDS else ""
    trained = f", trained on {printable(plan.train_from)}" if plan.train_from else ""
    bounds = {"host": politeness.pages_per_host, "domain": politeness.pages_per_domain}
    guards = {
        "traps": plan.traps,
        "off-topic throttling": plan.throttle,
        "near-duplicates": plan.near_duplicates,
        "soft 404s": plan.soft_404s,
        "private addresses": not plan.allow_private,
        "nofollow": plan.respect_nofollow,
    }
    off = [name for name, is_on in guards.items() if not is_on]
    facts = [
        ("topic", printable(topic.id)),
        ("keywords", ", ".join(map(printable, topic.keywords))),
        ("description", printable(topic.description, MAX_DESCRIPTION_CHARACTERS)),
        ("start pages", ", ".join(map(printable, seeds[:MAX_SEEDS])) + more),
        ("strategy", printable(plan.strategy)),
        ("relevance model", printable(relevance_model) + trained),
        ("page budget", f"{goals.page_budget or plan.page_budget:,}"),
        ("stops below a harvest of", f"{goals.harvest_floor:g}" if goals.harvest_floor else ""),
        ("stops at a recall of", f"{goals.until_recall:g}" if goals.until_recall else ""),
        ("scope", scope_text(plan.scope)),
        ("order", "strict: one page at a time" if plan.strict_order else f"with a patience of {plan.patience:g}"),
        ("random seed", printable(plan.random_seed, 100)),
        ("pages read from", printable(plan.web) + (", nothing fetched" if plan.offline else "") if plan.web else ""),
        (
            "crawl delay",
            "not applied, because nothing is fetched"
            if plan.offline
            else f"{politeness.delay_s:g} s or more, longer for slow hosts or on request",
        ),
        ("page limits", ", ".join(f"{count:,} per {unit}" for unit, count in bounds.items() if count is not None)),
        ("requests in flight", f"{plan.connections:,} at most"),
        ("fetching", f"{limits.total_s:g} s and {limits.body_bytes:,} bytes per page, {plan.redirects} redirects"),
        ("proxy", "from the environment" if plan.proxy_from_environment else printable(plan.masked().proxy or "")),
        ("headers", ", ".join(printable(line.partition(":")[0]) for line in plan.headers)),
        ("cookies", printable(plan.cookie_file or "")),
        ("sitemaps", "read" if plan.sitemaps else "not read"),
        ("guards", f"all but {', '.join(off)}" if off else "all"),
        ("contact", printable(plan.contact) or "none"),
    ]
    return [(name, value) for name, value in facts if value]
