"""Options are declared once: a new one is added in one place, and is everywhere; type checkers know all of them."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import scenthound
from scenthound import ScenthoundError
from scenthound.crawler.options import CrawlOptions, Ends
from scenthound.crawler.settings import CrawlSettings
from scenthound.experiments import options as experiment_options
from scenthound.model import Topic
from scenthound.options import declared, options_in

SOURCE = Path(scenthound.__file__).parent
ROOT = Path(__file__).parents[1]
#: Lines of a new option: its description and its field.
DESCRIPTION = (
    "    Fetching:\n        connections:",
    "    Fetching:\n        wag: How often the tail wags.\n        connections:",
)
FIELD = "    connections: Annotated[", "    wag: Annotated[int, Option(ge=0)] = 3\n    connections: Annotated["
#: What a user sees of it.
PROGRAM = """
import inspect, os, pathlib
from docs_site.command_reference import command_page
from scenthound.api.runs import new_run
from scenthound.cli.app import load
from scenthound.cli.configuration import Configuration
from scenthound.cli.configuration_files import read_file
from scenthound.crawler.command import reproduce_command
from scenthound.crawler.options import CrawlArguments
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.ui.reports.crawl import settings_facts
import scenthound

assert "--wag" in command_page("crawl", load("crawl")) and "How often" in scenthound.crawl.__doc__
assert inspect.signature(scenthound.crawl).parameters["wag"].default == 3
assert Configuration(()).settings(("crawl",))["wag"].value == 5
file = pathlib.Path("scenthound.toml")
file.write_text("[crawl]\\nwag = 4\\n")
del os.environ["SCENTHOUND_CRAWL_WAG"]
from_file = Configuration([read_file(file)])
assert from_file.settings(("crawl",))["wag"].value == 4
settings = new_run(CrawlArguments(["dogs"], "http://a.test/", wag=7)).settings
assert settings.wag == 7 and CrawlSettings.from_settings(settings.as_settings()).wag == 7
assert "--wag 7" in reproduce_command(settings, StopConditions(), "again").line
assert ("wag", "7") in settings_facts(settings, StopConditions(), "rocchio")
"""


def test_a_new_option_of_crawls_is_added_in_one_place(tmp_path: Path) -> None:
    for item in SOURCE.iterdir():
        if item.name != "crawler":
            (tmp_path / "scenthound").mkdir(exist_ok=True)
            (tmp_path / "scenthound" / item.name).symlink_to(item)
    crawler = tmp_path / "scenthound" / "crawler"
    crawler.mkdir()
    for item in (SOURCE / "crawler").iterdir():
        if item.name != "options.py":
            (crawler / item.name).symlink_to(item)
    text = (SOURCE / "crawler" / "options.py").read_text()
    for old, new in (DESCRIPTION, FIELD):
        assert old in text
        text = text.replace(old, new, 1)
    (crawler / "options.py").write_text(text)
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "SCENTHOUND_CRAWL_WAG": "5", "COLUMNS": "200"}
    call = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(call, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    help_ = subprocess.run(
        [sys.executable, "-m", "scenthound", "crawl", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert "How often the tail wags" in help_.stdout


def test_type_checkers_know_the_arguments(tmp_path: Path) -> None:
    calls = [
        'scenthound.crawl("dogs", "http://a.test/", delay="x")',
        'scenthound.crawl("dogs", dleay=1)',
        'scenthound.simulate("web", "topics.toml")',
    ]
    file = tmp_path / "calls.py"
    file.write_text("\n".join(["import scenthound", 'scenthound.crawl("dogs", pages=5, delay=2)', *calls]))
    call = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--cache-dir", str(tmp_path), str(file)]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=tmp_path)
    lines = [line for line in done.stdout.splitlines() if "calls.py" in line and "error" in line]
    assert [line.split(":")[1] for line in lines] == ["3", "4", "5"], done.stdout
    assert "dleay" in lines[1]


def test_every_option_has_a_description() -> None:
    classes = [
        each
        for each in vars(experiment_options).values()
        if inspect.isclass(each) and each.__module__ == experiment_options.__name__
    ]
    described = [each for kind in classes if hasattr(kind, "__dataclass_fields__") for each in options_in(kind)]
    assert len(described) > 100
    assert [each.name for each in described if not each.help and each.type is not None] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pages": 0}, "pages=0 must be"),
        ({"delay": float("nan")}, "delay=nan must be"),
        ({"until_recall": 2.0}, "from 0 to 1"),
    ],
)
def test_a_number_out_of_range_is_one_line(options: dict[str, float], message: str) -> None:
    with pytest.raises(ScenthoundError, match=message) as caught:
        scenthound.plan("dogs", "http://a.test/", **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_options_of_a_class_come_before_those_of_its_bases() -> None:
    names = list(declared(experiment_options.SimulateOptions))
    assert names.index("web") < names.index("topics_max") < names.index("workers")


def test_a_docstring_says_where_inherited_options_are() -> None:
    names = list(declared(CrawlOptions))
    assert names[:6] == ["topic_id", "contact", "pages", "time", "min_harvest", "until_recall"]
    assert names.index("strategy") < names.index("patience") < names.index("strict_order")
    assert declared(Ends)["pages"].help == declared(CrawlOptions)["pages"].help != ""


def test_the_defaults_of_options_are_those_of_the_settings_and_of_help() -> None:
    topic = Topic("dogs")
    default = CrawlSettings(topic, ("http://a.test/",))
    assert CrawlSettings.chosen(topic, default.seeds, CrawlOptions()) == default
    shown = {each.name: each.option.shown for each in options_in(CrawlOptions)}
    assert shown["timeout"] == f"{default.limits.total_s:g}"
    assert shown["page_bytes"] == str(default.limits.body_bytes)
    assert shown["user_agent"] == default.agent
