"""Ranks in a pool, the metrics made of them, and what more words of the topic do to a rank."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.metrics.base import FixedFacts, GroundTruth
from scenthound.metrics.ranks import (
    Coverage,
    Rank,
    bm25_ranks,
    coverage_over,
    keywords_in,
    lexical_ranks,
    lexical_similarity,
    linkage_ranks,
    shared_ranks,
)
from scenthound.model import Trace
from scenthound.text.vectors import TermRows, bm25_scores, count_words, tf_idf_weights

N_WORDS = 6


def ids(*pages):
    return np.array(pages, dtype=np.int32)


def trace(*pages):
    return Trace("t", "s", 0, ids(*pages), np.zeros(len(pages)))


def ground_truth(**ranks):
    facts = FixedFacts(**{name: np.array(values, dtype=float) for name, values in ranks.items()})
    return GroundTruth(ids(), ids(), ids(), ids(1, 3, 7, 9), facts)


# Page 1 is the best of the pool, then 3, 9, 7.
RANKED = ground_truth(lexical_ranks=[1, 2, 4, 3], linkage_ranks=[4, 3, 2, 1], printed_ranks=[2, 1, 3, 4])
# Pages 3 and 9 share the ranks 2 and 3.
TIED = ground_truth(lexical_ranks=[1, 2.5, 4, 2.5])
CRAWL = trace(1, 9, 3, 7)


def rows(*pages):
    """Pages as rows, from their words."""
    counted = [count_words(ids(*page)) for page in pages]
    offset = np.concatenate(([0], np.cumsum([len(page.term) for page in counted]))).astype(np.int64)
    term = np.concatenate([ids(), *(page.term for page in counted)])
    return TermRows(offset, term, np.concatenate([ids(), *(page.count for page in counted)]))


def similarity(pages, description, **options):
    pool = rows(*pages)
    return lexical_similarity(pool, count_words(ids(*description)), pool.document_frequency(N_WORDS), **options)


def ranks_of(pages, description, **options):
    pool = rows(*pages)
    return lexical_ranks(pool, count_words(ids(*description)), pool.document_frequency(N_WORDS), **options)


def test_the_rank_is_the_mean_rank_so_far():
    # 1; (1 + 3) / 2; (1 + 3 + 2) / 3; (1 + 3 + 2 + 4) / 4.
    assert Rank().curve(CRAWL, RANKED, 4) == pytest.approx([1, 2, 2, 2.5])
    assert Rank("linkage").curve(CRAWL, RANKED, 4) == pytest.approx([4, 2.5, 8 / 3, 2.5])
    assert Rank("lexical_as_printed").curve(CRAWL, RANKED, 4) == pytest.approx([2, 3, 7 / 3, 2.5])
    assert Rank().lower_is_better


def test_pages_that_a_crawl_did_not_get_rank_below_the_last_of_the_pool():
    # Four pages in the pool, so each missing one counts with rank 5.
    assert Rank().curve(trace(1, 9), RANKED, 4) == pytest.approx([1, 2, (4 + 5) / 3, (4 + 10) / 4])
    assert Rank().curve(trace(), RANKED, 2) == pytest.approx([5, 5])
    assert Rank().curve(trace(9, 3), TIED, 3) == pytest.approx([2.5, 2.5, (2.5 + 2.5 + 5) / 3])


def test_coverage_is_the_share_of_the_best_pages_visited():
    assert Coverage(top=2).curve(CRAWL, RANKED, 6) == pytest.approx([1 / 2, 1 / 2, 1, 1, 1, 1])
    assert Coverage("linkage", top=2).curve(CRAWL, RANKED, 4) == pytest.approx([0, 1 / 2, 1 / 2, 1])
    # A pool of four has no hundred best pages.
    assert Coverage().curve(CRAWL, RANKED, 4) == pytest.approx([1 / 4, 2 / 4, 3 / 4, 1])


def test_pages_that_tie_across_the_border_share_the_places_left():
    # The two best are page 1, and one of 3 and 9, which count for half a page each.
    assert Coverage(top=2).curve(CRAWL, TIED, 4) == pytest.approx([1 / 2, 1.5 / 2, 1, 1])


def test_coverage_over_many_numbers_of_best_pages():
    # Of the best 1: page 1. Of 2: 1 and half of the tie. Of 3 and 4: pages 1 and 9. The pool has four pages.
    assert coverage_over(trace(1, 9), TIED, "lexical", [1, 2, 3, 4, 50]) == pytest.approx(
        [1, 1.5 / 2, 2 / 3, 1 / 2, 1 / 2]
    )
    assert np.isnan(coverage_over(trace(1), ground_truth(), "linkage", [1, 2])).all()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.data())
def test_coverage_over_says_what_the_curve_says_at_its_end(scores, data):
    pool = np.arange(len(scores), dtype=np.int32)
    facts = FixedFacts(lexical_ranks=shared_ranks(np.array(scores) / 4))
    judged = GroundTruth(ids(), ids(), ids(), pool, facts)
    crawl = trace(*data.draw(st.lists(st.sampled_from(pool.tolist()), unique=True)))
    tops = range(1, len(scores) + 2)
    at_the_end = [Coverage(top=top).curve(crawl, judged, len(scores))[-1] for top in tops]
    assert coverage_over(crawl, judged, "lexical", tops) == pytest.approx(at_the_end)


def test_equal_scores_share_the_mean_of_their_places():
    assert shared_ranks(np.array([0.5, 0.9, 0.5, 0.1, 0.5])).tolist() == [3, 1, 3, 5, 3]
    assert shared_ranks(np.array([0.1 + 0.2, 0.3])).tolist() == [1.5, 1.5]
    assert shared_ranks(np.array([2.0, 2.0, 1.0]), np.array([0.1, 0.2, 0.9])).tolist() == [2, 1, 3]
    assert shared_ranks(np.zeros(0)).tolist() == []


def test_smart_atc_by_hand():
    # Pool: (1 1 2), (2 3), (3). |S| = 3; n1 = 1, n2 = n3 = 2. Description: 1 2.
    # ln(3/1) = 1.0986 for word 1, ln(3/2) = 0.4055 for words 2 and 3.
    rare, common = log(3), log(3 / 2)
    # Page 0: f/max f is 1 for word 1 and 1/2 for word 2; the description has 1 for both.
    first, second = rare, 0.75 * common
    expected = (first * rare + second * common) / (sqrt(first**2 + second**2) * sqrt(rare**2 + common**2))
    shares_word_2 = common * common / (sqrt(2) * common * sqrt(rare**2 + common**2))
    pages = [(1, 1, 2), (2, 3), (3,)]
    assert similarity(pages, (1, 2)) == pytest.approx([expected, shares_word_2, 0])
    assert ranks_of(pages, (1, 2)).tolist() == [1, 2, 3]
    # As printed, all counts are divided by the largest of the pool, which is 2: page 1 and the description have 1/2.
    first, second = rare, 0.75 * common
    halves = (first * 0.75 * rare + second * 0.75 * common) / (
        sqrt(first**2 + second**2) * 0.75 * sqrt(rare**2 + common**2)
    )
    assert similarity(pages, (1, 2), as_printed=True)[0] == pytest.approx(halves)


def test_the_formula_as_printed_weakens_the_counts_of_short_pages():
    # The largest count of the pool is 10. On page 0 word 1 stands twice and word 2 once: weights 1 and 3/4 by its own
    # maximum, 0.6 and 0.55 by that of the pool; ln(|S|/n) is ln 3 for both. The description is word 1.
    pages = [(1, 1, 2), (3,) * 10, (4,)]
    assert similarity(pages, (1,))[0] == pytest.approx(1 / sqrt(1 + 0.75**2))
    assert similarity(pages, (1,), as_printed=True)[0] == pytest.approx(0.6 / sqrt(0.6**2 + 0.55**2))


def test_bm25_by_hand():
    # Pool: (1 1 2), (2 3), (3), the mean length is 2. Description: 1 2 2, so word 2 counts twice.
    # Inverse document frequencies: ln(1 + 2.5 / 1.5) for word 1, which is on one page, ln(1 + 1.5 / 2.5) for word 2.
    rare, common = log(1 + 2.5 / 1.5), log(1 + 1.5 / 2.5)
    # k1 (1 - b + b l / 2) with k1 = 1.2, b = 0.75: 1.2 * 1.375 = 1.65 for three words, 1.2 for two.
    first = rare * 2 * 2.2 / (2 + 1.65) + 2 * common * 1 * 2.2 / (1 + 1.65)
    second = 2 * common * 2.2 / (1 + 1.2)
    pool, description = rows((1, 1, 2), (2, 3), (3,)), count_words(ids(1, 2, 2))
    frequency = pool.document_frequency(N_WORDS)
    assert bm25_scores(pool, description, frequency) == pytest.approx([first, second, 0])
    assert bm25_ranks(pool, description, frequency).tolist() == [1, 2, 3]


def test_bm25_of_pools_without_words_and_of_words_on_every_page():
    nothing, description = rows((), ()), count_words(ids(1))
    assert bm25_ranks(nothing, description, nothing.document_frequency(N_WORDS)).tolist() == [1.5, 1.5]
    # Word 1 is on every page: repeating it is still better, unlike for SMART.
    every = rows((1, 1, 2), (1, 3, 4))
    assert bm25_ranks(every, description, every.document_frequency(N_WORDS)).tolist() == [1, 2]


def test_smart_and_bm25_are_averaged():
    # Pages 1, 3, 7, 9 have the ranks 1, 2, 4, 3 by SMART and 3, 2, 1, 4 by BM25: 2, 2, 2.5, 3.5 in the mean.
    both = ground_truth(lexical_ranks=[1, 2, 4, 3], bm25_ranks=[3, 2, 1, 4])
    assert Rank("bm25").curve(CRAWL, both, 4) == pytest.approx([3, 3.5, 3, 2.5])
    assert Rank("lexical_mean").curve(CRAWL, both, 4) == pytest.approx([2, 5.5 / 2, 7.5 / 3, 10 / 4])
    # The best is page 1 or page 3, which count for half a page each.
    assert Coverage("lexical_mean", top=1).curve(CRAWL, both, 3) == pytest.approx([1 / 2, 1 / 2, 1])
    assert np.isnan(Rank("lexical_mean").curve(CRAWL, ground_truth(), 2)).all()


def test_words_that_tell_nothing_apart_rank_nobody():
    # Word 1 is on every page, word 5 on none.
    assert ranks_of([(1, 2), (1,), (1, 3)], (1, 5)).tolist() == [2, 2, 2]
    assert ranks_of([(1,), ()], (1,)).tolist() == [1, 2]
    assert ranks_of([(1, 2)], (1,)).tolist() == [1]


def by_definition(pages, description, *, as_printed):
    """The lexical rank of each page, written from the definition without arrays."""
    largest = max((page.count(word) for page in pages for word in page), default=1)

    def weights(document):
        own = largest if as_printed else max((document.count(word) for word in document), default=1)
        frequency = {word: sum(word in page for page in pages) for word in set(document)}
        return {
            word: 0.5 * (1 + document.count(word) / own) * log(len(pages) / n) for word, n in frequency.items() if n
        }

    def length(vector):
        return sqrt(sum(weight**2 for weight in vector.values()))

    topic = weights(description)
    cosines = []
    for page in map(weights, pages):
        product = sum(weight * topic.get(word, 0) for word, weight in page.items())
        lengths = length(page) * length(topic)
        cosines.append(round(product / lengths, 9) if lengths else 0.0)
    return [sum(other > own for other in cosines) + (cosines.count(own) + 1) / 2 for own in cosines]


words = st.integers(1, N_WORDS - 1)


@given(
    st.lists(st.lists(words, max_size=8), min_size=1, max_size=8),
    st.lists(words, min_size=1, max_size=5),
    st.booleans(),
)
def test_lexical_ranks_agree_with_the_definition(pages, description, as_printed):
    assert ranks_of(pages, description, as_printed=as_printed).tolist() == by_definition(
        pages, description, as_printed=as_printed
    )


@given(st.lists(st.lists(words, max_size=8), min_size=2, max_size=6), words, st.booleans(), st.integers(1, 5))
def test_more_of_the_one_word_asked_for_never_lowers_a_page_that_has_it(pages, word, as_printed, n_more):
    pages = [[*pages[0], word], *pages[1:]]
    richer = [[*pages[0], *[word] * n_more], *pages[1:]]
    # As printed, the largest count of the pool divides those of all pages, so it must not change.
    if as_printed:
        pages, richer = ([*each, [5] * 30] for each in (pages, richer))
    before, after = (similarity(each, [word], as_printed=as_printed)[0] for each in (pages, richer))
    assert after >= before - 1e-12
    before, after = (ranks_of(each, [word], as_printed=as_printed)[0] for each in (pages, richer))
    assert after <= before


@given(st.lists(st.lists(words, max_size=8), min_size=1, max_size=6), st.lists(words, min_size=1, max_size=5))
def test_the_whole_description_once_more_never_lowers_a_mean_similarity(pages, description):
    from scenthound.metrics.base import PoolVectors
    from scenthound.metrics.ranks import similarities

    def to_description(first):
        pool = rows(first, *pages[1:])
        frequency = pool.document_frequency(N_WORDS)
        vectors = PoolVectors(pool, tf_idf_weights(pool, frequency, len(pool)), frequency)
        return similarities(vectors, count_words(ids(*description)))[0]

    # The page has every word of the description already, so that document frequencies stay.
    page = [*pages[0], *description]
    assert to_description([*page, *description]) >= to_description(page) - 1e-12


def test_linkage_ranks_go_by_keywords_and_then_by_page_rank():
    # Keywords 1 and 2: the pages have both (one of them twice), one, one, none.
    pool = rows((1, 1, 2), (1, 5), (2, 2, 2), (4,))
    assert keywords_in(pool, ids(1, 2), N_WORDS).tolist() == [2, 1, 1, 0]
    assert linkage_ranks(pool, ids(1, 2), np.array([0.1, 0.2, 0.3, 0.4]), N_WORDS).tolist() == [1, 3, 2, 4]
    assert linkage_ranks(pool, ids(1, 2), np.array([0.1, 0.3, 0.3, 0.4]), N_WORDS).tolist() == [1, 2.5, 2.5, 4]
    assert keywords_in(pool, ids(1, 1, 2), N_WORDS).tolist() == [2, 1, 1, 0]


@given(
    st.lists(st.lists(words, max_size=6), min_size=2, max_size=6), st.lists(words, min_size=1, unique=True), st.data()
)
def test_more_keywords_never_lower_a_linkage_rank(pages, keywords, data):
    page_rank = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(pages), max_size=len(pages))))
    more = data.draw(st.lists(st.sampled_from(keywords)))
    before, after = (
        linkage_ranks(rows(first, *pages[1:]), ids(*keywords), page_rank, N_WORDS)[0]
        for first in (pages[0], [*pages[0], *more])
    )
    assert after <= before
