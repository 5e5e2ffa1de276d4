"""The result of a study as files: findings, settings, tables, and the numbers behind every figure.

study.json      written first: which study on which web; at the end with everything about the run
figures/, tables/, measures.csv, topics.csv, settings.toml, report.html
findings.json   written last, and removed before anything else is replaced: where it is, all files belong together
crawls/         cached crawls

A folder belongs to one study on one web. Runs with other sizes and settings continue in it; files that they no longer
have are removed. NaN is null in JSON and empty in CSV.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from re import fullmatch
from time import perf_counter
from typing import Any, Generic, TypeVar

from scenthound.errors import InvalidInput, printable
from scenthound.experiments.findings import READING
from scenthound.experiments.pipeline import part_of
from scenthound.experiments.results import Renderer, csv_number, csv_text, replace_files, versions
from scenthound.experiments.study.measures import BOUNDS, ArmMeasurements, Measured
from scenthound.experiments.study.settings import ArmSettings, Needs, SearchSettings, StudySettings
from scenthound.experiments.study.study import FinishedStudy, Study, Timing, run_study
from scenthound.experiments.study.tables import Table
from scenthound.model import Progress, silent
from scenthound.processes import WorkersLike
from scenthound.records import to_json
from scenthound.store.folder import ResultFolder, is_kind
from scenthound.store.record import open_web


def table_markdown(table: Table) -> str:
    """With its caption above and its note below."""
    rows = [table.heads, ["---"] * len(table.heads), *table.rows]
    # What would end a cell is escaped.
    escaped = [[cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in escaped]
    return "\n".join([f"**{table.caption}**", "", *lines, *(["", table.note] if table.note else [])]) + "\n"


def table_files(tables: Iterable[Table]) -> dict[str, str]:
    """Each table as CSV and as Markdown, by the names of their files."""
    texts = {}
    for table in tables:
        texts[f"tables/{table.name}.csv"] = csv_text(table.heads, table.rows)
        texts[f"tables/{table.name}.md"] = table_markdown(table)
    return texts


MEASURES_HEADS = ("arm", "crawler", "measure", "x", "mean", "standard_error", "n_topics")
TOPICS_HEADS = ("arm", "measure", "x", "topic", "crawler", "value")
#: The bounds are listed as crawlers with these names.
BOUND_NAMES = tuple(f"bound: {bound}" for bound in BOUNDS)


def measures_csv(arms: Sequence[ArmMeasurements]) -> str:
    """The points of every curve, means over topics: one row for each crawler, measure and step; `x` is a number of
    visited pages, or the n of a top n."""
    return csv_text(MEASURES_HEADS, chain.from_iterable(map(_measure_rows, arms)))


def topics_csv(arms: Sequence[ArmMeasurements]) -> str:
    """One row for each measure, topic and crawler, at the last step of the measure."""
    return csv_text(TOPICS_HEADS, chain.from_iterable(map(_topic_rows, arms)))


def _measure_rows(arm: ArmMeasurements) -> Iterator[list[Any]]:
    for names, measure, measured in _all_measured(arm):
        for index, name in enumerate(names):
            curve = measured.curve(index)
            points = zip(curve.steps.tolist(), curve.mean.tolist(), curve.standard_error.tolist(), strict=True)
            for x, mean, error in points:
                yield [arm.settings.name, name, measure, x, csv_number(mean), csv_number(error), curve.n_topics]


def _topic_rows(arm: ArmMeasurements) -> Iterator[list[Any]]:
    for names, measure, measured in _all_measured(arm):
        end = int(measured.x[-1])
        for topic, values in zip(arm.topics, measured.values[:, :, -1].T.tolist(), strict=True):
            for name, value in zip(names, values, strict=True):
                yield [arm.settings.name, measure, end, topic, name, csv_number(value)]


def _all_measured(arm: ArmMeasurements) -> Iterator[tuple[Sequence[str], str, Measured]]:
    """The names of the crawlers or bounds, the measure, and its values."""
    for names, by_measure in ((arm.labels, arm.measured), (BOUND_NAMES, arm.bounds)):
        for measure, measured in by_measure.items():
            if len(measured.x):
                yield names, measure, measured


def settings_toml(settings: StudySettings) -> str:
    """The settings as a file that `read_settings` reads. Fields that are None or empty are left out."""
    lines = [*_items(settings), "", "[needs]", *_items(settings.needs)]
    for arm in settings.arms:
        lines += ["", "[[arm]]", *_items(arm), "", "[arm.strategies]"]
        lines += [f"{_key(label)} = {_value(spec)}" for label, spec in arm.strategies.items()]
    if settings.search is not None:
        lines += ["", "[search]", *_items(settings.search)]
    return "\n".join(lines) + "\n"


def _items(record: StudySettings | ArmSettings | Needs | SearchSettings) -> list[str]:
    """The fields that are not tables."""
    values = {each.name: getattr(record, each.name) for each in fields(record)}
    return [
        f"{name} = {_value(value)}"
        for name, value in values.items()
        if name not in ("needs", "arms", "search", "strategies") and value not in (None, ())
    ]


def _key(name: str) -> str:
    return name if fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # JSON escapes as TOML does, except for this character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)


ABOUT_FILE = "study.json"
FINDINGS_FILE = "findings.json"
SETTINGS_FILE = "settings.toml"
CRAWLS_FOLDER = "crawls"


@contextmanager
def study_folder(out: Path, study: str, web_fingerprint: str) -> Iterator[ResultFolder]:
    """Create the folder of a study, or open it, and hold its lock. InvalidInput if it is of another study or web."""
    _check(out, study, web_fingerprint)
    with ResultFolder.update(out, kind="study") as folder:
        if "study" not in folder.about:
            folder.write_json(ABOUT_FILE, {"study": study, "web_fingerprint": web_fingerprint})
        yield folder


def write_results(
    folder: ResultFolder, contents: Mapping[str, bytes], about: Mapping[str, Any], findings: Mapping[str, Any]
) -> None:
    """Write all files of a study: `contents` by path, `about` to study.json, `findings` to findings.json."""
    listed = folder.about.get("files")
    earlier = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    (folder.path / FINDINGS_FILE).unlink(missing_ok=True)
    replace_files(folder.path, contents, earlier)
    folder.write_json(ABOUT_FILE, {**about, "files": sorted(contents)})
    folder.write_json(FINDINGS_FILE, findings)


def _check(out: Path, study: str, web_fingerprint: str) -> None:
    """InvalidInput if a folder is there that this study cannot continue in."""
    if not is_kind(out, "study"):
        if os.path.lexists(out) and not (out.is_dir() and not any(out.iterdir())):
            raise InvalidInput(f"{printable(out)} exists and is not a study: choose another folder with --out.")
        return
    about = ResultFolder.open(out, kind="study").about
    if about.get("study") != study:
        raise InvalidInput(
            f"{printable(out)} has the study {printable(about.get('study'))}: choose another folder with --out."
        )
    if about.get("web_fingerprint") != web_fingerprint:
        raise InvalidInput(
            f"{printable(out)} has {study} on another web ({printable(about.get('web', 'or an older state of it'))}): "
            "choose another folder with --out; crawls can be shared with --cache."
        )


def n_topics(study: Study) -> int:
    """The number of topics in any arm."""
    return len({topic for arm in study.arms for topic in arm.topics})


def common_values(study: FinishedStudy) -> dict[str, Any]:
    """What `study.json` contains for every study."""
    return {
        "study": study.settings.study,
        "title": study.settings.title,
        "versions": versions(),
        "web": str(study.web),
        "web_fingerprint": study.web_fingerprint,
        "n_pages": study.n_pages,
        "n_hosts": study.n_hosts,
        "topics_file": str(study.topics_file),
        "crawls": {"all": study.n_crawls, "made": study.n_made, "kept": study.n_crawls - study.n_made},
        "timings": study.timings,
        "notes": list(study.notes),
    }


def study_values(study: Study) -> dict[str, Any]:
    """The values of `study.json`."""
    arms = [
        {
            "name": arm.settings.name,
            "protocol": arm.settings.protocol,
            "page_budget": arm.page_budget,
            "crawlers": dict(arm.settings.strategies),
            "topics": list(arm.topics),
        }
        for arm in study.arms
    ]
    return common_values(study) | {"arms": arms}


def common_findings(study: FinishedStudy, n_topics: int, reading: str) -> dict[str, Any]:
    """What `findings.json` contains for every study."""
    return {
        "study": study.settings.study,
        "version": version("scenthound"),
        "web": str(study.web),
        "web_fingerprint": study.web_fingerprint,
        "n_topics": n_topics,
        "reading": reading,
        "findings": [{**to_json(each), "verdict": each.verdict.value, "why": each.why} for each in study.findings],
    }


#: The share of crawling and measuring in the progress; rendering has the rest.
SHARE_OF_CRAWLS = 0.95
AnyStudy = TypeVar("AnyStudy", bound=FinishedStudy)


@dataclass(frozen=True, slots=True)
class StudyFiles(Generic[AnyStudy]):
    """What differs between studies when their results are written: CSV files, study.json and findings.json."""

    csv: Callable[[AnyStudy], Mapping[str, str]]
    about: Callable[[AnyStudy], Mapping[str, Any]]
    findings: Callable[[AnyStudy], Mapping[str, Any]]


def study_into(
    out: Path,
    settings: StudySettings,
    web: Path,
    topics: Path,
    *,
    cache: Path | None = None,
    render: Renderer[Study] | None = None,
    workers: WorkersLike = None,
    progress: Progress = silent,
) -> Study:
    """Run a study, and write the result to the folder `out`. Run again, it makes only missing crawls.

    Crawls are cached in the folder `cache`, which several studies may share, by default inside `out`.
    """

    def run(part: Progress) -> Study:
        return run_study(settings, web, topics, cache or out / CRAWLS_FOLDER, workers=workers, progress=part)

    files = StudyFiles(
        lambda study: {"measures.csv": measures_csv(study.arms), "topics.csv": topics_csv(study.arms)},
        study_values,
        lambda study: common_findings(study, n_topics(study), READING),
    )
    return run_into(out, settings, web, run, files, render=render, progress=progress)


def run_into(
    out: Path,
    settings: StudySettings,
    web: Path,
    run: Callable[[Progress], AnyStudy],
    files: StudyFiles[AnyStudy],
    *,
    render: Renderer[AnyStudy] | None,
    progress: Progress,
) -> AnyStudy:
    """Run any study in its folder, render it, and write all its files."""
    if render is not None:
        render.check()
    with study_folder(out, settings.study, open_web(web, progress).fingerprint) as folder:
        study = run(part_of(progress, 0.0, SHARE_OF_CRAWLS))
        texts = {SETTINGS_FILE: settings_toml(settings), **files.csv(study), **table_files(study.tables)}
        contents = {name: text.encode("utf-8") for name, text in texts.items()}
        if render is not None:
            before = perf_counter()
            images = render.figures(study, part_of(progress, SHARE_OF_CRAWLS, 1.0))
            study = replace(study, timings=(*study.timings, Timing("drawing figures", perf_counter() - before)))
            contents |= render.files(study, folder.path, images)
        write_results(folder, contents, files.about(study), files.findings(study))
    progress(1.0, "done")
    return study
