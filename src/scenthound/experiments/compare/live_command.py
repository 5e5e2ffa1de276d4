"""The command line that starts the best strategy live, and the training pages that it needs.

A trained relevance model learned from pages of the recorded web, and a live crawl trains on a folder. The command names
the folder with these pages, or a placeholder if it was not written.

The training pages are those of the topic's first start: a model is trained for each start, and this is one of those
that were compared. A recorded web has stems instead of text, so that a file has a word for each stem, in their order,
which stems to it: the stem itself, or with a suffix. Stop words are left out, and so are stems that no suffix restores,
one in 200,000.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scenthound.command_line import command_line
from scenthound.errors import printable
from scenthound.experiments.compare.settings import Prepared
from scenthound.experiments.setup import Experiment
from scenthound.experiments.starts import TopicChoice
from scenthound.relevance.base import RELEVANCE, accepts_training, trains
from scenthound.store.recorded_web import RecordedWeb
from scenthound.text.tokenizer import stems_of

#: Replaced by the user with a folder.
PLACEHOLDER = "DIR"
#: The note if there is no command.
CANNOT_BE_NAMED = "It cannot be started from a command line: a name has a NUL character. Rename the topic in its file."


def live_command(
    topics: TopicChoice, topic_id: str, strategy: str, experiment: Experiment, training_folder: Path | None = None
) -> str:
    """`scenthound crawl` with the strategy, its relevance model and page budget, quoted for a shell. Empty if it cannot
    be written. `training_folder` is the folder with the training pages."""
    relevance_model = experiment.relevance_model_of(strategy)
    model = RELEVANCE.make(relevance_model)
    learns = trains(model)
    own_folder = training_folder or PLACEHOLDER if learns else None
    return command_line(
        ("scenthound", "crawl"),
        [
            ("--topics", topics.file),
            ("--topic", topic_id),
            ("--seed", topics.seeds),
            ("--strategy", strategy),
            ("--relevance", relevance_model if experiment.relevance is not None or learns else None),
            ("--train-from", (accepts_training(model) and experiment.train_from) or own_folder),
            ("--follow-nofollow", not experiment.respect_nofollow),
            ("--pages", experiment.page_budget),
        ],
    )


def training_note(strategy: str, experiment: Experiment, training_folder: Path | None = None) -> str:
    """A note on a relevance model that was trained on pages of the web; empty for others."""
    if not learns_from_web(strategy, experiment):
        return ""
    model = printable(experiment.relevance_model_of(strategy))
    trained = f"{printable(strategy)} uses {model}, which was trained on start pages and on examples of other topics."
    if training_folder is not None:
        folder = printable(training_folder)
        return f"{trained} Those of the first start are in {folder}; the live crawl is trained on them."
    return (
        f"{trained} A live crawl trains on a folder: put pages of the topic into {PLACEHOLDER}/positive and others "
        f"into {PLACEHOLDER}/negative, or compare again with --out, which writes the training pages used here."
    )


def learns_from_web(strategy: str, experiment: Experiment) -> bool:
    """Whether the relevance model of a strategy was trained on pages of the recorded web."""
    return experiment.train_from is None and trains(RELEVANCE.make(experiment.relevance_model_of(strategy)))


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
    words = (word_of(web.vocabulary[word]) for word in web.words(page).tolist() if word)
    return " ".join(word for word in words if word is not None)


@cache
def word_of(stem: str) -> str | None:
    """A word with this stem; None if no suffix restores it."""
    return next((stem + ending for ending in ENDINGS if stems_of(stem + ending) == [stem]), None)
