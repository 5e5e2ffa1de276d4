"""`scenthound simulate` with a trained relevance model: options, stored settings, errors."""

import json
import re
import sys

import pytest

from ring_web import topic
from scenthound.cli import main
from scenthound.topics.files import write_topics

pytestmark = pytest.mark.usefixtures("no_figures")


@pytest.fixture
def simulate(web_path, topics_file, tmp_path, monkeypatch, capsys):
    """Call `scenthound simulate` on the ring; returns exit code, standard output and standard error."""

    def call(*arguments, topics=topics_file):
        command = ("simulate", "--web", web_path, "--topics", topics, "--out", tmp_path / "run", "--workers", 1)
        given = (*command, "--strategy", "best_first", "--pages", 9, *arguments)
        monkeypatch.setattr(sys, "argv", ["scenthound", *map(str, given)])
        with pytest.raises(SystemExit) as stop:
            main()
        message = capsys.readouterr()
        return stop.value.code or 0, message.out, message.err

    return call


def starts(tmp_path):
    return [json.loads(line) for line in (tmp_path / "run" / "starts.jsonl").read_text().splitlines()]


def test_a_classifier_can_be_the_relevance_model(simulate, tmp_path):
    code, out, err = simulate("--relevance", "svm", "--train", 3, "--start", 4)
    assert code == 0, err
    assert "2 crawls" in out
    for start in starts(tmp_path):
        assert len(start["training"]) == 7
        assert len(start["negatives"]) == 14
        assert not set(start["training"]) & set(start["targets"])


def test_one_topic_of_a_file_can_be_learnt_against_the_others(simulate, tmp_path):
    code, _, err = simulate("--relevance", "svm", "--topic", "train")
    assert code == 0, err
    (start,) = starts(tmp_path)
    assert start["topic"] == "train"
    assert start["negatives"]


def test_as_published_targets_train(simulate, tmp_path):
    code, _, err = simulate("--relevance", "svm", "--as-published")
    assert code == 0, err
    assert all(set(start["targets"]) < set(start["training"]) for start in starts(tmp_path))


def test_what_trains_may_be_named(simulate, tmp_path):
    for kind in ("positive", "negative"):
        (tmp_path / "pages" / kind).mkdir(parents=True)
        (tmp_path / "pages" / kind / "page.html").write_text("<p>balloon" if kind == "positive" else "<p>train")
    from_folder = ("--relevance", "svm", "--train-from", tmp_path / "pages", "--task", "neighbours")
    code, _, err = simulate(*from_folder, "--topic", "train")
    assert code == 0, err
    assert [start["training"] for start in starts(tmp_path)] == [[]]
    code, _, err = simulate(*from_folder, "--force")
    assert (code, "--topic" in err) == (2, True)


WRONG_USE = {
    "nothing to learn from": (("--relevance", "svm", "--task", "neighbours"), "'balloon'.* --train, .*--train-from"),
    "a folder that is not there": (
        ("--relevance", "svm", "--topic", "train", "--train-from", "nowhere"),
        "nowhere .*'positive'",
    ),
    "two things to learn from": (("--train", 3, "--as-published"), "--train, .*--as-published"),
    "less than nothing": (("--train", -1), "--train"),
    "a model nobody knows": (("--relevance", "svn"), "'svm'"),
    "a cost of nothing": (("--relevance", "svm:cost=0"), "cost=0.0"),
}


@pytest.mark.parametrize("case", WRONG_USE)
def test_wrong_use_is_one_clear_line_and_nothing_is_left_behind(case, simulate, tmp_path):
    arguments, says = WRONG_USE[case]
    before = sorted(tmp_path.iterdir())
    code, _, err = simulate(*arguments)
    assert code == 2
    assert re.search(says, err)
    assert len(err.strip().splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_with_one_topic_cannot_be_learnt(simulate, tmp_path):
    write_topics(tmp_path / "one.jsonl", [topic("balloon")])
    code, _, err = simulate("--relevance", "svm", topics=tmp_path / "one.jsonl")
    assert code == 2
    # More topics are needed, and not more examples of this one.
    assert re.search("'balloon'.*--train-from", err)
    assert "--train, " not in err
    assert len(err.strip().splitlines()) == 1


def test_without_the_library_there_is_one_line_on_how_to_get_it(simulate, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    code, _, err = simulate("--relevance", "svm")
    assert code == 2
    assert err.strip().endswith("pip install 'scenthound[learn]'.")
    assert len(err.strip().splitlines()) == 1


def test_the_help_describes_relevance_models_and_training(simulate, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = simulate("--help")
    assert code == 0
    for printed in ("--relevance", "--train ", "--train-from", "--as-published"):
        assert printed in out
