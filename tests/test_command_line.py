"""Command lines that repeat something: which words are in them, and how they are broken into lines."""

import shlex

from hypothesis import example, given
from hypothesis import strategies as st

from scenthound.command_line import command_line, in_lines, unless


def test_options_are_left_out_stand_alone_or_are_repeated():
    options = [("--web", "my web"), ("--topic", ("a", "b")), ("--plain", True), ("--judge", None), ("--deep", False)]
    assert command_line(("scenthound", "compare"), options) == (
        "scenthound compare --web 'my web' --topic a --topic b --plain"
    )
    assert command_line(("scenthound",), [("--train", 0)]) == "scenthound --train 0"


def test_default_values_are_left_out():
    assert unless("examples", "examples") is None
    assert unless(7, 10) == 7


def test_no_command_line_can_hold_a_nul_character():
    assert command_line(("scenthound",), [("--topic", "a\0b")]) == ""


def test_every_option_has_a_line_of_its_own():
    command = command_line(("scenthound", "crawl", "t.jsonl"), [("--topic", "hot --air"), ("--pages", 40)])
    assert in_lines(command) == "scenthound crawl t.jsonl \\\n    --topic 'hot --air' \\\n    --pages 40"


@given(
    st.lists(st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1), min_size=1)
)
@example(["it's", "a 'b' --c", '"'])
def test_in_lines_nothing_is_changed_but_the_ends_of_lines(values):
    command = command_line(("scenthound", "compare"), [("--topic", tuple(values))])
    assert in_lines(command).replace(" \\\n   ", "") == command
    if all(value.isprintable() for value in values):
        assert shlex.split(command)[3::2] == values


def test_names_with_control_characters_are_not_broken():
    command = command_line(("scenthound",), [("--topic", "it's\n --x"), ("--pages", 1)])
    assert in_lines(command).splitlines()[1:] == ["    --topic $'it\\'s\\012 --x' \\", "    --pages 1"]
