"""The command line that starts a strategy live, as it was compared.

A guide that learns has learnt from pages of the recorded web, and a live crawl learns from a folder. So the command
names one: that which has these pages, or a placeholder if there is none.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scenthound.command_line import shell_word
from scenthound.errors import printable
from scenthound.experiments.compare.settings import Prepared
from scenthound.experiments.setup import Experiment
from scenthound.relevance.base import RELEVANCE, trains
from scenthound.store.recorded_web import RecordedWeb
from scenthound.text.tokenizer import stems_of

#: Stands in the command where a person has to put a folder.
PLACEHOLDER = "DIR"
#: Where there is no command.
CANNOT_BE_NAMED = (
    "No command line can start it live: a name in it has a NUL character, which no command line can hold. Rename the "
    "topic in its file."
)


def live_command(
    topics: Path, topic_id: str, strategy: str, experiment: Experiment, learnt_from: Path | None = None
) -> str:
    """`scenthound crawl` with the strategy, its guide and its budget; quoted for a shell, and in one line. Empty if no
    command line can say it. `learnt_from` is the folder with the pages that the guide learnt from."""
    words = ["scenthound", "crawl", str(topics), "--topic", topic_id, "--strategy", strategy]
    relevance_model = experiment.relevance_model_of(strategy)
    if experiment.relevance is not None or _learns(relevance_model):
        words += ["--relevance", relevance_model]
    if _learns(relevance_model):
        words += ["--train-from", str(experiment.train_from or learnt_from or PLACEHOLDER)]
    if not experiment.respect_nofollow:
        words.append("--follow-nofollow")
    words += ["--pages", str(experiment.page_budget)]
    return "" if any("\0" in word for word in words) else " ".join(map(shell_word, words))


def training_note(strategy: str, experiment: Experiment, learnt_from: Path | None = None) -> str:
    """What must be known of a guide that learnt from pages of the web; empty if nothing."""
    if not learns_from_web(strategy, experiment):
        return ""
    relevance_model = experiment.relevance_model_of(strategy)
    who = f"{printable(strategy)} uses {printable(relevance_model)}"
    learnt = f"{who}, which was trained on start pages and on examples of other topics."
    if learnt_from is not None:
        return f"{learnt} Those of the first start are in {printable(learnt_from)}; the live crawl is trained on them."
    return (
        f"{learnt} A live crawl trains on a folder: put pages of the topic into {PLACEHOLDER}/positive and others into "
        f"{PLACEHOLDER}/negative, or compare again with --out, which writes the training pages used here."
    )


def learns_from_web(strategy: str, experiment: Experiment) -> bool:
    """Whether the guide of a strategy learnt from pages of the recorded web."""
    return experiment.train_from is None and _learns(experiment.relevance_model_of(strategy))


def _learns(relevance_model: str) -> bool:
    return trains(RELEVANCE.make(relevance_model))


# The pages that the winner's guide learnt from, as a folder that a live crawl can learn the same from.
#
# Rules
# - The pages are those of the first random start of the topic: a guide learns anew for each start, and this is one of
#   the guides that were compared.
# - A recorded web keeps the stems of words and not the text. So a file has a word for each stem, in their order,
#   spelled so that its stem is that very one: the stem itself, or with an ending. Stop words, which teach nothing,
#   are left out, and so is a stem that no ending gives back: one in 200,000.

#: Endings that Porter's stemmer takes off, those that serve most stems first.
ENDINGS = ("", "e", "s", "ness", "ing")


@dataclass(frozen=True, slots=True)
class ModelPages:
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


def model_pages(ready: Prepared, topic_id: str, strategy: str) -> ModelPages | None:
    """Of the first start of a topic; None if the guide of the strategy did not learn from the web."""
    if not learns_from_web(strategy, ready.experiment):
        return None
    start = next(start for topic, start in ready.planned if topic.id == topic_id)
    return ModelPages(ready.experiment.web, start.training, start.negatives)


def page_text(web: RecordedWeb, page: int) -> str:
    """A text with the stems of a page."""
    return " ".join(spelled(web.vocabulary[word] for word in web.words(page).tolist() if word))


def spelled(stems: Iterable[str]) -> list[str]:
    """A word for each stem."""
    return [word for word in map(_word_of, stems) if word is not None]


@cache
def _word_of(stem: str) -> str | None:
    return next((stem + ending for ending in ENDINGS if stems_of(stem + ending) == [stem]), None)
