"""How far judges agree: kappas by hand and by scikit-learn."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from scenthound.errors import InvalidParameter
from scenthound.relevance.classifiers import agreement, cohen_kappa, fleiss_kappa
from scenthound.relevance.classifiers.base import share_unanimous


def verdicts(said):
    return np.array([letter == "+" for letter in said], dtype=np.bool_)


def test_cohens_kappa_by_hand():
    # They agree on 7 of 10. One accepts 5, the other 4: by chance they agree on 0.5 * 0.4 + 0.5 * 0.6 = 0.5.
    assert cohen_kappa(verdicts("+++++-----"), verdicts("+++---+---")) == pytest.approx((0.7 - 0.5) / 0.5)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=30))
def test_cohens_kappa_agrees_with_scikit_learn(pairs):
    first, second = (np.array(column) for column in zip(*pairs, strict=True))
    if len({*first.tolist(), *second.tolist()}) == 2:
        assert cohen_kappa(first, second) == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)


def test_fleiss_kappa_by_hand():
    # Three judges, four pages: 3, 2, 1 and 0 accept. Of the pairs on a page 1, 1/3, 1/3 and 1 agree: 2/3 in the mean.
    # Half of all verdicts accept: by chance 1/2 agree. (2/3 - 1/2) / (1/2) = 1/3.
    said = [verdicts("+++-"), verdicts("++--"), verdicts("+---")]
    assert fleiss_kappa(said) == pytest.approx(1 / 3)


def test_one_share_for_all_tells_fleiss_from_cohen():
    # Two judges who agree on 2 of 4 and accept 3 and 1: chance is 3/4 * 1/4 * 2 = 0.375 by Cohen, 1/2 by Fleiss.
    first, second = verdicts("+++-"), verdicts("+---")
    assert cohen_kappa(first, second) == pytest.approx((0.5 - 0.375) / 0.625)
    assert fleiss_kappa([first, second]) == pytest.approx(0)


def test_the_agreement_of_three_names_every_pair():
    said = {"a": verdicts("+++-"), "b": verdicts("+++-"), "c": verdicts("+---")}
    found = agreement(said)
    assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [pair.kappa for pair in found.pairs] == pytest.approx([1, 0.2, 0.2])
    assert (found.n_pages, found.unanimous) == (4, 0.5)
    assert found.fleiss == fleiss_kappa(list(said.values()))


def test_where_nobody_ever_says_anything_else_kappa_is_not_a_number():
    always, never = verdicts("++"), verdicts("--")
    assert isnan(cohen_kappa(always, always))
    assert isnan(fleiss_kappa([never, never, never]))
    assert share_unanimous([always, always]) == 1
    # Both are constant but never agree, which is no less than chance.
    assert cohen_kappa(always, never) == 0


def test_without_pages_there_is_no_agreement_to_tell():
    none = verdicts("")
    found = agreement({"a": none, "b": none})
    assert found.n_pages == 0
    assert isnan(found.fleiss)
    assert isnan(found.unanimous)
    assert isnan(found.pairs[0].kappa)


def test_one_judge_and_judges_of_different_pages_are_refused_in_one_line():
    with pytest.raises(InvalidParameter, match=r"\bjudges\b.*\b1\."):
        agreement({"a": verdicts("+-")})
    with pytest.raises(InvalidParameter, match="2, 3"):
        fleiss_kappa([verdicts("+-"), verdicts("+-+")])
