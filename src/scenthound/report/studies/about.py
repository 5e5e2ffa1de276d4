"""What there is to say of a run of a study: in `study.json`, in `findings.json`, and on the page."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from scenthound.lab.command_line import command_line
from scenthound.lab.findings import Finding
from scenthound.lab.studies.finished import FinishedStudy
from scenthound.lab.studies.measured import ArmMeasurements
from scenthound.lab.studies.study import Study
from scenthound.report.studies.charts import picture_section, win_losses
from scenthound.report.studies.files import findings_as_json
from scenthound.report.studies.page import StudyPage
from scenthound.report.studies.place import SETTINGS_FILE
from scenthound.report.studies.words import READING, protocol_told, verdicts_told
from scenthound.report.versions import versions, versions_told


def common_values(study: FinishedStudy) -> dict[str, Any]:
    """What `study.json` says of every study."""
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
        "timings": [asdict(timing) for timing in study.timings],
        "notes": list(study.notes),
    }


def study_values(study: Study) -> dict[str, Any]:
    """Plain values for `study.json`."""
    return common_values(study) | {"arms": [_arm(arm) for arm in study.arms]}


def _arm(arm: ArmMeasurements) -> dict[str, Any]:
    return {
        "name": arm.settings.name,
        "protocol": arm.settings.protocol,
        "page_budget": arm.page_budget,
        "crawlers": dict(arm.settings.strategies),
        "topics": list(arm.topics),
    }


def findings_values(study: Study) -> dict[str, Any]:
    """Plain values for `findings.json`."""
    return common_findings(study, n_topics(study), READING)


def common_findings(study: FinishedStudy, n_topics: int, reading: str) -> dict[str, Any]:
    """What `findings.json` says of every study."""
    return {
        "study": study.settings.study,
        "version": version("scenthound"),
        "web": str(study.web),
        "web_fingerprint": study.web_fingerprint,
        "n_topics": n_topics,
        "reading": reading,
        "findings": findings_as_json(study.findings),
    }


def n_topics(study: Study) -> int:
    """Topics that any arm is on."""
    return len({topic for arm in study.arms for topic in arm.topics})


def study_page(study: Study, settings_text: str, out: Path) -> StudyPage:
    """The page of a study, whose folder is `out`."""
    return StudyPage(
        title=f"{study.settings.study}: {study.settings.title}",
        summary=(*verdict_lines(study.findings), _setting_told(study)),
        findings=study.findings,
        figures=tuple(picture_section(picture, study.arms) for picture in study.pictures),
        won=tuple(win_losses(study.arms)),
        tables=study.tables,
        notes=study.notes,
        facts=tuple(all_facts(study, _facts(study))),
        settings=settings_text,
        command=repeat_command(study, out),
    )


def repeat_command(study: FinishedStudy, out: Path) -> str:
    """`scenthound study` with the settings that are kept in the folder; it makes only what is new."""
    options = [("--web", study.web), ("--topics", study.topics_file), ("--settings", out.absolute() / SETTINGS_FILE)]
    return command_line(("scenthound", "study", study.settings.study), [*options, ("--out", out.absolute())])


def verdict_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """How many findings have which verdict: a sentence for each protocol."""
    by_protocol: dict[str, list[Finding]] = {}
    for finding in findings:
        by_protocol.setdefault(finding.protocol, []).append(finding)
    for protocol, those in by_protocol.items():
        of_any = " for which protocols do not differ" if len(by_protocol) > 1 else ""
        told = f" by the protocol {protocol_told(protocol)!r}" if protocol else of_any
        yield f"{verdicts_told(those, told)}."


def _setting_told(study: Study) -> str:
    settings = study.settings
    seeds = f"{settings.seeds} random seed{'s' if settings.seeds != 1 else ''}"
    budget = max(arm.page_budget for arm in study.arms)
    return (
        f"On the recorded web {study.web.name}, {study.n_pages:,} pages of {study.n_hosts:,} "
        f"host{'s' if study.n_hosts != 1 else ''}: {n_topics(study):,} topics, {seeds}, crawls of up to {budget:,} "
        f"pages, {study.n_crawls:,} crawls in all."
    )


def _facts(study: Study) -> Iterator[tuple[str, str]]:
    for arm in study.arms:
        about = f"{len(arm.topics):,} topics, {len(arm.labels)} crawlers, {arm.page_budget:,} pages"
        yield f"arm {arm.settings.name!r}", f"{about}; {arm.settings.says}" if arm.settings.says else about


def all_facts(study: FinishedStudy, own: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """What a reader needs to repeat a study: what it ran on, what is its own, what it cost, and versions."""
    yield "web", str(study.web)
    yield "fingerprint of the web", study.web_fingerprint
    yield "topics", str(study.topics_file)
    yield from own
    yield "crawls", f"{study.n_made:,} made, {study.n_crawls - study.n_made:,} kept from earlier runs or other parts"
    for timing in study.timings:
        yield f"time for {timing.part}", f"{timing.seconds:,.1f} s"
    yield "time in all", f"{sum(timing.seconds for timing in study.timings):,.1f} s"
    yield "versions", versions_told(versions())
