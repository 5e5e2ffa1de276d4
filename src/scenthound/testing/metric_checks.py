"""The contract of a metric as an executable check; plug-ins run through it too."""

from random import Random

import numpy as np

from scenthound.errors import BrokenContract
from scenthound.metrics.base import Judgement, Metric
from scenthound.model import FloatArray, IntArray, Trace

N_TRACES = 20


def check_metric(metric: Metric) -> None:
    """Raise `BrokenContract` with the rule that the metric breaks, or return."""
    _require(bool(metric.name and metric.summary), "A metric has a name and a summary.")
    for seed in range(N_TRACES):
        rng = Random(seed)
        judgement = _judgement(rng)
        trace = _trace(rng, judgement)
        curve = _curve(metric, trace, judgement, len(trace))
        again = metric.curve(trace, judgement, len(trace))
        _require(_same(curve, again), "The same trace must give the same curve.")
        _check_causality(metric, trace, judgement, curve)
        _check_early_end(metric, trace, judgement)
        _check_ignorance(metric, trace, judgement)


def _curve(metric: Metric, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
    """The curve, from arrays that cannot be written to."""
    for array in (trace.pages, trace.relevance, trace.cpu_us, *_arrays_of(judgement)):
        array.setflags(write=False)
    try:
        curve = metric.curve(trace, judgement, n_steps)
    except ValueError as error:
        if "read-only" in str(error):
            raise BrokenContract("A metric must not change what it is given.") from None
        raise
    _require(curve.shape == (n_steps,), "A curve has one value for each step that was asked for.")
    _require(bool(np.isfinite(curve).all()), "Where the judges know all, every value is a number.")
    return curve


def _arrays_of(judgement: Judgement) -> tuple[IntArray | FloatArray, ...]:
    return judgement.relevant, judgement.targets, judgement.pool, judgement.pool_similarity


def _check_causality(metric: Metric, trace: Trace, judgement: Judgement, curve: FloatArray) -> None:
    half = len(trace) // 2
    early = _first(trace, half)
    for curve_of_half in (metric.curve(early, judgement, half), metric.curve(trace, judgement, half)):
        same = _same(curve_of_half, curve[:half])
        _require(same, "The value after t pages must not depend on pages visited later.")


def _check_early_end(metric: Metric, trace: Trace, judgement: Judgement) -> None:
    """A crawl that ended early has a curve up to the step asked for, and so has one that got no page at all."""
    half = len(trace) // 2
    _curve(metric, _first(trace, half), judgement, len(trace))
    _curve(metric, _first(trace, 0), judgement, len(trace))


def _check_ignorance(metric: Metric, trace: Trace, judgement: Judgement) -> None:
    nothing = Judgement(trace.pages[:0], trace.pages[:0], judgement.pool, np.zeros(0))
    known = np.isfinite(metric.curve(trace, nothing, len(trace)))
    _require(bool(known.all() or not known.any()), "A metric is defined for a whole crawl or not at all.")


def _first(trace: Trace, n_pages: int) -> Trace:
    return Trace(trace.topic, trace.strategy, trace.seed, trace.pages[:n_pages], trace.relevance[:n_pages])


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
