"""The command line that starts a strategy live, as it was compared."""

import shlex
from pathlib import Path

from scenthound.lab.experiment import Experiment
from scenthound.relevance.base import RELEVANCE, trains


def live_command(topics: Path, topic_id: str, strategy: str, experiment: Experiment) -> str:
    """`scenthound crawl` with the strategy, its guide and its budget; quoted for a shell."""
    words = ["scenthound", "crawl", str(topics), "--topic", topic_id, "--strategy", strategy]
    learns, given = _learns(strategy, experiment), experiment.train_from
    if experiment.relevance is not None and (given is not None or not learns):
        words += ["--relevance", experiment.relevance]
    if given is not None and learns:
        words += ["--train-from", str(given)]
    if not experiment.obey_nofollow:
        words.append("--follow-nofollow")
    return shlex.join([*words, "--pages", str(experiment.page_budget)])


def guide_note(strategy: str, experiment: Experiment) -> str:
    """What must be done for a guide that learnt from pages of the web; empty if nothing."""
    if experiment.train_from is not None or not _learns(strategy, experiment):
        return ""
    guide = experiment.guides()[strategy]
    return (
        f"{strategy} was compared with the guide {guide}, which learnt from start pages and from examples of other "
        f"topics. Live it learns from a folder: add `--relevance {guide} --train-from DIR`, with pages in DIR/positive "
        "and DIR/negative. Without them cosine scores; `scenthound compare --relevance cosine` compares that."
    )


def _learns(strategy: str, experiment: Experiment) -> bool:
    return trains(RELEVANCE.make(experiment.guides()[strategy]))
