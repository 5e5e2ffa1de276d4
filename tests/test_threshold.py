"""`scenthound threshold` from labels to a suggestion, on a small web about balloons, trains and gardens."""

import errno
import json
import os
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from evolution_web import N, record_topical, url, write_topical
from scenthound.errors import InvalidInput
from scenthound.experiments.threshold import suggestion
from scenthound.experiments.threshold.curve import MIN_LABELS, Goal
from scenthound.experiments.threshold.suggestion import PageScorer, ScoredBy, suggest_threshold
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import read_topics, write_topics

#: Pages that are not examples of any topic.
LABELLED = range(60, 108)


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    return record_topical(tmp_path_factory.mktemp("web"))


@pytest.fixture
def topics(tmp_path):
    return write_topical(tmp_path)


@pytest.fixture
def labels(tmp_path):
    """Every third page is labelled as about balloons, whatever its words."""
    return write_labels(tmp_path / "labels.csv", LABELLED)


@pytest.fixture
def threshold(web, topics, scenthound):
    """Call `scenthound threshold` for balloons."""

    def call(labels, *arguments):
        return scenthound("threshold", labels, "--web", web, "--topics", topics, "--topic", "balloon", *arguments)

    return call


def write_labels(file, pages):
    file.write_text("".join(f"{url(i)},{'yes' if i % 3 == 0 else 'no'}\n" for i in pages))
    return file


def test_a_threshold_is_suggested_with_its_uncertainty_and_figures(threshold, labels, tmp_path):
    code, out, err = threshold(labels, "--out", tmp_path / "curve.svg", "--out", tmp_path / "curve.png")
    assert code == 0, err
    assert re.search(r"\b48 .*\bcosine .*\bballoon\b.*\b16\b", out)
    assert out.count("*") == 2
    values = json.loads(threshold(labels, "--json")[1])
    assert re.search(rf"^Threshold: {values['threshold']}, .*\bF1\b", out, re.MULTILINE)
    assert re.search(rf": recall {values['expected_elsewhere']['recall']:.2f}\.$", out, re.MULTILINE)
    assert re.search(rf"\b{values['low']} and {values['high']}\b", out)
    assert f"--threshold {values['threshold']}" in out
    assert (tmp_path / "curve.svg").read_bytes().startswith(b"<?xml")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_the_suggested_threshold_separates_pages_with_the_keyword(web, topics, labels):
    # Words of other subjects never say balloon, so a threshold just above 0 has no false page, and misses only balloon
    # pages without the word.
    found = suggest_threshold(labels, web=web, scored_by=ScoredBy(topics, "balloon"))
    recorded = RecordedWeb.open(web)
    (word,) = recorded.find_words(["balloon"])
    with_word = sum(word in recorded.words(recorded.page_of(url(i))) for i in LABELLED if i % 3 == 0)
    row = found.choice.row
    assert (row.n_accepted, row.precision.value) == (with_word, 1)
    assert row.recall.value == with_word / 16


def test_json_has_the_suggestion_and_every_threshold(threshold, labels):
    code, out, err = threshold(labels, "--json", "--recall", 1)
    assert code == 0, err
    values = json.loads(out)
    assert (values["least_precision"], values["least_recall"]) == (None, 1)
    assert values["at_threshold"]["recall"]["value"] == 1
    assert (values["n_relevant"], values["n_irrelevant"], values["n_unlabelled"]) == (16, 32, 0)
    assert values["threshold"] in [row["threshold"] for row in values["thresholds"]]


def test_a_minimum_precision_is_reached(threshold, labels):
    _, out, _ = threshold(labels, "--json", "--precision", 0.9)
    assert json.loads(out)["at_threshold"]["precision"]["value"] >= 0.9


def test_the_proposed_commands_have_existing_options(threshold, labels, scenthound):
    _, out, _ = threshold(labels, "--relevance", "svm")
    lines = [line.split("  ")[0] for line in map(str.strip, out.splitlines()) if line.startswith("scenthound ")]
    assert [shlex.split(line)[1] for line in lines] == ["crawl", "evolve", "validate"]
    for line in lines:
        _, command, *words = shlex.split(line)
        _, text, _ = scenthound(command, "--help")
        assert all(word in text for word in words if word.startswith("--")), line
    assert "--train-from DIR" in lines[0]


def test_scores_need_no_web(scenthound, tmp_path):
    (tmp_path / "scores.csv").write_text("score,label\n0.1,no\n0.2,no\n0.3,yes\n0.6,no\n0.7,yes\n0.9,yes\n0.9,\n")
    code, out, err = scenthound("threshold", tmp_path / "scores.csv")
    assert code == 0, err
    assert re.search(r"^Threshold: 0\.25, .*\bF1\b", out, re.MULTILINE)
    assert re.search(r"^1 line .*\blabel\b", out, re.MULTILINE)
    # The intervals are wide, so more pages with scores near the threshold should be labelled.
    assert re.search(r" 0\.25\.$", out, re.MULTILINE)
    (tmp_path / "margins.csv").write_text("-2,no\n-1,no\n1,yes\n1.5,yes\n3,yes\n5,no\n")
    code, out, _ = scenthound("threshold", tmp_path / "margins.csv", "--precision", 0.7)
    assert re.search(r"^Threshold: 0\.0, .*\b0\.7\.$", out, re.MULTILINE)
    # No strategy takes it.
    assert "scenthound " not in out


def test_perfect_rates_are_reported_with_the_lower_end_of_their_interval(scenthound, tmp_path):
    def suggested(text):
        """The values of a suggestion, and what is printed."""
        (tmp_path / "scores.csv").write_text("".join(f"{line}\n" for line in text.split()))
        values = json.loads(scenthound("threshold", tmp_path / "scores.csv", "--json")[1])
        return values, scenthound("threshold", tmp_path / "scores.csv")[1]

    # Above 0.3 five pages are accepted, all relevant; the page at 0.1 is missed, so that recall is 5 of 6.
    # All of 5: 1 / (1 + 1.96^2 / 5) = 0.57 at least.
    values, out = suggested("0.1,yes 0.2,no 0.3,no 0.5,yes 0.6,yes 0.7,yes 0.8,yes 0.9,yes")
    assert values["perfect_rates"] == ["precision"]
    assert round(values["at_threshold"]["precision"]["low"], 2) == 0.57
    assert re.search(r" 5 accepted .*\bprecision .*\b0\.57\b", out)
    assert re.search(r": recall 0\.\d\d\.$", out, re.MULTILINE)
    # Without an error there is nothing to expect; 2 of 2 are 1 / (1 + 1.96^2 / 2) = 0.34 at least.
    values, out = suggested("0.1,no 0.2,no 0.3,no 0.8,yes 0.9,yes")
    assert values["perfect_rates"] == ["precision", "recall"]
    assert re.search(r" 2 accepted .*\bprecision .*\b0\.34\b", out)
    assert re.search(r" 2 relevant .*\brecall .*\b0\.34\b", out)
    assert not re.search(r": (precision|recall) \d", out)
    # One of the accepted pages is not relevant and one relevant is missed: both are corrected, and F1 too.
    values, out = suggested("0.1,yes 0.2,no 0.3,no 0.5,yes 0.6,no 0.7,yes 0.8,yes 0.9,yes")
    assert values["perfect_rates"] == []
    assert re.search(r": precision 0\.\d\d, recall 0\.\d\d, F1 0\.\d\d\.$", out, re.MULTILINE)
    assert not re.search(r" \d (accepted|relevant) ", out)


def test_a_classifier_is_trained_on_examples_that_are_not_labelled(web, topics, tmp_path):
    # The examples of a topic are the first pages about it; half of them are labelled.
    labels = write_labels(tmp_path / "labels.csv", range(30))
    found = suggest_threshold(labels, web=web, scored_by=ScoredBy(topics, "balloon", "svm"))
    assert re.match(r"10 examples .*\b20 ", found.trained_on)


class Memory:
    """Scores pages that it was trained on as 1, and others as 0."""

    def __init__(self, positives, negatives):
        self._known = {*positives, *negatives}

    def page(self, page):
        return float(page in self._known)


@pytest.mark.parametrize("cross_validate", [False, True])
def test_no_labelled_page_is_scored_by_a_model_trained_on_it(web, topics, monkeypatch, cross_validate):
    monkeypatch.setattr(suggestion, "training_of", lambda _web, positives, negatives: Memory(positives, negatives))
    monkeypatch.setattr(suggestion, "scores_for", lambda _topic, _model, _web, training: training)
    recorded = RecordedWeb.open(web)
    pages = [recorded.page_of(url(i)) for i in range(30)]
    scorer = PageScorer(recorded, ScoredBy(topics, "balloon", "svm", cross_validate=cross_validate))
    # All of them are examples, of this topic or of another one.
    assert scorer.labelled(pages, np.arange(30) % 3 == 0)[0].tolist() == [0] * 30
    # When pages are drawn to be labelled, nothing is labelled yet, and all examples may train.
    if not cross_validate:
        assert scorer.to_label().sum() == 20 + 40


def test_cross_validation_separates_subjects_but_not_random_labels(web, topics):
    recorded = RecordedWeb.open(web)
    pages = [recorded.page_of(url(i)) for i in LABELLED]
    scorer = PageScorer(recorded, ScoredBy(topics, "balloon", "svm", cross_validate=True))

    def gap(is_relevant):
        scores, _ = scorer.labelled(pages, is_relevant)
        return scores[is_relevant].mean() - scores[~is_relevant].mean()

    assert scorer.labelled(pages, np.arange(48) % 3 == 0)[1].endswith(" 5 folds")
    assert gap(np.arange(48) % 3 == 0) > 0.3 > gap(np.random.default_rng(4).random(48) < 0.5)


def test_a_classifier_can_be_trained_on_a_folder(threshold, labels, tmp_path):
    for kind, text in (("positive", "balloon balloon"), ("negative", "train garden")):
        (tmp_path / "pages" / kind).mkdir(parents=True)
        (tmp_path / "pages" / kind / "page.txt").write_text(text)
    code, out, err = threshold(labels, "--relevance", "svm", "--train-from", tmp_path / "pages")
    assert code == 0, err
    assert "(1 positive, 1 negative)." in out


def test_a_training_folder_with_a_labelled_page_is_rejected(threshold, labels, web, tmp_path):
    recorded = RecordedWeb.open(web)
    words = [recorded.vocabulary[word] for word in recorded.words(recorded.page_of(url(63))) if word]
    for kind, text in (("positive", " ".join(words)), ("negative", "train garden")):
        (tmp_path / "pages" / kind).mkdir(parents=True)
        (tmp_path / "pages" / kind / "page.txt").write_text(text)
    code, _, err = threshold(labels, "--relevance", "svm", "--train-from", tmp_path / "pages")
    assert code == 2
    assert re.search(rf"{url(63)} .*{tmp_path / 'pages'} ", err)


def test_pages_are_drawn_labelled_and_used(threshold, tmp_path):
    file = tmp_path / "to_label.csv"
    code, out, err = threshold(file, "--suggest", 30)
    assert code == 0, err
    assert re.search(rf"\b30 pages .*{file}\.", out)
    heading, *lines = file.read_text().splitlines()
    assert (heading, len(lines)) == ("url,label,weight,title", 30)
    code, _, err = threshold(file)
    assert code == 2
    assert re.search(rf"{file} .*\b0 \(30 .*: .*\b{MIN_LABELS}\b", err)
    code, _, err = threshold(file, "--suggest", 30)
    assert code == 2
    assert re.search(rf"{file} .*--force\b", err)
    numbers = [int(line.split(",")[0].rsplit("/", 1)[1]) for line in lines]
    filled = [line.replace(",,", ",yes," if i % 3 == 0 else ",no,", 1) for line, i in zip(lines, numbers, strict=True)]
    file.write_text("\n".join([heading, *filled]))
    code, out, err = threshold(file)
    assert code == 0, err
    assert re.search(rf"\b30 pages .*\b{N} pages\b", out)
    assert threshold(file, "--suggest", 12, "--force", "--json")[0] == 0
    assert len(file.read_text().splitlines()) == 13


def test_the_same_seed_draws_the_same_pages(threshold, tmp_path):
    drawn = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        threshold(tmp_path / name, "--suggest", 20, "--random-seed", seed)
        drawn.append((tmp_path / name).read_text())
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_page_labelled_twice_counts_once(threshold, labels):
    labels.write_text(labels.read_text() + f"{url(60)}#part,yes\n")
    code, out, _ = threshold(labels)
    assert code == 0
    assert re.search(r"^1 line ", out, re.MULTILINE)
    assert json.loads(threshold(labels, "--json")[1])["n_repeated"] == 1


USAGE_ERRORS = {
    "too few labels": (f"{url(60)},yes\n", (), rf"labels\.csv .*\b1: .*\b{MIN_LABELS}\b"),
    "one class": ("".join(f"{url(i)},no\n" for i in range(6)), (), r"\b6 .*\birrelevant\b"),
    "an unknown word": (f"{url(60)},maybe\n", (), "line 1: .*'maybe'"),
    "a page that is not there": (
        "".join(f"http://x.test/{i},yes\n" for i in range(6)),
        (),
        r"line 1: http://x\.test/0 .*\b5\b",
    ),
    "two labels for a page": (
        "".join(f"{url(i)},no\n" for i in range(6)) + f"{url(2)},yes\n",
        (),
        f"line 7: {url(2)} .*line 3",
    ),
    "scores and a web": ("0.1,yes\n", (), r"labels\.csv .*--web .*--topics\b"),
    "two goals": (None, ("--precision", 0.9, "--recall", 0.9), "--precision .*--recall "),
    "a goal that is no share": (None, ("--recall", 90), r"recall .*\b90\b"),
    "two things to learn from": (
        None,
        ("--relevance", "svm", "--cross-validate", "--train-from", "x"),
        "--train-from .*--cross-validate ",
    ),
    "a model nobody knows": (None, ("--relevance", "svn"), "'svm'"),
    "a picture of no kind": (None, ("--out", "curve.txt"), r"curve\.txt\b"),
    "a picture in no folder": (None, ("--out", "nowhere/curve.svg"), "nowhere "),
    "folds without labels": (
        None,
        ("--relevance", "svm", "--cross-validate", "--suggest", 20, "--force"),
        "--cross-validate",
    ),
}


@pytest.mark.parametrize("case", USAGE_ERRORS)
def test_usage_errors_are_one_line(case, threshold, labels):
    text, arguments, message = USAGE_ERRORS[case]
    if text is not None:
        labels.write_text(text)
    before = labels.read_text()
    code, out, err = threshold(labels, *arguments)
    assert (code, out) == (2, "")
    assert re.search(message, err)
    assert len(err.strip().splitlines()) == 1
    assert labels.read_text() == before


def test_pages_need_a_web_and_topics(scenthound, labels, web, topics):
    for arguments, message in (
        ((), "--web .*--topics"),
        (("--web", web), "--web .*--topics"),
        (("--relevance", "svm"), "--topics"),
        (("--web", web, "--suggest", 20), "--web .*--topics"),
        (("--web", web, "--topics", topics), r"\b3 topics: .*--topic\b.*\bballoon\b"),
        (("--web", web, "--topics", topics, "--topic", "baloon"), "'balloon'"),
    ):
        code, _, err = scenthound("threshold", labels, *arguments)
        assert (code, len(err.strip().splitlines())) == (2, 1)
        assert re.search(message, err)


def test_a_classifier_without_training_pages_is_rejected(web, topics, labels, tmp_path):
    alone = [topic for topic in read_topics(topics) if topic.id == "balloon"]
    write_topics(tmp_path / "one.jsonl", alone)
    with pytest.raises(InvalidInput, match=r"svm .*\bother topics\b.*one\.jsonl .*--train-from"):
        suggest_threshold(labels, web=web, scored_by=ScoredBy(tmp_path / "one.jsonl", relevance="svm"))


def test_cross_validation_needs_two_pages_of_each_class(web, topics, tmp_path):
    labels = write_labels(tmp_path / "few.csv", [60, 61, 62, 64, 65])
    with pytest.raises(InvalidInput, match=r"\b5 .*\b1 .*\brelevant\b"):
        suggest_threshold(labels, web=web, scored_by=ScoredBy(topics, "balloon", "svm", cross_validate=True))


def test_without_matplotlib_the_extra_is_named(threshold, labels, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = threshold(labels, "--out", tmp_path / "curve.svg")
    assert code == 2
    assert err.strip().endswith("pip install 'scenthound[lab]'.")


def test_the_documentation_names_existing_options_and_its_example_is_right(scenthound, tmp_path):
    page = (Path(__file__).resolve().parents[1] / "docs" / "threshold.md").read_text(encoding="utf-8")
    helps = "".join(scenthound(command, "--help")[1] for command in ("threshold", "evolve", "simulate"))
    for option in set(re.findall(r"--[a-z][a-z-]+", page)):
        assert re.search(rf"{option}\b", helps), option
    rows = re.findall(r"^\| (0\.\d) \| (yes|no) \|$", page, re.MULTILINE)
    (tmp_path / "six.csv").write_text("".join(f"{score},{label}\n" for score, label in rows))
    best = suggest_threshold(tmp_path / "six.csv").choice.row
    assert (best.threshold, best.precision.value, best.recall.value, best.f1.value) == (0.25, 3 / 4, 1, 6 / 7)
    precise = suggest_threshold(tmp_path / "six.csv", goal=Goal(least_precision=0.8)).choice.row
    assert (precise.threshold, precise.recall.value) == (0.65, 2 / 3)


def test_a_figure_that_cannot_be_written_is_reported_in_one_line(scenthound, tmp_path, monkeypatch):
    labels = tmp_path / "labels.csv"
    labels.write_text("score,label\n" + "".join(f"0.{n},{'yes' if n > 4 else 'no'}\n" for n in range(1, 10)))

    def denied(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("scenthound.ui.figures.draw", denied)
    code, _, err = scenthound("threshold", labels, "--out", tmp_path / "curve.svg")
    assert code == 2
    assert f"curve.svg: {os.strerror(errno.EACCES)}" in err
    assert len(err.strip().splitlines()) == 1
