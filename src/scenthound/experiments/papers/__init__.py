"""The papers: which findings each has, and what its figures and tables show. One file for each."""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Protocol, cast

from scenthound.experiments.findings import Finding
from scenthound.experiments.study.measured import ArmMeasurements
from scenthound.experiments.study.tables import Picture, Table


class Paper(Protocol):
    """What a file of this folder has. It is given the arms of its study, measured, in the order of the settings."""

    def findings(self, arms: Sequence[ArmMeasurements]) -> Iterable[Finding]: ...

    def pictures(self, arms: Sequence[ArmMeasurements]) -> Iterable[Picture]: ...

    def tables(self, arms: Sequence[ArmMeasurements]) -> Iterable[Table]: ...


def paper_of(study: str) -> Paper:
    """The paper of a study whose settings are arms."""
    return cast(Paper, import_module(f"{__name__}.{study}"))
