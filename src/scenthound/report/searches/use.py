"""How to use what a search came to: the commands that hold it against Best-First, and that crawl by it live.

A file of topics or a guide that is no longer there does not hide the page: the commands then leave out what it decides.
"""

from collections.abc import Iterator

from scenthound.errors import WrongUse, printable
from scenthound.lab.command_line import command_line, in_lines, unless
from scenthound.lab.comparing.live_command import PLACEHOLDER
from scenthound.lab.evolving.search_folder import RESULT_FILE, TOPICS_FILE
from scenthound.relevance.base import RELEVANCE, trains
from scenthound.report.page.values import Block, Prose, Verbatim
from scenthound.report.searches.told import ToldSearch
from scenthound.strategies.evolved import choice_of
from scenthound.topics.files import read_topics

#: On how many topics that no search saw a validation is proposed.
UNSEEN_PROPOSED = 4


def use_blocks(told: ToldSearch, guide: str) -> Iterator[Block]:
    """`guide` is the relevance model that the weights were found with."""
    yield Verbatim("Hold it against Best-First", in_lines(_validation(told, guide)))
    learns = _learns(guide)
    yield Verbatim("Crawl by it live", in_lines(_live_crawl(told, learns)))
    if learns and told.settings["crawls_of"]["train_from"] is None:
        yield Prose(
            (
                f"{printable(guide)} learns: put pages of the topic into {PLACEHOLDER}/positive, and others into "
                f"{PLACEHOLDER}/negative.",
            )
        )


def _validation(told: ToldSearch, guide: str) -> str:
    """By the guide and in the mode of the search, on its topics, and on others if there are any."""
    place, crawls = told.folder.absolute(), told.settings["crawls_of"]
    return command_line(
        ("scenthound", "validate"),
        [
            ("--web", crawls["web"]),
            ("--topics", place / TOPICS_FILE),
            ("--strategy", choice_of(place / RESULT_FILE)),
            ("--unseen-max", UNSEEN_PROPOSED if _has_unseen(told) else None),
            ("--relevance", guide),
            ("--threshold", unless(told.settings["threshold"], 0.5)),
            ("--mode", crawls["mode"]),
            ("--closed-world", bool(crawls["closed_world"])),
            ("--follow-nofollow", not crawls["obey_nofollow"]),
            ("--out", place.with_name(f"{place.name}-validation")),
        ],
    )


def _live_crawl(told: ToldSearch, learns: bool) -> str:
    place, crawls = told.folder.absolute(), told.settings["crawls_of"]
    return command_line(
        ("scenthound", "crawl", str(place / TOPICS_FILE)),
        [
            ("--topic", crawls["topics"][0]),
            ("--strategy", choice_of(place / RESULT_FILE)),
            ("--train-from", (crawls["train_from"] or PLACEHOLDER) if learns else None),
            ("--follow-nofollow", not crawls["obey_nofollow"]),
        ],
    )


def _has_unseen(told: ToldSearch) -> bool:
    """Whether the file has topics that neither this search saw nor those whose winners took part in it."""
    seen = {*told.settings["crawls_of"]["topics"], *told.settings["seeded_topics"]}
    try:
        return any(topic.id not in seen for topic in read_topics(told.folder / TOPICS_FILE))
    except WrongUse:
        return False


def _learns(guide: str) -> bool:
    try:
        return trains(RELEVANCE.make(guide))
    except WrongUse:
        return False
