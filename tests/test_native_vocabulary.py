"""The vocabulary in C: it agrees with the plain one, stays small, and refuses what it cannot read."""

import itertools
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scenthound.native
from scenthound.text.tokenizer import WordScanner
from scenthound.text.vocabulary import STOP, NativeVocabulary, PlainVocabulary
from timing import cpu_cost_s, cpu_ratio

pytest.importorskip("native_code")

from scenthound.native import _native

NO_CUTS = np.zeros(0, np.int64)
NO_BYTE_CUTS = np.zeros(0, np.uint32)
WORDS = st.text("abcesy0\u00e9\u00c9\u71b1\u6c17\u0e01\u0e35\U00010400", min_size=1, max_size=9)
N_STEMS = 200_000


def letters_of(number: int) -> str:
    return "".join("bcdfghjklm"[int(digit)] for digit in str(number))


@settings(max_examples=30)
@given(st.lists(st.lists(WORDS, max_size=60).map(" ".join), max_size=6))
def test_both_vocabularies_number_the_same_stems(texts: list[str]) -> None:
    native, plain = NativeVocabulary(1), PlainVocabulary(2)
    for text in [*texts, *texts]:
        words = native.scan(text, NO_CUTS)[0]
        assert words.tolist() == plain.scan(text, NO_CUTS)[0].tolist()
        assert native.count_unspaced(words) == plain.count_unspaced(words)
        assert native.find(text.split()).tolist() == plain.find(text.split()).tolist()
    assert native.stems_from(0) == plain.stems_from(0)
    assert len(native) == len(plain)
    assert [native.stem(number) for number in range(len(native))] == plain.stems_from(0)


def test_many_words_keep_their_numbers_while_the_tables_grow() -> None:
    vocabulary, rng = NativeVocabulary(3), random.Random(4)
    numbers: dict[str, int] = {}
    for _ in range(40):
        words = [f"{letters_of(rng.randrange(20_000))}9" for _ in range(1_000)]
        for word in words:
            numbers.setdefault(word, len(numbers) + 1)
        assert vocabulary.scan(" ".join(words), NO_CUTS)[0].tolist() == [numbers[word] for word in words]
    assert vocabulary.stems_from(1) == list(numbers)


def test_a_loaded_vocabulary_continues_where_the_saved_one_ended() -> None:
    for loaded in (NativeVocabulary(1), PlainVocabulary(1)):
        saved = NativeVocabulary(2)
        saved.scan("The caf\u00e9s of \u71b1\u6c17\u7403 balloonists, dogs", NO_CUTS)
        stems = saved.stems_from(0)
        # In the batches of two commits.
        for part in (stems[:3], stems[3:]):
            loaded.load("\n".join(part).encode())
        assert loaded.stems_from(0) == stems
        text = "cats and dogs in caf\u00e9s"
        assert loaded.scan(text, NO_CUTS)[0].tolist() == saved.scan(text, NO_CUTS)[0].tolist()


@pytest.mark.parametrize("vocabulary", [NativeVocabulary, PlainVocabulary])
def test_any_text_can_be_a_stem(vocabulary: type[NativeVocabulary] | type[PlainVocabulary]) -> None:
    words = vocabulary(1)
    stems = ["", "dog", "\udc80", "x" * 1_000, "two words", "\u71b1", "dog", ""]
    assert words.find(stems).tolist() == [STOP, 1, 2, 3, 4, 5, 1, STOP]
    assert words.stems_from(0) == ["", "dog", "\udc80", "x" * 1_000, "two words", "\u71b1"]
    assert words.stems_from(1, 2) == ["dog", "\udc80"]
    assert words.stems_from(5, 9) == ["\u71b1"]
    assert words.stems_from(6) == words.stems_from(100) == words.stems_from(1, 0) == []
    assert words.find([]).tolist() == []


@pytest.mark.parametrize("vocabulary", [NativeVocabulary, PlainVocabulary])
def test_stems_are_looked_up_without_adding_them(vocabulary: type[NativeVocabulary] | type[PlainVocabulary]) -> None:
    words = vocabulary(1)
    words.find(["dog", "\udc80", "\u71b1"])
    assert words.look_up(["\u71b1", "cat", "", "dog", "\udc80", "do"]).tolist() == [3, STOP, STOP, 1, 2, STOP]
    assert len(words) == 4


@pytest.mark.parametrize("salt", [1, 2, 3])
def test_the_stems_of_another_vocabulary_are_looked_up(salt: int) -> None:
    rng = random.Random(salt)
    known, other = WordScanner(salt), WordScanner(salt + 1)
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


def test_vocabularies_of_both_kinds_look_each_other_up(monkeypatch: pytest.MonkeyPatch) -> None:
    in_c = WordScanner()
    monkeypatch.setattr(scenthound.native, "is_available", lambda: False)
    plain = WordScanner()
    in_c.find_words(["dog", "cat"])
    plain.find_words(["bird", "cat"])
    assert in_c.look_up_from(plain, 1, 9).tolist() == [STOP, 2]
    assert plain.look_up_from(in_c, 1, 9).tolist() == [STOP, 2]


def test_a_stem_takes_few_bytes_and_little_time_to_load() -> None:
    stems = "\n".join(f"{letters_of(number)}x" for number in range(N_STEMS)).encode()
    vocabulary = NativeVocabulary(1)

    def load() -> None:
        NativeVocabulary(1).load(stems)

    vocabulary.load(stems)
    assert len(vocabulary) == N_STEMS + 1
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
    vocabulary = NativeVocabulary(1)
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
        words, before = NativeVocabulary(1).scan_utf_8(text, np.array(cuts, np.uint32))
        parts = [text[start:end] for start, end in itertools.pairwise([0, *cuts, len(text)])]
        assert len(words) == sum(len(part.split()) for part in parts)
        assert len(before) == len(cuts)


@pytest.mark.parametrize("cuts", [[1, 0], [4], [0, 5], [2**32 - 1]])
def test_cuts_that_are_no_ascending_positions_are_refused(cuts: list[int]) -> None:
    with pytest.raises(ValueError, match="ascending"):
        NativeVocabulary(1).scan_utf_8(b"dog", np.array(cuts, np.uint32))


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float64])
def test_arrays_of_other_numbers_are_refused(dtype: type[np.number]) -> None:
    vocabulary = _native.Vocabulary(1, _letters(), b"")
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
    vocabulary = NativeVocabulary(1)
    vocabulary.find(["\u71b1"])
    for number in (-1, 2, 2**40):
        with pytest.raises(IndexError):
            vocabulary.stem(number)
    with pytest.raises(IndexError):
        vocabulary.stems_from(-1)
    with pytest.raises(TypeError):
        vocabulary._words.look_up_from("no vocabulary", 0, 1)
    for number in (-1, 2):
        with pytest.raises(IndexError):
            vocabulary.count_unspaced(np.array([number], np.int32))


def test_a_table_that_is_not_one_of_letters_is_refused() -> None:
    letters = np.frombuffer(_letters(), np.uint32)
    swapped = letters.copy()
    swapped[ord("a")] = 0
    marked = letters.copy()
    marked[0x7FF] |= 1 << 31
    for table in (b"", letters[:0x100].tobytes(), swapped.tobytes(), marked.tobytes()):
        with pytest.raises(ValueError, match="letters"):
            _native.Vocabulary(1, table, b"")


def _letters() -> bytes:
    from scenthound.text.word_lookup import letter_table

    return letter_table(0x40000).tobytes()


FULL_MEMORY = """
import resource
import sys

import numpy as np

from scenthound.text.vocabulary import NativeVocabulary

vocabulary = NativeVocabulary(1)
vocabulary.scan("dog cat", np.zeros(0, np.int64))
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (48 << 20), resource.RLIM_INFINITY))
n_known = 0
try:
    for first in range(0, 10**7, 2_000):
        text = " ".join(f"x{number:x}z" for number in range(first, first + 2_000)).encode()
        vocabulary.scan_utf_8(text, np.zeros(0, np.uint32))
        n_known = len(vocabulary)
except MemoryError:
    words = vocabulary.scan("cat dog x1z", np.zeros(0, np.int64))[0]
    print(n_known > 100_000, words.tolist(), vocabulary.stem(2), len(vocabulary) >= n_known)
try:
    vocabulary.load(b"new\\n" * 20_000_000)
except MemoryError:
    print(vocabulary.find(["cat"]).tolist())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of Linux")
def test_without_memory_words_fail_and_those_before_stay() -> None:
    done = subprocess.run([sys.executable, "-c", FULL_MEMORY], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines() == ["True [2, 1, 4] cat True", "[2]"]
