"""Near-duplicates of synthetic and real pages, and the cost of finding them."""

import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidParameter
from scenthound.model import IntArray
from scenthound.text.tokenizer import WordScanner
from scenthound.web.near_duplicates import (
    MAX_CANDIDATES,
    MAX_WORDS,
    MIN_WORDS,
    NearDuplicates,
    fingerprint_of,
)
from scenthound.web.parse import parse_html
from shared_pages import pages_where
from slow_cases import few_of
from timing import cpu_cost_s


def words_of(*numbers: int) -> IntArray:
    return np.array(numbers, np.int32)


def fingerprint(words: IntArray) -> int:
    found = fingerprint_of(words)
    assert found is not None
    return found


def by_definition(words: list[int]) -> int:
    """The rule without any shortcut: each bit of each triple's hash counted on its own."""
    kept = [word for word in words if word]
    triples = set(zip(kept, kept[1:], kept[2:], strict=False))
    counts = [0] * 64
    for first, second, third in triples:
        mixed = (first * 0x9E3779B97F4A7C15 + second * 0x94D049BB133111EB + third * 0xD6E8FEB86659FD93) % 2**64
        mixed = (mixed ^ mixed >> 32) * 0xBF58476D1CE4E5B9 % 2**64
        mixed ^= mixed >> 32
        counts = [count + (mixed >> bit & 1) for bit, count in enumerate(counts)]
    return sum(1 << bit for bit, count in enumerate(counts) if 2 * count > len(triples))


@pytest.fixture(scope="module")
def articles(shared: Path) -> dict[str, IntArray]:
    """Every twentieth article and some chosen ones, by name, as words."""
    chosen = "Bahamas The_Bahamas Dove Pigeon Fossil Fossil_record "
    chosen += (
        "Soil Soil_science New_Zealand Music_of_New_Zealand Flag_of_India Flag_of_Hong_Kong 3rd_century 8th_century"
    )
    number = iter(range(10_000))

    def is_wanted(url: str) -> bool:
        return next(number) % 20 == 0 or name_of(url) in chosen.split()

    scanner = WordScanner()
    pages = pages_where(shared / "data/wpschools/pages.jsonl.zst", is_wanted)
    return {name_of(url): parse_html(html, url, scanner).words for url, html in pages.items() if "/index/" not in url}


def name_of(url: str) -> str:
    return url.rpartition("/")[2].removesuffix(".htm")


@given(st.lists(st.integers(0, 9), min_size=150, max_size=600))
def test_the_fingerprint_follows_its_definition(words: list[int]) -> None:
    if sum(word != 0 for word in words) >= MIN_WORDS:
        assert fingerprint(words_of(*words)) == by_definition(words)


@given(
    st.lists(st.integers(0, 3), max_size=200) | st.lists(st.integers(0, 2**31 - 1), max_size=200), st.integers(3, 60)
)
def test_any_words_have_the_fingerprint_of_the_definition(words: list[int], min_words: int) -> None:
    expected = by_definition(words) if sum(word != 0 for word in words) >= min_words else None
    assert fingerprint_of(words_of(*words), min_words) == expected


def test_a_page_of_many_words_has_the_fingerprint_of_the_definition() -> None:
    words = np.random.default_rng(2).integers(0, 2**31 - 1, 3 * MAX_WORDS).astype(np.int32)
    assert fingerprint_of(words) == by_definition(words[words > 0][:MAX_WORDS].tolist())


def test_a_page_of_few_words_has_no_fingerprint() -> None:
    assert fingerprint_of(words_of(*range(1, MIN_WORDS))) is None
    assert fingerprint_of(words_of(*range(MIN_WORDS), *[0] * 100)) is None
    assert fingerprint_of(words_of(*range(1, MIN_WORDS + 1))) is not None


def test_stop_words_are_ignored_and_word_order_counts() -> None:
    words = list(range(1, 201))
    with_stop_words = [number for word in words for number in (0, word, 0)]
    assert fingerprint(words_of(*with_stop_words)) == fingerprint(words_of(*words))
    random.Random(1).shuffle(words)
    shuffled = fingerprint(words_of(*words))
    assert (shuffled ^ fingerprint(words_of(*range(1, 201)))).bit_count() > 10


@pytest.mark.parametrize("seed", few_of(range(10), 3))
def test_a_repeated_phrase_does_not_dominate(seed: int) -> None:
    rng = random.Random(seed)
    phrase = [rng.randrange(1, 100_000) for _ in range(30)]
    one, other = ([rng.randrange(1, 100_000) for _ in range(300)] for _ in range(2))
    # Of 330 distinct triples each, the pages share the 30 of the phrase, which occur 40 times.
    distance = (fingerprint(words_of(*phrase * 40, *one)) ^ fingerprint(words_of(*phrase * 40, *other))).bit_count()
    assert distance > 15
    assert fingerprint(words_of(*phrase * 40, *one)) == fingerprint(words_of(*phrase, *phrase, *one))


def test_only_the_start_of_a_very_long_page_counts() -> None:
    beginning = list(range(1, MAX_WORDS + 1))
    longer = fingerprint_of(words_of(*beginning, *[7] * 100_000))
    assert longer == fingerprint_of(words_of(*beginning)) is not None


@given(st.integers(0, 2**64 - 1), st.sets(st.integers(0, 63), max_size=6))
def test_a_page_is_found_up_to_three_bits_away_and_no_further(fingerprint: int, bits: set[int]) -> None:
    known = NearDuplicates()
    known.add(fingerprint, page=17)
    other = fingerprint ^ sum(1 << bit for bit in bits)
    assert known.find(other) == (17 if len(bits) <= 3 else None)


@pytest.mark.parametrize("block", range(4))
def test_one_block_in_common_is_enough(block: int) -> None:
    known = NearDuplicates()
    known.add(0x1234_5678_9ABC_DEF0, page=1)
    others = sum(1 << 16 * other for other in range(4) if other != block)
    assert known.find(0x1234_5678_9ABC_DEF0 ^ others) == 1


def test_the_maximum_distance_is_at_most_three() -> None:
    exact = NearDuplicates(max_distance=0)
    exact.add(0b1000, page=1)
    assert (exact.find(0b1000), exact.find(0b1001)) == (1, None)
    with pytest.raises(InvalidParameter, match="0 to 3 bits, not 4"):
        NearDuplicates(max_distance=4)


def test_a_page_is_found_among_many() -> None:
    rng = random.Random(2)
    fingerprints = [rng.getrandbits(64) for _ in range(20_000)]
    known = NearDuplicates()
    for page, one in enumerate(fingerprints):
        assert known.find(one) is None
        known.add(one, page)
    assert len(known) == 20_000
    for page in range(0, 20_000, 97):
        assert known.find(fingerprints[page] ^ 1 << page % 64 ^ 1 << page % 61) == page


def test_pages_that_share_a_block_cannot_make_lookups_slow() -> None:
    rng = random.Random(3)
    known = NearDuplicates()
    for page in range(20_000):
        known.add(rng.getrandbits(48) << 16 | 5, page)

    def find_many() -> None:
        for _ in range(1_000):
            known.find(rng.getrandbits(48) << 16 | 5)

    # Measured 0.02 ms each; all 20,000 would take 2 ms.
    assert cpu_cost_s(find_many, 0.5) < 0.5
    # Pages no longer compared for one block are found by another one.
    early = known._fingerprints[0]
    assert early & 0xFFFF == 5
    assert len(known) > MAX_CANDIDATES
    assert known.find(early ^ 0b11) == 0


@pytest.mark.parametrize(
    ("name", "copy"),
    [
        ("Bahamas", "The_Bahamas"),
        ("Dove", "Pigeon"),
        ("Fossil", "Fossil_record"),
    ],
)
def test_real_copies_are_found(articles: dict[str, IntArray], name: str, copy: str) -> None:
    known = NearDuplicates()
    known.add(fingerprint(articles[name]), page=1)
    assert known.find(fingerprint(articles[copy])) == 1


def test_different_articles_on_one_subject_are_no_near_duplicates(articles: dict[str, IntArray]) -> None:
    known = NearDuplicates()
    names = list(articles)
    found = {}
    for page, name in enumerate(names):
        mark = fingerprint_of(articles[name])
        if mark is None:
            continue
        if (earlier := known.find(mark)) is not None:
            found[name] = names[earlier]
        else:
            known.add(mark, page)
    # Nothing but the copies above: not Soil and Soil science, not New Zealand and its music, not the flags.
    assert found == {"The_Bahamas": "Bahamas", "Pigeon": "Dove", "Fossil_record": "Fossil"}
    assert len(known) > 250


def test_pages_that_differ_in_a_date_are_near_duplicates(articles: dict[str, IntArray]) -> None:
    rng = random.Random(4)
    found, judged = 0, 0
    for words in articles.values():
        if np.count_nonzero(words) < 300:
            continue
        known = NearDuplicates()
        known.add(fingerprint(words), page=1)
        changed = words.copy()
        at = rng.randrange(len(words) - 3)
        # Three words in a row, as a date has, become three that were never seen.
        changed[at : at + 3] = (10_000_001, 10_000_002, 10_000_003)
        judged += 1
        found += known.find(fingerprint(changed)) == 1
    assert judged > 200
    assert found / judged > 0.8


def test_pages_that_differ_in_a_clock_are_near_duplicates() -> None:
    body = " ".join(f"word{number} tells of thing{number % 37}" for number in range(400))
    page = f"<title>News</title><p>{body}</p><footer>12 Nov 2026 10:15, visitor 1042</footer>"
    scanner = WordScanner()
    known = NearDuplicates()
    known.add(fingerprint(parse_html(page, "http://a/", scanner).words), page=3)
    again = re.sub("12 Nov 2026 10:15, visitor 1042", "13 Nov 2026 07:59, visitor 1377", page)
    assert known.find(fingerprint(parse_html(again, "http://a/", scanner).words)) == 3


def test_time_and_memory_per_page() -> None:
    words = np.random.default_rng(5).integers(0, 5_000, 2_000).astype(np.int32)
    fingerprint_of(words)

    def many_fingerprints() -> None:
        for _ in range(500):
            fingerprint_of(words)

    # Measured 9 microseconds each.
    assert cpu_cost_s(many_fingerprints, 0.5) < 0.5
