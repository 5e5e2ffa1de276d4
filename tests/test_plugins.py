"""The list of installed plug-ins: packages, versions, origins, and problems."""

import json
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pytest

import scenthound as sh
from scenthound.errors import PluginError, UnknownName
from scenthound.plugins.installed import REGISTRIES, InstalledPlugin
from scenthound.strategies.base import STRATEGIES
from scenthound.ui import terminal

Install = Callable[..., Path]
MODULE = """
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.strategies.base import Strategy
from scenthound.metrics.base import Metric

print("imported")

class Mine(BreadthFirst):
    summary = "made for a test"

class Other(Mine): ...

class Unfinished(Strategy):
    def __len__(self): return 0

class Measure(Metric):
    summary = "a measure"
    def curve(self, trace, ground_truth, n_steps): ...

class Fails(BreadthFirst):
    def __init__(self): raise RuntimeError("no luck")

number = 3
"""


def forget_entry_points() -> None:
    for registry in REGISTRIES.values():
        registry.__dict__.pop("_found", None)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a package: its entry points, by group, in the files that pip writes."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "made_plugins.py").write_text(MODULE)
    (tmp_path / "exits.py").write_text("raise SystemExit(3)")

    def write(project: str, *, source: object = None, metadata: str | None = None, **groups: str) -> Path:
        folder = tmp_path / f"{project.replace('-', '_')}-1.2.3.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project}\nVersion: 1.2.3\n" if metadata is None else metadata
        )
        (folder / "entry_points.txt").write_text(
            "".join(f"[scenthound.{group}]\n{lines}\n" for group, lines in groups.items())
        )
        if source is not None:
            (folder / "direct_url.json").write_text(source if isinstance(source, str) else json.dumps(source))
        return tmp_path

    forget_entry_points()
    yield write
    forget_entry_points()
    sys.modules.pop("made_plugins", None)


def others() -> list[InstalledPlugin]:
    return [each for each in sh.list_plugins() if each.package != "scenthound"]


def test_built_in_plug_ins_of_all_kinds_are_listed_with_the_version():
    listed = list(sh.list_plugins())
    for kind, registry in REGISTRIES.items():
        built_in = [each for each in listed if (each.kind, each.package) == (kind, "scenthound")]
        assert {each.name for each in built_in} <= set(registry.names())
        assert {(each.version, each.origin, each.problem) for each in built_in} == {
            (version("scenthound"), "built in", "")
        }
    found = {each.name: each for each in listed}
    assert found["otie"].entry_point == "scenthound.strategies.otie:Otie"
    assert found["otie"].summary == STRATEGIES.summary("otie")


def test_plug_ins_of_other_packages_come_first_with_package_version_and_origin(install):
    folder = install("zoo", strategies="mine = made_plugins:Mine", metrics="measure = made_plugins:Measure")
    assert list(sh.list_plugins())[:2] == others()
    where = f"installed in {folder}"
    assert others() == [
        InstalledPlugin("strategy", "mine", "zoo", "1.2.3", where, "made_plugins:Mine", "made for a test", ""),
        InstalledPlugin("metric", "measure", "zoo", "1.2.3", where, "made_plugins:Measure", "a measure", ""),
    ]


def test_one_kind_is_listed_alone_and_an_unknown_one_is_answered_with_the_nearest(install, scenthound):
    install("zoo", strategies="mine = made_plugins:Mine", metrics="measure = made_plugins:Measure")
    with pytest.raises(UnknownName, match="'strategy'"):
        sh.list_plugins("strategies")
    status, out, err = scenthound("plugins", "--kind", "metrics")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "'metric'" in err
    assert {each.kind for each in sh.list_plugins("metric")} == {"metric"}
    assert "measure" in [each.name for each in sh.list_plugins("metric")]


@pytest.mark.parametrize(
    ("source", "origin"),
    [
        ({"url": "file:///home/me/a%20b", "dir_info": {"editable": True}}, "editable: /home/me/a b"),
        ({"url": "file:///home/me/zoo", "dir_info": {}}, "copied from /home/me/zoo"),
        ({"url": "https://me:secret@example.org/zoo.whl", "archive_info": {}}, "https://example.org/zoo.whl"),
        (
            {"url": "https://example.org/zoo.git", "vcs_info": {"vcs": "git", "commit_id": "4f2a"}},
            "git+https://example.org/zoo.git@4f2a",
        ),
        ("{", None),
        ("[]", None),
        ({"url": 3}, None),
    ],
)
def test_the_origin_is_what_the_installer_recorded(install, source, origin):
    folder = install("zoo", source=source, strategies="mine = made_plugins:Mine")
    (listed,) = others()
    assert listed.origin == (origin or f"installed in {folder}")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("mine = no_such_module:Mine", "no_such_module"),
        ("mine = made_plugins:Nothing", "Nothing"),
        ("mine = exits:Mine", "SystemExit"),
        ("mine = made_plugins:number", "mine"),
        ("mine = collections:Counter", "Strategy"),
        ("mine = made_plugins:Unfinished", "ask, drop, memory_bound"),
        ("mine = made_plugins:Fails", "no luck"),
        ("my:own = made_plugins:Mine", "my:own"),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_listed_with_its_problem_beside_the_others(install, value, says):
    install("broken", strategies=value)
    install("zoo", strategies="usable = made_plugins:Mine")
    broken, usable = others()
    assert says in broken.problem
    assert (broken.package, broken.version, broken.summary) == ("broken", "1.2.3", "")
    assert "\n" not in broken.problem
    assert (usable.name, usable.problem) == ("usable", "")
    assert not any(each.problem for each in sh.list_plugins() if each.package == "scenthound")


def test_two_packages_that_define_one_name_are_both_named_in_its_problem(install):
    install("first-zoo", strategies="mine = made_plugins:Mine")
    install("second-zoo", strategies="mine = made_plugins:Other\nopic = made_plugins:Other")
    listed = [each for each in sh.list_plugins("strategy") if each.problem]
    assert [(each.name, each.package) for each in listed] == [
        ("mine", "first-zoo"),
        ("mine", "second-zoo"),
        ("opic", "second-zoo"),
        ("opic", "scenthound"),
    ]
    for each in listed[:2]:
        assert "first-zoo (made_plugins:Mine) and second-zoo (made_plugins:Other)" in each.problem
    with pytest.raises(PluginError, match="uninstall"):
        STRATEGIES.make("opic")


def test_a_package_whose_metadata_are_lost_is_listed_as_unknown(install):
    folder = install("zoo", metadata="", strategies="mine = made_plugins:Mine")
    (listed,) = others()
    assert (listed.package, listed.version, listed.problem) == ("unknown", "unknown", "")
    (folder / "zoo-1.2.3.dist-info" / "METADATA").unlink()
    (listed,) = others()
    assert (listed.package, listed.version, listed.problem) == ("unknown", "unknown", "")


def test_what_a_plug_in_prints_does_not_disturb_the_json(install, scenthound):
    install("zoo", strategies="mine = made_plugins:Mine")
    status, out, err = scenthound("plugins", "--json")
    assert status == 0
    assert "imported" in err
    assert json.loads(out)[0] == {
        "kind": "strategy",
        "name": "mine",
        "package": "zoo",
        "version": "1.2.3",
        "origin": others()[0].origin,
        "entry_point": "made_plugins:Mine",
        "summary": "made for a test",
        "problem": "",
    }


@pytest.mark.parametrize("width", [60, 80, 160])
def test_the_table_names_everything_and_fits_the_terminal(install, scenthound, monkeypatch, width):
    install("zoo", strategies="mine = made_plugins:Mine\nlost = no_module:Mine")
    monkeypatch.setattr(terminal, "_console", lambda: terminal.Console(width=width))
    status, out, _ = scenthound("plugins")
    assert status == 0
    assert all(len(line) <= width for line in out.splitlines())
    for word in ("mine", "lost", "zoo", "1.2.3", version("scenthound"), "shark_search", "rocchio", "target_recall"):
        assert word in out


def test_without_plug_ins_of_others_the_built_in_ones_are_listed(scenthound, monkeypatch):
    built_in = [each for each in sh.list_plugins() if each.is_built_in]
    monkeypatch.setattr("scenthound.api.catalog.list_plugins", lambda kind: built_in)
    status, out, _ = scenthound("plugins")
    assert status == 0
    assert "new-strategy" in out
    assert "best_first" in out


def test_a_name_without_a_package_has_no_origin(monkeypatch):
    point = SimpleNamespace(name="mine", value="collections:OrderedDict", dist=None, load=lambda: dict)
    monkeypatch.setitem(STRATEGIES.__dict__, "_found", {"mine": [point]})
    (listed,) = sh.list_plugins("strategy")
    assert (listed.package, listed.version, listed.origin) == ("unknown", "unknown", "unknown")
