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
- Limits of numbers are in the types of the fields.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from msgspec import Meta

from scenthound.errors import InvalidInput, InvalidParameter, UnknownName, UsageError, printable
from scenthound.experiments.evolve.settings import RandomStreams
from scenthound.experiments.options import STUDIES
from scenthound.experiments.starts import parse_task, training_pages_of
from scenthound.files import text_of
from scenthound.metrics.base import METRICS
from scenthound.relevance.base import RELEVANCE
from scenthound.simulator.modes import parse_mode
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.rank_scores import Renew
from scenthound.toml_files import parsed_toml, table_as

#: Which reading of a study an arm follows, where they differ.
Protocol = Literal["", "as_published", "corrected"]
#: Larger numbers are mistakes.
MOST = 1_000_000_000
Count = Annotated[int, Meta(ge=1, le=MOST)]
NumberOfPages = Annotated[int, Meta(ge=0, le=MOST)]
Share = Annotated[float, Meta(gt=0, le=1)]


@dataclass(frozen=True, slots=True)
class Needs:
    """What a study requires: this many topics, each with this many examples in the web, and words."""

    topics: Count = 5
    examples: Count = 6
    description: bool = False
    keywords: bool = False


@dataclass(frozen=True, slots=True)
class ArmSettings:
    """One experiment of a study. `strategies` are specs by the names that the study gives them; `tops` are the sizes n
    of the static scheme's top n, as shares of the page budget. With `halves` each crawl is made twice, from disjoint
    halves of the seeds. An arm that is `optional` is run only if `--arm` gives the name that it has there. The other
    fields are those of an `Experiment`."""

    name: str
    strategies: Annotated[Mapping[str, str], Meta(min_length=1)]
    measures: Annotated[tuple[str, ...], Meta(min_length=1)]
    says: str = ""
    optional: str = ""
    protocol: str = ""
    tops: tuple[Share, ...] = ()
    task: str = "examples"
    start: Count = 10
    topics: Count | None = None
    pages_share: Share = 1.0
    train: NumberOfPages = 0
    judge: NumberOfPages = 0
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

    topics: Count = 2
    repeats: Annotated[int, Meta(ge=1, le=1000)] = 5
    examples: Annotated[int, Meta(ge=2, le=MOST)] = 100
    population: Annotated[int, Meta(ge=1, le=10_000)] = 50
    generations: Annotated[int, Meta(ge=1, le=10_000)] = 50
    crawls: Count = 3
    random_streams: str = "search"
    start: Count = 139
    pages_share: Share = 1.0
    large: Count = 250
    small: Count = 50
    unseen: NumberOfPages = 10
    validated: Annotated[int, Meta(ge=1, le=100)] = 3
    mode: str = "roulette"
    renew: str = "links"
    relevance: str = "svm:bigrams=true,scores=margin"
    training_pages: str = "johnson2003"


@dataclass(frozen=True, slots=True)
class StudySettings:
    """A study: its paper, sizes, requirements and experiments."""

    study: str
    title: str
    pages: Count
    seeds: Count = 1
    topics_max: Count | None = None
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
#: Values of these names are known ones, or are parsed.
CHOICES = {"protocol": get_args(Protocol), "random_streams": get_args(RandomStreams), "renew": get_args(Renew)}
PARSERS: Mapping[str, Callable[[str], object]] = {
    "task": parse_task,
    "mode": parse_mode,
    "relevance": RELEVANCE.parse,
    "training_pages": training_pages_of,
}
Kind = TypeVar("Kind", Needs, ArmSettings, SearchSettings, StudySettings)


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
    table = parsed_toml(text, where)
    try:
        if "arms" in table:
            raise InvalidParameter("the file has 'arms'; experiments are tables [[arm]].")
        listed = table.pop("arm", [])
        if not isinstance(listed, list):
            raise InvalidParameter("[[arm]] must be a list of tables.")
        arms = tuple(map(_arm, listed))
        needs = _made(Needs, table.pop("needs", {}), "[needs]")
        search = _search(table.pop("search")) if "search" in table else None
        settings = replace(_made(StudySettings, table, "the file"), arms=arms, needs=needs, search=search)
        if settings.study not in STUDIES:
            raise UnknownName.among("study", settings.study, list(STUDIES))
        if (settings.study == SEARCH_STUDY) != (search is not None):
            raise InvalidParameter(f"a table [search] is for {SEARCH_STUDY}, which needs one, and for no other study.")
        if len({arm.name for arm in arms}) < len(arms):
            raise InvalidParameter("two arms have the same name.")
    except UsageError as reason:
        raise InvalidInput(f"{where}: {reason}") from None
    return settings


def _arm(table: Any) -> ArmSettings:
    where = f"[[arm]] {table.get('name', '')}".strip() if isinstance(table, dict) else "[[arm]]"
    arm = _made(ArmSettings, table, where)
    for label, spec in arm.strategies.items():
        # With values instead of the names of those that depend on the web.
        _check(f"{where}, {label}", STRATEGIES.parse, spec.replace("{pages}", "1").replace("{many_domains}", "true"))
    for measure in arm.measures:
        _check(f"{where}, measures", METRICS.parse, measure)
    return arm


def _search(table: Any) -> SearchSettings:
    search = _made(SearchSettings, table, "[search]")
    if search.small >= search.large:
        raise InvalidParameter(f"[search]: small is {search.small} and large {search.large}; small must be smaller.")
    if search.validated > search.population:
        validated = f"validated is {search.validated} and population {search.population}"
        raise InvalidParameter(f"[search]: {validated}; a search has no more individuals than its population.")
    return search


def _check(where: str, parse: Callable[[str], object], text: str) -> None:
    """Parse a value now, so that the message about a wrong one says where it is."""
    try:
        parse(text)
    except UsageError as reason:
        raise InvalidParameter(f"{where}: {reason}") from None


def _made(kind: type[Kind], table: Any, where: str) -> Kind:
    """A dataclass from a table, with names, types, limits and the values of known names checked."""
    made = table_as(kind, table, where)
    for name, choices in CHOICES.items():
        if (value := getattr(made, name, None)) is not None and value not in choices:
            raise InvalidParameter(f"{where}: {UnknownName.among(name, printable(value, 40), choices)}")
    for name, parse in PARSERS.items():
        if (value := getattr(made, name, None)) is not None:
            _check(f"{where}, {name}", parse, value)
    return made
