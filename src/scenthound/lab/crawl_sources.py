"""What a crawl reads beside the web: a recording, and pages that a classifier learns from.

Rules
- When a crawl begins, the place and the content of each are noted in its plan, as a path that holds wherever the crawl
  is resumed from and as a digest.
- A crawl goes on only if they still hold what they held then: its journal is told again with their help, and other
  words or scores would make another crawl of it.
"""

import hashlib
from dataclasses import replace
from pathlib import Path

from scenthound.errors import BadInput, WrongUse, printable
from scenthound.files import DAMAGE
from scenthound.lab.crawl_plan import CrawlPlan
from scenthound.lab.training_folder import HTML_ENDINGS, TEXT_ENDINGS
from scenthound.relevance.base import RELEVANCE, trains
from scenthound.store.crawl_web import open_web
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES

_DIGEST_LETTERS = 32


def pinned(plan: CrawlPlan) -> CrawlPlan:
    """The plan with what it reads noted; one that names pages nobody would learn from is refused."""
    if plan.web is not None:
        plan = replace(plan, web=str(Path(plan.web).resolve()), web_fingerprint=open_web(plan.web).fingerprint)
    if plan.train_from is not None:
        _check_is_needed(plan)
        folder = Path(plan.train_from).resolve()
        plan = replace(plan, train_from=str(folder), train_digest=training_digest(folder))
    return plan


def recording_of(plan: CrawlPlan) -> RecordedWeb | None:
    """The recorded web that the crawl reads; BadInput if it is no longer what it was when the crawl began."""
    if plan.web is None:
        return None
    place = printable(plan.web)
    if plan.web_fingerprint is not None and not Path(plan.web).exists():
        raise BadInput(f"The recorded web that this crawl reads is no longer at {place}: bring it back there.")
    web = open_web(plan.web)
    if plan.web_fingerprint not in (None, web.fingerprint):
        raise BadInput(
            f"The recorded web at {place} was changed since the crawl began: bring back what it was, or begin a new "
            "crawl."
        )
    return web


def check_training(plan: CrawlPlan) -> None:
    """BadInput if the pages to learn from are no longer those that the crawl began with."""
    if plan.train_from is None or plan.train_digest is None:
        return
    if training_digest(Path(plan.train_from)) != plan.train_digest:
        raise BadInput(
            f"The training pages in {printable(plan.train_from)} were changed since the crawl began: bring back what "
            "they were, or begin a new crawl."
        )


def training_digest(folder: Path) -> str:
    """A short name for the pages in a folder and their names; its place does not matter."""
    if not folder.is_dir():
        raise BadInput(f"There is no folder {printable(folder)} to train from: name another with --train-from.")
    digest = hashlib.sha256()
    for file in _training_files(folder):
        try:
            content = file.read_bytes()
        except DAMAGE as reason:
            raise BadInput(f"{printable(file)} cannot be read: {printable(reason)}; check its rights.") from None
        digest.update(f"{file.relative_to(folder).as_posix()!r}:{len(content)};".encode())
        digest.update(content)
    return digest.hexdigest()[:_DIGEST_LETTERS]


def _training_files(folder: Path) -> list[Path]:
    endings = HTML_ENDINGS + TEXT_ENDINGS
    files = (file for kind in ("positive", "negative") for file in (folder / kind).rglob("*"))
    return sorted(file for file in files if file.suffix.lower() in endings and not file.is_dir())


def _check_is_needed(plan: CrawlPlan) -> None:
    model = plan.relevance or STRATEGIES.make(plan.strategy).guide
    if not trains(RELEVANCE.make(model)):
        raise WrongUse(
            f"--train-from is of no use: {model}, which scores for {printable(plan.strategy)}, learns from no pages. "
            "Take it away, or choose a model that does, as in --relevance svm."
        )
