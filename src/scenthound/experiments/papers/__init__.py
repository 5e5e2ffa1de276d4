"""The papers, one module each: findings, figures and tables."""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Protocol, cast

from scenthound.experiments.findings import Finding
from scenthound.experiments.study.measures import ArmMeasurements
from scenthound.experiments.study.tables import Picture, Table


class Paper(Protocol):
    """What a module of this package provides, from the measured arms of its study in the order of the settings."""

    def findings(self, arms: Sequence[ArmMeasurements]) -> Iterable[Finding]: ...

    def pictures(self, arms: Sequence[ArmMeasurements]) -> Iterable[Picture]: ...

    def tables(self, arms: Sequence[ArmMeasurements]) -> Iterable[Table]: ...


def paper_of(study: str) -> Paper:
    """The paper of a study whose settings are arms."""
    return cast(Paper, import_module(f"{__name__}.{study}"))
