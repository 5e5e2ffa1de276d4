"""From files to a suggested threshold, and to a label file for a person to fill in."""

from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from scenthound.errors import InvalidInput, InvalidParameter, printable
from scenthound.experiments.threshold.curve import LEAST_LABELS, Choice, Goal, LabelledScores, choose_threshold
from scenthound.experiments.threshold.labels import (
    Label,
    LabelFile,
    PageScorer,
    PageToLabel,
    ScoredBy,
    drawn_by_score,
    read_labels,
    write_pages_to_label,
)
from scenthound.model import FloatArray, Progress, silent
from scenthound.store.crawl_web import open_web
from scenthound.store.recorded_web import RecordedWeb


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A threshold and what it was made of. `relevance` is empty if the scores came with the labels."""

    choice: Choice
    n_relevant: int
    n_irrelevant: int
    n_open: int  #: lines without a label
    n_repeated: int  #: lines for a page that was labelled before, in the same way
    stands_for: float  #: the sum of the weights: how many pages the labelled ones stand for
    relevance: str = ""
    topic: str = ""
    learnt_from: str = ""  #: in words; empty if the model does not learn


@dataclass(frozen=True, slots=True)
class _Pages:
    """Labelled pages, each once."""

    page: tuple[int, ...]
    labels: tuple[Label, ...]
    n_repeated: int


def suggest_threshold(
    labels: Path,
    *,
    goal: Goal | None = None,
    web: Path | None = None,
    scored_by: ScoredBy | None = None,
    progress: Progress = silent,
) -> Suggestion:
    """Choose a threshold by a file of labels. `web` is a recorded web or a crawl, and `scored_by` says what scores its
    pages; a file with scores needs neither."""
    read = read_labels(labels)
    _check_source(labels, read, has_model=web is not None and scored_by is not None, has_any=bool(web or scored_by))
    if len(read.labels) < LEAST_LABELS:
        still_open = f" ({read.n_open} lines have none yet)" if read.n_open else ""
        raise InvalidInput(
            f"{printable(labels)} has too few labels, {len(read.labels)}{still_open}: label at least {LEAST_LABELS} "
            "pages, better 20 to 50."
        )
    if web is None or scored_by is None:
        scores = np.array([label.score for label in read.labels], dtype=np.float64)
        return _suggestion(_labelled(scores, read.labels), goal or Goal(), read.n_open, 0)
    return _of_pages(open_web(web, progress), scored_by, read, goal or Goal())


def _check_source(file: Path, read: LabelFile, *, has_model: bool, has_any: bool) -> None:
    if read.has_scores and has_any:
        raise InvalidParameter(f"{printable(file)} has scores of its own: take --web and --topics away, or the scores.")
    if read.labels and not read.has_scores and not has_model:
        raise InvalidParameter(f"{printable(file)} names pages, which have to be scored: name --web and --topics.")


def _of_pages(web: RecordedWeb, scored_by: ScoredBy, read: LabelFile, goal: Goal) -> Suggestion:
    found = _pages_of(web, read.labels)
    scorer = PageScorer(web, scored_by)
    is_relevant = np.array([label.is_relevant for label in found.labels], dtype=np.bool_)
    scoring = scorer.labelled(found.page, is_relevant)
    return _suggestion(
        _labelled(scoring.scores, found.labels),
        goal,
        read.n_open,
        found.n_repeated,
        relevance=scored_by.relevance,
        topic=scorer.topic.id,
        learnt_from=scoring.learnt_from,
    )


def _labelled(scores: FloatArray, labels: tuple[Label, ...]) -> LabelledScores:
    return LabelledScores(
        scores,
        np.array([label.is_relevant for label in labels], dtype=np.bool_),
        np.array([label.weight for label in labels], dtype=np.float64),
    )


def _suggestion(labelled: LabelledScores, goal: Goal, n_open: int, n_repeated: int, **about: str) -> Suggestion:
    n_relevant = int(labelled.is_relevant.sum())
    return Suggestion(
        choice=choose_threshold(labelled, goal),
        n_relevant=n_relevant,
        n_irrelevant=len(labelled) - n_relevant,
        n_open=n_open,
        n_repeated=n_repeated,
        stands_for=float(labelled.weight.sum()),
        **about,
    )


def _pages_of(web: RecordedWeb, labels: tuple[Label, ...]) -> _Pages:
    """The recorded pages of the labels; BadInput if one is not there, or labelled in two ways."""
    pages = [(web.page_of(label.url or ""), label) for label in labels]
    missing = [label for page, label in pages if page is None]
    if missing:
        more = f", and so are {len(missing) - 1} more" if len(missing) > 1 else ""
        raise InvalidInput(
            f"{missing[0].place}: {printable(missing[0].url)} is not in the web{more}; take them out, or name the web "
            "that has them."
        )
    first: dict[int, Label] = {}
    for page, label in pages:
        known = first.setdefault(page, label) if page is not None else label
        if known.is_relevant != label.is_relevant:
            raise InvalidInput(
                f"{label.place}: {printable(label.url)} is labelled otherwise in {known.place}; keep one of the two."
            )
    return _Pages(tuple(first), tuple(first.values()), len(labels) - len(first))


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
    """Write a label file with pages to fill in, spread over the scores, and answer with how many there are."""
    if out.exists() and not force:
        raise InvalidInput(
            f"{printable(out)} is there already, perhaps with labels in it; name another file, or --force."
        )
    recorded = open_web(web, progress)
    rng = Random(f"to label/{seed}")
    pages, weights = drawn_by_score(PageScorer(recorded, scored_by).to_label(), n_pages, rng)
    write_pages_to_label(
        out,
        [
            PageToLabel(recorded.url(page), recorded.title(page), weight)
            for page, weight in zip(pages, weights, strict=True)
        ],
    )
    return len(pages)
