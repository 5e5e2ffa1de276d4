"""Notes on the keywords and start pages of a crawl, one line each: what happened, and what to change."""

from collections.abc import Sequence

from scenthound.crawler.topic_notes import SeedProblem, SkippedSeed, TopicNotes
from scenthound.errors import printable
from scenthound.relevance.base import WHAT_TO_WRITE, words_that_count
from scenthound.ui.formats import counted

MAX_KEYWORDS = 10
MAX_SKIPPED = 3
#: What is the matter with one or several start pages, and what to do.
_PROBLEMS = {
    SeedProblem.NO_TEXT: (
        ("has no text", "have no text"),
        "Pages made by JavaScript are empty here, because it is not executed: start from pages with text.",
    ),
    SeedProblem.OTHER_SCRIPT: (
        ("is in another script than the keywords", "are in another script than the keywords"),
        "The topic was not learned there: start from pages in the language of the keywords, or translate the keywords.",
    ),
    SeedProblem.NO_KEYWORD: (
        ("has none of the topic's words", "have none of the topic's words"),
        "The topic was not learned there: check the keywords and their language, or start from pages about the topic.",
    ),
    SeedProblem.LOW_SCORE: (
        ("does not look on topic", "do not look on topic"),
        "Check the keywords, or start from pages about the topic.",
    ),
}


def ignored_keywords_text(keywords: Sequence[str]) -> str:
    """Empty if there are none."""
    if not keywords:
        return ""
    listed = ", ".join(f'"{printable(keyword, 60)}"' for keyword in keywords[:MAX_KEYWORDS])
    more = f" and {len(keywords) - MAX_KEYWORDS:,} more" if len(keywords) > MAX_KEYWORDS else ""
    which = f"The keyword {listed} is" if len(keywords) == 1 else f"The keywords {listed}{more} are"
    return f"{which} ignored: {words_that_count(' '.join(keywords))}. {WHAT_TO_WRITE}."


def seed_texts(notes: TopicNotes) -> list[str]:
    """A line for start pages that were skipped, and for each problem of others."""
    texts = [_skipped_text(notes.skipped_seeds)] if notes.skipped_seeds else []
    for problem, ((one, several), advice) in _PROBLEMS.items():
        urls = [printable(seed.url, 200) for seed in notes.off_topic_seeds if seed.problem is problem]
        if urls:
            many = f"{counted(len(urls), 'start page')} (such as {urls[0]}) {several}"
            texts.append(f"{f'The start page {urls[0]} {one}' if len(urls) == 1 else many}. {advice}")
    return texts


def _skipped_text(seeds: Sequence[SkippedSeed]) -> str:
    some = ", ".join(f"{printable(seed.url, 200)} ({seed.reason.text})" for seed in seeds[:MAX_SKIPPED])
    more = f" and {len(seeds) - MAX_SKIPPED:,} more" if len(seeds) > MAX_SKIPPED else ""
    return f"{counted(len(seeds), 'start page was', 'start pages were')} skipped: {some}{more}."


def note_texts(notes: TopicNotes) -> list[str]:
    """All notes."""
    return [text for text in (ignored_keywords_text(notes.ignored_keywords), *seed_texts(notes)) if text]
