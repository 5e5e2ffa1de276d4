import subprocess
import sys

import pytest

from scenthound.errors import InvalidParameter, UnknownName
from scenthound.experiments.search.genetic import Chc, Johnson2003
from scenthound.experiments.search.methods import METHODS, Cma, parse_search


def test_the_preset_of_the_study_has_its_numbers():
    assert parse_search("johnson2003") == Johnson2003(population=50, generations=50, crossover=0.90, mutation=0.01)


@pytest.mark.parametrize(
    "text",
    [
        "johnson2003",
        "johnson2003:population=30,mutation=0.05",
        "chc",
        "chc:population=20,evaluations=none,divergence=0.5",
        "cma:generations=20,sigma=0.2",
    ],
)
def test_a_method_prints_as_it_parses(text):
    assert str(parse_search(text)) == text
    assert parse_search(str(parse_search(text))) == parse_search(text)


def test_what_equals_the_default_is_left_out():
    assert str(parse_search("chc:population=50")) == "chc"
    assert str(parse_search("cma:population=20,generations=50")) == "cma"
    assert str(Chc(population=20)) == "chc:population=20"


def test_all_methods_say_what_they_are():
    assert METHODS.names() == ["chc", "cma", "johnson2003"]
    assert all(METHODS.summary(name) for name in METHODS.names())
    assert str(METHODS.parameters("chc")["divergence"]) == "divergence=0.35"


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("jonson2003", UnknownName, "No search 'jonson2003'. Did you mean 'johnson2003'"),
        ("chc:mutation=0.1", UnknownName, "No parameter of chc 'mutation'"),
        (
            "johnson2003:population=1",
            InvalidParameter,
            "population=1 is too small, because an individual needs another one",
        ),
        ("johnson2003:population=0", InvalidParameter, "population=0 is out of range; it must be at least 1"),
        ("chc:population=1", InvalidParameter, "population=1 is too small"),
        (
            "chc:population=7",
            InvalidParameter,
            "population=7 leaves one individual without a mate.*give an even number",
        ),
        (
            "chc:population=60,evaluations=59",
            InvalidParameter,
            "evaluations=59 do not suffice for the first population",
        ),
        ("chc:divergence=0", InvalidParameter, "divergence=0.0 is out of range"),
        ("cma:population=3", InvalidParameter, "cma: population=3 is too small, .*give at least 4"),
        ("cma:sigma=0", InvalidParameter, "sigma=0.0 is out of range"),
        ("johnson2003:generations=0", InvalidParameter, "generations=0 is out of range; it must be at least 1"),
        ("johnson2003:crossover=1.1", InvalidParameter, "crossover=1.1 is out of range; it must be 0 to 1"),
        ("johnson2003:mutation=-0.1", InvalidParameter, "mutation=-0.1 is out of range"),
        ("johnson2003:mutation=nan", InvalidParameter, "mutation=nan is out of range"),
    ],
)
def test_a_bad_method_is_refused_with_the_culprit_and_the_next_step(text, error, says):
    with pytest.raises(error, match=says) as caught:
        parse_search(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Johnson2003(population=1),
        lambda: Johnson2003(crossover=2),
        lambda: Johnson2003(population=2.5),
        lambda: Chc(generations=0),
        lambda: Chc(population=3),
        lambda: Cma(population=2),
    ],
)
def test_methods_made_in_python_are_checked_alike(make):
    with pytest.raises(InvalidParameter):
        make()


def test_naming_a_search_loads_no_library_for_it():
    program = (
        "import sys; from scenthound.experiments.search.methods import parse_search; parse_search('cma'); "
        "sys.exit(any(name in sys.modules for name in ('cmaes', 'scipy')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
