"""What a crawl was told, and what it takes to make it again: facts, commands and versions."""

from scenthound.errors import printable
from scenthound.lab.command_line import in_lines
from scenthound.lab.crawl_command import RepeatCommand, repeat_command
from scenthound.lab.overview.overview import CrawlOverview
from scenthound.report.crawls.commands import resume_command
from scenthound.report.crawls.settings_facts import settings_facts
from scenthound.report.crawls.words import moment, span
from scenthound.report.page.values import Block, Cell, Facts, Prose, Section, TableBlock, Verbatim
from scenthound.report.versions import versions, versions_told


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
    if crawl.guides:
        notes.append("The guide was trained anew while the crawl ran, from pages that a person labelled.")
    return Section("Go on, or repeat it", (*blocks, Prose(tuple(notes))))


def files_section(crawl: CrawlOverview) -> list[Section]:
    """What must stand in the files that the command names; none if it names none."""
    files = [Verbatim(f"The file {name}", text) for name, text in _repeat(crawl).files]
    return [Section("Files that the command reads", tuple(files), folded=True)] if files else []


def _repeat(crawl: CrawlOverview) -> RepeatCommand:
    """Into a folder beside this one."""
    place = crawl.folder.absolute()
    return repeat_command(crawl.plan, crawl.goals, str(place.with_name(f"{place.name}-again")))


def settings_section(crawl: CrawlOverview) -> Section:
    blocks: list[Block] = [Facts(tuple(settings_facts(crawl.plan, crawl.goals, crawl.guide)))]
    if crawl.runs:
        blocks.append(_runs_table(crawl))
    blocks.append(Facts((*_origin_facts(crawl),)))
    return Section("Settings and versions", tuple(blocks), folded=True)


def _runs_table(crawl: CrawlOverview) -> TableBlock:
    rows = tuple(
        (
            Cell(moment(run.began_s)),
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
        ("began", moment(crawl.began_s)),
        ("last page", moment(crawl.last_s)),
        ("this report was made by", versions_told(versions())),
    ]
