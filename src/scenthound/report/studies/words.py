"""The words for findings: which claim decides one, what the numbers of a claim are, how verdicts are counted."""

from collections import Counter
from collections.abc import Iterable
from math import isnan

from scenthound.lab.findings import Claim, Finding, Verdict
from scenthound.lab.statistics import Effect

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
