"""The figures of a study."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from made_study import made_arm, made_picture
from scenthound.errors import MissingExtra
from scenthound.experiments.study.measures import Measured
from scenthound.experiments.study.tables import Panel, Picture
from scenthound.ui.figures import draw, image_bytes, line_styles, marked_points, require_figures
from scenthound.ui.reports.study import measure_name, study_figure


def draw_picture(picture: Picture, arms):
    return draw(study_figure(picture, arms))


def drawn(*panels: Panel, arm=None):
    """The axes of a picture with these panels."""
    return draw_picture(Picture("figure", "", panels), [arm or made_arm()]).axes


def panel(measure="recall", **more) -> Panel:
    return Panel("", "task 1", (measure,), "share", **more)


def lines_of(axes) -> dict[str, list[float]]:
    return {line.get_label(): line.get_ydata().tolist() for line in axes.lines if not line.get_label().startswith("_")}


def test_a_curve_is_the_mean_over_topics_with_standard_errors():
    (axes,) = drawn(panel())
    # The recalls of the three topics are in the mean 0.8 at the end, and rise in equal steps.
    assert lines_of(axes)["Greedy"] == pytest.approx([0.2, 0.4, 0.6, 0.8])
    assert lines_of(axes)["Blind"] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    # The last error line: 0.8 ± 0.2 / sqrt(3).
    (_, low), (_, high) = axes.collections[0].get_segments()[-1]
    assert (low, high) == pytest.approx((0.8 - 0.2 / np.sqrt(3), 0.8 + 0.2 / np.sqrt(3)))


def test_a_panel_shows_the_crawlers_that_it_names():
    (axes,) = drawn(panel(crawlers=("Blind",)))
    assert list(lines_of(axes)) == ["Blind"]


def test_bounds_are_drawn_if_requested():
    with_them, without = drawn(panel(with_bounds=True), panel())
    assert list(lines_of(with_them)) == ["Greedy", "Blind", "random", "greedy oracle"]
    assert lines_of(with_them)["greedy oracle"] == [1, 1, 1, 1]
    assert list(lines_of(without)) == ["Greedy", "Blind"]


def test_lower_is_better_is_stated_once():
    ranks = panel("rank:by=lexical")
    low, labelled, shares = drawn(ranks, replace(ranks, y_label="mean rank (low is good)"), panel())
    assert low.get_ylabel() == "share (lower is better)"
    assert labelled.get_ylabel() == "mean rank (low is good)"
    assert shares.get_ylabel() == "share"
    assert shares.get_ylim()[0] == 0
    assert low.get_ylim()[0] > 0


def test_bars_are_the_means_at_the_end_in_groups_by_measure():
    (axes,) = drawn(Panel("", "task 1", ("recall", "rank:by=lexical"), "share", kind="bars"))
    heights = [[bar.get_height() for bar in bars.patches] for bars in axes.containers if hasattr(bars, "patches")]
    # Ranks are 100 times 1 less half of the recall: of 0.8 that is 60, of 0.4 it is 80.
    assert heights == [pytest.approx([0.8, 60.0]), pytest.approx([0.4, 80.0])]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["recall", "lexical"]


def test_bars_have_the_names_of_the_panel():
    bars = Panel("", "task 1", ("recall", "rank:by=lexical"), "share", kind="bars", measure_names=("Found", "SMART"))
    (axes,) = drawn(bars)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["Found", "SMART"]


def test_a_crawler_has_the_same_style_in_all_panels():
    first, second = drawn(panel(), panel(crawlers=("Blind",)))
    colours = [{line.get_label(): line.get_color() for line in axes.lines} for axes in (first, second)]
    assert colours[0]["Blind"] == colours[1]["Blind"] != colours[0]["Greedy"]


def test_the_legend_names_every_crawler_once():
    panels = (panel(with_bounds=True), panel("rank:by=lexical"))
    (legend,) = draw_picture(Picture("figure", "", panels), [made_arm()]).legends
    assert [text.get_text() for text in legend.get_texts()] == ["Greedy", "Blind", "random", "greedy oracle"]


def test_styles_differ_for_more_crawlers_than_colours():
    many = line_styles([f"crawler {number}" for number in range(28)])
    assert len({(look.colour, look.line) for look in many.values()}) == 28


@pytest.mark.parametrize(("n_points", "n_crawlers"), [(1, 2), (4, 7), (10, 3), (200, 7)])
def test_every_curve_has_markers(n_points, n_crawlers):
    marked = [marked_points(n_points, number, n_crawlers) for number in range(n_crawlers)]
    assert all(each and max(each) < n_points for each in marked)
    assert all(len(each) >= min(n_points, 9) for each in marked)


def test_markers_of_long_curves_are_offset():
    # 200 points have a marker at every 20th; three crawlers start at the 5th, 10th and 15th point.
    assert [marked_points(200, number, 3)[:2] for number in range(3)] == [[5, 25], [10, 30], [15, 35]]


def test_measures_are_named_by_their_difference():
    assert measure_name("classified:by=widrow_hoff") == "widrow hoff"
    assert measure_name("target_recall") == "target recall"


def test_a_measure_without_values_has_an_empty_panel():
    arm = made_arm()
    nothing = Measured(arm.measured["recall"].x, np.full((2, 3, 4), np.nan))
    empty = replace(arm, measured={"recall": nothing}, bounds={})
    figure = draw_picture(Picture("figure", "", (panel(), panel(kind="bars"))), [empty])
    assert image_bytes(figure, "png").startswith(b"\x89PNG")


def test_a_single_topic_has_a_curve_without_errors():
    arm = made_arm()
    one = Measured(arm.measured["recall"].x, arm.measured["recall"].values[:, :1])
    (axes,) = drawn(panel(), arm=replace(arm, measured={"recall": one}, bounds={}))
    assert lines_of(axes)["Greedy"] == pytest.approx([0.15, 0.3, 0.45, 0.6])


@pytest.mark.parametrize("form", ["svg", "png"])
def test_drawing_is_deterministic(form):
    picture = Picture("figure", "", (panel(with_bounds=True),))
    first, second = (image_bytes(draw_picture(picture, [made_arm()]), form) for _ in range(2))
    assert first == second


def test_an_svg_keeps_text_and_has_no_date():
    svg = image_bytes(draw_picture(made_picture("figure"), [made_arm()]), "svg").decode()
    assert ">share found</text>" in svg
    assert "dc:date" not in svg


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"^Drawing a study .*scenthound\[lab\]"):
        require_figures("Drawing a study")
