"""Arms of studies with planted values: what a paper found can be put in, and taken out."""

from collections.abc import Callable, Mapping

import numpy as np

from scenthound.experiments.closed_world import MissedCounts
from scenthound.experiments.study.measures import NOT_ENDED, ArmMeasurements, Measured, n_of_crawlers
from scenthound.experiments.study.settings import read_settings
from scenthound.experiments.topic_analysis import TopicFeatures

N_TOPICS = 12
#: The value of a crawler at a place; topics differ from it by a little.
Planted = Callable[[str, int], float]


def planted_arm(
    study: str,
    name: str,
    planted: Mapping[str, Planted],
    *,
    n_topics: int = N_TOPICS,
    low: tuple[str, ...] = (),
    n_hosts: int = 100,
    even_hosts: float | None = None,
    leaving_share: float = 0.2,
    page_budget: int = 1000,
    lengths: Mapping[str, int] | None = None,
    n_accepted: float = 1000.0,
    n_exhausted: int = 0,
) -> ArmMeasurements:
    """The arm of a study with these measures; topics go up and down together and a little apart. Crawlers with a length
    ended early, after this many pages. For the first `n_exhausted` topics all crawlers visited the same 300 pages."""
    settings = next(arm for arm in read_settings(study).arms if arm.name == name)
    labels = tuple(settings.strategies)
    steps = (page_budget * np.array([0.05, 0.1, 0.25, 0.5, 1])).astype(np.int32)
    measured = {
        measure: _measured(
            labels, value, _places(measure, steps, settings.top_sizes(page_budget)), n_topics, measure in low
        )
        for measure, value in planted.items()
    }
    n_pages = dict.fromkeys(labels, page_budget) | dict(lengths or {})
    missed = [
        MissedCounts(label, f"t{topic}", 300 if topic < n_exhausted else n_pages[label], 10, 50, 100)
        for topic in range(n_topics)
        for label in labels
    ]
    visited_sets = np.full((len(labels), n_topics), NOT_ENDED, np.int32)
    visited_sets[:, :n_exhausted] = 0
    features = tuple(TopicFeatures(f"t{topic}", topic, 0.5, topic % 3, 2.0, 0.1) for topic in range(n_topics))
    topics = tuple(f"t{topic}" for topic in range(n_topics))
    accepted = np.full(n_topics, n_accepted)
    return ArmMeasurements(
        settings=settings,
        page_budget=page_budget,
        n_hosts=n_hosts,
        even_hosts=n_hosts if even_hosts is None else even_hosts,
        leaving_share=leaving_share,
        n_of=n_of_crawlers({label: spec for label, spec in settings.strategies.items() if "{" not in spec}),
        topics=topics,
        measured=measured,
        bounds={},
        missed=tuple(missed),
        features=features,
        n_accepted=accepted,
        visited_sets=visited_sets,
    )


def _places(measure: str, steps: np.ndarray, tops: tuple[int, ...]) -> np.ndarray:
    if measure.startswith("coverage"):
        return np.array(tops, np.int32)
    return steps[-1:] if measure in {"cpu_us", "running_s"} else steps


def _measured(labels: tuple[str, ...], planted: Planted, places: np.ndarray, n_topics: int, low: bool) -> Measured:
    rng = np.random.default_rng(0)
    mean = np.array([[planted(label, int(x)) for x in places] for label in labels])
    level = rng.uniform(-0.02, 0.02, (1, n_topics, 1))
    apart = rng.uniform(-0.001, 0.001, (len(labels), n_topics, 1))
    scale = np.abs(mean).max()
    return Measured(places, mean[:, None, :] + (level + apart) * scale, low)


def verdicts(findings: object) -> dict[str, str]:
    """By name, and by protocol where there is one."""
    return {f"{each.name} {each.protocol}".strip(): each.verdict.value for each in findings}
