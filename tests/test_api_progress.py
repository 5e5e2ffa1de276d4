"""Progress displays of the API: a bar in a terminal or a notebook, lines in a log, or nothing."""

import sys

import pytest

from scenthound.api import progress
from scenthound.api.progress import show_progress, time_left
from scenthound.model import silent


@pytest.fixture
def clock(monkeypatch):
    """A list whose last item is the time."""
    times = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: times[-1])
    return times


def test_scripts_without_a_terminal_display_nothing(capsys):
    with show_progress("working", None) as report:
        report(1.0, "done")
    assert report is silent
    assert capsys.readouterr() == ("", "")


def test_progress_can_be_a_function_or_switched_off():
    reports = []
    with show_progress("working", lambda *each: reports.append(each)) as report:
        report(0.5, "half")
    assert reports == [(0.5, "half")]
    with show_progress("working", False) as report:
        assert report is silent


def test_a_terminal_displays_a_bar(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with show_progress("working", None) as report:
        report(0.25, "25 pages")
    assert "working" in capsys.readouterr().err


def test_a_log_has_a_line_at_once_then_every_few_seconds_and_at_the_end(capsys, clock):
    with show_progress("working", True) as report:
        for now_s, share in ((0, 0.0), (1, 0.1), (6, 0.2), (7, 0.3), (12, 0.35), (13, 1.0)):
            clock.append(now_s)
            report(share, f"{100 * share:.0f} pages")
    assert capsys.readouterr().err.splitlines() == [
        "working:   0%  0 pages",
        "working:  20%  20 pages, 40 s left",
        "working:  35%  35 pages, 29 s left",
        "working: 100%  100 pages",
    ]


def test_the_time_left_does_not_count_what_was_done_before(capsys, clock):
    with show_progress("working", True) as report:
        # Resumed at 60 %; reading takes a minute; then 10 % take ten seconds.
        for now_s, share in ((0, 0.6), (60, 0.61), (70, 0.71)):
            clock.append(now_s)
            report(share, "")
    assert capsys.readouterr().err.splitlines()[-1].endswith(", 29 s left")


@pytest.mark.parametrize(("seconds", "text"), [(5, "5 s"), (89, "89 s"), (600, "10 min"), (7200, "2.0 h")])
def test_time_left_has_a_suitable_unit(seconds, text):
    assert time_left(seconds) == text
