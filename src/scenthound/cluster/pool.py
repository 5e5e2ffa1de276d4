"""A pool of workers on a Ray cluster, with the interface of `processes.WorkerPool`.

Rules
- Items are sent in pieces, which are Ray tasks. Ray gives each to a free processor, and repeats those whose process or
  node dies; a piece that several processes died of ends the work with an error.
- A piece has enough items to take about `PIECE_S`, because sending one takes about a millisecond. The number of
  pieces ahead of the oldest result is limited.
- All that is sent is pickled by this package; Ray only sees bytes.
- Processes keep the worker of the latest pool, and are used again by the next one.
- Everything happens in the thread that reads the results.
"""

import pickle
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from scenthound import by_value
from scenthound.cluster.identity import differences, identity
from scenthound.cluster.inputs import input_of
from scenthound.cluster.worker import Done, Setup, own_import_paths
from scenthound.errors import Failure, InvalidInput, printable
from scenthound.processes import ITEMS_AHEAD, WorkerFiles, repeated_deaths
from scenthound.registry import dump_local_plugins
from scenthound.signals import noted_interrupts

if TYPE_CHECKING:
    from scenthound.cluster.connection import Connection

#: How long a piece should take.
PIECE_S = 0.05
#: More items are not in a piece, however fast they are.
MAX_PIECE_ITEMS = 256
#: How long to wait for a result before interrupts are checked.
WAIT_S = 0.5
#: When there is no result for this long, the user is told.
PATIENCE_S = 10.0

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(slots=True, eq=False)
class _Piece:
    """Items that are sent together, and their results when they have come."""

    items: bytes
    n_items: int
    done: Done | None = None


class ClusterPool(Generic[Item, Result]):
    """Workers on a cluster that keep their state between calls of `in_order`."""

    def __init__(
        self,
        connection: "Connection",
        make_worker: Callable[[], Callable[[Item], Result]],
        n_workers: int,
        files: WorkerFiles,
    ) -> None:
        self._connection = connection
        self._make_worker = make_worker
        self._n_workers = n_workers
        # If the cluster has no more processors, each has a second piece, so that it does not wait for the caller.
        self._n_at_once = n_workers if n_workers < connection.n_processors() else 2 * n_workers
        self._files = files
        self._running: dict[Any, _Piece] = {}  #: by the result that Ray promises
        self._item_s: float | None = None  #: how long an item takes
        self._server: Any = None
        self._cleanup = ExitStack()
        self._raise_if_interrupted: Callable[[], None] = lambda: None
        self._waiting_since_s: float | None = monotonic()  #: for a first result; None when there was one

    def __enter__(self) -> "ClusterPool[Item, Result]":
        # Ray's objects are deleted often.
        self._raise_if_interrupted = self._cleanup.enter_context(noted_interrupts())
        return self

    def __exit__(self, *_: object) -> None:
        self._cleanup.close()
        # With a connection of ours they end when it does; to cancel a task that is about to finish can crash Ray.
        for call in () if self._connection.is_ours else self._running:
            with suppress(Exception):
                self._connection.ray.cancel(call, force=True)
        self._running.clear()
        if self._server is not None:
            self._connection.kill(self._server)

    def in_order(self, items: Iterable[Item]) -> Iterator[Result]:
        """The result of each item. All results must be read before the next call."""
        source, ahead = iter(items), deque[_Piece]()
        while True:
            while (
                len(self._running) < self._n_at_once
                and len(ahead) <= ITEMS_AHEAD * self._n_workers
                and (piece := self._next_piece(source))
            ):
                ahead.append(piece)
                self._send(piece)
            if not ahead:
                return
            done = ahead[0].done
            if done is None:
                self._wait()
            else:
                ahead.popleft()
                yield from done.results
                if done.error is not None:
                    raise done.error

    def _next_piece(self, source: Iterator[Item]) -> _Piece | None:
        n_items = 1 if self._item_s is None else max(1, min(int(PIECE_S / self._item_s), MAX_PIECE_ITEMS))
        items = list(islice(source, n_items))
        return _Piece(pickle.dumps(items), len(items)) if items else None

    @cached_property
    def _caller(self) -> dict[str, Any]:
        return {"identity": identity(), "node": self._connection.node}

    @cached_property
    def _setup(self) -> Any:
        """The setup in Ray's object store, where each node gets it from."""
        cache = self._files.cache
        setup = Setup(
            make_worker=by_value.dumps(self._make_worker),
            plugins=dump_local_plugins(),
            import_paths=own_import_paths(),
            inputs=tuple(map(input_of, dict.fromkeys(self._files.inputs))),
            cache=None if cache is None else (str(cache), str(cache.resolve())),
        )
        return self._connection.ray.put(pickle.dumps(setup))

    def _send(self, piece: _Piece) -> None:
        call = self._connection.work.remote(self._caller, self._setup, piece.items, self._server)
        self._running[call] = piece

    def _wait(self) -> None:
        """Wait until a piece has finished, and note its results."""
        self._raise_if_interrupted()
        finished, _ = self._connection.ray.wait(list(self._running), timeout=WAIT_S, fetch_local=False)
        for call in finished:
            self._on_finished(self._running.pop(call), call)
        if self._waiting_since_s is not None and monotonic() - self._waiting_since_s > PATIENCE_S:
            self._waiting_since_s = None
            print("Waiting for the cluster: there is no result yet ...", file=sys.stderr, flush=True)

    def _on_finished(self, piece: _Piece, call: Any) -> None:
        exceptions = self._connection.ray.exceptions
        try:
            answer = self._connection.ray.get(call)
        except exceptions.RayTaskError as error:
            raise error.cause from None
        except (exceptions.WorkerCrashedError, exceptions.NodeDiedError, exceptions.OutOfMemoryError):
            raise repeated_deaths() from None
        except exceptions.RayError as error:
            raise Failure(f"Workers of the cluster fail: {printable(error, 300)}.") from None
        self._waiting_since_s = None
        if isinstance(answer, Mapping):
            check_node(answer)
            self._server = self._server or self._connection.new_file_server(self._setup)
            self._send(piece)
            return
        piece.done = pickle.loads(answer)
        measured_s = piece.done.seconds / piece.n_items
        self._item_s = measured_s if self._item_s is None else 0.7 * self._item_s + 0.3 * measured_s


def check_node(answer: Mapping[str, Any]) -> None:
    """InvalidInput if a node that has said hello cannot be used."""
    host = printable(answer["host"])
    if answer["problem"]:
        raise InvalidInput(
            f"Node {host} cannot import Scenthound ({printable(answer['problem'], 200)}): install it there, in the "
            "version of this machine."
        )
    if different := differences(identity(), answer["identity"]):
        raise InvalidInput(
            f"Node {host} differs from this machine: {printable(different, 400)}. Install the same there, so that "
            "results do not depend on the machine."
        )
