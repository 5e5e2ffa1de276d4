"""Thresholds and their rates, the choice of one, its uncertainty; label files and pages to label."""

import csv
import gzip
import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidInput, InvalidParameter
from scenthound.experiments.threshold.curve import (
    Goal,
    LabelledScores,
    choose_threshold,
    effective_size,
    thresholds_of,
    wilson,
)
from scenthound.experiments.threshold.labels import draw_by_score, read_labels, write_pages_to_label


def labelled(scores, labels, weights=None):
    weight = np.ones(len(scores)) if weights is None else np.array(weights, float)
    return LabelledScores(np.array(scores, float), np.array([label == "y" for label in labels]), weight)


#: Six pages in the order of their scores.
SIX = labelled([0.1, 0.2, 0.3, 0.6, 0.7, 0.9], "nnynyy")


def values(choice):
    return [(row.threshold, row.precision.value, row.recall.value) for row in choice.rows]


def test_precision_and_recall_at_every_threshold_equal_those_computed_by_hand():
    # Above 0.3: 0.6 n, 0.7 y, 0.9 y; the relevant page at 0.3 is missed.
    assert values(choose_threshold(SIX, Goal())) == [
        (0.1, 3 / 6, 1),
        (0.15, 3 / 5, 1),
        (0.25, 3 / 4, 1),
        (0.45, 2 / 3, 2 / 3),
        (0.65, 1, 2 / 3),
        (0.8, 1, 1 / 3),
    ]


def test_the_best_f1_is_the_default_goal():
    # F1 is 2 * found / (accepted + relevant): 6/9, 6/8, 6/7, 4/6, 4/5, 2/4.
    choice = choose_threshold(SIX, Goal())
    assert [row.f1.value for row in choice.rows] == pytest.approx([6 / 9, 6 / 8, 6 / 7, 4 / 6, 4 / 5, 2 / 4])
    assert (choice.row.threshold, choice.row.n_accepted) == (0.25, 4)


def test_a_minimum_precision_gives_the_threshold_with_the_highest_recall():
    assert choose_threshold(SIX, Goal(least_precision=0.7)).row.threshold == 0.25
    assert choose_threshold(SIX, Goal(least_precision=0.76)).row.threshold == 0.65
    assert choose_threshold(SIX, Goal(least_precision=1)).row.threshold == 0.65


def test_a_minimum_recall_gives_the_threshold_with_the_highest_precision():
    assert choose_threshold(SIX, Goal(least_recall=0.8)).row.threshold == 0.25
    assert choose_threshold(SIX, Goal(least_recall=0.5)).row.threshold == 0.65


def test_among_equals_the_higher_threshold_is_chosen():
    # F1 is 4/7 for all, 4/6 above 0.1, 2/5 and 2/4 above 0.2 and 0.3, and 2/3 for the highest page alone.
    pages = labelled([0.1, 0.2, 0.3, 0.4, 0.6], "nynny")
    choice = choose_threshold(pages, Goal())
    assert [row.f1.value for row in choice.rows] == pytest.approx([4 / 7, 4 / 6, 2 / 5, 2 / 4, 2 / 3])
    assert choice.row.threshold == 0.5


def test_among_equals_a_goal_of_recall_chooses_the_lower_threshold():
    # Above 0.1 a precision of 2/4 and all are found, above 0.3 1/2 and half of them.
    pages = labelled([0.1, 0.2, 0.3, 0.4, 0.5], "nynyn")
    choice = choose_threshold(pages, Goal(least_recall=0.5))
    assert values(choice)[1] == (0.15, 2 / 4, 1)
    assert values(choice)[3] == (0.35, 1 / 2, 1 / 2)
    assert choice.row.threshold == 0.15


def test_a_page_counts_by_its_weight():
    # Accepted above 0.45 are weights 1 (n), 2 (y) and 3 (y): 5/6; relevant in all are 4 + 2 + 3.
    pages = labelled(SIX.score, "nnynyy", [10, 10, 4, 1, 2, 3])
    row = choose_threshold(pages, Goal()).rows[3]
    assert (row.precision.value, row.recall.value) == (pytest.approx(5 / 6), pytest.approx(5 / 9))
    assert row.n_accepted == 3


def test_intervals_of_shares_are_wilson_intervals():
    # 4 of 5 with z = 1.96: centre (0.8 + 0.38415) / 1.7683 = 0.66966, reach 0.29364.
    measured = wilson(0.8, 5)
    assert (measured.low, measured.high) == pytest.approx((0.3755, 0.9638), abs=1e-4)
    # All of 5: 1 / (1 + z^2 / 5) = 0.5655 at least.
    assert wilson(1.0, 5).low == pytest.approx(0.5655, abs=1e-4)
    assert wilson(1.0, 5).high == pytest.approx(1)
    assert math.isnan(wilson(math.nan, 0).low)
    # A precision is of the pages accepted, a recall of the relevant ones: at 0.65 two and three.
    row = choose_threshold(SIX, Goal()).rows[4]
    assert (row.precision, row.recall) == (wilson(1.0, 2), wilson(2 / 3, 3))


def test_unequal_weights_reduce_the_effective_size():
    # (1 + 3)^2 / (1 + 9) = 1.6 pages of the same weight.
    assert effective_size(np.array([1.0, 3.0])) == pytest.approx(1.6)
    assert effective_size(np.array([2.0, 2.0])) == pytest.approx(2)
    assert effective_size(np.zeros(0)) == 0


def test_thresholds_are_short_numbers_between_scores():
    assert thresholds_of(np.array([0.123456, 0.5, 0.123456, 0.9])).tolist() == [0.12, 0.31, 0.7]
    # Midway is 0.12345, and two digits would lie below both.
    assert thresholds_of(np.array([0.1234, 0.1235])).tolist() == [0.12, 0.1234 + 0.0001]
    assert thresholds_of(np.array([-3.001, 4.0])).tolist() == [-3.01, 0.5]


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=30, unique=True))
def test_each_threshold_accepts_one_page_fewer(scores):
    thresholds = thresholds_of(np.array(scores))
    assert [sum(score >= threshold for score in scores) for threshold in thresholds] == list(range(len(scores), 0, -1))


def test_of_many_thresholds_some_are_left_out_but_not_the_ends():
    scores = np.arange(1000) / 1000
    thresholds = thresholds_of(scores)
    assert len(thresholds) == 200
    assert (thresholds[0], thresholds[-1]) == (0.0, pytest.approx(0.9985, abs=6e-4))


def noisy(n_pages, seed=3):
    rng = np.random.default_rng(seed)
    is_relevant = np.arange(n_pages) % 2 == 0
    scores = rng.normal(0.4 + 0.2 * is_relevant, 0.15).clip(0, 1)
    return LabelledScores(scores, is_relevant, np.ones(n_pages))


def test_more_labels_reduce_the_range_and_the_optimism():
    few, many = (choose_threshold(noisy(n_pages), Goal()) for n_pages in (16, 400))
    assert many.high - many.low < few.high - few.low
    assert few.low <= few.row.threshold <= few.high
    optimism = [choice.row.f1.value - choice.expected.f1 for choice in (few, many)]
    assert optimism[0] > optimism[1] > 0
    assert few.row.f1.low < few.row.f1.value < few.row.f1.high


def test_expected_rates_match_the_rates_on_other_pages():
    """Thresholds chosen by 30 labels, on a thousand other pages: the estimate is right on average."""
    others = noisy(1000, seed=99)
    promised, expected, true = [], [], []
    for seed in range(12):
        choice = choose_threshold(noisy(30, seed), Goal())
        accepted = others.score >= choice.row.threshold
        found = (accepted & others.is_relevant).sum()
        true.append(2 * found / (accepted.sum() + others.is_relevant.sum()))
        promised.append(choice.row.f1.value)
        expected.append(choice.expected.f1)
    assert abs(np.mean(expected) - np.mean(true)) < 0.5 * abs(np.mean(promised) - np.mean(true))


def test_the_same_labels_have_the_same_intervals():
    assert choose_threshold(SIX, Goal()) == choose_threshold(SIX, Goal())


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        (labelled([0.1, 0.2, 0.3, 0.4], "yyny"), r" 4 .* 5\b"),
        (labelled([0.1, 0.2, 0.3, 0.4, 0.5], "yyyyy"), r"\b5 .*\brelevant\b"),
        (labelled([0.1, 0.2, 0.3, 0.4, 0.5], "nnnnn"), r"\b5 .*\birrelevant\b"),
        (labelled([0.0, 0.0, 0.0, 0.0, 0.0], "ynynn"), " 0, "),
    ],
)
def test_uninformative_labels_are_rejected(pages, message):
    with pytest.raises(InvalidInput, match=message):
        choose_threshold(pages, Goal())


def test_an_unreachable_goal_is_rejected_with_the_best_value():
    pages = labelled([0.1, 0.2, 0.3, 0.4, 0.5], "nynyn")
    with pytest.raises(InvalidParameter, match=r"\bprecision .*\b0\.9 .*\b0\.500 .*\b0\.15; .*--precision\b"):
        choose_threshold(pages, Goal(least_precision=0.9))


@pytest.mark.parametrize("goal", [{"least_precision": 0}, {"least_precision": 1.2}, {"least_recall": -1}])
def test_goals_must_be_shares(goal):
    ((name, value),) = goal.items()
    with pytest.raises(InvalidParameter, match=rf"^{name.removeprefix('least_')} .* {value}; .* 0 .* 1\."):
        Goal(**goal)


def test_two_goals_are_rejected():
    with pytest.raises(InvalidParameter, match=r"--precision .*--recall "):
        Goal(0.9, 0.9)


def test_pages_to_label_are_drawn_from_all_strata():
    scores = np.arange(1000) / 1000
    drawn = draw_by_score(scores, 35, Random(1))
    assert len(drawn) == 35
    # Seven strata of 1, 2, 4, ... 64 in 127 of all pages: from the highest, they end after 8, 24, 55, 118, 244, 496 and
    # 1,000. Each has five of the 35, though the lowest is 63 times as large as the highest.
    ranks = np.array([999 - page for page in drawn])
    assert np.histogram(ranks, [0, 8, 24, 55, 118, 244, 496, 1000])[0].tolist() == [5] * 7
    # Together they represent all pages.
    assert sum(drawn.values()) == pytest.approx(1000)
    assert list(draw_by_score(scores, 35, Random(1)).items()) == list(drawn.items())
    # Their order does not reveal the scores.
    strata = np.digitize(ranks, [8, 24, 55, 118, 244, 496]).tolist()
    assert strata != sorted(strata)


@given(st.integers(1, 200), st.integers(10, 60), st.integers(0, 99))
def test_drawn_pages_represent_all_pages(n_pages, n_wanted, seed):
    scores = np.array([Random(seed).randint(0, 3) / 3 for _ in range(n_pages)])
    drawn = draw_by_score(scores, n_wanted, Random(seed))
    assert len(drawn) == min(n_wanted, n_pages)
    assert sum(drawn.values()) == pytest.approx(n_pages)
    assert all(weight >= 1 for weight in drawn.values())


# Label files


def labels_of(tmp_path, text, name="labels.csv"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_labels(tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        "http://a.test/,yes\nhttp://b.test/,no\n",
        "url,label\nhttp://a.test/,relevant\nhttp://b.test/,irrelevant\n",
        'Label,title,URL\n1,"a, b",http://a.test/\n0,,http://b.test/\n',
        '{"url": "http://a.test/", "label": true}\n\n{"url": "http://b.test/", "label": 0}\n',
        '{"url": "http://a.test/", "label": "Yes"}\n{"url": "http://b.test/", "label": "NO", "more": [1]}\n',
    ],
)
def test_labels_are_read_in_every_format(tmp_path, text):
    read = labels_of(tmp_path, text)
    assert [(label.url, label.is_relevant, label.weight) for label in read.labels] == [
        ("http://a.test/", True, 1),
        ("http://b.test/", False, 1),
    ]
    assert not read.has_scores


def test_a_label_file_may_have_scores_instead_of_pages(tmp_path):
    read = labels_of(tmp_path, "0.5,yes,3\n-1e-3,no\n")
    assert [(label.score, label.is_relevant, label.weight) for label in read.labels] == [
        (0.5, True, 3),
        (-0.001, False, 1),
    ]
    assert read.has_scores
    # The score is used, even if the line also has a page.
    assert labels_of(tmp_path, "url,score,label\nhttp://a.test/,0.5,yes\n").labels[0].url is None


def test_lines_without_a_label_are_counted(tmp_path):
    read = labels_of(tmp_path, "url,label\nhttp://a.test/,\nhttp://b.test/,yes\nhttp://c.test/\n")
    assert (len(read.labels), read.n_unlabelled) == (1, 2)
    assert labels_of(tmp_path, '{"url": "http://a.test/", "label": null}\n').n_unlabelled == 1


def test_compressed_files_are_read(tmp_path):
    (tmp_path / "labels.csv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfhttp://a.test/,yes\n"))
    assert read_labels(tmp_path / "labels.csv.gz").labels[0].url == "http://a.test/"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("http://a.test/,yes\nhttp://b.test/,perhaps\n", "line 2: the label is 'perhaps'; write yes or no"),
        ("url,label\n,yes\n", "line 2: neither a url nor a score"),
        ("score,label\nhigh,yes\n", "line 2: the score is 'high', which is not a valid number"),
        ("score,label\n1e308,yes\n", "which is not a valid number"),
        ("score,label\nnan,yes\n", "which is not a valid number"),
        ("http://a.test/,yes,0\n", "the weight is 0; it must be more than 0"),
        ("0.5,yes\n,no\n", "line 2: the score is|neither a url"),
        ("url,score,label\nhttp://a.test/,,yes\n,0.5,no\n", "some lines have a score and some a URL"),
        ('{"url": "http://a.test/", "label"\n', "line 1: not JSON"),
        ('{"url": "http://a.test/", "label": 1}\n[1]\n', "line 2: not an object"),
        ('{"url": 7, "label": 1}\n', "neither a url nor a score"),
        ('"http://a.test/,yes\n', None),
    ],
)
def test_an_invalid_line_is_rejected_with_its_number(tmp_path, text, message):
    if message is None:
        # The rest of the file belongs to a quote that is never closed.
        assert labels_of(tmp_path, text).n_unlabelled == 1
        return
    with pytest.raises(InvalidInput, match=message) as error:
        labels_of(tmp_path, text)
    assert "\n" not in str(error.value)


def test_unreadable_files_are_rejected(tmp_path):
    (tmp_path / "labels.csv").write_bytes(b"http://a.test/\xff,yes\n")
    with pytest.raises(InvalidInput, match="byte 14"):
        read_labels(tmp_path / "labels.csv")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"http://a.test/,yes\n" * 99)[:-12])
    with pytest.raises(InvalidInput, match=r"cut\.gz"):
        read_labels(tmp_path / "cut.gz")
    with pytest.raises(InvalidInput, match=r"nowhere\.csv"):
        read_labels(tmp_path / "nowhere.csv")


def test_a_file_to_fill_in_is_read_back(tmp_path):
    file = tmp_path / "labels.csv"
    write_pages_to_label(file, [("http://a.test/?a,b", 'So "it" is,\nor not', 12.5)])
    assert (read_labels(file).labels, read_labels(file).n_unlabelled) == ((), 1)
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    rows[0]["label"] = "yes"
    with file.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, rows[0])
        table.writeheader()
        table.writerows(rows)
    (label,) = read_labels(file).labels
    assert (label.url, label.is_relevant, label.weight) == ("http://a.test/?a,b", True, 12.5)
