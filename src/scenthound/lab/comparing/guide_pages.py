"""The pages that the winner's guide learnt from, as a folder that a live crawl can learn the same from.

Rules
- The pages are those of the first random start of the topic: a guide learns anew for each start, and this is one of the
  guides that were compared.
- A recorded web keeps the stems of words and not the text. So a file has a word for each stem, in their order, spelled
  so that its stem is that very one: the stem itself, or with an ending. Stop words, which teach nothing, are left out,
  and so is a stem that no ending gives back: one in 200,000.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scenthound.lab.comparing.live_command import learns_from_web
from scenthound.lab.comparing.preparing import Prepared
from scenthound.store.recorded_web import RecordedWeb
from scenthound.text.words import stems_of

#: Endings that Porter's stemmer takes off, those that serve most stems first.
ENDINGS = ("", "e", "s", "ness", "ing")


@dataclass(frozen=True, slots=True)
class GuidePages:
    """Pages of a recorded web: of the topic, and of others."""

    web: Path
    positive: tuple[int, ...]
    negative: tuple[int, ...]

    def files(self) -> dict[str, str]:
        """Texts by their place in the folder: in the order of the pages, as the guide had them."""
        recorded = RecordedWeb.open(self.web)
        return {
            f"{kind}/{page:08}.txt": page_text(recorded, page)
            for kind, pages in (("positive", self.positive), ("negative", self.negative))
            for page in pages
        }


def guide_pages(ready: Prepared, topic_id: str, strategy: str) -> GuidePages | None:
    """Of the first start of a topic; None if the guide of the strategy did not learn from the web."""
    if not learns_from_web(strategy, ready.experiment):
        return None
    start = next(start for topic, start in ready.planned if topic.id == topic_id)
    return GuidePages(ready.experiment.web, start.training, start.negatives)


def page_text(web: RecordedWeb, page: int) -> str:
    """A text with the stems of a page."""
    return " ".join(spelled(web.vocabulary[word] for word in web.words(page).tolist() if word))


def spelled(stems: Iterable[str]) -> list[str]:
    """A word for each stem."""
    return [word for word in map(_word_of, stems) if word is not None]


@cache
def _word_of(stem: str) -> str | None:
    return next((stem + ending for ending in ENDINGS if stems_of(stem + ending) == [stem]), None)
