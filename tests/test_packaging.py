"""The package as users install it: wheel and sdist, metadata, versions and size, in fresh environments."""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from email import message_from_string
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from environments import environment
from live_site import LiveSite, live_site

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSION = PROJECT["version"]
REPOSITORY = PROJECT["urls"]["Repository"]
PYTHONS = sorted(re.findall(r"Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE))
THIS_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
MAX_CORE_BYTES = 150_000_000
#: What a checkout has besides its files.
MADE_FOLDERS = (".git", ".venv", "build", "dist", "demo", ".hypothesis")
MADE_FILES = ("*.so", "*.egg-info", "__pycache__", ".*_cache")
SDIST = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
WHEEL = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
#: Calls the program with each list of arguments, and prints the exit code and standard error of each call.
CALL_ALL = """
import contextlib, io, json, sys
from scenthound.cli import main
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["scenthound", *arguments]
    with contextlib.redirect_stderr(io.StringIO()) as error, contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as ending:
            code = int(ending.code or 0)
    print(json.dumps([code, error.getvalue()]))
"""
#: The last numpy for Python 3.11, which constraints.txt has, defines its types otherwise than the next one.
NEWER_PINS = {"numpy": "2.5.4"}
Run = Callable[..., "subprocess.CompletedProcess[str]"]


class Distributions(NamedTuple):
    sdist: Path
    wheel: Path


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """Built once for all test processes: the sdist from a copy of this tree, the wheel from the sdist."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "distributions"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not any(folder.glob("*.whl")):
            build(folder)
    return Distributions(*folder.glob("*.tar.gz"), *folder.glob("*.whl"))


def made_by_tools(folder: str, names: list[str]) -> set[str]:
    patterns = MADE_FILES + (MADE_FOLDERS if Path(folder) == ROOT else ())
    return shutil.ignore_patterns(*patterns)(folder, names)


def build(folder: Path) -> None:
    checkout = folder / "checkout"
    shutil.copytree(ROOT, checkout, ignore=made_by_tools)
    completed([sys.executable, "-c", SDIST, str(folder)], cwd=checkout)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    completed([sys.executable, "-c", WHEEL, str(folder)], cwd=folder / f"scenthound-{VERSION}")


def completed(command: list[str], **options: object) -> "subprocess.CompletedProcess[str]":
    result = subprocess.run(command, capture_output=True, check=False, text=True, **options)  # type: ignore[call-overload]
    assert result.returncode == 0, result.stderr
    return result


def found_python(version: str) -> str:
    """The path of a Python of this version. The command may be a shim of pyenv that leads nowhere."""
    if version == THIS_PYTHON:
        return sys.executable
    commands = [[f"python{version}"]]
    if shutil.which("pyenv"):
        listed = subprocess.run(["pyenv", "prefix", version], capture_output=True, check=False, text=True).stdout
        commands.append([f"{listed.strip()}/bin/python"])
    for command in commands:
        if path := shutil.which(command[0]):
            code = "import sys, venv, ensurepip; print(sys.executable, *sys.version_info[:2])"
            printed = subprocess.run([path, "-c", code], capture_output=True, check=False, text=True).stdout.split()
            if ".".join(printed[1:]) == version:
                return printed[0]
    pytest.skip(f"there is no Python {version} on this machine")


def core_environment(version: str) -> Path:
    """A kept environment with the core dependencies, and without Scenthound."""
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE))
    pins = {name.lower(): pin for name, pin in pins.items()} | (NEWER_PINS if version != "3.11" else {})

    def pinned(requirement: str) -> str:
        name, marker = re.fullmatch(r"([\w.-]+)[^;]*(;.*)?", requirement).groups()  # type: ignore[union-attr]
        return f"{name}=={pins[name.lower()]}{marker or ''}"

    return environment(*map(pinned, PROJECT["dependencies"]), python=found_python(version))


def installed(distribution: Path, version: str, folder: Path, *options: str) -> Path:
    """A new environment with Scenthound on top of the one with its dependencies: the folder of its programs."""
    kept = core_environment(version)
    completed([str(kept / "bin" / "python"), "-m", "venv", "--without-pip", str(folder)])
    python = folder / "bin" / "python"
    (site,) = kept.glob("lib/python*/site-packages")
    (own_site,) = folder.glob("lib/python*/site-packages")
    (own_site / "dependencies.pth").write_text(f"{site}\n")
    pip = [str(kept / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    completed([*pip, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", *options, str(distribution)])
    return folder / "bin"


def runner(programs: Path, folder: Path) -> Run:
    """Runs the installed program in a folder, without the settings of this process."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SCENTHOUND"))}

    def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
        command = [str(programs / "scenthound"), *map(str, arguments)]
        options = {"cwd": folder, "env": {**variables, "PYTHONWARNINGS": "error"}, "timeout": 120}
        return subprocess.run(command, capture_output=True, check=False, text=True, **options)  # type: ignore[call-overload]

    return run


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSite]:
    with live_site(tmp_path_factory.mktemp("site")) as site:
        yield site


@pytest.fixture(scope="module")
def tools() -> Path:
    """The programs that check metadata."""
    return environment("twine==7.0.0", "trove-classifiers==2026.9.21.13", "cffconvert==2.0.0") / "bin"


# In fresh environments


@pytest.mark.slow
@pytest.mark.parametrize("version", PYTHONS)
def test_the_wheel_crawls_and_exports_without_extras(
    version: str, distributions: Distributions, site: LiveSite, tmp_path: Path
) -> None:
    run = runner(installed(distributions.wheel, version, tmp_path / "environment"), tmp_path)
    crawled = run(*site.crawl("--pages", 6, "--out", "crawl", "--json"))
    assert crawled.returncode == 0, crawled.stderr
    exported = run("export", "crawl", "--to", "jsonl", "--workers", 1, "--out", "pages.jsonl")
    assert exported.returncode == 0, exported.stderr
    pages = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text("utf-8").splitlines()]
    assert [page["url"] for page in pages][:1] == [site.url(0)]
    assert [page["language"] for page in pages] == 6 * [None]


@pytest.mark.slow
def test_the_core_needs_no_extra_for_crawls_reports_and_webs_and_names_the_extra_for_the_rest(
    distributions: Distributions, site: LiveSite, tmp_path: Path
) -> None:
    programs = installed(distributions.wheel, THIS_PYTHON, tmp_path / "environment")
    assert runner(programs, tmp_path)("--version").stdout == f"scenthound {VERSION}\n"
    web = ("--web", "toy", "--topics", "toy/topics.jsonl")
    without_extra = [
        ["strategies"],
        site.crawl("--pages", 3, "--out", "crawl"),
        ["report", "crawl"],
        ["synthesize", "--pages", 200, "--out", "toy"],
    ]
    with_extra: dict[str, list[object]] = {
        "lab": ["simulate", *web, "--strategy", "best_first", "--out", "run"],
        "parquet": ["export", "crawl", "--to", "parquet", "--out", "pages.parquet"],
        "language": ["export", "crawl", "--to", "jsonl", "--language", "en", "--out", "pages.jsonl"],
        "dashboard": ["dashboard", "crawl"],
        "browser": ["crawl", "--render", "always", "--keywords", "a", "--seed", site.url(0), "--out", "rendered"],
    }
    commands = [[str(word) for word in command] for command in (*without_extra, *with_extra.values())]
    # In one process, because it takes longer to start it than to run these commands.
    printed = completed([str(programs / "python"), "-c", CALL_ALL, json.dumps(commands)], cwd=tmp_path).stdout
    results = [json.loads(line) for line in printed.splitlines()]
    n_without = len(without_extra)
    assert [code for code, _ in results] == [0] * n_without + [2] * len(with_extra), results
    for extra, (_, error) in zip(with_extra, results[n_without:], strict=True):
        assert error.count("\n") == 1
        assert f"'scenthound[{extra}]'" in error
        assert extra in PROJECT["optional-dependencies"]


@pytest.mark.slow
def test_the_core_is_small(distributions: Distributions) -> None:
    (site_packages,) = core_environment(THIS_PYTHON).glob("lib/python*/site-packages")
    dependencies = [
        file.stat().st_size
        for file in site_packages.rglob("*")
        if file.is_file()
        and not re.match(r"pip|setuptools|pkg_resources|_distutils", str(file.relative_to(site_packages)))
    ]
    with zipfile.ZipFile(distributions.wheel) as archive:
        # Bytecode, which pip compiles, is half as large again as the source.
        own = [file.file_size * (2.5 if file.filename.endswith(".py") else 1) for file in archive.infolist()]
    assert 100_000_000 < sum(dependencies) + sum(own) < MAX_CORE_BYTES


# What is in the files


def contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.slow
def test_the_wheel_has_the_package_with_its_extension_and_nothing_else(distributions: Distributions) -> None:
    names = contents(distributions.wheel)
    package = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "scenthound").rglob("*.*")}
    unwanted = (".c", ".h", ".so", ".pyc")
    expected = {name for name in package if not name.endswith(unwanted) and (ROOT / "src" / name).is_file()}
    dist_info = f"scenthound-{VERSION}.dist-info/"
    own = {name for name in names if not name.startswith(dist_info)}
    assert own == expected | {"scenthound/native/_native.abi3.so"}
    assert f"{dist_info}licenses/LICENSE" in names
    assert "-cp311-abi3-" in distributions.wheel.name


@pytest.mark.slow
def test_the_sdist_has_all_that_make_test_needs(distributions: Distributions) -> None:
    with tarfile.open(distributions.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    expected = {
        str(path.relative_to(ROOT))
        for folder in ("src/scenthound", "tests", "benchmarks", "docs", ".github")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ".so"}
    }
    expected |= {path.name for path in ROOT.glob("*.md")}
    expected |= {"Makefile", "constraints.txt", "pyproject.toml", "setup.py", "LICENSE", "CITATION.cff", "Dockerfile"}
    assert expected - names == set()
    assert not [name for name in names if name.endswith((".pyc", ".so"))]


def metadata_of(wheel: Path) -> tuple[list[str], str]:
    """The classifiers and the long description."""
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"scenthound-{VERSION}.dist-info/METADATA").decode()
    message = message_from_string(text)
    return message.get_all("Classifier", []), text.split("\n\n", 1)[1]


@pytest.mark.slow
def test_the_links_of_the_long_description_are_absolute_and_lead_to_files_of_the_version(
    distributions: Distributions,
) -> None:
    _, description = metadata_of(distributions.wheel)
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]*)\)|src=\"([^\"]*)\"|href=\"([^\"]*)\"", description)
    assert sum(picture == "!" for picture, *_ in links) > 0
    for picture, *addresses in links:
        address = "".join(addresses)
        assert address.startswith(("https://", "http://", "#")), address
        if address.startswith(REPOSITORY):
            kind = "raw" if picture else "blob"
            path = address.removeprefix(f"{REPOSITORY}/{kind}/v{VERSION}/").partition("#")[0]
            assert (ROOT / path).is_file(), address


@pytest.mark.slow
def test_package_indexes_accept_the_metadata(distributions: Distributions, tools: Path) -> None:
    completed([str(tools / "twine"), "check", "--strict", *map(str, distributions)])
    listed = completed([str(tools / "python"), "-c", "import trove_classifiers as t; print(*t.classifiers, sep='\\n')"])
    classifiers, _ = metadata_of(distributions.wheel)
    assert set(classifiers) - set(listed.stdout.splitlines()) == set()
    assert classifiers == PROJECT["classifiers"]


# Versions, citation, continuous integration, documentation


def test_versions_have_dates_and_the_same_number_everywhere() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = re.findall(r"^## (?!Unreleased$)(.*)$", changelog, re.MULTILINE)
    versions = [re.fullmatch(r"(\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d|unreleased)\)", each) for each in headings]
    pairs = [match.groups() for match in versions if match]
    assert len(pairs) == len(headings)
    assert [date for _, date in pairs[1:]] == sorted(
        (date for _, date in pairs[1:] if date != "unreleased"), reverse=True
    )
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert pairs[0] == (VERSION, str(citation.get("date-released", "unreleased")))
    assert citation["version"] == VERSION


@pytest.mark.slow
def test_the_citation_is_valid_and_names_the_studies(tools: Path) -> None:
    completed([str(tools / "cffconvert"), "--validate", "--infile", str(ROOT / "CITATION.cff")])
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    studies = {path.stem for path in (ROOT / "src/scenthound/experiments/study/presets").glob("*.toml")}
    assert {each["notes"] for each in citation["references"]} == studies
    assert citation["repository-code"] == REPOSITORY
    assert citation["license"] == PROJECT["license"]


def test_the_workflow_calls_make_test_with_every_supported_python() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text("utf-8"))
    job = workflow["jobs"]["test"]
    assert job["strategy"]["matrix"]["python"] == PYTHONS
    assert "make test" in [step.get("run") for step in job["steps"]]
    assert workflow["permissions"] == {"contents": "read"}
    used = [step["uses"] for each in workflow["jobs"].values() for step in each["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", action) for action in used), used


def test_the_documentation_lists_every_extra_and_what_it_installs() -> None:
    text = (ROOT / "docs" / "installation.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", text, re.MULTILINE))
    extras = {name: needed for name, needed in PROJECT["optional-dependencies"].items() if name not in ("dev", "docs")}
    assert rows.keys() == extras.keys()
    for extra, requirements in extras.items():
        packages = {name for each in requirements for name in package_names(each)}
        assert set(re.findall(r"`([^`]+)`", rows[extra])) == packages, extra


def package_names(requirement: str) -> list[str]:
    """The package, or the extras of this one."""
    own = re.fullmatch(r"scenthound\[(.*)\]", requirement)
    return own[1].split(",") if own else re.findall(r"^[\w-]+", requirement)


def test_the_image_is_built_from_files_that_exist_and_as_another_user_than_root() -> None:
    patterns = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert all((ROOT / pattern[1:]).exists() for pattern in patterns if pattern.startswith("!"))
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    extras = re.findall(r"^ARG EXTRAS=(\S+)$", "\n".join(lines), re.MULTILINE)
    assert set(",".join(extras).split(",")) <= PROJECT["optional-dependencies"].keys()
    assert [line for line in lines if line.startswith("USER")] == ["USER 1000:1000"]
    assert 'ENTRYPOINT ["scenthound"]' in lines
