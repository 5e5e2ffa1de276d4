"""The command line that starts the best strategy live, and the training pages that it needs.

A trained relevance model learned from pages of the recorded web, and a live crawl trains on a folder. The command names
the folder with these pages, or a placeholder if it was not written.

The training pages are those of the topic's first start: a model is trained for each start, and this is one of those
that were compared. A recorded web has stems instead of text, so that a file has a word for each stem, in their order,
which stems to it: the stem itself, or with a suffix. Stop words are left out, and so are stems that no suffix restores,
one in 200,000.
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

#: Replaced by the user with a folder.
PLACEHOLDER = "DIR"
#: The note if there is no command.
CANNOT_BE_NAMED = "It cannot be started from a command line: a name has a NUL character. Rename the topic in its file."


def live_command(
    topics: Path, topic_id: str, strategy: str, experiment: Experiment, learnt_from: Path | None = None
) -> str:
    """`scenthound crawl` with the strategy, its relevance model and page budget, quoted for a shell. Empty if it cannot
    be written. `learnt_from` is the folder with the training pages."""
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
    """A note on a relevance model that was trained on pages of the web; empty for others."""
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
    """Whether the relevance model of a strategy was trained on pages of the recorded web."""
    return experiment.train_from is None and _learns(experiment.relevance_model_of(strategy))


def _learns(relevance_model: str) -> bool:
    return trains(RELEVANCE.make(relevance_model))


#: Suffixes that Porter's stemmer removes, the most useful ones first.
ENDINGS = ("", "e", "s", "ness", "ing")


@dataclass(frozen=True, slots=True)
class ModelPages:
    """Training pages of a recorded web: of the topic, and of others."""

    web: Path
    positive: tuple[int, ...]
    negative: tuple[int, ...]

    def files(self) -> dict[str, str]:
        """Texts by file name, in the order of the pages."""
        recorded = RecordedWeb.open(self.web)
        return {
            f"{kind}/{page:08}.txt": page_text(recorded, page)
            for kind, pages in (("positive", self.positive), ("negative", self.negative))
            for page in pages
        }


def model_pages(ready: Prepared, topic_id: str, strategy: str) -> ModelPages | None:
    """The training pages of a topic's first start; None if the model was not trained on the web."""
    if not learns_from_web(strategy, ready.experiment):
        return None
    start = next(start for topic, start in ready.planned if topic.id == topic_id)
    return ModelPages(ready.experiment.web, start.training, start.negatives)


def page_text(web: RecordedWeb, page: int) -> str:
    """A text whose words have the stems of a page."""
    return " ".join(spelled(web.vocabulary[word] for word in web.words(page).tolist() if word))


def spelled(stems: Iterable[str]) -> list[str]:
    """A word for each stem."""
    return [word for word in map(_word_of, stems) if word is not None]


@cache
def _word_of(stem: str) -> str | None:
    return next((stem + ending for ending in ENDINGS if stems_of(stem + ending) == [stem]), None)
