"""What the pictures of a validation leave out."""

import numpy as np

from scenthound.ui.reports.validation_charts import without_far_bins


def test_empty_bins_at_the_far_end_are_left_out():
    near, is_cut = without_far_bins(np.array([[5.0, 3.0, 0.0, 0.0], [4.0, 2.0, 2.0, 0.0]]))
    assert near.tolist() == [[5, 3, 0], [4, 2, 2]]
    assert not is_cut


def test_bins_with_little_in_them_become_one_that_keeps_every_page():
    # Beyond distance 1 lie 4 of 1,000 pages, less than half a percent.
    near, is_cut = without_far_bins(np.array([[600.0, 396.0, 2.0, 2.0]]))
    assert near.tolist() == [[600, 400]]
    assert is_cut


def test_what_is_much_for_one_strategy_is_shown_for_all():
    # Of the second strategy just half a percent lies beyond distance 1, and nothing beyond 2.
    near, is_cut = without_far_bins(np.array([[600.0, 400.0, 0.0, 0.0], [600.0, 395.0, 5.0, 0.0]]))
    assert near.tolist() == [[600, 400, 0], [600, 395, 5]]
    assert not is_cut


def test_means_that_are_no_whole_numbers_leave_nothing_beyond_the_last_bin():
    assert without_far_bins(np.array([[0.1, 0.2, 0.3, 0.7, 0.0]]))[1] is False


def test_a_strategy_without_any_page_hinders_nothing():
    near, _ = without_far_bins(np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]))
    assert near.tolist() == [[0, 0], [1, 1]]
