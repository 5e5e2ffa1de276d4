"""A guide trained anew on what a person said of the pages of a crawl, and handed to it.

Rules
- The crawl scores by it from the next page on, or from its next run on if nobody is crawling. What it scored before
  stays as it is: neither labels nor guides change what is stored of visits.
- A guide that is measured to be worse than the one so far is made, but not handed over, unless that is asked for.
"""

import codecs
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from scenthound.relevance.base import RELEVANCE, RelevanceModel, Training
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.folder import new_folder
from scenthound.store.record import open_web
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.training_folder import read_training, training_files
from scenthound.text.tokenizer import WordScanner
from scenthound.text.vectors import word_norm

# The pages of a crawl that a new guide learns from, and the folder that they are put into.
#
# Rules
# - Positives are the pages that a person called relevant and the seeds that were taken, unless a person called those
#   otherwise. Negatives are the pages that he called irrelevant. What the crawl was given to learn from when it began
#   stays: such pages are taken along.
# - A page is a text file named by its visit: title and text, as a reader sees them, and no markup, so that nothing in
#   it runs when somebody opens it. Of a page that came from a recording there are only its stems, and they are
#   spelled.
# - The folders are `guides/1`, `guides/2`, ... in that of the crawl, each whole or not at all. They are never
#   changed: a crawl that took one up reads it again when it is resumed.

GUIDES_FOLDER = "relevance_models"
#: Fewer pages of a kind teach nothing that could be measured.
LEAST_OF_A_KIND = 3


@dataclass(frozen=True, slots=True)
class TextToLearn:
    """A page to learn from; `relevance` is what the crawl gave it. A seed that nobody labelled judges no guide."""

    visit: int
    text: str
    relevance: float
    is_positive: bool
    is_labelled: bool


@dataclass(frozen=True, slots=True)
class TrainingPages:
    """The pages of the crawl, in order of visit, and the folder that it learnt from when it began, if there was one."""

    pages: tuple[TextToLearn, ...]
    given: Path | None = None

    @property
    def labelled(self) -> tuple[TextToLearn, ...]:
        return tuple(page for page in self.pages if page.is_labelled)

    def of_kind(self, *, positive: bool) -> tuple[TextToLearn, ...]:
        return tuple(page for page in self.pages if page.is_positive == positive)


def missing_for_training(folder: Path) -> str | None:
    """What a person has to label before a guide can learn, in a sentence; None if nothing."""
    with StoredCrawl.open(folder) as crawl:
        labels = Labels.of(crawl)
        n_positive = len(labels.relevant) + len(_unlabelled_seeds(crawl, labels))
    more = [
        f"{LEAST_OF_A_KIND - n} more {kind}"
        for n, kind in ((n_positive, "relevant"), (len(labels.irrelevant), "irrelevant"))
        if n < LEAST_OF_A_KIND
    ]
    if not more:
        return None
    few = LEAST_OF_A_KIND
    return f"Label {' and '.join(more)}: training needs at least {few} pages of each kind; seeds count as relevant."


def training_pages(crawl: StoredCrawl, labels: Labels) -> TrainingPages:
    """BadInput if too few of them have a text that can be read."""
    plan = CrawlSettings.from_settings(crawl.about.settings)
    texts = _Texts(crawl, plan)
    wanted = {label.visit: label.is_relevant for label in labels.pages}
    wanted |= dict.fromkeys(_unlabelled_seeds(crawl, labels), True)
    labelled = {label.visit for label in labels.pages}
    pages = tuple(
        TextToLearn(visit, text, row.relevance, wanted[visit], visit in labelled)
        for visit in sorted(wanted)
        if (row := next(crawl.visits(visit), None)) is not None and row.visit == visit and (text := texts.of(row))
    )
    found = TrainingPages(pages, None if plan.train_from is None else Path(plan.train_from))
    if min(len(found.of_kind(positive=kind)) for kind in (True, False)) < LEAST_OF_A_KIND:
        n_empty = len(wanted) - len(pages)
        raise InvalidInput(
            f"{n_empty} of {len(wanted)} pages to learn from have no text that can be read: label {LEAST_OF_A_KIND} "
            "relevant and as many irrelevant pages that have some."
        )
    return found


def write_training(folder: Path, training: TrainingPages, beside: Sequence[tuple[str, str]] = ()) -> str:
    """Make the next folder of guides, and answer with its name in that of the crawl. `beside` are names and texts of
    further files to put there, which nobody learns from."""
    relevance_models = folder / GUIDES_FOLDER
    if relevance_models.is_symlink():
        raise InvalidInput(
            f"{printable(relevance_models)} is a symbolic link, which is not followed: replace it with a folder."
        )
    while True:
        place = relevance_models / str(_next_number(relevance_models))
        try:
            _write_relevance_model(place, training, beside)
        except InvalidInput:
            # Somebody else who trains a guide of this crawl may have taken the number meanwhile.
            if not place.exists():
                raise
        except OSError as reason:
            raise Failure(
                f"{printable(relevance_models)} cannot be written: {reason.strerror}; make room, and train again."
            ) from None
        else:
            return f"{GUIDES_FOLDER}/{place.name}"


def _next_number(relevance_models: Path) -> int:
    taken = (
        [int(place.name) for place in relevance_models.glob("[0-9]*") if place.name.isdecimal()]
        if relevance_models.is_dir()
        else []
    )
    return max(taken, default=0) + 1


def _write_relevance_model(place: Path, training: TrainingPages, beside: Sequence[tuple[str, str]]) -> None:
    with new_folder(place) as unfinished:
        for kind in ("positive", "negative"):
            _write_kind(unfinished / kind, kind, training)
        for name, text in beside:
            (unfinished / name).write_text(text, encoding="utf-8")


def _write_kind(place: Path, kind: str, training: TrainingPages) -> None:
    place.mkdir()
    for page in training.of_kind(positive=kind == "positive"):
        # The mark at the beginning says that it is UTF-8, whatever else the text says of itself.
        content = codecs.BOM_UTF8 + page.text.encode("utf-8", "replace")
        (place / f"{page.visit:08}.txt").write_bytes(content)
    if training.given is not None:
        _copy_given(training.given, kind, place / "given")


def _copy_given(given: Path, kind: str, place: Path) -> None:
    for file in training_files(given, kind):
        target = place / file.relative_to(given / kind)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def _unlabelled_seeds(crawl: StoredCrawl, labels: Labels) -> list[int]:
    """The visits of seeds that nobody labelled. Seeds have the first numbers of a crawl."""
    seeds = set(crawl.about.settings.get("seeds", ()))
    rows = [row for page in range(len(seeds)) if (row := crawl.visit_of_page(page)) is not None]
    labelled = labels.by_visit()
    return [row.visit for row in rows if row.visit not in labelled and crawl.url_of(row.page) in seeds]


class _Texts:
    """The texts of a crawl's pages, wherever they came from."""

    def __init__(self, crawl: StoredCrawl, plan: CrawlSettings) -> None:
        self._crawl = crawl
        self._recording_place = plan.web
        self._recording: RecordedWeb | None = None

    def of(self, row: VisitRecord) -> str:
        return self._crawl.text_of(row) if row.location is not None else self._recorded(row.url)

    def _recorded(self, url: str) -> str:
        if self._recording is None:
            if self._recording_place is None:
                return ""
            self._recording = open_web(self._recording_place)
        page = self._recording.page_of(url)
        return "" if page is None else page_text(self._recording, page)


# How well a guide tells labelled pages apart: the one that scored them, and one that would learn from them.
#
# Rules
# - It is told by the area under the ROC curve: of all pairs of a relevant page and another one, the share in which
#   the relevant one scores higher; a tie counts half. 0.5 is what chance comes to, 1 is without fault.
# - The guide in use is told by what it scored itself while the crawl ran, pages that it had learnt from left out.
#   What earlier guides scored says nothing of it; with no pair left its area is not known.
# - Both guides are told by the same pages, so that the areas can be compared. Where that of the guide in use is not
#   known, the new one is told by all labelled pages.
# - Scores of two models have no common scale, so only pairs are counted of which both pages were scored by one model.
# - A page is never scored by a model that learnt from it. With few pairs each is left out in turn, and its two pages
#   are scored by a model that learnt from all others. Pages left out one by one would not do: without a relevant page
#   the model expects fewer, and scores that page lower for it. With more pairs than that there are folds.
# - Seeds, and pages that were given when the crawl began, are learnt from and never judged by.

#: A pair costs the training of a model: some milliseconds.
MOST_PAIRS_LEFT_OUT = 36
MOST_FOLDS = 5

#: The scores of the pages in these places, by a model that learnt from none of them.
HeldOut = Callable[[list[int]], FloatArray]


@dataclass(frozen=True, slots=True)
class ModelQuality:
    """Areas of the guide in use and of the new one; None where there is no pair to tell them by. `n_positive` and
    `n_negative` are the labelled pages that they are told by."""

    area_before: float | None
    area_after: float | None
    n_positive: int
    n_negative: int

    @property
    def is_worse(self) -> bool:
        """Whether the new guide was measured to be worse; not so where the one in use is not known."""
        return self.area_after is not None and self.area_before is not None and self.area_after < self.area_before


def area_under_roc(scores: FloatArray, is_relevant: BoolArray, scored_by: IntArray | None = None) -> float | None:
    """Of the pairs that were scored by one model, if that is told; None if there are none."""
    by = np.zeros(len(scores), np.int32) if scored_by is None else scored_by
    above = scores[is_relevant][:, None] - scores[~is_relevant][None, :]
    counts = by[is_relevant][:, None] == by[~is_relevant][None, :]
    return float(((np.sign(above) + 1) / 2)[counts].mean()) if counts.any() else None


def model_quality(training: TrainingPages, since: int, model: RelevanceModel, topic: Topic) -> ModelQuality:
    """`since` is the first visit that the guide in use scored."""
    learner = _Learner(training, model, topic)
    labelled = training.labelled
    by_both = [place for place, page in enumerate(labelled) if page.visit >= since and not learner.was_given(page)]
    scores = np.array([labelled[place].relevance for place in by_both], dtype=np.float64)
    area_before = area_under_roc(scores, _are_relevant(labelled, by_both))
    places = list(range(len(labelled))) if area_before is None else by_both
    is_relevant = _are_relevant(labelled, places)
    area_after = area_held_out(is_relevant, lambda some: learner.held_out([places[each] for each in some]))
    n_positive = int(is_relevant.sum())
    return ModelQuality(area_before, area_after, n_positive, len(places) - n_positive)


def _are_relevant(pages: Sequence[TextToLearn], places: list[int]) -> BoolArray:
    return np.array([pages[place].is_positive for place in places], dtype=np.bool_)


def area_held_out(is_relevant: BoolArray, held_out: HeldOut) -> float | None:
    """The area of models that did not learn from the pages that they score."""
    relevant, others = np.flatnonzero(is_relevant).tolist(), np.flatnonzero(~is_relevant).tolist()
    if not relevant or not others:
        return None
    if len(relevant) * len(others) <= MOST_PAIRS_LEFT_OUT:
        above = [np.subtract(*held_out([one, other])) for one, other in product(relevant, others)]
        return float(np.mean((np.sign(above) + 1) / 2))
    return _area_in_folds(is_relevant, held_out)


def _area_in_folds(is_relevant: BoolArray, held_out: HeldOut) -> float | None:
    n_relevant = int(is_relevant.sum())
    n_folds = max(2, min(MOST_FOLDS, n_relevant, len(is_relevant) - n_relevant))
    # Every fold has its share of both kinds.
    fold = np.where(is_relevant, np.cumsum(is_relevant), np.cumsum(~is_relevant)) % n_folds
    scores = np.zeros(len(is_relevant))
    for number in range(n_folds):
        places = np.flatnonzero(fold == number).tolist()
        if places:
            scores[places] = held_out(places)
    return area_under_roc(scores, is_relevant, fold.astype(np.int32))


class _Learner:
    """Trains models on all pages but some."""

    def __init__(self, training: TrainingPages, model: RelevanceModel, topic: Topic) -> None:
        self._model, self._topic = model, topic
        scanner = WordScanner()
        self._index = scanner
        self._words = {page.visit: scanner.scan(page.text) for page in training.pages}
        self._pages = training.pages
        self._labelled = training.labelled
        self._given = Training((), ()) if training.given is None else read_training(training.given, self._index)
        # What cannot be learnt at all is refused here, also where nothing can be measured.
        self._model.for_topic(topic, self._index, self._without(()))

    def was_given(self, page: TextToLearn) -> bool:
        """Whether the crawl learnt from this page when it began. Given pages come without their stop words, which are
        0 here."""
        words = self._words[page.visit]
        given = (*self._given.positives, *self._given.negatives)
        return any(np.array_equal(words[words != 0], each) for each in given)

    def held_out(self, places: list[int]) -> FloatArray:
        out = [self._labelled[place] for place in places]
        learnt = self._model.for_topic(self._topic, self._index, self._without(out))
        words = [self._words[page.visit] for page in out]
        return np.array([learnt.page(each, word_norm(each)) for each in words], dtype=np.float64)

    def _without(self, out: Sequence[TextToLearn]) -> Training:
        left_out = {page.visit for page in out}
        kept = [page for page in self._pages if page.visit not in left_out]
        positives = tuple(self._words[page.visit] for page in kept if page.is_positive)
        negatives = tuple(self._words[page.visit] for page in kept if not page.is_positive)
        return Training((*positives, *self._given.positives), (*negatives, *self._given.negatives))


@dataclass(frozen=True, slots=True)
class Retraining:
    """`folder_name` is where the pages are that the guide learns from, in the folder of the crawl. `taken_up`: a
    running crawl scores by it within a second or so. `command` starts a new crawl by it, `says` tells it in words."""

    quality: ModelQuality
    folder_name: str
    taken_up: bool
    command: str
    says: str


def retrain(folder: Path, *, even_if_worse: bool = False) -> Retraining:
    """WrongUse if there are too few labels; MissingExtra without scikit-learn."""
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
    is_handed_over = even_if_worse or not quality.is_worse
    happens = use_relevance_model(folder, name) if is_handed_over else _not_handed_over(is_alive)
    command = new_crawl(folder, plan, goals, name)
    return Retraining(
        quality,
        name,
        taken_up=is_handed_over and is_alive,
        command=command.line,
        says=f"{_measured(quality)} {happens}{_unsaid(command)}",
    )


def first_scored(crawl: StoredCrawl, goals: StopConditions) -> int:
    """The first visit that the guide in use scored; a guide that waits for the next run has scored none."""
    relevance_models = crawl.relevance_models()
    taken_up = relevance_models[-1].folder if relevance_models else None
    if goals.relevance_model != taken_up:
        return crawl.n_visits()
    return relevance_models[-1].visit if relevance_models else 0


def learning_model(plan: CrawlSettings) -> str:
    """What the crawl would score by if it were given pages to learn from."""
    return (
        with_relevance_model(plan, Path(), StopConditions(relevance_model=GUIDES_FOLDER)).relevance or TRAINABLE_MODEL
    )


def new_crawl(folder: Path, plan: CrawlSettings, goals: StopConditions, relevance_model: str) -> ReproduceCommand:
    """Starts a crawl for the same, as this one was told, by the new guide. It reads what this one has got instead of
    fetching it. Files that the command reads are beside the pages of the guide."""
    # A crawl that read a recording does not have those pages itself.
    by_guide = replace(
        plan, relevance=learning_model(plan), train_from=str(folder / relevance_model), web=plan.web or str(folder)
    )
    return reproduce_command(by_guide, goals, f"{folder}-{relevance_model.replace('/', '-')}", folder / relevance_model)


def _unsaid(command: ReproduceCommand) -> str:
    """Settings that the command leaves out."""
    return f" No option of a new crawl says {', '.join(command.unsaid)}." if command.unsaid else ""


def _not_handed_over(is_alive: bool) -> str:
    goes = "goes" if is_alive else "would go"
    return f"That is worse, so the crawl {goes} on with its current model: label more pages, and train again."


def _measured(quality: ModelQuality) -> str:
    if quality.area_after is None:
        return "The new model cannot be evaluated: that needs labelled pages of both kinds."
    told = (
        f"On {quality.n_positive} relevant and {quality.n_negative} irrelevant pages that it did not learn from, the "
        f"new model scores a relevant page above an irrelevant one in {quality.area_after:.0%} of pairs"
    )
    if quality.area_before is None:
        return f"{told}. The quality of the current model is unknown: too few of the pages that it scored are labelled."
    return f"{told}; the current model in {quality.area_before:.0%}."
