"""The contract of a metric as an executable check; plug-ins run through it too."""

from random import Random

import numpy as np

from scenthound.errors import BrokenContract
from scenthound.metrics.base import Judgement, Metric, values_at
from scenthound.model import FloatArray, Trace

N_TRACES = 20


def check_metric(metric: Metric) -> None:
    """Raise `BrokenContract` with the rule that the metric breaks, or return."""
    for seed in range(N_TRACES):
        rng = Random(seed)
        judgement = _judgement(rng)
        trace = _trace(rng, judgement)
        kept = trace.pages.copy(), judgement.relevant.copy(), judgement.targets.copy()
        curve = metric.curve(trace, judgement)
        _require(curve.shape == (len(trace),), "A curve has one value for each page of the trace.")
        _require(bool(np.isfinite(curve).all()), "Where the judges know all, every value is a number.")
        _require(_same(curve, metric.curve(trace, judgement)), "The same trace must give the same curve.")
        now = trace.pages, judgement.relevant, judgement.targets
        _require(all(map(np.array_equal, kept, now)), "A metric must not change what it is given.")
        _check_causality(metric, trace, judgement, curve)
        _check_points(metric, trace, judgement, curve)


def _check_causality(metric: Metric, trace: Trace, judgement: Judgement, curve: FloatArray) -> None:
    half = len(trace) // 2
    early = Trace(trace.topic, trace.strategy, trace.seed, trace.pages[:half], trace.relevance[:half])
    same = _same(metric.curve(early, judgement), curve[:half])
    _require(same, "The value after t pages must not depend on pages visited later.")


def _check_points(metric: Metric, trace: Trace, judgement: Judgement, curve: FloatArray) -> None:
    beyond = len(trace) + 10
    _require((metric @ beyond)(trace, judgement) == curve[-1], "After its end a crawl keeps its last value.")
    _require((metric @ 1)(trace, judgement) == curve[0], "A point is a value of the curve.")
    empty = values_at(np.zeros(0), np.array([1], dtype=np.int32))
    _require(empty[0] == 0, "A crawl that got no page scores 0.")
    _require(str(metric @ 5) == f"{metric}@5", "A metric prints as it parses.")


def _judgement(rng: Random) -> Judgement:
    pool = np.arange(200, dtype=np.int32)
    relevant = np.array(sorted(rng.sample(range(200), 40)), dtype=np.int32)
    targets = np.array(sorted(rng.sample(relevant.tolist(), 15)), dtype=np.int32)
    return Judgement(relevant, targets, pool, np.array([rng.random() for _ in pool]))


def _trace(rng: Random, judgement: Judgement) -> Trace:
    pages = np.array(rng.sample(judgement.pool.tolist(), 80), dtype=np.int32)
    return Trace("topic", "strategy", 0, pages, np.zeros(len(pages)), np.ones(len(pages)))


def _same(one: FloatArray, other: FloatArray) -> bool:
    return bool(np.allclose(one, other, rtol=1e-12, atol=0))


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise BrokenContract(rule)
