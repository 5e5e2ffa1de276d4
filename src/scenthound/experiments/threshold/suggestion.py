"""From files to a suggested threshold, and to a label file for a person to fill in.

Labelled pages are scored by a relevance model that was not trained on them:
- A model that is trained learns from pages in a folder (`train_from`), or from the topic's examples and those of other
  topics, or, with `cross_validate`, from the labelled pages in folds: each page is scored by a model that was trained
  on the other folds. As in simulations at most 75 examples train, with two of other topics for each.
- Examples that are labelled do not train, and a folder that has a page with the same words is rejected.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from scenthound.errors import InvalidInput, InvalidParameter, PluginError, UnknownName, UsageError, printable
from scenthound.experiments.starts import NegativePool, Starts, draw_positives, training_of
from scenthound.experiments.threshold.curve import MIN_LABELS, Choice, Goal, LabelledScores, choose_threshold
from scenthound.experiments.threshold.labels import Label, draw_by_score, read_labels, write_pages_to_label
from scenthound.model import BoolArray, FloatArray, IntArray, Progress, silent
from scenthound.relevance.base import RELEVANCE, Training, folds_of, trains
from scenthound.simulator.scores import scores_for
from scenthound.store.record import open_web
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.training_folder import read_training
from scenthound.topics.files import read_topics

MAX_FOLDS = 5


@dataclass(frozen=True, slots=True)
class ScoredBy:
    """A topic of a file, and the relevance model that scores pages for it."""

    topics: Path
    topic: str | None = None
    relevance: str = "cosine"
    train_from: Path | None = None
    cross_validate: bool = False

    def __post_init__(self) -> None:
        if self.train_from is not None and self.cross_validate:
            raise InvalidParameter("--train-from and --cross-validate both choose training pages; use one of them.")
        object.__setattr__(self, "relevance", str(RELEVANCE.parse(self.relevance)))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A threshold and what it is based on. `relevance` is empty if the scores are in the label file."""

    choice: Choice
    n_relevant: int
    n_irrelevant: int
    n_unlabelled: int  #: lines without a label
    n_repeated: int  #: lines that repeat the label of a page
    n_represented: float  #: the sum of the weights: how many pages the labelled ones represent
    relevance: str = ""
    topic: str = ""
    trained_on: str = ""  #: a description; empty if the model is not trained


def suggest_threshold(
    labels: Path,
    *,
    goal: Goal | None = None,
    web: Path | None = None,
    scored_by: ScoredBy | None = None,
    progress: Progress = silent,
) -> Suggestion:
    """Choose a threshold from a file of labels. `web` is a recorded web or a crawl, whose pages are scored as
    `scored_by` says; a file with scores needs neither."""
    read = read_labels(labels)
    if read.has_scores and (web or scored_by):
        raise InvalidParameter(f"{printable(labels)} has scores already: remove --web and --topics, or the scores.")
    if read.labels and not read.has_scores and (web is None or scored_by is None):
        raise InvalidParameter(f"{printable(labels)} names pages, which must be scored: give --web and --topics.")
    if len(read.labels) < MIN_LABELS:
        missing = f" ({read.n_unlabelled} lines have none yet)" if read.n_unlabelled else ""
        raise InvalidInput(
            f"{printable(labels)} has too few labels, {len(read.labels)}{missing}: label at least {MIN_LABELS} pages, "
            "better 20 to 50."
        )
    labels_used, about = read.labels, {}
    if web is None or scored_by is None:
        scores = np.array([label.score for label in read.labels], dtype=np.float64)
    else:
        recorded = open_web(web, progress)
        pages = _labelled_pages(recorded, read.labels)
        labels_used, scorer = tuple(pages.values()), PageScorer(recorded, scored_by)
        scores, trained_on = scorer.labelled(list(pages), _are_relevant(labels_used))
        about = {"relevance": scored_by.relevance, "topic": scorer.topic.id, "trained_on": trained_on}
    is_relevant = _are_relevant(labels_used)
    weight = np.array([label.weight for label in labels_used], dtype=np.float64)
    n_relevant = int(is_relevant.sum())
    return Suggestion(
        choice=choose_threshold(LabelledScores(scores, is_relevant, weight), goal or Goal()),
        n_relevant=n_relevant,
        n_irrelevant=len(labels_used) - n_relevant,
        n_unlabelled=read.n_unlabelled,
        n_repeated=len(read.labels) - len(labels_used),
        n_represented=float(weight.sum()),
        **about,
    )


def _are_relevant(labels: Iterable[Label]) -> BoolArray:
    return np.array([label.is_relevant for label in labels], dtype=np.bool_)


def _labelled_pages(web: RecordedWeb, labels: tuple[Label, ...]) -> dict[int, Label]:
    """The label of each page; InvalidInput if a page is not in the web, or has two different labels."""
    found = [(web.page_of(label.url or ""), label) for label in labels]
    missing = [label for page, label in found if page is None]
    if missing:
        more = f", and neither are {len(missing) - 1} more" if len(missing) > 1 else ""
        raise InvalidInput(
            f"{missing[0].source}: {printable(missing[0].url)} is not in the web{more}; remove them, or give the web "
            "that has them."
        )
    pages: dict[int, Label] = {}
    for page, label in found:
        known = pages.setdefault(page, label) if page is not None else label
        if known.is_relevant != label.is_relevant:
            raise InvalidInput(
                f"{label.source}: {printable(label.url)} has another label in {known.source}; keep one of the two."
            )
    return pages


def draw_pages_to_label(
    out: Path,
    n_pages: int,
    *,
    web: Path,
    scored_by: ScoredBy,
    seed: int = 0,
    force: bool = False,
    progress: Progress = silent,
) -> int:
    """Write a label file with pages to fill in, spread over the scores, and return their number."""
    if out.exists() and not force:
        raise InvalidInput(
            f"{printable(out)} exists already, perhaps with labels: choose another file, or replace it with --force."
        )
    recorded = open_web(web, progress)
    weights = draw_by_score(PageScorer(recorded, scored_by).to_label(), n_pages, Random(f"to label/{seed}"))
    rows = ((recorded.url(page), recorded.title(page), weight) for page, weight in weights.items())
    write_pages_to_label(out, rows)
    return len(weights)


class PageScorer:
    """Scores pages of one web for one topic."""

    def __init__(self, web: RecordedWeb, by: ScoredBy) -> None:
        self._web = web
        self._by = by
        self._model = RELEVANCE.make(by.relevance)
        self._topics = {topic.id: topic for topic in read_topics(by.topics)}
        if by.topic is None and len(self._topics) > 1:
            some = ", ".join(map(printable, list(self._topics)[:10]))
            raise UsageError(
                f"{printable(by.topics)} has {len(self._topics):,} topics: choose one with --topic, for example {some}."
            )
        if by.topic is not None and by.topic not in self._topics:
            raise UnknownName.among("topic", by.topic, self._topics, printable(by.topics))
        self.topic = self._topics[by.topic or next(iter(self._topics))]

    def labelled(self, pages: Sequence[int], is_relevant: BoolArray) -> tuple[FloatArray, str]:
        """The scores of labelled pages, and a description of the training pages."""
        if not trains(self._model):
            return self._scored(pages, None), ""
        if self._by.cross_validate:
            return self._cross_validated(np.array(pages, np.int32), is_relevant)
        training, trained_on = self._training(pages)
        return self._scored(pages, training), trained_on

    def to_label(self) -> FloatArray:
        """The scores of all pages, to draw pages to label."""
        if self._by.cross_validate and trains(self._model):
            raise InvalidParameter("There are no labels to cross-validate with yet; remove --cross-validate.")
        training = self._training(())[0] if trains(self._model) else None
        return self._scored(range(self._web.n_pages), training)

    def _scored(self, pages: Iterable[int], training: Training | None) -> FloatArray:
        with PluginError.wrapping(f"Relevance model {self._by.relevance} failed on topic {self.topic.id!r}"):
            scores = scores_for(self.topic, self._model, self._web, training)
            return np.array([scores.page(page) for page in pages], dtype=np.float64)

    def _training(self, labelled: Sequence[int]) -> tuple[Training, str]:
        """Pages that are not labelled, and a description of them."""
        if self._by.train_from is None:
            return self._examples(labelled)
        training = read_training(self._by.train_from, self._web.word_index)
        known = {_content(words) for words in (*training.positives, *training.negatives)}
        for page in labelled:
            if _content(self._web.words(page)) in known:
                raise InvalidInput(
                    f"{printable(self._web.url(page))} is labelled, and {printable(self._by.train_from)} has a page "
                    "with the same words: remove one of them."
                )
        counts = f"{len(training.positives)} positive, {len(training.negatives)} negative"
        return training, f"the pages in {printable(self._by.train_from)} ({counts})"

    def _examples(self, labelled: Sequence[int]) -> tuple[Training, str]:
        starts, rng = Starts(self._web), Random(f"threshold/{self.topic.id}")
        own = starts.own_pages(self.topic)
        positives = draw_positives(set(starts.example_pages(self.topic)).difference(labelled), rng)
        pool = NegativePool(page for topic in self._topics.values() for page in starts.example_pages(topic))
        negatives = pool.draw(len(positives), own.union(labelled), rng)
        for pages, owner in ((positives, "this topic"), (negatives, "other topics")):
            if not np.any(self._web.page_norm[list(pages)] > 0):
                raise InvalidInput(
                    f"{self._by.relevance} learns from examples of {owner}, and {printable(self._by.topics)} has none "
                    "in the web besides the labelled ones: give pages with --train-from, or give --cross-validate."
                )
        trained_on = f"{len(positives)} examples of the topic and {len(negatives)} of others, none of them labelled"
        return training_of(self._web, positives, negatives), trained_on

    def _cross_validated(self, pages: IntArray, is_relevant: BoolArray) -> tuple[FloatArray, str]:
        n_relevant = int(is_relevant.sum())
        n_folds = min(MAX_FOLDS, n_relevant, len(is_relevant) - n_relevant)
        if n_folds < 2:
            raise InvalidInput(
                f"Of {len(is_relevant)} labelled pages {n_relevant} are relevant; cross-validation needs at least two "
                "relevant and two irrelevant pages, so label more."
            )
        fold = folds_of(is_relevant, n_folds)
        scores = np.zeros(len(pages))
        for is_out in (fold == held_out for held_out in range(n_folds)):
            positives, negatives = pages[~is_out & is_relevant], pages[~is_out & ~is_relevant]
            training = training_of(self._web, positives.tolist(), negatives.tolist())
            scores[is_out] = self._scored(pages[is_out].tolist(), training)
        return scores, f"the other labelled pages, in {n_folds} folds"


def _content(words: IntArray) -> bytes:
    """Words without stop words, which training pages do not have."""
    return bytes(words[words != 0].astype(np.int32).tobytes())
