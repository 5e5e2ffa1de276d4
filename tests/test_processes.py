import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from scenthound import blas
from scenthound.errors import Failure
from scenthound.processes import ITEMS_AHEAD, MAX_REPEATS, WorkerPool, in_order, processors
from timing import WAIT_S


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


class Refuser:
    def __call__(self, number: int) -> int:
        raise ValueError(f"no {number}")


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_work(workers):
    assert list(in_order(partial(Multiplier, 3), range(20), workers)) == [3 * i for i in range(20)]


def test_only_so_much_is_sent_out_ahead():
    taken = []

    def pieces():
        for i in range(100):
            taken.append(i)
            yield i

    results = in_order(partial(Multiplier, 1), pieces(), 2)
    next(results)
    assert len(taken) <= 2 * ITEMS_AHEAD + 1
    results.close()


def test_a_dead_worker_is_replaced_and_its_item_repeated(tmp_path):
    make_worker = partial(DiesAtThree, tmp_path / "notes", MAX_REPEATS)
    assert list(in_order(make_worker, range(10), 2)) == list(range(10))
    assert len((tmp_path / "notes").read_text()) == 1 + MAX_REPEATS
    assert multiprocessing.active_children() == []


def test_an_item_that_kills_every_worker_ends_with_one_line(tmp_path):
    with pytest.raises(Failure, match="A worker process died, and so did 3 replacements") as failed:
        list(in_order(partial(DiesAtThree, tmp_path / "notes", 100), range(10), 2))
    assert "\n" not in str(failed.value)
    assert len((tmp_path / "notes").read_text()) == 1 + MAX_REPEATS
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_worker_reaches_the_caller(workers):
    with pytest.raises(ValueError, match="no 0"):
        list(in_order(Refuser, range(3), workers))


class Unsendable(Exception):
    def __init__(self) -> None:
        super().__init__("unusual")
        self.hold = lambda: None


class OddRefuser:
    def __call__(self, number: int) -> int:
        raise Unsendable


def test_an_error_that_cannot_be_pickled_is_reported():
    with pytest.raises(Failure, match=r"Cannot send.*unusual"):
        list(in_order(OddRefuser, range(3), 2))


class DiesWhileAnswering:
    """Sends large results, and is killed while sending one."""

    def __init__(self, n_bytes: int) -> None:
        self._n_bytes = n_bytes

    def __call__(self, number: int) -> bytes:
        if number == 2:
            send, left = Connection._send, self._n_bytes

            def send_some(connection: Connection, buffer: bytes) -> None:
                """Is called with the length, and then with what is to be sent."""
                nonlocal left
                if left:
                    send(connection, bytes(buffer)[:left])
                left -= min(left, len(buffer))
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)

            Connection._send = send_some
        return bytes(4 << 20)


@pytest.mark.parametrize("n_bytes", [0, 2, 2_000_000])
def test_a_worker_that_dies_while_sending_is_noticed(n_bytes):
    with pytest.raises(Failure, match="A worker process died"):
        for _ in in_order(partial(DiesWhileAnswering, n_bytes), range(40), 2):
            pass


class Refuses:
    """Counts its calls."""

    def __init__(self, notes: Path) -> None:
        self._notes = notes

    def __call__(self, number: int) -> int:
        with self._notes.open("a") as file:
            file.write(f"{number} ")
        raise ValueError(f"no {number}")


def test_work_that_raises_an_error_is_not_repeated(tmp_path):
    with pytest.raises(ValueError, match="no 7"):
        list(in_order(partial(Refuses, tmp_path / "notes"), [7], 2))
    assert (tmp_path / "notes").read_text() == "7 "


class Counter:
    """Returns its process and the number of its calls."""

    def __init__(self) -> None:
        self._n_asked = 0

    def __call__(self, _piece: int) -> tuple[int, int]:
        self._n_asked += 1
        return os.getpid(), self._n_asked


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_of_a_crew_stay_from_one_round_to_the_next(workers):
    with WorkerPool(Counter, workers) as pool:
        results = [result for _ in range(4) for result in pool.in_order(range(5))]
    processes = {process for process, _ in results}
    assert len(processes) <= workers
    assert sum(max(count for process, count in results if process == each) for each in processes) == 20
    assert multiprocessing.active_children() == []


def test_one_worker_works_here():
    with WorkerPool(Counter, 1) as pool:
        assert list(pool.in_order(range(2))) == [(os.getpid(), 1), (os.getpid(), 2)]


def test_a_worker_killed_between_two_calls_is_replaced():
    with WorkerPool(Counter, 2) as pool:
        for process in {process for process, _ in pool.in_order(range(8))}:
            os.kill(process, signal.SIGKILL)
        assert len(list(pool.in_order(range(8)))) == 8


def test_there_is_at_least_one_processor():
    assert processors() >= 1


class Sleeper:
    """Takes its time, or makes a large result at once."""

    def __call__(self, number: int) -> bytes:
        if number % 2:
            time.sleep(600)
        return bytes(4 << 20)


@pytest.mark.parametrize("n_taken", [0, 1])
def test_work_that_is_broken_off_ends_at_once_whatever_is_being_sent(n_taken):
    for _ in range(3):
        results = in_order(Sleeper, itertools.count(0, 2 - n_taken), 2)
        before_s = time.monotonic()
        next(results)
        results.close()
        assert time.monotonic() - before_s < WAIT_S
    assert multiprocessing.active_children() == []


def test_a_script_without_a_main_guard_runs_once_and_its_own_functions_reach_the_workers(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from scenthound.processes import in_order\n"
        "def worker():\n"
        "    return lambda number: 2 * number\n"
        "print('started', list(in_order(worker, range(4), 2)))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=120)
    assert (done.stdout, done.stderr) == ("started [0, 2, 4, 6]\n", "")


@pytest.mark.skipif("forkserver" not in multiprocessing.get_all_start_methods(), reason="there is no fork server")
def test_the_module_of_a_worker_is_imported_once_for_all_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "from functools import partial\n"
        "from scenthound.processes import in_order\n"
        "from scenthound.store.record import ChunkParser\n"
        "from scenthound.store.sources.records import ReadOptions\n"
        "def worker():\n"
        "    return lambda module: module in sys.modules\n"
        "list(in_order(partial(ChunkParser, ReadOptions()), [], 2))\n"
        "print(list(in_order(worker, ['scenthound.store.record'], 2)))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=120)
    assert (done.stdout, done.stderr) == ("[True]\n", "")


def test_workers_have_one_blas_thread_unless_the_user_chose_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with blas.one_thread_for_children():
        assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    assert "OPENBLAS_NUM_THREADS" not in os.environ
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    with blas.one_thread_for_children():
        assert os.environ["OPENBLAS_NUM_THREADS"] == "2"
    assert os.environ["OPENBLAS_NUM_THREADS"] == "2"
