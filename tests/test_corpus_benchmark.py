"""The benchmark of corpora."""

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_copies_are_counted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(ROOT)
    corpus = import_module("benchmarks.corpus")
    words = [f"word{number}" for number in range(2000)]
    texts = [" ".join(words[start : start + 300]) for start in range(0, 1500, 300)]
    corpus._find_copies("made-up", texts)
    out = capsys.readouterr().out
    assert "made-up: 1.000 of copies" in out
    assert "0 of the 5 texts" in out
