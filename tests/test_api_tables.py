"""Tables and results of the Python API, as text and as data."""

import pytest

import scenthound as sh

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
