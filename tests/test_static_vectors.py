"""Words of similar meaning: the vectors, and what the relevance model makes of them."""

from random import Random

import numpy as np
import pytest

from scenthound.errors import MissingExtra
from scenthound.model import Topic
from scenthound.relevance import static_vectors
from scenthound.relevance.rocchio import Rocchio
from scenthound.relevance.static_vectors import DIRECTION_UNIT, WordSimilarity, stem_vectors
from scenthound.text.tokenizer import WordScanner, stems_of

TEXT = "railway locomotive station passengers cooking recipe butter galaxy telescope orbit wagon steam engine timetable"
RAILWAY = dict.fromkeys(stems_of("railway trains"), 1.0)
TOPIC = Topic("railways", ("railway",))
NO_WORDS = np.zeros(0, np.int32)


def similarity_to_railways(scanner: WordScanner) -> WordSimilarity:
    made = WordSimilarity(scanner)
    made.turn_to(RAILWAY, NO_WORDS, np.zeros(0))
    return made


def by_stem(scanner: WordScanner, similarity: WordSimilarity) -> dict[str, float]:
    stems = scanner.stems_from(0)
    return dict(zip(stems, similarity.of_all_words()[: len(stems)].tolist(), strict=True))


def test_words_of_the_topic_are_more_similar_than_others():
    scanner = WordScanner()
    scanner.scan(TEXT)
    found = by_stem(scanner, similarity_to_railways(scanner))
    of = {word: found[stems_of(word)[0]] for word in TEXT.split()}
    near, far = ("railway", "locomotive", "wagon", "passengers", "station"), ("recipe", "butter", "galaxy", "telescope")
    assert min(of[word] for word in near) > max(of[word] for word in far)
    assert of["railway"] == max(of.values())
    assert all(-1.001 <= value <= 1.001 for value in of.values())
    assert found[""] == 0


def test_the_cosine_worked_out_from_the_vectors_themselves():
    vectors, scanner = stem_vectors(), WordScanner()
    scanner.scan("locomotive")

    def vector(stem: str) -> np.ndarray:
        return vectors._directions[vectors.rows_of([stem])[0]] / DIRECTION_UNIT

    direction = sum(vector(stem) for stem in RAILWAY)
    expected = vector("locomot") @ direction / np.linalg.norm(direction)
    found = by_stem(scanner, similarity_to_railways(scanner))["locomot"]
    assert found == pytest.approx(expected, abs=2e-3)
    assert np.linalg.norm(vector("locomot")) == pytest.approx(1, abs=1e-3)


def test_the_order_of_words_does_not_matter():
    words = TEXT.split()
    in_order, shuffled = WordScanner(), WordScanner()
    in_order.scan(" ".join(words))
    Random(1).shuffle(words)
    first = similarity_to_railways(shuffled)
    for word in words:
        # The vocabulary grows word by word.
        shuffled.scan(word)
        first.of_all_words()
    assert by_stem(shuffled, first) == by_stem(in_order, similarity_to_railways(in_order))
    # The same if the direction comes from words, whose weights are sums.
    learned = []
    for scanner in (in_order, shuffled):
        made = WordSimilarity(scanner)
        made.turn_to({}, scanner.find_words(stems_of("steam engine orbit")), np.array([0.3, 0.1, 0.7]))
        learned.append(by_stem(scanner, made))
    assert learned[0] == learned[1]


def test_a_new_direction_replaces_the_one_before():
    scanner = WordScanner()
    scanner.scan(TEXT)
    turned = similarity_to_railways(scanner)
    before = turned.of_all_words().copy()
    turned.turn_to({"telescop": 1.0}, NO_WORDS, np.zeros(0))
    assert by_stem(scanner, turned)["galaxi"] > 0.2
    turned.turn_to(RAILWAY, NO_WORDS, np.zeros(0))
    assert np.array_equal(turned.of_all_words(), before)


def test_words_that_are_not_english_take_no_memory():
    scanner = WordScanner()
    similarity = similarity_to_railways(scanner)
    similarity.of_all_words()
    n_rows, n_stored = stem_vectors().n_rows, len(stem_vectors()._rows)
    scanner.scan(" ".join(f"qzx{number}vk" for number in range(500)))
    assert not similarity.of_all_words().any()
    assert (stem_vectors().n_rows, len(stem_vectors()._rows)) == (n_rows, n_stored)


def windows(relevance, scanner: WordScanner, *texts: str) -> list[float]:
    """The scores of link contexts."""
    scores = []
    for text in texts:
        words = scanner.scan(text)
        scores.append(float(relevance.contexts(words, np.array([0], np.int32), np.array([len(words)], np.int32))[0]))
    return scores


def test_contexts_with_words_of_similar_meaning_are_more_relevant():
    for semantic in (False, True):
        scanner = WordScanner()
        relevance = Rocchio(semantic=semantic).for_topic(TOPIC, scanner).for_crawl()
        near, far = windows(relevance, scanner, "steam locomotives and their wagons", "butter recipes and their taste")
        assert (near > 2 * far) if semantic else (near == far)


OTHER_LANGUAGES = {
    "Eisenbahn": "Die Butter wird mit Zucker und Mehl in der Küche zu einem Teig verrührt und dann gebacken",
    "железная дорога": "Масло, сахар и муку смешивают на кухне, затем тесто выпекают в горячей печи",  # noqa: RUF001
    "chemin de fer": "Le beurre est mélangé au sucre et à la farine dans la cuisine avant la cuisson au four",
    "鉄道": "バターと砂糖と小麦粉を台所で混ぜてから生地を焼きます",
    "รถไฟ": "เนยผสมกับน้ำตาลและแป้งในครัวก่อนอบ",
}


@pytest.mark.parametrize("keyword", OTHER_LANGUAGES)
def test_the_language_alone_does_not_make_a_context_relevant(keyword):
    scores = []
    for semantic in (False, True):
        scanner = WordScanner()
        relevance = Rocchio(semantic=semantic).for_topic(Topic("trains", (keyword,)), scanner).for_crawl()
        scores += windows(relevance, scanner, OTHER_LANGUAGES[keyword])
    plain, semantic = scores
    assert semantic < 0.1 > plain
    # Nor is any page on topic, as long as the language is not known.
    assert relevance.page(scanner.scan(OTHER_LANGUAGES[keyword]), 0.0) < 0.1


def test_pages_count_words_of_similar_meaning_until_there_is_a_start_page():
    near, far = "locomotives and wagons at the station " * 20, "butter and sugar in the kitchen " * 20
    scanner = WordScanner()
    relevance = Rocchio(semantic=True).for_topic(TOPIC, scanner).for_crawl()
    assert relevance.page(scanner.scan(near), 0.0) > relevance.page(scanner.scan(far), 0.0)
    start = scanner.scan("railway timetable " * 10)
    relevance.learn(start, is_start=True)
    plain_scanner = WordScanner()
    plain = Rocchio().for_topic(TOPIC, plain_scanner).for_crawl()
    plain.learn(plain_scanner.scan("railway timetable " * 10), is_start=True)
    assert relevance.page(scanner.scan(near), 0.0) == plain.page(plain_scanner.scan(near), 0.0)


@pytest.mark.parametrize("starts", [(), ("railway lines and timetables of the steam age",)])
def test_scores_do_not_depend_on_what_a_vocabulary_has_beside(starts):
    # A live crawl numbers words as it meets them; a recorded web has all words from the beginning, and lacks keywords
    # that are on no page.
    topic = Topic("railways", ("railway", "permanent way"))
    live, recorded = WordScanner(), WordScanner()
    recorded.scan(f"zebra {TEXT} {' '.join(reversed(TEXT.split()))}")
    scores = []
    for scanner in (live, recorded):
        relevance = Rocchio(semantic=True).for_topic(topic, scanner).for_crawl()
        for start in starts:
            relevance.learn(scanner.scan(start), is_start=True)
        scores.append(
            [
                *windows(relevance, scanner, "steam engine", "butter recipe", "an unheard of tender", "railway galaxy"),
                relevance.page(scanner.scan(TEXT), 0.0),
            ]
        )
    assert scores[0] == scores[1]


def test_a_crawl_continues_from_a_checkpoint():
    scanner = WordScanner()
    made = Rocchio(semantic=True).for_topic(TOPIC, scanner)
    relevance = made.for_crawl()
    relevance.learn(scanner.scan("railway timetable of the steam engine"), is_start=True)
    for number in range(12):
        relevance.learn(scanner.scan(f"{TEXT} {number}"), is_start=False)
    restored = made.for_crawl()
    restored.restore(relevance.state())
    texts = "locomotive depot", "butter recipe"
    assert windows(restored, scanner, *texts) == windows(relevance, scanner, *texts)


def test_without_the_extra_there_is_one_clear_line(monkeypatch):
    monkeypatch.setattr(static_vectors, "find_spec", lambda _: None)
    stem_vectors.cache_clear()
    try:
        with pytest.raises(MissingExtra, match=r"pip install 'scenthound\[semantic\]'"):
            Rocchio(semantic=True).for_topic(TOPIC, WordScanner())
    finally:
        stem_vectors.cache_clear()
