"""What is wrong with the keywords and start pages of a crawl: keywords without words, start pages that were skipped,
and those that do not look on topic, with the reason."""

import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from scenthound.crawler.settings import CrawlSettings
from scenthound.model import Topic
from scenthound.reasons import SkipReason
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.text.tokenizer import stems_of

#: Visits among which seeds are looked for, besides as many as there are seeds.
MAX_VISITS_BETWEEN_SEEDS = 200
#: Start pages whose texts are read to find the reason, and characters of each.
MAX_READ_PAGES = 20
MAX_READ_CHARACTERS = 100_000
#: A text is in another script than the keywords if fewer of its letters are in theirs.
MIN_SHARE_OF_SCRIPT = 0.05
#: By the first words of character names: Japanese is written in several scripts.
_SCRIPT_OF_NAME = dict.fromkeys(("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC"), "CJK")


class SeedProblem(StrEnum):
    """Why a start page does not look on topic."""

    NO_TEXT = "no-text"
    OTHER_SCRIPT = "other-script"
    NO_KEYWORD = "no-keyword"
    LOW_SCORE = "low-score"


@dataclass(frozen=True, slots=True)
class OffTopicSeed:
    url: str
    problem: SeedProblem


@dataclass(frozen=True, slots=True)
class SkippedSeed:
    url: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class TopicNotes:
    ignored_keywords: tuple[str, ...] = ()
    off_topic_seeds: tuple[OffTopicSeed, ...] = ()  #: in the order of their visits
    skipped_seeds: tuple[SkippedSeed, ...] = ()  #: if the crawl has pages; without any, all have failed


NO_NOTES = TopicNotes()


def topic_notes(settings: CrawlSettings, store: StoredCrawl) -> TopicNotes:
    # Without those that were visited under another URL.
    rows = (row for row in store.skipped_seeds() if row.reason is not SkipReason.REPEATED)
    skipped = tuple(SkippedSeed(row.url, row.reason) for row in rows) if store.n_visits() else ()
    return TopicNotes(ignored_keywords(settings.topic), tuple(_off_topic_seeds(settings, store)), skipped)


def ignored_keywords(topic: Topic) -> tuple[str, ...]:
    """Keywords without words: they consist of single letters, stop words and signs."""
    return tuple(keyword for keyword in topic.keywords if not stems_of(keyword))


def _off_topic_seeds(settings: CrawlSettings, store: StoredCrawl) -> Iterator[OffTopicSeed]:
    threshold, n_seeds = settings.on_topic_from, len(settings.seeds)
    if threshold is None:
        return
    # Seeds come first; others are in between only if the host of a seed had to wait.
    rows = islice(store.visits(), n_seeds + MAX_VISITS_BETWEEN_SEEDS)
    off_topic = (row for row in rows if row.page < n_seeds and row.relevance < threshold)
    for number, row in enumerate(off_topic):
        is_read = number < MAX_READ_PAGES and row.location is not None
        problem = _problem_of(row, settings.topic, store) if is_read else SeedProblem.LOW_SCORE
        yield OffTopicSeed(row.url, problem)


def _problem_of(row: VisitRecord, topic: Topic, store: StoredCrawl) -> SeedProblem:
    text = store.text_of(row)[:MAX_READ_CHARACTERS]
    words, about = set(stems_of(text)), f"{' '.join(topic.keywords)} {topic.description}"
    if not words:
        return SeedProblem.NO_TEXT
    topic_words = stems_of(about)
    if not topic_words or not words.isdisjoint(topic_words):
        return SeedProblem.LOW_SCORE
    return SeedProblem.OTHER_SCRIPT if _is_in_other_script(text, about) else SeedProblem.NO_KEYWORD


def _is_in_other_script(text: str, about: str) -> bool:
    scripts = _scripts_of(text)
    n_common = sum(scripts[script] for script in _scripts_of(about))
    return n_common < MIN_SHARE_OF_SCRIPT * scripts.total()


def _scripts_of(text: str) -> Counter[str]:
    """The number of letters of each script."""
    names = (unicodedata.name(letter, "").partition(" ")[0] for letter in text if letter.isalpha())
    return Counter(_SCRIPT_OF_NAME.get(name, name) for name in names if name)
