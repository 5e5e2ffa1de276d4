"""A stored crawl as the API tells of it: how it stands, its settings, its curves.

Rules
- Nothing here counts or looks through visits, so a crawl of a million pages costs what one of ten does.
- What a crawl of an older version does not say is null, or empty.
"""

import math
from collections.abc import Mapping
from typing import Any

from scenthound.dashboard.answers import AskedHost, Crawl, Curves, Fact, Guide, ReasonCount, Status
from scenthound.dashboard.folders import FoundFolder
from scenthound.drivers.ended import Ended
from scenthound.errors import BadInput, ScenthoundError
from scenthound.lab.crawl_plan import CrawlPlan
from scenthound.lab.crawl_state import CrawlState, State, crawl_state
from scenthound.lab.labelling.labels import Labels
from scenthound.lab.overview.curves import CrawlCurves
from scenthound.lab.overview.scorers import guide_name, scored_by
from scenthound.lab.run_goals import RunGoals
from scenthound.reasons import REASONS
from scenthound.report.crawls.commands import resume_command
from scenthound.report.crawls.settings_facts import settings_facts
from scenthound.store.page_lists import PageLists

_ENDED_WORDS = {
    Ended.BUDGET: "It reached its page budget.",
    Ended.FRONTIER: "No page was left to be taken.",
    Ended.TIME: "Its time was up.",
    Ended.HARVEST: "Its pages had become too little relevant.",
    Ended.STOPPED: "It was stopped.",
}


def crawl_answer(found: FoundFolder, crawl: PageLists) -> Crawl:
    stands = crawl_state(crawl)
    settings = crawl.about.settings
    topic, plan = topic_of(settings), _plan(settings)
    guides = crawl.guides()
    return Crawl(
        id=found.id,
        name=found.path.name,
        path=str(found.path),
        topic=str(topic.get("id", "")),
        keywords=tuple(map(str, topic.get("keywords", ()))),
        strategy=str(settings.get("strategy", "")),
        guide=f"{guides[-1].relevance}, trained anew" if guides else guide_name(plan) if plan else "unknown",
        scored_by=scored_by(plan, crawl.about.crawl_id, guides) if plan else str(crawl.about.crawl_id),
        state=stands.state.value,
        ended=_ended(stands),
        resume_command=resume_command(found.path, stands) if stands.can_go_on else None,
        status=None if stands.status is None else status_answer(stands.status),
        guides=tuple(
            Guide(guide.visit, guide.time_s, guide.relevance, guide.n_positive, guide.n_negative) for guide in guides
        ),
        n_labels=len(labels_of(crawl)),
        settings=_settings(plan, crawl) if plan else (),
    )


def labels_of(crawl: PageLists) -> dict[int, bool]:
    """Visit to label. A file of labels that cannot be read keeps nobody from seeing the crawl; who labels is told."""
    try:
        return Labels.of(crawl).by_visit()
    except BadInput:
        return {}


def topic_of(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    topic = settings.get("topic")
    return topic if isinstance(topic, Mapping) else {}


def status_answer(told: Mapping[str, Any]) -> Status:
    """From what the crawl wrote at its last commit."""
    reasons = sorted(told["reasons"].items(), key=lambda counted: (-counted[1], counted[0]))
    return Status(
        **{name: told[name] for name in _STATUS_NAMES},
        regret=finite(told["regret"]),
        reasons=tuple(ReasonCount(code, reason_told(code), pages) for code, pages in reasons),
        asked_hosts=tuple(AskedHost(*host) for host in told["asked_hosts"]),
        problem=str(told.get("problem", "")),
    )


_STATUS_NAMES = tuple(name for name in Status.__slots__ if name not in ("regret", "reasons", "asked_hosts", "problem"))


def curves_answer(curves: CrawlCurves, start: int = 0) -> Curves:
    """From point `start` on."""
    columns: dict[str, Any] = {
        name: tuple(map(_whole if name in _COUNTED else finite, getattr(curves, name)[start:].tolist()))
        for name in Curves.__slots__
    }
    return Curves(**columns)


#: Counts that are not known of all crawls.
_COUNTED = frozenset({"hosts_active", "hosts_resting", "hosts_ready", "hosts_retired", "not_taken"})


def _whole(number: float) -> int | None:
    return int(number) if math.isfinite(number) else None


def reason_told(code: str) -> str:
    reason = REASONS.get(code)
    return code if reason is None else reason.told


def finite(number: float | None) -> float | None:
    """A seed's score is endless, which JSON has no word for."""
    return number if number is not None and math.isfinite(number) else None


def _plan(settings: Mapping[str, Any]) -> CrawlPlan | None:
    """None if the settings are not those of this version."""
    try:
        return CrawlPlan.from_settings(settings)
    except ScenthoundError:
        return None


def _settings(plan: CrawlPlan, crawl: PageLists) -> tuple[Fact, ...]:
    try:
        goals = RunGoals.read(crawl.folder)
    except BadInput:
        # The next run will complain; who only looks need not.
        goals = RunGoals()
    return tuple(Fact(name, value) for name, value in settings_facts(plan, goals, guide_name(plan)))


def _ended(stands: CrawlState) -> str | None:
    if stands.ended is not None:
        return _ENDED_WORDS[stands.ended]
    if stands.state is State.DIED:
        return "Its process is gone and did not say why. All pages it took are on the disk."
    return None
