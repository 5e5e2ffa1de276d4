"""Tables and results of the Python API, as text and as data."""

from dataclasses import dataclass

import pytest

import scenthound as sh
from scenthound.reasons import SkipReason

NUMBERS = sh.Table([(1, 0.5), (2, 0.25)], {"n": lambda row: row[0], "value": lambda row: row[1]}, "numbers")


def test_text_has_no_side_effects_in_a_notebook(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    expected = str(NUMBERS)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("rich.jupyter.display", lambda *_: pytest.fail("displayed"))
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert str(NUMBERS) == repr(NUMBERS) == f"{NUMBERS}" == expected
    assert "0.250" in expected
    assert "\x1b" not in expected
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("width", [60, 80, 120])
def test_long_texts_are_wrapped_and_short_columns_keep_their_width(monkeypatch: pytest.MonkeyPatch, width: int):
    monkeypatch.setenv("COLUMNS", str(width))
    words = " ".join(f"word{number}" for number in range(12))
    columns = {"name": lambda row: "best_first", "rules": lambda row: words, "fitness": lambda row: 0.123}
    text = str(sh.Table([0], columns))
    assert all(len(line) <= width for line in text.splitlines())
    for word in (*words.split(), "best_first", "fitness", "0.123"):
        assert word in text


def test_installed_plug_ins_are_printed_with_their_names():
    for listed in (sh.list_strategies(), sh.list_relevance_models(), sh.list_metrics()):
        text = str(listed)
        assert all(f" {each.name} " in text for each in listed[:20])


def test_columns_that_do_not_fit_are_named_below(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "40")
    table = sh.Table([0], {f"column{number}": lambda row: 0.5 for number in range(6)})
    text = str(table)
    assert text.count("0.500") == 3
    assert "More columns: column3, column4, column5" in text
    assert "More columns" not in table._repr_html_()


@dataclass(frozen=True)
class Measured:
    name: str
    reason: SkipReason | None
    n: int
    n_or_none: int | None
    share: float
    share_or_none: float | None
    is_known: bool
    flag: bool | None
    mixed: int | str


FULL = Measured("a", next(iter(SkipReason)), 1, 2, 0.5, 0.25, True, False, 1)
GAPS = Measured("b", None, 3, None, 1, None, False, None, 2)


@pytest.mark.parametrize("convert", ["to_arrow", "to_polars", "to_pandas"])
def test_types_of_columns_do_not_depend_on_values(convert: str):
    def schema(*rows: Measured) -> list[str]:
        frame = getattr(sh.Table.of(Measured, list(rows)), convert)()
        types = frame.dtypes if convert == "to_pandas" else frame.schema
        found = types.items() if hasattr(types, "items") else [(each.name, each.type) for each in types]
        return [f"{name} {kind}" for name, kind in found if name != "mixed"]

    assert schema(FULL) == schema(GAPS) == schema(FULL, GAPS) == schema()
    assert schema(GAPS)[5].split()[1].lower().startswith(("double", "float"))
    assert schema(GAPS)[2].split()[1].lower() == "int64"
