"""The command line that starts a strategy live, as it was compared.

A guide that learns has learnt from pages of the recorded web, and a live crawl learns from a folder. So the command
names one: that which has these pages, or a placeholder if there is none.
"""

import shlex
from pathlib import Path

from scenthound.errors import printable
from scenthound.lab.experiment import Experiment
from scenthound.relevance.base import RELEVANCE, trains

#: Stands in the command where a person has to put a folder.
PLACEHOLDER = "DIR"
#: Where there is no command.
CANNOT_BE_NAMED = (
    "No command line can start it live: a name in it has a NUL character, which no command line can hold. Rename the "
    "topic in its file."
)


def live_command(
    topics: Path, topic_id: str, strategy: str, experiment: Experiment, learnt_from: Path | None = None
) -> str:
    """`scenthound crawl` with the strategy, its guide and its budget; quoted for a shell, and in one line. Empty if no
    command line can say it. `learnt_from` is the folder with the pages that the guide learnt from."""
    words = ["scenthound", "crawl", str(topics), "--topic", topic_id, "--strategy", strategy]
    guide = experiment.guide_of(strategy)
    if experiment.relevance is not None or _learns(guide):
        words += ["--relevance", guide]
    if _learns(guide):
        words += ["--train-from", str(experiment.train_from or learnt_from or PLACEHOLDER)]
    if not experiment.obey_nofollow:
        words.append("--follow-nofollow")
    words += ["--pages", str(experiment.page_budget)]
    return "" if any("\0" in word for word in words) else " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    """A word as a shell reads it. Control characters need the quotes that begin with a dollar, which bash, zsh and ksh
    know: octal numbers of three digits are the one escape that means the same in all of them."""
    return shlex.quote(word) if word.isprintable() else f"$'{''.join(map(_escaped, word))}'"


def _escaped(sign: str) -> str:
    if sign in "\\'":
        return f"\\{sign}"
    if sign.isprintable():
        return sign
    return "".join(f"\\{byte:03o}" for byte in sign.encode("utf-8", "surrogateescape"))


def guide_note(strategy: str, experiment: Experiment, learnt_from: Path | None = None) -> str:
    """What must be known of a guide that learnt from pages of the web; empty if nothing."""
    if not learns_from_web(strategy, experiment):
        return ""
    guide = experiment.guide_of(strategy)
    who = f"{printable(strategy)} goes by {printable(guide)}"
    learnt = f"{who}, which learnt from start pages and from examples of other topics."
    if learnt_from is not None:
        return (
            f"{learnt} Those of the first start are in {printable(learnt_from)}, and the live crawl learns from them."
        )
    return (
        f"{learnt} Live it learns from a folder: put pages of the topic into {PLACEHOLDER}/positive and others into "
        f"{PLACEHOLDER}/negative, or compare again with --out, which writes those that it learnt from here."
    )


def learns_from_web(strategy: str, experiment: Experiment) -> bool:
    """Whether the guide of a strategy learnt from pages of the recorded web."""
    return experiment.train_from is None and _learns(experiment.guide_of(strategy))


def _learns(guide: str) -> bool:
    return trains(RELEVANCE.make(guide))
