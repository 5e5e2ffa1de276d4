"""The laboratory on a Ray cluster: the results of one machine, workers and nodes that die, and errors in one line."""

import json
import os
import pickle
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray", reason="the extra `cluster` is not installed")

import scenthound as sh
from scenthound.cluster import connection as connections
from scenthound.cluster import pool as pools
from scenthound.cluster import security
from scenthound.cluster.connection import ClusterWorkers, cluster_workers
from scenthound.cluster.identity import differences, identity
from scenthound.cluster.inputs import UNUSED_S, Copies, Input, content_digest, input_of
from scenthound.cluster.worker import FileServer, Setup
from scenthound.errors import Failure, InvalidInput, InvalidParameter, MissingExtra, UsageError
from scenthound.processes import ITEMS_AHEAD, MAX_REPEATS, WorkerFiles
from scenthound.strategies.breadth_first import BreadthFirst
from timing import WAIT_S, wait_until
from validations import MODE, rank_file

TOKEN = secrets.token_hex(32)
#: Results that depend on how long something took, and the command, which names the folder.
TIMES = re.compile(r"cpu|second|timing|visits_per_s|repeat$")


class Nodes:
    """A cluster of two nodes with a processor each."""

    def __init__(self, folder: str) -> None:
        environment = {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN, "RAY_USAGE_STATS_ENABLED": "0"}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("ray_nodes.py")), folder],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.address = self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            if re.fullmatch(r"127\.0\.0\.1:\d+|add|remove", line.strip()):
                return line.strip()
        pytest.fail("the cluster could not be started")

    def change(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()
        assert self._line() == command

    def end(self) -> None:
        self._process.communicate(timeout=WAIT_S)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    # Paths of sockets are short, and those of pytest's folders are not.
    folder = tempfile.mkdtemp(prefix="sh-ray-", dir="/tmp")
    started = Nodes(folder)
    yield started
    started.end()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def cluster(nodes: Nodes) -> Iterator[ClusterWorkers]:
    """A connection to the cluster that all tests of this process share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_TOKEN", TOKEN)
        with cluster_workers(nodes.address) as workers:
            yield workers


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cluster") / "web"
    sh.synthesize(folder, pages=400, progress=False)
    return folder


@pytest.fixture
def private_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


# Workers of tests. Their module is not installed, so they are sent by value.


@dataclass
class Multiplier:
    factor: int

    def __call__(self, number: int) -> int:
        return self.factor * number


@dataclass
class DiesAtThree:
    """Counts the items that are 3, and dies of the first few."""

    notes: Path
    n_deaths: int

    def __call__(self, number: int) -> int:
        if number == 3:
            with self.notes.open("a") as file:
                file.write(".")
            if len(self.notes.read_text()) <= self.n_deaths:
                os.kill(os.getpid(), signal.SIGKILL)
        return number


@dataclass
class Signs:
    """Leaves a file with the number of each process, and waits until it may go on."""

    folder: Path

    def __call__(self, number: int) -> tuple[int, int]:
        import time

        (self.folder / str(os.getpid())).touch()
        while not (self.folder / "go").exists():
            time.sleep(0.01)
        return number, os.getpid()


class Refuser:
    def __call__(self, number: int) -> int:
        if number == 2:
            raise ValueError(f"no {number}")
        return number


class Threads:
    def __call__(self, _number: int) -> str:
        return os.environ["OPENBLAS_NUM_THREADS"]


def results_of(cluster: ClusterWorkers, make: Any, items: Any, n_workers: int = 2) -> list[Any]:
    with cluster.pool(make, n_workers, WorkerFiles()) as pool:
        return list(pool.in_order(items))


# The same results


def without_times(value: Any) -> Any:
    """A value as it is written to a file, without what was measured with a clock."""
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if not TIMES.search(key)}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def files_of(folder: Path) -> dict[str, Any]:
    """The results in a folder."""
    found: dict[str, Any] = {}
    for file in sorted(folder.rglob("*")):
        name = str(file.relative_to(folder))
        if file.name.startswith("cost-"):
            continue  # CPU time
        if file.suffix == ".npz":
            with np.load(file) as arrays:
                found[name] = {key: arrays[key].tobytes() for key in arrays if key != "cpu_us"}
        elif file.suffix == ".json":
            found[name] = without_times(json.loads(file.read_text()))
        elif file.suffix == ".csv":
            found[name] = [line for line in file.read_text().splitlines() if "cpu" not in line]
        elif file.suffix in (".jsonl", ".toml"):
            found[name] = file.read_text()
        elif file.suffix == ".parquet":
            pages = sh.open_run(folder).pages
            found[name] = [(each.topic, each.strategy, each.seed, each.url, each.relevance) for each in pages]
    return found


def simulate(web: Path, out: Path, **workers: Any) -> None:
    strategies = ["best_first", "otie", own_strategy()]
    sh.simulate(web, web / "topics.jsonl", strategies, pages=60, topics_max=4, repeats=2, out=out, **workers)


def compare(web: Path, out: Path, **workers: Any) -> None:
    strategies = ["best_first", "breadth_first"]
    sh.compare(web, web / "topics.jsonl", strategies, pages=40, topics_max=5, out=out, **workers)


def study(web: Path, out: Path, **workers: Any) -> None:
    sh.study("menczer2001", web, web / "topics.jsonl", out, pages=20, topics_max=5, repeats=1, **workers)


def evolve(web: Path, out: Path, **workers: Any) -> None:
    search = "johnson2003:population=4,generations=2"
    how = {"crawls": 2, "pages": 30, "mode": "sequential", "relevance": "cosine", "start": 3, "random_seed": 1}
    sh.evolve(web, web / "topics.jsonl", out, search=search, topics_max=2, **how, **workers)


def validate(web: Path, out: Path, **workers: Any) -> None:
    strategy = rank_file(web.parent, "topic0")
    how = {"pages": [10, 20], "large": 4, "small": 2, "repeats": 2, "relevance": "cosine", "mode": MODE}
    sh.validate(web, web / "topics.jsonl", strategy, out=out, topic="topic0", **how, **workers)


def own_strategy() -> type[BreadthFirst]:
    class Own(BreadthFirst):
        """A strategy that no other process can import."""

        summary = "the second link first"

        def ask(self, n: int, ready: Any = None) -> list[int]:
            return super().ask(min(n, 1), ready)

    return Own


@pytest.mark.slow
@pytest.mark.parametrize("command", [simulate, compare, study, evolve, validate], ids=lambda each: each.__name__)
def test_results_are_those_of_one_machine(command, web, cluster, nodes, tmp_path):
    for name, workers in {"here": {"workers": 1}, "there": {"cluster": nodes.address}}.items():
        command(web, tmp_path / name / "out", progress=False, **workers)
    here, there = files_of(tmp_path / "here" / "out"), files_of(tmp_path / "there" / "out")
    assert here.keys() == there.keys()
    assert len(here) > 1
    for name, content in here.items():
        assert there[name] == content, name


@pytest.mark.slow
def test_a_repeated_comparison_uses_the_cached_crawls_of_the_first(web, cluster, nodes, tmp_path):
    compare(web, tmp_path / "out", progress=False, workers=1)
    told: list[str] = []
    compare(web, tmp_path / "out", progress=lambda _share, text: told.append(text), cluster=nodes.address)
    assert files_of(tmp_path / "out")
    crawls = sorted((tmp_path / "out" / "crawls").rglob("*.npz"))
    assert max(each.stat().st_mtime for each in crawls) < (tmp_path / "out" / "comparison.json").stat().st_mtime
    assert told


@pytest.mark.slow
def test_a_node_without_the_files_receives_copies_and_asks_for_the_cache(web, cluster, nodes, tmp_path, monkeypatch):
    """Both nodes are treated as other machines, on which the web is not at its path."""
    monkeypatch.setattr(cluster._connection, "node", "elsewhere")
    hidden = {}

    def hide(path: Path) -> Input:
        found = replace(input_of(path), digest=f"{content_digest(path)[:40]}-{tmp_path.name}-{secrets.token_hex(4)}")
        hidden[found.digest] = found.path
        return found

    monkeypatch.setattr(pools, "input_of", hide)
    for name, workers in {"here": {"workers": 1}, "there": {"cluster": nodes.address}}.items():
        compare(web, tmp_path / name, progress=False, **workers)
    assert hidden
    copies = [Path(tempfile.gettempdir(), f"scenthound-inputs-{os.getuid()}", digest) for digest in hidden]
    try:
        assert all(content_digest(copy) == content_digest(web) for copy in copies)
        assert not [part for copy in copies for part in copy.parent.glob(f"{copy.name}.*")]
        assert files_of(tmp_path / "here") == files_of(tmp_path / "there")
    finally:
        for copy in copies:
            shutil.rmtree(copy, ignore_errors=True)


def setup_of(*inputs: Input) -> bytes:
    return pickle.dumps(Setup(b"", b"", (), inputs, None))


def test_copies_are_private_complete_and_removed_when_they_are_not_used(private_temporary_folder, tmp_path):
    source = tmp_path / "folder"
    (source / "inner").mkdir(parents=True)
    (source / "inner" / "large").write_bytes(os.urandom(1000))
    (source / "empty").touch()
    (tmp_path / "file").write_bytes(b"single")
    copies = Copies()
    for path in (source, tmp_path / "file"):
        sent = input_of(path)
        server = FileServer(setup_of(sent))
        assert copies.find(sent.digest) is None
        found = copies.fetch(sent.digest, lambda method, *arguments, server=server: getattr(server, method)(*arguments))
        assert found == copies.find(sent.digest)
        assert content_digest(found) == sent.digest
    (folder,) = private_temporary_folder.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    for each in folder.iterdir():
        os.utime(each, (0, 0))
    Copies()
    assert not list(folder.iterdir())
    folder.chmod(0o755)
    with pytest.raises(Failure, match="not a private folder"):
        copies.fetch("digest", lambda *_arguments: [])
    assert UNUSED_S > 3600


# The pool


@pytest.mark.slow
def test_results_come_in_order_and_pieces_grow_with_fast_items(cluster):
    with cluster.pool(partial(Multiplier, 3), 2, WorkerFiles()) as pool:
        sizes = []
        send = pool._next_piece

        def counted(source: Any) -> Any:
            piece = send(source)
            sizes.append(piece.n_items if piece else 0)
            return piece

        pool._next_piece = counted
        assert list(pool.in_order(range(2000))) == [3 * number for number in range(2000)]
        assert list(pool.in_order([5])) == [15]
    assert max(sizes) > 50


@pytest.mark.slow
def test_only_so_much_is_sent_ahead(cluster):
    taken = []

    def items() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    with cluster.pool(partial(Multiplier, 1), 2, WorkerFiles()) as pool:
        results = pool.in_order(items())
        next(results)
        assert len(taken) <= (ITEMS_AHEAD * 2 + 1) * pools.MAX_PIECE_ITEMS
        results.close()


@pytest.mark.slow
def test_an_error_of_an_item_is_raised_after_the_results_before_it(cluster):
    with cluster.pool(Refuser, 2, WorkerFiles()) as pool:
        results = pool.in_order(range(5))
        assert [next(results), next(results)] == [0, 1]
        with pytest.raises(ValueError, match=r"^no 2$"):
            next(results)


@pytest.mark.slow
def test_workers_have_one_thread(cluster):
    assert results_of(cluster, Threads, [0]) == ["1"]


@pytest.mark.slow
def test_an_item_is_repeated_when_its_worker_dies_but_not_for_ever(cluster, tmp_path):
    assert results_of(cluster, partial(DiesAtThree, tmp_path / "once", 1), range(8)) == list(range(8))
    with pytest.raises(Failure, match=rf"\b{MAX_REPEATS} replacements"):
        results_of(cluster, partial(DiesAtThree, tmp_path / "always", 100), range(8))


@pytest.mark.slow
def test_a_node_that_dies_costs_only_time(cluster, nodes, tmp_path, capfd):
    found: list[Any] = []
    with cluster.pool(partial(Signs, tmp_path), 2, WorkerFiles()) as pool:

        def read() -> None:
            found.extend(pool.in_order(range(12)))

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
        nodes.change("remove")
        (tmp_path / "go").touch()
        thread.join(4 * WAIT_S)
        nodes.change("add")
    assert [number for number, _ in found] == list(range(12))
    printed = capfd.readouterr()
    # On a busy machine the user is told that workers start late.
    assert (printed.out, re.sub("Waiting for the cluster.*\n", "", printed.err)) == ("", "")


# Nodes that differ


@pytest.mark.slow
def test_a_node_that_differs_or_lacks_the_package_is_named_with_the_difference(cluster, monkeypatch):
    other = {**identity(), "Scenthound": "0.0.1", "numpy": "1.0"}
    assert not differences(identity(), identity())
    monkeypatch.setattr(pools, "identity", lambda: other)
    line = r"^Node .*127\.0\.0\.1.*: Scenthound \S+ instead of 0\.0\.1, numpy .* 1\.0\."
    with pytest.raises(InvalidInput, match=line):
        results_of(cluster, partial(Multiplier, 1), [1, 2, 3], n_workers=2)
    missing = {"host": "b (10.0.0.2)", "problem": "ModuleNotFoundError: No module named 'scenthound'"}
    with pytest.raises(InvalidInput, match=r"^Node b \(10\.0\.0\.2\) cannot import Scenthound"):
        pools.check_node(missing)


# Connections


def expect(error: type[Exception], match: str, address: str) -> None:
    with pytest.raises(error, match=match) as raised, cluster_workers(address):
        pass
    assert "\n" not in str(raised.value)


@pytest.fixture
def unconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process without a connection."""
    monkeypatch.setattr(connections, "_current", None)


@pytest.mark.usefixtures("unconnected")
def test_addresses_without_a_cluster_cost_one_line():
    for address in ("nonsense", "ray://127.0.0.1:10001", "127.0.0.1:port", ":6379"):
        expect(InvalidParameter, "should be host:port", address)
    expect(InvalidParameter, "no machine of that name", "nobody.invalid:6379")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"

        def close_first() -> None:
            server.accept()[0].close()

        closing = threading.Thread(target=close_first, daemon=True)
        closing.start()
        expect(InvalidParameter, "no Ray cluster", address)
        closing.join(WAIT_S)
    expect(InvalidParameter, "nobody answers", address)


@pytest.mark.slow
@pytest.mark.usefixtures("unconnected")
def test_tokens_are_required_private_and_checked(nodes, tmp_path, monkeypatch):
    address = nodes.address
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    expect(UsageError, r"demands a token: copy .*\.ray/auth_token", address)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    expect(InvalidInput, "RAY_AUTH_TOKEN_PATH", address)
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    (tmp_path / "token").chmod(0o644)
    expect(InvalidInput, "chmod 600", address)
    (tmp_path / "token").chmod(0o600)
    assert security.token() == TOKEN
    assert connections.check_address(address) == TOKEN
    monkeypatch.setenv("RAY_AUTH_TOKEN", "wrong")
    expect(UsageError, "does not accept the token", address)


@pytest.mark.slow
@pytest.mark.usefixtures("unconnected")
def test_clusters_that_cannot_be_used_cost_one_line(nodes, monkeypatch):
    address = nodes.address
    monkeypatch.setenv("RAY_AUTH_TOKEN", TOKEN)
    with monkeypatch.context() as patch:
        patch.setattr(connections, "accepts", lambda _address, token: token is None)
        expect(UsageError, "demands no token.*SCENTHOUND_CLUSTER_WITHOUT_TOKEN=1", address)
        patch.setenv("SCENTHOUND_CLUSTER_WITHOUT_TOKEN", "1")
        assert connections.check_address(address) is None
    with monkeypatch.context() as patch:
        patch.setattr(connections, "find_spec", lambda _package: None)
        expect(MissingExtra, r"scenthound\[cluster\]", address)


@pytest.mark.slow
def test_a_process_has_one_cluster_at_a_time(cluster, nodes):
    expect(UsageError, f"uses the cluster {nodes.address} already", "local")
    with cluster_workers(nodes.address, 1) as workers:
        assert results_of(workers, partial(Multiplier, 2), [4]) == [8]
    assert results_of(cluster, partial(Multiplier, 2), [5]) == [10]


def test_open_ports_are_those_beyond_the_loopback_interface():
    rows = {"0100007F": 1, "0000000000000000FFFF00000100007F": 2, "00000000000000000000000001000000": 3}
    rows |= {"00000000": 4, "0" * 32: 5, "020200C0": 6}
    lines = [f"0: {address}:{number:04X} 0:0 0A 0 0 0 0 0 {number}" for address, number in rows.items()]
    lines.append("0: 00000000:0007 0:0 01 0 0 0 0 0 7")
    assert security.ports_beyond_loopback("\n".join(["header", *lines]), "1234567") == {4, 5, 6}
    assert os.getpid() in security.descendants(os.getpid())


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
def test_a_local_cluster_is_quiet_and_ends_with_the_command(web, tmp_path):
    """Ctrl-C in a terminal reaches all processes of the group."""
    temporary = Path(tempfile.mkdtemp(prefix="sh-", dir="/tmp"))
    environment = {**os.environ, "TMPDIR": str(temporary)}
    arguments = ("simulate", "--web", web, "--topics", web / "topics.jsonl", "--strategy", "otie", "--pages", 300)
    command = [*arguments, "--repeats", 500, "--plain", "--cluster", "local", "--workers", 1, "--out", tmp_path / "run"]
    process = subprocess.Popen(
        [sys.executable, "-m", "scenthound", *map(str, command)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert process.stderr is not None
    printed = [process.stderr.readline()]
    children = security.descendants(process.pid)
    assert len(children) > 3
    assert not security.open_ports(children)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=2 * WAIT_S)
    lines = [*printed, *err.splitlines()]
    assert process.returncode != 0
    assert not out
    assert len([line for line in lines if not line.startswith("simulating:")]) <= 1, lines
    assert not (tmp_path / "run").exists()
    wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in children))
    assert not list(temporary.glob("scenthound-ray-*"))
    shutil.rmtree(temporary)
