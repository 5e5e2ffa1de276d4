"""Plug-ins passed as classes and instances, also when they are defined in a script or a notebook cell."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import scenthound as sh
from ring_web import topic
from scenthound import by_value, registry
from scenthound.errors import InvalidParameter, UnknownName
from scenthound.metrics.base import METRICS, Metric, parse_metric
from scenthound.metrics.retrieval import Precision
from scenthound.processes import in_order
from scenthound.relevance.base import RELEVANCE
from scenthound.relevance.cosine import Cosine
from scenthound.strategies.base import STRATEGIES, Strategy
from scenthound.strategies.best_n_first import BestNFirst
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.strategies.rank_function import RankByRules
from scenthound.strategies.rank_rules import RankRules


@pytest.fixture(autouse=True)
def _only_installed(monkeypatch):
    monkeypatch.setattr(registry, "_LOCAL", {})


class Weighted(BreadthFirst):
    """A strategy of a script."""

    def __init__(self, n: int = 1, weights: object = None, label: str = "none") -> None:
        super().__init__()
        self.n, self.weights, self.label = n, weights, label


class Demanding(BreadthFirst):
    def __init__(self, n: int, *rest: int, **more: int) -> None:
        super().__init__()
        self.given = n, rest, more


class Constant:
    """A relevance model that keeps its parameter under another name."""

    def __init__(self, score: float = 0.5) -> None:
        self._score = score

    def for_topic(self, topic, index, training=None):
        raise NotImplementedError


class Half(Metric):
    def __init__(self, of: float = 2.0) -> None:
        self.of = of

    def curve(self, trace, ground_truth, n_steps):
        return np.full(n_steps, 1 / self.of)


def test_installed_plug_ins_keep_their_names():
    assert str(STRATEGIES.resolve(BestNFirst)) == "best_n_first"
    assert str(STRATEGIES.resolve(BestNFirst(n=np.int64(3), buffer=7))) == "best_n_first:n=3,buffer=7"
    assert str(RELEVANCE.resolve(Cosine())) == "cosine"
    assert str(RELEVANCE.resolve(Cosine(description=True))) == "cosine:description=true"
    assert str(METRICS.resolve(Precision)) == "precision"
    assert registry.dump_local_plugins() == b""


def test_the_text_of_a_resolved_class_or_instance_is_a_name():
    assert str(STRATEGIES.resolve(Weighted)) == "Weighted"
    assert str(STRATEGIES.resolve(Weighted(n=3))) == "Weighted:n=3"
    made = STRATEGIES.make("Weighted:n=4")
    assert isinstance(made, Weighted)
    assert made.n == 4
    with pytest.raises(UnknownName, match=r"'Weigthed'.*'Weighted'"):
        STRATEGIES.parse("Weigthed")


def test_an_instance_is_a_template_for_new_objects():
    weights = np.arange(3.0)
    template = Weighted(2, weights, label="a,b")
    text = str(STRATEGIES.resolve(template))
    assert text == f"Weighted:n=2,weights=ndarray-{by_value.digest(weights)[:8]},label=a,b"
    first, second = STRATEGIES.make(text), STRATEGIES.make(STRATEGIES.parse(text))
    assert template is not first is not second
    assert second.weights is weights
    assert (second.n, second.label) == (2, "a,b")
    assert str(STRATEGIES.resolve(Weighted(2, weights + 1))) != str(STRATEGIES.resolve(Weighted(2, weights)))


def test_an_instance_may_have_parameters_without_defaults():
    text = str(STRATEGIES.resolve(Demanding(1, 2, 3, k=4)))
    assert STRATEGIES.make(text).given == (1, (2, 3), {"k": 4})
    assert STRATEGIES.distinct([Demanding(1), Demanding(1), Demanding(2)]) == ["Demanding:n=1", "Demanding:n=2"]


def test_a_rank_function_with_rules_is_a_template_too():
    rules = RankRules(tuple(tuple(float(i == j) for i in range(13)) for j in range(2)), "distance", (3,))
    text = str(STRATEGIES.resolve(RankByRules(rules, threshold=0.25)))
    assert text == f"RankByRules:rules=RankRules-{by_value.digest(rules)[:8]},threshold=0.25"
    assert STRATEGIES.make(text).rules == rules


def test_models_and_metrics_without_recorded_parameters_are_used_themselves():
    model = Constant(0.25)
    assert RELEVANCE.make(str(RELEVANCE.resolve(model))) is model
    assert str(RELEVANCE.resolve(Constant())) == "Constant"
    assert str(METRICS.resolve(Half(4.0))) == str(Half(4.0)) == "Half:of=4.0"
    assert str(parse_metric(Half(4.0) @ 10)) == "Half:of=4.0@10"
    assert str(parse_metric("Half:of=4.0@10")) == "Half:of=4.0@10"


@pytest.mark.parametrize(
    ("item", "says"),
    [
        (3, r"^int .*\bStrategy\b.* adaptive_n_first, best_first"),
        (Half, r"^Half .*\bStrategy\b"),
        (Demanding, r"\bDemanding .*\bn: .*\bDemanding\(n=\.\.\.\)"),
        (type("Unfinished", (Strategy,), {}), r"\bUnfinished .*: .* __len__, ask"),
        (type("otie", (BreadthFirst,), {}), r"\bstrategy .*'otie': "),
    ],
)
def test_unusable_objects_are_rejected_in_one_line(item, says):
    with pytest.raises(InvalidParameter, match=says) as caught:
        STRATEGIES.resolve(item)
    assert "\n" not in str(caught.value)


def test_a_class_defined_again_replaces_the_previous_one():
    old, new = (type("Cell", (BreadthFirst,), {"__module__": "__main__", "n": n}) for n in (1, 2))
    STRATEGIES.resolve(old)
    STRATEGIES.resolve(new)
    assert type(STRATEGIES.make("Cell")) is new
    with pytest.raises(InvalidParameter, match=r"^Two .*'Cell'"):
        STRATEGIES.distinct([old(), new])
    with pytest.raises(InvalidParameter, match=r"\bstrategy .*'Cell'.*\bCell\b"):
        STRATEGIES.resolve(type("Cell", (BreadthFirst,), {"__module__": "elsewhere"}))


def test_a_digest_follows_the_code_that_a_class_refers_to():
    def defined(helper: str, text: str = "def score(self): return helper(LIMIT)", limit: int = 3) -> str:
        names = {"__name__": "__main__"}
        exec(f"def helper(x): return {helper}\nLIMIT = {limit}\nclass Mine:\n    rate = 0.5\n    {text}", names)
        return by_value.digest(names["Mine"])

    assert defined("x + 1") == defined("x + 1")
    others = [defined("x + 2"), defined("x + 1", limit=4), defined("x + 1", "def score(self): return LIMIT")]
    assert len({defined("x + 1"), *others}) == 4


def test_a_digest_says_the_same_of_equal_values_and_ends_for_those_that_contain_themselves():
    loop: list[object] = [1]
    loop.append(loop)
    assert by_value.digest(loop)
    assert by_value.digest({"a": {1, 2}, "b": np.ones(2)}) == by_value.digest({"a": {2, 1}, "b": np.ones(2)})
    assert by_value.digest(np.ones(2)) != by_value.digest(np.ones(2, np.float32))
    assert by_value.digest(True) != by_value.digest(1)


SCRIPT = """
import sys
from functools import partial

from scenthound import by_value
from scenthound.processes import in_order
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.strategies.rank_function import RankByRules
from scenthound.strategies.rank_rules import RankRules

STEP = 2

def doubled(n):
    return STEP * n

class Mine(BreadthFirst):
    summary = "defined here"

    def __init__(self, n: int = 1, table: object = None) -> None:
        super().__init__()
        self.n = doubled(n)

def main():
    from test_local_plugins import DescribesStrategies

    texts = STRATEGIES.distinct([Mine, Mine(n=3), Mine(n=3, table={"a": [1]}), "otie"])
    for workers in (1, 2):
        for line in in_order(DescribesStrategies, texts, workers):
            print(line)
    print(by_value.digest(Mine))

if __name__ == "__main__":
    main()
"""


class DescribesStrategies:
    def __call__(self, text: str) -> str:
        made = STRATEGIES.make(text)
        return f"{text} {getattr(made, 'n', None)} {by_value.digest(type(made))}"


def test_a_strategy_of_a_script_reaches_worker_processes(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "script.py")]
    search_path = {"PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=search_path, cwd=tmp_path)
    *lines, digest = done.stdout.splitlines()
    assert lines[:4] == lines[4:]
    assert [line.split()[0].split("-")[0] for line in lines[:4]] == ["Mine", "Mine:n=3", "Mine:n=3,table=dict", "otie"]
    assert [line.split()[1] for line in lines[:4]] == ["2", "6", "6", "1"]
    assert {line.split()[2] for line in lines[:3]} == {digest}


def test_classes_of_a_notebook_reach_worker_processes():
    """In a notebook there is no file that a worker could import."""
    names: dict[str, object] = {"__name__": "__main__", "BreadthFirst": BreadthFirst}
    exec("class Cell(BreadthFirst):\n    def __init__(self, n: int = 1):\n        self.n = n", names)
    texts = STRATEGIES.distinct([names["Cell"], names["Cell"](n=5)])
    one, two = (list(in_order(DescribesStrategies, texts, workers)) for workers in (1, 2))
    assert one == two
    assert [line.split()[:2] for line in two] == [["Cell", "1"], ["Cell:n=5", "5"]]


class SavesASet(BreadthFirst):
    def state(self):
        return {**super().state(), "mine": {1, 2}}


def test_a_crawl_whose_strategy_has_a_state_that_cannot_be_stored_is_resumed_from_the_journal(tmp_path, web_path):
    options = {"web": web_path, "offline": True, "strategy": SavesASet}
    crawl = sh.crawl(topic("balloon"), pages=3, out=tmp_path / "crawl", **options)
    assert len(crawl) == 3
    assert len(sh.resume(tmp_path / "crawl", pages=6)) == 6
    whole = sh.crawl(topic("balloon"), pages=6, out=tmp_path / "whole", **options)
    assert [page.url for page in sh.open_crawl(tmp_path / "crawl").pages] == [page.url for page in whole.pages]
