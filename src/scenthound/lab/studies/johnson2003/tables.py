"""The tables of johnson2003: its Table 1; beyond it, how the searches went, what was measured, and on which topics."""

from collections.abc import Iterator, Sequence

from scenthound.lab.statistics import PairedSample, spread_told
from scenthound.lab.studies.johnson2003.judging import GROUPS, PUBLISHED, PUBLISHED_LABEL, Judged
from scenthound.lab.studies.johnson2003.searching import Searched
from scenthound.lab.studies.pictures import Table
from scenthound.lab.studies.shown import file_name, shown
from scenthound.lab.validating.measurements import SEED_SETS
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.parts.rank_rules import SCORE_NAMES, STUDY_SCORES, RankRules
from scenthound.strategies.rank_function import RankFunction

#: What the tables of measures show after all pages, beside the fitness after each length.
AT_THE_END = {
    "precision": "precision",
    "recall": "recall",
    "community_cohesiveness": "community cohesiveness",
    "overall_cohesiveness": "overall cohesiveness",
    "mean_distance": "mean links away",
    "maximum_distance": "most links away",
}


def tables(searches: Sequence[Searched], judged: Judged) -> Iterator[Table]:
    """The paper's first."""
    yield weights_table(searches)
    yield searches_table(searches)
    for group, topics in judged.validation.settings.groups().items():
        yield _measures_table(judged, GROUPS[group], topics)
    yield _topics_table(judged)


def weights_table(searches: Sequence[Searched]) -> Table:
    """Table 1: the weights of what was evolved, beside the published ones."""
    evolved = {f"E{number}": each for number, each in enumerate(searches, 1)}
    found = [_weights(each.evolution.best.rules) for each in evolved.values()]
    columns = [*found, _weights(published_rules())]
    told = "; ".join(f"{label} is the best individual of the search on {each.topic}" for label, each in evolved.items())
    return Table(
        name="table-1",
        caption="Table 1: weights of the best individuals",
        heads=("score", *evolved, PUBLISHED_LABEL),
        rows=tuple((name.upper(), *(f"{column[name]:.6f}" for column in columns)) for name in STUDY_SCORES),
        note=f"{told}; {PUBLISHED_LABEL} is the published one.",
    )


def published_rules() -> RankRules:
    made = STRATEGIES.make(PUBLISHED)
    assert isinstance(made, RankFunction)
    return made.rules


def _weights(rules: RankRules) -> dict[str, float]:
    """The searches of this study have one rule."""
    return dict(zip(SCORE_NAMES, rules.weights[0], strict=True))


def searches_table(searches: Sequence[Searched]) -> Table:
    """How much each search asked for, and what its best is worth on the crawls of the search."""
    rows = []
    for number, each in enumerate(searches, 1):
        evolution = each.evolution
        others = (f"{other.fitness:.4f}" for other in evolution.others)
        asked, crawled_for = evolution.summary.n_evaluated, evolution.n_evaluated
        visits = f"{evolution.n_visits:,}"
        best = f"{evolution.best.fitness:.4f}"
        rows.append((f"E{number}", each.topic, f"{asked:,}", f"{crawled_for:,}", visits, best, *others))
    return Table(
        name="searches",
        caption="The searches",
        heads=("result", "topic", "individuals", "crawled for", "visits", "best fitness", "BF", PUBLISHED_LABEL),
        rows=tuple(rows),
        note="Individuals that came again are not crawled for again. Fitness is the mean over the crawls of the "
        "search, which is higher than it would be on others: the best was chosen by it.",
    )


def _measures_table(judged: Judged, group: str, topics: Sequence[int]) -> Table:
    settings, measured = judged.validation.settings, judged.validation.measurements
    last = len(settings.budgets) - 1
    columns = {f"fitness at {budget:,}": ("fitness", place) for place, budget in enumerate(settings.budgets)}
    columns |= {head: (name, last) for name, head in AT_THE_END.items()}
    samples = {
        (label, str(seed_set)): [measured.sample(name, place, topics, seed_set, at) for name, at in columns.values()]
        for place, label in enumerate(judged.labels)
        for seed_set in SEED_SETS
    }
    told = spread_told(sample for row in samples.values() for sample in row)
    return Table(
        name=f"measures-{file_name(group)}",
        caption=f"What was measured on {group}",
        heads=("strategy", "seed set", *columns),
        rows=tuple((*row, *map(_cell, cells)) for row, cells in samples.items()),
        note=f"{told[0].upper()}{told[1:]}. Fitness is by the guide; precision and recall are by the pages that are "
        f"known to belong to a topic. All but fitness is after {settings.budgets[-1]:,} pages.",
    )


def _cell(sample: PairedSample) -> str:
    mean, error = shown(sample.mean), shown(sample.standard_error)
    return mean if error == "-" else f"{mean} ± {error}"


def _topics_table(judged: Judged) -> Table:
    validation = judged.validation
    settings, measured = validation.settings, validation.measurements
    rows = []
    for place, (topic, start) in enumerate(zip(settings.topics, validation.starts, strict=True)):
        sizes = (str(len(settings.seeds_of(start, each, seed=0))) for each in SEED_SETS)
        dense = "dense" if judged.is_dense[place] else "sparse"
        group = "searched on" if place < len(settings.trained) else "unseen"
        rows.append((topic.id, group, f"{measured.good_share[place]:.2%}", dense, *sizes, str(len(start.targets))))
    return Table(
        name="topics",
        caption="The topics",
        heads=("topic", "group", "good pages", "", *(f"{each} seed set" for each in SEED_SETS), "held out"),
        rows=tuple(rows),
        note="Good pages are the share of the web's pages that the guide calls good. A topic is dense if it has "
        "more of them than the median topic of its group.",
    )
