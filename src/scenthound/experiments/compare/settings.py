"""Prepare a comparison: choose topics, fit the page budget to the web, list the crawlers and draw the starts.

If no strategy is given, all installed ones take part, except those that fail or cannot crawl for the topics, which are
left out with the reason. A strategy that is given explicitly must work; the baseline then takes part too.

The metric that decides is the recall of targets. If no topic has targets, it is the share of pages on topic, which
needs no known pages; otherwise topics without targets are skipped, as for any metric that a topic has no value for.

Sweeps are written `parameter=value,value,...`; several sweeps form a grid. Every swept strategy must have the
parameter, and must not set it already. A strategy with a parameter `max_pages` gets the page budget, unless it is set.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

import numpy as np

from scenthound.crawler.options import DEFAULT_PATIENCE, CrawlChoices
from scenthound.errors import InvalidParameter, PluginError, ScenthoundError, UnknownName, UsageError, printable
from scenthound.experiments.pipeline import Planned, PlannedCrawls, plan
from scenthound.experiments.setup import Experiment, ExperimentSetup, fitting_pages
from scenthound.experiments.starts import Start, Starts, Task, TopicChoice, skipped_text
from scenthound.experiments.statistics import MIN_TOPICS
from scenthound.experiments.trace_cache import Provenance
from scenthound.metrics.base import Metric, Point, parse_metric
from scenthound.metrics.classified import OnTopic
from scenthound.metrics.retrieval import TargetRecall
from scenthound.registry import Value, format_value
from scenthound.simulator.modes import MODES, SEQUENTIAL
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.topics.files import read_topics


def check_length(start: Start, point: Point, pages: int, n_pages: int) -> None:
    """InvalidParameter, with what would help, if crawls are measured before they visit more than their seeds."""
    n_seeds = len(start.seeds)
    if n_seeds < point.step:
        return
    options = ["a smaller --start"] if n_seeds > 1 else []
    if point.step < pages:
        options.append("a larger number after the @ of --by")
    elif fitting_pages(pages + 1, n_pages) > pages:
        options.append("larger --pages")
    advice = f"give {', or '.join(options)}" if options else f"use a web of more than {n_pages:,} pages"
    n_start = f"{n_seeds:,} pages" if n_seeds > 1 else "1 page"
    raise InvalidParameter(
        f"Crawls for topic {start.topic!r} start from {n_start} and are measured after {point.step:,}, before they "
        f"visit any other page: {advice}."
    )


#: More would take hours, and make an unreadable table.
MAX_CRAWLERS = 200
#: The parameter for the page budget of the crawl.
PAGE_BUDGET = "max_pages"


#: The values to try of each parameter, as the user wrote them.
Sweeps = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Crawler:
    """A strategy with its parameters. `base` is the strategy as the user wrote it, `swept` its values of the sweeps."""

    spec: str
    base: str
    swept: Mapping[str, Value] = field(default_factory=dict)


def parse_sweeps(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Read `parameter=value,value,...` of several parameters."""
    sweeps: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, _, rest = (piece.strip() for piece in text.partition("="))
        values = tuple(dict.fromkeys(filter(None, (value.strip() for value in rest.split(",")))))
        if not name or not values:
            raise InvalidParameter(
                f"--sweep {printable(text)!r} must be written parameter=value,value, for example buffer=64,256,1024."
            )
        if name in sweeps:
            raise InvalidParameter(f"--sweep {name} is given twice; write all its values in one: {name}=value,value.")
        sweeps[name] = values
    return sweeps


def crawlers_of(strategies: Sequence[str], sweeps: Sweeps, page_budget: int) -> tuple[Crawler, ...]:
    """All crawlers; of equal ones the first."""
    if sweeps and not strategies:
        having = [known for known in STRATEGIES.names() if sweeps.keys() <= STRATEGIES.parameters(known).keys()]
        raise InvalidParameter(
            f"--sweep {next(iter(sweeps))} needs --strategy. Strategies with "
            f"{' and '.join(sweeps)}: {', '.join(having) or 'none'}."
        )
    n_wanted = len(strategies) * prod(map(len, sweeps.values()))
    if n_wanted > MAX_CRAWLERS:
        raise InvalidParameter(
            f"That makes {n_wanted:,} strategies to compare, and at most {MAX_CRAWLERS} are allowed: "
            "sweep fewer values, or give fewer strategies."
        )
    by_spec: dict[str, Crawler] = {}
    for strategy in strategies:
        for each in _grid(strategy, sweeps, page_budget):
            by_spec.setdefault(each.spec, each)
    return tuple(by_spec[spec] for spec in STRATEGIES.distinct(by_spec))


def _grid(strategy: str, sweeps: Sweeps, page_budget: int) -> Iterable[Crawler]:
    base = STRATEGIES.parse(strategy)
    known = STRATEGIES.parameters(base.name)
    for name in sweeps:
        if name not in known:
            raise UnknownName.among("parameter", name, known, owner=base.name)
        if name in dict(base.parameters):
            raise InvalidParameter(f"{printable(strategy)} sets {name}, and so does --sweep: remove one of them.")
    for values in product(*sweeps.values()):
        swept = {name: known[name].parse(value, base.name) for name, value in zip(sweeps, values, strict=True)}
        spec = _spelled(strategy, swept)
        choice = STRATEGIES.parse(spec)
        if PAGE_BUDGET in STRATEGIES.parameters(choice.name) and PAGE_BUDGET not in STRATEGIES.values(choice):
            spec = _spelled(spec, {PAGE_BUDGET: page_budget})
        yield Crawler(spec, str(base), swept)


def _spelled(strategy: str, values: dict[str, Value]) -> str:
    """The strategy with more parameters, in its canonical spelling."""
    separator = "," if ":" in strategy else ":"
    more = ",".join(f"{name}={format_value(value)}" for name, value in values.items())
    return str(STRATEGIES.parse(f"{strategy}{separator}{more}" if more else strategy))


#: Enough starts to distinguish fifteen strategies.
DEFAULT_REPEATS = 10


@dataclass(frozen=True, slots=True)
class ComparisonSettings:
    """What a comparison adds to an experiment: `by` is the metric that decides, at the end or after some pages
    (`precision@500`), None for the default one; `sweeps` are parameters to try with several values."""

    by: str | None = None
    sweeps: Sweeps = field(default_factory=dict)
    baseline: str | None = None  #: takes part whichever strategies are named
    chooses_mode: bool = False  #: the mode is that of `mode_for`, whatever the setup says


#: The simulated mode with the default settings of a live crawl.
LIVE_MODE = f"polite:workers={CrawlChoices.connections},patience={DEFAULT_PATIENCE:g}"


def mode_for(web: RecordedWeb) -> str:
    """On several hosts a live crawl depends on which hosts are ready, and so do the crawls that are compared, with the
    connections and the patience of a live crawl. On one host it visits one page after the other."""
    n_hosts = len(np.unique(web.url_host[: web.n_pages]))
    return str(MODES.parse(LIVE_MODE)) if n_hosts > 1 else str(SEQUENTIAL)


def repeats_for(setup: ExperimentSetup, n_topics: int) -> int:
    """The starts of each topic: ten by default; from five topics on, which are then the observations, ten in all."""
    if setup.repeats is not None:
        return setup.repeats
    return DEFAULT_REPEATS if n_topics < MIN_TOPICS else max(1, DEFAULT_REPEATS // n_topics)


def deciding_point(by: str, page_budget: int) -> Point:
    """The deciding metric, after the given number of pages or at the end of the crawls."""
    parsed: Metric | Point = parse_metric(by)
    if not isinstance(parsed, Point):
        return parsed @ page_budget
    if parsed.step > page_budget:
        raise InvalidParameter(
            f"--by {by}: the crawls have {page_budget:,} pages; choose a smaller number after the @."
        )
    return parsed


#: Topics listed in the message that requests a choice.
LISTED_TOPICS = 10
#: Errors of a strategy that cannot take part.
REFUSALS = (UsageError, PluginError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(PlannedCrawls):
    """A comparison that is ready to crawl. `other_starts` are those of other topics, which some classifiers learn
    from."""

    crawlers: tuple[Crawler, ...]
    point: Point
    other_starts: tuple[Start, ...]
    notes: tuple[str, ...]
    left_out: Mapping[str, str]  #: installed strategies that do not take part, with the reason

    @property
    def starts(self) -> list[Start]:
        return [*(start for _, start in self.planned), *self.other_starts]

    @property
    def has_given_starts(self) -> bool:
        """Whether all crawls of a topic start from the seeds that the user gave, however many starts there are."""
        return self.experiment.task is Task.EXAMPLES and all(topic.seeds for topic, _ in self.planned)


def prepared(web: RecordedWeb, setup: ExperimentSetup, settings: ComparisonSettings) -> Prepared:
    """Check everything before the first crawl."""
    _check_choice(setup.topics)
    chosen = setup.choose_topics_with_seeds(web)
    starts = Starts(web, setup.task, setup.n_start, n_judge=setup.n_judge)
    pages = fitting_pages(setup.page_budget, web.n_pages)
    if settings.by is not None:
        deciding_point(settings.by, pages)  # Invalid ones raise before the starts are drawn.
    is_chosen = bool(setup.strategies or settings.sweeps)
    usable, left_out = ([*setup.strategies], dict[str, str]()) if is_chosen else _installed()
    entrants = crawlers_of(usable, settings.sweeps, pages)
    if is_chosen and settings.baseline is not None:
        specs = [each.spec for each in entrants]
        if len(STRATEGIES.distinct([*specs, settings.baseline])) > len(specs):
            entrants = (*entrants, Crawler(settings.baseline, settings.baseline))
    notes: list[str] = []
    if skipped := skipped_text(chosen.skipped):
        notes.append(skipped)
    if pages != setup.page_budget:
        notes.insert(
            0,
            f"The web has {web.n_pages:,} pages. A crawl of most of them says little about a strategy, so the page "
            f"budget is {pages:,}, half of the web, instead of {setup.page_budget:,}.",
        )
    requested = setup.experiment(
        web,
        chosen,
        strategies=tuple(each.spec for each in entrants),
        page_budget=pages,
        repeats=repeats_for(setup, len(chosen.topics)),
    )
    experiment, planned, unusable = _planned(
        requested, web, may_leave_out=not setup.strategies, can_skip=setup.can_skip(chosen)
    )
    default = TargetRecall.name if any(start.targets for _, start in planned) else OnTopic.name
    point = deciding_point(settings.by or default, pages)
    if settings.by is None and isinstance(point.metric, OnTopic):
        notes.append(f"No topic has examples to find, so {point.metric} decides instead of {TargetRecall.name}.")
    for _, start in planned:
        check_length(start, point, pages, web.n_pages)
    left_out |= unusable
    known = {each.partition(":")[0] for each in (*experiment.strategies, *left_out)}
    return Prepared(
        experiment=experiment,
        provenance=Provenance.of(web.fingerprint, experiment.train_from),
        planned=tuple(planned),
        web=web,
        crawlers=tuple(each for each in entrants if each.spec in experiment.strategies),
        point=point,
        other_starts=_other_starts(point.metric, experiment, starts),
        notes=tuple(notes),
        left_out=left_out
        | {name: "Not among the strategies named." for name in STRATEGIES.names() if name not in known},
    )


def left_out_notes(left_out: Mapping[str, str]) -> list[str]:
    """A note for each reason."""
    by_reason: dict[str, list[str]] = {}
    for strategy, reason in left_out.items():
        by_reason.setdefault(reason, []).append(printable(strategy))
    return [f"Left out: {', '.join(strategies)}. {reason}" for reason, strategies in by_reason.items()]


def _check_choice(topics: TopicChoice) -> None:
    if topics.ids or topics.most is not None:
        return
    listed = [topic.id for topic in read_topics(topics.file)]
    if len(listed) > 1:
        some = ", ".join(map(printable, listed[:LISTED_TOPICS]))
        raise UsageError(
            f"{printable(topics.file)} has {len(listed):,} topics: choose one with --topic, for example {some}; "
            "or several, or limit their number with --topics-max."
        )


def _installed() -> tuple[list[str], dict[str, str]]:
    """Every installed strategy that can be created, and why each of the others cannot."""
    usable, broken = [], {}
    for name in STRATEGIES.names():
        try:
            STRATEGIES.make(name)
            usable.append(name)
        except ScenthoundError as reason:
            broken[name] = printable(reason)
    return usable, broken


def _planned(
    requested: Experiment, web: RecordedWeb, *, may_leave_out: bool, can_skip: bool
) -> tuple[Experiment, list[Planned], dict[str, str]]:
    """The starts of all topics; without strategies that cannot crawl for them, if they may be left out."""
    try:
        return requested, plan(requested, web, can_skip=can_skip), {}
    except REFUSALS:
        if not may_leave_out:
            raise
    unusable: dict[str, str] = {}
    for strategy in requested.strategies:
        try:
            plan(replace(requested.only(strategy), repeats=1), web)
        except REFUSALS as reason:
            unusable[strategy] = printable(reason)
    usable = tuple(strategy for strategy in requested.strategies if strategy not in unusable)
    if not usable:
        return requested, plan(requested, web, can_skip=can_skip), {}
    experiment = replace(requested, strategies=usable)
    return experiment, plan(experiment, web), unusable


def _other_starts(metric: Metric, experiment: Experiment, starts: Starts) -> tuple[Start, ...]:
    """Starts of other topics, which take a while to draw; only the classifiers of menczer2001 learn from them."""
    if "classified" not in str(metric):
        return ()
    startable = [topic for topic in experiment.other_topics if not starts.problem(topic)]
    return tuple(starts.draw(topic, seed) for topic in startable for seed in experiment.random_seeds)
