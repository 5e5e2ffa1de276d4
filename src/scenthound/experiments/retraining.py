"""Retrain the relevance model of a crawl on labelled pages, measure it, and pass it to the crawl.

Rules
- A running crawl scores by the new model from the next page on, any other from its next run on. Scores of earlier
  visits do not change.
- A model that is measured to be worse than the current one is written, but not used unless that is requested.

Training pages
- Positives are the pages labelled relevant and the visited seeds, unless those are labelled otherwise. Negatives are
  the pages labelled irrelevant. The training folder that the crawl started with stays part of the training pages.
- A page is a text file named by its visit: title and text without markup, so that nothing in it runs when somebody
  opens it. Pages from a recording have stems only, from which words are made.
- The folders are `relevance_models/1`, `relevance_models/2`, ... in the crawl folder, each complete or absent. They are
  never changed: a crawl that uses one reads it again when it is resumed.

Quality of a model
- It is the area under the ROC curve: the share of pairs of a relevant and an irrelevant page in which the relevant one
  scores higher; a tie counts half. 0.5 is chance, 1 is perfect.
- The current model is measured by the scores it gave during the crawl, without pages that it was trained on. Scores of
  earlier models are not used; without a pair its area is unknown.
- Both models are measured on the same pages, so that their areas can be compared. If the area of the current one is
  unknown, the new one is measured on all labelled pages.
- Scores of two models have no common scale, so pairs count only if both pages were scored by one model.
- A page is never scored by a model that was trained on it. With few pairs, each pair is held out in turn. Single pages
  would not do: without a relevant page a model expects fewer, and scores that page lower. With more pairs there are
  folds.
- Seeds, and pages of the initial training folder, are trained on but never measured.
"""

import codecs
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from scenthound.crawler.command import ReproduceCommand, reproduce_command
from scenthound.crawler.control import TRAINABLE_MODEL, use_relevance_model, with_relevance_model
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.crawler.state import crawl_state
from scenthound.errors import Failure, InvalidInput, UsageError, printable
from scenthound.experiments.compare.live_command import page_text
from scenthound.experiments.labels import Labels
from scenthound.model import BoolArray, FloatArray, IntArray, Topic
from scenthound.relevance.base import RELEVANCE, RelevanceModel, Training, folds_of
from scenthound.store.crawl_folder import refuse_shards
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.folder import new_folder
from scenthound.store.record import open_web
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.training_folder import read_training, training_files
from scenthound.text.tokenizer import WordScanner
from scenthound.text.vectors import word_norm

MODELS_FOLDER = "relevance_models"
MAX_FOLDS = 5
#: Fewer pages of a kind teach nothing that could be measured.
MIN_PAGES_OF_A_KIND = 3
#: Each pair costs the training of a model: some milliseconds.
MAX_PAIRS_HELD_OUT = 36

#: The scores of the pages with these indices, by a model that was trained on none of them.
HeldOut = Callable[[list[int]], FloatArray]


@dataclass(frozen=True, slots=True)
class TrainingPage:
    """A page to train on; `relevance` is its score in the crawl. Quality is measured on labelled pages only."""

    visit: int
    text: str
    relevance: float
    is_positive: bool
    is_labelled: bool


@dataclass(frozen=True, slots=True)
class TrainingPages:
    """The pages of the crawl, in order of visit, and the training folder that it started with."""

    pages: tuple[TrainingPage, ...]
    initial: Path | None = None

    @property
    def labelled(self) -> tuple[TrainingPage, ...]:
        return tuple(page for page in self.pages if page.is_labelled)

    def of_kind(self, *, positive: bool) -> tuple[TrainingPage, ...]:
        return tuple(page for page in self.pages if page.is_positive == positive)


def missing_for_training(folder: Path) -> str | None:
    """What must be labelled before a model can be trained, in a sentence; None if nothing."""
    with StoredCrawl.open(folder) as crawl:
        labels = Labels.of(crawl)
        n_relevant = sum(page.is_relevant for page in labels.pages)
        n_positive = n_relevant + len(_unlabelled_seeds(crawl, labels))
        counts = {"relevant": n_positive, "irrelevant": len(labels.pages) - n_relevant}
    needed = MIN_PAGES_OF_A_KIND
    more = [f"{needed - n} more {kind}" for kind, n in counts.items() if n < needed]
    if not more:
        return None
    return f"Label {' and '.join(more)}: training needs at least {needed} pages of each kind; seeds count as relevant."


def training_pages(crawl: StoredCrawl, labels: Labels) -> TrainingPages:
    """The training pages of a crawl; InvalidInput if too few of them have a text that can be read."""
    plan = CrawlSettings.from_settings(crawl.about.settings)
    recording = cache(open_web)

    def text_of(row: VisitRecord) -> str:
        if row.location is not None or plan.web is None:
            return crawl.text_of(row) if row.location is not None else ""
        page = recording(plan.web).page_of(row.url)
        return "" if page is None else page_text(recording(plan.web), page)

    labelled = labels.by_visit()
    wanted = labelled | dict.fromkeys(_unlabelled_seeds(crawl, labels), True)
    pages = tuple(
        TrainingPage(visit, text, row.relevance, wanted[visit], visit in labelled)
        for visit in sorted(wanted)
        if (row := next(crawl.visits(visit), None)) is not None and row.visit == visit and (text := text_of(row))
    )
    found = TrainingPages(pages, None if plan.train_from is None else Path(plan.train_from))
    if min(len(found.of_kind(positive=kind)) for kind in (True, False)) < MIN_PAGES_OF_A_KIND:
        n_empty = len(wanted) - len(pages)
        raise InvalidInput(
            f"{n_empty} of {len(wanted)} training pages have no readable text: label {MIN_PAGES_OF_A_KIND} relevant "
            "and as many irrelevant pages with text."
        )
    return found


def write_training(folder: Path, training: TrainingPages, other_files: Sequence[tuple[str, str]] = ()) -> str:
    """Write the next training folder, and return its path in the crawl folder. `other_files` are names and texts of
    files beside the training pages."""
    models = folder / MODELS_FOLDER
    if models.is_symlink():
        raise InvalidInput(f"{printable(models)} is a symbolic link, which is not followed: replace it with a folder.")
    while True:
        numbers = [int(path.name) for path in models.glob("[0-9]*") if path.name.isdecimal()]
        target = models / str(max(numbers, default=0) + 1)
        try:
            with new_folder(target) as unfinished:
                for kind in ("positive", "negative"):
                    _write_kind(unfinished / kind, kind, training)
                for name, text in other_files:
                    (unfinished / name).write_text(text, encoding="utf-8")
        except InvalidInput:
            # Another process that trains a model of this crawl may have used the number meanwhile.
            if not target.exists():
                raise
        except OSError as reason:
            raise Failure(
                f"Cannot write to {printable(models)}: {reason.strerror}. Free some space, and train again."
            ) from None
        else:
            return f"{MODELS_FOLDER}/{target.name}"


def _write_kind(folder: Path, kind: str, training: TrainingPages) -> None:
    folder.mkdir()
    for page in training.of_kind(positive=kind == "positive"):
        # The byte order mark says that it is UTF-8, whatever the text says about itself.
        content = codecs.BOM_UTF8 + page.text.encode("utf-8", "replace")
        (folder / f"{page.visit:08}.txt").write_bytes(content)
    if training.initial is not None:
        for file in training_files(training.initial, kind):
            target = folder / "given" / file.relative_to(training.initial / kind)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


def _unlabelled_seeds(crawl: StoredCrawl, labels: Labels) -> list[int]:
    """The visits of seeds without a label. Seeds have the first numbers of a crawl."""
    seeds = set(crawl.about.settings.get("seeds", ()))
    rows = [row for page in range(len(seeds)) if (row := crawl.visit_of_page(page)) is not None]
    labelled = labels.by_visit()
    return [row.visit for row in rows if row.visit not in labelled and crawl.url_of(row.page) in seeds]


@dataclass(frozen=True, slots=True)
class ModelQuality:
    """Areas of the current model and of the new one; None if there is no pair to measure them on. `n_positive` and
    `n_negative` are the labelled pages that they are measured on."""

    area_before: float | None
    area_after: float | None
    n_positive: int
    n_negative: int

    @property
    def is_worse(self) -> bool:
        """Whether the new model was measured to be worse; False if the quality of the current one is unknown."""
        return self.area_after is not None and self.area_before is not None and self.area_after < self.area_before


def area_under_roc(scores: FloatArray, is_relevant: BoolArray, scored_by: IntArray | None = None) -> float | None:
    """The area over pairs that were scored by one model; None if there are none. By default one model scored all."""
    by = np.zeros(len(scores), np.int32) if scored_by is None else scored_by
    above = scores[is_relevant][:, None] - scores[~is_relevant][None, :]
    counts = by[is_relevant][:, None] == by[~is_relevant][None, :]
    return float(((np.sign(above) + 1) / 2)[counts].mean()) if counts.any() else None


def model_quality(training: TrainingPages, since: int, model: RelevanceModel, topic: Topic) -> ModelQuality:
    """Measure both models. `since` is the first visit that the current model scored."""
    learner = _Learner(training, model, topic)
    labelled = training.labelled
    by_both = [page for page in labelled if page.visit >= since and not learner.is_initial(page)]
    scores = np.array([page.relevance for page in by_both], dtype=np.float64)
    area_before = area_under_roc(scores, _are_relevant(by_both))
    pages = labelled if area_before is None else by_both
    is_relevant = _are_relevant(pages)
    area_after = area_held_out(is_relevant, lambda indices: learner.held_out([pages[index] for index in indices]))
    n_positive = int(is_relevant.sum())
    return ModelQuality(area_before, area_after, n_positive, len(pages) - n_positive)


def _are_relevant(pages: Sequence[TrainingPage]) -> BoolArray:
    return np.array([page.is_positive for page in pages], dtype=np.bool_)


def area_held_out(is_relevant: BoolArray, held_out: HeldOut) -> float | None:
    """The area of models that were not trained on the pages that they score."""
    relevant, others = np.flatnonzero(is_relevant).tolist(), np.flatnonzero(~is_relevant).tolist()
    if not relevant or not others:
        return None
    if len(relevant) * len(others) <= MAX_PAIRS_HELD_OUT:
        above = [np.subtract(*held_out([one, other])) for one, other in product(relevant, others)]
        return float(np.mean((np.sign(above) + 1) / 2))
    n_folds = max(2, min(MAX_FOLDS, len(relevant), len(others)))
    fold = folds_of(is_relevant, n_folds)
    scores = np.zeros(len(is_relevant))
    for number in range(n_folds):
        indices = np.flatnonzero(fold == number).tolist()
        if indices:
            scores[indices] = held_out(indices)
    return area_under_roc(scores, is_relevant, fold)


class _Learner:
    """Trains models on all pages except some."""

    def __init__(self, training: TrainingPages, model: RelevanceModel, topic: Topic) -> None:
        self._model, self._topic = model, topic
        self._scanner = WordScanner()
        self._words = {page.visit: self._scanner.scan(page.text) for page in training.pages}
        self._pages = training.pages
        initial = training.initial
        self._initial = Training((), ()) if initial is None else read_training(initial, self._scanner)
        # Raises if nothing can be learned, also if nothing can be measured.
        self._model.for_topic(topic, self._scanner, self._without(()))

    def is_initial(self, page: TrainingPage) -> bool:
        """Whether the crawl started with this training page. Those have no stop words, which are 0 here."""
        words = self._words[page.visit]
        known = (*self._initial.positives, *self._initial.negatives)
        return any(np.array_equal(words[words != 0], each) for each in known)

    def held_out(self, pages: Sequence[TrainingPage]) -> FloatArray:
        """The scores of pages by a model that is trained on all others."""
        trained = self._model.for_topic(self._topic, self._scanner, self._without(pages))
        words = [self._words[page.visit] for page in pages]
        return np.array([trained.page(each, word_norm(each)) for each in words], dtype=np.float64)

    def _without(self, excluded: Sequence[TrainingPage]) -> Training:
        visits = {page.visit for page in excluded}
        kept = [page for page in self._pages if page.visit not in visits]
        positives = tuple(self._words[page.visit] for page in kept if page.is_positive)
        negatives = tuple(self._words[page.visit] for page in kept if not page.is_positive)
        return Training((*positives, *self._initial.positives), (*negatives, *self._initial.negatives))


@dataclass(frozen=True, slots=True)
class Retraining:
    """`folder_name` is the folder of the training pages in the crawl folder. If `is_used_now`, a running crawl scores
    by the model within about a second. `command` starts a new crawl with it; `says` describes the result."""

    quality: ModelQuality
    folder_name: str
    is_used_now: bool
    command: str
    says: str


def retrain(folder: Path, *, even_if_worse: bool = False) -> Retraining:
    """Train a model on the labels of a crawl. UsageError if they are too few; MissingExtra without scikit-learn."""
    refuse_shards(folder, "its relevance model cannot be replaced")
    if missing := missing_for_training(folder):
        raise UsageError(missing)
    goals = StopConditions.read(folder)
    with StoredCrawl.open(folder) as crawl:
        plan = CrawlSettings.from_settings(crawl.about.settings)
        training = training_pages(crawl, Labels.of_crawl(folder, crawl.about.crawl_id))
        model = RELEVANCE.make(learning_model(plan))
        quality = model_quality(training, first_scored(crawl, goals), model, plan.topic)
        is_alive = crawl_state(crawl).is_alive
    name = write_training(folder, training, new_crawl(folder, plan, goals, "").files)
    is_used = even_if_worse or not quality.is_worse
    continues = "continues" if is_alive else "would continue"
    not_used = f"That is worse, so the crawl {continues} with its current model: label more pages, and train again."
    effect = use_relevance_model(folder, name) if is_used else not_used
    command = new_crawl(folder, plan, goals, name)
    unsaid = f" The command cannot set {', '.join(command.unsaid)}." if command.unsaid else ""
    return Retraining(
        quality,
        name,
        is_used_now=is_used and is_alive,
        command=command.line,
        says=f"{_describe(quality)} {effect}{unsaid}",
    )


def first_scored(crawl: StoredCrawl, goals: StopConditions) -> int:
    """The first visit that the current model scored; a model that waits for the next run has scored none."""
    relevance_models = crawl.relevance_models()
    current = relevance_models[-1].folder if relevance_models else None
    if goals.relevance_model != current:
        return crawl.n_visits()
    return relevance_models[-1].visit if relevance_models else 0


def learning_model(plan: CrawlSettings) -> str:
    """The name of the model that the crawl would use with a training folder."""
    return (
        with_relevance_model(plan, Path(), StopConditions(relevance_model=MODELS_FOLDER)).relevance or TRAINABLE_MODEL
    )


def new_crawl(folder: Path, plan: CrawlSettings, goals: StopConditions, relevance_model: str) -> ReproduceCommand:
    """The command that starts a crawl with the same settings and the new model. It reads pages of this crawl instead of
    fetching them. Files that the command reads are beside the training pages."""
    # A crawl that read a recording does not have those pages itself.
    retrained = replace(
        plan, relevance=learning_model(plan), train_from=str(folder / relevance_model), web=plan.web or str(folder)
    )
    return reproduce_command(
        retrained, goals, f"{folder}-{relevance_model.replace('/', '-')}", folder / relevance_model
    )


def _describe(quality: ModelQuality) -> str:
    if quality.area_after is None:
        return "The new model cannot be evaluated: that needs labelled pages of both kinds."
    measured = (
        f"On {quality.n_positive} relevant and {quality.n_negative} irrelevant pages that it was not trained on, the "
        f"new model scores a relevant page above an irrelevant one in {quality.area_after:.0%} of pairs"
    )
    if quality.area_before is None:
        return f"{measured}. The quality of the current model is unknown: too few pages that it scored are labelled."
    return f"{measured}; the current model in {quality.area_before:.0%}."
