"""The findings of a study within its page: every verdict at a glance, then each claim with its numbers.

One or two protocols stand side by side, as columns. More of them would not fit: each then has a row under its finding.
"""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from scenthound.lab.findings import Claim, Finding, Verdict
from scenthound.report.studies.words import (
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
