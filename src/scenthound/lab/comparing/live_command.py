"""The command line that starts a strategy live, as it was compared.

A guide that learns has learnt from pages of the recorded web, and a live crawl learns from a folder. So the command
names one: that which has these pages, or a placeholder if there is none.
"""

import shlex
from pathlib import Path

from scenthound.lab.experiment import Experiment
from scenthound.relevance.base import RELEVANCE, trains

#: Stands in the command where a person has to put a folder.
PLACEHOLDER = "DIR"


def live_command(
    topics: Path, topic_id: str, strategy: str, experiment: Experiment, learnt_from: Path | None = None
) -> str:
    """`scenthound crawl` with the strategy, its guide and its budget; quoted for a shell. `learnt_from` is the folder
    with the pages that the guide learnt from."""
    words = ["scenthound", "crawl", str(topics), "--topic", topic_id, "--strategy", strategy]
    guide = experiment.guide_of(strategy)
    if experiment.relevance is not None or _learns(guide):
        words += ["--relevance", guide]
    if _learns(guide):
        words += ["--train-from", str(experiment.train_from or learnt_from or PLACEHOLDER)]
    if not experiment.obey_nofollow:
        words.append("--follow-nofollow")
    return shlex.join([*words, "--pages", str(experiment.page_budget)])


def guide_note(strategy: str, experiment: Experiment, learnt_from: Path | None = None) -> str:
    """What must be known of a guide that learnt from pages of the web; empty if nothing."""
    if not learns_from_web(strategy, experiment):
        return ""
    guide = experiment.guide_of(strategy)
    learnt = f"{strategy} goes by {guide}, which learnt from start pages and from examples of other topics."
    if learnt_from is not None:
        return f"{learnt} Those of the first start are in {learnt_from}, and the live crawl learns from them."
    return (
        f"{learnt} Live it learns from a folder: put pages of the topic into {PLACEHOLDER}/positive and others into "
        f"{PLACEHOLDER}/negative, or compare again with --out, which writes those that it learnt from here."
    )


def learns_from_web(strategy: str, experiment: Experiment) -> bool:
    """Whether the guide of a strategy learnt from pages of the recorded web."""
    return experiment.train_from is None and _learns(experiment.guide_of(strategy))


def _learns(guide: str) -> bool:
    return trains(RELEVANCE.make(guide))
