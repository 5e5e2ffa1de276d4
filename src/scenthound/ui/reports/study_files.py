"""A study as files for programs: findings, what was run, and the numbers behind every figure.

Numbers that are not defined are null in JSON and empty in CSV.
"""

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, is_dataclass
from itertools import chain
from math import isnan
from pathlib import Path
from re import fullmatch
from typing import Any

from scenthound.errors import InvalidInput, printable
from scenthound.experiments.findings import Claim, Finding
from scenthound.experiments.study.measured import BOUNDS, ArmMeasurements, Measured
from scenthound.experiments.study.settings import StudySettings
from scenthound.experiments.study.tables import Table
from scenthound.files import write_atomic
from scenthound.store.locks import try_lock
from scenthound.ui.formats import finite, json_text
from scenthound.ui.reports.study import why_of


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


# The numbers of a study as CSV, for people who analyse them again.
#
# `measures.csv` has the points of every curve: means over topics. `topics.csv` has what each topic came to at the
# end.

MEASURES_HEADS = ("arm", "crawler", "measure", "x", "mean", "standard_error", "n_topics")
TOPICS_HEADS = ("arm", "measure", "x", "topic", "crawler", "value")
#: The bounds stand among the crawlers under these names.
BOUND_NAMES = tuple(f"bound: {bound}" for bound in BOUNDS)


def measures_csv(arms: Sequence[ArmMeasurements]) -> str:
    """One row for each crawler, measure and place; `x` is a number of pages visited, or the n of a top n."""
    return csv_text(MEASURES_HEADS, chain.from_iterable(map(_measure_rows, arms)))


def topics_csv(arms: Sequence[ArmMeasurements]) -> str:
    """One row for each measure, topic and crawler, at the last place of the measure."""
    return csv_text(TOPICS_HEADS, chain.from_iterable(map(_topic_rows, arms)))


def _measure_rows(arm: ArmMeasurements) -> Iterator[list[Any]]:
    for names, measure, measured in _all_measured(arm):
        for place, name in enumerate(names):
            curve = measured.curve(place)
            points = zip(curve.steps.tolist(), curve.mean.tolist(), curve.standard_error.tolist(), strict=True)
            for x, mean, error in points:
                yield [arm.settings.name, name, measure, x, _number(mean), _number(error), curve.n_topics]


def _topic_rows(arm: ArmMeasurements) -> Iterator[list[Any]]:
    for names, measure, measured in _all_measured(arm):
        end = int(measured.x[-1])
        for topic, values in zip(arm.topics, measured.values[:, :, -1].T.tolist(), strict=True):
            for name, value in zip(names, values, strict=True):
                yield [arm.settings.name, measure, end, topic, name, _number(value)]


def _all_measured(arm: ArmMeasurements) -> Iterator[tuple[Sequence[str], str, Measured]]:
    """Who was measured, by what, and the numbers."""
    groups: tuple[tuple[Sequence[str], Mapping[str, Measured]], ...] = (
        (arm.labels, arm.measured),
        (BOUND_NAMES, arm.bounds),
    )
    for names, by_measure in groups:
        for measure, measured in by_measure.items():
            if len(measured.x):
                yield names, measure, measured


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:.6g}"


# The settings of a study as TOML, so that what was run can be run again: `read_settings` reads what this writes.

#: Fields whose tables have another name in the file: there each stands for itself.
TABLE_NAMES = {"arms": "arm"}


def settings_toml(settings: StudySettings) -> str:
    """The whole file. What is None or an empty list is left out, which means the same."""
    return "\n".join(_lines(settings, "")).strip() + "\n"


def _lines(values: Any, path: str) -> Iterator[str]:
    """Plain values first, because all that follows the head of a table belongs to it."""
    named = _named(values)
    for name, value in named.items():
        if value not in (None, ()) and not _is_table(value) and not _is_tables(value):
            yield f"{_key(name)} = {_value(value)}"
    for name, value in named.items():
        place = f"{path}{_key(TABLE_NAMES.get(name, name))}"
        for head, table in _tables(place, value):
            yield from ("", head, *_lines(table, f"{place}."))


def _named(values: Any) -> Mapping[str, Any]:
    return values if isinstance(values, Mapping) else {each.name: getattr(values, each.name) for each in fields(values)}


def _tables(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    if _is_table(value):
        yield f"[{place}]", value
    elif _is_tables(value):
        yield from ((f"[[{place}]]", table) for table in value)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or is_dataclass(value)


def _is_tables(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(map(_is_table, value))


def _key(name: str) -> str:
    return name if fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # JSON escapes as TOML does, but for this one sign.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)


# The folder of a study: whose it is, who works on it, and how its files come to be there.
#
# study.json     written first: which study on which web this is; at the end with all there is to say of the run
# figures/, tables/, measures.csv, topics.csv, settings.toml, report.html findings.json  written last, and removed
# before anything else is written anew: where it is, all files belong together crawls/        the crawls that were
# made, so that the next run need not make them
#
# Rules
# - A folder belongs to one study on one web. Other sizes and settings go on in it; files that they no longer have go.
# - One process at a time works on a folder.
# - A folder that was begun and came to nothing, not even a crawl, is removed again.

FORMAT = "scenthound study"
VERSION = 1
ABOUT_FILE = "study.json"
FINDINGS_FILE = "findings.json"
SETTINGS_FILE = "settings.toml"
REPORT_FILE = "report.html"
CRAWLS_FOLDER = "crawls"


@contextmanager
def study_place(out: Path, study: str, web_fingerprint: str) -> Iterator[None]:
    """Hold the folder of a study, and make it if there is none; BadInput if it is something else."""
    _check(out, study, web_fingerprint)
    is_new = not (out / ABOUT_FILE).is_file()
    _make(out)
    with try_lock(out) as is_ours:
        if not is_ours:
            raise InvalidInput(f"Another run is at work in {printable(out)}: wait for it, or choose another --out.")
        if is_new:
            write_atomic(out / ABOUT_FILE, _text(_about(study, web_fingerprint)))
        try:
            yield
        except BaseException:
            if is_new:
                _remove_if_unused(out)
            raise


def write_results(
    out: Path, contents: Mapping[str, bytes], about: Mapping[str, Any], findings: Mapping[str, Any]
) -> None:
    """Write all files of a study, given by their paths in the folder. `about` is for study.json and tells the study and
    the fingerprint of its web, `findings` is for findings.json."""
    earlier = _earlier_files(out) - set(contents)
    (out / FINDINGS_FILE).unlink(missing_ok=True)
    for name, content in contents.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(out / name, content)
    for name in sorted(earlier):
        _remove_within(out, name)
    beginning = _about(str(about["study"]), str(about["web_fingerprint"]))
    write_atomic(out / ABOUT_FILE, _text({**beginning, **about, "files": sorted(contents)}))
    write_atomic(out / FINDINGS_FILE, _text(findings))


def _check(out: Path, study: str, web_fingerprint: str) -> None:
    if not os.path.lexists(out) or (out.is_dir() and not any(out.iterdir())):
        return
    about = _read(out)
    if about.get("format") != FORMAT:
        raise InvalidInput(f"{printable(out)} exists and is not the folder of a study: choose another --out.")
    if about.get("study") != study:
        raise InvalidInput(f"{printable(out)} has the study {printable(about.get('study'))}: choose another --out.")
    if about.get("web_fingerprint") != web_fingerprint:
        raise InvalidInput(
            f"{printable(out)} has {study} on another web, {printable(about.get('web', 'or an earlier state of it'))}: "
            "choose another --out; crawls can be shared with --cache."
        )


def _read(out: Path) -> dict[str, Any]:
    """What study.json says; nothing if it cannot be read."""
    try:
        about = json.loads((out / ABOUT_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return about if isinstance(about, dict) else {}


def _make(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise InvalidInput(f"{printable(out)} cannot be made: {reason.strerror}. Choose another --out.") from None


def _remove_if_unused(out: Path) -> None:
    if [entry.name for entry in out.iterdir()] == [ABOUT_FILE]:
        (out / ABOUT_FILE).unlink()
        out.rmdir()


def _earlier_files(out: Path) -> set[str]:
    """What the run before this one wrote, as far as it is known."""
    listed = _read(out).get("files")
    return {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()


def _remove_within(out: Path, name: str) -> None:
    """Remove a file of an earlier run, and nothing that a damaged list names outside of the folder."""
    place = out / name
    if out.resolve() in place.resolve().parents:
        place.unlink(missing_ok=True)


def _about(study: str, web_fingerprint: str) -> dict[str, Any]:
    return {"format": FORMAT, "version": VERSION, "study": study, "web_fingerprint": web_fingerprint}


def _text(values: Mapping[str, Any]) -> bytes:
    return (json_text(dict(values), indent=1) + "\n").encode("utf-8")
