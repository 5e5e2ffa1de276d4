"""The page of a study: what it came to in words, its findings, figures, topics won and lost, tables, and how to repeat
it.

A verdict is a word; its colour and its sign only help to find it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import groupby
from math import isnan

from scenthound.command_line import in_lines
from scenthound.experiments.findings import Claim, Finding, Verdict
from scenthound.experiments.statistics import Effect
from scenthound.experiments.study.tables import Table
from scenthound.ui.document import Cell, Facts, Markup, Page, Prose, Section, TableBlock, Verbatim, WinLoss
from scenthound.ui.formats import things

# The words for findings: which claim decides one, what the numbers of a claim are, how verdicts are counted.

#: What stands where there is no number.
NOTHING = "-"

#: What a reader of findings must know.
READING = (
    "An effect is a mean of differences between crawls that were alike but for the crawler, one difference for each "
    "topic. Intervals are 95 % BCa bootstrap intervals. The p of a claim is of the test named beside it, and is "
    "corrected by Holm's method among the claims of its finding. A finding is reproduced if all its claims are, not "
    "reproduced if one is not, and undecided otherwise: then these topics are too few, or differ too much, to tell."
)


def side_by_side(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in their order, those of the same name one after the other: they differ in their protocols."""
    by_name: dict[str, list[Finding]] = {}
    for finding in findings:
        by_name.setdefault(finding.name, []).append(finding)
    return [finding for alike in by_name.values() for finding in alike]


def deciding_claim(finding: Finding) -> Claim | None:
    """The first claim with the verdict of the finding; None if there is no claim."""
    return next((claim for claim in finding.claims if claim.verdict is finding.verdict), None)


def why_of(finding: Finding) -> str:
    """Why a finding has its verdict, in a sentence or two."""
    claim = deciding_claim(finding)
    if claim is None:
        return "No claim of it could be tested."
    if len(finding.claims) == 1:
        return claim.why
    n_alike = sum(each.verdict is finding.verdict for each in finding.claims)
    told = f"{n_alike} of {len(finding.claims)} claims {'is' if n_alike == 1 else 'are'} {finding.verdict}"
    return f"{told}{', the first' if n_alike > 1 else ''}: {claim.says}. {claim.why}"


def effect_told(effect: Effect | None) -> str:
    return NOTHING if effect is None or isnan(effect.mean) else f"{effect.mean:+.4g}"


def interval_told(effect: Effect | None) -> str:
    return NOTHING if effect is None or isnan(effect.low) else f"{effect.low:+.4g} to {effect.high:+.4g}"


def observations_told(effect: Effect | None) -> str:
    """How many topics, or random seeds, an effect is over."""
    if effect is None:
        return NOTHING
    n_units = effect.n_topics if effect.over == "topics" else effect.n_seeds
    return f"{n_units} {effect.over if n_units != 1 else effect.over.removesuffix('s')}"


def p_told(p: float) -> str:
    if isnan(p):
        return NOTHING
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1g}"


def verdicts_told(findings: Iterable[Finding], which: str = "") -> str:
    """How many findings have which verdict: `3 findings: 2 reproduced, 1 not reproduced, 0 undecided`."""
    counted = Counter(finding.verdict for finding in findings)
    n_findings = counted.total()
    told = ", ".join(f"{counted[verdict]} {verdict}" for verdict in Verdict)
    return f"{n_findings} finding{'s' if n_findings != 1 else ''}{which}: {told}"


def protocol_told(protocol: str) -> str:
    """`as_published` is how settings spell it."""
    return protocol.replace("_", " ") or NOTHING


# The findings of a study within its page: every verdict at a glance, then each claim with its numbers.
#
# One or two protocols stand side by side, as columns. More of them would not fit: each then has a row under its
# finding.

#: Signs before the words, and the classes of the style sheet.
SIGNS = {Verdict.REPRODUCED: "✓", Verdict.NOT_REPRODUCED: "✗", Verdict.UNDECIDED: "?"}
CLASSES = {
    Verdict.REPRODUCED: "reproduced",
    Verdict.NOT_REPRODUCED: "not-reproduced",
    Verdict.UNDECIDED: "undecided",
}
#: More protocols than these have rows.
MOST_COLUMNS = 2
CLAIM_HEADS = ("claim", "effect", "95 % interval", "over", "test", "p", "corrected p", "verdict")
FIGURES = frozenset({"effect", "95 % interval", "over", "p", "corrected p"})


def findings_html(findings: Sequence[Finding]) -> str:
    """Two tables: protocols side by side, then all claims."""
    return f"{_overview(findings)}\n{_claims(findings)}"


def _overview(findings: Sequence[Finding]) -> str:
    protocols = list(dict.fromkeys(finding.protocol for finding in findings if finding.protocol))
    return _in_columns(findings, protocols) if len(protocols) <= MOST_COLUMNS else _in_rows(findings)


def _in_rows(findings: Sequence[Finding]) -> str:
    """A row for each finding and protocol, those of a finding under what it says."""
    bodies = []
    for _, group in groupby(side_by_side(findings), key=lambda finding: finding.name):
        alike = list(group)
        head = f'<tr class="finding"><th scope="rowgroup" colspan="2">{_told(alike[0])}</th></tr>'
        rows = [
            f"<tr><td>{escape(protocol_told(each.protocol))}</td><td>{_mark(each.verdict)}</td></tr>" for each in alike
        ]
        bodies.append("<tbody>\n" + "\n".join([head, *rows]) + "\n</tbody>")
    return _table("Verdicts", _heads(("protocol", "verdict")), "\n".join(bodies))


def _in_columns(findings: Sequence[Finding], protocols: Sequence[str]) -> str:
    """A row for each finding, a column for each protocol; a finding without one has the verdict of all columns."""
    heads = [protocol_told(each) for each in protocols] or ["verdict"]
    found = {(finding.name, finding.protocol): finding for finding in findings}
    says = {finding.name: finding.says for finding in findings}
    rows = []
    for name, told in says.items():
        if (name, "") in found:
            verdicts = _verdict_cell(found[name, ""], n_columns=len(heads))
        else:
            verdicts = "".join(_verdict_cell(found.get((name, protocol))) for protocol in protocols)
        rows.append(f'<tr><th scope="row">{escape(name)}</th><td class="says">{escape(told)}</td>{verdicts}</tr>')
    columns = _heads(("finding", "says", *heads))
    return _table("Verdicts", columns, "<tbody>\n" + "\n".join(rows) + "\n</tbody>")


def _heads(heads: Iterable[str]) -> str:
    kinds = dict.fromkeys(FIGURES, ' class="figure"')
    return "".join(f'<th scope="col"{kinds.get(head, "")}>{escape(head)}</th>' for head in heads)


def _told(finding: Finding, which: str = "", why: str = "") -> str:
    """What a finding says. It stays in sight when a wide table is moved."""
    reason = f'<span class="why">{escape(why)}</span>' if why else ""
    return f'<div class="told">{escape(finding.name)}{escape(which)}: {escape(finding.says)}{reason}</div>'


def _verdict_cell(finding: Finding | None, n_columns: int = 1) -> str:
    if finding is None:
        return "<td>-</td>"
    width = f' colspan="{n_columns}"' if n_columns > 1 else ""
    return f"<td{width}>{_mark(finding.verdict)}</td>"


def _mark(verdict: Verdict) -> str:
    return f'<span class="verdict {CLASSES[verdict]}"><span aria-hidden="true">{SIGNS[verdict]}</span> {verdict}</span>'


def _claims(findings: Sequence[Finding]) -> str:
    return _table("Claims and their tests", _heads(CLAIM_HEADS), "\n".join(map(_claims_of, side_by_side(findings))))


def _claims_of(finding: Finding) -> str:
    protocol = f" ({protocol_told(finding.protocol)})" if finding.protocol else ""
    head = (
        f'<tr class="finding"><th scope="rowgroup" colspan="{len(CLAIM_HEADS) - 1}">'
        f"{_told(finding, protocol, why_of(finding))}</th><td>{_mark(finding.verdict)}</td></tr>"
    )
    return "<tbody>\n" + "\n".join([head, *map(_claim_row, finding.claims)]) + "\n</tbody>"


def _claim_row(claim: Claim) -> str:
    figures = (effect_told(claim.effect), interval_told(claim.effect), observations_told(claim.effect))
    told = "".join(f'<td class="figure">{escape(figure)}</td>' for figure in figures)
    p = "".join(f'<td class="figure">{escape(p_told(value))}</td>' for value in (claim.p, claim.p_corrected))
    says = f'<td class="says" title="{escape(claim.why)}">{escape(claim.says)}</td>'
    test = f'<td class="test">{escape(claim.test or "-")}</td>'
    return f"<tr>{says}{told}{test}{p}<td>{_mark(claim.verdict)}</td></tr>"


def _table(caption: str, heads: str, bodies: str) -> str:
    return (
        f'<div class="wide">\n<table class="findings">\n<caption>{escape(caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n{bodies}\n</table>\n</div>"
    )


# Tables of a study on its page: which columns are figures, and which signs are marks.

#: Numbers with what may stand around them: signs, units, an error, marks of significance.
FIGURE = re.compile(r"([<>] ?)?[-+]?[\d.,]+(e[-+]?\d+)?( ?%)?( ?± ?[\d.,]+(e[-+]?\d+)?)?([*†‡]*)|-|")
MARKS = "*†‡"


def table_block(table: Table) -> TableBlock:
    """The first column names the rows; from the one on after which there are figures only, columns are figures."""
    places = range(1, len(table.heads))
    n_words = max((place + 1 for place in places if not _has_figures(table, place)), default=1)
    rows = tuple(tuple(map(_cell, row)) for row in table.rows)
    return TableBlock(table.name, table.caption, table.heads, rows, n_words, table.note)


def _has_figures(table: Table, place: int) -> bool:
    return all(FIGURE.fullmatch(row[place]) for row in table.rows)


def _cell(text: str) -> Cell:
    """Marks behind a figure are told from it."""
    figure = text.rstrip(MARKS)
    is_marked = figure != text and bool(figure) and FIGURE.fullmatch(text) is not None
    return Cell(figure, mark=text[len(figure) :]) if is_marked else Cell(text)


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
    return files("scenthound.ui").joinpath("assets", "findings.css").read_text(encoding="utf-8")


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
