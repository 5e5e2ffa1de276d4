from typing import Annotated, ClassVar, Literal

import numpy as np
import pytest

from scenthound.errors import InvalidParameter, PluginError, UnknownName, UsageError
from scenthound.registry import Bounds, Choice, Registry, parameters_of
from scenthound.strategies.base import STRATEGIES, Strategy
from scenthound.strategies.best_n_first import BestNFirst
from scenthound.strategies.breadth_first import BreadthFirst


def test_a_choice_prints_as_it_parses():
    text = "best_n_first:n=16,buffer=64"
    assert str(STRATEGIES.parse(text)) == text
    assert STRATEGIES.parse(text) == Choice("best_n_first", (("n", 16), ("buffer", 64)))


def test_parameters_come_in_the_order_of_the_factory_so_that_equal_choices_are_equal():
    assert STRATEGIES.parse("best_n_first:buffer=64, n=16") == STRATEGIES.parse("best_n_first:n=16,buffer=64")


def test_none_removes_an_optional_bound():
    assert STRATEGIES.parse("best_n_first:buffer=none").parameters == (("buffer", None),)
    assert str(STRATEGIES.parse("best_n_first:buffer=none")) == "best_n_first:buffer=none"
    with pytest.raises(InvalidParameter, match=r"best_n_first: n=none .*\bint\b"):
        STRATEGIES.parse("best_n_first:n=none")


def test_make_passes_the_parameters():
    strategy = STRATEGIES.make("best_n_first:n=3,buffer=7")
    assert isinstance(strategy, BestNFirst)
    assert strategy.memory_bound().queued == 7 + 7


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("best_frist", UnknownName, "'best_first'"),
        ("best_n_first:bufer=3", UnknownName, "'buffer'"),
        ("best_n_first:n=0", InvalidParameter, "n=0 .*1"),
        ("best_n_first:n=two", InvalidParameter, "n=two .*int"),
        ("best_n_first:n", InvalidParameter, "'n' .*parameter=value"),
        ("best_n_first:n=", InvalidParameter, "'n=' .*parameter=value"),
        ("best_n_first:n=1,n=2", InvalidParameter, "best_n_first: n "),
        ("", UnknownName, "adaptive_n_first"),
    ],
)
def test_an_invalid_choice_is_rejected_with_its_cause_and_the_next_step(text, error, says):
    with pytest.raises(error, match=says) as caught:
        STRATEGIES.parse(text)
    assert "\n" not in str(caught.value)


def test_the_first_of_equal_choices_is_kept():
    texts = ["best_n_first", "best_n_first:n=1", "best_n_first:preset=wang2009", "best_n_first:buffer=none,n=50"]
    assert STRATEGIES.distinct(texts) == ["best_n_first", "best_n_first:preset=wang2009"]
    assert STRATEGIES.distinct(["best_n_first: n=2", "breadth_first"]) == ["best_n_first:n=2", "breadth_first"]


class Tempered:
    presets: ClassVar = {"study": {"rate": 0.5, "unit": "links"}}

    def __init__(
        self, rate: Annotated[float, Bounds(0, 1, above=True)] = 1.0, unit: Literal["words", "links"] = "words"
    ) -> None:
        self.rate, self.unit = rate, unit


@pytest.fixture
def tempered(monkeypatch):
    registry = Registry("thing", "scenthound.no_such_group")
    monkeypatch.setattr(Registry, "factory", lambda _self, _name: Tempered)
    return registry


def test_parameters_beside_a_preset_override_its_values(tempered):
    made = tempered.make("t:preset=study")
    assert (made.rate, made.unit) == (0.5, "links")
    made = tempered.make("t:rate=0.25,preset=study")
    assert (made.rate, made.unit) == (0.25, "links")


def test_a_preset_prints_as_it_parses(tempered):
    assert str(tempered.parse("t: rate=0.25, preset=study")) == "t:preset=study,rate=0.25"


def test_an_unknown_preset_or_value_suggests_the_nearest(tempered):
    with pytest.raises(UnknownName, match=r"t: preset 'studie'.*'study'"):
        tempered.parse("t:preset=studie")
    with pytest.raises(UnknownName, match=r"t: unit 'link'.*'links'"):
        tempered.parse("t:unit=link")


def test_a_bound_can_be_exclusive(tempered):
    assert tempered.parse("t:rate=1").parameters == (("rate", 1.0),)
    with pytest.raises(InvalidParameter, match=rf"rate=0\.0 .*{Bounds(0, 1, above=True)}"):
        tempered.parse("t:rate=0")


@pytest.mark.parametrize(
    ("bounds", "says", "inside", "outside"),
    [
        (Bounds(), "a number", [-1e9, 1e9], []),
        (Bounds(1), "at least 1", [1, 2], [0.9]),
        (Bounds(high=2), "at most 2", [-5, 2], [2.1]),
        (Bounds(1, 2), "1 to 2", [1, 2], [0.9, 2.1]),
        (Bounds(0, above=True), "more than 0", [0.1], [0, -1]),
        (Bounds(0, 1, below=True), "at least 0 and less than 1", [0, 0.9], [-0.1, 1]),
        (Bounds(0, 1, above=True, below=True), "more than 0 and less than 1", [0.5], [0, 1]),
    ],
)
def test_bounds_say_what_they_hold(bounds, says, inside, outside):
    assert str(bounds) == says
    assert all(value in bounds for value in inside)
    assert not any(value in bounds for value in outside)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: BestNFirst(n=0), f"BestNFirst: n=0 .*{Bounds(1)}"),
        (lambda: BestNFirst(1, 0), "BestNFirst: buffer=0 "),
        (lambda: BestNFirst(n=None), "BestNFirst: n=none .*int"),
        (lambda: BestNFirst(found_again="higest"), "'highest'"),
        (
            lambda: STRATEGIES.make("pagerank:gamma=1"),
            f"gamma=1.0 .*{Bounds(0, 1, below=True)}",
        ),
    ],
)
def test_bounds_are_checked_for_strategies_constructed_in_python(make, says):
    with pytest.raises(UsageError, match=says):
        make()


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"n": np.int64(0)}, "n=0 "),
        ({"n": 2.5}, "n=2.5 .*int"),
        ({"n": "3"}, "n=3 .*int"),
        ({"buffer": np.int32(-1)}, "buffer=-1 "),
        ({"description": "false"}, "description=false .*bool"),
    ],
)
def test_numbers_of_numpy_are_numbers_and_words_are_none(values, says):
    with pytest.raises(InvalidParameter, match=says):
        BestNFirst(**values)
    assert BestNFirst(n=np.int64(3), buffer=np.int32(7)).memory_bound().queued == 7 + 7


class Plain(BreadthFirst):
    """A plug-in without a constructor of its own; below are some with unusual ones."""


class Unannotated(BreadthFirst):
    def __init__(self, limit=None, rate=0.5):
        super().__init__()
        self.limit = limit


class Puzzling(BreadthFirst):
    def __init__(self, limit=3):
        super().__init__()

    __init__.__annotations__["limit"] = "NowhereToBeFound"


class Bare(Strategy):
    ask = drop = memory_bound = restore = start = state = tell = __len__ = lambda *_: 0


def test_plug_ins_need_neither_a_constructor_nor_annotations():
    assert [found.name for found in parameters_of(Plain)] == ["buffer", "when_full"]
    assert list(parameters_of(Bare)) == []
    assert isinstance(Bare(), Strategy)
    limit, rate = parameters_of(Unannotated)
    assert (limit.optional, limit.kind, rate.kind) == (True, str, float)
    assert Unannotated(limit=None).limit is None


def test_unreadable_annotations_are_reported_in_one_line():
    with pytest.raises(PluginError, match=r"Puzzling: .*\bNameError\b"):
        Puzzling()


@pytest.mark.parametrize("name", STRATEGIES.names())
def test_every_preset_of_a_strategy_can_be_made(name):
    for preset in STRATEGIES.presets(name):
        assert isinstance(STRATEGIES.make(f"{name}:preset={preset}"), Strategy)


def test_a_number_that_is_not_a_number_is_out_of_range():
    def factory(rate: Annotated[float, Bounds(0, 1)] = 0.5) -> None: ...

    (rate,) = parameters_of(factory)
    assert rate.parse("0.25", "x") == 0.25
    for text in ("nan", "-0.1", "1.1", "inf"):
        with pytest.raises(InvalidParameter, match=rf"x: rate={text} .*{Bounds(0, 1)}"):
            rate.parse(text, "x")


def test_booleans_are_written_as_words():
    def factory(flag: bool = False) -> None: ...

    (flag,) = parameters_of(factory)
    assert flag.parse("True", "x") is True
    assert flag.parse("no", "x") is False
    with pytest.raises(InvalidParameter, match="x: flag=maybe "):
        flag.parse("maybe", "x")


def test_a_factory_whose_parameter_has_no_default_breaks_the_contract():
    def factory(n: int) -> None: ...

    with pytest.raises(PluginError, match=r"factory: .*\bn\b"):
        list(parameters_of(factory))


def test_a_plug_in_that_cannot_be_imported_is_named(monkeypatch):
    from importlib.metadata import EntryPoint

    registry = Registry("strategy", "scenthound.none")
    lost = EntryPoint("lost", "no_such_module:Thing", "scenthound.none")
    monkeypatch.setattr("scenthound.registry.entry_points", lambda group: [lost])
    with pytest.raises(PluginError, match=r"'lost' .*: ModuleNotFoundError .*'no_such_module'"):
        registry.factory("lost")


def test_a_name_that_two_packages_claim_belongs_to_neither(monkeypatch):
    from importlib.metadata import EntryPoint

    ours = EntryPoint("best_first", "scenthound.strategies.best_n_first:BestFirst", "group")
    theirs = EntryPoint("best_first", "intruder:Eager", "group")
    monkeypatch.setattr("scenthound.registry.entry_points", lambda group: [ours, theirs])
    with pytest.raises(PluginError, match=r"'best_first' .*intruder:Eager .*best_n_first:BestFirst"):
        Registry("strategy", "group").make("best_first")


def test_what_is_of_another_kind_is_no_plug_in(monkeypatch):
    from importlib.metadata import EntryPoint

    point = EntryPoint("counter", "collections:Counter", "group")
    monkeypatch.setattr("scenthound.registry.entry_points", lambda group: [point])
    with pytest.raises(PluginError, match=r"'counter' .* BestNFirst"):
        Registry("strategy", "group", BestNFirst).make(Choice("counter"))


@pytest.mark.parametrize(
    ("value", "says"),
    [("math:pi", "'broken' "), ("json:loads", r"loads: .*\bs\b")],
)
def test_what_nothing_can_be_made_of_is_no_plug_in(monkeypatch, value, says):
    from importlib.metadata import EntryPoint

    monkeypatch.setattr("scenthound.registry.entry_points", lambda group: [EntryPoint("broken", value, "group")])
    with pytest.raises(PluginError, match=says):
        Registry("strategy", "group").make("broken")


def test_a_plug_in_whose_constructor_fails_is_reported_with_file_and_line(monkeypatch):
    registry = Registry("strategy", "group")
    monkeypatch.setattr(registry, "factory", lambda name: lambda: 1 // 0)
    with pytest.raises(PluginError, match=r" broken .*: ZeroDivisionError at .*\.py:\d+"):
        registry.make(Choice("broken"))
