"""What every study comes to, whatever its experiment."""

from dataclasses import dataclass
from pathlib import Path

from scenthound.lab.findings import Finding
from scenthound.lab.studies.pictures import Table
from scenthound.lab.studies.settings import StudySettings


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a part of a study took."""

    part: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedStudy:
    """A study that was run, on one web and the topics of one file."""

    settings: StudySettings
    web: Path
    web_fingerprint: str
    n_pages: int
    n_hosts: int
    topics_file: Path
    findings: tuple[Finding, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    n_crawls: int
    n_made: int  #: crawls that were not kept from an earlier run
    timings: tuple[Timing, ...]
