"""Rank files: what is written is read back to the last bit, and what cannot be used is refused in one line."""

import errno
import os
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidParameter, UsageError
from scenthound.strategies.rank_file import Generation, RankFile, rank_file_text, read_rank_file
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules
from scenthound.toml_files import toml_lines, toml_value

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.floats(allow_nan=False) | st.integers(-(10**20), 10**20)
scalars = texts | st.booleans() | numbers
records = st.dictionaries(
    texts, st.recursive(scalars, lambda each: st.lists(each, max_size=3), max_leaves=6), max_size=4
)
rows = st.lists(st.floats(0, 1e6) | st.just(0.0), min_size=13, max_size=13).filter(any).map(tuple)
finite = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def rank_files(draw):
    bounds = sorted(draw(st.sets(st.integers(1, 10_000), max_size=3)))
    split_by = draw(st.sampled_from(["distance", "phase"])) if bounds else "nothing"
    weights = tuple(draw(rows) for _ in range(len(bounds) + 1))
    history = st.builds(Generation, st.integers(0, 99), finite, finite, st.integers(0, 10**6))
    return RankFile(
        RankRules(weights, split_by, tuple(bounds)),
        relevance_model=draw(texts),
        threshold=draw(st.floats(0.01, 0.99)),
        hub_over=draw(st.sampled_from(["mean", "max"])),
        score_range=draw(st.sampled_from([1.0, 4.0])),
        renew=draw(st.sampled_from(["links", "siblings"])),
        training=draw(records),
        history=tuple(draw(st.lists(history, max_size=3))),
    )


@pytest.fixture(scope="module")
def rank_file_path(tmp_path_factory):
    return tmp_path_factory.mktemp("rank") / "best.toml"


@given(rank_file=rank_files())
def test_what_is_written_is_read_back_to_the_last_bit(rank_file_path, rank_file):
    rank_file_path.write_text(rank_file_text(rank_file), encoding="utf-8", newline="")
    assert read_rank_file(rank_file_path) == rank_file


@given(records)
def test_any_record_goes_through_toml(record):
    assert tomllib.loads("\n".join(toml_lines(record))) == record
    assert tomllib.loads(f"x = {toml_value([record])}")["x"] == [record]


def test_half_of_a_surrogate_pair_is_written_as_its_escape_sequence():
    assert tomllib.loads(f"x = {toml_value('a' + chr(0xDC80))}")["x"] == "a\\udc80"


def test_what_has_no_form_in_toml_is_refused():
    with pytest.raises(InvalidParameter, match=r"^None .*\bTOML\b"):
        toml_value([None])


def test_a_person_finds_the_formula_and_how_to_use_the_file():
    weights = tuple({"comm_out": 2.0, "parent_1": 1.0}.get(name, 0.0) for name in SCORE_NAMES)
    history = (Generation(0, 0.5, 0.25, 50), Generation(1, 0.75, 0.5, 100))
    text = rank_file_text(RankFile(RankRules((weights,)), training={"topics": ["a"]}, history=history))
    lines = text.splitlines()
    assert lines[0].startswith("# A rank function of Scenthound")
    assert "scenthound simulate --strategy evolved:file=" in lines[1]
    assert 'formula = "0.6667*COMM_OUT + 0.3333*PARENT_1"' in lines
    assert lines[lines.index("[weights]") :][:3] == [
        "[weights]",
        "comm_out = 0.6666666666666666",
        "parent_1 = 0.3333333333333333",
    ]
    assert lines[lines.index("[training]") + 1] == 'topics = ["a"]'
    assert lines[lines.index("[history]") :] == [
        "[history]",
        "generations = [",
        "    {generation = 0, best = 0.5, mean = 0.25, evaluations = 50},",
        "    {generation = 1, best = 0.75, mean = 0.5, evaluations = 100},",
        "]",
    ]


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return file


def weights_in(tmp_path, text):
    return [
        {name: weight for name, weight in zip(SCORE_NAMES, row, strict=True) if weight}
        for row in read_rank_file(written(tmp_path, text)).rules.weights
    ]


@pytest.mark.parametrize("n_rules", [1, 2])
def test_a_formula_can_be_changed_as_the_head_of_the_file_says(tmp_path, n_rules):
    hub, cash = (tuple(float(name == only) for name in SCORE_NAMES) for only in ("hub", "cash"))
    rules = RankRules((hub, cash)[:n_rules], "distance" if n_rules == 2 else "nothing", (1,) * (n_rules - 1))
    text = rank_file_text(RankFile(rules, training={"seed": 1}, history=(Generation(0, 0.5, 0.25, 50),)))
    head, table = text[: text.index("format")], "[rule.weights]" if n_rules == 2 else "[weights]"
    assert re.search(rf"\bformula\b.*{re.escape(table)}", head, re.DOTALL)
    changed = text.replace("1.0000*HUB", "ANCHOR").replace(f"{table}\nhub = 1.0\n", "")
    assert weights_in(tmp_path, changed) == [{"anchor": 1}, {"cash": 1}][:n_rules]


@pytest.mark.parametrize(
    "text",
    [
        'formula = "3*COMM_OUT + HUB"',
        "weights = {hub = 1, comm_out = 3}",
        "[weights]\nhub = 0.25\ncomm_out = 0.75",
        'formula = "3*COMM_OUT + HUB"\nweights = {hub = 1, comm_out = 3}',
        'formula = "3*COMM_OUT + HUB"\nweights = {hub = 0.25, comm_out = 0.75}',
        'formula = "0.75*COMM_OUT + 0.25*HUB"\nweights = {hub = 5, comm_out = 15}',
        '[[rule]]\nformula = "3*COMM_OUT + HUB"',
    ],
)
def test_a_formula_or_weights_or_both_are_enough(tmp_path, text):
    assert weights_in(tmp_path, text) == [{"hub": 0.25, "comm_out": 0.75}]
    read = read_rank_file(tmp_path / "mine.toml")
    assert (read.relevance_model, read.threshold, read.hub_over, read.training, read.history) == (
        "svm",
        0.5,
        "mean",
        {},
        (),
    )


def test_beside_a_rounded_formula_the_exact_weights_are_used(tmp_path):
    text = 'formula = "0.6667*HUB + 0.3333*CASH"\nweights = {hub = 2, cash = 1}'
    assert weights_in(tmp_path, text) == [{"hub": 2 / 3, "cash": 1 / 3}]


def test_several_rules_say_where_they_end(tmp_path):
    rule = '[[rule]]\n{}\nformula = "{}"\n'
    text = (
        rule.format("before_page = 100", "HUB") + rule.format("before_page = 1000", "CASH") + rule.format("", "ANCHOR")
    )
    assert weights_in(tmp_path, text) == [{"hub": 1}, {"cash": 1}, {"anchor": 1}]
    rules = read_rank_file(tmp_path / "mine.toml").rules
    assert (rules.split_by, rules.bounds) == ("phase", (100, 1000))
    by_distance = read_rank_file(written(tmp_path, text.replace("before_page", "up_to_distance"))).rules
    assert (by_distance.split_by, by_distance.bounds) == ("distance", (100, 1000))


TWO = '[[rule]]\n{}\nformula = "HUB"\n[[rule]]\n{}\nformula = "CASH"\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("formula = ", "is no rank file: not TOML"),
        ("", "There are no weights; write formula ="),
        ("formula = 3", "the file, formula: Expected"),
        ("weights = 3", "the file, weights: Expected"),
        ('formula = "HUBB"', "No score 'HUBB'. Did you mean 'HUB'?"),
        ("weights = {com_out = 1}", "No score 'com_out'. Did you mean 'comm_out'?"),
        ('formula = "-1*HUB + 2*CASH"', "The weight hub of a rank rule is -1.0"),
        ("weights = {hub = -1, cash = 2}", "The weight hub of a rank rule is -1.0"),
        ("weights = {hub = true}", "the file, weights"),
        ('weights = {hub = "1"}', "the file, weights"),
        ("weights = {hub = 0}", "must be greater than 0"),
        (
            'formula = "0.70*COMM_OUT + 0.30*HUB"\nweights = {comm_out = 0.75, hub = 0.25}',
            "formula 0.70*COMM_OUT + 0.30*HUB does not agree with the weights 0.7500*COMM_OUT + 0.2500*HUB; correct",
        ),
        (
            'formula = "0.7501*COMM_OUT + 0.2499*HUB"\nweights = {comm_out = 0.75, hub = 0.25}',
            "does not agree with the weights",
        ),
        ('formula = "HUB"\nversion = 2', "version is 2, but this Scenthound reads 1"),
        ('formula = "HUB"\nversion = "1"', "version is 1, but this Scenthound reads 1"),
        ('formula = "HUB"\nformat = "recipe"', "format is 'recipe'; it must be 'scenthound rank function'"),
        ('formula = "HUB"\ntreshold = 0.7', "No key 'treshold'. Did you mean 'threshold'?"),
        ('formula = "HUB"\nthreshold = 1.0', "threshold=1.0 is out of range"),
        ('formula = "HUB"\nthreshold = "x"', "the file, threshold: Expected `float`"),
        ('formula = "HUB"\nhub_over = "min"', "'min'"),
        ('formula = "HUB"\nrenew = "cousins"', "'cousins'"),
        ('formula = "HUB"\nscore_range = 0', "score_range=0"),
        ('formula = "HUB"\nguide = 3', "'guide'"),
        ('formula = "HUB"\ntraining = 3', "the file, training: Expected"),
        ('formula = "HUB"\nhistory = 3', "[history] must be a table"),
        ('formula = "HUB"\n[history]\ngenerations = 3', "[history], generations: Expected"),
        ('formula = "HUB"\n[history]\ngenerations = [[1]]', "[history], generations"),
        (
            'formula = "HUB"\n[history]\ngeneration = []',
            "[history]: No key 'generation'. Did you mean 'generations'?",
        ),
        (
            'formula = "HUB"\n[history]\ngenerations = [{generation = 1}]',
            "missing required field `best`",
        ),
        ('formula = "HUB"\n[history]\ngenerations = [{mode = 1}]', "missing required field `generation`"),
        ('formula = "HUB"\n[[rule]]\nformula = "CASH"', "a formula or weights outside them"),
        ("rule = []", "`rule` is not a list of tables"),
        ("rule = 3", "`rule` is not a list of tables"),
        (TWO.format("", ""), "Rule 1: Every rule except the last"),
        (TWO.format("before_page = 3", "before_page = 4"), "Rule 2: The last rule is for all other URLs"),
        (TWO.format("before_page = 3.5", ""), "Rule 1, before_page: Expected `int | null`"),
        (TWO.format("before_page = 3\nup_to_distance = 2", ""), "Rule 1: Every rule except the last"),
        (TWO.format("before_pages = 3", ""), "Rule 1: No key 'before_pages'. Did you mean 'before_page'?"),
        (TWO.format("before_page = 3", "") + '[[rule]]\nformula = "HUB"', "Rule 2: Every rule except the last"),
        (
            '[[rule]]\nup_to_distance = 1\nformula = "HUB"\n' + TWO.format("before_page = 3", ""),
            "Some rules end by up_to_distance and some by before_page",
        ),
        (TWO.format("before_page = 0", ""), "The bounds of rank rules are 0;"),
        ("x = 1" + "0" * 5000, "too long"),
    ],
)
def test_a_bad_file_is_refused_in_one_line_that_names_it(tmp_path, text, says):
    file = written(tmp_path, text)
    with pytest.raises(UsageError) as refused:
        read_rank_file(file)
    message = str(refused.value)
    assert says in message
    assert message.startswith(str(file))
    assert "\n" not in message


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path):
    with pytest.raises(UsageError, match=rf"nowhere\.toml: {os.strerror(errno.ENOENT)}"):
        read_rank_file(tmp_path / "nowhere.toml")
    with pytest.raises(UsageError, match=rf"^{tmp_path} .*\bfolder\b"):
        read_rank_file(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"formula = '\xff'")
    with pytest.raises(UsageError, match=r"bytes\.toml .*\bUTF-8\b"):
        read_rank_file(tmp_path / "bytes.toml")
