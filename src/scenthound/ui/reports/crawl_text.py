"""A crawl in sentences: what it was for, what it came to, whether it still finds, and how it ended.

Rules
- The answer first, a number with what it means, and no verdict that a number does not carry.
- Texts of a topic are somebody else's; who writes the page escapes them.
"""

import math
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from scenthound.command_line import command_line
from scenthound.crawler.state import CrawlState, State
from scenthound.errors import printable
from scenthound.ui.crawl_curves import WINDOW
from scenthound.ui.crawl_overview import CrawlOverview, Scorer

# The command line that lets a crawl go on.


def resume_command(folder: Path, state: CrawlState) -> str:
    """With a larger page budget, if the crawl has all pages that its own allows. A report is read elsewhere than it was
    made, so the path is whole."""
    more = None
    if state.page_budget is not None and state.n_pages >= state.page_budget:
        more = 2 * state.n_pages
    return command_line(["scenthound", "crawl"], [("--resume", str(folder.absolute())), ("--pages", more)])


# Who scored the pages of a crawl, in words.
#
# A guide that is trained anew has a scale of its own. So wherever a figure is made of relevances of two guides, the
# page says so, and says it alike (`scales_note`).


def who_scores(crawl: CrawlOverview) -> str:
    """The middle of a sentence."""
    if not any(each.is_trained_anew for each in crawl.scorers):
        return f"{printable(crawl.relevance_model, 100)} scores how relevant a page is"
    first, *later = crawl.scorers
    changes = [f", from visit {each.first:,} on {scorer_told(each)}" for each in later]
    return f"{scorer_told(first)} scored how relevant a page is{''.join(changes)}"


def scorer_told(scorer: Scorer) -> str:
    return f"{printable(scorer.model, 60)}{' trained anew' if scorer.is_trained_anew else ''}"


def models_text(crawl: CrawlOverview) -> str:
    """All that scored pages: cosine, then svm trained anew."""
    return ", then ".join(map(scorer_told, crawl.scorers)) or printable(crawl.relevance_model, 60)


def has_several_scales(crawl: CrawlOverview) -> bool:
    return len(crawl.scorers) > 1


def scales_note(crawl: CrawlOverview) -> str:
    """What must be said beside relevances of which not all have one scale; empty if they have."""
    if not has_several_scales(crawl):
        return ""
    visits = " and ".join(f"{each.first:,}" for each in crawl.scorers[1:])
    return f"Relevance is by {models_text(crawl)}: before and after visit {visits} it cannot be compared."


def noted(crawl: CrawlOverview, note: str) -> str:
    """A note, and behind it what must be said of scales."""
    return f"{note} {scales_note(crawl)}".strip()


#: With fewer pages nothing is said of the first and the last tenth.
LEAST_FOR_TENTHS = 50
#: Within this of each other, two tenths are told as alike.
ALIKE = 0.1
#: With fewer pages it is not said that politeness cost nothing.
LEAST_FOR_PRICE = 10
MOST_WORDS_SHOWN = 12
_UNITS = ((86_400, "day", "days"), (3600, "h", "h"), (60, "min", "min"), (1, "s", "s"))


def summary(crawl: CrawlOverview) -> tuple[str, ...]:
    """Paragraphs for the head of a page."""
    told = (f"{what_for(crawl)} {came_to(crawl)}", findings(crawl), politeness_price(crawl), refusals(crawl))
    return (*(text for text in told if text), how_it_stands(crawl))


def what_for(crawl: CrawlOverview) -> str:
    topic, plan = crawl.plan.topic, crawl.plan
    words = [printable(word, 60) for word in topic.keywords[:MOST_WORDS_SHOWN] if word != topic.id]
    more = " and more" if len(topic.keywords) > MOST_WORDS_SHOWN else ""
    named = f" ({', '.join(words)}{more})" if words else ""
    pages = counted(len(plan.seeds), "start page", "start pages")
    return (
        f"A crawl for pages about {printable(topic.id, 100)}{named}, from {pages}, by the strategy "
        f"{printable(plan.strategy, 100)}; {who_scores(crawl)}."
    )


def came_to(crawl: CrawlOverview) -> str:
    if not crawl.n_pages:
        return "It has taken no page."
    pages = counted(crawl.n_pages, "page", "pages")
    if crawl.n_pages < crawl.page_budget:
        pages = f"{crawl.n_pages:,} of {crawl.page_budget:,} pages"
    elif crawl.n_pages > crawl.page_budget:
        pages += f" (its page budget is {crawl.page_budget:,} by now)"
    speed = f", {per_second(crawl.n_pages / crawl.seconds)}" if crawl.seconds >= 1 else ""
    pauses = f" ({span(sum(pause.lasted_s for pause in crawl.pauses))} of pauses left out)" if crawl.pauses else ""
    hosts = counted(crawl.n_hosts, "host", "hosts")
    return f"It took {pages} from {hosts} in {span(crawl.seconds)}{pauses}{speed}."


def findings(crawl: CrawlOverview) -> str:
    """The harvest, and whether the crawl still finds as at first."""
    if not crawl.n_pages:
        return ""
    if has_several_scales(crawl):
        return _findings_of_each(crawl)
    told = f"The pages have a mean relevance of {crawl.relevance.mean():.3f}, where 1 is the most"
    if crawl.n_pages > WINDOW:
        told += f"; the last {WINDOW} of {crawl.relevance[-WINDOW:].mean():.3f}"
    return f"{told}.{_trend(crawl)}"


def _findings_of_each(crawl: CrawlOverview) -> str:
    """Of each guide for itself."""
    means = [
        f"{counted(each.n_pages, 'page has', 'pages have')} a mean relevance of "
        f"{crawl.relevance[each.first : each.end].mean():.3f} by {scorer_told(each)}"
        for each in crawl.scorers
    ]
    why = "Its guide was trained anew on the way, so scores before and after that cannot be compared"
    return f"{why}: {'; '.join(means)}."


def _trend(crawl: CrawlOverview) -> str:
    if crawl.n_pages < LEAST_FOR_TENTHS:
        return ""
    first, last = tenths(crawl)
    if first <= 0:
        return ""
    ratio = last / first
    tenth = f"the last tenth of its pages has {last:.3f}, the first had {first:.3f}"
    if abs(ratio - 1) <= ALIKE:
        return f" It finds as much as at first: {tenth}."
    if ratio > 1:
        return f" It finds more than at first: {tenth}."
    return f" It finds less than at first: {tenth}, so {1 - ratio:.0%} less."


def tenths(crawl: CrawlOverview) -> tuple[float, float]:
    """The mean relevance of the first and of the last tenth of the pages."""
    n_pages = max(1, crawl.n_pages // 10)
    return float(crawl.relevance[:n_pages].mean()), float(crawl.relevance[-n_pages:].mean())


def politeness_price(crawl: CrawlOverview) -> str:
    """A crawl in strict order gives up no score, whatever it waits for."""
    cost, n_counted, passed = regret(crawl), n_regrets(crawl), seeds_passed(crawl)
    if crawl.plan.strict_order and crawl.n_pages >= LEAST_FOR_PRICE:
        return "It kept to the strategy's order and waited while hosts rested, so politeness cost it time and no score."
    if cost is None or (cost == 0 and n_counted < LEAST_FOR_PRICE):
        return passed
    if cost == 0:
        told = f"Politeness cost no score: each of {n_counted:,} pages was the best that waited when it was asked for."
    else:
        told = (
            f"The price of politeness, called regret: in the mean of {counted(n_counted, 'page', 'pages')}, the page "
            f"taken scored {small(cost)} less, in the strategy's own score, than the best that waited for a host."
        )
    return f"{told} {passed}".rstrip()


def regret(crawl: CrawlOverview) -> float | None:
    """The mean of those that are a number: a seed is endlessly better than any page that is taken before it."""
    known = crawl.regrets[np.isfinite(crawl.regrets)]
    return float(known.mean()) if len(known) else None


def n_regrets(crawl: CrawlOverview) -> int:
    """Pages that the mean regret is of."""
    return int(np.isfinite(crawl.regrets).sum())


def seeds_passed(crawl: CrawlOverview) -> str:
    """How many pages are not in the mean regret; empty if none was taken while a seed had to wait."""
    n_passed = int(np.isposinf(crawl.regrets).sum())
    if not n_passed:
        return ""
    were = counted(n_passed, "page was", "pages were")
    return f"{were} taken while a start page waited for its host; no number says what that cost."


def refusals(crawl: CrawlOverview) -> str:
    if not crawl.refused:
        return ""
    most = crawl.refused[0]
    pages = counted(crawl.n_refused, "page was", "pages were")
    share = "" if most.n_pages == crawl.n_refused else f", of {most.n_pages:,} of them"
    return f"{pages} asked for and not taken. The most frequent reason{share}: {most.reason.text}."


def how_it_stands(crawl: CrawlOverview) -> str:
    """Why it ended, or that it did not, and the command that lets it go on."""
    when = f" The last page was taken on {sample(crawl.last_s)}." if crawl.last_s else ""
    command = resume_command(crawl.folder, crawl.state) if crawl.state.can_go_on else ""
    return f"{_state(crawl)}{when}{f' To let it go on: {command}' if command else ''}"


def _state(crawl: CrawlOverview) -> str:
    state = crawl.state
    match state.state:
        case State.RUNNING | State.ENDING:
            return "It was running when this report was made."
        case State.PAUSED:
            return "It was paused when this report was made."
        case State.DIED:
            return "Its process died without a word. What it had stored is safe."
        case State.NOT_BEGUN:
            return "It was not begun, or ended before its first page."
        case _:
            return f"It ended: {state.ended}." if state.ended else "It is not running."


def counted(count: int, one: str, many: str) -> str:
    """1 page, 2,000 pages."""
    return f"{count:,} {one if count == 1 else many}"


def small(value: float) -> str:
    """A number with three digits that count, written out however small it is."""
    return np.format_float_positional(value, precision=3, fractional=False, trim="-")


def per_second(speed: float) -> str:
    return f"{speed:,.1f} pages a second" if speed >= 0.1 else f"{60 * speed:,.1f} pages a minute"


def span(seconds: float) -> str:
    """2 h 5 min: the two largest units that count."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    left, told = round(seconds), list[str]()
    for size, one, many in _UNITS:
        number, left = divmod(left, size)
        if number or told:
            told.append(f"{number} {one if number == 1 else many}" if number else "")
    return " ".join(part for part in told[:2] if part)


def rough_span(seconds: float) -> str:
    """The same in one unit, where room is short."""
    size, unit = next((size, many) for size, _, many in _UNITS if seconds >= 1.5 * size or size == 1)
    return span(seconds) if size == 1 else f"{seconds / size:.1f} {unit}"


def sample(time_s: float | None) -> str:
    if time_s is None or not math.isfinite(time_s):
        return "not known"
    return f"{datetime.fromtimestamp(time_s, UTC):%Y-%m-%d %H:%M:%S} UTC"
