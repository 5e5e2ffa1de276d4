"""The tokenizer: words, stop words, stems, and equal results of all implementations."""

import itertools
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound import native
from scenthound.files import opened
from scenthound.model import IntArray, LongArray
from scenthound.text import word_lookup
from scenthound.text.scripts import FIRST_UNSPACED, UNSPACED, mark_unspaced
from scenthound.text.stop_words import STOP_WORDS
from scenthound.text.tokenizer import WordScanner, plain_words, stems_of
from scenthound.text.vocabulary import STOP, PlainVocabulary
from scenthound.text.word_table import ABSENT, HashArray, WordTable
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


@pytest.fixture(params=["plain", "native"], autouse=True, scope="module")
def implementation(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test runs with both vocabularies."""
    if request.param == "native" and not native.is_available():
        pytest.skip("needs the extension in C")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "is_available", lambda: request.param == "native")
        yield


def scanned(scanner: WordScanner, text: str) -> list[str]:
    return [scanner.stem(number) for number in scanner.scan(text).tolist()]


def test_words_are_lower_cased_and_stemmed_and_stop_words_keep_their_position() -> None:
    assert plain_words("The crawlers were crawling; a CRAWL!") == ["", "crawler", "", "crawl", "", "crawl"]


def test_stems_of_omits_stop_words() -> None:
    assert stems_of("The crawlers were crawling") == ["crawler", "crawl"]


def test_stems_of_omits_single_letters_of_scripts_without_spaces() -> None:
    assert stems_of("山 熱気球 A型 3 я") == ["熱気", "気球", "3", "я"]


def test_the_porter_stemmer_of_the_papers_is_used() -> None:
    assert stems_of("relational ponies generously skies") == ["relat", "poni", "gener", "ski"]


def test_underscores_and_apostrophes_separate_words_and_digits_do_not() -> None:
    assert plain_words("snake_case don't ISO8601 3.14") == ["snake", "case", "", "", "iso8601", "3", "14"]


def test_a_very_long_word_is_a_stop_word() -> None:
    assert plain_words("x" * 40 + " " + "x" * 41) == ["x" * 40, ""]
    assert scanned(WordScanner(), "x" * 40 + " " + "x" * 41 + " " + "y" * 100_000) == ["x" * 40, "", ""]


def test_letters_of_scripts_without_spaces_count_as_overlapping_bigrams() -> None:
    assert plain_words("熱気球の歴史。山") == ["熱気", "気球", "球の", "の歴", "歴史", "山"]
    assert plain_words("热气球 자전거를 カタカナー") == [
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
    assert plain_words("ที่ปีน") == ["ที", "ี่", "่ป", "ปี", "ีน"]
    assert plain_words("ខ្មែរ") == ["ខ្", "្ម", "មែ", "ែរ"]


def test_words_end_where_scripts_with_and_without_spaces_meet() -> None:
    assert plain_words("第3回Pythonの会") == ["第", "3", "回", "python", "の会"]
    assert plain_words("\uff21\uff22社") == ["\uff41\uff42", "社"]


def test_a_cut_separates_bigrams() -> None:
    scanner = WordScanner()
    words, before = scanner.scan_cut("熱気球の歴史", np.array([3, 3, 4], np.int64))
    assert [scanner.stem(number) for number in words.tolist()] == ["熱気", "気球", "の", "歴史"]
    assert before.tolist() == [2, 2, 3]


def test_the_ranges_of_unspaced_letters_have_all_letters_and_no_punctuation() -> None:
    marked = np.zeros(0x110000, np.uint32)
    mark_unspaced(marked)
    scripts = "CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "THAI", "LAO"
    for code in range(FIRST_UNSPACED, 0x40000):
        category = unicodedata.category(chr(code))
        is_letter = category[0] in "LM" and unicodedata.name(chr(code), "").startswith((*scripts, "KHMER", "MYANMAR"))
        assert bool(marked[code]) >= is_letter, hex(code)
        assert not marked[code] or (category[0] in "LMN" or category == "Cn"), hex(code)
    assert not marked[:FIRST_UNSPACED].any()


def test_stop_words_are_words_of_the_scanner() -> None:
    assert all(plain_words(word) == [""] for word in STOP_WORDS)
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


def test_numbers_do_not_depend_on_the_salt() -> None:
    text = " ".join(f"word{number % 700}" for number in range(3_000))
    assert WordScanner().scan(text).tolist() == WordScanner(salt=2**63 + 12345).scan(text).tolist()


def test_numbers_are_int32_even_for_an_empty_text() -> None:
    for text in ("", "...", "dog"):
        assert WordScanner().scan(text).dtype == np.int32
    assert len(WordScanner().scan("")) == 0


@given(st.lists(TEXTS, max_size=4))
def test_scan_equals_plain_words(texts: list[str]) -> None:
    scanner = WordScanner()
    for text in [*texts, *texts]:
        assert scanned(scanner, text) == plain_words(text)


@pytest.mark.parametrize(
    "text", ["İstanbul DİYARBAKIR", "ΟΔΟΣ ΣΑΣ. ΑΣ", "Straße STRASSE", "\u212a elvin", "e\u0301a", "٣٤ cm²"]
)
def test_special_lower_cases(text: str) -> None:
    assert scanned(WordScanner(), text) == plain_words(text)


@pytest.mark.parametrize("filler", ["ab ", "語。", "x", "Σ", "𐐀,", "語句", "ที่", "語x"])
def test_long_texts_are_not_split_within_words(filler: str) -> None:
    text = filler * (200_000 // len(filler)) + " the end"
    scanner = WordScanner()
    assert scanned(scanner, text) == plain_words(text)


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
    assert [scanner.stem(number) for number in words.tolist()] == [stem for part in parts for stem in plain_words(part)]
    assert before.tolist() == list(itertools.accumulate(len(plain_words(part)) for part in parts[:-1]))


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
        plain_words(text[start:end].decode("utf-8", "replace").replace("\xad", ""))
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
    expected = plain_words(text.decode("utf-8", "replace").replace("\xad", ""))
    assert [scanner.stem(number) for number in words.tolist()] == expected


def test_the_lower_case_of_every_character_is_that_of_python() -> None:
    table = word_lookup.letter_table(0x110000)
    for code in range(0, 0x110000, 7):
        lower = chr(code).lower()
        if not table[code] & UNSPACED:
            assert table[code] == (ord(lower) if len(lower) == 1 and lower.isalnum() else 0)
        else:
            assert (table[code] ^ UNSPACED, lower) == (code, chr(code))


def test_scan_equals_plain_words_on_real_pages(shared: Path) -> None:
    scanner = WordScanner()
    with opened(shared / "data" / "wpschools" / "pages.jsonl.zst") as pages:
        for line in itertools.islice(pages.content, 0, 60, 3):
            text = orjson.loads(line)["html"]
            assert scanned(scanner, text) == plain_words(text)


HASHES = st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 40), max_size=60)


@given(HASHES, HASHES)
def test_a_word_table_returns_what_was_put(first: set[int], second: set[int]) -> None:
    table = WordTable()
    known: dict[int, int] = {}
    for batch in (first, second - first):
        numbers = range(len(known), len(known) + len(batch))
        known.update(zip(batch, numbers, strict=True))
        table.put(np.array(list(batch), np.uint64), np.array(numbers, np.int32))
    hashes = [*known, *(hashed ^ 1 for hashed in known)]
    assert table.get(np.array(hashes, np.uint64)).tolist() == [known.get(hashed, ABSENT) for hashed in hashes]


def test_hashes_with_the_same_first_slot_are_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WordTable, "_first_slots", lambda _table, hashes: np.full(len(hashes), 4_000, np.int64))
    hashes = np.arange(500, dtype=np.uint64)
    table = WordTable()
    table.put(hashes, np.arange(500, dtype=np.int32))
    assert table.get(hashes).tolist() == list(range(500))
    assert table.get(np.array([500], np.uint64)).tolist() == [ABSENT]


LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
GOLDEN = 0x9E3779B97F4A7C15
N_HOSTILE = 12_000


def four_letters(number: int) -> str:
    return "".join(LETTERS[number // 36**position % 36] for position in (3, 2, 1, 0))


def four_letter_words(order: Callable[[HashArray], IntArray | LongArray]) -> str:
    """The first of all words of four letters, in some order of their hashes with the salt 0."""
    codes = np.array([ord(letter) for letter in LETTERS], np.uint64)
    hashes = np.zeros(1, np.uint64)
    for position in range(4):
        hashes = np.add.outer(hashes, codes * np.uint64(pow(GOLDEN, position, 2**64))).ravel()
    return " ".join(four_letters(number) for number in order(hashes)[:N_HOSTILE].tolist())


@pytest.mark.parametrize("salt", [None, 0])
def test_words_chosen_to_cluster_take_no_longer_than_others(salt: int | None) -> None:
    # Neighbours after multiplication by the constant: these would cluster in a table without a secret.
    crowding = four_letter_words(lambda hashes: np.argsort(hashes * np.uint64(GOLDEN)))
    others = four_letter_words(lambda hashes: np.random.default_rng(0).permutation(len(hashes)))

    def scan_twice(text: str) -> None:
        scanner = WordScanner(salt)
        assert len(set(scanner.scan(text).tolist())) > 0.9 * N_HOSTILE
        scanner.scan(text)

    # Clustered, they took a hundred times as long.
    assert cpu_ratio(lambda: scan_twice(crowding), lambda: scan_twice(others), 5) < 5


@pytest.mark.parametrize("factor", [1, 1 << 32, 1 << 50, GOLDEN, pow(GOLDEN, -1, 2**64)])
def test_evenly_spaced_hashes_take_no_longer_than_others(factor: int) -> None:
    def put_and_get(hashes: HashArray) -> None:
        table = WordTable()
        table.put(hashes, np.arange(len(hashes), dtype=np.int32))
        assert table.get(hashes).tolist() == list(range(len(hashes)))

    spaced = np.arange(N_HOSTILE, dtype=np.uint64) * np.uint64(factor)
    others = np.random.default_rng(0).integers(0, 2**64, N_HOSTILE, np.uint64)
    assert cpu_ratio(lambda: put_and_get(spaced), lambda: put_and_get(others), 5) < 5


def test_no_two_scanners_have_the_same_secrets() -> None:
    def hashes(scanner: WordScanner) -> int:
        vocabulary = scanner._vocabulary
        if not isinstance(vocabulary, PlainVocabulary):
            pytest.skip("the secrets of the extension cannot be read")
        return int(vocabulary._lookup.find("word", np.zeros(0, np.int64))[0].hashes[0])

    assert len({hashes(WordScanner()) for _ in range(20)}) == 20
    assert hashes(WordScanner(7)) == hashes(WordScanner(7))
    wanted = {int(WordTable()._first_slots(np.array([1], np.uint64))[0]) for _ in range(20)}
    assert len(wanted) > 1
