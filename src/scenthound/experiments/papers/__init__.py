"""The papers, one module each: findings, figures and tables. `pairs` says what cannot be asked in any of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from scenthound.experiments.findings import Finding
from scenthound.experiments.study.measures import ArmMeasurements
from scenthound.experiments.study.tables import Picture, Table


@dataclass(frozen=True, slots=True)
class Published:
    """The size of an experiment of a paper: pages per crawl, topics, the largest N of its crawlers, and its relevance
    model."""

    pages: int
    topics: int
    largest_n: int
    relevance: str


class Paper(Protocol):
    """What a module of this package provides, from the measured arms of its study in the order of the settings."""

    #: By arm; arms that the paper does not have are missing.
    PUBLISHED: Mapping[str, Published]

    def findings(self, arms: Sequence[ArmMeasurements]) -> Iterable[Finding]: ...

    def pictures(self, arms: Sequence[ArmMeasurements]) -> Iterable[Picture]: ...

    def tables(self, arms: Sequence[ArmMeasurements]) -> Iterable[Table]: ...


def differences_from_paper(published: Published, arm: ArmMeasurements) -> str:
    """How the size of an arm differs from the paper's; empty if it does not."""
    pages, topics, relevance = arm.page_budget, len(arm.topics), arm.settings.relevance
    found = []
    if pages != published.pages:
        found.append(f"crawls of {pages:,} pages instead of {published.pages:,}")
    largest_n = max(arm.n_of.values(), default=1)
    share, published_share = f"{largest_n / pages:.1%}", f"{published.largest_n / published.pages:.1%}"
    if max(largest_n, published.largest_n) > 1 and share != published_share:
        found.append(f"the largest N is {share} of the pages instead of {published_share}")
    if topics != published.topics:
        found.append(f"{topics} topics instead of {published.topics}")
    if relevance is not None and relevance != published.relevance:
        found.append(f"the relevance model {relevance} instead of {published.relevance}")
    return "; ".join(found)


def paper_of(study: str) -> Paper:
    """The paper of a study whose settings are arms."""
    return cast(Paper, import_module(f"{__name__}.{study}"))
