"""What the documents say is true."""

import re
import runpy
from pathlib import Path

import pytest

from scenthound.files import compressed_as
from scenthound.strategies.base import STRATEGIES

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_table_of_strategies_lists_what_is_installed():
    rows = re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE)
    assert sorted(rows) == STRATEGIES.names()


def test_the_guide_to_strategies_tells_every_parameter_default_and_preset():
    guide = (ROOT / "docs" / "strategies.md").read_text(encoding="utf-8")
    parts = re.split(r"^### `(\w+)`$", guide, flags=re.MULTILINE)
    told = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert sorted(told) == STRATEGIES.names()
    for name, text in told.items():
        parameters = {str(parameter) for parameter in STRATEGIES.parameters(name).values()}
        assert set(re.findall(r"`(\w+=[\w.]+)`", text)) == parameters, name
        presets = re.findall(r"^Presets: (.*)\.$", text, re.MULTILINE)
        assert re.findall(r"`(\w+)`", "".join(presets)) == list(STRATEGIES.presets(name)), name


@pytest.mark.parametrize(
    "document", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", "docs/strategies.md"]
)
def test_links_between_documents_lead_somewhere(document):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", (ROOT / document).read_text(encoding="utf-8")):
        assert ((ROOT / document).parent / target).exists(), target


def test_the_map_names_files_that_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = re.findall(r"^\| `(\w+)/` \| (.*) \|$", text, re.MULTILINE)
    assert len(rooms) == 13
    for room, contents in rooms:
        folder = ROOT / "src" / "scenthound" / room
        assert folder.is_dir(), room
        # In `testing/` the names are of what it exports.
        for name in re.findall(r"`(\w+)`|`(\w+)/`", contents) if room != "testing" else ():
            part = "".join(name)
            assert (folder / f"{part}.py").exists() or (folder / part).is_dir(), f"{room}/{part}"


def test_the_python_example_runs(tmp_path, monkeypatch):
    (script,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (topic,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    names = ("clubs", "race")
    pages = "".join(f'{{"url": "http://example.org/{name}.html", "html": "<p>balloon"}}\n' for name in names)
    file = tmp_path / "pages.jsonl.zst"
    file.write_bytes(compressed_as(file, pages.encode()))
    (tmp_path / "topics.toml").write_text(topic, encoding="utf-8")
    (tmp_path / "example.py").write_text(script, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path("example.py", run_name="__main__")
    assert (tmp_path / "run" / "traces.parquet").exists()
