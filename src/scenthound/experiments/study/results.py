"""The result of a study as files: findings, settings, tables, and the numbers behind every figure.

study.json      written first: which study on which web; at the end with everything about the run
figures/, tables/, measures.csv, topics.csv, settings.toml, report.html
findings.json   written last, and removed before anything else is replaced: where it is, all files belong together
crawls/         cached crawls

A folder belongs to one study on one web. Runs with other sizes and settings continue in it; files that they no longer
have are removed. NaN is null in JSON and empty in CSV.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from scenthound.errors import InvalidInput, printable
from scenthound.experiments.johnson2003.results import run_johnson2003
from scenthound.experiments.pipeline import part_of
from scenthound.experiments.results import Renderer, csv_text, replace_files, versions
from scenthound.experiments.study.settings import ArmSettings, Needs, SearchSettings, StudySettings
from scenthound.experiments.study.study import Study, Timing, run_study
from scenthound.experiments.study.tables import Table
from scenthound.model import Progress, silent
from scenthound.processes import WorkersLike
from scenthound.records import to_json
from scenthound.store.folder import ResultFolder, is_kind
from scenthound.store.record import open_web
from scenthound.toml_files import toml_lines


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


def settings_toml(settings: StudySettings) -> str:
    """The settings as a file that `read_settings` reads. Fields that are None or empty are left out."""
    lines = [*_entries(settings), "", "[needs]", *_entries(settings.needs)]
    for arm in settings.arms:
        lines += ["", "[[arm]]", *_entries(arm), "", "[arm.strategies]", *toml_lines(arm.strategies)]
    if settings.search is not None:
        lines += ["", "[search]", *_entries(settings.search)]
    return "\n".join(lines) + "\n"


def _entries(record: StudySettings | ArmSettings | Needs | SearchSettings) -> list[str]:
    """The fields that are not tables."""
    values = {each.name: getattr(record, each.name) for each in fields(record)}
    tables = ("needs", "arms", "search", "strategies")
    return toml_lines({name: value for name, value in values.items() if name not in tables and value not in (None, ())})


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


def study_values(study: Study) -> dict[str, Any]:
    """The values of `study.json`."""
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
        **study.own_values(),
    }


def study_findings(study: Study) -> dict[str, Any]:
    """The values of `findings.json`."""
    return {
        "study": study.settings.study,
        "version": version("scenthound"),
        "web": str(study.web),
        "web_fingerprint": study.web_fingerprint,
        "n_topics": study.n_topics,
        "reading": study.reading,
        "findings": [{**to_json(each), "verdict": each.verdict.value, "why": each.why} for each in study.findings],
    }


#: The share of crawling and measuring in the progress; rendering has the rest.
SHARE_OF_CRAWLS = 0.95


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
    """Run a study, and write the result to the folder `out`. Run again, it only does what is missing.

    Crawls are cached in the folder `cache`, which several studies may share, by default inside `out`. Searches, and the
    crawls of a study that has some, are always there.
    """
    if render is not None:
        render.check()
    with study_folder(out, settings.study, open_web(web, progress).fingerprint) as folder:
        crawling = part_of(progress, 0.0, SHARE_OF_CRAWLS)
        if settings.search is not None:
            study: Study = run_johnson2003(settings, web, topics, out, workers=workers, progress=crawling)
        else:
            study = run_study(settings, web, topics, cache or out / CRAWLS_FOLDER, workers=workers, progress=crawling)
        texts = {SETTINGS_FILE: settings_toml(settings), **study.csv_files(), **table_files(study.tables)}
        contents = {name: text.encode("utf-8") for name, text in texts.items()}
        if render is not None:
            before = perf_counter()
            images = render.figures(study, part_of(progress, SHARE_OF_CRAWLS, 1.0))
            study = replace(study, timings=(*study.timings, Timing("drawing figures", perf_counter() - before)))
            contents |= render.files(study, folder.path, images)
        write_results(folder, contents, study_values(study), study_findings(study))
    progress(1.0, "done")
    return study
