"""The tokenizer: words, stop words, stems, and the words of the slow version."""

import itertools
import unicodedata
from collections.abc import Callable
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.words import stems_in_order
from scenthound.files import opened
from scenthound.text.scripts import FIRST_UNSPACED, UNSPACED, letter_table
from scenthound.text.stop_words import STOP_WORDS
from scenthound.text.tokenizer import STOP, WordScanner, stems_of
from timing import cpu_ratio

# Characters where lower case, letters and digits have their surprises, among common ones.
UNUSUAL = (
    "\u0130\u0131Ii\u00df\u1e9e\u212aKk\u212b\u03a3\u03c3\u03c2\u01c5\ufb01\u0307\u0301\u0345_-'\u2019\u00ad\u200b"
    "\u0663\u0969\u00b2\u00bd\u2167\u8a9e\u3002\U00010400\U0001d7d8\ud800\udfff\x00\x01\x02 \n\t.aAbB09"
)
# Letters of scripts without spaces, with marks and neighbours of their ranges, among others.
UNSPACED_LETTERS = (
    "\u71b1\u6c17\u7403\u3042\u30a2\u30fc\u3005\u3007\uff71\uff9e\u3099\u0e01\u0e35\u0e48\u0e40\u0e50\u0e82\u0eb4\u1780\u17b7\u1019"
    "\u103c\uac00\ud7a3\u1112\u3105\U00020000\U0003fffd"
)
MIXED = UNSPACED_LETTERS + "\u30fb\u3001\u3002\u0e3f\u0e4f\u3000\u200b\uff21\u3231\u03a3\u0130 -aB9é_"
TEXTS = st.one_of(
    st.text(max_size=200),
    st.text(st.sampled_from(UNUSUAL), max_size=200),
    st.text("ab -", max_size=300),
    st.text(st.sampled_from(MIXED), max_size=200),
)


def scanned(scanner: WordScanner, text: str) -> list[str]:
    return [scanner.stem(number) for number in scanner.scan(text).tolist()]


def words_of(text: str) -> list[str]:
    return scanned(WordScanner(), text)


def test_words_are_lower_cased_and_stemmed_and_stop_words_keep_their_position() -> None:
    assert words_of("The crawlers were crawling; a CRAWL!") == ["", "crawler", "", "crawl", "", "crawl"]


def test_stems_of_omits_stop_words() -> None:
    assert stems_of("The crawlers were crawling") == ["crawler", "crawl"]


def test_stems_of_omits_single_letters_of_scripts_without_spaces() -> None:
    assert stems_of("山 熱気球 A型 3 я") == ["熱気", "気球", "3", "я"]


def test_the_porter_stemmer_of_the_papers_is_used() -> None:
    assert stems_of("relational ponies generously skies") == ["relat", "poni", "gener", "ski"]


def test_underscores_and_apostrophes_separate_words_and_digits_do_not() -> None:
    assert words_of("snake_case don't ISO8601 3.14") == ["snake", "case", "", "", "iso8601", "3", "14"]


def test_a_very_long_word_is_a_stop_word() -> None:
    assert words_of("x" * 40 + " " + "x" * 41) == ["x" * 40, ""]
    assert words_of("y" * 100_000) == [""]


def test_letters_of_scripts_without_spaces_count_as_overlapping_bigrams() -> None:
    assert words_of("熱気球の歴史。山") == ["熱気", "気球", "球の", "の歴", "歴史", "山"]
    assert words_of("热气球 자전거를 カタカナー") == [
        "热气",
        "气球",
        "자전",
        "전거",
        "거를",
        "カタ",
        "タカ",
        "カナ",
        "ナー",
    ]


def test_vowel_signs_do_not_split_words() -> None:
    assert words_of("ที่ปีน") == ["ที", "ี่", "่ป", "ปี", "ีน"]
    assert words_of("ខ្មែរ") == ["ខ្", "្ម", "មែ", "ែរ"]


def test_words_end_where_scripts_with_and_without_spaces_meet() -> None:
    assert words_of("第3回Pythonの会") == ["第", "3", "回", "python", "の会"]
    assert words_of("\uff21\uff22社") == ["\uff41\uff42", "社"]


def test_a_cut_separates_bigrams() -> None:
    scanner = WordScanner()
    words, before = scanner.scan_cut("熱気球の歴史", np.array([3, 3, 4], np.int64))
    assert [scanner.stem(number) for number in words.tolist()] == ["熱気", "気球", "の", "歴史"]
    assert before.tolist() == [2, 2, 3]


def test_the_ranges_of_unspaced_letters_have_all_letters_and_no_punctuation() -> None:
    marked = letter_table() & np.uint32(UNSPACED)
    scripts = "CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "THAI", "LAO"
    for code in range(FIRST_UNSPACED, 0x40000):
        category = unicodedata.category(chr(code))
        is_letter = category[0] in "LM" and unicodedata.name(chr(code), "").startswith((*scripts, "KHMER", "MYANMAR"))
        assert bool(marked[code]) >= is_letter, hex(code)
        assert not marked[code] or (category[0] in "LMN" or category == "Cn"), hex(code)
    assert not marked[:FIRST_UNSPACED].any()


def test_stop_words_are_words_of_the_scanner() -> None:
    assert all(words_of(word) == [""] for word in STOP_WORDS)
    assert 250 <= len(STOP_WORDS) <= 420
    assert set("abcdefghijklmnopqrstuvwxyz") <= STOP_WORDS
    assert STOP_WORDS.isdisjoint({"computer", "music", "history", "web", "crawler", "world", "war"})


def test_stems_are_numbered_in_order_of_first_appearance() -> None:
    scanner = WordScanner()
    assert scanner.scan("dogs and cats, cat and dog").tolist() == [1, STOP, 2, 2, STOP, 1]
    assert scanner.scan("bird dog").tolist() == [3, 1]
    assert scanner.stems_from(0) == ["", "dog", "cat", "bird"]


def test_every_scanner_has_a_vocabulary_of_its_own() -> None:
    first, second = WordScanner(), WordScanner()
    first.scan("dog")
    second.scan("cat")
    assert (first.stems_from(0), second.stems_from(0)) == (["", "dog"], ["", "cat"])


def test_numbers_are_int32_even_for_an_empty_text() -> None:
    for text in ("", "...", "dog"):
        assert WordScanner().scan(text).dtype == np.int32
    assert len(WordScanner().scan("")) == 0


@given(st.lists(TEXTS, max_size=4))
def test_scan_equals_stems_in_order(texts: list[str]) -> None:
    scanner = WordScanner()
    for text in [*texts, *texts]:
        assert scanned(scanner, text) == stems_in_order(text)


@pytest.mark.parametrize(
    "text", ["İstanbul DİYARBAKIR", "ΟΔΟΣ ΣΑΣ. ΑΣ", "Straße STRASSE", "\u212a elvin", "e\u0301a", "٣٤ cm²"]
)
def test_special_lower_cases(text: str) -> None:
    assert scanned(WordScanner(), text) == stems_in_order(text)


@pytest.mark.parametrize("filler", ["ab ", "語。", "x", "Σ", "𐐀,", "語句", "ที่", "語x"])
def test_long_texts_are_not_split_within_words(filler: str) -> None:
    text = filler * (200_000 // len(filler)) + " the end"
    scanner = WordScanner()
    assert scanned(scanner, text) == stems_in_order(text)


def test_many_thousand_words_have_distinct_numbers() -> None:
    words = [f"w{number}q" for number in range(30_000)]
    scanner = WordScanner()
    scanner.scan(" ".join(words))
    assert scanner.scan(" ".join(words)).tolist() == list(range(1, 30_001))


def words_before(text: str, cuts: list[int]) -> list[int]:
    return WordScanner().scan_cut(text, np.array(cuts, np.int64))[1].tolist()


def test_scan_cut_counts_the_words_before_each_cut() -> None:
    # one|.|two three: the words start at 0, 4 and 8.
    assert words_before("one two three", [0, 3, 4, 8, 13]) == [0, 1, 1, 2, 3]
    assert words_before("", [0, 0]) == [0, 0]


def test_repeated_cuts_split_a_word_once() -> None:
    scanner = WordScanner()
    words, before = scanner.scan_cut("redkites bird", np.array([3, 3, 8, 13], np.int64))
    assert [scanner.stem(number) for number in words.tolist()] == ["red", "kite", "bird"]
    assert before.tolist() == [1, 1, 2, 3]
    assert before.dtype == np.int32


def test_a_cut_splits_a_word_that_is_too_long() -> None:
    scanner = WordScanner()
    words, _ = scanner.scan_cut("x" * 60, np.array([30], np.int64))
    assert [scanner.stem(number) for number in words.tolist()] == ["x" * 30, "x" * 30]


def test_cuts_of_a_long_text_count_the_words_of_all_pieces() -> None:
    text = "dog cats " * 25_000
    # Behind each "dog", and within each "cats".
    cuts = [9 * number + position for number in range(25_000) for position in (3, 6)]
    assert words_before(text, cuts) == [3 * number + position for number in range(25_000) for position in (1, 2)]


@given(
    st.text(st.sampled_from("abS \u00e9\u0130\u03a3\u03b1\u71b1\u6c17\u7403"), max_size=40),
    st.lists(st.integers(0, 40), max_size=6),
)
def test_a_text_with_cuts_is_scanned_like_its_parts(text: str, anywhere: list[int]) -> None:
    cuts = sorted(min(cut, len(text)) for cut in anywhere)
    parts = [text[start:end] for start, end in itertools.pairwise([0, *cuts, len(text)])]
    scanner = WordScanner()
    words, before = scanner.scan_cut(text, np.array(cuts, np.int64))
    assert [scanner.stem(number) for number in words.tolist()] == [
        stem for part in parts for stem in stems_in_order(part)
    ]
    assert before.tolist() == list(itertools.accumulate(len(stems_in_order(part)) for part in parts[:-1]))


@given(
    st.lists(
        st.sampled_from(
            [b"a", b"B7", b" ", b"\xc3\xa9", b"\xe8\xaa\x9e", b"\xc2\xad", b"\xce\xa3", b"\xe2", b"\x80", b"\xf0"]
        )
    ),
    st.lists(st.integers(0, 60), max_size=6),
)
def test_bytes_are_scanned_like_their_parts_without_soft_hyphens(pieces: list[bytes], anywhere: list[int]) -> None:
    text = b"".join(pieces)
    cuts = sorted(min(cut, len(text)) for cut in anywhere)
    parts = [
        stems_in_order(text[start:end].decode("utf-8", "replace").replace("\xad", ""))
        for start, end in itertools.pairwise([0, *cuts, len(text)])
    ]
    scanner = WordScanner()
    for _ in range(2):
        words, before = scanner.scan_utf_8(text, np.array(cuts, np.uint32))
        assert [scanner.stem(number) for number in words.tolist()] == list(itertools.chain(*parts))
        assert before.tolist() == list(itertools.accumulate(map(len, parts[:-1])))


@given(st.binary(max_size=60))
def test_any_bytes_are_scanned_like_their_text(text: bytes) -> None:
    scanner = WordScanner()
    words, _ = scanner.scan_utf_8(text, np.zeros(0, np.uint32))
    expected = stems_in_order(text.decode("utf-8", "replace").replace("\xad", ""))
    assert [scanner.stem(number) for number in words.tolist()] == expected


def test_the_lower_case_of_every_character_is_that_of_python() -> None:
    table = letter_table()
    for code in range(0, len(table), 7):
        lower = chr(code).lower()
        if not table[code] & UNSPACED:
            assert table[code] == (ord(lower) if len(lower) == 1 and lower.isalnum() else 0)
        else:
            assert (table[code] ^ UNSPACED, lower) == (code, chr(code))


def test_scan_equals_the_slow_version_on_real_pages(shared: Path) -> None:
    scanner = WordScanner()
    with opened(shared / "data" / "wpschools" / "pages.jsonl.zst") as pages:
        for line in itertools.islice(pages.content, 0, 60, 3):
            text = orjson.loads(line)["html"]
            assert scanned(scanner, text) == stems_in_order(text)


LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
GOLDEN = 0x9E3779B97F4A7C15
N_HOSTILE = 12_000


def four_letters(number: int) -> str:
    return "".join(LETTERS[number // 36**position % 36] for position in (3, 2, 1, 0))


def four_letter_words(order: Callable[[np.ndarray], np.ndarray]) -> str:
    """The first of all words of four letters, in some order of a polynomial of their letters."""
    codes = np.array([ord(letter) for letter in LETTERS], np.uint64)
    hashes = np.zeros(1, np.uint64)
    for position in range(4):
        hashes = np.add.outer(hashes, codes * np.uint64(pow(GOLDEN, position, 2**64))).ravel()
    return " ".join(four_letters(number) for number in order(hashes)[:N_HOSTILE].tolist())


def test_words_chosen_to_cluster_take_no_longer_than_others() -> None:
    # Neighbours after multiplication by the constant: these would cluster in a table without a secret.
    crowding = four_letter_words(lambda hashes: np.argsort(hashes * np.uint64(GOLDEN)))
    others = four_letter_words(lambda hashes: np.random.default_rng(0).permutation(len(hashes)))

    def scan_twice(text: str) -> None:
        scanner = WordScanner()
        assert len(set(scanner.scan(text).tolist())) > 0.9 * N_HOSTILE
        scanner.scan(text)

    # Clustered, they took a hundred times as long.
    assert cpu_ratio(lambda: scan_twice(crowding), lambda: scan_twice(others), 5) < 5
