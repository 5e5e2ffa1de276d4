"""A guide trained anew on what a person said of the pages of a crawl, and handed to it.

Rules
- The crawl scores by it from the next page on, or from its next run on if nobody is crawling. What it scored before
  stays as it is: neither labels nor guides change what is stored of visits.
- A guide that is measured to be worse than the one so far is made, but not handed over, unless that is asked for.
"""

from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import WrongUse
from scenthound.lab.comparing.live_command import shell_word
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
    with StoredCrawl.open(folder) as crawl:
        plan = CrawlPlan.from_settings(crawl.about.settings)
        training = training_pages(crawl, Labels.of_crawl(folder, crawl.about.crawl_id))
        model = RELEVANCE.make(learning_model(plan))
        quality = guide_quality(training, [row.visit for row in crawl.guides()], model, plan.topic)
        is_alive = crawl_state(crawl).is_alive
    name = write_training(folder, training)
    is_handed_over = even_if_worse or not quality.is_worse
    happens = use_guide(folder, name) if is_handed_over else _not_handed_over(is_alive)
    return Retraining(
        quality,
        name,
        taken_up=is_handed_over and is_alive,
        command=new_crawl_command(folder, plan, name),
        says=f"{_measured(quality)} {happens}",
    )


def learning_model(plan: CrawlPlan) -> str:
    """What the crawl would score by if it were given pages to learn from."""
    return with_guide(plan, Path(), RunGoals(guide=GUIDES_FOLDER)).relevance or LEARNING_MODEL


def new_crawl_command(folder: Path, plan: CrawlPlan, guide: str) -> str:
    """Starts a crawl for the same by the new guide, which reads what this one has got instead of fetching it. Empty if
    no command line can say it."""
    words = ["scenthound", "crawl", "--topic", plan.topic.id]
    words += [word for keyword in plan.topic.keywords for word in ("--keywords", keyword)]
    words += [word for seed in plan.seeds for word in ("--seed", seed)]
    words += ["--strategy", plan.strategy, "--relevance", learning_model(plan), "--train-from", str(folder / guide)]
    words += ["--pages", str(plan.page_budget)]
    words += ["--contact", plan.contact] if plan.contact else []
    # A crawl that read a recording does not have those pages itself.
    words += ["--web", plan.web or str(folder), "--out", f"{folder}-{guide.replace('/', '-')}"]
    return "" if any("\0" in word for word in words) else " ".join(map(shell_word, words))


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
    before = "" if quality.area_before is None else f"; the guide so far in {quality.area_before:.0%}"
    return f"{told}{before}."
