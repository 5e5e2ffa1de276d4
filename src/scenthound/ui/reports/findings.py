"""Findings of studies and validations as text and tables; shared by reports, result files and the command line."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import isnan, nan
from typing import Literal

from scenthound.experiments.findings import Claim, Finding, Verdict
from scenthound.experiments.statistics import ROUNDING, Effect, Over
from scenthound.ui.document import Block, Cell, GroupedTable, Paragraphs, RowGroup, Table
from scenthound.ui.formats import NO_VALUE, plural

Status = Literal["good", "bad", "open"]
STATUS: dict[Verdict, Status] = {
    Verdict.REPRODUCED: "good",
    Verdict.NOT_REPRODUCED: "bad",
    Verdict.UNDECIDED: "open",
    Verdict.CANNOT_BE_ASKED: "open",
}
#: The singular of what an effect is the mean over.
ONE_OF: dict[Over, str] = {"topics": "topic", "seeds": "seed", "searches": "search"}
#: More protocols are shown in rows instead of columns.
MAX_PROTOCOL_COLUMNS = 2
#: Test and p are those that decided.
CLAIM_COLUMNS = ("claim", "effect", "95 % interval", "over", "deciding test", "corrected p", "verdict")
NUMERIC = frozenset({"effect", "95 % interval", "over", "corrected p"})


def grouped_by_name(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in order, but those of the same name, which differ in their protocols, follow each other."""
    by_name: dict[str, list[Finding]] = {}
    for finding in findings:
        by_name.setdefault(finding.name, []).append(finding)
    return [finding for group in by_name.values() for finding in group]


def format_effect(effect: Effect | None) -> str:
    return NO_VALUE if effect is None or isnan(effect.mean) else f"{without_noise(effect.mean):+.4g}"


def without_noise(value: float) -> float:
    """0 for a rounding error."""
    return 0.0 if abs(value) < ROUNDING else value


def format_effect_interval(effect: Effect | None) -> str:
    if effect is None or isnan(effect.low):
        return NO_VALUE
    return f"{without_noise(effect.low):+.4g} to {without_noise(effect.high):+.4g}"


def format_observations(effect: Effect | None) -> str:
    """The number of topics, random seeds or searches that an effect is the mean over."""
    if effect is None:
        return NO_VALUE
    number = effect.n_topics if effect.over == "topics" else effect.n_seeds
    return f"{number} {ONE_OF[effect.over] if number == 1 else effect.over}"


def format_p(p: float) -> str:
    if isnan(p):
        return NO_VALUE
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1g}"


def format_protocol(protocol: str) -> str:
    """`as_published` is the spelling of settings files."""
    return protocol.replace("_", " ") or NO_VALUE


def verdict_counts(findings: Iterable[Finding], of: str = "") -> str:
    """`3 findings: 2 reproduced, 1 not reproduced, 0 undecided`."""
    counts = _counts(findings)
    listed = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    total = sum(counts.values())
    return f"{total} {plural(total, 'finding')}{of}: {listed}"


def _counts(findings: Iterable[Finding]) -> dict[Verdict, int]:
    """The number of findings with each verdict. That one cannot be asked is listed only if there is one."""
    counts = Counter(finding.verdict for finding in findings)
    return {each: counts[each] for each in Verdict if counts[each] or each is not Verdict.CANNOT_BE_ASKED}


def verdict_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Verdict counts, one sentence for each protocol."""
    by_protocol: dict[str, list[Finding]] = {}
    for finding in findings:
        by_protocol.setdefault(finding.protocol, []).append(finding)
    for protocol, group in by_protocol.items():
        of = f" by the protocol {format_protocol(protocol)!r}" if protocol else ""
        if len(by_protocol) > 1 and not protocol:
            of = " independent of the protocol"
        yield f"{verdict_counts(group, of)}."


def unasked_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Why findings cannot be asked, one line for each reason."""
    names: dict[str, list[str]] = {}
    for finding in findings:
        if finding.verdict is Verdict.CANNOT_BE_ASKED and finding.deciding_claim is not None:
            names.setdefault(finding.deciding_claim.why, []).append(finding.name)
    for reason, of in names.items():
        yield f"{', '.join(dict.fromkeys(of))} cannot be asked here: {reason}"


def verdict_facts(findings: Sequence[Finding]) -> tuple[tuple[str, str], ...]:
    if not findings:
        return ()
    total = (plural(len(findings), "finding"), str(len(findings)))
    return (total, *((verdict.value, str(n)) for verdict, n in _counts(findings).items()))


def findings_blocks(findings: Sequence[Finding], reading: str) -> tuple[Block, ...]:
    """All verdicts, then all claims with their numbers, then how to read them."""
    return (verdicts_table(findings), claims_table(findings), Paragraphs((reading,))) if findings else ()


def verdicts_table(findings: Sequence[Finding]) -> Table | GroupedTable:
    protocols = list(dict.fromkeys(finding.protocol for finding in findings if finding.protocol))
    if len(protocols) <= MAX_PROTOCOL_COLUMNS:
        return _protocols_in_columns(findings, protocols)
    groups = [
        RowGroup(
            f"{name}: {group[0].says}", tuple((Cell(format_protocol(each.protocol)), _verdict(each)) for each in group)
        )
        for name, group in ((name, list(group)) for name, group in groupby(grouped_by_name(findings), lambda f: f.name))
    ]
    return GroupedTable("verdicts", "Verdicts", ("protocol", "verdict"), tuple(groups))


def _protocols_in_columns(findings: Sequence[Finding], protocols: Sequence[str]) -> Table:
    """A row for each finding; one without a protocol has the same verdict in all columns."""
    found = {(finding.name, finding.protocol): finding for finding in findings}
    texts = {finding.name: finding.says for finding in findings}
    rows = [
        (
            Cell(name),
            Cell(text),
            *(_verdict(found.get((name, ""), found.get((name, each)))) for each in protocols or [""]),
        )
        for name, text in texts.items()
    ]
    columns = ("finding", "statement", *(map(format_protocol, protocols) if protocols else ("verdict",)))
    return Table("verdicts", "Verdicts", columns, tuple(rows), n_text_columns=len(columns))


def _verdict(of: Finding | Claim | None) -> Cell:
    return Cell(NO_VALUE) if of is None else Cell(of.verdict.value, status=STATUS[of.verdict])


def claims_table(findings: Sequence[Finding]) -> GroupedTable:
    groups = tuple(map(_claims, grouped_by_name(findings)))
    return GroupedTable("claims", "Claims and their tests", CLAIM_COLUMNS, groups, NUMERIC)


def _claims(finding: Finding) -> RowGroup:
    protocol = f" ({format_protocol(finding.protocol)})" if finding.protocol else ""
    title = f"{finding.name}{protocol}: {finding.says}"
    return RowGroup(title, tuple(map(_claim, finding.claims)), finding.why, _verdict(finding))


def _claim(claim: Claim) -> tuple[Cell, ...]:
    numbers = (format_effect(claim.effect), format_effect_interval(claim.effect), format_observations(claim.effect))
    tests = (claim.deciding_test or NO_VALUE, format_p(claim.deciding_p))
    return (Cell(claim.says, tooltip=claim.why), *map(Cell, (*numbers, *tests)), _verdict(claim))


def findings_table(findings: Sequence[Finding], caption: str) -> Table:
    """A row for each finding, with the numbers of its deciding claim."""
    has_protocols = any(finding.protocol for finding in findings)
    columns = {
        "finding": lambda finding: finding.name,
        "statement": lambda finding: finding.says,
        **({"protocol": lambda finding: format_protocol(finding.protocol)} if has_protocols else {}),
        "verdict": _verdict,
        "effect": lambda finding: format_effect(_deciding_effect(finding)),
        "95 % interval": lambda finding: format_effect_interval(_deciding_effect(finding)),
        "corrected p": lambda finding: format_p(getattr(finding.deciding_claim, "deciding_p", nan)),
    }
    note = "Effect, interval and p are those of the first claim with the verdict of its finding; the report has all."
    rows = grouped_by_name(findings)
    return Table.build("findings", caption, columns, rows, n_text_columns=len(columns) - 3, note=note)


def _deciding_effect(finding: Finding) -> Effect | None:
    claim = finding.deciding_claim
    return None if claim is None else claim.effect
