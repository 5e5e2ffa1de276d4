"""The documentation agrees with the code, and its examples run."""

import importlib
import json
import re
import runpy
import shlex
import sys
from dataclasses import fields
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

import scenthound as sh
from corpus_crawls import ENGLISH, crawl_of
from corpus_crawls import page as article
from scenthound.cli.crawl_progress import status_values, summary_values
from scenthound.crawler.start import CrawlSummary
from scenthound.crawler.state import Ending
from scenthound.experiments.search.methods import parse_search
from scenthound.files import compressed_as
from scenthound.metrics.base import parse_metric
from scenthound.reasons import EndReason, SkipReason
from scenthound.relevance.base import RELEVANCE
from scenthound.simulator.modes import MODES
from scenthound.store.crawl_records import CrawlStatus
from scenthound.strategies.base import STRATEGIES
from scenthound.topics.files import write_topics

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted(str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")))
README = (ROOT / "README.md").read_text(encoding="utf-8")
CRAWLING = (ROOT / "docs" / "crawling.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SIMULATING = (ROOT / "docs" / "simulating.md").read_text(encoding="utf-8")


def test_the_readme_lists_every_installed_strategy():
    rows = re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE)
    assert sorted(rows) == STRATEGIES.names()


def test_the_documentation_of_strategies_lists_every_parameter_default_and_preset():
    document = (ROOT / "docs" / "strategies.md").read_text(encoding="utf-8")
    parts = re.split(r"^### `(\w+)`$", document, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert sorted(sections) == STRATEGIES.names()
    for name, text in sections.items():
        parameters = {str(parameter) for parameter in STRATEGIES.parameters(name).values()}
        assert set(re.findall(r"`(\w+=[\w.+]+)`", text)) == parameters, name
        presets = re.findall(r"^Presets: (.*)\.$", text, re.MULTILINE)
        assert re.findall(r"`(\w+)`", "".join(presets)) == list(STRATEGIES.presets(name)), name


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_between_documents_exist(document):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", (ROOT / document).read_text(encoding="utf-8")):
        assert ((ROOT / document).parent / target).exists(), target


def packages_in_architecture() -> list[tuple[str, str]]:
    """The rows of the table of packages: a folder below `scenthound`, and what is in it."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `([\w/]+)/` \| (.*) \|$", text, re.MULTILINE)


def test_architecture_lists_every_package():
    rows = packages_in_architecture()
    listed = {package for package, _ in rows}
    listed |= {f"{package}/{inner}" for package, content in rows for inner in re.findall(r"`(\w+)/`", content)}
    source = ROOT / "src" / "scenthound"
    code = [file for ending in ("py", "js") for file in source.glob(f"*/**/*.{ending}")]
    assert {str(file.parent.relative_to(source)) for file in code} == listed


def test_architecture_names_files_that_exist():
    for package, content in packages_in_architecture():
        folder = ROOT / "src" / "scenthound" / package
        assert folder.is_dir(), package
        # The names in the row of `testing/` are those that it exports.
        for name in re.findall(r"`(\w+)`|`(\w+)/`", content) if package != "testing" else ():
            part = "".join(name)
            assert (folder / f"{part}.py").exists() or (folder / part).is_dir(), f"{package}/{part}"


def crawling_table(heading: str) -> list[tuple[str, str]]:
    """The rows of the table in a section of docs/crawling.md: the code in the first column, and the second."""
    part = CRAWLING.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \| (.*?) \|$", part, re.MULTILINE)


def test_the_documentation_of_crawling_lists_every_skip_reason():
    assert crawling_table("Skip reasons") == [(reason.value, reason.text) for reason in SkipReason]


def test_the_documentation_of_crawling_lists_every_field_of_the_json_lines():
    status = CrawlStatus(**{each.name: 0 for each in fields(CrawlStatus)} | {"reasons": {}, "ending": None})  # type: ignore[arg-type]
    ending = Ending(EndReason.BUDGET, 1, 1, "otie", {}, 0, 1, {})
    summary = CrawlSummary(ROOT, EndReason.BUDGET, status, 1, {}, ending)
    values = {**status_values(status, None), **summary_values(summary)}
    assert sorted(name for name, _ in crawling_table("Progress")) == sorted(values)


def test_the_documentation_of_simulating_lists_every_mode_parameter_and_default():
    parts = re.split(r"^## (.*)$", SIMULATING, flags=re.MULTILINE)
    section = dict(zip(parts[1::2], parts[2::2], strict=True))["Modes"]
    assert sorted(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == MODES.names()
    parameters = {str(value) for name in MODES.names() for value in MODES.parameters(name).values()}
    assert set(re.findall(r"`(\w+=[\w.+]+)`", section)) == parameters


def documented_commands(document: str) -> list[list[str]]:
    """The arguments of each `scenthound` command in the code blocks and code spans of a document."""
    text = (ROOT / document).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    lines = "".join(block for language, block in blocks if not language).replace("\\\n", " ").splitlines()
    # The change log also names commands of earlier versions.
    spans = re.findall(r"`(scenthound [^`]+)`", text) if document != "CHANGELOG.md" else []
    return [shlex.split(line, comments=True)[1:] for line in lines + spans if line.startswith("scenthound ")]


@pytest.fixture
def help_of(scenthound):
    """The help of a command, printed once for all documents."""

    def help_of(*command: str) -> str:
        if command not in HELPS:
            status, HELPS[command], _ = scenthound(*command, "--help")
            assert status == 0, command
        return HELPS[command]

    return help_of


HELPS: dict[tuple[str, ...], str] = {}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documented_commands_have_options_that_exist(document, help_of):
    for words in documented_commands(document):
        text = help_of(*(words[:2] if words[0] == "topics" else words[:1]))
        for option in (word for word in words if word.startswith("--")):
            assert re.search(rf"{option}(?![\w-])", text), (option, words)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documented_commands_name_plug_ins_that_exist(document):
    parsers = {
        "--strategy": STRATEGIES.parse,
        "--relevance": RELEVANCE.parse,
        "--metric": parse_metric,
        "--mode": MODES.parse,
        "--search": parse_search,
    }
    for words in documented_commands(document):
        for option, value in pairwise(words):
            # The example of docs/plugins.md is not installed.
            if option in parsers and not value.startswith("anchor_first"):
                parsers[option](value)


#: The commands whose options each document names.
COMMANDS_OF_DOCUMENTS = {
    "comparing": ("compare",),
    "crawling": ("crawl", "export", "record", "simulate"),
    "dashboard": ("dashboard", "report", "compare", "study", "crawl"),
    "metrics": ("evaluate", "crawl"),
    "simulating": ("simulate", "evolve", "validate", "synthesize"),
    "studies": ("study",),
    "validating": ("validate",),
}


@pytest.mark.parametrize("document", COMMANDS_OF_DOCUMENTS)
def test_documentation_names_options_that_exist(document, help_of):
    helps = "".join(help_of(command) for command in COMMANDS_OF_DOCUMENTS[document])
    text = (ROOT / "docs" / f"{document}.md").read_text(encoding="utf-8")
    for option in set(re.findall(r"--[a-z][a-z0-9-]+", text)):
        assert re.search(rf"{option}(?![\w-])", helps), option


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documented_benchmarks_and_make_targets_exist(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    for name in re.findall(r"python -m benchmarks[ .](\w+)`", text):
        assert (ROOT / "benchmarks" / f"{name}.py").exists(), name
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([\w-]+)`", text):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_examples_of_the_contributing_guide_run(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    scripts = re.findall(r"^```python\n# (\w+)\.py\n(.*?)^```$", CONTRIBUTING, re.DOTALL | re.MULTILINE)
    assert len(scripts) == CONTRIBUTING.count("```python")
    n_tests = 0
    for name, script in scripts:
        (tmp_path / f"{name}.py").write_text(script, encoding="utf-8")
        module = importlib.import_module(name)
        monkeypatch.setitem(sys.modules, name, module)
        for test in (value for key, value in vars(module).items() if key.startswith("test_")):
            test()
            n_tests += 1
    assert n_tests == CONTRIBUTING.count("\ndef test_")


#: What makes the examples small.
SMALLER = {
    "comparing": {"pages=500": "strategies=['best_first', 'breadth_first'], pages=8, repeats=2, start=2, workers=1"},
    "evolving": {
        "population=10,generations=5": "population=2,generations=1",
        "pages=200": "pages=8, start=2, relevance='cosine', plain=True, workers=1",
    },
    "studies": {"pages=500": "pages=20, repeats=1, workers=1"},
    "threshold": {'"chess", relevance="svm"': '"balloon", relevance="cosine"'},
}
MADE = {
    "README": ("run/traces.parquet", "balloons.parquet"),
    "comparing": ("comparison/report.html",),
    "configuration": (),
    "corpus": ("balloons.parquet", "balloons.jsonl"),
    "crawling": ("balloons/crawl.sqlite",),
    "dashboard": ("balloons.html",),
    "evolving": ("search/evolved.toml",),
    "metrics": (),
    "studies": ("pant2002/report.html",),
    "threshold": (),
}
WORDS = ("balloon", "train", "boat", "plane", "bicycle")
PAGE_URLS = ["https://example.org/balloons", *(f"http://example.org/{name}.html" for name in ("clubs", "race"))]
PAGE_URLS += [f"http://example.org/{number}" for number in range(37)]


def written_pages(folder: Path) -> Path:
    """Pages about balloons, trains and so on in turn, each with links to others."""
    file = folder / "pages.jsonl.zst"
    pages = []
    for number, url in enumerate(PAGE_URLS):
        word = WORDS[number % len(WORDS)]
        follow = "".join(f"<a href={PAGE_URLS[(number + step) % len(PAGE_URLS)]}>on</a>" for step in (1, 2, 7))
        pages.append(json.dumps({"url": url, "html": f"<title>{word}</title><p>{word} {follow} hot air word{number}"}))
    file.write_bytes(compressed_as(file, "\n".join(pages).encode()))
    return file


def made_inputs(document: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the examples of a document find in their folder."""
    topics = [
        sh.Topic(word, [word], description=f"All about a {word}.", examples=PAGE_URLS[first :: len(WORDS)])
        for first, word in enumerate(WORDS)
    ]
    write_topics(folder / "topics.jsonl", topics)
    (topic,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (folder / "topics.toml").write_text(topic, encoding="utf-8")
    lines = [f"{url},{'no' if number % len(WORDS) else 'yes'}" for number, url in enumerate(PAGE_URLS)]
    (folder / "labels.csv").write_text("\n".join(lines), encoding="utf-8")
    web = folder / ("recorded" if document == "README" else "web")
    sh.record(written_pages(folder), web, workers=1)
    # No example connects to a host.
    monkeypatch.setattr(sh, "crawl", partial(sh.crawl, web=web, offline=True))
    monkeypatch.setattr(sh, "record", partial(sh.record, workers=1))
    monkeypatch.setattr(sh, "simulate", partial(sh.simulate, workers=1))
    if document in ("configuration", "dashboard"):
        sh.crawl("balloon", PAGE_URLS[0], pages=5, out=folder / "balloons")
    if document == "dashboard":
        # Only a crawl that is running can be paused.
        monkeypatch.setattr("scenthound.crawler.control.pause", lambda folder: f"{folder} is paused")
    if document == "corpus":
        crawl_of(folder / "balloons", [article(3 * ENGLISH)], relevance="rocchio", on_topic_from=0.5)
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        pytest.importorskip("datasets").disable_progress_bars()
        monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(folder / "cache"))
        for module in ("langchain_core.documents", "llama_index.core"):
            # These are not installed here. The class takes what theirs take.
            monkeypatch.setitem(sys.modules, module.partition(".")[0], ModuleType(module.partition(".")[0]))
            monkeypatch.setitem(sys.modules, module, ModuleType(module))
            monkeypatch.setattr(sys.modules[module], "Document", lambda *args, **named: (args, named), raising=False)
    if document == "metrics":
        sh.simulate(web, folder / "topics.jsonl", "best_first", pages=8, start=2, out=folder / "run")


@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize("document", MADE)
def test_the_python_examples_run(document, tmp_path, monkeypatch):
    file = ROOT / ("README.md" if document == "README" else f"docs/{document}.md")
    scripts = re.findall(r"```python\n(.*?)```", file.read_text(encoding="utf-8"), re.DOTALL)
    assert scripts
    monkeypatch.chdir(tmp_path)
    made_inputs(document, tmp_path, monkeypatch)
    for script in scripts:
        for long, short in SMALLER.get(document, {}).items():
            assert long in script
            script = script.replace(long, short)
        (tmp_path / "example.py").write_text(script, encoding="utf-8")
        runpy.run_path("example.py", run_name="__main__")
    for name in MADE[document]:
        assert (tmp_path / name).exists(), name


def test_every_python_example_of_the_documentation_is_run_by_a_test():
    # Those of modules run in the tests of the modules.
    others = {"getting_started", "interoperability", "judging", "plugins", "statistics", "validating"}
    with_examples = {file.stem for file in (ROOT / "docs").glob("*.md") if "```python" in file.read_text("utf-8")}
    assert with_examples == set(MADE) - {"README"} | others
