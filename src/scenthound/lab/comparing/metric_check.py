"""Whether the metric that decides has a value for the topics: found out before the first crawl, by judging start pages.

A metric without a value for a topic has none anywhere on its curve, so a crawl of the start pages alone will tell.
"""

from collections.abc import Sequence

import numpy as np

from scenthound.errors import BadTopic
from scenthound.lab.comparing.preparing import Prepared
from scenthound.lab.judging import TopicJudge
from scenthound.lab.metric_curves import checked_curve
from scenthound.lab.starts import Start
from scenthound.metrics.base import Point
from scenthound.model import Topic, Trace
from scenthound.store.recorded_web import RecordedWeb


def check_metric(ready: Prepared, web: RecordedWeb) -> None:
    """BadTopic if the metric has no value for any topic."""
    first_starts = [(topic, start) for topic, start in ready.planned if start.seed == 0]
    if not any(_has_value(ready, web, *planned) for planned in first_starts):
        raise no_value(ready.point, [topic.id for topic, _ in first_starts])


def _has_value(ready: Prepared, web: RecordedWeb, topic: Topic, start: Start) -> bool:
    pages = np.array(start.seeds, np.int32)
    trace = Trace(topic.id, "start pages", start.seed, pages, np.zeros(len(pages)))
    # Which PageRank pages have does not matter, but that there is one.
    judge = TopicJudge(web, topic, [trace], page_rank=np.ones(web.n_pages))
    starts = [*(planned for _, planned in ready.planned), *ready.other_starts]
    curve = checked_curve(ready.point.metric, trace, judge.judgement(start, starts), len(pages))
    return not np.isnan(curve).any()


def no_value(point: Point, topics: Sequence[str]) -> BadTopic:
    """The metric cannot be computed: what it needs, and what can be done."""
    where = f"topic {topics[0]!r}" if len(topics) == 1 else f"any of the {len(topics)} topics"
    needs = f", which needs {point.metric.needs}" if point.metric.needs else ""
    judges = "set some aside with --judge N, or " if "harvest" in str(point.metric) else ""
    return BadTopic(
        f"There is no {point.metric} for {where}{needs}: {judges}decide --by another metric; `scenthound metrics` "
        "lists them."
    )
