"""The net: golden tests at public boundaries only, which outlive any change within the package.

They use the command line, `import scenthound` and the names it exports, HTTP, and files. Nothing else is imported from
the package but `scenthound.testing`, and `scenthound.scrapy` by its name in settings. Golden values are in `golden/`.
"""

import json
import re
import shutil
import sys
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import scenthound as sh
from goldens import FOLDER, Golden
from net_site import ODD, PORT, Server, Site, odd_pages, served, small_site

OLD_FOLDERS = Path(__file__).parent / "folders_of_0_8"
_USED = pytest.StashKey[set[Path]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-net", action="store_true", help="store the golden files of tests/net anew")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_USED] = set()
    if config.getoption("update_net", False) and config.getoption("numprocesses", None):
        raise pytest.UsageError("--update-net needs a single process, which knows all files in use: leave out -n.")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """An update of the complete net removes files that no test uses."""
    config = session.config
    is_complete = exitstatus == 0 and not config.getoption("keyword") and config.getoption("markexpr") == "not slow"
    if config.getoption("update_net", False) and is_complete and [*map(Path, config.args)] == [Path("tests/net")]:
        for path in {*FOLDER.iterdir()} - config.stash[_USED]:
            path.unlink()


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """No page of the site has scripts."""
    monkeypatch.setenv("SCENTHOUND_CRAWL_RENDER", "never")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    config = request.config
    name = f"{request.path.stem.removeprefix('test_net_')}-{request.node.name.removeprefix('test_')}"
    return Golden(name, update=config.getoption("update_net", False), used=config.stash[_USED])


@pytest.fixture(scope="session")
def site() -> Site:
    return small_site()


@pytest.fixture(scope="session")
def net_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("net")


@pytest.fixture(scope="session")
def web(site: Site, net_folder: Path) -> Path:
    """The site as a recorded web. Tests must not change it."""
    pages = site.write_jsonl(net_folder / "pages.jsonl")
    sh.record(pages, net_folder / "web", workers=1, progress=False)
    return net_folder / "web"


@pytest.fixture(scope="session")
def topics(site: Site, net_folder: Path) -> Path:
    return site.write_topics(net_folder / "topics.jsonl")


@pytest.fixture
def server(site: Site, tmp_path: Path) -> Iterator[Server]:
    with served(site, tmp_path) as running:
        yield running


@pytest.fixture(scope="session")
def run(web: Path, topics: Path, net_folder: Path) -> Path:
    """A run of three strategies, two topics and two starts."""
    how = {"topic": ["balloons", "trains"], "pages": 80, "start": 3, "repeats": 2, "workers": 1, "progress": False}
    return Path(sh.simulate(web, topics, ["otie", "best_first", "breadth_first"], out=net_folder / "run", **how).folder)


@pytest.fixture(scope="session")
def old_folders() -> Callable[[str, Path], Path]:
    """Unpacks a crawl folder of version 0.8.0 in a folder."""

    def unpacked(name: str, folder: Path) -> Path:
        with tarfile.open(OLD_FOLDERS / f"{name}.tar.xz") as packed:
            packed.extractall(folder, filter="data")
        return folder / name

    return unpacked


@pytest.fixture
def folder_of(old_folders: Callable[[str, Path], Path], tmp_path: Path) -> Callable[[str], Path]:
    return lambda name: old_folders(name, tmp_path)


@dataclass(frozen=True)
class Crawled:
    """A live crawl of the site in strict order, and the server that runs on."""

    server: Server
    folder: Path
    requests: list[str]

    def copy(self, folder: Path) -> Path:
        """A crawl that a test may change."""
        return Path(shutil.copytree(self.folder, folder / "crawl"))


@pytest.fixture(scope="session")
def crawled(site: Site, net_folder: Path) -> Iterator[Crawled]:
    with served(site, net_folder) as server:
        server.others |= odd_pages(site)
        topic = sh.Topic("balloons", keywords=("balloon", "balloonist", "hot air"))
        how = {"hosts": server.hosts_file, "allow_private": True, "delay": 0, "render": "never", "progress": False}
        seeds = [ODD, f"http://news.balloons.test:{PORT}/"]
        sh.crawl(topic, seeds, out=net_folder / "crawl", pages=90, strict_order=True, random_seed=5, **how)
        yield Crawled(server, net_folder / "crawl", [*server.requests])


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Call the installed program `scenthound` in this process: exit code, standard output, standard error."""
    [script] = entry_points(group="console_scripts", name="scenthound")
    run: Callable[[], Any] = script.load()

    def call(*arguments: object, columns: str = "120") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["scenthound", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", columns)
        code = 0
        try:
            run()
        except SystemExit as ended:
            code = int(ended.code or 0)
        output = capsys.readouterr()
        return code, output.out, output.err

    return call


#: Fields of JSON outputs that depend on time, on the machine or on the process.
_OF_TIME = re.compile(
    r"(^|_)(s|seconds|time|times|process|cpu|cpu_us|rss|memory|hosts_(active|waiting|ready))$|_per_s$|^id$|seconds_of|^cpu_us"
    # Compressed sizes: headers in the archive have dates.
    r"|^(offset|length|bytes_read)$"
    # With which packages.
    r"|^(versions|version|scenthound)$"
    # The progress of a search index.
    r"|^indexing$"
)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(each) for name, each in value.items() if not _OF_TIME.search(name)}
    return [*map(_timeless, value)] if isinstance(value, list) else value


@pytest.fixture
def plain(net_folder: Path, tmp_path: Path) -> Callable[[str], str]:
    """Texts without paths of temporary folders, addresses of servers, and the version of the package."""

    def without(text: str) -> str:
        text = text.replace(str(tmp_path), "TMP").replace(str(net_folder), "NET")
        text = text.replace(f"Scenthound/{sh.__version__}", "Scenthound/VERSION")
        return re.sub(r"\b127\.\d+\.\d+\.\d+\b", "ADDRESS", text)

    return without


@pytest.fixture
def timeless(plain: Callable[[str], str]) -> Callable[[str], Any]:
    """What a text says as JSON, without what differs between machines and runs."""
    return lambda text: _timeless(json.loads(plain(text)))
