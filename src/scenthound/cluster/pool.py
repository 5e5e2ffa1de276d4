"""A pool of workers on a Ray cluster, with the interface of `processes.WorkerPool`.

Rules
- Workers are actors that Ray does not restart. When one dies, or its node, its pieces are given to others, and it is
  replaced; a piece that several workers died of ends the work with an error.
- A piece has so many items that it takes about `PIECE_S`, because sending one takes about a millisecond. Each worker
  has two pieces, so that it does not wait for the caller. The number of pieces ahead of the oldest result is limited.
- All that is sent is pickled by this package; Ray only sees bytes.
- Actors that are idle when a pool ends work for the next one of the same connection.
- Everything happens in the thread that reads the results.
"""

import pickle
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from scenthound import by_value, jit
from scenthound.cluster.identity import differences, identity
from scenthound.cluster.inputs import Input, input_of, pieces
from scenthound.cluster.worker import Done, Setup, own_import_paths
from scenthound.errors import Failure, InvalidInput, printable
from scenthound.processes import ITEMS_AHEAD, MAX_REPEATS, WorkerFiles, repeated_deaths
from scenthound.registry import dump_local_plugins
from scenthound.signals import noted_interrupts

if TYPE_CHECKING:
    from scenthound.cluster.connection import Connection

#: How long a piece should take.
PIECE_S = 0.05
#: More items are not in a piece, however fast they are.
MAX_PIECE_ITEMS = 256
#: Pieces that a worker has at the same time.
PIECES_PER_WORKER = 2
#: How long to wait for a result before the state of the workers is checked.
WAIT_S = 0.5
#: When no worker could be started for so long, the user is told.
PATIENCE_S = 10.0
#: A piece that takes so long may be compiling.
COMPILING_S = 1.0

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(slots=True, eq=False)
class _Piece:
    """Items that are sent together, and their results when they have come."""

    items: bytes
    n_items: int
    done: Done | None = None
    n_deaths: int = 0


@dataclass(slots=True, eq=False)
class Member:
    """An actor and what it is doing: a call that it starts with, or pieces of work in their order."""

    actor: Any
    starting: Any = None  #: the call of `hello` or `prepare`
    greeted: bool = False
    is_ready: bool = False
    host: str = ""
    node: str = ""
    pieces: deque[tuple[_Piece, Any]] = field(default_factory=deque)
    since_s: float = 0.0  #: when its first piece was sent or the one before it was done
    compiling: Any = None  #: the call that asks whether it is compiling

    @property
    def call(self) -> Any:
        return self.pieces[0][1] if self.pieces else self.starting


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
        self._files = files
        self._members: list[Member] = []
        self._todo: deque[_Piece] = deque()
        self._item_s: float | None = None  #: how long an item takes
        self._n_failed_starts = 0
        self._sent: set[tuple[str, str]] = set()  #: nodes and digests of inputs
        self._server: Any = None
        self._cleanup = ExitStack()
        self._raise_if_interrupted: Callable[[], None] = lambda: None
        self._waiting_since_s: float | None = monotonic()  #: for a first worker; None when one was ready

    def __enter__(self) -> "ClusterPool[Item, Result]":
        # Ray's objects are deleted often.
        self._raise_if_interrupted = self._cleanup.enter_context(noted_interrupts())
        return self

    def __exit__(self, *_: object) -> None:
        self._cleanup.close()
        for member in self._members:
            if member.is_ready and not member.pieces:
                self._connection.spare.append(member)
            else:
                self._connection.kill(member.actor)
        self._members.clear()
        if self._server is not None:
            self._connection.kill(self._server)

    def in_order(self, items: Iterable[Item]) -> Iterator[Result]:
        """The result of each item. All results must be read before the next call."""
        source, ahead = iter(items), deque[_Piece]()
        while True:
            while len(ahead) <= ITEMS_AHEAD * self._n_workers and (piece := self._next_piece(source)):
                ahead.append(piece)
                self._todo.append(piece)
            if not ahead:
                return
            self._start_workers()
            self._send_pieces()
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

    # Workers

    def _start_workers(self) -> None:
        while len(self._members) < self._n_workers:
            self._members.append(self._new_member())

    def _new_member(self) -> Member:
        if self._connection.spare:
            spare = self._connection.spare.pop()
            member = Member(spare.actor, greeted=True, host=spare.host, node=spare.node)
            self._prepare(member)
            return member
        actor = self._connection.new_actor()
        return Member(actor, actor.hello.remote())

    @cached_property
    def _inputs(self) -> dict[str, Input]:
        """By their digests."""
        return {each.digest: each for each in map(input_of, dict.fromkeys(self._files.inputs))}

    @cached_property
    def _setup(self) -> Any:
        """The setup in Ray's object store, where each node gets it from."""
        cache = self._files.cache
        setup = Setup(
            make_worker=by_value.dumps(self._make_worker),
            plugins=dump_local_plugins(),
            import_paths=own_import_paths(),
            inputs=tuple(self._inputs.values()),
            cache=None if cache is None else (str(cache), str(cache.resolve())),
        )
        return self._connection.ray.put(pickle.dumps(setup))

    def _prepare(self, member: Member) -> None:
        is_here = self._connection.is_here(member.node)
        member.starting = member.actor.prepare.remote(self._setup, is_here, None if is_here else self._file_server())

    def _file_server(self) -> Any:
        if self._server is None and self._files.cache is not None:
            self._server = self._connection.new_file_server(str(self._files.cache.resolve()))
        return self._server

    def _on_started(self, member: Member, answer: Any) -> None:
        """Its answer to `hello`, or to `prepare`: the inputs that its node lacks."""
        if not member.greeted:
            member.greeted, member.host, member.node = True, answer["host"], answer["node"]
            check_node(answer)
            self._prepare(member)
            return
        if not answer:
            member.is_ready, member.starting = True, None
            self._n_failed_starts = 0
            return
        for digest in answer:
            if (member.node, digest) in self._sent:
                raise Failure(f"{printable(member.host)} has lost the copy of {self._inputs[digest].path}.")
            for piece in pieces(self._inputs[digest]):
                self._connection.ray.get(member.actor.receive.remote(piece))
            self._sent.add((member.node, digest))
        self._prepare(member)

    # Pieces

    def _send_pieces(self) -> None:
        for n_pieces in range(PIECES_PER_WORKER):
            for member in self._members:
                if self._todo and member.is_ready and len(member.pieces) <= n_pieces:
                    piece = self._todo.popleft()
                    if not member.pieces:
                        member.since_s = monotonic()
                    member.pieces.append((piece, member.actor.work.remote(piece.items)))

    def _wait(self) -> None:
        """Wait until a worker has finished something, and go on with it."""
        self._raise_if_interrupted()
        ray = self._connection.ray
        members = {member.call: member for member in self._members if member.call is not None}
        finished, _ = ray.wait(list(members), num_returns=1, timeout=WAIT_S, fetch_local=False)
        if finished:
            finished, _ = ray.wait(list(members), num_returns=len(members), timeout=0, fetch_local=False)
            for call in finished:
                self._on_finished(members[call], call)
        self._ask_whether_compiling()
        self._tell_if_none_is_ready()

    def _on_finished(self, member: Member, call: Any) -> None:
        exceptions = self._connection.ray.exceptions
        try:
            answer = self._connection.ray.get(call)
            if not member.pieces:
                self._on_started(member, answer)
                return
        except exceptions.RayTaskError as error:
            raise error.cause from None
        except exceptions.RayError as error:
            self._on_death(member, error)
            return
        piece, _ = member.pieces.popleft()
        member.since_s = monotonic()
        piece.done = pickle.loads(answer)
        if piece.done.uses_compiled_code:
            jit.mark_used()
        measured_s = piece.done.seconds / piece.n_items
        self._item_s = measured_s if self._item_s is None else 0.7 * self._item_s + 0.3 * measured_s

    def _on_death(self, member: Member, error: Exception) -> None:
        self._members.remove(member)
        self._connection.kill(member.actor)
        if not member.is_ready:
            self._n_failed_starts += 1
            if self._n_failed_starts > MAX_REPEATS + self._n_workers:
                raise Failure(f"Workers of the cluster die when they are started: {printable(error, 300)}.") from None
        if member.pieces:
            running = member.pieces[0][0]
            running.n_deaths += 1
            if running.n_deaths > MAX_REPEATS:
                raise repeated_deaths()
        self._todo.extendleft(piece for piece, _ in reversed(member.pieces))

    def _ask_whether_compiling(self) -> None:
        """Report what workers with a long piece are compiling."""
        ray, now_s = self._connection.ray, monotonic()
        for member in self._members:
            if member.compiling is not None:
                answered, _ = ray.wait([member.compiling], timeout=0)
                if answered:
                    call, member.compiling = member.compiling, None
                    try:
                        progress = ray.get(call)
                    except ray.exceptions.RayError:
                        continue  # Its death is noticed by the call that it was working on.
                    if progress:
                        jit.report_compiling(pickle.loads(progress))
            elif member.pieces and now_s - member.since_s > COMPILING_S:
                member.compiling = member.actor.compiling.options(concurrency_group="reports").remote()

    def _tell_if_none_is_ready(self) -> None:
        if self._waiting_since_s is None or any(member.is_ready for member in self._members):
            self._waiting_since_s = None
        elif monotonic() - self._waiting_since_s > PATIENCE_S:
            self._waiting_since_s = None
            print("Waiting for free processors of the cluster ...", file=sys.stderr, flush=True)


def check_node(answer: Mapping[str, Any]) -> None:
    """InvalidInput if the node of an actor that has said hello cannot be used."""
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
