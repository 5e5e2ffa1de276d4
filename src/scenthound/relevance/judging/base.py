"""What every judge is: trained on labelled pages once, it says of any pages whether it accepts them.

Rules, the same for all judges
- The same labelled pages in the same order give the same judge.
- The vocabulary that counts is that of the labelled pages: other words change no verdict, wherever their ids lie.
- Whatever the labelled pages are, as long as there is one of each kind, a judge comes of them. Where all of them look
  alike, nothing can be learnt: the linear judges then accept no page, the others go with the more frequent kind.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

from scenthound.errors import BadTopic
from scenthound.model import BoolArray
from scenthound.registry import NamedValue
from scenthound.text.vectors import TermRows


@dataclass(frozen=True, slots=True)
class Labelled:
    """Pages to learn a topic from: their words, which of them belong to it, and the size of the vocabulary."""

    rows: TermRows
    is_positive: BoolArray
    n_words: int

    def __post_init__(self) -> None:
        n_positives, n_pages = int(self.is_positive.sum()), len(self.rows)
        if not 0 < n_positives < n_pages:
            raise BadTopic(
                f"A judge learns from pages of the topic and of others, and was given {n_positives:,} and "
                f"{n_pages - n_positives:,}: give at least one of each."
            )


class Judge(Protocol):
    """A trained judge."""

    def accepts(self, pages: TermRows) -> BoolArray:
        """Whether each page belongs to the topic."""


@dataclass(frozen=True, slots=True)
class JudgeKind(NamedValue, ABC):
    """A way to judge, before it is trained: what is chosen by name, with its options."""

    @abstractmethod
    def trained(self, labelled: Labelled) -> Judge:
        """The judge that comes of the labelled pages."""
