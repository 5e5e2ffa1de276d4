"""The figures and tables of studies, as data; `ui` draws them.

A figure of a paper is named by its number and has the paper's axes; other figures are named by their content.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, isnan, nan
from textwrap import shorten
from typing import Literal

import numpy as np

from scenthound.experiments.closed_world import Interval, closed_world_report
from scenthound.experiments.significance import compare_pairs, mean_test
from scenthound.experiments.statistics import Alternative, defined, paired_t, standard_error
from scenthound.experiments.study.arms import SampleTopic
from scenthound.experiments.study.classifiers import is_calibrated
from scenthound.experiments.study.measures import FOUND_PERCENT, ArmMeasurements
from scenthound.experiments.topic_analysis import TopicAnalysis, analyse_topics
from scenthound.metrics.measures import share_of_gap_closed
from scenthound.model import FloatArray

PAGES_VISITED = "pages visited"


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves of one measure, or bars of the final values of several. Without `crawlers`, it has all of them."""

    title: str
    arm: str
    measures: tuple[str, ...]
    y_label: str
    x_label: str = PAGES_VISITED
    kind: Literal["curves", "bars"] = "curves"
    crawlers: tuple[str, ...] = ()
    with_bounds: bool = False
    measure_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure; `name` is the name of its file."""

    name: str
    caption: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; `note` explains its numbers."""

    name: str
    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def file_name(text: str) -> str:
    """A file name for a text."""
    return "-".join("".join(letter if letter.isalnum() else " " for letter in text.lower()).split())


def format_number(value: float, digits: int = 3) -> str:
    """A number, or a dash for NaN."""
    return "-" if isnan(value) else f"{value:,.{digits}f}"


def mean_and_error(values: FloatArray, digits: int = 3) -> str:
    """Mean and standard error over the topics that have a value."""
    known = defined(values)
    if not len(known):
        return "-"
    error = f" ± {standard_error(known):,.{digits}f}" if len(known) > 1 else ""
    return f"{known.mean():,.{digits}f}{error}"


def format_p(p: float) -> str:
    if isnan(p):
        return "-"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


#: Characters of a description and URLs of a set that a table of topics shows.
SAMPLE_CHARACTERS = 200
SAMPLE_URLS = 3


def sample_table(arm: ArmMeasurements, columns: Mapping[str, Callable[[SampleTopic], str]]) -> Table:
    """Table 1 of the papers: some of the topics."""
    return Table(
        name="table-1-sample-topics",
        caption=f"Sample topics: {len(arm.samples)} of {len(arm.topics)}",
        heads=tuple(columns),
        rows=tuple(tuple(column(topic) for column in columns.values()) for topic in arm.samples),
        note="The first topics in the order in which they were drawn at random, with the pages of their first start. "
        f"Descriptions are cut after {SAMPLE_CHARACTERS} characters, sets of pages after {SAMPLE_URLS}.",
    )


def sample_text(text: str) -> str:
    """The beginning of a text."""
    return shorten(text, SAMPLE_CHARACTERS, placeholder=" ...")


def sample_urls(urls: Sequence[str]) -> str:
    """The first URLs, and how many there are."""
    shown = " ".join(urls[:SAMPLE_URLS])
    return f"{shown} ({SAMPLE_URLS} of {len(urls):,})" if len(urls) > SAMPLE_URLS else shown or "-"


def crawler_table(
    arm: ArmMeasurements, name: str, caption: str, columns: Mapping[str, Iterable[str]], note: str
) -> Table:
    """A row for each crawler of an arm."""
    rows = tuple(zip(arm.labels, *columns.values(), strict=True))
    return _arm_table(arm, name, caption, ("crawler", *columns), rows, note=note)


def _arm_table(
    arm: ArmMeasurements, name: str, caption: str, heads: Sequence[str], rows: Iterable[tuple[str, ...]], *, note: str
) -> Table:
    of = arm.settings.name
    return Table(f"{name}-{file_name(of)}", f"{of}: {caption}", tuple(heads), tuple(rows), note)


def _over_topics(arm: ArmMeasurements) -> str:
    return f"mean ± standard error over {len(arm.topics)} topics"


def _cells(values: FloatArray, digits: int = 3) -> list[str]:
    """Of values by crawler and topic."""
    return [mean_and_error(row, digits) for row in values]


def end_tables(arm: ArmMeasurements, measures: Mapping[str, str]) -> Iterator[Table]:
    """Every crawler after all pages, and if crawls ended early also over visited pages; the static scheme as a mean
    over all n. `measures` are headings by name."""
    columns = {}
    for name, head in measures.items():
        if name in arm.measured:
            values = arm.of(name).values
            ends = values.mean(axis=-1) if name.startswith("coverage") else values[:, :, -1]
            columns[head] = _cells(ends, _digits(name))
    there = measures.keys() & arm.measured
    is_static, is_ranked = (any(name.startswith(start) for name in there) for start in ("coverage", "rank"))
    yield crawler_table(
        arm,
        "end",
        f"after {arm.page_budget:,} pages",
        columns,
        f"{_over_topics(arm).capitalize()}."
        f"{' Pages that a crawl did not visit count as not relevant.' if arm.n_ended_early else ''}"
        f"{' Coverage is the mean over all n.' if is_static else ''}{' Low ranks are good.' if is_ranked else ''}",
    )
    if arm.n_ended_early:
        lengths = np.array([arm.length(label) for label in arm.labels], np.float64)
        visited = {
            head: _cells(np.array([arm.at_equal_length(name, label) for label in arm.labels]), _digits(name))
            for name, head in measures.items()
            if name in arm.settings.measures
        }
        yield crawler_table(
            arm,
            "end-visited",
            "over visited pages",
            {"pages of its crawls": _cells(lengths, 0)} | visited,
            f"{arm.n_ended_early:,} of {len(arm.missed):,} crawls ended before {arm.page_budget:,} pages. Crawlers are "
            f"compared after as many pages as the shortest crawl for the topic has, {lengths.min(axis=0).mean():,.0f} "
            f"in the mean, so that no missing page counts. {_over_topics(arm).capitalize()}.",
        )


def _digits(measure: str) -> int:
    return 1 if "rank" in measure else 3


def t_test_table(
    arm: ArmMeasurements, measure: str, head: str, shares: Sequence[float], *, one_tailed: bool = False
) -> Table:
    """Paired t-tests between all crawlers, as published, beside `mean_test`, which assumes no normal distribution. If
    they are one-tailed, crawlers listed later in the settings, which a study is about, are compared with earlier
    ones."""
    labels = arm.labels[::-1] if one_tailed else arm.labels
    alternative: Alternative = "greater" if one_tailed else "two-sided"
    rows = tuple(
        _test_row(arm, measure, pair, arm.step(share), alternative)
        for share in shares
        for pair in combinations(labels, 2)
    )
    tails = "one-sided: that the first is better" if one_tailed else "two-sided"
    heads = (
        "pages",
        "crawlers",
        "better by",
        "t",
        "p of t",
        "p without normality",
        "Hedges' d_z",
        "wins / ties / losses",
    )
    return Table(
        name=f"t-tests-{file_name(head)}",
        caption=f"{head}: paired tests between crawlers",
        heads=heads,
        rows=rows,
        note=f"How much better the first crawler is, in the mean over topics. As published, p are {tails}, and not "
        "corrected. The mean test is by sign flips, for skewed differences also by a studentised bootstrap.",
    )


def _test_row(
    arm: ArmMeasurements, measure: str, pair: tuple[str, str], step: int, alternative: Alternative
) -> tuple[str, ...]:
    better = arm.better(measure, *pair, step)
    compared, tested = compare_pairs(better, np.zeros(len(better))), paired_t(better, alternative)
    return (
        f"{step:,}",
        " - ".join(pair),
        format_number(compared.mean_difference),
        format_number(tested.t, 2),
        format_p(tested.p),
        format_p(mean_test(better, alternative).p),
        format_number(compared.d_z, 2),
        f"{compared.wins} / {compared.ties} / {compared.losses}",
    )


def cost_tables(arm: ArmMeasurements) -> Iterator[Table]:
    """CPU time per page without fetching, and target recall per second of it; nothing if it was not measured."""
    cost = arm.of("cpu_us").values[:, :, 0]
    if not np.isnan(cost).all():
        columns = {
            "CPU µs per page": _cells(cost, 1),
            "target recall": _cells(arm.of("target_recall").values[:, :, -1]),
            "target recall per CPU second": _cells(arm.of("target_recall_per_cpu_s").values[:, :, 0], 2),
        }
        note = f"{_over_topics(arm).capitalize()}, {arm.page_budget:,} pages each."
        yield crawler_table(arm, "cost", "CPU time of crawlers without fetching", columns, note)


def extra_tables(arms: Sequence[ArmMeasurements], one: str, other: str, measure: str) -> Iterator[Table]:
    """Tables of every study that are not in the papers. For each arm: the gap closed, search lengths, agreement of
    classifiers, missing pages, and how two crawlers differ between topics."""
    for arm in arms:
        if arm.bounds:
            yield gap_table(arm)
        yield from search_length_table(arm)
        yield from diagnostics_tables(arm)
        yield from agreement_table(arm)
        yield closed_world_table(arm)
        yield from topics_tables(arm, one, other, measure)


def search_length_table(arm: ArmMeasurements) -> Iterator[Table]:
    """Pages until a share of the relevant pages is found, if it was measured."""
    if arm.search_lengths is None:
        return
    known = [by_topic[~np.isnan(by_topic).any(axis=1)] for by_topic in arm.search_lengths]
    columns = {
        f"{percent} %": [
            f"{_middle(lengths[:, at])}, {np.isfinite(lengths[:, at]).sum()} of {len(lengths)}" for lengths in known
        ]
        for at, percent in enumerate(FOUND_PERCENT)
    }
    note = (
        f"Median over topics, and for how many of them it was reached within {arm.page_budget:,} pages. Seeds do not "
        "count."
    )
    yield crawler_table(arm, "search-length", "pages until a share of the relevant pages is found", columns, note)


def _middle(lengths: FloatArray) -> str:
    """The median; infinite lengths are longer than all others."""
    in_order = np.sort(lengths)
    half = in_order[(len(in_order) - 1) // 2 :][: 2 - len(in_order) % 2]
    return f"{half.mean():,.0f}" if len(half) and np.isfinite(half).all() else "more"


def overlap_table(arm: ArmMeasurements) -> Table:
    """The overlap of crawls from disjoint halves of the seeds."""
    shared = [name for name in ("shared_pages", "shared_hosts") if name in arm.measured]
    columns = {name.removeprefix("shared_"): _cells(arm.of(name).values[:, :, -1]) for name in shared}
    note = f"Jaccard coefficient after {arm.page_budget:,} pages, {_over_topics(arm)}."
    table = crawler_table(arm, "overlap", "", columns, note)
    return replace(table, caption="Overlap of crawls from disjoint halves of the seeds")


def diagnostics_tables(arm: ArmMeasurements) -> Iterator[Table]:
    """How crawlers behaved, if any of them tells."""
    names = list(dict.fromkeys(name for found in arm.diagnostics.values() for name in found))
    if names:
        rows = (
            (label, *(format_number(found.get(name, nan)) for name in names))
            for label, found in arm.diagnostics.items()
        )
        heads = ["crawler", *(name.replace("_", " ") for name in names)]
        note = "Means over crawls. A choice entropy of 1 is that of random choices."
        yield _arm_table(arm, "diagnostics", "how crawlers behaved", heads, rows, note=note)


def agreement_table(arm: ArmMeasurements) -> Iterator[Table]:
    """The agreement of classifiers, if there are any."""
    if arm.agreement:
        rows = ((names, mean_and_error(kappas, 2)) for names, kappas in arm.agreement.items())
        note = (
            f"On the pages that any crawler visited; {_over_topics(arm)}. 1: they always agree, 0: as often as by "
            f"chance.{' They are calibrated.' if is_calibrated(arm.settings.measures) else ''}"
        )
        yield _arm_table(arm, "judges", "agreement of classifiers", ("classifiers", "kappa"), rows, note=note)


def acceptance_table(arm: ArmMeasurements) -> Iterator[Table]:
    """How many pages the judges of the harvest rate accept, beside how many are known to be relevant."""
    if arm.acceptance:
        rows = ((name, *map(mean_and_error, shares.T)) for name, shares in arm.acceptance.items())
        heads = ("classifier", "share accepted", "of these known to be relevant", "share of the known accepted")
        note = (
            f"On the pages that any crawler visited, without those that classifiers learned from; {_over_topics(arm)}. "
            "A calibrated classifier should accept about as many pages as are relevant."
        )
        yield _arm_table(arm, "acceptance", "acceptance rate of classifiers", heads, rows, note=note)


def gap_table(arm: ArmMeasurements) -> Table:
    """The share of the gap between random crawl and greedy oracle that each crawler closes."""
    heads, columns = ["crawler"], []
    for name, bounds in arm.bounds.items():
        low, high = bounds.values[:, :, -1]
        values = arm.of(name).values[:, :, -1]
        closed = [[share_of_gap_closed(*each) for each in zip(row, low, high, strict=True)] for row in values]
        heads += [name.replace("_", " "), "share of the gap"]
        columns += [_cells(np.array([*values, low, high])), [*_cells(np.array(closed)), "0", "1"]]
    rows = zip((*arm.labels, "random", "greedy oracle"), *columns, strict=True)
    note = (
        f"{_over_topics(arm).capitalize()} after {arm.page_budget:,} pages; the share of the gap is over topics with a "
        "gap. The oracle is greedy, so it is not a strict bound."
    )
    return _arm_table(arm, "gap", "between random crawl and oracle", heads, rows, note=note)


def closed_world_table(arm: ArmMeasurements) -> Table:
    """How often each crawler requested a page that was not recorded, and the possible effect."""
    report = closed_world_report(arm.missed, arm.page_budget)
    rows = (
        (gap.strategy, format_number(gap.missing_per_page), _interval(gap.precision), _interval(gap.recall))
        for gap in report.gaps
    )
    heads = ("crawler", "missing per page", "precision: measured, and between", "recall: measured, and between")
    safe = Counter(order.measure for order in report.orders if order.is_safe)
    n_pairs = len(report.orders) // 2
    note = (
        f"Of {'the one pair' if n_pairs == 1 else f'{n_pairs} pairs'} of crawlers {safe['precision']} cannot have been "
        f"reversed by missing pages in precision, and {safe['recall']} in recall. Seeds count as found here."
    )
    return _arm_table(arm, "missing-pages", "requested pages that are not in the recording", heads, rows, note=note)


def _interval(interval: Interval) -> str:
    return f"{format_number(interval.measured)}, {format_number(interval.low)} to {format_number(interval.high)}"


def topics_tables(arm: ArmMeasurements, one: str, other: str, measure: str) -> Iterator[Table]:
    """Wins and losses of one crawler against another, and their correlations with features of topics; and the same for
    the crawler that is best in the mean, against the best of all others on each topic."""
    measured = arm.of(measure)
    ends = measured.values[:, :, -1]
    values = dict(zip(arm.labels, -ends if measured.lower_is_better else ends, strict=True))
    compared = f"{measure.replace('_', ' ')} at the end"
    pair = analyse_topics(values, arm.features, one, other)
    yield _topics_table(arm, pair, "", f"for which topics is {one} better than {other}?", compared)
    if len(values) > 2:
        known = {label: defined(row) for label, row in values.items()}
        best = max(known, key=lambda label: known[label].mean() if len(known[label]) else -inf)
        field = analyse_topics(values, arm.features, best)
        question = f"for which topics is {best}, the best in the mean, better than all others?"
        yield _topics_table(arm, field, "-field", question, f"{compared}, against the best of the others on each topic")


def _topics_table(arm: ArmMeasurements, found: TopicAnalysis, ending: str, question: str, compared: str) -> Table:
    rows = (
        (each.feature, format_number(each.rho, 2), format_p(each.p), format_p(each.p_corrected), str(each.n_topics))
        for each in found.correlations
    )
    heads = ("feature of a topic", "Spearman's rho", "p", "corrected p", "topics")
    note = (
        f"{compared}: wins / ties / losses of {found.strategy} are {found.wins} / {found.ties} / {found.losses}. "
        f"A positive rho: the larger the feature, the more {found.strategy} is ahead."
    )
    return _arm_table(arm, f"topics{ending}", question, heads, rows, note=note)
