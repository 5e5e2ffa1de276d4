"""Near-duplicate texts: found in the whole corpus, whatever their script, and nothing else taken for one."""

import random

import numpy as np
import pytest

from scenthound.corpus.min_hash import MIN_SIMILARITY, N_HASHES, TextIndex, signature_of, similarity

WORDS = [f"{start}{end}" for start in "abcdefghijklmnopqrst" for end in ("ing", "ed", "er", "ly", "est", "ness", "s")]


def text_of(rng: random.Random, n_words: int) -> list[str]:
    return [rng.choice(WORDS) + str(rng.randrange(50)) for _ in range(n_words)]


def changed(rng: random.Random, words: list[str], share: float) -> list[str]:
    copy = list(words)
    for position in rng.sample(range(len(copy)), max(1, round(share * len(copy)))):
        copy[position] = "changed"
    return copy


def found(text: str) -> np.ndarray:
    signature = signature_of(text)
    assert signature is not None
    return signature


def test_copies_with_one_percent_of_their_words_changed_are_found():
    rng, index = random.Random(7), TextIndex()
    texts = [text_of(rng, rng.randrange(100, 1500)) for _ in range(400)]
    for text in texts:
        index.add(found(" ".join(text)))
    copies = [index.find(found(" ".join(changed(rng, text, 0.01)))) for text in texts]
    assert np.mean([number == copy for number, copy in enumerate(copies)]) >= 0.99


def test_other_texts_are_no_copies():
    rng, index = random.Random(8), TextIndex()
    for _ in range(200):
        index.add(found(" ".join(text_of(rng, 300))))
    assert [index.find(found(" ".join(text_of(rng, 300)))) for _ in range(200)] == [None] * 200


def test_the_similarity_is_the_share_of_common_runs_of_five_words():
    rng = random.Random(9)
    words = text_of(rng, 1000)
    half = words[:500] + text_of(rng, 500)
    # 496 of 996 runs are those of both texts: 496 / (2 * 996 - 496).
    assert similarity(found(" ".join(words)), found(" ".join(half))) == pytest.approx(
        496 / 1496, abs=4 / N_HASHES**0.5 / 2
    )
    assert similarity(found(" ".join(words)), found(" ".join(words))) == 1.0


def test_case_punctuation_and_white_space_make_no_difference():
    assert (found("Hot-air balloons, and\nraces.") == found("hot air   BALLOONS and races")).all()


def test_scripts_without_spaces_are_compared_by_their_letters():
    text = "熱気球は空気を熱することで浮力を得る航空機である。十八世紀にフランスの兄弟が最初の飛行に成功した。" * 3
    assert similarity(found(text), found(text.replace("兄弟", "姉妹", 1))) >= MIN_SIMILARITY
    assert similarity(found(text), found("天気予報によると明日は全国的に雨が降るでしょう。傘をお忘れなく。" * 3)) < 0.2


@pytest.mark.parametrize("text", ["", " \n", "...", "—"[:0]])
def test_a_text_without_words_has_no_signature(text: str):
    assert signature_of(text) is None


def test_the_earliest_of_several_similar_texts_is_found():
    index = TextIndex()
    first = found("one two three four five six seven")
    assert [index.add(first), index.add(first)] == [0, 1]
    assert index.find(first) == 0


def test_signatures_stay_the_same():
    """They are cached in crawl folders: raise the version of the cache if this changes."""
    signature = found("the quick brown fox jumps over the lazy dog")
    assert signature[:4].tolist() == [111977198, 37477008, 503643120, 863942290]
