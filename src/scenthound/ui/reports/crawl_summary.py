"""The summary of a crawl in sentences: its topic, its yield, the cost of politeness, skipped pages, and how it ended.

Relevance scores of different models have no common scale. Wherever a number combines the scores of two models, because
the model was retrained during the crawl, the report says so in the same words (`scales_note`).
"""

import math
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from scenthound.command_line import command_line
from scenthound.crawler.state import CrawlState, State
from scenthound.errors import printable
from scenthound.metrics.recall_estimate import RecallEstimate
from scenthound.store.crawl_folder import ShardLogs
from scenthound.store.crawl_records import MIN_PAGES_FOR_COST, on_topic_pages_lost
from scenthound.ui.crawl_curves import WINDOW
from scenthound.ui.crawl_overview import CrawlOverview, Scorer
from scenthound.ui.endings import ending_text
from scenthound.ui.formats import counted

#: With fewer pages, the first and the last tenth are not compared.
MIN_PAGES_FOR_TREND = 50
#: Tenths within this ratio of each other are called equal.
EQUAL_WITHIN = 0.1
MAX_KEYWORDS = 12
_UNITS = ((86_400, "day", "days"), (3600, "h", "h"), (60, "min", "min"), (1, "s", "s"))


def summary(crawl: CrawlOverview) -> tuple[str, ...]:
    """Paragraphs, the most important first."""
    paragraphs = (f"{_purpose(crawl)} {size(crawl)}", _yield(crawl), _politeness(crawl), _skipped(crawl))
    return (*(text for text in paragraphs if text), _ending(crawl))


def _purpose(crawl: CrawlOverview) -> str:
    topic, plan = crawl.plan.topic, crawl.plan
    keywords = [printable(word, 60) for word in topic.keywords[:MAX_KEYWORDS] if word != topic.id]
    more = " and more" if len(topic.keywords) > MAX_KEYWORDS else ""
    listed = f" ({', '.join(keywords)}{more})" if keywords else ""
    return (
        f"A crawl for pages about {printable(topic.id, 100)}{listed}, from {counted(len(plan.seeds), 'start page')}, "
        f"with the strategy {printable(plan.strategy, 100)}; relevance is scored by {_models_with_visits(crawl)}."
    )


def size(crawl: CrawlOverview) -> str:
    """Pages, hosts, time and speed."""
    if not crawl.n_pages:
        return "It has not visited any page."
    pages = counted(crawl.n_pages, "page")
    if crawl.n_pages < crawl.page_budget:
        pages = f"{crawl.n_pages:,} of {crawl.page_budget:,} pages"
    elif crawl.n_pages > crawl.page_budget:
        pages += f" (its page budget is now {crawl.page_budget:,})"
    speed = f", {_speed(crawl.n_pages / crawl.seconds)}" if crawl.seconds >= 1 else ""
    pauses = f" (without {duration(sum(pause.lasted_s for pause in crawl.pauses))} of pauses)" if crawl.pauses else ""
    return f"It visited {pages} on {counted(len(crawl.hosts), 'host')} in {duration(crawl.seconds)}{pauses}{speed}."


# Relevance models


def model_name(scorer: Scorer) -> str:
    return f"{printable(scorer.model, 60)}{' (retrained)' if scorer.is_retrained else ''}"


def model_names(crawl: CrawlOverview) -> str:
    """All models that scored pages: `cosine, then svm (retrained)`."""
    return ", then ".join(map(model_name, crawl.scorers)) or printable(crawl.relevance_model, 60)


def _models_with_visits(crawl: CrawlOverview) -> str:
    if not any(each.is_retrained for each in crawl.scorers):
        return printable(crawl.relevance_model, 100)
    first, *later = crawl.scorers
    return ", ".join([model_name(first), *(f"from visit {each.first:,} on by {model_name(each)}" for each in later)])


def has_several_scales(crawl: CrawlOverview) -> bool:
    return len(crawl.scorers) > 1


def scales_note(crawl: CrawlOverview) -> str:
    """Which scores cannot be compared; empty if all can."""
    if not has_several_scales(crawl):
        return ""
    visits = " and ".join(f"{each.first:,}" for each in crawl.scorers[1:])
    return f"Relevance is scored by {model_names(crawl)}; scores before and after visit {visits} are not comparable."


def with_scales_note(crawl: CrawlOverview, note: str) -> str:
    return f"{note} {scales_note(crawl)}".strip()


# Sentences


def _yield(crawl: CrawlOverview) -> str:
    """Pages on topic, the harvest, and its trend."""
    if not crawl.n_pages:
        return ""
    if has_several_scales(crawl):
        means = [
            f"{counted(each.n_pages, 'page has', 'pages have')} a mean relevance of "
            f"{crawl.relevance[each.first : each.end].mean():.3f} by {model_name(each)}"
            for each in crawl.scorers
        ]
        return f"The relevance model was retrained, so earlier and later scores are not comparable: {'; '.join(means)}."
    mean = f"The mean relevance of the pages is {crawl.relevance.mean():.3f} (1 is the maximum)"
    if crawl.n_pages > WINDOW:
        mean += f", of the last {WINDOW} pages {crawl.relevance[-WINDOW:].mean():.3f}"
    return f"{_on_topic(crawl)}{_recall(crawl)}{mean}.{_trend(crawl)}"


def _on_topic(crawl: CrawlOverview) -> str:
    """Empty if the relevance model cannot tell."""
    if crawl.n_on_topic is None:
        return ""
    return (
        f"On topic: {crawl.n_on_topic:,} of {counted(crawl.n_pages, 'page')} ({crawl.n_on_topic / crawl.n_pages:.0%}); "
        f"{model_names(crawl)} gives them a probability of {crawl.plan.on_topic_from:g} or more. "
    )


def _recall(crawl: CrawlOverview) -> str:
    """Empty if the relevance model cannot tell what is on topic."""
    if crawl.n_on_topic is None:
        return ""
    found = crawl.recall.estimate
    if not isinstance(found, RecallEstimate):
        return f"How many more can be reached cannot be estimated: {found}. "
    if not found.n_left:
        return "No other page can be reached. "
    return (
        f"That is about {found.recall:.0%} of the pages on topic that can be reached; with 90 % probability, it is "
        f"between {found.low:.0%} and {found.high:.0%}. "
    )


def _trend(crawl: CrawlOverview) -> str:
    if crawl.n_pages < MIN_PAGES_FOR_TREND:
        return ""
    n_tenth = crawl.n_pages // 10
    first, last = (float(crawl.relevance[part].mean()) for part in (slice(n_tenth), slice(-n_tenth, None)))
    if first <= 0:
        return ""
    ratio = last / first
    trend = "steady" if abs(ratio - 1) <= EQUAL_WITHIN else "rising" if ratio > 1 else "falling"
    less = f", {1 - ratio:.0%} less" if trend == "falling" else ""
    return f" The yield is {trend}: the first tenth of its pages has {first:.3f}, the last {last:.3f}{less}."


def _politeness(crawl: CrawlOverview) -> str:
    """A crawl in strict order gives up no score, however long it waits."""
    if crawl.plan.offline:
        return "It read a recording and sent no requests, so crawl delays and robots.txt were not applied."
    count = len(crawl.given_up)
    mean = float(crawl.given_up.mean()) if count else None
    if crawl.plan.strict_order and crawl.n_pages >= MIN_PAGES_FOR_COST:
        return "It kept the strategy's order and waited for crawl delays, so politeness cost time but no score."
    cost = ""
    if mean == 0 and count >= MIN_PAGES_FOR_COST:
        cost = f"Politeness cost no score: each of {count:,} pages was the best in the frontier when it was requested."
    elif mean:
        cost = (
            f"The cost of politeness: averaged over {counted(count, 'page')}, {mean:.1%} of the best queued score was "
            "given up, because the host of the best page had to wait."
        )
    return " ".join(filter(None, (cost, _out_of_order(crawl), seeds_note(crawl))))


def _out_of_order(crawl: CrawlOverview) -> str:
    """The relevance of pages for which no better one had to wait, and of the others."""
    had_to_wait = crawl.regrets > 0
    others, in_order = crawl.relevance[had_to_wait & np.isfinite(crawl.regrets)], crawl.relevance[~had_to_wait]
    if min(len(others), len(in_order)) < MIN_PAGES_FOR_COST or has_several_scales(crawl):
        return ""
    return (
        f"{counted(len(others), 'page was', 'pages were')} requested although a better one had to wait; their mean "
        f"relevance is {others.mean():.3f}, that of the others {in_order.mean():.3f}.{_pages_lost(crawl)}"
    )


def _pages_lost(crawl: CrawlOverview) -> str:
    """An estimate of the pages on topic that politeness cost, and what it assumes; empty if it cannot be made."""
    threshold = crawl.plan.on_topic_from
    n_lost = None if threshold is None else on_topic_pages_lost(crawl.relevance, crawl.regrets, threshold)
    if n_lost is None:
        return ""
    return (
        f" If they were on topic as often as the others, {counted(n_lost, 'more page', 'more pages')} would be: a "
        "rough estimate of what politeness cost, because pages that had to wait may come later."
    )


def seeds_note(crawl: CrawlOverview) -> str:
    """How many pages the mean excludes because a seed had to wait; empty if none."""
    count = int(np.isposinf(crawl.regrets).sum())
    if not count:
        return ""
    return (
        f"{counted(count, 'page was', 'pages were')} requested while a start page waited for its host; they are not in "
        "the mean."
    )


def _skipped(crawl: CrawlOverview) -> str:
    if not crawl.skipped:
        return ""
    most = crawl.skipped[0]
    pages = counted(crawl.n_skipped, "requested page was", "requested pages were")
    share = "" if most.n_pages == crawl.n_skipped else f" ({most.n_pages:,} of them)"
    return f"{pages} skipped. The most frequent reason{share}: {most.reason.text}."


_NOT_ENDED = {
    State.RUNNING: "It was running when this report was made.",
    State.ENDING: "It was running when this report was made.",
    State.PAUSED: "It was paused when this report was made.",
    State.REFRESHING: "Its pages were being checked again when this report was made.",
    State.DIED: "Its process died unexpectedly. What it had stored is safe.",
    State.NOT_BEGUN: "It was not started, or ended before its first page.",
}


def _ending(crawl: CrawlOverview) -> str:
    """Why it ended, or that it did not, and the command to resume it."""
    when = f" The last page was visited on {format_time(crawl.last_s)}." if crawl.last_s else ""
    command = resume_command(crawl.folder, crawl.state) if crawl.state.can_resume else ""
    return f"{_state(crawl)}{when}{f' To resume it: {command}' if command else ''}"


def _state(crawl: CrawlOverview) -> str:
    state = crawl.state
    if state.ended is None:
        return _NOT_ENDED.get(state.state, "It is not running.")
    ended = "It failed." if state.state is State.FAILED else f"It ended: {state.ended}."
    return f"{ended} {ending_text(state.ending)}".rstrip() if state.ending is not None else ended


def resume_command(folder: Path, state: CrawlState) -> str:
    """With a larger page budget if the present one is used up. The path is absolute, because a report may be read
    elsewhere. That of a cluster is not known."""
    more = None
    if state.page_budget is not None and state.n_pages >= state.page_budget:
        more = 2 * state.n_pages
    cluster = None if ShardLogs.read(folder) is None else "ADDRESS"
    options = [("--resume", str(folder.absolute())), ("--cluster", cluster), ("--pages", more)]
    return command_line(["scenthound", "crawl"], options)


# Numbers


def format_score(value: float) -> str:
    """Three significant digits, never in scientific notation."""
    return np.format_float_positional(value, precision=3, fractional=False, trim="-")


def _speed(pages_per_s: float) -> str:
    return f"{pages_per_s:,.1f} pages/s" if pages_per_s >= 0.1 else f"{60 * pages_per_s:,.1f} pages/min"


def duration(seconds: float) -> str:
    """`2 h 5 min`: the two largest units."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    left, parts = round(seconds), list[str]()
    for unit_s, one, many in _UNITS:
        number, left = divmod(left, unit_s)
        if number or parts:
            parts.append(f"{number} {one if number == 1 else many}" if number else "")
    return " ".join(part for part in parts[:2] if part)


def format_time(time_s: float | None) -> str:
    if time_s is None or not math.isfinite(time_s):
        return "unknown"
    return f"{datetime.fromtimestamp(time_s, UTC):%Y-%m-%d %H:%M:%S} UTC"
