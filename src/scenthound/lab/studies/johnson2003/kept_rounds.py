"""The rounds of a validation, kept by their content: a study that is run again measures only what is new.

A round is one topic and one random seed: a crawl by every strategy from both seed sets, measured at every length. Its
name is a digest of all that decides these measures: the crawls (`trace_cache`), the small seed set, lengths and
threshold, and the code that measures. A file that is damaged or half written is as good as none.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from scenthound.files import write_whole
from scenthound.lab.starts import Start
from scenthound.lab.studies.code_digests import code_digest
from scenthound.lab.studies.trace_cache import Ground, crawl_names
from scenthound.lab.validating.crawls import MeasuredRound, Round, ValidationBench
from scenthound.lab.validating.measures import CrawlMeasures
from scenthound.lab.validating.settings import SeedSet, ValidationSettings
from scenthound.metrics.link_distance import DistanceHistogram
from scenthound.model import Progress, Topic, silent
from scenthound.processes import in_order, processors
from scenthound.store.recorded_web import RecordedWeb

#: The rooms whose code decides what a crawl measures, beside those that decide the crawl.
MEASURING_ROOMS = ("metrics", "lab/validating")


@dataclass(frozen=True, slots=True)
class Rounds:
    """All rounds of a validation, in the order of topics and seeds, and how many were measured now."""

    measured: tuple[MeasuredRound, ...]
    n_new: int


def kept_rounds(
    web: RecordedWeb,
    settings: ValidationSettings,
    planned: Sequence[tuple[Topic, Start]],
    folder: Path,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Rounds:
    """Every round: those that the folder has, and the others measured and put there."""
    rounds = [Round(topic, start, seed) for topic, start in planned for seed in range(settings.n_seeds)]
    places = [folder / f"{name}.json" for name in _names(web, settings, rounds)]
    measured = {place: _load(place) for place in places}
    missing = {place: each for place, each in zip(places, rounds, strict=True) if measured[place] is None}
    folder.mkdir(parents=True, exist_ok=True)
    n_workers = min(workers or processors(), max(1, len(missing)))
    with closing(in_order(partial(ValidationBench, web, settings), missing.values(), n_workers)) as results:
        for done, (place, result) in enumerate(zip(missing, results, strict=True), 1):
            write_whole(place, json.dumps(asdict(result)).encode())
            measured[place] = result
            progress(done / len(missing), f"{done:,} of {len(missing):,} rounds, {result.topic}")
    return Rounds(tuple(each for place in places if (each := measured[place]) is not None), len(missing))


def _names(web: RecordedWeb, settings: ValidationSettings, rounds: Sequence[Round]) -> Iterator[str]:
    experiment = settings.experiment(web)
    ground = Ground(web.fingerprint, code_digest(MEASURING_ROOMS))
    for each in rounds:
        start = replace(each.large, seed=each.seed)
        crawls = (crawl_names(experiment, ground, spec, each.topic, start)[0] for spec in experiment.strategies)
        decides = {
            "crawls": [crawl.digest for crawl in crawls],
            # Judges go by the pages known to belong to the topic.
            "known": [each.topic.id, each.topic.examples, each.topic.targets],
            "small": settings.seeds_of(each.large, SeedSet.SMALL, each.seed),
            "budgets": settings.budgets,
            "threshold": settings.threshold,
        }
        yield hashlib.sha256(json.dumps(decides).encode()).hexdigest()


def _load(place: Path) -> MeasuredRound | None:
    try:
        values = json.loads(place.read_bytes())
        measures = tuple(
            tuple(tuple(map(_crawl, by_budget)) for by_budget in by_seed_set) for by_seed_set in values["measures"]
        )
        return MeasuredRound(values["topic"], values["seed"], measures, values["good_share"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _crawl(values: Mapping[str, Any]) -> CrawlMeasures:
    histograms = {name: DistanceHistogram(tuple(values[name]["counts"])) for name in ("distances", "good_distances")}
    return CrawlMeasures(**{**values, **histograms})
