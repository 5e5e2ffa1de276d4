"""What a crawl was told, and what it takes to make it again: facts, commands and versions."""

from scenthound.command_line import in_lines
from scenthound.crawler.command import ReproduceCommand, reproduce_command
from scenthound.crawler.plan import CrawlSettings, StopConditions
from scenthound.errors import printable
from scenthound.ui.crawl_overview import CrawlOverview
from scenthound.ui.document import Block, Cell, Facts, Prose, Section, TableBlock, Verbatim
from scenthound.ui.formats import versions, versions_told
from scenthound.ui.reports.crawl_text import resume_command, sample, span

# What a crawl was told to do, as names and values for people.

MOST_SEEDS = 50
MOST_DESCRIPTION_LETTERS = 2_000


def settings_facts(plan: CrawlSettings, goals: StopConditions, relevance_model: str) -> list[tuple[str, str]]:
    """`relevance_model` is the model that scored pages when the crawl began."""
    return _topic_facts(plan) + _choice_facts(plan, goals, relevance_model) + _manner_facts(plan)


def _topic_facts(plan: CrawlSettings) -> list[tuple[str, str]]:
    topic, seeds = plan.topic, plan.seeds
    more = f" and {len(seeds) - MOST_SEEDS:,} more" if len(seeds) > MOST_SEEDS else ""
    facts = [
        ("topic", printable(topic.id)),
        ("keywords", ", ".join(map(printable, topic.keywords))),
        ("description", printable(topic.description, MOST_DESCRIPTION_LETTERS)),
        ("start pages", ", ".join(map(printable, seeds[:MOST_SEEDS])) + more),
    ]
    return [(name, value) for name, value in facts if value]


def _choice_facts(plan: CrawlSettings, goals: StopConditions, relevance_model: str) -> list[tuple[str, str]]:
    floor = goals.harvest_floor
    return [
        ("strategy", printable(plan.strategy)),
        (
            "relevance_model",
            printable(relevance_model) + (f", trained on {printable(plan.train_from)}" if plan.train_from else ""),
        ),
        ("page budget", f"{goals.page_budget or plan.page_budget:,}"),
        *([("ends below a harvest of", f"{floor:g}")] if floor else []),
        (
            "order",
            "strict: waits for the best page" if plan.strict_order else "the best page of the hosts that are ready",
        ),
        ("random seed", printable(plan.random_seed, 100)),
        *(
            [("pages read from", printable(plan.web) + (", nothing fetched" if plan.offline else ""))]
            if plan.web
            else []
        ),
    ]


def _manner_facts(plan: CrawlSettings) -> list[tuple[str, str]]:
    politeness, limits = plan.politeness, plan.limits
    bounds = {"a host": politeness.pages_per_host, "a domain": politeness.pages_per_domain}
    told = [f"{count:,} of {whose}" for whose, count in bounds.items() if count is not None]
    guards = {
        "traps": plan.traps,
        "near-duplicates": plan.near_duplicates,
        "soft 404s": plan.soft_404s,
        "private addresses": not plan.allow_private,
        "nofollow": plan.respect_nofollow,
    }
    off = [name for name, is_on in guards.items() if not is_on]
    return [
        ("rest of a host", f"{politeness.delay_s:g} s or more, longer if it is slow or asks for it"),
        *([("most pages", ", ".join(told))] if told else []),
        ("requests in flight", f"{plan.connections:,} at most"),
        ("fetching", f"{limits.total_s:g} s and {limits.body_bytes:,} bytes a page, {plan.redirects} redirects"),
        ("sitemaps", "read" if plan.sitemaps else "not read"),
        ("guards", f"all but {', '.join(off)}" if off else "all"),
        ("contact", printable(plan.contact) or "none given"),
    ]


def go_on_section(crawl: CrawlOverview) -> Section:
    """What can be done with the crawl next."""
    blocks: list[Block] = []
    if crawl.state.can_go_on:
        command = resume_command(crawl.folder, crawl.state)
        blocks.append(Verbatim("Let the crawl go on where it stands", in_lines(command)))
    repeat = _repeat(crawl)
    if repeat.line:
        blocks.append(Verbatim("Make such a crawl again", in_lines(repeat.line)))
    notes = [
        "The web changes, and which hosts are ready depends on the moment, so a crawl that is made again takes other "
        f"pages. With --web {printable(crawl.folder.absolute())} --offline it has the pages of this one, and no others."
    ]
    if repeat.unsaid:
        notes.append(f"No option says these settings, which a program chose: {', '.join(repeat.unsaid)}.")
    if crawl.relevance_models:
        notes.append("The guide was trained anew while the crawl ran, from pages that a person labelled.")
    return Section("Go on, or repeat it", (*blocks, Prose(tuple(notes))))


def files_section(crawl: CrawlOverview) -> list[Section]:
    """What must stand in the files that the command names; none if it names none."""
    files = [Verbatim(f"The file {name}", text) for name, text in _repeat(crawl).files]
    return [Section("Files that the command reads", tuple(files), folded=True)] if files else []


def _repeat(crawl: CrawlOverview) -> ReproduceCommand:
    """Into a folder beside this one."""
    place = crawl.folder.absolute()
    return reproduce_command(crawl.plan, crawl.goals, str(place.with_name(f"{place.name}-again")))


def settings_section(crawl: CrawlOverview) -> Section:
    blocks: list[Block] = [Facts(tuple(settings_facts(crawl.plan, crawl.goals, crawl.relevance_model)))]
    if crawl.runs:
        blocks.append(_runs_table(crawl))
    blocks.append(Facts((*_origin_facts(crawl),)))
    return Section("Settings and versions", tuple(blocks), folded=True)


def _runs_table(crawl: CrawlOverview) -> TableBlock:
    rows = tuple(
        (
            Cell(sample(run.began_s)),
            Cell("-" if run.ended_s is None else span(run.ended_s - run.began_s)),
            Cell(printable(run.ended or "no word of its end")),
            Cell(printable(run.version)),
            Cell(f"{run.n_pages_before:,}"),
        )
        for run in crawl.runs
    )
    heads = ("began", "lasted", "ended", "Scenthound", "pages before")
    return TableBlock("runs", "Runs of this crawl", heads, rows, n_words=4)


def _origin_facts(crawl: CrawlOverview) -> list[tuple[str, str]]:
    return [
        ("folder", printable(crawl.folder.absolute())),
        ("crawl's id", crawl.crawl_id),
        ("user agent", printable(crawl.user_agent)),
        ("began", sample(crawl.began_s)),
        ("last page", sample(crawl.last_s)),
        ("this report was made by", versions_told(versions())),
    ]
