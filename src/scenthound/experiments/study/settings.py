"""The protocol of a study as a settings file: what is crawled, with what, for how long, and how it is measured.

A file is TOML. `study` names the paper whose findings are tested, `pages` the page budget, `seeds` the random seeds,
`[needs]` what a topic file must have, and each `[[arm]]` one experiment of the paper. `presets/` has a file for each
study; a copy with other values can be used instead.

Rules
- An `[[arm]]` with `optional` is run only on request, by `--arm` or without that line; no finding is about it.
- `--pages`, `--topics-max` and `--repeats` scale a study; arms with a share of budget or topics scale with it.
- No crawl visits more than half of the web: the more of a web a crawl visits, the less its order matters. A smaller
  budget replaces the requested one, and a note says so.
- In a strategy `{pages}` stands for the arm's page budget, and `{many_domains}` for whether the web has more than one
  registrable domain.
- Limits of numbers are in the fields (`least`, `most`).
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from scenthound.errors import InvalidInput, InvalidParameter, UnknownName, UsageError, printable
from scenthound.experiments.evolve.settings import RandomStreams
from scenthound.experiments.starts import parse_task, training_pages_of
from scenthound.files import text_of
from scenthound.metrics.base import METRICS
from scenthound.records import column, columns_of
from scenthound.relevance.base import RELEVANCE
from scenthound.simulator.modes import parse_mode
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.rank_scores import Renew

STUDIES = ("menczer2001", "pant2002", "wang2009", "johnson2003")

#: Which reading of a study an arm follows, where they differ.
Protocol = Literal["", "as_published", "corrected"]


@dataclass(frozen=True, slots=True)
class Needs:
    """What a study requires: this many topics, each with this many examples in the web, and words."""

    topics: int = column(default=5, least=1)
    examples: int = column(default=6, least=1)
    description: bool = False
    keywords: bool = False


@dataclass(frozen=True, slots=True)
class ArmSettings:
    """One experiment of a study. `strategies` are specs by the names that the study gives them; `tops` are the sizes n
    of the static scheme's top n, as shares of the page budget. With `halves` each crawl is made twice, from disjoint
    halves of the seeds. An arm that is `optional` is run only if `--arm` gives the name that it has there. The other
    fields are those of an `Experiment`."""

    name: str
    strategies: Mapping[str, str]
    measures: tuple[str, ...]
    says: str = ""
    optional: str = ""
    protocol: Protocol = ""
    tops: tuple[float, ...] = ()
    task: str = "examples"
    start: int = column(default=10, least=1)
    topics: int | None = column(default=None, least=1)
    pages_share: float = 1.0
    train: int = column(default=0, least=0)
    judge: int = column(default=0, least=0)
    as_published: bool = False
    halves: bool = False
    mode: str = "sequential"
    plain: bool = False
    relevance: str | None = None

    def top_sizes(self, page_budget: int) -> tuple[int, ...]:
        """The sizes n, rising, each once."""
        return tuple(sorted({max(1, round(share * page_budget)) for share in self.tops}))


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The genetic searches of johnson2003, and the evaluation of their results.

    There are `repeats` searches for each of `topics`, which have at least `examples` pages in the web, half of them
    targets; their crawls start from `start` pages and have a share of the study's page budget. The `validated` best
    individuals of the best search of each topic are evaluated. The crawls for that start from `large` and from `small`
    sets of pages, also for `unseen` topics that no search used. `random_streams` and `renew` are those of a search,
    `training_pages` those of crawls.
    """

    topics: int = column(default=2, least=1)
    repeats: int = column(default=5, least=1, most=1000)
    examples: int = column(default=100, least=2)
    population: int = column(default=50, least=1, most=10_000)
    generations: int = column(default=50, least=1, most=10_000)
    crawls: int = column(default=3, least=1)
    random_streams: str = "search"
    start: int = column(default=139, least=1)
    pages_share: float = 1.0
    large: int = column(default=250, least=1)
    small: int = column(default=50, least=1)
    unseen: int = column(default=10, least=0)
    validated: int = column(default=3, least=1, most=100)
    mode: str = "roulette"
    renew: str = "links"
    relevance: str = "svm:bigrams=true,scores=margin"
    training_pages: str = "johnson2003"


@dataclass(frozen=True, slots=True)
class StudySettings:
    """A study: its paper, sizes, requirements and experiments."""

    study: str
    title: str
    pages: int = column(least=1)
    seeds: int = column(default=1, least=1)
    topics_max: int | None = column(default=None, least=1)
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

    def with_arms(self, names: Sequence[str]) -> "StudySettings":
        """With the optional arms of these names switched on."""
        known = {arm.optional for arm in self.arms if arm.optional}
        for name in names:
            if name not in known:
                raise UnknownName.among("optional arm", name, known, owner=self.study)
        arms = (replace(arm, optional="") if arm.optional in names else arm for arm in self.arms)
        return replace(self, arms=tuple(arms))


#: The study that is a search, and has no arms.
SEARCH_STUDY = "johnson2003"
#: Measures of presets that findings do without, so that settings files may lack them: those of earlier versions do.
DISPENSABLE_MEASURES = frozenset(
    {
        "harvest:calibrated=true",
        "precision",
        "rank:by=bm25",
        "rank:by=lexical_mean",
        "target_recall:linked_by=few",
        "target_recall:linked_by=many",
    }
)
#: Larger numbers are mistakes.
MOST = 1_000_000_000
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
    own = {arm.name: arm for arm in settings.arms if not arm.optional}
    for arm in parse_settings(preset_text(settings.study), settings.study).arms:
        if arm.optional:
            continue
        if arm.name not in own:
            return f"[[arm]] {arm.name}"
        lacking = [label for label in arm.strategies if label not in own[arm.name].strategies]
        needed = (measure for measure in arm.measures if measure not in DISPENSABLE_MEASURES)
        lacking += [measure for measure in needed if measure not in own[arm.name].measures]
        if lacking or (arm.tops and not own[arm.name].tops):
            return f"{lacking[0] if lacking else 'tops'} in [[arm]] {arm.name}"
    return ""


def parse_settings(text: str, where: str) -> StudySettings:
    """From TOML; InvalidInput with the first problem."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as reason:
        raise InvalidInput(f"{where}: not TOML ({reason}).") from None
    except (RecursionError, ValueError):
        raise InvalidInput(f"{where}: nested too deeply, or a number that is too long.") from None
    try:
        if "arms" in table:
            raise InvalidParameter("the file has 'arms'; experiments are tables [[arm]].")
        listed = table.pop("arm", [])
        if not isinstance(listed, list) or not all(isinstance(arm, dict) for arm in listed):
            raise InvalidParameter("[[arm]] must be a list of tables.")
        arms = tuple(map(_arm, listed))
        needs = _made(Needs, table.pop("needs", {}), "[needs]")
        search = _search(table.pop("search")) if "search" in table else None
        settings = _made(StudySettings, {**table, "arms": arms, "needs": needs, "search": search}, "the file")
        if settings.study not in STUDIES:
            raise UnknownName.among("study", settings.study, list(STUDIES))
        if (settings.study == SEARCH_STUDY) != (search is not None):
            raise InvalidParameter(f"a table [search] is for {SEARCH_STUDY}, which needs one, and for no other study.")
        if len({arm.name for arm in arms}) < len(arms):
            raise InvalidParameter("two arms have the same name.")
    except UsageError as reason:
        raise InvalidInput(f"{where}: {reason}") from None
    return settings


def _arm(table: dict[str, Any]) -> ArmSettings:
    where = f"[[arm]] {table.get('name', '')}".strip()
    lists = {name: tuple(table[name]) for name in ("measures", "tops") if isinstance(table.get(name), list)}
    arm = _made(ArmSettings, {**table, **lists}, where)
    specs = arm.strategies.values() if isinstance(arm.strategies, Mapping) else ()
    if not isinstance(arm.measures, tuple) or not _are_names(arm.measures) or not _are_names(specs):
        raise InvalidParameter(f'{where} needs strategies, as `NAME = "strategy"`, and measures, as a list of names.')
    if arm.protocol not in get_args(Protocol):
        known = ", ".join(repr(protocol) for protocol in get_args(Protocol))
        raise InvalidParameter(f"{where}: protocol is {arm.protocol!r}; known are {known}.")
    _check_share(where, arm.pages_share)
    are_shares = isinstance(arm.tops, tuple) and all(isinstance(share, int | float) for share in arm.tops)
    if not are_shares or not all(0 < share <= 1 for share in arm.tops):
        raise InvalidParameter(f"{where}: tops are shares of the page budget, above 0 and at most 1.")
    for label, spec in arm.strategies.items():
        _check(f"{where}, {label}", STRATEGIES.parse, _filled_in(spec))
    for measure in arm.measures:
        _check(f"{where}, measures", METRICS.parse, measure)
    _check(f"{where}, task", parse_task, arm.task)
    _check(f"{where}, mode", parse_mode, arm.mode)
    if arm.relevance is not None:
        _check(f"{where}, relevance", RELEVANCE.parse, arm.relevance)
    return arm


def _check(where: str, parse: Callable[[str], object], text: str) -> None:
    """Parse a value now, so that the message about a wrong one says where it is."""
    try:
        parse(text)
    except UsageError as reason:
        raise InvalidParameter(f"{where}: {reason}") from None


def _filled_in(spec: str) -> str:
    """A strategy with values instead of the names of those that depend on the web."""
    return spec.replace("{pages}", "1").replace("{many_domains}", "true")


def _check_choice(where: str, name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise InvalidParameter(f"{where}: {UnknownName.among(name, printable(value, 40), known)}")


def _search(table: Any) -> SearchSettings:
    search = _made(SearchSettings, table, "[search]")
    if search.small >= search.large:
        raise InvalidParameter(f"[search]: small is {search.small} and large {search.large}; small must be smaller.")
    if search.validated > search.population:
        validated = f"validated is {search.validated} and population {search.population}"
        raise InvalidParameter(f"[search]: {validated}; a search has no more individuals than its population.")
    _check_share("[search]", search.pages_share)
    _check_choice("[search]", "random_streams", search.random_streams, get_args(RandomStreams))
    _check_choice("[search]", "renew", search.renew, get_args(Renew))
    _check("[search], mode", parse_mode, search.mode)
    _check("[search], relevance", RELEVANCE.parse, search.relevance)
    _check("[search], training_pages", training_pages_of, search.training_pages)
    return search


def _are_names(values: Any) -> bool:
    """At least one, and each a string."""
    return bool(values) and all(isinstance(value, str) for value in values)


def _check_share(where: str, share: float) -> None:
    if not 0 < share <= 1:
        raise InvalidParameter(f"{where}: pages_share is {share}; it must be above 0 and at most 1.")


#: The types that a TOML value may have for a field of a type; fields of other types are checked by their tables.
TOML_TYPES: dict[Any, tuple[type, ...]] = {
    int: (int,),
    float: (float, int),
    str: (str,),
    bool: (bool,),
    int | None: (int, type(None)),
    str | None: (str, type(None)),
}


def _made(kind: type[Kind], values: Any, where: str) -> Kind:
    """A dataclass from a table, with names, types and limits checked."""
    if not isinstance(values, dict):
        raise InvalidParameter(f"{where} must be a table.")
    record: Any = kind
    known = {each.name: each for each in columns_of(record)}
    for name, value in values.items():
        if name not in known:
            raise InvalidParameter(f"{where} has {name!r}; known are {', '.join(known)}.")
        wanted = TOML_TYPES.get(known[name].type, ())
        if wanted and (not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted)):
            raise InvalidParameter(f"{where}: {name} is {value!r}, which is no {wanted[0].__name__}.")
        least, most = known[name].options.get("least"), known[name].options.get("most", MOST)
        if least is not None and value is not None and not least <= value <= most:
            raise InvalidParameter(f"{where}: {name} is {value}; it must be at least {least} and at most {most:,}.")
    required = [each.name for each in fields(record) if each.default is MISSING and each.default_factory is MISSING]
    if not values.keys() >= set(required):
        raise InvalidParameter(f"{where} needs {', '.join(required)}.")
    return kind(**values)
