"""Who scored the pages of a crawl: the guide it began with, then those that were trained anew.

Rules
- Scores of two guides have no common scale. A guide that learnt from other pages is another guide, whatever its name.
- Harvests of two crawls can be compared if they were `scored_by` the same. Of crawls whose guide was trained anew that
  is never so, unless one is a copy of the other.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from uuid import UUID

from scenthound.errors import ScenthoundError
from scenthound.lab.crawl_parts import guide_of
from scenthound.lab.crawl_plan import CrawlPlan
from scenthound.store.crawl_rows import GuideRow
from scenthound.strategies.base import STRATEGIES

_DIGEST_LETTERS = 32
#: The guide of a strategy that is not installed.
_OWN = "the strategy's own"


@dataclass(frozen=True, slots=True)
class Scorer:
    """A guide and the visits that it scored: the first, and the one behind the last."""

    model: str
    first: int
    end: int
    is_trained_anew: bool

    @property
    def n_pages(self) -> int:
        return self.end - self.first


def scorers_of(guide: str, guides: Sequence[GuideRow], n_pages: int) -> tuple[Scorer, ...]:
    """Those that scored a page, in their order; `guide` is the one that the crawl began with."""
    firsts = [0, *(min(row.visit, n_pages) for row in guides)]
    ends = [*firsts[1:], n_pages]
    models = [guide, *(row.relevance for row in guides)]
    all_of_them = [
        Scorer(model, first, end, place > 0)
        for place, (model, first, end) in enumerate(zip(models, firsts, ends, strict=True))
    ]
    return tuple(each for each in all_of_them if each.n_pages > 0)


def guide_name(plan: CrawlPlan) -> str:
    """The model that scored pages when the crawl began. A strategy or model that is not installed here cannot be asked
    which that is."""
    try:
        return guide_of(plan, STRATEGIES.make(plan.strategy))
    except ScenthoundError:
        return plan.relevance or _OWN


def scored_by(plan: CrawlPlan, crawl_id: UUID, guides: Sequence[GuideRow]) -> str:
    """A short name for the topic and all that scored for it."""
    topic, guide = plan.topic, guide_name(plan)
    learnt_from = plan.train_digest or plan.train_from
    judged = [topic.id, topic.keywords, topic.description, guide, plan.strategy if guide == _OWN else "", learnt_from]
    later = [str(crawl_id), *map(astuple, guides)] if guides else []
    return hashlib.sha256(json.dumps([judged, later]).encode()).hexdigest()[:_DIGEST_LETTERS]
