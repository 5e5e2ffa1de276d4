"""What the documents say is true."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from scenthound.cli.crawl_output import status_values, summary_values
from scenthound.crawler.start import CrawlSummary
from scenthound.crawler.status import CrawlStatus
from scenthound.files import compressed_as
from scenthound.reasons import EndReason, SkipReason
from scenthound.simulator.modes import MODES
from scenthound.store.record import record
from scenthound.strategies.base import STRATEGIES

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted(str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")))
README = (ROOT / "README.md").read_text(encoding="utf-8")
CRAWLING = (ROOT / "docs" / "crawling.md").read_text(encoding="utf-8")
SIMULATING = (ROOT / "docs" / "simulating.md").read_text(encoding="utf-8")


def test_the_table_of_strategies_lists_what_is_installed():
    rows = re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE)
    assert sorted(rows) == STRATEGIES.names()


def test_the_guide_to_strategies_tells_every_parameter_default_and_preset():
    relevance_model = (ROOT / "docs" / "strategies.md").read_text(encoding="utf-8")
    parts = re.split(r"^### `(\w+)`$", relevance_model, flags=re.MULTILINE)
    told = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert sorted(told) == STRATEGIES.names()
    for name, text in told.items():
        parameters = {str(parameter) for parameter in STRATEGIES.parameters(name).values()}
        assert set(re.findall(r"`(\w+=[\w.]+)`", text)) == parameters, name
        presets = re.findall(r"^Presets: (.*)\.$", text, re.MULTILINE)
        assert re.findall(r"`(\w+)`", "".join(presets)) == list(STRATEGIES.presets(name)), name


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_between_documents_lead_somewhere(document):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", (ROOT / document).read_text(encoding="utf-8")):
        assert ((ROOT / document).parent / target).exists(), target


def rooms_of_the_map() -> list[tuple[str, str]]:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `([\w/]+)/` \| (.*) \|$", text, re.MULTILINE)


def test_the_map_has_every_room():
    told = {room for room, _ in rooms_of_the_map()}
    told |= {f"{room}/{inner}" for room, contents in rooms_of_the_map() for inner in re.findall(r"`(\w+)/`", contents)}
    source = ROOT / "src" / "scenthound"
    code = [file for ending in ("py", "js") for file in source.glob(f"*/**/*.{ending}")]
    assert {str(file.parent.relative_to(source)) for file in code} == told


def test_the_map_names_files_that_exist():
    for room, contents in rooms_of_the_map():
        folder = ROOT / "src" / "scenthound" / room
        assert folder.is_dir(), room
        # In `testing/` the names are of what it exports.
        for name in re.findall(r"`(\w+)`|`(\w+)/`", contents) if room != "testing" else ():
            part = "".join(name)
            assert (folder / f"{part}.py").exists() or (folder / part).is_dir(), f"{room}/{part}"


def table_below(heading: str) -> list[tuple[str, str]]:
    """The rows of the table in a part of the guide to crawling: what is in code, and what is said of it."""
    part = CRAWLING.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \| (.*?) \|$", part, re.MULTILINE)


def test_the_guide_to_crawling_lists_every_reason():
    assert table_below("Why a page was not taken") == [(reason.value, reason.text) for reason in SkipReason]


def test_the_guide_to_crawling_lists_every_field_of_the_json_lines():
    status = CrawlStatus(0, 1, *[0.0] * 4, *[0] * 6, None, 0, {})
    values = {**status_values(status, None), **summary_values(CrawlSummary(ROOT, EndReason.BUDGET, status, 1, {}))}
    assert sorted(name for name, _ in table_below("Progress")) == sorted(values)


def test_the_guide_to_crawling_names_options_that_exist(scenthound):
    helps = "".join(scenthound(command, "--help")[1] for command in ("crawl", "export", "record", "simulate"))
    for option in set(re.findall(r"--[a-z][a-z0-9-]+", CRAWLING)):
        assert re.search(rf"{option}\b", helps), option


def test_the_guide_to_simulating_tells_every_mode_parameter_and_default():
    parts = re.split(r"^## (.*)$", SIMULATING, flags=re.MULTILINE)
    told = dict(zip(parts[1::2], parts[2::2], strict=True))["Modes"]
    assert sorted(re.findall(r"^\| `(\w+)` \|", told, re.MULTILINE)) == MODES.names()
    parameters = {str(value) for name in MODES.names() for value in MODES.parameters(name).values()}
    assert set(re.findall(r"`(\w+=[\w.]+)`", told)) == parameters


def commands_in(text: str) -> list[list[str]]:
    """The words of each command line of the program in a document."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    lines = "".join(block for language, block in blocks if not language).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("scenthound ")]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_in_documents_have_options_that_exist(document, scenthound):
    for words in commands_in((ROOT / document).read_text(encoding="utf-8")):
        command = words[:2] if words[0] == "topics" else words[:1]
        status, told, _ = scenthound(*command, "--help")
        assert status == 0, words
        for option in (word for word in words if word.startswith("--")):
            assert re.search(rf"{option}\b", told), (option, words)


def test_the_guides_name_options_that_exist(scenthound):
    commands = ("simulate", "evolve", "validate", "synthesize")
    helps = "".join(scenthound(command, "--help")[1] for command in commands)
    for name in ("simulating", "validating"):
        for option in set(re.findall(r"--[a-z][a-z-]+", (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"))):
            assert re.search(rf"{option}\b", helps), option


def test_the_example_of_a_crawl_in_python_runs(tmp_path, monkeypatch):
    (script,) = re.findall(r"```python\n(.*?)```", CRAWLING, re.DOTALL)
    (tmp_path / "pages.jsonl").write_text('{"url": "http://example.org/clubs.html", "html": "<p>balloon"}\n')
    record([tmp_path / "pages.jsonl"], tmp_path / "web", workers=1)
    (tmp_path / "example.py").write_text(script, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path("example.py", run_name="__main__")
    assert (tmp_path / "balloons" / "crawl.sqlite").exists()


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
