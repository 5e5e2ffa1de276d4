"""A study as files for programs: findings, what was run, and the numbers behind every figure.

Numbers that are not defined are null in JSON and empty in CSV.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from scenthound.lab.findings import Claim, Finding
from scenthound.lab.studies.pictures import Table
from scenthound.report.json_text import finite
from scenthound.report.studies.words import why_of


def findings_as_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Plain values."""
    plain: list[dict[str, Any]] = finite([_finding(finding) for finding in findings])
    return plain


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "name": finding.name,
        "says": finding.says,
        "protocol": finding.protocol,
        "verdict": finding.verdict.value,
        "why": why_of(finding),
        "claims": [_claim(claim) for claim in finding.claims],
    }


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "says": claim.says,
        "verdict": claim.verdict.value,
        "why": claim.why,
        "effect": None if claim.effect is None else asdict(claim.effect),
        "test": claim.test,
        "p": claim.p,
        "p_corrected": claim.p_corrected,
        "p_contrary_corrected": claim.p_contrary_corrected,
    }


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(heads)
    writer.writerows(rows)
    return table.getvalue()


def table_csv(table: Table) -> str:
    return csv_text(table.heads, table.rows)


def table_markdown(table: Table) -> str:
    """With its caption above and its note below."""
    rows = [table.heads, ["---"] * len(table.heads), *table.rows]
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    return "\n".join([f"**{table.caption}**", "", *lines, *(["", table.note] if table.note else [])]) + "\n"


def _cell(text: str) -> str:
    """What a cell may hold: no line's end, and no bar that would end it."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def table_files(tables: Iterable[Table]) -> dict[str, str]:
    """Each table as CSV and as Markdown, by the names of their files."""
    texts = {}
    for table in tables:
        texts[f"tables/{table.name}.csv"] = table_csv(table)
        texts[f"tables/{table.name}.md"] = table_markdown(table)
    return texts
