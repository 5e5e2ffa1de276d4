"""How large differences are, and all that is said of a pair of strategies: by examples on paper, and by scipy."""

import math
import re
import runpy
import sys
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from scenthound.errors import MissingExtra
from scenthound.experiments.statistics import (
    bca_interval,
    compare_pairs,
    d_z,
    paired_t,
    rank_biserial,
    wins_ties_losses,
)


def array(*values):
    return np.array(values, np.float64)


#: Some numbers without a pattern, with ties and a zero.
MIXED = array(0.4, -0.1, 0.3, 0.0, 0.3, 0.9, -0.2, 0.1, 1.6, 0.5)


def test_d_z_on_paper():
    # 1, 2, 3, 4, 5: mean 3, standard deviation sqrt(2.5); the correction for 4 degrees of freedom is
    # gamma(2) / (sqrt(2) * gamma(1.5)), and gamma(1.5) = sqrt(pi) / 2.
    correction = 1 / (math.sqrt(2) * math.sqrt(math.pi) / 2)
    assert d_z(array(1, 2, 3, 4, 5)) == pytest.approx(correction * 3 / math.sqrt(2.5))


def test_d_z_where_it_is_endless_nothing_or_unknown():
    assert (d_z(np.full(4, 0.2)), d_z(np.full(4, -0.2)), d_z(np.zeros(4))) == (inf, -inf, 0)
    assert math.isnan(d_z(array(1, 2)))


def test_rank_biserial_on_paper():
    # Without the zero: -1, 2, 2, -4 have ranks 1, 2.5, 2.5, 4. For: 5; against: 5.
    assert rank_biserial(array(-1, 2, 0, 2, -4)) == 0
    # 1, -2, 3: ranks 1, 2, 3; (4 - 2) / 6.
    assert rank_biserial(array(1, -2, 3)) == pytest.approx(1 / 3)
    assert (rank_biserial(array(1, 5)), rank_biserial(array(-1, -5)), rank_biserial(array(0, 0))) == (1, -1, 0)
    assert math.isnan(rank_biserial(array(nan)))


def test_rank_biserial_is_what_wilcoxons_test_is_made_of():
    ranks_for = stats.wilcoxon(MIXED, alternative="greater", method="asymptotic").statistic
    all_ranks = 9 * 10 / 2  # one of ten is 0
    assert rank_biserial(MIXED) == pytest.approx((2 * ranks_for - all_ranks) / all_ranks)


def test_ranks_of_differences_that_differ_by_rounding_are_shared():
    # Both have rank 1.5, so they make up for each other.
    assert rank_biserial(array(0.1 + 0.2, -0.3)) == 0


def test_topics_are_won_lost_or_neither():
    assert wins_ties_losses(array(1, 2, 0, -1, nan)) == (2, 1, 1)


def test_a_comparison_tells_all_of_a_pair():
    a, b = array(1, 3, 5, 7, 9, 2, 4), array(0, 1, 2, 3, 4, 2, nan)
    found = compare_pairs(a, b)
    differences = array(1, 2, 3, 4, 5, 0)
    assert (found.n, found.mean_difference) == (6, 2.5)
    assert (found.low, found.high) == bca_interval(differences)
    assert (found.t, found.p_t) == (paired_t(differences).t, paired_t(differences).p)
    assert found.standard_error == pytest.approx(math.sqrt(3.5 / 6))
    # One of 32 ways to flip five signs is as good, and one as bad.
    assert (found.p_permutation, found.rank_biserial) == (2 / 32, 1)
    assert found.d_z == d_z(differences)
    assert (found.wins, found.ties, found.losses) == (5, 1, 0)


def test_a_comparison_without_topics_is_empty():
    found = compare_pairs(array(nan), array(1))
    assert (found.n, found.wins) == (0, 0)
    for value in (found.mean_difference, found.low, found.t, found.p_permutation, found.d_z, found.rank_biserial):
        assert math.isnan(value)


def test_a_comparison_is_not_fooled_by_rounding_in_differences_made_elsewhere():
    # Subtracted before they were handed in: five times 5.6e-17, which is no win.
    made = np.full(5, 0.1 + 0.2) - 0.3
    found = compare_pairs(made, np.zeros(5))
    assert (found.wins, found.ties, found.t, found.p_permutation, found.d_z) == (0, 5, 0, 1, 0)


def test_less_is_better_by_the_sign_of_what_is_handed_in():
    ranks, of_others = array(10, 20, 30, 40, 50), array(12, 25, 31, 44, 52)
    assert compare_pairs(-ranks, -of_others).wins == 5
    assert compare_pairs(-ranks, -of_others).low > 0


def test_the_python_example_of_the_guide_comes_out_as_it_says(tmp_path, capsys):
    relevance_model = Path(__file__).resolve().parents[1] / "docs" / "statistics.md"
    (script,) = re.findall(r"```python\n(.*?)```", relevance_model.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "example.py").write_text(script, encoding="utf-8")
    runpy.run_path(str(tmp_path / "example.py"))
    compared, told = capsys.readouterr().out.splitlines()
    assert "wins=8, ties=0, losses=0" in compared
    assert told.startswith("reproduced ")


def test_without_scipy_a_test_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtra, match="lab"):
        paired_t(MIXED)
