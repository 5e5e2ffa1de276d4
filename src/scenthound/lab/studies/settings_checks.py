"""Refuses settings of a study that no study can be run with, however they came to be."""

from collections.abc import Mapping
from typing import Any, get_args

from scenthound.errors import BadParameter, UnknownName
from scenthound.lab.studies.settings import STUDIES, ArmSettings, Protocol, SearchSettings, StudySettings

#: The study that is a search, and has no arms.
SEARCH_STUDY = "johnson2003"
#: Larger numbers are slips of the pen.
MOST = 1_000_000_000
MOST_INDIVIDUALS = 10_000


def check_settings(settings: StudySettings) -> None:
    """One line on the first thing that is wrong."""
    if settings.study not in STUDIES:
        raise UnknownName.among("study", settings.study, list(STUDIES))
    _check_numbers("the file", {"pages": settings.pages, "seeds": settings.seeds, "topics_max": settings.topics_max})
    _check_numbers("[needs]", {"topics": settings.needs.topics, "examples": settings.needs.examples})
    if (settings.study == SEARCH_STUDY) != (settings.search is not None):
        raise BadParameter(f"a table [search] is for {SEARCH_STUDY}, which needs one, and for no other study.")
    if settings.search is not None:
        _check_search(settings.search)
    names = [arm.name for arm in settings.arms]
    if len(set(names)) < len(names):
        raise BadParameter("two arms have the same name.")
    for arm in settings.arms:
        _check_arm(arm)


def _check_numbers(where: str, numbers: Mapping[str, int | None], least: int = 1, most: int = MOST) -> None:
    for name, value in numbers.items():
        if value is not None and not least <= value <= most:
            raise BadParameter(f"{where}: {name} is {value}; it must be at least {least} and at most {most:,}.")


def _check_arm(arm: ArmSettings) -> None:
    where = f"[[arm]] {arm.name}"
    is_table = isinstance(arm.strategies, Mapping)
    if not _are_words(arm.measures) or not is_table or not _are_words(arm.strategies.values()):
        raise BadParameter(f'{where} needs strategies, as `NAME = "strategy"`, and measures, as a list of names.')
    if arm.protocol not in get_args(Protocol):
        known = ", ".join(repr(protocol) for protocol in get_args(Protocol))
        raise BadParameter(f"{where}: protocol is {arm.protocol!r}; known are {known}.")
    _check_numbers(where, {"start": arm.start, "topics": arm.topics})
    _check_numbers(where, {"train": arm.train, "judge": arm.judge}, least=0)
    _check_share(where, arm.pages_share)
    if not all(isinstance(share, int | float) and 0 < share <= 1 for share in arm.tops):
        raise BadParameter(f"{where}: tops are shares of the page budget, above 0 and at most 1.")


def _are_words(values: Any) -> bool:
    """At least one, and each a string."""
    listed = list(values)
    return bool(listed) and all(isinstance(value, str) for value in listed)


def _check_share(where: str, share: float) -> None:
    if not 0 < share <= 1:
        raise BadParameter(f"{where}: pages_share is {share}; it is above 0 and at most 1.")


def _check_search(search: SearchSettings) -> None:
    where = "[search]"
    _check_numbers(where, {name: getattr(search, name) for name in ("topics", "crawls", "start", "small", "large")})
    sizes = {name: getattr(search, name) for name in ("population", "generations")}
    _check_numbers(where, sizes, most=MOST_INDIVIDUALS)
    if search.examples < 2:
        raise BadParameter(f"{where}: examples is {search.examples}; half of them are found, so give at least 2.")
    _check_numbers(where, {"unseen": search.unseen}, least=0)
    if search.small >= search.large:
        raise BadParameter(f"{where}: small is {search.small} and large {search.large}; small must be the smaller.")
    _check_share(where, search.pages_share)
