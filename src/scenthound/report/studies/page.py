"""The page of a study: what it came to in words, its findings, figures, topics won and lost, tables, and how to repeat
it.

A verdict is a word; its colour and its sign only help to find it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from scenthound.lab.command_line import in_lines
from scenthound.lab.findings import Finding, Verdict
from scenthound.lab.studies.pictures import Table
from scenthound.report.number_words import things
from scenthound.report.page.values import Facts, Markup, Page, Prose, Section, Verbatim, WinLoss
from scenthound.report.studies.findings_html import findings_html
from scenthound.report.studies.table_blocks import table_block
from scenthound.report.studies.words import READING


@dataclass(frozen=True, slots=True)
class StudyPage:
    """All that the page of a study shows, in this order. `summary` are paragraphs, `facts` names with their
    values, `settings` the text of the settings file, `command` what repeats the study."""

    title: str
    summary: tuple[str, ...]
    findings: tuple[Finding, ...]
    figures: tuple[Section, ...]
    won: tuple[WinLoss, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    reading: str = READING
    settings: str = ""
    command: str = ""


def page_of(study: StudyPage) -> Page:
    """Parts without content are left out."""
    return Page(
        kind="study",
        title=study.title,
        summary=study.summary,
        sections=tuple(section for section in _sections(study) if section.blocks),
        key_facts=tuple(verdict_facts(study.findings)),
        style=findings_style() if study.findings else "",
    )


def findings_style() -> str:
    """The style sheet of what `findings_html` makes."""
    return files(__package__).joinpath("findings.css").read_text(encoding="utf-8")


def verdict_facts(findings: tuple[Finding, ...]) -> Iterator[tuple[str, str]]:
    if findings:
        yield things(len(findings), "finding"), str(len(findings))
    for verdict in Verdict if findings else ():
        yield verdict.value, str(sum(finding.verdict is verdict for finding in findings))


def _sections(study: StudyPage) -> Iterator[Section]:
    yield Section("Findings", findings_blocks(study.findings, study.reading) if study.findings else ())
    yield from study.figures
    yield Section("Topic by topic", study.won)
    yield Section("Tables", tuple(map(table_block, study.tables)))
    yield Section("Notes", (Prose(study.notes, as_list=True),) if study.notes else ())
    command = (Verbatim("This command runs the study again", in_lines(study.command)),) if study.command else ()
    yield Section("This run", ((Facts(study.facts),) if study.facts else ()) + command)
    settings = (Verbatim("The settings file, settings.toml", study.settings),) if study.settings else ()
    yield Section("Settings", settings, folded=True)


def findings_blocks(findings: tuple[Finding, ...], reading: str) -> tuple[Markup | Prose, ...]:
    """Every verdict at a glance, every claim with its numbers, and what a reader must know of them."""
    return Markup(findings_html(findings)), Prose((reading,))
