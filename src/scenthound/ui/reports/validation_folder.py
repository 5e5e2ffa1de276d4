"""A validation from files to a folder: findings, a table of crawls, and pictures, whole or not at all."""

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.command_line import command_line, unless
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.statistics import spread_told
from scenthound.experiments.validate.crawls import MEASURES, SEED_SETS
from scenthound.experiments.validate.settings import SeedSet, ValidationProtocol
from scenthound.experiments.validate.validation import ValidatedFinding, Validation, prepared, validate
from scenthound.files import write_atomic
from scenthound.model import FloatArray, Progress, silent
from scenthound.store.folder import check_replaceable, new_folder
from scenthound.ui.figures import COLOURS, new_figure, plain_axes
from scenthound.ui.figures import require_figures as required
from scenthound.ui.formats import finite, versions

# Pictures of a validation, after the figures of johnson2003: bars with standard errors, and histograms of distances.
#
# Figures 3 and 4 are `fitness`, 5 and 7 `community_cohesiveness`, 6 and 8 `overall_cohesiveness`, 9 and 10
# `distances`. A row of panels for topics trained on, and one for unseen topics, where there are any; bars are means
# over topics and random seeds. Strategies go by the short names of the tables; the legend says which they are.

#: What bars show, and what their axes say.
BARS = {
    "fitness": MEASURES["fitness"],
    "community_cohesiveness": "community cohesiveness:\nlinks into the community per page of it",
    "overall_cohesiveness": "overall cohesiveness:\nlinks into the community per page visited",
}
FORMATS = ("png", "svg")
FEATURE = "Drawing a validation"
#: Of the room between two ticks, bars take so much.
WIDTH_OF_BARS = 0.8
PANEL_INCHES = (4.8, 3.2)
#: Bins of distances end where less than this share of the pages of every strategy lies beyond; the last holds them too.
FAR_SHARE = 0.005
MOST_TICKS = 12


def require_figures() -> None:
    """A word on how to get what draws, where it is not installed."""
    required(FEATURE)


def draw_validation(validation: Validation, folder: Path) -> list[Path]:
    """Write every picture into a folder, in every format."""
    figures = {name: _bars(validation, name) for name in BARS}
    figures["distances"] = _histograms(validation)
    written = []
    for name, figure in figures.items():
        for ending in FORMATS:
            written.append(folder / f"{name}.{ending}")
            figure.savefig(written[-1], dpi=120)
    return written


def _bars(validation: Validation, measure: str) -> Any:
    """A panel for each group and seed set: budgets side by side, a bar for each strategy."""
    groups = validation.settings.groups()
    figure = _figure(validation, n_rows=len(groups))
    for row, (group, topics) in enumerate(groups.items()):
        axes = None
        for column, seed_set in enumerate(SEED_SETS):
            axes = figure.add_subplot(len(groups), 2, 2 * row + column + 1, sharey=axes)
            spread = _draw_bars(axes, validation, measure, topics, seed_set)
            axes.set_title(f"{_told(topics, group)}, {seed_set} seed set\n{spread}", fontsize="small")
            _finish(axes, "pages visited", BARS[measure])
    return _with_legend(figure)


def _draw_bars(axes: Any, validation: Validation, measure: str, topics: Sequence[int], seed_set: SeedSet) -> str:
    """Answers with what bars and the lines on them are."""
    budgets, drawn = validation.settings.budgets, []
    for strategy, (offset, width, look) in enumerate(bar_places(_names(validation))):
        samples = [
            validation.measurements.sample(measure, strategy, topics, seed_set, place) for place in range(len(budgets))
        ]
        means, errors = ([getattr(each, name) for each in samples] for name in ("mean", "standard_error"))
        axes.bar(np.arange(len(budgets)) + offset, means, width, yerr=np.nan_to_num(errors), capsize=2, **look)
        drawn += samples
    axes.set_xticks(range(len(budgets)), [f"{budget:,}" for budget in budgets])
    return spread_told(drawn)


def _histograms(validation: Validation) -> Any:
    """A panel for each group, of all pages and of the good ones, at the largest budget; both seed sets together."""
    groups, measured = validation.settings.groups(), validation.measurements
    figure = _figure(validation, n_rows=len(groups))
    kinds = {"pages": measured.distances, "good pages": measured.good_distances}
    for row, (group, topics) in enumerate(groups.items()):
        for column, (pages, counts) in enumerate(kinds.items()):
            axes = figure.add_subplot(len(groups), 2, 2 * row + column + 1)
            draw_histogram(axes, _names(validation), counts[:, list(topics)][..., -1, :].mean(axis=(1, 2, 3)))
            about = f"{_told(topics, group)}, {pages} among the first {validation.settings.budgets[-1]:,}"
            axes.set_title(f"{about}\nmean over crawls from both seed sets", fontsize="small")
            _finish(axes, "links from the seeds of the crawl", f"{pages} per crawl")
    return _with_legend(figure)


def draw_histogram(axes: Any, names: Sequence[str], counts: FloatArray) -> None:
    """`counts` are by strategy and distance, `names` those of the strategies."""
    near, is_cut = without_far_bins(counts)
    for row, (offset, width, look) in zip(near, bar_places(names), strict=True):
        axes.bar(np.arange(len(row)) + offset, row, width, **look)
    last = near.shape[1] - 1
    ticks = range(last, -1, -(last // MOST_TICKS + 1))
    axes.set_xticks(ticks, [f"{tick} or more" if is_cut and tick == last else str(tick) for tick in ticks])


def without_far_bins(counts: FloatArray) -> tuple[FloatArray, bool]:
    """Counts by strategy and distance without the empty end, what is far put into the last bin; and whether any was."""
    # Summed from the far end, so that nothing beyond is exactly 0.
    from_here_on = counts[:, ::-1].cumsum(axis=1)[:, ::-1]
    beyond = np.pad(from_here_on[:, 1:], ((0, 0), (0, 1)))
    is_little = (beyond == 0) | (beyond < FAR_SHARE * from_here_on[:, :1])
    last = int(is_little.all(axis=0).argmax())
    near = counts[:, : last + 1].copy()
    near[:, last] += beyond[:, last]
    return near, bool((beyond[:, last] > 0).any())


def _names(validation: Validation) -> list[str]:
    settings = validation.settings
    return [f"{label}: {spec}" for label, spec in zip(settings.labels, settings.all_strategies, strict=True)]


def bar_places(names: Sequence[str]) -> Iterator[tuple[float, float, dict[str, Any]]]:
    """Where the bar of each name stands beside a tick, how wide it is and how it looks."""
    width = WIDTH_OF_BARS / len(names)
    for place, (name, colour) in enumerate(zip(names, cycle(COLOURS), strict=False)):
        yield (place + 0.5) * width - WIDTH_OF_BARS / 2, width, {"color": colour, "label": name}


def _told(topics: Sequence[int], group: str) -> str:
    return f"{len(topics)} topic{'s' if len(topics) > 1 else ''} {group}"


def _figure(validation: Validation, n_rows: int) -> Any:
    width, height = PANEL_INCHES
    legend_inches = 0.25 * len(validation.settings.all_strategies)
    return new_figure(2 * width, n_rows * height + legend_inches, FEATURE)


def _finish(axes: Any, x_label: str, y_label: str) -> None:
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label, fontsize="small")
    plain_axes(axes, grid="y")


def _with_legend(figure: Any) -> Any:
    """One line for each strategy, because names with parameters are long."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=1, frameon=False, fontsize="small")
    return figure


# A validation as files: `findings.json`, and `crawls.csv` with a row for each crawl and budget.
#
# `findings.json` tells of every topic how its crawls did in the mean over random seeds; the rows hold all there was.

FORMAT = "scenthound validation"
VERSION = 1
FINDINGS_FILE = "findings.json"
CRAWLS_FILE = "crawls.csv"

#: What a reader of the findings must know.
READING = (
    "Intervals are 95 % BCa bootstrap intervals of paired differences. With fewer than five topics they are over "
    "random seeds: the seeds of one topic are not independent topics, so such an interval says how other seeds would "
    "do on these topics, and nothing about other topics. From five topics on, they are over topics. A claim must also "
    "pass a permutation test, and its contrary another one to be refuted, p corrected by Holm's method among the "
    "claims of the finding; with fewer than five topics, five seeds are the least for that. Effects are means over "
    "both seed sets. A topic is dense if a larger share of the web's pages is good than for the median topic here. "
    "Distances are shortest ways from the seeds over the links of the recorded web that crawls are shown."
)


def is_validation_folder(folder: Path) -> bool:
    """Whether a folder is the leavings of a validation, and so may be replaced when told to."""
    try:
        about = json.loads((folder / FINDINGS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(about, dict) and about.get("format") == FORMAT


def as_json(validation: Validation) -> dict[str, Any]:
    """Plain values; what is no number is null."""
    values = {
        "format": FORMAT,
        "version": VERSION,
        "scenthound": version("scenthound"),
        "versions": versions(),
        "web": str(validation.web),
        "web_fingerprint": validation.web_fingerprint,
        "n_pages": validation.n_pages,
        "settings": _settings(validation),
        "notes": list(validation.notes),
        "reading": READING,
        "findings": [_finding(finding) for finding in validation.findings],
        "topics": list(_topics(validation)),
        "crawls": list(_means(validation)),
        "differences": list(_differences(validation)),
    }
    plain: dict[str, Any] = finite(values)
    return plain


def _settings(validation: Validation) -> dict[str, Any]:
    return validation.settings.as_json()


def _finding(finding: ValidatedFinding) -> dict[str, Any]:
    return {**asdict(finding), "verdict": finding.verdict.value}


def _topics(validation: Validation) -> Iterator[dict[str, Any]]:
    settings, measured = validation.settings, validation.measurements
    for place, (topic, start) in enumerate(zip(settings.topics, validation.starts, strict=True)):
        yield {
            "id": topic.id,
            "trained_on": place < len(settings.trained),
            "good_share": float(measured.good_share[place]),
            "dense": measured.is_dense[place],
            "seed_sets": {str(each): len(settings.seeds_of(start, each, seed=0)) for each in SEED_SETS},
            "training_pages": len(start.training),
            "held_out": len(start.targets),
        }


def _means(validation: Validation) -> Iterator[dict[str, Any]]:
    """By strategy, topic, seed set and budget: the mean over seeds of each measure, and the mean histograms."""
    settings, measured = validation.settings, validation.measurements
    by_strategy, by_topic = enumerate(settings.all_strategies), enumerate(settings.topics)
    by_set, by_budget = enumerate(SEED_SETS), enumerate(settings.budgets)
    for (s, strategy), (t, topic), (c, seed_set), (b, budget) in product(by_strategy, by_topic, by_set, by_budget):
        samples = {name: measured.sample(name, s, [t], seed_set, b) for name in MEASURES}
        yield {
            "strategy": strategy,
            "topic": topic.id,
            "seed_set": str(seed_set),
            "pages": budget,
            "mean": {name: sample.mean for name, sample in samples.items()},
            "standard_error": {name: sample.standard_error for name, sample in samples.items()},
            "pages_at_distance": measured.distances[s, t, c, :, b].mean(axis=0).tolist(),
            "good_pages_at_distance": measured.good_distances[s, t, c, :, b].mean(axis=0).tolist(),
        }


def _differences(validation: Validation) -> Iterator[dict[str, Any]]:
    """By strategy, topic, seed set, budget and measure: how much more than the one it is held against."""
    settings, measured = validation.settings, validation.measurements
    by_strategy, by_topic = enumerate(settings.strategies, 1), enumerate(settings.topics)
    for (s, strategy), (t, topic), seed_set, (b, budget) in product(
        by_strategy, by_topic, SEED_SETS, enumerate(settings.budgets)
    ):
        effects = {name: measured.difference(name, s, [t], [b], [seed_set]).effect() for name in MEASURES}
        yield {
            "strategy": strategy,
            "topic": topic.id,
            "seed_set": str(seed_set),
            "pages": budget,
            "effects": {name: asdict(effect) for name, effect in effects.items()},
        }


def crawls_csv(validation: Validation) -> str:
    """One row for each strategy, topic, seed set, random seed and budget."""
    settings, measured = validation.settings, validation.measurements
    table = io.StringIO(newline="")
    rows = csv.writer(table)
    rows.writerow(["strategy", "topic", "seed_set", "seed", "pages", *MEASURES])
    axes = (settings.all_strategies, [topic.id for topic in settings.topics], SEED_SETS, range(settings.repeats))
    for places in product(*(range(len(axis)) for axis in (*axes, settings.budgets))):
        *about, budget = places
        names = [axis[place] for axis, place in zip(axes, about, strict=True)]
        numbers = [float(measured.values[name][places]) for name in MEASURES]
        shown = ["" if math.isnan(number) else f"{number:.6g}" for number in numbers]
        rows.writerow([*names, settings.budgets[budget], *shown])
    return table.getvalue()


# The command line that makes a validation again: with the same strategies, topics and seed sets.


def reproduce_command(validation: Validation, topics_file: Path, out: Path) -> str:
    """`scenthound validate` with all that decides, into a folder beside `out`; empty if no command line can say it.
    Topics are named, so that those drawn by lot are the same."""
    settings, place = validation.settings, out.absolute()
    return command_line(
        ("scenthound", "validate"),
        [
            ("--web", validation.web),
            ("--topics", topics_file.absolute()),
            ("--strategy", settings.strategies),
            ("--against", settings.against),
            ("--topic", tuple(topic.id for topic in settings.trained)),
            ("--unseen", tuple(topic.id for topic in settings.unseen)),
            ("--pages", settings.budgets),
            ("--large", settings.n_large),
            ("--small", settings.n_small),
            ("--repeats", settings.repeats),
            ("--mode", settings.experiment.mode),
            ("--relevance", settings.relevance),
            ("--threshold", unless(settings.threshold, 0.5)),
            ("--closed-world", settings.experiment.closed_world),
            ("--follow-nofollow", not settings.experiment.respect_nofollow),
            ("--out", place.with_name(f"{place.name}-again")),
        ],
    )


def validate_into(
    out: Path,
    setup: ExperimentSetup,
    protocol: ValidationProtocol,
    *,
    force: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
) -> Validation:
    """Validate the wished strategies on the topics, and leave all that came of it in the folder `out`."""
    require_figures()
    check_replaceable(out, force, is_validation_folder)
    recorded, settings, notes = prepared(setup, protocol, progress)
    validation = validate(recorded, settings, notes=notes, workers=workers, progress=progress)
    with new_folder(out, force, is_validation_folder) as folder:
        _write(validation, folder, reproduce_command(validation, setup.topics.file, out))
    return validation


def _write(validation: Validation, folder: Path, repeat: str) -> None:
    values = {**as_json(validation), "repeat": repeat}
    contents = {
        FINDINGS_FILE: json.dumps(values, indent=1) + "\n",
        CRAWLS_FILE: crawls_csv(validation),
    }
    for name, content in contents.items():
        write_atomic(folder / name, content.encode("utf-8"))
    draw_validation(validation, folder)
