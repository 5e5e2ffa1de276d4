"""The relevance that a link promises (wang2009 Eq. 9): link-context prediction goes by it, and so does OTIE.

`score = b * page + (1 - b) * context`: the relevance of the whole page that the link is on, and that of the words
around the link, its anchor included. The study has b = 0.25 and a window of 20 words.
"""

from typing import Annotated

from scenthound.errors import BrokenContract
from scenthound.model import FloatArray, Links
from scenthound.registry import Bounds

#: The weight of the whole page in the promise of its links (beta of wang2009 Eq. 9).
PageWeight = Annotated[float, Bounds(0, 1)]
#: How many words around a link are its context, its anchor included (T of wang2009).
Window = Annotated[int, Bounds(1, 10_000)]


def promised_relevance(page_relevance: float, links: Links, page_weight: float) -> FloatArray:
    """What each link of a page promises."""
    if links.predicted is None:
        raise BrokenContract("Links came without `predicted`; a driver gives it to strategies that set context_words.")
    promised: FloatArray = page_weight * page_relevance + (1 - page_weight) * links.predicted  # wang2009 Eq. 9
    return promised
