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
from scenthound.experiments.compare.results import as_json, crawls_csv, parse_comparison
from scenthound.experiments.starts import TopicChoice
from scenthound.experiments.study.tables import Panel, Picture
from scenthound.model import Topic
from scenthound.topics.files import write_topics
from scenthound.ui.figures import add_legend, draw, drawn, image_bytes, new_drawing, settle
from scenthound.ui.reports.comparison import draw_ranking
from scenthound.ui.reports.study import study_figure
from timing import WAIT_S

FORMULA = r"cost $5 \frac{ vs $0"
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
        settings = WantedComparison(("best_first", "breadth_first"), page_budget=10, repeats=1, n_start=3)
        return compare_strategies(*settings.on(folder / "web", TopicChoice(topics)), folder / "crawls", workers=1)

    return call


def ranking_figure(done):
    return draw_ranking(parse_comparison(as_json(done)))


def texts_of(figure) -> list[str]:
    """The texts of an SVG, which must be XML; the PNG must come without a warning."""
    image_bytes(figure, "png")
    root = ElementTree.fromstring(image_bytes(figure, "svg"))
    return ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_a_topic_with_dollars_is_drawn_as_it_is_written(named):
    (title,) = (text for text in texts_of(ranking_figure(named(FORMULA))) if text.startswith("topic "))
    assert title.startswith(f"topic {FORMULA}: ")


def test_control_characters_are_spelled_out_in_pictures_and_in_the_table(named):
    done = named(CONTROLS)
    shown = r"two\nlines \x1b[31m💥 中文 <b>&"
    assert any(text.startswith(f"topic {shown}: ") for text in texts_of(ranking_figure(done)))
    rows = list(csv.DictReader(io.StringIO(crawls_csv(done))))
    assert {row["topic"] for row in rows} == {shown}


def test_a_strategy_with_odd_letters_in_a_parameter_is_drawn_with_them(named):
    done = named("balloon")
    first = done.ranking[0]
    odd = replace(first.contestant, spec="evolved:file=$a$\x1b.json")
    compared = parse_comparison(as_json(done))
    row = replace(compared.rows[0], name=odd.spec)
    texts = texts_of(draw_ranking(replace(compared, rows=(row, *compared.rows[1:]))))
    assert r"evolved:file=$a$\x1b.json" in texts


def test_a_very_long_id_leaves_room_for_the_picture(named):
    (title,) = (text for text in texts_of(ranking_figure(named("x" * 5000))) if text.startswith("topic "))
    assert title.startswith(f"topic {'x' * 40}...: ")


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


def test_pictures_of_studies_show_dollars_too():
    arm = made_arm()
    panels = (
        Panel("$x^2$", "task 1", ("recall",), "$y$", "a $ b $"),
        Panel("", "task 1", ("recall", "rank:by=lexical"), "", kind="bars", measure_names=("$1$", "$2$")),
    )
    texts = texts_of(draw(study_figure(Picture("figure", "", panels), [arm])))
    assert {"$x^2$", "$y$", "a $ b $", "$1$", "$2$"} <= set(texts)


@given(st.text(max_size=40))
def test_what_is_drawn_has_no_formula_and_no_control_character(text):
    from matplotlib.cbook import is_math_text

    assert not is_math_text(drawn(text))
    assert drawn(text).isprintable()


def test_the_live_command_is_one_line_that_a_shell_reads_back(named):
    done = named(CONTROLS)
    assert done.command.isprintable()
    assert read_back(f"set -- {done.command}; printf '%s' \"$5\"") == CONTROLS.encode()


def read_back(script: str) -> bytes:
    return subprocess.run(["bash", "-c", script], capture_output=True, check=True, timeout=WAIT_S).stdout


def test_any_word_is_read_back_by_a_shell():
    # What could end the quotes, go on with an escape, or be taken for one; \udcff is a byte of a path that is no UTF-8.
    words = ["it's \\ \x1b", "\\\n'", "\x017", "\u200b9", "$HOME `ls` \t !", "\udcff", "", "plain", "'", "\x85é💥"]
    script = f"printf '%s\\0' {' '.join(map(shell_word, words))}"
    assert read_back(script) == b"".join(word.encode("utf-8", "surrogateescape") + b"\0" for word in words)


def test_where_no_command_can_name_the_topic_that_is_said(named, capsys):
    done = named(NUL)
    assert (done.command, done.command_note) == ("", CANNOT_BE_NAMED)
    print_comparison(Comparison(None, done), False)
    said = capsys.readouterr().out
    assert "Start it live" not in said
    assert CANNOT_BE_NAMED in said


@pytest.fixture
def narrow(monkeypatch):
    """A terminal of 80 columns."""
    monkeypatch.setattr("scenthound.ui.terminal.columns", lambda: 80)
    monkeypatch.setattr("scenthound.ui.terminal._console", lambda: Console(width=80))


def test_a_narrow_terminal_breaks_names_between_their_words(named, narrow, capsys):
    done = named("balloon")
    first = done.ranking[0]
    long = replace(first.contestant, spec="infospiders:initial_weight=0.5,learn_towards=agent")
    others = [placed.contestant for placed in done.ranking[1:]]
    experiment = replace(done.experiment, strategies=(long.spec, *(each.spec for each in others)))
    ranking = replace(first, contestant=long), *done.ranking[1:]
    changed = replace(done, experiment=experiment, contestants=(long, *others), ranking=ranking)
    print_comparison(Comparison(None, changed), False)
    said = capsys.readouterr().out
    cells = [line.split("│")[2].strip() for line in said.splitlines() if line.count("│") == 7]
    assert "".join(cells).startswith(long.spec)
    assert cells[0].endswith((":", "=", ","))


def test_a_command_is_not_broken_within_quotes(named, narrow, capsys):
    long = "hot air balloons over the mountains and the lakes of the whole country"
    for topic_id, n_lines in ((long, 1), (long.replace(" ", "_"), 3)):
        done = replace(named(topic_id), command_note="")
        print_comparison(Comparison(None, done), False)
        lines = capsys.readouterr().out.partition("Start it live:\n")[2].splitlines()
        assert len(lines) >= n_lines
        assert (len(lines) == 1) is (n_lines == 1)
        told = "\n".join(lines)
        assert read_back(f"set -- {told.strip()}; printf '%s' \"$5\"") == topic_id.encode()


def test_a_topic_that_is_left_out_is_named_without_control_characters(named, tmp_path):
    examples = tuple(url(i) for i in range(0, 60, 3))
    told = Topic("told", ("balloon",), description="A balloon.", examples=examples)
    write_topics(tmp_path / "two.jsonl", [told, Topic(CONTROLS, ("balloon",), examples=examples)])
    web = named("balloon").experiment.web
    settings = WantedComparison(("best_first",), by="mean_similarity", page_budget=10, repeats=1, n_start=3)
    choice = TopicChoice(tmp_path / "two.jsonl", ("told", CONTROLS))
    done = compare_strategies(*settings.on(Path(web), choice), tmp_path / "crawls", workers=1)
    assert all(note.isprintable() for note in done.notes)
    assert any(r"skipped: two\nlines" in note for note in done.notes)
