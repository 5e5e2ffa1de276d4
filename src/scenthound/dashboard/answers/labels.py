"""What the API tells of labels, and of a guide that was trained on them."""

from dataclasses import dataclass

from scenthound.dashboard.answers.pages import TakenPage


@dataclass(frozen=True, slots=True)
class GuideQuality:
    """How well labelled pages are told apart: `area_before` (the guide so far) and `area_after` (the new one) are the
    chance that a relevant page scores above another: 0.5 is nothing, null is not known. Each is of pages that the guide
    did not learn from."""

    area_before: float | None
    area_after: float | None
    n_positive: int
    n_negative: int


@dataclass(frozen=True, slots=True)
class Labels:
    """Pages that a person labelled, the latest first. `missing` says what a new guide still needs, and is null
    when it needs nothing."""

    pages: tuple[TakenPage, ...]
    n_positive: int
    n_negative: int
    missing: str | None


@dataclass(frozen=True, slots=True)
class Retrained:
    """What came of training the guide anew. A running crawl takes it up within a second or two (`taken_up`); `command`
    starts a crawl by it."""

    quality: GuideQuality
    taken_up: bool
    folder: str
    command: str
    says: str
