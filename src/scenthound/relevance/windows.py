"""Windows of hostile pages: how many words are counted at most.

Links can stand within each other, some hundreds deep, and an anchor may be as long as its page. So the windows of one
page may have hundreds of times as many words as the page. Ordinary pages do not come near the bound.
"""

import numpy as np

from scenthound.model import IntArray

#: The most that the windows of one page have together. Its share for each of 10,000 links is five windows of 20 words.
MAX_WINDOW_WORDS = 1 << 20


def bounded_ends(words: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """The ends of the windows `words[first:last]`; if they have too many words, of each its share is left at most."""
    if len(words) * len(first) <= MAX_WINDOW_WORDS:
        return last
    lengths = last - first
    if int(lengths.sum(dtype=np.int64)) <= MAX_WINDOW_WORDS:
        return last
    shortened: IntArray = first + np.minimum(lengths, MAX_WINDOW_WORDS // len(first))
    return shortened
