"""A guide trained anew on what a person said of the pages of a crawl, and handed to it.

Rules
- The crawl scores by it from the next page on, or from its next run on if nobody is crawling. What it scored before
  stays as it is: neither labels nor guides change what is stored of visits.
- A guide that is measured to be worse than the one so far is made, but not handed over, unless that is asked for.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from scenthound.errors import WrongUse
from scenthound.lab.crawl_command import RepeatCommand, repeat_command
from scenthound.lab.crawl_plan import CrawlPlan
from scenthound.lab.crawl_state import crawl_state
from scenthound.lab.labelling.labels import Labels
from scenthound.lab.labelling.quality import GuideQuality, guide_quality
from scenthound.lab.labelling.training import GUIDES_FOLDER, missing_for_training, training_pages, write_training
from scenthound.lab.obeying import LEARNING_MODEL, with_guide
from scenthound.lab.run_goals import RunGoals
from scenthound.lab.steering import use_guide
from scenthound.relevance.base import RELEVANCE
from scenthound.store.stored_crawl import StoredCrawl


@dataclass(frozen=True, slots=True)
class Retraining:
    """`folder_name` is where the pages are that the guide learns from, in the folder of the crawl. `taken_up`: a
    running crawl scores by it within a second or so. `command` starts a new crawl by it, `says` tells it in words."""

    quality: GuideQuality
    folder_name: str
    taken_up: bool
    command: str
    says: str


def retrain(folder: Path, *, even_if_worse: bool = False) -> Retraining:
    """WrongUse if there are too few labels; MissingExtra without scikit-learn."""
    if missing := missing_for_training(folder):
        raise WrongUse(missing)
    goals = RunGoals.read(folder)
    with StoredCrawl.open(folder) as crawl:
        plan = CrawlPlan.from_settings(crawl.about.settings)
        training = training_pages(crawl, Labels.of_crawl(folder, crawl.about.crawl_id))
        model = RELEVANCE.make(learning_model(plan))
        quality = guide_quality(training, first_scored(crawl, goals), model, plan.topic)
        is_alive = crawl_state(crawl).is_alive
    name = write_training(folder, training, new_crawl(folder, plan, goals, "").files)
    is_handed_over = even_if_worse or not quality.is_worse
    happens = use_guide(folder, name) if is_handed_over else _not_handed_over(is_alive)
    command = new_crawl(folder, plan, goals, name)
    return Retraining(
        quality,
        name,
        taken_up=is_handed_over and is_alive,
        command=command.line,
        says=f"{_measured(quality)} {happens}{_unsaid(command)}",
    )


def first_scored(crawl: StoredCrawl, goals: RunGoals) -> int:
    """The first visit that the guide in use scored; a guide that waits for the next run has scored none."""
    guides = crawl.guides()
    taken_up = guides[-1].folder if guides else None
    if goals.guide != taken_up:
        return crawl.n_visits()
    return guides[-1].visit if guides else 0


def learning_model(plan: CrawlPlan) -> str:
    """What the crawl would score by if it were given pages to learn from."""
    return with_guide(plan, Path(), RunGoals(guide=GUIDES_FOLDER)).relevance or LEARNING_MODEL


def new_crawl(folder: Path, plan: CrawlPlan, goals: RunGoals, guide: str) -> RepeatCommand:
    """Starts a crawl for the same, as this one was told, by the new guide. It reads what this one has got instead of
    fetching it. Files that the command reads are beside the pages of the guide."""
    # A crawl that read a recording does not have those pages itself.
    by_guide = replace(
        plan, relevance=learning_model(plan), train_from=str(folder / guide), web=plan.web or str(folder)
    )
    return repeat_command(by_guide, goals, f"{folder}-{guide.replace('/', '-')}", folder / guide)


def _unsaid(command: RepeatCommand) -> str:
    """Settings that the command leaves out."""
    return f" No option of a new crawl says {', '.join(command.unsaid)}." if command.unsaid else ""


def _not_handed_over(is_alive: bool) -> str:
    goes = "goes" if is_alive else "would go"
    return f"That is worse, so the crawl {goes} on by the guide it has: label more pages, and train again."


def _measured(quality: GuideQuality) -> str:
    if quality.area_after is None:
        return "The new guide cannot be measured: that takes labelled pages of both kinds."
    told = (
        f"On {quality.n_positive} relevant and {quality.n_negative} irrelevant pages that it did not learn from, the "
        f"new guide scores a relevant page above an irrelevant one in {quality.area_after:.0%} of pairs"
    )
    if quality.area_before is None:
        return f"{told}. How good the guide so far is, is not known: too few of the pages that it scored are labelled."
    return f"{told}; the guide so far in {quality.area_before:.0%}."
