"""The compiled code of a live crawl, loaded before its first page comes.

The first time in an installation it is compiled, which takes some fifteen seconds: hosts that wait for an answer should
not have to. Without numba (the extra `fast`) there is nothing to load, and nothing is.
"""

from random import Random

import numpy as np

from scenthound.errors import Failure
from scenthound.frontier.turns import Turns
from scenthound.frontier.unbounded import UnboundedFrontier
from scenthound.reasons import Reason
from scenthound.text.vectors import total_weight, word_norm
from scenthound.web.guarded_parser import GuardedParser
from scenthound.web.near_duplicates import fingerprint_of

#: An ordinary page, and one that is not: both are read by compiled code, each in its own way. Their word is a stop
#: word, so the vocabulary stays as it is.
_PAGES = b"<p>x</p>", b"<p>x<svg></svg>"


def load_compiled(parser: GuardedParser) -> None:
    """Failure if it cannot be used."""
    for html in _PAGES:
        page = parser.parse_now(html, "http://page.invalid/", None)
        if isinstance(page, Reason):
            raise Failure(
                "The compiled code that reads pages does not work here: install another version of numba, or none; "
                "a crawl takes longer without it."
            )
        word_norm(page.words)
        total_weight(page.words, np.zeros(1))
        fingerprint_of(page.words)
    _use(UnboundedFrontier(Random(0)))


def _use(frontier: UnboundedFrontier) -> None:
    """Do with a frontier once what a crawl does all the time."""
    pages = np.arange(3, dtype=np.int32)
    frontier.raise_all(pages, pages, np.ones(3))
    for _ in range(2):
        # Host 0 rests, so it is set aside and found there again.
        frontier.take_in_turns(1, Turns(lambda host: host > 0))
    frontier.take(1)
