"""The common behaviour of all judges: learning, determinism and unusual training pages."""

import pickle
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from labelled_pages import BALLOONS, N_WORDS, TOY, TOY_OFTEN, TRAINS, labelled, rows
from scenthound.errors import InvalidParameter, InvalidTopic, MissingExtra, UnknownName
from scenthound.relevance.classifiers import (
    JUDGE_NAMES,
    JUDGES,
    LINEAR_JUDGES,
    VOTING_JUDGES,
    Labelled,
    trained_judge,
    vote,
)
from scenthound.store.record import record

every_judge = pytest.mark.parametrize("name", JUDGE_NAMES)


@every_judge
def test_a_topic_is_learnt_and_found_again_in_pages_never_seen(name):
    judge = trained_judge(name, TOY_OFTEN)
    assert judge.accepts(rows([1, 2, 3, 9], [3, 4, 2, 9], [5, 8, 9], [6, 7, 9, 10])).tolist() == [
        True,
        True,
        False,
        False,
    ]


@every_judge
def test_training_is_repeated_to_the_page(name):
    pages = rows(*([a, b, 9] for a in range(1, 9) for b in range(a, 11)))
    once, again = (trained_judge(name, TOY).accepts(pages).tolist() for _ in range(2))
    assert once == again


@every_judge
def test_no_pages_and_an_empty_page_have_their_verdicts(name):
    judge = trained_judge(name, TOY_OFTEN)
    assert judge.accepts(rows()).tolist() == []
    assert judge.accepts(rows([1, 2, 3, 9], [], [0, 0])).tolist() == [True, False, False]


@every_judge
def test_words_of_no_training_page_change_nothing(name):
    # 11 is in the vocabulary but on no page, the others came into it later.
    judge = trained_judge(name, TOY)
    plain, strange = rows([1, 2, 9], [5, 6, 9], [10]), rows([1, 2, 9, 11, 700], [5, 6, 9, N_WORDS], [10, 11, 11])
    assert judge.accepts(plain).tolist() == judge.accepts(strange).tolist()


@every_judge
def test_one_page_of_the_topic_is_enough_to_train(name):
    judge = trained_judge(name, labelled([[1, 2, 3, 9]], TRAINS))
    assert judge.accepts(rows([5, 6, 9], [8, 9], [])).tolist() == [False, False, False]
    if name != "neural_net":  # a net may well go with the many
        assert judge.accepts(rows([1, 2, 3, 9])).tolist() == [True]


@every_judge
def test_where_all_pages_look_alike_nothing_is_accepted(name):
    judge = trained_judge(name, labelled([[1, 2]] * 2, [[1, 2]] * 5))
    assert not judge.accepts(rows([1, 2], [1], [], [3, 4])).any()


@every_judge
def test_pages_that_are_all_empty_train_a_judge_that_accepts_nothing(name):
    judge = trained_judge(name, labelled([[]] * 2, [[]] * 5))
    assert not judge.accepts(rows([1, 2], [])).any()


@every_judge
def test_a_judge_can_be_sent_to_another_process(name):
    judge = trained_judge(name, TOY)
    pages = rows([1, 2, 9], [5, 6, 9], [10, 4])
    assert pickle.loads(pickle.dumps(judge)).accepts(pages).tolist() == judge.accepts(pages).tolist()


@pytest.mark.parametrize("name", ["rocchio", "naive_bayes"])
def test_the_order_of_the_training_pages_does_not_matter_to_those_who_take_means(name):
    pages = rows(*([a, b, 9] for a in range(1, 9) for b in range(a, 11)))
    order = np.random.default_rng(3).permutation(len(TOY.rows)).astype(np.int32)
    shuffled = Labelled(TOY.rows.take(order), TOY.is_positive[order], N_WORDS)
    assert trained_judge(name, shuffled).accepts(pages).tolist() == trained_judge(name, TOY).accepts(pages).tolist()


@pytest.mark.parametrize("name", ["widrow_hoff", "exponentiated_gradient"])
def test_the_order_matters_to_those_who_learn_page_by_page(name):
    order = np.arange(len(TOY.rows), dtype=np.int32)[::-1]
    turned = Labelled(TOY.rows.take(order), TOY.is_positive[order], N_WORDS)
    weights = [dict(zip(j.words.words.tolist(), j.weights, strict=True)) for j in map(_linear(name), (TOY, turned))]
    assert weights[0].keys() == weights[1].keys()
    assert weights[0] != pytest.approx(weights[1], abs=1e-6)


def _linear(name):
    return lambda training: trained_judge(name, training)


@pytest.mark.parametrize(("positives", "negatives"), [((), TRAINS), (BALLOONS, ())])
def test_pages_of_one_kind_alone_are_refused_in_one_line(positives, negatives):
    with pytest.raises(InvalidTopic, match=rf"\b{len(positives)} and {len(negatives)}\b") as caught:
        labelled(positives, negatives)
    assert "\n" not in str(caught.value)


def test_unknown_judges_and_options_are_told_with_what_is_known():
    with pytest.raises(UnknownName, match=r"'rochio'.*'rocchio'"):
        trained_judge("rochio", TOY)
    with pytest.raises(InvalidParameter, match="words=0"):
        trained_judge("svm:words=0", TOY)


def test_the_names_are_those_of_the_two_studies():
    assert LINEAR_JUDGES == ("rocchio", "widrow_hoff", "exponentiated_gradient")
    assert VOTING_JUDGES == ("svm", "naive_bayes", "neural_net")
    assert sorted(JUDGE_NAMES) == JUDGES.names()
    assert str(JUDGES.make("rocchio:gamma=0,beta=16")) == "rocchio:gamma=0.0"


@pytest.mark.parametrize("name", VOTING_JUDGES)
def test_without_scikit_learn_the_message_names_the_extra(name, monkeypatch):
    for missing in ("sklearn", "scipy"):
        for module in [module for module in sys.modules if module.partition(".")[0] == missing]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtra, match=rf"{name}\b.*scenthound\[learn\]"):
        trained_judge(name, TOY)


@pytest.mark.parametrize("name", LINEAR_JUDGES)
def test_the_linear_judges_need_numpy_alone(name, monkeypatch):
    for missing in ("sklearn", "scipy"):
        monkeypatch.setitem(sys.modules, missing, None)
    assert trained_judge(name, TOY).accepts(rows([1, 2, 3])).all()


def test_the_guide_to_judges_tells_every_option_and_default():
    relevance_model = (Path(__file__).resolve().parents[1] / "docs" / "judging.md").read_text(encoding="utf-8")
    parts = re.split(r"^##+ (.*)$", relevance_model, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    for name in JUDGE_NAMES:
        options = {str(option) for option in JUDGES.parameters(name).values()}
        assert set(re.findall(r"^\| `(\S+=\S+)` \|", sections[f"`{name}`"], re.MULTILINE)) == options, name


def test_the_example_of_the_guide_runs(tmp_path, monkeypatch, capsys):
    relevance_model = (Path(__file__).resolve().parents[1] / "docs" / "judging.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```python\n(.*?)```", relevance_model, re.DOTALL)
    about = ["balloon basket", "train rail"]
    pages = (f'{{"url": "http://example.org/{n}", "html": "<p>{about[n >= 10]} page {n}"}}\n' for n in range(40))
    (tmp_path / "pages.jsonl").write_text("".join(pages), encoding="utf-8")
    record([tmp_path / "pages.jsonl"], tmp_path / "web", workers=1)
    (tmp_path / "example.py").write_text(script, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path("example.py", run_name="__main__")
    assert capsys.readouterr().out.startswith("0.25 Agreement(n_pages=40,")


def test_two_of_three_carry_a_vote():
    said = [
        np.array(verdicts)
        for verdicts in ([True, True, True, False], [True, True, False, False], [True, False, False, False])
    ]
    assert vote(said).tolist() == [True, True, False, False]
    # One judge speaks for itself; of two both must agree.
    assert vote(said[1:2]).tolist() == [True, True, False, False]
    assert vote(said[1:]).tolist() == [True, False, False, False]


def test_a_vote_without_judges_is_refused():
    with pytest.raises(InvalidParameter):
        vote([])
