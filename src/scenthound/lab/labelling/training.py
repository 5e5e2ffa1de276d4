"""The pages of a crawl that a new guide learns from, and the folder that they are put into.

Rules
- Positives are the pages that a person called relevant and the seeds that were taken, unless a person called those
  otherwise. Negatives are the pages that he called irrelevant. What the crawl was given to learn from when it began
  stays: such pages are taken along.
- A page is a text file named by its visit: title and text, as a reader sees them, and no markup, so that nothing in it
  runs when somebody opens it. Of a page that came from a recording there are only its stems, and they are spelled.
- The folders are `guides/1`, `guides/2`, ... in that of the crawl, each whole or not at all. They are never changed: a
  crawl that took one up reads it again when it is resumed.
"""

import codecs
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import BadInput, Failure, printable
from scenthound.lab.comparing.guide_pages import page_text
from scenthound.lab.crawl_plan import CrawlPlan
from scenthound.lab.labelling.labels import Labels
from scenthound.lab.training_folder import training_files
from scenthound.store.crawl_rows import VisitRow
from scenthound.store.crawl_web import open_web
from scenthound.store.folder import new_folder
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.stored_text import text_of_visit

GUIDES_FOLDER = "guides"
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
    return (
        f"Label {' and '.join(more)}: a guide learns from at least {few} pages of each kind; seeds count as relevant."
    )


def training_pages(crawl: StoredCrawl, labels: Labels) -> TrainingPages:
    """BadInput if too few of them have a text that can be read."""
    plan = CrawlPlan.from_settings(crawl.about.settings)
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
        raise BadInput(
            f"{n_empty} of {len(wanted)} pages to learn from have no text that can be read: label {LEAST_OF_A_KIND} "
            "relevant and as many irrelevant pages that have some."
        )
    return found


def write_training(folder: Path, training: TrainingPages, beside: Sequence[tuple[str, str]] = ()) -> str:
    """Make the next folder of guides, and answer with its name in that of the crawl. `beside` are names and texts of
    further files to put there, which nobody learns from."""
    guides = folder / GUIDES_FOLDER
    if guides.is_symlink():
        raise BadInput(f"{printable(guides)} is a link, and nothing is written through it: put a folder in its place.")
    while True:
        place = guides / str(_next_number(guides))
        try:
            _write_guide(place, training, beside)
        except BadInput:
            # Somebody else who trains a guide of this crawl may have taken the number meanwhile.
            if not place.exists():
                raise
        except OSError as reason:
            raise Failure(
                f"{printable(guides)} cannot be written: {reason.strerror}; make room, and train again."
            ) from None
        else:
            return f"{GUIDES_FOLDER}/{place.name}"


def _next_number(guides: Path) -> int:
    taken = [int(place.name) for place in guides.glob("[0-9]*") if place.name.isdecimal()] if guides.is_dir() else []
    return max(taken, default=0) + 1


def _write_guide(place: Path, training: TrainingPages, beside: Sequence[tuple[str, str]]) -> None:
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

    def __init__(self, crawl: StoredCrawl, plan: CrawlPlan) -> None:
        self._crawl = crawl
        self._recording_place = plan.web
        self._recording: RecordedWeb | None = None

    def of(self, row: VisitRow) -> str:
        return text_of_visit(self._crawl, row) if row.place is not None else self._recorded(row.url)

    def _recorded(self, url: str) -> str:
        if self._recording is None:
            if self._recording_place is None:
                return ""
            self._recording = open_web(self._recording_place)
        page = self._recording.page_of(url)
        return "" if page is None else page_text(self._recording, page)
