"""Tables that the papers have: values at the end of the crawls, tests as published, cost."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from scenthound.lab.statistics import Alternative, compare_pairs, paired_t, sign_flip_p
from scenthound.lab.studies.measured import ArmMeasurements
from scenthound.lab.studies.pictures import Table
from scenthound.lab.studies.shown import file_name, mean_and_error, p_shown, shown
from scenthound.model import FloatArray


def end_table(arm: ArmMeasurements, measures: Mapping[str, str]) -> Table:
    """Every crawler after all pages; the static scheme in the mean over all n. `measures` have their heads."""
    there = {name: head for name, head in measures.items() if name in arm.measured}
    rows = tuple(
        (label, *(mean_and_error(_end(arm, name, place), 1 if "rank" in name else 3) for name in there))
        for place, label in enumerate(arm.labels)
    )
    return Table(
        name=f"end-{file_name(arm.settings.name)}",
        caption=f"{arm.settings.name}: after {arm.page_budget:,} pages",
        heads=("crawler", *there.values()),
        rows=rows,
        note=f"Mean ± standard error over {len(arm.topics)} topics.{_reading(there)}",
    )


def _reading(measures: Iterable[str]) -> str:
    static = any(name.startswith("coverage") for name in measures)
    ranked = any(name.startswith("rank") for name in measures)
    return f"{' Coverage is the mean over all n.' if static else ''}{' Low ranks are good.' if ranked else ''}"


def _end(arm: ArmMeasurements, measure: str, place: int) -> FloatArray:
    """By topic."""
    values = arm.of(measure).values[place]
    end: FloatArray = values.mean(axis=-1) if measure.startswith("coverage") else values[:, -1]
    return end


def t_test_table(
    arm: ArmMeasurements, measure: str, head: str, shares: Sequence[float], *, one_tailed: bool = False
) -> Table:
    """Paired t-tests between all crawlers, as published, beside the test that asks for no normal distribution. Where
    they are one-tailed, those named later in the settings, which a study is about, are held against earlier ones."""
    labels = arm.labels[::-1] if one_tailed else arm.labels
    alternative: Alternative = "greater" if one_tailed else "two-sided"
    rows = [
        _test_row(arm, measure, pair, arm.step(share), alternative)
        for share in shares
        for pair in combinations(labels, 2)
    ]
    tails = "one-sided: that the first is better" if one_tailed else "two-sided"
    heads = ("pages", "crawlers", "better by", "t", "p of t", "p of sign flips", "Hedges' d_z", "wins / ties / losses")
    return Table(
        name=f"t-tests-{file_name(head)}",
        caption=f"{head}: paired tests between crawlers",
        heads=heads,
        rows=tuple(rows),
        note=f"How much better the first crawler is, in the mean over topics. As published, p are {tails}, and not "
        "corrected.",
    )


def _test_row(
    arm: ArmMeasurements, measure: str, pair: tuple[str, str], step: int, alternative: Alternative
) -> tuple[str, ...]:
    better = arm.better(measure, *pair, step)
    compared, tested = compare_pairs(better, np.zeros(len(better))), paired_t(better, alternative)
    return (
        f"{step:,}",
        " - ".join(pair),
        shown(compared.mean_difference),
        shown(tested.t, 2),
        p_shown(tested.p),
        p_shown(sign_flip_p(better[~np.isnan(better)], alternative)),
        shown(compared.d_z, 2),
        f"{compared.wins} / {compared.ties} / {compared.losses}",
    )


def cost_tables(arm: ArmMeasurements) -> Iterator[Table]:
    """CPU time per page without fetching, and what it buys; nothing where it was not measured."""
    cost = arm.of("cpu_us").values[:, :, 0]
    if np.isnan(cost).all():
        return
    found, bought = arm.of("target_recall").values[:, :, -1], arm.of("target_recall_per_cpu_s").values[:, :, 0]
    rows = tuple(
        (label, mean_and_error(cost[place], 1), mean_and_error(found[place]), mean_and_error(bought[place], 2))
        for place, label in enumerate(arm.labels)
    )
    yield Table(
        name=f"cost-{file_name(arm.settings.name)}",
        caption=f"{arm.settings.name}: CPU time of crawlers, fetching left out",
        heads=("crawler", "CPU µs per page", "target recall", "target recall per CPU second"),
        rows=rows,
        note=f"Mean ± standard error over {len(arm.topics)} topics, {arm.page_budget:,} pages each.",
    )
