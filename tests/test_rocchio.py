"""The relevance model that learns a topic from keywords, a description and start pages."""

import gzip
import math
from pathlib import Path
from random import Random

import numpy as np
import pytest

from scenthound.errors import InvalidInput, InvalidTopic
from scenthound.model import Topic
from scenthound.relevance.base import LearningRelevance, Training
from scenthound.relevance.document_frequencies import CrawlWeights, WordWeights
from scenthound.relevance.rocchio import (
    ASSUMED_SCORES,
    CONTEXT_TRANSITION,
    FIRST_FIT,
    FIRST_WEIGHTING,
    MAX_LEARNED_PAGES,
    ON_TOPIC_CONTEXT,
    ON_TOPIC_DEVIATIONS,
    SIMILAR_ENOUGH,
    TRANSITION,
    Rocchio,
)
from scenthound.text.tokenizer import WordScanner
from unspaced_texts import BALLOONS, CHINESE, CHINESE_GENERAL, JAPANESE, JAPANESE_GENERAL, page_text


def scanned(scanner: WordScanner, text: str) -> np.ndarray:
    return scanner.scan(text)


def numbers(first: int, last: int) -> str:
    """Words that stand for the rest of a page."""
    return " ".join(f"w{number}" for number in range(first, last))


def deviations(probability: float) -> float:
    return math.log(probability / (1 - probability)) * TRANSITION + ON_TOPIC_DEVIATIONS


def similarity(probability: float, *, with_starts: bool = False) -> float:
    """The cosine that a probability was computed from, before the crawl has met other pages."""
    mean, deviation = ASSUMED_SCORES[with_starts]
    # Pages that are similar enough are on topic in any case.
    deviation = min(deviation, (SIMILAR_ENOUGH[with_starts] - mean) / ON_TOPIC_DEVIATIONS)
    return mean + deviation * deviations(probability)


def model(topic: Topic, background: Path | None = None, **training: object):
    scanner = WordScanner()
    made = Rocchio(None if background is None else str(background)).for_topic(topic, scanner, **training)
    return scanner, made.for_crawl()


def score(scanner: WordScanner, relevance: LearningRelevance, text: str) -> float:
    return relevance.page(scanned(scanner, text), 0.0)


def frequencies(folder: Path, n_documents: int, **counts: int) -> Path:
    file = folder / "frequencies.txt.gz"
    lines = [str(n_documents), *(f"{stem} {count}" for stem, count in counts.items())]
    file.write_bytes(gzip.compress("\n".join(lines).encode()))
    return file


def test_the_cosine_of_a_page_by_hand(tmp_path):
    # 99 documents: idf of an unknown word ln 100, of "race" ln(100 / 10) = half of it.
    scanner, relevance = model(Topic("t", ("balloon",)), frequencies(tmp_path, 99, race=9))
    # balloon once, w1..w23 once, race twice: log(1 + tf) * sqrt(idf).
    rare, race = math.log(2) * math.sqrt(math.log(100)), math.log(3) * math.sqrt(math.log(10))
    expected = rare / math.sqrt(24 * rare**2 + race**2)
    found = score(scanner, relevance, f"balloon race race {numbers(1, 24)}")
    assert similarity(found) == pytest.approx(expected)


def test_a_page_without_words_of_the_topic_is_off_topic():
    scanner, relevance = model(Topic("t", ("balloon",)))
    assert score(scanner, relevance, "trains and stations") < 0.01
    assert relevance.page(np.zeros(0, np.int32), 0.0) < 0.01
    assert score(scanner, relevance, "the balloon") > 0.99


def test_a_phrase_counts_where_its_words_are_together():
    scanner, relevance = model(Topic("t", ("write-ahead log",)))
    together = score(scanner, relevance, f"a write-ahead log {numbers(0, 60)}")
    near = score(scanner, relevance, f"a log: write ahead {numbers(0, 60)}")
    apart = score(scanner, relevance, f"log {numbers(0, 20)} write {numbers(20, 40)} ahead {numbers(40, 60)}")
    one = score(scanner, relevance, f"the log of the log {numbers(0, 60)}")
    assert together == near > apart > one
    assert score(scanner, relevance, f"a write-ahead log {numbers(0, 20)}") > 0.5
    assert score(scanner, relevance, f"the log {numbers(0, 20)}") < 0.5


class WithoutZeppelins(WordScanner):
    """The vocabulary of a web in which no page has a zeppelin."""

    def find_words(self, stems):
        return super().find_words([stem for stem in stems if stem != "zeppelin"])


@pytest.mark.parametrize("keywords", [("zeppelin", "balloon"), ("zeppelin balloon", "air race")])
def test_words_that_are_on_no_page_count_as_in_a_live_crawl(keywords):
    scores = []
    for scanner in (WordScanner(), WithoutZeppelins()):
        relevance = Rocchio().for_topic(Topic("t", keywords, description="A zeppelin race."), scanner)
        relevance.learn(scanned(scanner, "balloon basket"), is_start=True)
        scores.append([score(scanner, relevance, f"{text} {numbers(0, 9)}") for text in ("balloon", "air race", "x")])
    assert scores[0] == scores[1]


def test_scores_do_not_depend_on_the_numbers_of_words():
    text = f"balloon basket race {numbers(0, 200)} balloon {numbers(50, 90)}"
    scores = []
    for first in ("", numbers(0, 200), " ".join(reversed(text.split()))):
        scanner = WordScanner()
        scanner.scan(first)
        relevance = Rocchio().for_topic(Topic("t", ("balloon race", "basket")), scanner)
        relevance.learn(scanned(scanner, f"balloon {numbers(20, 160)}"), is_start=True)
        scores.append(score(scanner, relevance, text))
    assert scores[0] == scores[1] == scores[2]


def test_single_words_of_a_phrase_make_no_page_relevant_where_others_have_none_of_them():
    scanner, relevance = model(Topic("t", ("write-ahead log",)))
    relevance.learn(scanned(scanner, f"a write-ahead log, checkpoint, recovery {numbers(0, 40)}"), is_start=True)
    for page in range(40):
        relevance.learn(scanned(scanner, numbers(100 * page, 100 * page + 50)), is_start=False)
    assert score(scanner, relevance, f"log cabin, log house, log fire {numbers(5000, 5040)}") < 0.5
    assert score(scanner, relevance, f"the write-ahead log of a log; write-ahead log {numbers(5000, 5040)}") > 0.5


def test_it_learns_from_a_start_page_before_scoring_it():
    scanner, relevance = model(Topic("t", ("balloon",)))
    start = "balloon burner basket envelope propane pilot"
    unknown = f"burner basket envelope propane pilot {numbers(0, 10)}"
    before = score(scanner, relevance, unknown)
    relevance.learn(scanned(scanner, start), is_start=True)
    assert before < 0.01
    assert score(scanner, relevance, unknown) > 0.5
    assert score(scanner, relevance, start) > 0.99


def test_a_start_page_without_any_word_of_the_topic_is_not_learned_as_one():
    scanner, relevance = model(Topic("t", ("balloon",)))
    relevance.learn(scanned(scanner, "trains and stations"), is_start=True)
    assert score(scanner, relevance, "trains and stations") < 0.01


def test_a_start_page_needs_the_rarest_word_of_a_phrase(tmp_path):
    background = frequencies(tmp_path, 1000, hot=300, air=300)
    for text, is_learned in ((f"hot air {numbers(0, 30)}", False), (f"balloon {numbers(0, 30)}", True)):
        scanner, relevance = model(Topic("t", ("hot air balloon",)), background)
        relevance.learn(scanned(scanner, text), is_start=True)
        assert (score(scanner, relevance, numbers(0, 30)) > 0.5) == is_learned


def test_pages_are_on_topic_also_where_most_pages_of_the_crawl_are():
    scanner, relevance = model(Topic("t", ("balloon",)))
    found = []
    for page in range(100):
        words = scanned(scanner, f"balloon balloon {numbers(50 * page, 50 * page + 40)}")
        found.append(relevance.page(words, 0.0) >= 0.5)
        relevance.learn(words, is_start=False)
    assert all(found)
    assert score(scanner, relevance, numbers(9000, 9040)) < 0.5


def test_it_works_from_pages_alone_and_from_a_description_alone():
    scanner, relevance = model(Topic("t"))
    relevance.learn(scanned(scanner, "balloon burner basket"), is_start=True)
    assert score(scanner, relevance, "balloon basket") > 0.5 > score(scanner, relevance, "train station")
    scanner, relevance = model(Topic("t", description="Hot air balloons carry a basket."))
    assert score(scanner, relevance, "balloon basket") > 0.5 > score(scanner, relevance, "train station")


def test_training_pages_are_learned_like_start_pages_and_other_pages():
    scanner = WordScanner()
    training = Training((scanned(scanner, "balloon burner"),), (scanned(scanner, "train station"),))
    relevance = Rocchio().for_topic(Topic("t", ("balloon",)), scanner, training)
    assert score(scanner, relevance, "burner") > 0.5 > score(scanner, relevance, "station")


def test_words_of_other_pages_of_the_crawl_count_less():
    scanner, relevance = model(Topic("t", ("balloon",)))
    relevance.learn(scanned(scanner, "balloon basket menu footer"), is_start=True)
    text = f"menu footer {numbers(0, 12)}"
    before = deviations(score(scanner, relevance, text))
    for page in range(FIRST_FIT):
        relevance.learn(scanned(scanner, f"menu footer {numbers(100 * page, 100 * page + 20)}"), is_start=False)
    assert deviations(score(scanner, relevance, text)) < before


def changes(scanner: WordScanner, relevance: LearningRelevance, common: str) -> list[int]:
    """The numbers of pages after which the score of another page changes. All have some words in common."""
    scores = []
    for page in range(2 * FIRST_FIT):
        relevance.learn(scanned(scanner, f"{common} w{page}"), is_start=False)
        scores.append(score(scanner, relevance, "menu"))
    return [n + 1 for n in range(1, len(scores)) if scores[n] != scores[n - 1]]


def test_in_other_languages_words_are_weighted_earlier():
    scanner, relevance = model(Topic("t", ("ballonfahrt",)))
    relevance.learn(scanned(scanner, "ballonfahrt korb menu"), is_start=True)
    assert changes(scanner, relevance, "menu qxa qxb") == [FIRST_WEIGHTING, FIRST_FIT, 2 * FIRST_FIT]


def test_the_model_is_fitted_at_doublings_and_then_no_more():
    scanner, relevance = model(Topic("t", ("balloon",)))
    relevance.learn(scanned(scanner, "balloon basket menu"), is_start=True)
    assert changes(scanner, relevance, "menu page about") == [FIRST_FIT, 2 * FIRST_FIT]
    assert relevance.max_learned_pages == MAX_LEARNED_PAGES


def test_each_crawl_learns_for_itself():
    scanner, relevance = model(Topic("t", ("balloon",)))
    other = relevance.for_crawl()
    relevance.learn(scanned(scanner, "balloon basket"), is_start=True)
    assert score(scanner, relevance, "basket") > 0.5 > score(scanner, other, "basket")


def test_other_languages_are_weighted_by_the_pages_of_the_crawl():
    scanner, relevance = model(Topic("t", ("ballonfahrt",)))
    start = "ballonfahrt korb und der die heissluft"
    relevance.learn(scanned(scanner, start), is_start=True)
    common, rare = f"und der die {numbers(0, 9)}", f"heissluft korb ufer {numbers(0, 9)}"
    for page in range(2 * FIRST_FIT):
        relevance.learn(scanned(scanner, f"und der die qx{page} qy{page} qz{page}"), is_start=False)
    assert score(scanner, relevance, rare) > 0.5 > score(scanner, relevance, common)


def test_keywords_count_as_rare_even_if_most_pages_of_the_crawl_have_them():
    scanner, relevance = model(Topic("t", ("ballonfahrt",), description="und der"))
    for page in range(FIRST_FIT):
        relevance.learn(scanned(scanner, f"und der ballonfahrt {numbers(20 * page, 20 * page + 20)}"), is_start=False)
    # The words of the description are weighted by their frequencies.
    rest = numbers(5000, 5020)
    keyword, description = (deviations(score(scanner, relevance, f"{text} {rest}")) for text in ("ballonfahrt", "und"))
    assert keyword > description + 1
    weights = CrawlWeights.counted([np.array([1, 2]), np.array([1, 2, 3])], 4, rare=np.array([1]))
    keyword, common, once, new = weights.root_idf(np.array([1, 2, 3, 9]))
    assert keyword == new > once > common


def test_the_weights_of_a_large_vocabulary_are_small_and_read_in_parts():
    stems = ["", "dog", "balloon", "the", *(f"{number:x}z" for number in range(200_000))]
    scanner = WordScanner()
    scanner.load(["\n".join(stems).encode()])

    class Index:
        """The vocabulary of a scanner, as one that is no scanner."""

        most = 0
        find_words = scanner.find_words

        @property
        def n_words(self):
            return scanner.n_words

        def stems_from(self, first, at_most=None):
            found = scanner.stems_from(first, at_most)
            self.most = max(self.most, len(found))
            return found

    index = Index()
    words = np.array([0, 1, 2, 100_000, len(stems) - 1], np.int32)
    of_both = [WordWeights(scanner), WordWeights(index)]
    for weights in of_both:
        expected = [0.0, *(weights.root_idf_of(stems[word]) for word in words[1:].tolist())]
        assert weights.root_idf(words).tolist() == expected
        assert len(set(expected)) == 4
        assert weights._rank_of_word.nbytes <= 2.5 * len(stems)
    assert 0 < index.most < len(stems) / 2
    # Words that are found later.
    later = scanner.scan("zeppelins 77777zz")
    for weights in of_both:
        assert weights.root_idf(later).tolist() == [weights.root_idf_of("zeppelin"), weights.root_idf_of("77777zz")]


@pytest.mark.parametrize(
    ("keyword", "texts", "general"),
    [("熱気球", JAPANESE, JAPANESE_GENERAL), ("热气球", CHINESE, CHINESE_GENERAL)],
    ids=["Japanese", "Chinese"],
)
def test_it_tells_topics_apart_in_languages_without_spaces(keyword, texts, general):
    rng = Random(3)
    scanner, relevance = model(Topic("t", (keyword,)))
    start = next(text for _ in range(100) if keyword in (text := page_text(BALLOONS, rng, texts, general)))
    relevance.learn(scanned(scanner, start), is_start=True)
    is_on, scores = [], []
    for _ in range(60):
        topic = rng.choice(list(texts))
        words = scanned(scanner, page_text(topic, rng, texts, general))
        is_on.append(topic == BALLOONS)
        scores.append(relevance.page(words, 0.0))
        relevance.learn(words, is_start=False)
    found, expected = np.array(scores) >= 0.5, np.array(is_on)
    # Before the first fit words have no frequencies.
    for part, recall, false_share in ((slice(FIRST_FIT), 0.6, 0.35), (slice(FIRST_FIT, None), 0.8, 0.05)):
        assert found[part][expected[part]].mean() >= recall
        assert found[part][~expected[part]].mean() <= false_share


def test_a_keyword_without_spaces_counts_where_it_is_written():
    rest = "駅前の広場で朝市が開かれて野菜を売る人が集まりました"
    scanner, relevance = model(Topic("t", ("機械学習",)))
    written = score(scanner, relevance, f"機械学習、{rest}")
    apart = score(scanner, relevance, f"機械、{rest}、学習")
    assert written > apart > score(scanner, relevance, rest)


def test_a_long_keyword_is_found_and_does_not_hide_a_short_one():
    long = "インターネット検索エンジン最適化"
    rest = "駅前の広場で朝市が開かれて野菜を売る人"
    scanner, relevance = model(Topic("t", (long, "陶芸")))
    found = [similarity(score(scanner, relevance, f"{text}、{rest}")) for text in (long, "陶芸", "")]
    parts = similarity(score(scanner, relevance, f"{long[:8]}、{rest}、{long[7:]}"))
    assert found[0] > 1.5 * parts
    assert found[1] - found[2] > 0.1 * (found[0] - found[2])


def test_windows_are_scored_by_their_words():
    scanner, relevance = model(Topic("t", ("balloon",)))
    words = scanned(scanner, "train station balloon of qqx qqy qqz")
    scores = relevance.contexts(words, np.array([0, 1, 4, 3]), np.array([2, 4, 4, 7]))
    at_zero = 1 / (1 + math.exp(ON_TOPIC_CONTEXT / CONTEXT_TRANSITION))
    assert scores[0] == scores[2] == scores[3] == pytest.approx(at_zero)
    assert scores[1] > 0.9


def test_the_similarity_of_a_window_by_hand(tmp_path):
    scanner, relevance = model(Topic("t", ("balloon",)), frequencies(tmp_path, 99))
    words = scanned(scanner, f"balloon {numbers(0, 63)}")
    [found] = relevance.contexts(words, np.array([0]), np.array([64]))
    logit = (1 / 8 - ON_TOPIC_CONTEXT) / CONTEXT_TRANSITION
    assert found == pytest.approx(1 / (1 + math.exp(-logit)))


def test_words_found_after_the_model_was_made_are_weighted(tmp_path):
    scanner, relevance = model(Topic("t", ("balloon",)), frequencies(tmp_path, 99, race=9))
    score(scanner, relevance, "balloon")
    later = score(scanner, relevance, f"balloon race {numbers(0, 30)}")
    again_scanner, again = model(Topic("t", ("balloon",)), frequencies(tmp_path, 99, race=9))
    again_scanner.find_words(["race"])
    assert later == pytest.approx(score(again_scanner, again, f"balloon race {numbers(0, 30)}"))


def test_the_frequencies_of_the_package_know_common_words():
    scanner, relevance = model(Topic("t", ("page", "ornithology")))
    rest = numbers(0, 30)
    assert score(scanner, relevance, f"ornithology {rest}") > score(scanner, relevance, f"page {rest}")


@pytest.mark.parametrize("keywords", [("the",), ("of the", "a")])
def test_keywords_of_stop_words_only_are_invalid(keywords):
    with pytest.raises(InvalidTopic):
        model(Topic("t", keywords))


def test_a_file_of_frequencies_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InvalidInput, match=r"missing\.gz"):
        model(Topic("t", ("balloon",)), tmp_path / "missing.gz")
    (tmp_path / "damaged.gz").write_bytes(b"no gzip")
    with pytest.raises(InvalidInput, match=r"damaged\.gz"):
        model(Topic("t", ("balloon",)), tmp_path / "damaged.gz")


@pytest.mark.parametrize("n_learned", [3, 12, 45])
def test_a_restored_model_goes_on_like_the_one_that_was_saved(n_learned):
    # Of words that the package does not know, so that those of the crawl's own pages are weighted by it.
    scanner, rng = WordScanner(), np.random.default_rng(4)
    pages = [scanned(scanner, " ".join(f"qx{word}" for word in rng.integers(0, 60, 40))) for _ in range(100)]
    training = Training((pages[0],), tuple(pages[1:13]))
    made = Rocchio().for_topic(Topic("t", ("qx1",)), scanner, training)
    saved, restored = made.for_crawl(), made.for_crawl()
    for words in pages[13 : 13 + n_learned]:
        saved.learn(words, is_start=False)
    restored.restore(saved.state())
    for words in pages[13 + n_learned :]:
        assert restored.page(words, 0.0) == saved.page(words, 0.0)
        for relevance in (saved, restored):
            relevance.learn(words, is_start=False)
