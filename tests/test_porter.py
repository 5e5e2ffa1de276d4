"""The stemmer in C: its stems are those of PyStemmer."""

import itertools
import re
from pathlib import Path

import orjson
import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from scenthound.files import opened
from scenthound.native._native import stem_word

#: All suffixes that are removed or replaced, and what is left of some.
SUFFIXES = """
sses ies ss s eed ed ing at bl iz bb dd ff gg ll mm nn pp rr tt zz y ational tional enci anci abli entli eli izer
ization ation ator alli alism aliti fulness ousli ousness iveness iviti biliti alize icate iciti ical ative ful ness
al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize ion sion tion e l
"""
LETTERS = st.text("aeiouybcdlstwxz", max_size=5) | st.text("aey9\u00e9\u044f\u8a9e\U00010428bt", max_size=6)
WORDS = st.tuples(LETTERS, st.lists(st.sampled_from(SUFFIXES.split()), max_size=3)).map(
    lambda parts: parts[0] + "".join(parts[1])
)
MAX_CHARACTERS = 40
N_PAGES = 400

stem_of = Stemmer.Stemmer("porter", 0).stemWord


def stemmed(word: str) -> str:
    return stem_word(word.encode()).decode()


@given(WORDS)
def test_any_word_has_the_stem_of_the_library(word: str) -> None:
    assert stemmed(word) == stem_of(word)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_short_words_have_the_stems_of_the_library(length: int) -> None:
    for letters in itertools.product("abegilnsty\u00e97", repeat=length):
        word = "".join(letters)
        assert stemmed(word) == stem_of(word)


def test_a_word_may_have_four_bytes_for_each_character() -> None:
    word = "\U00010428" * MAX_CHARACTERS
    assert stemmed(word) == word
    with pytest.raises(ValueError, match="too long"):
        stem_word(b"a" * 161)


@pytest.mark.parametrize("collection", ["wpschools", "mdn", "debdocs", "nlab"])
def test_words_of_real_pages_have_the_stems_of_the_library(shared: Path, collection: str) -> None:
    files = sorted((shared / "data" / collection).glob("pages*.jsonl.zst"))
    if not files:
        pytest.skip(f"the collection {collection} was not found in ../shared/data")
    words: set[str] = set()
    with opened(files[0]) as pages:
        for line in itertools.islice(pages.content, N_PAGES):
            words.update(re.findall(r"[^\W_]+", orjson.loads(line)["html"].lower()))
    words = {word for word in words if len(word) <= MAX_CHARACTERS}
    assert len(words) > 1_000
    assert {word: stemmed(word) for word in words} == {word: stem_of(word) for word in words}
