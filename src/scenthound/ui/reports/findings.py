"""Findings of studies and validations as text and tables; shared by reports, result files and the command line."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isnan, nan
from typing import Any, Literal

from scenthound.experiments.findings import Claim, Finding, Verdict
from scenthound.experiments.statistics import ROUNDING, Effect, Over
from scenthound.ui.document import Block, Cell, Table
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
    return (verdicts_table(findings), claims_table(findings), reading) if findings else ()


Columns = dict[str, Callable[[Any], Cell | str]]


def _about(findings: Sequence[Finding]) -> Columns:
    """The first columns of tables of findings."""
    protocol: Columns = {"protocol": lambda finding: format_protocol(finding.protocol)}
    return {
        "finding": lambda finding: finding.name,
        "statement": lambda finding: finding.says,
        **(protocol if any(finding.protocol for finding in findings) else {}),
        "verdict": _verdict,
    }


def _verdict(of: Finding | Claim) -> Cell:
    return Cell(of.verdict.value, status=STATUS[of.verdict])


def verdicts_table(findings: Sequence[Finding]) -> Table:
    columns: Columns = {**_about(findings), "reason": lambda finding: finding.why}
    return Table.build("verdicts", "Verdicts", columns, grouped_by_name(findings), n_text_columns=len(columns))


def _numbers(claim_of: Callable[[Any], Claim | None]) -> Columns:
    """The columns with the numbers of a row's claim."""
    return {
        "corrected p": lambda row: format_p(getattr(claim_of(row), "deciding_p", nan)),
        "effect": lambda row: format_effect(getattr(claim_of(row), "effect", None)),
        "95 % interval": lambda row: format_effect_interval(getattr(claim_of(row), "effect", None)),
    }


def claims_table(findings: Sequence[Finding]) -> Table:
    """A row for each claim of each finding; test and p are those that decided."""
    columns: Columns = {
        "finding": lambda row: " ".join(filter(None, (row[0].name, row[0].protocol.replace("_", " ")))),
        "claim": lambda row: Cell(row[1].says, tooltip=row[1].why),
        "verdict": lambda row: _verdict(row[1]),
        "deciding test": lambda row: row[1].deciding_test or NO_VALUE,
        **_numbers(lambda row: row[1]),
        "over": lambda row: format_observations(row[1].effect),
    }
    rows = [(finding, claim) for finding in grouped_by_name(findings) for claim in finding.claims]
    return Table.build("claims", "Claims and their tests", columns, rows, n_text_columns=4)


def findings_table(findings: Sequence[Finding], caption: str) -> Table:
    """A row for each finding, with the numbers of its deciding claim."""
    columns = {**_about(findings), **_numbers(lambda finding: finding.deciding_claim)}
    note = "Effect, interval and p are those of the first claim with the verdict of its finding; the report has all."
    rows = grouped_by_name(findings)
    return Table.build("findings", caption, columns, rows, n_text_columns=len(columns) - 3, note=note)
