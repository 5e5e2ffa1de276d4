"""Where `scenthound threshold` cannot write its picture."""

import errno
import os


def test_a_picture_that_cannot_be_written_is_told_with_what_to_do(scenthound, tmp_path, monkeypatch):
    labels = tmp_path / "labels.csv"
    labels.write_text("score,label\n" + "".join(f"0.{n},{'yes' if n > 4 else 'no'}\n" for n in range(1, 10)))

    def refused(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("scenthound.ui.figures.draw_threshold", refused)
    code, _, err = scenthound("threshold", labels, "--out", tmp_path / "curve.svg")
    assert code == 2
    assert "curve.svg cannot be written: Permission denied; check the folder, or choose another --out." in err
    assert len(err.strip().splitlines()) == 1
