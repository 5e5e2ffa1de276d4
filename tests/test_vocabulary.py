"""The growing vocabulary: words of topics, training pages, and crawled pages."""

from math import sqrt

import pytest

from scenthound.model import Topic
from scenthound.relevance.cosine import Cosine
from scenthound.relevance.svm import LinearSvm
from scenthound.store.training_folder import read_training
from scenthound.text.tokenizer import WordScanner


def test_topic_words_have_numbers_before_any_page_contains_them():
    scanner = WordScanner()
    words = scanner
    assert words.n_words == 1
    assert words.find_words(["balloon", "race", "balloon"]).tolist() == [1, 2, 1]
    assert words.n_words == 3
    assert scanner.scan("The races of ZEPPELINS and a balloon").tolist() == [0, 2, 0, 3, 0, 0, 1]
    assert words.n_words == 4
    assert words.find_words([]).tolist() == []


def test_a_saved_vocabulary_is_restored_with_the_same_numbers():
    first = WordScanner()
    first.scan("Balloons are lighter than air, the air is heavy")
    again = WordScanner()
    again.find_words(first.stems_from(0))
    assert again.stems_from(0) == first.stems_from(0)
    text = "heavy new balloons in the air"
    assert again.scan(text).tolist() == first.scan(text).tolist()


def test_topic_words_are_found_in_later_pages():
    scanner = WordScanner()
    relevance = Cosine().for_topic(Topic("t", ("hot", "balloons")), scanner)
    page = scanner.scan("a balloon and a zeppelin")
    # One of two topic words, one of two words of the page.
    assert relevance.page(page, sqrt(2)) == pytest.approx(0.5)


def test_words_of_training_pages_are_found_in_later_pages(tmp_path):
    for kind, texts in (("positive", ("hot balloon", "balloon basket")), ("negative", ("fast train", "train rails"))):
        (tmp_path / kind).mkdir()
        for number, text in enumerate(texts):
            (tmp_path / kind / f"{number}.html").write_text(f"<title>the</title><p>{text}</p>")
    scanner = WordScanner()
    words = scanner
    training = read_training(tmp_path, words)
    assert [[scanner.stem(word) for word in page.tolist()] for page in training.positives] == [
        ["hot", "balloon"],
        ["balloon", "basket"],
    ]
    relevance_model = LinearSvm().for_topic(Topic("t", ("balloon",)), words, training)
    balloons, trains, news = (
        relevance_model.page(scanner.scan(text), 0.0) for text in ("a balloon", "trains", "other news")
    )
    assert trains < news < balloons
