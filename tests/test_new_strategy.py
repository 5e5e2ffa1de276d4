"""The package that `scenthound new-strategy` makes: complete, installable, and never in the way of another."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

import scenthound as sh
from environments import missing
from ring_web import record_ring, topic
from scenthound.errors import InvalidInput, InvalidParameter
from scenthound.plugins import new_strategy
from scenthound.plugins.new_strategy import StrategyPackage, make_strategy_package
from scenthound.strategies.base import STRATEGIES
from scenthound.testing import shard_checks
from scenthound.testing.strategy_checks import RULES
from scenthound.topics.files import write_topics

ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
FILES = {
    ".gitignore",
    "README.md",
    "pyproject.toml",
    "src/scenthound_best_links/__init__.py",
    "src/scenthound_best_links/py.typed",
    "tests/test_best_links.py",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files_in(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


def suggested(error: Exception) -> str:
    """The name or folder that a message suggests."""
    (name,) = re.findall(r"such as (\S+?)[,.]?(?: or |$)", str(error))
    return name


def test_the_command_makes_a_package_and_prints_commands_that_follow(scenthound, folder):
    status, out, err = scenthound("new-strategy", "best-links")
    assert (status, err) == (0, "")
    assert files_in(folder / "scenthound-best-links") == FILES
    assert "best_links" in out
    assert "cd scenthound-best-links\n" in out


def test_the_function_returns_the_folder(folder):
    assert sh.new_strategy("best_links") == Path("scenthound-best-links")
    assert sh.new_strategy("best_links", out=folder / "made" / "here") == folder / "made" / "here"
    assert files_in(folder / "made" / "here") == FILES


def test_the_entry_point_names_the_class_and_the_requirement_this_version(folder):
    project = tomllib.loads((sh.new_strategy("best_links") / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "scenthound-best-links"
    assert project["entry-points"]["scenthound.strategies"] == {"best_links": "scenthound_best_links:BestLinks"}
    assert project["dependencies"] == [f"scenthound>={version('scenthound')}"]


def test_a_local_version_is_no_requirement(monkeypatch):
    monkeypatch.setattr(new_strategy, "version", lambda _name: "1.2.0+patched")
    assert 'dependencies = ["scenthound>=1.2.0"]' in dict(StrategyPackage("a", Path()).files())["pyproject.toml"]


@pytest.mark.parametrize("name", ["true", "none", "exception", "visit", "bounds", "frontier_strategy", "synthetic_web"])
def test_a_class_has_no_name_that_its_files_need(name):
    made = StrategyPackage(name, Path())
    files = dict(made.files())
    source = files[f"src/scenthound_{name}/__init__.py"]
    defined: dict[str, type] = {}
    exec(compile(source, "strategy", "exec"), defined)
    assert defined[made.class_name].__mro__[1].__name__ == "FrontierStrategy"
    compile(files[f"tests/test_{name}.py"], "test", "exec")
    assert made.class_name not in {"Visit", "Bounds", "FrontierStrategy", "SyntheticWeb"}


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("best_first", "best_first_2"),
        ("best-first", "best_first_2"),
        ("BestLinks", "best_links"),
        ("best links!", "best_links"),
        ("best__links_", "best_links"),
        ("béta", "beta"),
        ("2fast", "strategy_2fast"),
        ("class", "class_strategy"),
        ("Lambda", "lambda_strategy"),
        ("Otie", "otie_2"),
        ("../up", "up"),
        ("緑", "my_strategy"),
        ("a\nb\x1b", "a_b"),
        ("x" * 61, "x" * 50),
    ],
)
def test_a_name_that_cannot_be_used_is_answered_with_the_nearest_that_can(name, nearest, folder):
    with pytest.raises(InvalidParameter) as caught:
        sh.new_strategy(name)
    message = str(caught.value)
    assert message.isprintable()
    assert suggested(caught.value) == nearest
    assert list(folder.iterdir()) == []
    sh.new_strategy(nearest)


def test_the_suggested_name_is_free_among_strategies_packages_and_folders(folder, monkeypatch):
    names = STRATEGIES.names()
    monkeypatch.setattr(STRATEGIES, "names", lambda: [*names, "best_first_2"])
    (folder / "lib" / "scenthound_best_first_3").mkdir(parents=True)
    monkeypatch.syspath_prepend(folder / "lib")
    (folder / "lib" / "scenthound_best_first_4-1.0.dist-info").mkdir()
    (folder / "lib" / "scenthound_best_first_4-1.0.dist-info" / "METADATA").write_text(
        "Name: scenthound-best-first-4\n"
    )
    (folder / "scenthound-best-first-5").touch()
    with pytest.raises(InvalidParameter) as caught:
        sh.new_strategy("best_first")
    assert suggested(caught.value) == "best_first_6"
    with pytest.raises(InvalidParameter, match="scenthound_best_first_3"):
        sh.new_strategy("best_first_3")
    with pytest.raises(InvalidParameter, match="scenthound-best-first-4"):
        sh.new_strategy("best_first_4")


def test_a_folder_that_exists_is_never_replaced(folder):
    made = sh.new_strategy("best_links")
    (made / "README.md").write_text("mine")
    with pytest.raises(InvalidInput) as caught:
        sh.new_strategy("best_links")
    assert suggested(caught.value) == "best_links_2"
    (folder / "empty").mkdir()
    (folder / "empty-2").touch()
    with pytest.raises(InvalidInput, match="out=") as caught:
        sh.new_strategy("best_links", out="empty")
    assert suggested(caught.value) == "empty-3"
    assert (made / "README.md").read_text() == "mine"
    assert list((folder / "empty").iterdir()) == []


def test_an_unwritable_folder_costs_one_line(scenthound, folder):
    (folder / "file").touch()
    status, out, err = scenthound("new-strategy", "best_links", "--out", "file/inside")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "file/inside" in err
    assert "--out" in err


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("no space")])
def test_nothing_is_left_of_a_package_that_could_not_be_finished(error, folder, monkeypatch):
    def files(package):
        yield "pyproject.toml", "half"
        raise error

    monkeypatch.setattr(StrategyPackage, "files", files)
    with pytest.raises((KeyboardInterrupt, OSError)):
        make_strategy_package("best_links", folder / "new" / "package")
    assert list(folder.iterdir()) == []


def test_the_documentation_shows_the_files_of_the_template():
    files = dict(StrategyPackage("anchor_first", Path()).files())
    shown = re.findall(r"^`(\S+)`:\n\n```(?:python|toml)\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
    assert [path for path, _ in shown] == [
        "src/scenthound_anchor_first/__init__.py",
        "tests/test_anchor_first.py",
        "pyproject.toml",
    ]
    assert GUIDE.count("```python") == 2
    for path, content in shown:
        assert content == files[path], path


def test_the_documentation_lists_every_rule_of_the_contract():
    source = Path(shard_checks.__file__).read_text(encoding="utf-8")
    rules = set(RULES) | set(re.findall(r"\"([a-z]+(?:-[a-z]+)*)\",(?:$| message| f?\")", source, re.MULTILINE))
    section = GUIDE.split("\n## Test\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]*`) \|", section, re.MULTILINE)
    assert {rule for cell in cells for rule in re.findall(r"`([^`]+)`", cell)} == rules


def made_environment(folder: Path) -> Path:
    """The Python of a new environment that also has the packages of this one."""
    if find_spec("pip") is None or find_spec("setuptools") is None:
        missing("pip and setuptools are not installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    # `addsitedir` also reads the .pth files of these folders, such as that of an editable install.
    lines = [f"import site; site.addsitedir({path!r})" for path in sys.path if path.endswith("site-packages")]
    (folder / sysconfig.get_path("purelib", "venv", vars={"base": str(folder)}) / "outer.pth").write_text(
        "\n".join(lines)
    )
    return python


@pytest.mark.slow
def test_a_new_package_is_installed_tested_listed_and_simulated(folder):
    made = sh.new_strategy("best_links").resolve()
    python = made_environment(folder / "environment")

    def run(*words: object) -> str:
        done = subprocess.run([python, "-m", *map(str, words)], cwd=made, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--editable", ".")
    assert "4 passed" in run("pytest", "-q", "-p", "no:cacheprovider")
    (listed,) = [each for each in json.loads(run("scenthound", "plugins", "--json")) if each["name"] == "best_links"]
    assert listed == {
        "kind": "strategy",
        "name": "best_links",
        "package": "scenthound-best-links",
        "version": "0.1.0",
        "origin": f"editable: {made}",
        "entry_point": "scenthound_best_links:BestLinks",
        "summary": listed["summary"],
        "problem": "",
    }
    web = record_ring(folder)
    write_topics(folder / "topics.jsonl", [topic("balloon")])
    options = ("--web", web, "--topics", folder / "topics.jsonl", "--start", 1, "--pages", 6, "--workers", 1)
    run("scenthound", "simulate", *options, "--strategy", "best_links:page_weight=0.3", "--out", folder / "run")
    assert sh.open_run(folder / "run").strategies == ["best_links:page_weight=0.3"]


@pytest.mark.slow
def test_a_new_package_passes_linter_formatter_and_strict_types(folder):
    made = sh.new_strategy("best_links").resolve()
    code = [made / "src", made / "tests"]
    commands = [
        (made, ["ruff", "check", "--isolated", "--select", "E,F,W,I,B,UP,N,PT,RET,SIM,A", *code]),
        (made, ["ruff", "format", "--isolated", "--check", *code]),
        # Here, so that mypy finds what it knows of numpy and of Scenthound in its cache.
        (ROOT, ["mypy", "--strict", *code]),
    ]
    search = {**os.environ, "MYPYPATH": f"{ROOT / 'src'}{os.pathsep}{made / 'src'}"}
    for where, command in commands:
        words = [sys.executable, "-m", *map(str, command)]
        done = subprocess.run(words, cwd=where, env=search, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
