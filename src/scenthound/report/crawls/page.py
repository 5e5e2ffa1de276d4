"""The page of a crawl, finished or not: what it came to in words, then figures, tables and what repeats it."""

from pathlib import Path

from scenthound.errors import printable
from scenthound.lab.overview.curves import WINDOW
from scenthound.lab.overview.overview import CrawlOverview, overview_of
from scenthound.report.crawls import charts, tables, words
from scenthound.report.crawls.guide_words import has_several_scales
from scenthound.report.crawls.settings import files_section, go_on_section, settings_section
from scenthound.report.page.values import Page, Prose, Section


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
        Section("What it found", (charts.harvest_chart(crawl), charts.relevance_chart(crawl))),
        Section("Best pages", (tables.best_table(crawl),)),
        Section("How pages were found", (charts.link_graph(crawl),)),
        Section("Hosts", (tables.hosts_table(crawl),)),
    ]


def _went(crawl: CrawlOverview) -> list[Section]:
    """How the crawl went."""
    return [
        Section("Speed and hosts over time", charts.time_charts(crawl)),
        Section("Waiting", charts.waiting_charts(crawl)),
        Section("Latest pages", (tables.latest_table(crawl),)),
    ]


def _not_taken(crawl: CrawlOverview) -> list[Section]:
    title = "Pages not taken"
    if crawl.refused:
        return [Section(title, (tables.refused_table(crawl),))]
    return [Section(title, (Prose(("Every page that was asked for was taken.",)),))] if crawl.n_pages else []
