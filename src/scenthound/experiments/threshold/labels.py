"""Label files: pages, or scores, that a person has called relevant or not; CSV or JSON Lines, also .gz and .zst.

Rules
- A line has a `url` or a `score`, as all lines of its file, and a `label`: yes, no, 1, 0, relevant, irrelevant, true or
  false. Of what stands beside them only `weight` is read: how many pages this one stands for, 1 unless told.
- A file whose first sign is { is JSON Lines. CSV may begin with the names of its columns; without them, the page or
  score comes first, then the label, then the weight.
- Lines without a label are still to be labelled. They are counted and left out.
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import orjson

from scenthound.errors import InvalidInput, InvalidParameter, PluginError, UnknownName, UsageError, printable
from scenthound.experiments.starts import NegativePool, Starts, published_positives, training_of
from scenthound.files import compressed_as, text_of, write_atomic
from scenthound.model import BoolArray, FloatArray, IntArray, LongArray, Topic
from scenthound.relevance.base import RELEVANCE, Training, trains
from scenthound.simulator.scores import PageScores, WebWords, scores_for
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.training_folder import read_training
from scenthound.topics.files import read_topics

YES = ("yes", "y", "1", "true", "relevant")
NO = ("no", "n", "0", "false", "irrelevant")
COLUMNS = ("url", "label", "weight", "title")
#: Longer values are not shown whole in an error.
SHOWN_LETTERS = 60
#: Beyond it a number is a slip of the pen, and has no digits to round.
LARGEST_NUMBER = 1e12

Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Label:
    """One line: `place` says where it stands; either `url` or `score` is given."""

    place: str
    url: str | None
    score: float | None
    is_relevant: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class LabelFile:
    """`n_open` lines are still to be labelled."""

    labels: tuple[Label, ...]
    n_open: int

    @property
    def has_scores(self) -> bool:
        return any(label.score is not None for label in self.labels)


@dataclass(frozen=True, slots=True)
class PageToLabel:
    """A line for a person to fill in. It shows no score: who sees one is led by it."""

    url: str
    title: str
    weight: float


def read_labels(file: Path) -> LabelFile:
    """All lines of a label file; BadInput for the first that cannot be read."""
    text = text_of(file)
    lines = _json_lines(file, text) if text.lstrip().startswith("{") else _csv_lines(file, text)
    found = [_label(place, fields) for place, fields in lines]
    labels = tuple(label for label in found if label is not None)
    if len({label.score is None for label in labels}) > 1:
        raise InvalidInput(f"{printable(file)}: some lines have a score and some a URL; make two files of it.")
    return LabelFile(labels, len(found) - len(labels))


def write_pages_to_label(file: Path, pages: Iterable[PageToLabel]) -> None:
    """A label file with an empty column to fill in."""
    table = io.StringIO(newline="")
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows([page.url, "", f"{page.weight:.6g}", printable(page.title)] for page in pages)
    write_atomic(file, compressed_as(file, table.getvalue().encode("utf-8")))


def _json_lines(file: Path, text: str) -> Iterator[tuple[str, Fields]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{printable(file)}, line {number}"
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise InvalidInput(f"{place}: not JSON ({error.msg}); each line must be one object.") from error
        if not isinstance(fields, dict):
            raise InvalidInput(f'{place}: no object; write lines such as {{"url": "http://...", "label": "yes"}}.')
        yield place, fields


def _csv_lines(file: Path, text: str) -> Iterator[tuple[str, Fields]]:
    rows = csv.reader(io.StringIO(text, newline=""))
    names: list[str] | None = None
    try:
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            place = f"{printable(file)}, line {rows.line_num}"
            if names is None:
                names = _column_names(row)
                if _is_heading(row):
                    continue
            yield place, dict(zip(names, row, strict=False))
    except csv.Error as error:
        raise InvalidInput(f"{printable(file)}, line {rows.line_num}: not CSV ({error}); fix the line.") from error


def _is_heading(row: list[str]) -> bool:
    return "label" in [cell.strip().lower() for cell in row]


def _column_names(row: list[str]) -> list[str]:
    if _is_heading(row):
        return [cell.strip().lower() for cell in row]
    return ["score" if _number(row[0]) is not None else "url", "label", "weight"]


def _label(place: str, fields: Fields) -> Label | None:
    """What a line says; None if it has no label yet."""
    answer = _answer(place, fields.get("label"))
    if answer is None:
        return None
    # A score decides: a file may say beside it which page it is of.
    if _is_given(fields.get("score")):
        return Label(place, None, _finite(place, "score", fields["score"]), answer, _weight(place, fields))
    url = fields.get("url")
    if not isinstance(url, str) or not url.strip():
        raise InvalidInput(f"{place}: neither a url nor a score; write for example http://example.org/,yes or 0.31,no.")
    return Label(place, url.strip(), None, answer, _weight(place, fields))


def _answer(place: str, value: object) -> bool | None:
    word = "" if value is None else str(value).strip().lower()
    if word in YES or word in NO:
        return word in YES
    if not word:
        return None
    raise InvalidInput(f"{place}: the label is {printable(word, SHOWN_LETTERS)!r}; write yes or no.")


def _weight(place: str, fields: Fields) -> float:
    if not _is_given(fields.get("weight")):
        return 1.0
    weight = _finite(place, "weight", fields["weight"])
    if weight <= 0:
        raise InvalidInput(f"{place}: the weight is {weight:g}; it must be more than 0.")
    return weight


def _is_given(value: object) -> bool:
    return value is not None and str(value).strip() != ""


def _finite(place: str, name: str, value: object) -> float:
    number = _number(value)
    if number is None:
        raise InvalidInput(f"{place}: the {name} is {printable(value, SHOWN_LETTERS)!r}, which is not a valid number.")
    return number


def _number(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) <= LARGEST_NUMBER else None


# Pages that are worth labelling: as many from the few with high scores as from the many with low ones.
#
# Most pages of a web have a low score, so that pages drawn by lot alone would hardly tell one threshold from another.
# In the order of their scores, pages are cut into up to ten parts, each twice as large as the one above it, and from
# each the same number is drawn, as far as it has so many. A page drawn stands for its share of its part: that is its
# weight, by which precision and recall are those of all pages again.

MOST_PARTS = 10
#: Fewer pages are no part by themselves.
LEAST_IN_PART = 4


def drawn_by_score(scores: FloatArray, n_pages: int, rng: Random) -> tuple[list[int], list[float]]:
    """Places of pages to label in random order, and the weight of each."""
    parts = _parts(scores, rng)
    weight_of: dict[int, float] = {}
    for part, n_drawn in zip(parts, _shared_out(n_pages, [len(part) for part in parts]), strict=True):
        for page in rng.sample(part.tolist(), n_drawn):
            weight_of[page] = len(part) / n_drawn
    pages = list(weight_of)
    # Who labels a list in the order of its scores is led by it.
    rng.shuffle(pages)
    return pages, [weight_of[page] for page in pages]


def _parts(scores: FloatArray, rng: Random) -> list[LongArray]:
    """The pages of each part, the highest scores first; of equal scores, by lot."""
    lots = np.array([rng.random() for _ in range(len(scores))])
    in_order = np.lexsort((lots, -scores))
    n_parts = min(MOST_PARTS, (len(scores) // LEAST_IN_PART + 1).bit_length() - 1) or 1
    # Parts of 1, 2, 4, ... shares end after 1, 3, 7, ... of all 2^n - 1 shares.
    ends = [round(len(scores) * (2**number - 1) / (2**n_parts - 1)) for number in range(1, n_parts)]
    return np.split(in_order, ends)


def _shared_out(n_pages: int, sizes: list[int]) -> list[int]:
    """As equal numbers as the sizes allow. Each part has one at least, so that it is stood for."""
    taken = [0] * len(sizes)
    while sum(taken) < min(max(n_pages, len(sizes)), sum(sizes)):
        # What cannot be shared out equally goes to the parts with the highest scores.
        place = min((place for place, size in enumerate(sizes) if taken[place] < size), key=lambda part: taken[part])
        taken[place] += 1
    return taken


# The scores of labelled pages by a relevance model that has not learnt from them.
#
# Rules
# - A model that trains learns from pages in a folder (`train_from`); or from the topic's examples and those of other
#   topics; or, if told to cross-validate, from the labelled pages themselves, in folds: each page is scored by a
#   model that learnt from the pages of the other folds. As in simulations at most 75 examples train, and two of other
#   topics for each.
# - A labelled page never trains the model that scores it: examples that are labelled are left out, and a folder with
#   a page of the same words is refused.

MOST_FOLDS = 5


@dataclass(frozen=True, slots=True)
class ScoredBy:
    """A topic of a file and the model that scores pages for it; the other fields are told above."""

    topics: Path
    topic: str | None = None
    relevance: str = "cosine"
    train_from: Path | None = None
    cross_validate: bool = False

    def __post_init__(self) -> None:
        if self.train_from is not None and self.cross_validate:
            raise InvalidParameter("--train-from and --cross-validate each say what the model learns from; choose one.")
        object.__setattr__(self, "relevance", str(RELEVANCE.parse(self.relevance)))


@dataclass(frozen=True, slots=True)
class PageScoring:
    """The scores of the pages asked for, and in words what the model has learnt from; empty if it does not learn."""

    scores: FloatArray
    learnt_from: str


class PageScorer:
    """Scores pages of one web for one topic."""

    def __init__(self, web: RecordedWeb, by: ScoredBy) -> None:
        self._web = web
        self._by = by
        self._model = RELEVANCE.make(by.relevance)
        self._topics = {topic.id: topic for topic in read_topics(by.topics)}
        self.topic = self._named(by.topic)

    def _named(self, topic_id: str | None) -> Topic:
        if topic_id is None and len(self._topics) > 1:
            some = ", ".join(map(printable, list(self._topics)[:10]))
            raise UsageError(
                f"{printable(self._by.topics)} has {len(self._topics):,} topics: choose one with --topic, for example "
                f"{some}."
            )
        if topic_id is not None and topic_id not in self._topics:
            raise UnknownName.among("topic", topic_id, self._topics, printable(self._by.topics))
        return self._topics[topic_id or next(iter(self._topics))]

    def labelled(self, pages: Sequence[int], is_relevant: BoolArray) -> PageScoring:
        """Of labelled pages, from which the model does not learn, or not by itself."""
        if not trains(self._model):
            return PageScoring(self._scored(pages, None), "")
        if self._by.cross_validate:
            return self._cross_validated(pages, is_relevant)
        training, told = self._training(pages)
        return PageScoring(self._scored(pages, training), told)

    def to_label(self) -> FloatArray:
        """Of all pages, to choose some that are worth labelling."""
        if not trains(self._model):
            return self._scored(range(self._web.n_pages), None)
        if self._by.cross_validate:
            raise InvalidParameter("There are no labels to cross-validate with yet; draw the pages without it.")
        training, _ = self._training(())
        return self._scored(range(self._web.n_pages), training)

    def _scored(self, pages: Iterable[int], training: Training | None) -> FloatArray:
        with PluginError.wrapping(f"Relevance model {self._by.relevance} failed on topic {self.topic.id!r}"):
            scores: PageScores = scores_for(self.topic, self._model, self._web, training)
            return np.array([scores.page(page) for page in pages], dtype=np.float64)

    def _training(self, labelled: Sequence[int]) -> tuple[Training, str]:
        if self._by.train_from is None:
            return self._from_examples(labelled)
        training = read_training(self._by.train_from, WebWords(self._web))
        self._check_apart(training, labelled)
        counts = f"{len(training.positives)} positive, {len(training.negatives)} negative"
        return training, f"the pages in {printable(self._by.train_from)} ({counts})"

    def _check_apart(self, training: Training, labelled: Sequence[int]) -> None:
        known = {_content(words) for words in (*training.positives, *training.negatives)}
        for page in labelled:
            if _content(self._web.words(page)) in known:
                raise InvalidInput(
                    f"{printable(self._web.url(page))} is labelled, and {printable(self._by.train_from)} has a page of "
                    "the same words: take it out of one of them."
                )

    def _from_examples(self, labelled: Sequence[int]) -> tuple[Training, str]:
        starts, rng = Starts(self._web), Random(f"threshold/{self.topic.id}")
        own = starts.own_pages(self.topic)
        positives = published_positives(set(starts.example_pages(self.topic)).difference(labelled), rng)
        pool = NegativePool(page for topic in self._topics.values() for page in starts.example_pages(topic))
        negatives = pool.draw(len(positives), own.union(labelled), rng)
        for pages, whose in ((positives, "this topic"), (negatives, "other topics")):
            if not np.any(self._web.page_norm[list(pages)] > 0):
                raise InvalidInput(
                    f"{self._by.relevance} learns from examples of {whose}, and {printable(self._by.topics)} has none "
                    "in the web beside the labelled ones: give pages with --train-from, or give --cross-validate."
                )
        told = f"{len(positives)} examples of the topic and {len(negatives)} of others, none of them labelled"
        return training_of(self._web, positives, negatives), told

    def _cross_validated(self, pages: Sequence[int], is_relevant: BoolArray) -> PageScoring:
        all_pages = np.array(pages, dtype=np.int32)
        fold, n_folds = _folds(is_relevant)
        scores = np.zeros(len(pages))
        for held in range(n_folds):
            out = fold == held
            others, theirs = all_pages[~out], is_relevant[~out]
            training = training_of(self._web, others[theirs].tolist(), others[~theirs].tolist())
            scores[out] = self._scored(all_pages[out].tolist(), training)
        return PageScoring(scores, f"the other labelled pages, in {n_folds} folds")


def _content(words: IntArray) -> bytes:
    """Words without stop words, which training pages come without."""
    return bytes(words[words != 0].astype(np.int32).tobytes())


def _folds(is_relevant: BoolArray) -> tuple[IntArray, int]:
    """The fold of each page; every fold has its share of both classes."""
    n_relevant = int(is_relevant.sum())
    n_folds = min(MOST_FOLDS, n_relevant, len(is_relevant) - n_relevant)
    if n_folds < 2:
        raise InvalidInput(
            f"Of {len(is_relevant)} labelled pages {n_relevant} are relevant; to cross-validate takes at least two "
            "relevant and two others, so label more."
        )
    of_class = np.where(is_relevant, np.cumsum(is_relevant), np.cumsum(~is_relevant))
    return (of_class % n_folds).astype(np.int32), n_folds
