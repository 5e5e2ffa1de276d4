"""The protocol of a study as a settings file: what is crawled, with what, for how long, and how it is measured.

A file is TOML, read by `settings_file`. `study` names the paper whose findings are judged, `pages` the page budget,
`seeds` the random seeds, `[needs]` what a topic file must have, and each `[[arm]]` one experiment of the paper.
`presets/` has a file for each study; a copy with other values can be given in its place.

Rules
- `--pages`, `--topics-max` and `--repeats` scale a study; arms with a share of budget or topics scale with it.
- No crawl takes more than half of the web: the more of a web a crawl takes, the less it says about the order it came
  in, and one that takes it all says nothing. A smaller budget stands in for the one asked for, and a note says so.
- In a strategy `{pages}` stands for the arm's page budget, and `{many_domains}` for whether the web has more than one
  registrable domain.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from scenthound.errors import InvalidInput, InvalidParameter, UnknownName, printable
from scenthound.files import text_of

STUDIES = ("menczer2001", "pant2002", "wang2009", "johnson2003")

#: Which reading of a study an arm follows, where they differ.
Protocol = Literal["", "as_published", "corrected"]


@dataclass(frozen=True, slots=True)
class Needs:
    """What a study cannot do without: so many topics that each have so many examples in the web, and words."""

    topics: int = 5
    examples: int = 6
    description: bool = False
    keywords: bool = False


@dataclass(frozen=True, slots=True)
class ArmSettings:
    """One experiment of a study. `strategies` are specs by the names that the study gives them; `tops` are the sizes n
    of the static scheme's top n, as shares of the page budget. With `halves` each crawl is made twice, from disjoint
    halves of the seeds. The other fields are those of an `Experiment`."""

    name: str
    strategies: Mapping[str, str]
    measures: tuple[str, ...]
    says: str = ""
    protocol: Protocol = ""
    tops: tuple[float, ...] = ()
    task: str = "examples"
    start: int = 10
    topics: int | None = None
    pages_share: float = 1.0
    train: int = 0
    judge: int = 0
    as_published: bool = False
    halves: bool = False
    mode: str = "sequential"
    plain: bool = False

    def top_sizes(self, page_budget: int) -> tuple[int, ...]:
        """The sizes n, rising, each once."""
        return tuple(sorted({max(1, round(share * page_budget)) for share in self.tops}))


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The genetic searches of johnson2003, and what their results are put to.

    There is a search for each of `topics`, which have at least `examples` pages in the web; its crawls start from
    `start` pages and have a share of the study's page budget. `large` and `small` are the pages that the crawls start
    from which judge the results; `unseen` topics are those that no search saw.
    """

    topics: int = 2
    examples: int = 100
    population: int = 50
    generations: int = 50
    crawls: int = 3
    start: int = 139
    pages_share: float = 1.0
    large: int = 250
    small: int = 50
    unseen: int = 10
    mode: str = "roulette"
    relevance: str = "svm"


@dataclass(frozen=True, slots=True)
class StudySettings:
    """A whole study."""

    study: str
    title: str
    pages: int
    seeds: int = 1
    topics_max: int | None = None
    needs: Needs = field(default_factory=Needs)
    arms: tuple[ArmSettings, ...] = ()
    search: SearchSettings | None = None

    def scaled(
        self, pages: int | None = None, topics_max: int | None = None, seeds: int | None = None
    ) -> "StudySettings":
        """With other sizes; None leaves one as it is."""
        return replace(
            self, pages=pages or self.pages, topics_max=topics_max or self.topics_max, seeds=seeds or self.seeds
        )


def fitting_pages(wanted: int, n_pages: int) -> int:
    """The page budget, or half of a web that is too small for it."""
    return max(1, min(wanted, n_pages // 2))


# Refuses settings of a study that no study can be run with, however they came to be.

#: The study that is a search, and has no arms.
SEARCH_STUDY = "johnson2003"
#: Larger numbers are slips of the pen.
MOST = 1_000_000_000
MAX_INDIVIDUALS = 10_000


def check_settings(settings: StudySettings) -> None:
    """One line on the first thing that is wrong."""
    if settings.study not in STUDIES:
        raise UnknownName.among("study", settings.study, list(STUDIES))
    _check_numbers("the file", {"pages": settings.pages, "seeds": settings.seeds, "topics_max": settings.topics_max})
    _check_numbers("[needs]", {"topics": settings.needs.topics, "examples": settings.needs.examples})
    if (settings.study == SEARCH_STUDY) != (settings.search is not None):
        raise InvalidParameter(f"a table [search] is for {SEARCH_STUDY}, which needs one, and for no other study.")
    if settings.search is not None:
        _check_search(settings.search)
    names = [arm.name for arm in settings.arms]
    if len(set(names)) < len(names):
        raise InvalidParameter("two arms have the same name.")
    for arm in settings.arms:
        _check_arm(arm)


def _check_numbers(where: str, numbers: Mapping[str, int | None], least: int = 1, most: int = MOST) -> None:
    for name, value in numbers.items():
        if value is not None and not least <= value <= most:
            raise InvalidParameter(f"{where}: {name} is {value}; it must be at least {least} and at most {most:,}.")


def _check_arm(arm: ArmSettings) -> None:
    where = f"[[arm]] {arm.name}"
    is_table = isinstance(arm.strategies, Mapping)
    if not _are_words(arm.measures) or not is_table or not _are_words(arm.strategies.values()):
        raise InvalidParameter(f'{where} needs strategies, as `NAME = "strategy"`, and measures, as a list of names.')
    if arm.protocol not in get_args(Protocol):
        known = ", ".join(repr(protocol) for protocol in get_args(Protocol))
        raise InvalidParameter(f"{where}: protocol is {arm.protocol!r}; known are {known}.")
    _check_numbers(where, {"start": arm.start, "topics": arm.topics})
    _check_numbers(where, {"train": arm.train, "judge": arm.judge}, least=0)
    _check_share(where, arm.pages_share)
    if not all(isinstance(share, int | float) and 0 < share <= 1 for share in arm.tops):
        raise InvalidParameter(f"{where}: tops are shares of the page budget, above 0 and at most 1.")


def _are_words(values: Any) -> bool:
    """At least one, and each a string."""
    listed = list(values)
    return bool(listed) and all(isinstance(value, str) for value in listed)


def _check_share(where: str, share: float) -> None:
    if not 0 < share <= 1:
        raise InvalidParameter(f"{where}: pages_share is {share}; it is above 0 and at most 1.")


def _check_search(search: SearchSettings) -> None:
    where = "[search]"
    _check_numbers(where, {name: getattr(search, name) for name in ("topics", "crawls", "start", "small", "large")})
    sizes = {name: getattr(search, name) for name in ("population", "generations")}
    _check_numbers(where, sizes, most=MAX_INDIVIDUALS)
    if search.examples < 2:
        raise InvalidParameter(f"{where}: examples is {search.examples}; half of them are found, so give at least 2.")
    _check_numbers(where, {"unseen": search.unseen}, least=0)
    if search.small >= search.large:
        raise InvalidParameter(f"{where}: small is {search.small} and large {search.large}; small must be the smaller.")
    _check_share(where, search.pages_share)


# Reads the settings file of a study, shipped or written by a user; what is wrong with it is told in one line.

Kind = TypeVar("Kind")


def preset_text(study: str) -> str:
    """The settings file of a study as it is shipped."""
    if study not in STUDIES:
        raise UnknownName.among("study", study, list(STUDIES))
    return files(__package__).joinpath("presets", f"{study}.toml").read_text(encoding="utf-8")


def read_settings(study: str, file: Path | None = None) -> StudySettings:
    """The study's own settings, or those of a file."""
    if file is None:
        return parse_settings(preset_text(study), f"the settings of {study}")
    settings = parse_settings(text_of(file), printable(file))
    if settings.study != study:
        raise InvalidInput(f"{printable(file)} has settings of {settings.study}, not of {study}.")
    missing = missing_parts(settings)
    if missing:
        raise InvalidInput(f"{printable(file)}: the findings of {study} are about {missing}; put it back.")
    return settings


def missing_parts(settings: StudySettings) -> str:
    """What the findings of a study are about and its settings lack; empty if nothing. More may always be added."""
    own = {arm.name: arm for arm in settings.arms}
    for arm in parse_settings(preset_text(settings.study), settings.study).arms:
        if arm.name not in own:
            return f"[[arm]] {arm.name}"
        lacking = [label for label in arm.strategies if label not in own[arm.name].strategies]
        lacking += [measure for measure in arm.measures if measure not in own[arm.name].measures]
        if lacking or (arm.tops and not own[arm.name].tops):
            return f"{lacking[0] if lacking else 'tops'} in [[arm]] {arm.name}"
    return ""


def parse_settings(text: str, where: str) -> StudySettings:
    """From TOML, or one line on what is wrong with it."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as reason:
        raise InvalidInput(f"{where}: not TOML ({reason}).") from None
    except (RecursionError, ValueError):
        raise InvalidInput(f"{where}: nested too deeply, or a number that is too long.") from None
    try:
        if "arms" in table:
            raise InvalidParameter("the file has 'arms'; experiments are tables [[arm]].")
        arms = tuple(_arm(arm) for arm in _tables(table.pop("arm", []), "[[arm]]"))
        needs = _made(Needs, table.pop("needs", {}), "[needs]")
        search = _made(SearchSettings, table.pop("search"), "[search]") if "search" in table else None
        settings = _made(StudySettings, {**table, "arms": arms, "needs": needs, "search": search}, "the file")
        check_settings(settings)
    except InvalidParameter as reason:
        raise InvalidInput(f"{where}: {reason}") from None
    return settings


def _tables(value: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise InvalidParameter(f"{where} must be a list of tables.")
    return value


def _arm(table: dict[str, Any]) -> ArmSettings:
    lists = {name: tuple(table[name]) for name in ("measures", "tops") if isinstance(table.get(name), list)}
    return _made(ArmSettings, {**table, **lists}, f"[[arm]] {table.get('name', '')}".strip())


def _made(kind: type[Kind], values: Any, where: str) -> Kind:
    """A dataclass from a table: names and types are checked, so that a slip of the pen is told."""
    if not isinstance(values, dict):
        raise InvalidParameter(f"{where} must be a table.")
    known = {each.name: each.type for each in fields(kind)}  # type: ignore[arg-type]
    for name, value in values.items():
        if name not in known:
            raise InvalidParameter(f"{where} has {name!r}; known are {', '.join(known)}.")
        wanted = _plain_kinds(known[name])
        if wanted and (not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted)):
            raise InvalidParameter(f"{where}: {name} is {value!r}, which is no {wanted[0].__name__}.")
    try:
        return kind(**values)
    except TypeError:
        missing = [name for name in ("study", "title", "pages", "name", "strategies", "measures") if name in known]
        raise InvalidParameter(f"{where} needs {', '.join(missing)}.") from None


def _plain_kinds(annotation: Any) -> tuple[type, ...]:
    return {
        "int": (int,),
        "float": (float, int),
        "str": (str,),
        "bool": (bool,),
        int: (int,),
        float: (float, int),
        str: (str,),
        bool: (bool,),
        int | None: (int, type(None)),
    }.get(annotation, ())
