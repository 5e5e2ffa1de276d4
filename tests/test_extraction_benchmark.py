"""The benchmark of main text: its measure, and what it measured as a lower bound."""

from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from scenthound.corpus.main_text import extract

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def extraction(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    return import_module("benchmarks.extraction")


def test_f1_worked_out_by_hand(extraction):
    # True: abcd, bcde, cdef. Extracted: bcde, cdef, defg. Two are in both.
    first = extraction.overlap("b c d e f g", "a b c d e f")
    assert (first.both, first.extracted, first.true) == (0.5, 0.25, 0.25)
    second = extraction.overlap("a b c d e f g h", "a b c d")
    assert (second.both, second.extracted, second.true) == (0.2, 0.8, 0)
    nothing = extraction.overlap("", "a b c d")
    # Precision: mean of 2/3 and 1/5; recall: mean of 2/3, 1 and 0.
    value, precision, recall = extraction.f1([first, second, nothing])
    assert precision == pytest.approx(13 / 30)
    assert recall == pytest.approx(5 / 9)
    assert value == pytest.approx(2 * (13 / 30) * (5 / 9) / (13 / 30 + 5 / 9))


def test_sequences_of_words(extraction):
    assert extraction.shingles("") == {}
    # A shorter text is one sequence; words are case-sensitive, and copies count.
    assert extraction.shingles("a-B c") == {("a", "B", "c"): 1}
    assert extraction.shingles("a a a a a") == {("a", "a", "a", "a"): 2}


def test_main_text_of_news(extraction, shared: Path):
    pages = extraction.load_news()
    overlaps = [extraction.overlap(extract(each.html, each.url).text, each.text) for each in pages]
    assert len(pages) == 91
    # Measured: .977 and .974.
    assert extraction.f1(overlaps[::2])[0] > 0.965
    assert extraction.f1(overlaps[1::2])[0] > 0.965


@pytest.mark.parametrize(("name", "measured"), [("mdn", 0.993), ("wpschools", 0.999)])
def test_main_text_of_documentation(extraction, shared: Path, name: str, measured: float):
    pages = extraction.load_documentation(name, shared / "data" / name)[::3]
    recalls = []
    for html, url, words in pages:
        found = Counter(extraction.WORD.findall(extract(html, url).text))
        recalls.append((found & words).total() / words.total())
    assert sum(recalls) / len(recalls) > measured - 0.01
