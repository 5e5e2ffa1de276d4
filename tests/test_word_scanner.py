"""The vocabulary of a scanner: it numbers stems in order, stays small, and refuses what it cannot read."""

import itertools
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.words import stems_in_order
from scenthound.native import _native
from scenthound.text import tokenizer
from scenthound.text.scripts import is_unspaced, letter_table
from scenthound.text.tokenizer import STOP, WordScanner
from timing import cpu_cost_s, cpu_ratio

NO_BYTE_CUTS = np.zeros(0, np.uint32)
WORDS = st.text("abcesy0\u00e9\u00c9\u71b1\u6c17\u0e01\u0e35\U00010400", min_size=1, max_size=9)
N_STEMS = 200_000


def letters_of(number: int) -> str:
    return "".join("bcdfghjklm"[int(digit)] for digit in str(number))


@given(st.lists(st.lists(WORDS, max_size=60).map(" ".join), max_size=6))
def test_stems_are_numbered_in_order_of_first_appearance(texts: list[str]) -> None:
    scanner, numbers = WordScanner(), {"": STOP}
    for text in [*texts, *texts]:
        stems = stems_in_order(text)
        words = scanner.scan(text)
        assert words.tolist() == [numbers.setdefault(stem, len(numbers)) for stem in stems]
        assert scanner.count_unspaced(words) == sum(map(is_unspaced, stems))
        assert scanner.find_words(text.split()).tolist() == [
            numbers.setdefault(stem, len(numbers)) for stem in text.split()
        ]
    assert scanner.stems_from(0) == list(numbers)
    assert scanner.n_words == len(numbers)
    assert [scanner.stem(number) for number in range(scanner.n_words)] == list(numbers)


def test_every_scanner_has_a_secret_of_its_own_which_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(f"word{number % 700}" for number in range(3_000))
    words = WordScanner().scan(text).tolist()
    for secret in (0, 2**64 - 1):
        monkeypatch.setattr(tokenizer.secrets, "randbits", lambda n_bits, secret=secret: secret % 2**n_bits)
        assert WordScanner().scan(text).tolist() == words
    drawn: list[int] = []
    monkeypatch.setattr(tokenizer.secrets, "randbits", lambda n_bits: drawn.append(n_bits) or 7)
    WordScanner()
    assert drawn == [64]


def test_many_words_keep_their_numbers_while_the_tables_grow() -> None:
    vocabulary, rng = WordScanner(), random.Random(4)
    numbers: dict[str, int] = {}
    for _ in range(40):
        words = [f"{letters_of(rng.randrange(20_000))}9" for _ in range(1_000)]
        for word in words:
            numbers.setdefault(word, len(numbers) + 1)
        assert vocabulary.scan(" ".join(words)).tolist() == [numbers[word] for word in words]
    assert vocabulary.stems_from(1) == list(numbers)


def test_a_loaded_vocabulary_continues_where_the_saved_one_ended() -> None:
    saved, loaded = WordScanner(), WordScanner()
    saved.scan("The caf\u00e9s of \u71b1\u6c17\u7403 balloonists, dogs")
    stems = saved.stems_from(0)
    # In the batches of two commits.
    for part in (stems[:3], stems[3:]):
        loaded.load(["\n".join(part).encode()])
    assert loaded.stems_from(0) == stems
    text = "cats and dogs in caf\u00e9s"
    assert loaded.scan(text).tolist() == saved.scan(text).tolist()


def test_any_text_can_be_a_stem() -> None:
    words = WordScanner()
    stems = ["", "dog", "\udc80", "x" * 1_000, "two words", "\u71b1", "dog", ""]
    assert words.find_words(stems).tolist() == [STOP, 1, 2, 3, 4, 5, 1, STOP]
    assert words.stems_from(0) == ["", "dog", "\udc80", "x" * 1_000, "two words", "\u71b1"]
    assert words.stems_from(1, 2) == ["dog", "\udc80"]
    assert words.stems_from(5, 9) == ["\u71b1"]
    assert words.stems_from(6) == words.stems_from(100) == words.stems_from(1, 0) == []
    assert words.find_words([]).tolist() == []


def test_stems_are_looked_up_without_adding_them() -> None:
    words = WordScanner()
    words.find_words(["dog", "\udc80", "\u71b1"])
    assert words.look_up(["\u71b1", "cat", "", "dog", "\udc80", "do"]).tolist() == [3, STOP, STOP, 1, 2, STOP]
    assert words.n_words == 4


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_stems_of_another_vocabulary_are_looked_up(seed: int) -> None:
    rng = random.Random(seed)
    known, other = WordScanner(), WordScanner()
    known.find_words([letters_of(rng.randrange(2_000)) for _ in range(1_000)])
    other.find_words(["", *(letters_of(rng.randrange(4_000)) for _ in range(1_000))])
    n_known, stems = known.n_words, other.stems_from(0)
    found = known.look_up_from(other, 0, len(stems)).tolist()
    assert found == known.look_up(stems).tolist()
    assert 100 < sum(number != STOP for number in found) < 900
    assert known.look_up_from(other, 7, 70).tolist() == found[7:77]
    assert known.look_up_from(other, len(stems), 5).tolist() == known.look_up_from(other, 2**40, 5).tolist() == []
    assert known.n_words == n_known
    with pytest.raises(IndexError):
        known.look_up_from(other, -1, 5)


def test_a_stem_takes_few_bytes_and_little_time_to_load() -> None:
    stems = "\n".join(f"{letters_of(number)}x" for number in range(N_STEMS)).encode()
    vocabulary = WordScanner()

    def load() -> None:
        WordScanner().load([stems])

    vocabulary.load([stems])
    assert vocabulary.n_words == N_STEMS + 1
    # Measured 20 bytes besides the text, and 0.02 s.
    assert vocabulary.n_bytes() < len(stems) + 24 * N_STEMS
    assert cpu_cost_s(load, 0.5) < 0.5
    # Each word once more, by its hash: measured 20 bytes.
    vocabulary.scan_utf_8(stems, NO_BYTE_CUTS)
    assert vocabulary.n_bytes() < len(stems) + 48 * N_STEMS


@pytest.mark.parametrize(
    "unit", ["x", "x ", "\u00e9", "\u71b1", "x\u71b1", "\u00ad", "\u00ad\u71b1", "a\u00ad", "\u03a3", "aB\u00e9"]
)
def test_time_is_proportional_to_the_length_of_the_text(unit: str) -> None:
    vocabulary = WordScanner()
    large = (unit * (800_000 // len(unit))).encode()
    small = (unit * (100_000 // len(unit))).encode()

    def scan(text: bytes, times: int) -> None:
        for _ in range(times):
            vocabulary.scan_utf_8(text, NO_BYTE_CUTS)

    assert cpu_ratio(lambda: scan(large, 2), lambda: scan(small, 16), 3) < 3


def test_as_many_words_as_bytes_allow_are_found() -> None:
    # Every second byte is a word, and so is each part between cuts.
    for text, cuts in (
        (b"x9 " * 5 + b"z", range(0)),
        (b"xy" * 50, range(100)),
        (b"q" * 7, [0, 1, 1, 2, 3, 4, 5, 6, 7, 7]),
    ):
        words, before = WordScanner().scan_utf_8(text, np.array(cuts, np.uint32))
        parts = [text[start:end] for start, end in itertools.pairwise([0, *cuts, len(text)])]
        assert len(words) == sum(len(part.split()) for part in parts)
        assert len(before) == len(cuts)


@pytest.mark.parametrize("cuts", [[1, 0], [4], [0, 5], [2**32 - 1]])
def test_cuts_that_are_no_ascending_positions_are_refused(cuts: list[int]) -> None:
    with pytest.raises(ValueError, match="ascending"):
        WordScanner().scan_utf_8(b"dog", np.array(cuts, np.uint32))


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float64])
def test_arrays_of_other_numbers_are_refused(dtype: type[np.number]) -> None:
    vocabulary = _native.Vocabulary(1, letter_table().tobytes(), b"")
    array = np.zeros(8, dtype)
    for use in (
        lambda: vocabulary.scan(b"dog", array),
        lambda: vocabulary.count_unspaced(array),
        lambda: _native.squared_norm(array),
        lambda: _native.simhash(array, 10, np.ones(4, np.uint64)),
        lambda: _native.total_weight(array, np.ones(1)),
    ):
        with pytest.raises(ValueError, match="not an array"):
            use()


def test_strided_arrays_are_refused() -> None:
    with pytest.raises(ValueError, match="contiguous"):
        _native.squared_norm(np.zeros(8, np.int32)[::2])


def test_word_statistics_refuse_what_they_cannot_count() -> None:
    words = np.ones(3, np.int32)
    for factors, max_words in (
        (np.ones(3, np.uint64), 10),
        (np.ones(4, np.uint64), -1),
        (np.ones(4, np.uint64), 1 << 24),
    ):
        with pytest.raises(ValueError, match="factors"):
            _native.simhash(words, max_words, factors)
    with pytest.raises(ValueError, match="weight"):
        _native.total_weight(words, np.zeros(0))
    assert _native.total_weight(np.array([-5, 2], np.int32), np.array([1.0, 2.0])) == 3.0


def test_numbers_of_no_word_are_refused() -> None:
    vocabulary = WordScanner()
    vocabulary.find_words(["\u71b1"])
    for number in (-1, 2, 2**40):
        with pytest.raises(IndexError):
            vocabulary.stem(number)
    with pytest.raises(IndexError):
        vocabulary.stems_from(-1)
    with pytest.raises(TypeError):
        vocabulary._vocabulary.look_up_from("no vocabulary", 0, 1)
    for number in (-1, 2):
        with pytest.raises(ValueError, match="no word"):
            vocabulary.count_unspaced(np.array([number], np.int32))


def test_a_table_that_is_not_one_of_letters_is_refused() -> None:
    letters = letter_table()
    swapped = letters.copy()
    swapped[ord("a")] = 0
    marked = letters.copy()
    marked[0x7FF] |= 1 << 31
    for table in (b"", letters[:0x100].tobytes(), swapped.tobytes(), marked.tobytes()):
        with pytest.raises(ValueError, match="letters"):
            _native.Vocabulary(1, table, b"")


FULL_MEMORY = """
import resource
import sys

import numpy as np

from scenthound.text.tokenizer import WordScanner

vocabulary = WordScanner()
vocabulary.scan("dog cat")
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (48 << 20), resource.RLIM_INFINITY))
n_known = 0
try:
    for first in range(0, 10**7, 2_000):
        text = " ".join(f"x{number:x}z" for number in range(first, first + 2_000)).encode()
        vocabulary.scan_utf_8(text, np.zeros(0, np.uint32))
        n_known = vocabulary.n_words
except MemoryError:
    words = vocabulary.scan("cat dog x1z")
    print(n_known > 100_000, words.tolist(), vocabulary.stem(2), vocabulary.n_words >= n_known)
try:
    vocabulary.load([b"new\\n" * 20_000_000])
except MemoryError:
    print(vocabulary.find_words(["cat"]).tolist())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of Linux")
def test_without_memory_words_fail_and_those_before_stay() -> None:
    done = subprocess.run([sys.executable, "-c", FULL_MEMORY], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines() == ["True [2, 1, 4] cat True", "[2]"]
