"""Names that matplotlib, XML, a table or a shell would take for something else: they are shown, and read back."""

import csv
import io
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from comparisons import WantedComparison
from evolution_web import record_topical, url
from made_study import made_arm
from scenthound.api.laboratory import Comparison
from scenthound.cli.results import print_comparison
from scenthound.command_line import shell_word
from scenthound.experiments.compare.comparison import compare_strategies
from scenthound.experiments.compare.live_command import CANNOT_BE_NAMED
from scenthound.experiments.compare.results import crawls_csv
from scenthound.experiments.starts import TopicChoice
from scenthound.experiments.study.tables import Panel, Picture
from scenthound.model import Topic
from scenthound.topics.files import write_topics
from scenthound.ui.document import Figure
from scenthound.ui.figures import add_legend, draw, drawn, image_bytes, new_drawing, settle
from scenthound.ui.reports.comparison import curves_chart
from scenthound.ui.reports.study import study_figure
from timing import WAIT_S

#: A newline, a terminal's red, and letters that the font has not.
CONTROLS = "two\nlines \x1b[31m💥 中文 <b>&"
NUL = "a\0b"


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """A small comparison for a topic of this id; crawls do not depend on it but for chance."""
    folder = tmp_path_factory.mktemp("named")
    record_topical(folder)

    def call(topic_id):
        topics = folder / "topics.jsonl"
        write_topics(topics, [Topic(topic_id, ("balloon",), examples=tuple(url(i) for i in range(0, 60, 3)))])
        settings = WantedComparison(
            ("best_first", "breadth_first"), page_budget=100, repeats=20, n_start=3, relevance="cosine"
        )
        return compare_strategies(*settings.on(folder / "web", TopicChoice(topics)), folder / "crawls", workers=1)

    return call


def texts_of(figure) -> list[str]:
    """The texts of an SVG, which must be XML; the PNG must come without a warning."""
    image_bytes(figure, "png")
    root = ElementTree.fromstring(image_bytes(figure, "svg"))
    return ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_control_characters_are_escaped_in_the_table(named):
    done = named(CONTROLS)
    shown = r"two\nlines \x1b[31m💥 中文 <b>&"
    rows = list(csv.DictReader(io.StringIO(crawls_csv(done))))
    assert {row["topic"] for row in rows} == {shown}


def test_special_characters_in_parameters_are_drawn(named):
    compared = named("balloon").result
    row = replace(compared.ranking[0], name="evolved:file=$a$\x1b.json")
    chart = curves_chart(replace(compared, ranking=(row, *compared.ranking[1:])))
    texts = texts_of(draw(Figure("curves", chart.title, (chart,))))
    assert r"evolved:file=$a$\x1b.json" in texts


def test_legends_have_each_name_once_and_as_it_is_written():
    figure = new_drawing(4, 3)
    axes = figure.add_subplot()
    long = "x" * 90
    for name in ("a$1$b", f"{long}1", f"{long}2", "a$1$b"):
        axes.plot([0, 1], label=name)
    add_legend(figure)
    settle(figure)
    texts = texts_of(figure)
    assert texts.count("a$1$b") == 1
    assert texts.count(f"{'x' * 80}...") == 2


def test_dollars_are_drawn_in_figures_of_studies():
    arm = made_arm()
    panels = (
        Panel("$x^2$", "task 1", ("recall",), "$y$", "a $ b $"),
        Panel("", "task 1", ("recall", "rank:by=lexical"), "", kind="bars", measure_names=("$1$", "$2$")),
    )
    texts = texts_of(draw(study_figure(Picture("figure", "", panels), [arm])))
    assert {"$x^2$", "$y$", "a $ b $", "$1$", "$2$"} <= set(texts)


@given(st.text(max_size=40))
def test_drawn_text_has_no_formula_and_no_control_character(text):
    from matplotlib.cbook import is_math_text

    assert not is_math_text(drawn(text))
    assert drawn(text).isprintable()


def test_the_live_command_is_one_line_that_a_shell_reads_back(named):
    command = named(CONTROLS).result.command
    assert command.isprintable()
    assert read_back(f"set -- {command}; printf '%s' \"$6\"") == CONTROLS.encode()


def read_back(script: str) -> bytes:
    return subprocess.run(["bash", "-c", script], capture_output=True, check=True, timeout=WAIT_S).stdout


def test_any_word_is_read_back_by_a_shell():
    # What could end the quotes, go on with an escape, or be taken for one; \udcff is a byte of a path that is no UTF-8.
    words = ["it's \\ \x1b", "\\\n'", "\x017", "\u200b9", "$HOME `ls` \t !", "\udcff", "", "plain", "'", "\x85é💥"]
    script = f"printf '%s\\0' {' '.join(map(shell_word, words))}"
    assert read_back(script) == b"".join(word.encode("utf-8", "surrogateescape") + b"\0" for word in words)


def test_a_topic_that_no_command_can_name_has_a_note(named, capsys):
    done = named(NUL).result
    assert (done.command, done.command_note) == ("", CANNOT_BE_NAMED)
    print_comparison(Comparison(None, done))
    said = capsys.readouterr().out
    assert "scenthound crawl" not in said
    assert CANNOT_BE_NAMED in said


@pytest.fixture
def narrow(monkeypatch):
    """A terminal of 80 columns."""
    monkeypatch.setattr("scenthound.ui.terminal.columns", lambda: 80)
    monkeypatch.setattr("scenthound.ui.terminal._console", lambda: Console(width=80))


def test_a_narrow_terminal_breaks_names_between_their_words(named, narrow, capsys):
    done, long = named("balloon").result, "infospiders:initial_weight=0.5,learn_towards=agent"
    changed = replace(done, ranking=(replace(done.ranking[0], name=long), *done.ranking[1:]))
    print_comparison(Comparison(None, changed))
    said = capsys.readouterr().out
    cells = [line.split("│")[2].strip() for line in said.splitlines() if line.count("│") == 7]
    assert "".join(cells).startswith(long)
    assert cells[0].endswith((":", "=", ","))


def test_a_command_is_not_broken_within_quotes(named, narrow, capsys):
    long = "hot air balloons over the mountains and the lakes of the whole country"
    for topic_id, n_lines in ((long, 1), (long.replace(" ", "_"), 3)):
        done = replace(named(topic_id).result, command_note="")
        print_comparison(Comparison(None, done))
        lines = capsys.readouterr().out.partition("Start it live:\n")[2].splitlines()
        assert len(lines) >= n_lines
        assert (len(lines) == 1) is (n_lines == 1)
        result = "\n".join(lines)
        assert read_back(f"set -- {result.strip()}; printf '%s' \"$6\"") == topic_id.encode()


def test_a_note_on_a_skipped_topic_has_no_control_characters(named, tmp_path):
    examples = tuple(url(i) for i in range(0, 60, 3))
    result = Topic("result", ("balloon",), description="A balloon.", examples=examples)
    write_topics(tmp_path / "two.jsonl", [result, Topic(CONTROLS, ("balloon",), examples=examples)])
    web = named("balloon").experiment.web
    settings = WantedComparison(("best_first",), by="mean_similarity", page_budget=10, repeats=1, n_start=3)
    choice = TopicChoice(tmp_path / "two.jsonl", ("result", CONTROLS))
    done = compare_strategies(*settings.on(Path(web), choice), tmp_path / "crawls", workers=1)
    assert all(note.isprintable() for note in done.result.notes)
    assert any(r"skipped: two\nlines" in note for note in done.result.notes)
