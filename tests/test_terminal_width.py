"""Output on narrow terminals: wrapped text, commands that can be copied, and tables."""

import shlex

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from scenthound.cli.results import print_metrics
from scenthound.experiments.closed_world import ClosedWorldReport
from scenthound.experiments.evaluate import Evaluation, StrategyResult
from scenthound.experiments.statistics import MeanCurve
from scenthound.ui import terminal as wrapped
from scenthound.ui.terminal import print_commands, print_facts, print_rows

NARROW = 80


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrapped, "columns", lambda: NARROW)
    monkeypatch.setattr(wrapped, "_console", lambda: Console(width=NARROW))


def test_paragraphs_are_wrapped_with_their_indent(capsys: pytest.CaptureFixture[str]) -> None:
    text = "   " + "seventeen letters " * 9
    wrapped.say(text)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("   s") and len(line) <= NARROW for line in lines)
    assert " ".join(" ".join(lines).split()) == text.strip()


def test_output_to_a_file_is_not_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrapped, "columns", lambda: None)
    assert wrapped.filled("word " * 50 + "end", "", "  ").count("\n") == 0


@given(st.lists(st.from_regex(r"[a-z-]{1,30}", fullmatch=True), min_size=1, max_size=40))
def test_a_wrapped_command_is_the_same_command(words: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wrapped, "columns", lambda: NARROW)
        shown = wrapped.filled_command(shlex.join(words), "  ", "      ")
    assert all(len(line) <= NARROW for line in shown.splitlines())
    assert shlex.split(shown.replace("\\\n", "")) == words


def test_wrapped_facts_are_indented(capsys: pytest.CaptureFixture[str]) -> None:
    print_facts({"regret": "some words " * 12})
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("  regret  some words")
    assert second.startswith("          words some")


def test_long_commands_are_above_their_purpose(capsys: pytest.CaptureFixture[str]) -> None:
    print_commands({f"scenthound explain {'folder/' * 8} http://a.test/{'x' * 30}": "why it was taken"})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(" \\")
    assert lines[-1].strip() == "why it was taken"


def test_words_in_tables_are_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    row = ["http://a.test/" + "x" * 60, f"near-duplicate of {'y' * 30}", "123,456", "0.1234", "0.1234", "0.1234"]
    print_rows(
        "t", ["page", "anchor", "visit", "relevance", "link's context", "link's anchor"], [row], n_text_columns=2
    )
    out = capsys.readouterr().out
    assert all(len(line) <= NARROW for line in out.splitlines())
    assert all(len(line) == NARROW for line in out.splitlines() if line.startswith("│"))
    assert all(line.endswith("│") for line in out.splitlines() if line.startswith("│"))
    for word in ("near-duplicate", "123,456", "relevance", "context", "0.1234"):
        assert word in out


def test_errors_are_below_means_in_narrow_tables(
    capsys: pytest.CaptureFixture[str],
) -> None:
    steps = np.array([25, 50, 100, 150])
    curve = MeanCurve(steps, np.array([0.1, 0.2, 0.3, 0.4]), np.full(4, 0.05), 10)
    result = StrategyResult(
        "live, strict order", {"recall": curve}, 1.0, 150.0, 10, by_topic={"recall": np.full((10, 4), 0.3)}
    )
    print_metrics(Evaluation(150, (25, 50, 100, 150), ("recall",), (result,), ClosedWorldReport(150, (), ())))
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert [row.split("│")[1].strip() for row in rows] == ["live, strict order", ""]
    assert rows[0].count("*") == 4
    assert rows[1].count("± 0.050") == 4
    assert all(len(row) <= NARROW for row in rows)
