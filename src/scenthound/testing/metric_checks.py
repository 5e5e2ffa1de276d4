"""The contract of a metric as an executable check; plug-ins run through it too."""

from collections.abc import Iterator
from random import Random

import numpy as np

from scenthound.errors import PluginError
from scenthound.metrics.base import FixedFacts, GroundTruth, Metric, PoolVectors
from scenthound.metrics.ranks import shared_ranks
from scenthound.model import BoolArray, FloatArray, IntArray, Trace
from scenthound.registry import parameters_of
from scenthound.text.vectors import TermRows

N_TRACES = 20
N_PAGES, N_HOSTS, N_WORDS = 200, 30, 50
LINEAR, VOTING = ("rocchio", "widrow_hoff", "exponentiated_gradient"), ("svm", "naive_bayes", "neural_net", "vote")
JUDGES = (*LINEAR, *VOTING, "relevance_model")


def check_metric(metric: Metric) -> None:
    """Raise `PluginError` with the rule that the metric breaks, or return."""
    _require(bool(metric.name and metric.summary), "name", "A metric has a name and a summary.")
    for known in parameters_of(type(metric)):
        # A metric prints as it parses.
        _require(
            hasattr(metric, known.name),
            "parameter",
            f"A metric keeps its parameter {known.name} in an attribute of that name.",
        )
    for seed in range(N_TRACES):
        rng = Random(seed)
        ground_truth = _ground_truth(rng)
        trace = _trace(rng, ground_truth)
        curve = _curve(metric, trace, ground_truth, len(trace))
        again = metric.curve(trace, ground_truth, len(trace))
        _require(_same(curve, again), "not-reproducible", "The same trace must give the same curve.")
        half = len(trace) // 2
        early = _first(trace, half)
        for curve_of_half in (metric.curve(early, ground_truth, half), metric.curve(trace, ground_truth, half)):
            same = _same(curve_of_half, curve[:half])
            _require(same, "later-pages", "The value after t pages must not depend on pages visited later.")
        # A crawl that ended early has a curve up to the requested step, even if it visited no page.
        for ended in (early, _first(trace, 0)):
            _curve(metric, ended, ground_truth, len(trace))
        none = trace.pages[:0]
        nothing = GroundTruth(none, none, none, ground_truth.pool, FixedFacts())
        is_number = np.isfinite(metric.curve(trace, nothing, len(trace)))
        is_consistent = bool(is_number.all() or not is_number.any())
        _require(is_consistent, "partly-defined", "A metric is defined for all steps of a crawl or for none.")


def _curve(metric: Metric, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
    """The curve, computed from read-only arrays."""
    for array in (trace.pages, trace.relevance, trace.cpu_us, *_arrays_of(ground_truth)):
        array.setflags(write=False)
    try:
        curve = metric.curve(trace, ground_truth, n_steps)
    except ValueError as error:
        if "read-only" in str(error):
            raise PluginError("A metric must not change its arguments.", rule="changed-arguments") from None
        raise
    _require(curve.shape == (n_steps,), "length", "A curve has one value for each requested step.")
    _require(bool(np.isfinite(curve).all()), "not-a-number", "With complete ground truth every value is a number.")
    return curve


def _arrays_of(ground_truth: GroundTruth) -> Iterator[IntArray | FloatArray | BoolArray]:
    facts = ground_truth.facts
    yield from (ground_truth.relevant, ground_truth.targets, ground_truth.seeds, ground_truth.pool)
    yield from (facts.similarity(), facts.lexical_rank(), facts.lexical_rank(as_printed=True), facts.bm25_rank())
    yield facts.linkage_rank()
    yield from (facts.hosts(), facts.seed_hosts(), facts.vectors().weights)
    decisions = (facts.accepted_by(judge, calibrated=calibrated) for judge in JUDGES for calibrated in (False, True))
    yield from (accepted for accepted in decisions if accepted is not None)


def _first(trace: Trace, n_pages: int) -> Trace:
    return Trace(trace.topic, trace.strategy, trace.seed, trace.pages[:n_pages], trace.relevance[:n_pages])


def _ground_truth(rng: Random) -> GroundTruth:
    pool = np.arange(N_PAGES, dtype=np.int32)
    relevant = rng.sample(range(N_PAGES), 40)
    return GroundTruth(_sorted(relevant), _sorted(relevant[:15]), _sorted(relevant[15:20]), pool, _facts(rng))


def _sorted(pages: list[int]) -> IntArray:
    return np.array(sorted(pages), dtype=np.int32)


def _facts(rng: Random) -> FixedFacts:
    """Complete ground truth."""
    draw = np.random.default_rng(rng.getrandbits(32))
    return FixedFacts(
        similarities=draw.random(N_PAGES),
        lexical_ranks=shared_ranks(draw.integers(0, 100, N_PAGES) / 100),
        printed_ranks=shared_ranks(draw.random(N_PAGES)),
        bm25_ranks=shared_ranks(draw.random(N_PAGES)),
        linkage_ranks=shared_ranks(draw.random(N_PAGES)),
        accepted={judge: draw.random(N_PAGES) < 0.3 for judge in JUDGES},
        accepted_calibrated={judge: draw.random(N_PAGES) < 0.1 for judge in JUDGES},
        host_numbers=draw.integers(0, N_HOSTS, N_PAGES, dtype=np.int32),
        seed_host_numbers=draw.integers(0, N_HOSTS, 3, dtype=np.int32),
        weighted=_vectors(draw),
    )


def _vectors(draw: np.random.Generator) -> PoolVectors:
    has = draw.random((N_PAGES, N_WORDS)) < 0.2
    offset = np.concatenate(([0], np.cumsum(has.sum(axis=1))))
    term = np.nonzero(has)[1].astype(np.int32)
    rows = TermRows(offset, term, np.ones(len(term), np.int32))
    return PoolVectors(rows, draw.random(len(term)), rows.document_frequency(N_WORDS))


def _trace(rng: Random, ground_truth: GroundTruth) -> Trace:
    pages = np.array(rng.sample(ground_truth.pool.tolist(), 80), dtype=np.int32)
    return Trace("topic", "strategy", 0, pages, np.zeros(len(pages)), np.ones(len(pages)))


def _same(one: FloatArray, other: FloatArray) -> bool:
    return bool(np.allclose(one, other, rtol=1e-12, atol=0))


def _require(holds: bool, rule: str, message: str) -> None:
    if not holds:
        raise PluginError(message, rule=rule)
