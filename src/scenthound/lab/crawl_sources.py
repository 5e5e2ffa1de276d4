"""What a crawl reads beside the web: a recording, pages that a classifier learns from, and the file of a strategy.

Rules
- When a crawl begins, the place and the content of each are noted in its plan, as a path that holds wherever the crawl
  is resumed from and as a digest.
- A crawl goes on only if they still hold what they held then: its journal is told again with their help, and other
  words, scores or ranks would make another crawl of it.
- A strategy that reads a file has its path in its parameter `file`.
"""

import hashlib
from dataclasses import replace
from pathlib import Path

from scenthound.errors import BadInput, WrongUse, printable
from scenthound.files import DAMAGE, open_regular, opened
from scenthound.lab.crawl_plan import CrawlPlan
from scenthound.lab.training_folder import training_files
from scenthound.relevance.base import RELEVANCE, trains
from scenthound.store.crawl_web import open_web
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES

_DIGEST_LETTERS = 32
#: The parameter in which a strategy has the path of a file that it reads.
_FILE = "file"


def pinned(plan: CrawlPlan) -> CrawlPlan:
    """The plan with what it reads noted; one that names pages nobody would learn from is refused."""
    if plan.web is not None:
        plan = replace(plan, web=str(Path(plan.web).resolve()), web_fingerprint=open_web(plan.web).fingerprint)
    if plan.train_from is not None:
        _check_is_needed(plan)
        folder = Path(plan.train_from).resolve()
        plan = replace(plan, train_from=str(folder), train_digest=training_digest(folder))
    if (file := strategy_file(plan.strategy)) is not None:
        plan = replace(plan, strategy=_with_file(plan.strategy, file.resolve()), strategy_digest=file_digest(file))
    return plan


def strategy_file(strategy: str) -> Path | None:
    """The file that a strategy reads; None if it reads none."""
    file = dict(STRATEGIES.parse(strategy).parameters).get(_FILE)
    return Path(file) if isinstance(file, str) else None


def _with_file(strategy: str, file: Path) -> str:
    choice, place = STRATEGIES.parse(strategy), str(file)
    if "," in place or place != place.strip():
        raise WrongUse(
            f"{printable(file)!r}, which {choice.name} reads, cannot be kept as a parameter: a comma would end it, and "
            "blanks around it would be lost. Rename or move the file."
        )
    return str(
        replace(
            choice, parameters=tuple((name, place if name == _FILE else value) for name, value in choice.parameters)
        )
    )


def file_digest(file: Path) -> str:
    """A short name for what a file holds."""
    with opened(file) as source:
        try:
            return hashlib.sha256(source.content.read()).hexdigest()[:_DIGEST_LETTERS]
        except DAMAGE as reason:
            raise BadInput(f"{printable(file)} cannot be read: {printable(reason)}; check that it is whole.") from None


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
    """BadInput if what was trained, or is learned from now, is not what the crawl began with: the file of its strategy
    and the pages of its classifier."""
    _check_strategy_file(plan)
    if plan.train_from is None or plan.train_digest is None:
        return
    if training_digest(Path(plan.train_from)) != plan.train_digest:
        raise BadInput(
            f"The training pages in {printable(plan.train_from)} were changed since the crawl began: bring back what "
            "they were, or begin a new crawl."
        )


def _check_strategy_file(plan: CrawlPlan) -> None:
    file = strategy_file(plan.strategy)
    if file is None or plan.strategy_digest is None:
        return
    place = printable(file)
    if not file.exists():
        raise BadInput(f"The file that this crawl's strategy reads is no longer at {place}: bring it back there.")
    if file_digest(file) != plan.strategy_digest:
        raise BadInput(
            f"The file {place}, which the strategy reads, was changed since the crawl began: bring back what it was, "
            "or begin a new crawl."
        )


def training_digest(folder: Path) -> str:
    """A short name for the pages in a folder and their names; its place does not matter."""
    if not folder.is_dir():
        raise BadInput(f"There is no folder {printable(folder)} to train from: name another with --train-from.")
    digest = hashlib.sha256()
    for file in sorted(file for kind in ("positive", "negative") for file in training_files(folder, kind)):
        try:
            with open_regular(file) as page:
                content = page.read()
        except DAMAGE as reason:
            raise BadInput(f"{printable(file)} cannot be read: {printable(reason)}; check its rights.") from None
        digest.update(f"{file.relative_to(folder).as_posix()!r}:{len(content)};".encode())
        digest.update(content)
    return digest.hexdigest()[:_DIGEST_LETTERS]


def _check_is_needed(plan: CrawlPlan) -> None:
    model = plan.relevance or STRATEGIES.make(plan.strategy).guide
    if not trains(RELEVANCE.make(model)):
        raise WrongUse(
            f"--train-from is of no use: {model}, which scores for {printable(plan.strategy)}, learns from no pages. "
            "Take it away, or choose a model that does, as in --relevance svm."
        )
