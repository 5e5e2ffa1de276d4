"""The findings of a study within its page: every verdict at a glance, then each claim with its numbers."""

from collections.abc import Sequence
from html import escape

from scenthound.lab.findings import Claim, Finding, Verdict
from scenthound.report.studies.words import (
    READING,
    effect_told,
    interval_told,
    observations_told,
    p_told,
    protocol_told,
    side_by_side,
    why_of,
)

#: Signs before the words, and the classes of the style sheet.
SIGNS = {Verdict.REPRODUCED: "✓", Verdict.NOT_REPRODUCED: "✗", Verdict.UNDECIDED: "?"}
CLASSES = {
    Verdict.REPRODUCED: "reproduced",
    Verdict.NOT_REPRODUCED: "not-reproduced",
    Verdict.UNDECIDED: "undecided",
}
CLAIM_HEADS = ("claim", "effect", "95 % interval", "over", "test", "p", "corrected p", "verdict")


def findings_html(findings: Sequence[Finding]) -> str:
    """Two tables: protocols side by side, then all claims."""
    return f"{_overview(findings)}\n{_claims(findings)}"


def reading_html() -> str:
    return f'<p class="note">{escape(READING)}</p>'


def _overview(findings: Sequence[Finding]) -> str:
    """A row for each finding, a column for each protocol; a finding without one has the verdict of all columns."""
    protocols = list(dict.fromkeys(finding.protocol for finding in findings if finding.protocol))
    heads = [protocol_told(each) for each in protocols] or ["verdict"]
    found = {(finding.name, finding.protocol): finding for finding in findings}
    says = {finding.name: finding.says for finding in findings}
    rows = []
    for name, told in says.items():
        if (name, "") in found:
            verdicts = _verdict_cell(found[name, ""], n_columns=len(heads))
        else:
            verdicts = "".join(_verdict_cell(found.get((name, protocol))) for protocol in protocols)
        rows.append(f'<tr><th scope="row">{escape(name)}</th><td>{escape(told)}</td>{verdicts}</tr>')
    columns = "".join(f'<th scope="col">{escape(head)}</th>' for head in ("finding", "says", *heads))
    return _table("Verdicts", columns, "<tbody>\n" + "\n".join(rows) + "\n</tbody>")


def _verdict_cell(finding: Finding | None, n_columns: int = 1) -> str:
    if finding is None:
        return "<td>-</td>"
    width = f' colspan="{n_columns}"' if n_columns > 1 else ""
    return f"<td{width}>{_mark(finding.verdict)}</td>"


def _mark(verdict: Verdict) -> str:
    return f'<span class="verdict {CLASSES[verdict]}"><span aria-hidden="true">{SIGNS[verdict]}</span> {verdict}</span>'


def _claims(findings: Sequence[Finding]) -> str:
    columns = "".join(f'<th scope="col">{escape(head)}</th>' for head in CLAIM_HEADS)
    return _table("Claims and their tests", columns, "\n".join(map(_claims_of, side_by_side(findings))))


def _claims_of(finding: Finding) -> str:
    protocol = f" ({escape(protocol_told(finding.protocol))})" if finding.protocol else ""
    head = (
        f'<tr class="finding"><th scope="rowgroup" colspan="{len(CLAIM_HEADS) - 1}">{escape(finding.name)}{protocol}: '
        f'{escape(finding.says)}<span class="why">{escape(why_of(finding))}</span></th>'
        f"<td>{_mark(finding.verdict)}</td></tr>"
    )
    return "<tbody>\n" + "\n".join([head, *map(_claim_row, finding.claims)]) + "\n</tbody>"


def _claim_row(claim: Claim) -> str:
    figures = (effect_told(claim.effect), interval_told(claim.effect), observations_told(claim.effect))
    told = "".join(f'<td class="figure">{escape(figure)}</td>' for figure in figures)
    p = "".join(f'<td class="figure">{escape(p_told(value))}</td>' for value in (claim.p, claim.p_corrected))
    says = f'<td title="{escape(claim.why)}">{escape(claim.says)}</td>'
    return f"<tr>{says}{told}<td>{escape(claim.test or '-')}</td>{p}<td>{_mark(claim.verdict)}</td></tr>"


def _table(caption: str, heads: str, bodies: str) -> str:
    return (
        f'<div class="wide">\n<table class="findings">\n<caption>{escape(caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n{bodies}\n</table>\n</div>"
    )
