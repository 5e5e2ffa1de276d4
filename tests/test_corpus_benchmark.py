"""The benchmark of corpora."""

from benchmarks import corpus


def test_copies_are_counted(capsys):
    words = [f"word{number}" for number in range(2000)]
    texts = [" ".join(words[start : start + 300]) for start in range(0, 1500, 300)]
    corpus._find_copies("made-up", texts)
    out = capsys.readouterr().out
    assert "made-up: 1.000 of copies" in out
    assert "0 of the 5 texts" in out
