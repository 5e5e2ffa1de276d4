"""Finding out what kind of file a source is, and refusing what cannot be read."""

import os
from pathlib import Path

import pytest

from recording_input import reasons, records_of
from scenthound.errors import InvalidInput
from scenthound.store.sources import source_of
from scenthound.store.sources.files import JsonLinesFile


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"missing\.jsonl cannot be read: No such file"):
        source_of(tmp_path / "missing.jsonl")
    with pytest.raises(InvalidInput, match="is a folder"):
        source_of(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(InvalidInput, match=f"{path} is a pipe or a device"):
            source_of(path)


def test_a_file_of_no_known_kind_is_tried_as_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "pages.bin"
    path.write_bytes(bytes(range(256)))
    assert isinstance(source_of(path), JsonLinesFile)
    assert set(reasons(records_of(path))) == {"not JSON"}
