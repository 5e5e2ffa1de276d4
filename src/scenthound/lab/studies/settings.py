"""The protocol of a study as a settings file: what is crawled, with what, for how long, and how it is measured.

A file is TOML. `study` names the paper whose findings are judged, `pages` the page budget, `seeds` the random seeds,
`[needs]` what a topic file must have, and each `[[arm]]` one experiment of the paper. `presets/` has a file for each
study; a copy with other values can be given in its place.

Rules
- `--pages`, `--topics-max` and `--seeds` scale a study; arms with a share of the budget or fewer topics scale with it.
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
from typing import Any, Literal, TypeVar

from scenthound.errors import BadInput, BadParameter, UnknownName, printable

STUDIES = ("menczer2001", "pant2002", "wang2009", "johnson2003")

Kind = TypeVar("Kind")

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


def preset_text(study: str) -> str:
    """The settings file of a study as it is shipped."""
    if study not in STUDIES:
        raise UnknownName.among("study", study, list(STUDIES))
    return files(__package__).joinpath("presets", f"{study}.toml").read_text(encoding="utf-8")


def read_settings(study: str, file: Path | None = None) -> StudySettings:
    """The study's own settings, or those of a file."""
    if file is None:
        return parse_settings(preset_text(study), f"the settings of {study}")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as reason:
        raise BadInput(f"{printable(file)} cannot be read ({reason}); check the path.") from None
    settings = parse_settings(text, printable(file))
    if settings.study != study:
        raise BadInput(f"{printable(file)} has settings of {settings.study}, not of {study}.")
    missing = missing_parts(settings)
    if missing:
        raise BadInput(f"{printable(file)}: the findings of {study} are about {missing}; put it back.")
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
        raise BadInput(f"{where}: not TOML ({reason}).") from None
    try:
        arms = tuple(_arm(arm) for arm in _tables(table.pop("arm", []), "[[arm]]"))
        needs = _made(Needs, table.pop("needs", {}), "[needs]")
        search = _made(SearchSettings, table.pop("search"), "[search]") if "search" in table else None
        settings = _made(StudySettings, {**table, "arms": arms, "needs": needs, "search": search}, "the file")
        _check(settings)
    except BadParameter as reason:
        raise BadInput(f"{where}: {reason}") from None
    return settings


def _tables(value: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise BadParameter(f"{where} must be a list of tables.")
    return value


def _arm(table: dict[str, Any]) -> ArmSettings:
    lists = {name: tuple(table[name]) for name in ("measures", "tops") if isinstance(table.get(name), list)}
    return _made(ArmSettings, {**table, **lists}, f"[[arm]] {table.get('name', '')}".strip())


def _made(kind: type[Kind], values: Any, where: str) -> Kind:
    """A dataclass from a table: names and types are checked, so that a slip of the pen is told."""
    if not isinstance(values, dict):
        raise BadParameter(f"{where} must be a table.")
    known = {each.name: each.type for each in fields(kind)}  # type: ignore[arg-type]
    for name, value in values.items():
        if name not in known:
            raise BadParameter(f"{where} has {name!r}; known are {', '.join(known)}.")
        wanted = _plain_kinds(known[name])
        if wanted and (not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted)):
            raise BadParameter(f"{where}: {name} is {value!r}, which is no {wanted[0].__name__}.")
    try:
        return kind(**values)
    except TypeError:
        missing = [name for name in ("study", "title", "pages", "name", "strategies", "measures") if name in known]
        raise BadParameter(f"{where} needs {', '.join(missing)}.") from None


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


def _check(settings: StudySettings) -> None:
    if settings.study not in STUDIES:
        raise UnknownName.among("study", settings.study, list(STUDIES))
    for name, value in (("pages", settings.pages), ("seeds", settings.seeds)):
        if value < 1:
            raise BadParameter(f"{name} is {value}; it must be at least 1.")
    names = [arm.name for arm in settings.arms]
    if len(set(names)) < len(names):
        raise BadParameter("two arms have the same name.")
    if settings.search is not None:
        _check_search(settings.search)
    elif settings.study == "johnson2003":
        raise BadParameter("johnson2003 needs a table [search].")
    for arm in settings.arms:
        if not arm.strategies or not arm.measures:
            raise BadParameter(f"[[arm]] {arm.name} needs strategies and measures.")
        if not 0 < arm.pages_share <= 1:
            raise BadParameter(f"[[arm]] {arm.name}: pages_share is {arm.pages_share}; it is above 0 and at most 1.")
        if not all(isinstance(share, int | float) and 0 < share <= 1 for share in arm.tops):
            raise BadParameter(f"[[arm]] {arm.name}: tops are shares of the page budget, above 0 and at most 1.")


def _check_search(search: SearchSettings) -> None:
    for name in ("topics", "population", "generations", "crawls", "start", "small"):
        if getattr(search, name) < 1:
            raise BadParameter(f"[search]: {name} is {getattr(search, name)}; it must be at least 1.")
    if search.examples < 2:
        raise BadParameter(f"[search]: examples is {search.examples}; half of them are found, so give at least 2.")
    if search.unseen < 0:
        raise BadParameter(f"[search]: unseen is {search.unseen}; it must be 0 or more.")
    if search.small >= search.large:
        raise BadParameter(f"[search]: small is {search.small} and large {search.large}; small must be the smaller.")
    if not 0 < search.pages_share <= 1:
        raise BadParameter(f"[search]: pages_share is {search.pages_share}; it is above 0 and at most 1.")
