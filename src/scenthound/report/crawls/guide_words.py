"""Who scored the pages of a crawl, in words.

A guide that is trained anew has a scale of its own. So wherever a figure is made of relevances of two guides, the page
says so, and says it alike (`scales_note`).
"""

from scenthound.errors import printable
from scenthound.lab.overview.overview import CrawlOverview
from scenthound.lab.overview.scorers import Scorer


def who_scores(crawl: CrawlOverview) -> str:
    """The middle of a sentence."""
    if not any(each.is_trained_anew for each in crawl.scorers):
        return f"{printable(crawl.guide, 100)} scores how relevant a page is"
    first, *later = crawl.scorers
    changes = [f", from visit {each.first:,} on {scorer_told(each)}" for each in later]
    return f"{scorer_told(first)} scored how relevant a page is{''.join(changes)}"


def scorer_told(scorer: Scorer) -> str:
    return f"{printable(scorer.model, 60)}{' trained anew' if scorer.is_trained_anew else ''}"


def guides_told(crawl: CrawlOverview) -> str:
    """All that scored pages: cosine, then svm trained anew."""
    return ", then ".join(map(scorer_told, crawl.scorers)) or printable(crawl.guide, 60)


def has_several_scales(crawl: CrawlOverview) -> bool:
    return len(crawl.scorers) > 1


def scales_note(crawl: CrawlOverview) -> str:
    """What must be said beside relevances of which not all have one scale; empty if they have."""
    if not has_several_scales(crawl):
        return ""
    visits = " and ".join(f"{each.first:,}" for each in crawl.scorers[1:])
    return f"Relevance is by {guides_told(crawl)}: before and after visit {visits} it cannot be compared."


def noted(crawl: CrawlOverview, note: str) -> str:
    """A note, and behind it what must be said of scales."""
    return f"{note} {scales_note(crawl)}".strip()
