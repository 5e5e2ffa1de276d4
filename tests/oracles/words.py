"""The words of a text, by regular expressions and PyStemmer."""

import re

import Stemmer

from scenthound.text.scripts import UNSPACED_CLASS
from scenthound.text.stop_words import STOP_WORDS

MAX_CHARACTERS = 40
#: Bigrams overlap, so they are found by looking ahead; a letter alone has neither a neighbour before nor after it.
WORD_OR_BIGRAM = re.compile(
    rf"(?=([{UNSPACED_CLASS}]{{2}}))[{UNSPACED_CLASS}]|(?<![{UNSPACED_CLASS}])[{UNSPACED_CLASS}]|[^\W_{UNSPACED_CLASS}]+"
)
stem_of = Stemmer.Stemmer("porter", 0).stemWord


def stems_in_order(text: str) -> list[str]:
    """The stem of every word, "" for stop words."""
    words = [match[1] or match[0] for match in WORD_OR_BIGRAM.finditer(text.lower())]
    return ["" if word in STOP_WORDS or len(word) > MAX_CHARACTERS else stem_of(word) for word in words]
