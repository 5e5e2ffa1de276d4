"""The connection to a Ray cluster, or a cluster of this machine's processors for as long as it is needed.

Rules
- Whatever is wrong costs one line. The head node is asked for its token (`probe`) before Ray connects, so that a wrong
  address or token costs a few seconds at most.
- Ray prints nothing, sends no statistics, and has no dashboard. Signal handlers and environment variables that it needs
  or sets are restored.
- A local cluster listens on the loopback interface only; if it does not, a line names the open ports.
- Ray has one connection per process. Calls in several threads share it if they name the same cluster; different ones
  exclude each other.
"""

import logging
import os
import secrets
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from importlib.util import find_spec
from ipaddress import ip_address
from time import monotonic, sleep
from types import ModuleType
from typing import Any

from scenthound.blas import ONE_THREAD
from scenthound.cluster import bootstrap, security
from scenthound.cluster.pool import ClusterPool
from scenthound.cluster.probe import accepts
from scenthound.cluster.worker import FileServer
from scenthound.errors import Failure, InvalidParameter, MissingExtra, UsageError, printable
from scenthound.processes import MAX_REPEATS, Pool, WorkerFiles, processors
from scenthound.signals import noted_interrupts, restored_signals

#: A cluster of this machine.
LOCAL = "local"
#: Memory for objects of a local cluster, whose workers open files themselves.
LOCAL_STORE_BYTES = 256 << 20
#: Paths of Unix sockets have at most 107 bytes, and Ray adds some 60 to its folder.
MAX_FOLDER_LENGTH = 40
#: Threads of an actor for one task, and calls that may wait for them.
SERVICE_THREADS = 8
SERVICE_CALLS = 1_000
MAX_PORT = 65_535
#: How long to try to remove the folder of a local cluster.
REMOVE_S = 5.0

#: Ray reads these when it is loaded, or when it connects.
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_task_oom_retries": str(MAX_REPEATS),
}


class Connection:
    """A connected cluster."""

    def __init__(self, ray: ModuleType, address: str, *, is_ours: bool) -> None:
        self.ray: Any = ray
        self.address = address
        self.is_ours = is_ours  #: and is closed in the end
        self.node: str = ray.get_runtime_context().get_node_id()
        self.n_users = 0
        ray.cloudpickle.register_pickle_by_value(bootstrap)
        #: `bootstrap.work` as a task of the cluster.
        self.work: Any = ray.remote(
            num_cpus=1,
            max_retries=MAX_REPEATS,
            runtime_env={"env_vars": ONE_THREAD},
        )(bootstrap.work)

    def new_service(self, processors: float) -> Any:
        """An actor for one task that lasts: its calls run in several threads, and those that it cannot take soon are
        refused."""
        options = {
            "num_cpus": processors,
            "max_restarts": 0,
            "max_task_retries": 0,
            "max_concurrency": SERVICE_THREADS,
            "max_pending_calls": SERVICE_CALLS,
            "scheduling_strategy": "SPREAD",
            "runtime_env": {"env_vars": ONE_THREAD},
        }
        return self.ray.remote(**options)(bootstrap.Bootstrap).remote()

    def new_file_server(self, setup: Any) -> Any:
        """Ray restarts it by itself: it has no state."""
        node = self.ray.get_runtime_context().get_node_id()
        here = self.ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
        server = self.ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1, scheduling_strategy=here)(FileServer)
        return server.remote(setup)

    def kill(self, actor: Any) -> None:
        with suppress(Exception):
            self.ray.kill(actor, no_restart=True)

    def n_processors(self) -> int:
        return int(self.ray.cluster_resources().get("CPU", 0))


class ClusterWorkers:
    """The workers of a cluster: one for each processor, or at most `n`."""

    def __init__(self, connection: Connection, n: int | None) -> None:
        self._connection = connection
        self._n = n

    def pool(self, make_worker: Callable[[], Callable[[Any], Any]], at_most: int, files: WorkerFiles) -> Pool[Any, Any]:
        n_processors = self._connection.n_processors()
        if not n_processors:
            raise Failure(
                f"The cluster at {printable(self._connection.address)} has no processors: start nodes with "
                "`ray start --address ADDRESS`."
            )
        return ClusterPool(self._connection, make_worker, min(self._n or n_processors, n_processors, at_most), files)


_lock = threading.Lock()
_current: Connection | None = None


@contextmanager
def cluster_workers(address: str, n: int | None = None) -> Iterator[ClusterWorkers]:
    """The workers of the cluster at `address`, `host:port` or "local", within the block."""
    with connected(address, n) as connection:
        yield ClusterWorkers(connection, n)


@contextmanager
def connected(address: str, n: int | None = None) -> Iterator[Connection]:
    """A connection to the cluster at `address` within the block; a local one has `n` processors."""
    connection = _join(address, n)
    try:
        yield connection
    finally:
        _leave(connection)


def _join(address: str, n: int | None) -> Connection:
    global _current  # noqa: PLW0603 - Ray has one connection per process
    with _lock:
        if _current is None:
            _current = _connected(address, n)
        elif _current.address != address:
            raise UsageError(
                f"--cluster {printable(address)}: this process uses the cluster {printable(_current.address)} already."
            )
        _current.n_users += 1
        return _current


def _leave(connection: Connection) -> None:
    global _current  # noqa: PLW0603
    with _lock:
        connection.n_users -= 1
        if connection.n_users:
            return
        _current = None
        if connection.is_ours:
            _shut_down(connection.ray)


def _connected(address: str, n: int | None) -> Connection:
    if find_spec("ray") is None:
        raise MissingExtra.named("cluster", "--cluster")
    with _environment(_QUIET):
        token = None if address == LOCAL else check_address(address)
        ray = _ray()
        if ray.is_initialized():
            return _existing(ray, address)
        # The services of a node listen at its own address.
        with _on_loopback() if address == LOCAL or _is_loopback(address.rpartition(":")[0]) else nullcontext():
            if address == LOCAL:
                return _start(ray, n)
            _init(ray, token, address=address)
            return Connection(ray, address, is_ours=True)


def _ray() -> Any:
    import_module("ray.util.scheduling_strategies")
    return import_module("ray")


def _existing(ray: Any, address: str) -> Connection:
    """The connection that the program has made itself."""
    found = ray.get_runtime_context().gcs_address
    if address != found:
        raise UsageError(
            f"--cluster {printable(address)}: this process is connected to the Ray cluster at {found}. Name that one, "
            "or call ray.shutdown() first."
        )
    return Connection(ray, address, is_ours=False)


# An existing cluster


def check_address(address: str) -> str | None:
    """One clear line if a cluster cannot be used, before Ray tries to. Returns its token; None if it demands none."""
    host, colon, port = address.rpartition(":")
    if "://" in address or not host or not colon or not port.isdecimal() or not 0 < int(port) <= MAX_PORT:
        raise InvalidParameter(f"--cluster {printable(repr(address))} should be host:port, or local.")
    if accepts(address, None):
        if security.may_do_without_token():
            return None
        raise UsageError(
            f"--cluster {printable(address)}: this cluster demands no token, so anyone who can reach it can run "
            f"programs there. Start its nodes with RAY_AUTH_MODE=token, or set {security.ALLOW_VARIABLE}=1."
        )
    token = security.token()
    if token is None:
        raise UsageError(
            f"--cluster {printable(address)} demands a token: copy {security.default_token_file()} from a node of the "
            f"cluster (mode 600), or set {security.PATH_VARIABLE}."
        )
    if not accepts(address, token):
        raise UsageError(
            f"--cluster {printable(address)} does not accept the token of this machine: copy that of a node of the "
            "cluster."
        )
    return token


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


# A cluster of this machine


def _start(ray: Any, n: int | None) -> Connection:
    folder = _short_folder()
    try:
        _init(
            ray,
            secrets.token_hex(32),
            address="local",
            num_cpus=n or processors(),
            include_dashboard=False,
            object_store_memory=LOCAL_STORE_BYTES,
            _temp_dir=os.path.join(folder, "ray"),
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    _local_folders.append(folder)
    if ports := security.open_ports(security.descendants(os.getpid())):
        print(
            f"Ray listens on all network interfaces: ports {', '.join(map(str, ports))}. Its token protects it.",
            file=sys.stderr,
            flush=True,
        )
    return Connection(ray, LOCAL, is_ours=True)


_local_folders: list[str] = []


def _short_folder() -> str:
    """A temporary folder whose path leaves room for the names of Ray's sockets. Ray makes the folder that it is given
    writable for everyone, so it gets one inside, which nobody else can reach."""
    place = tempfile.gettempdir()
    return tempfile.mkdtemp(prefix="scenthound-ray-", dir=place if len(place) <= MAX_FOLDER_LENGTH else "/tmp")


# Ray


def _init(ray: Any, token: str | None, **arguments: Any) -> None:
    """Connect. Ray stays silent until `_shut_down`."""
    logging.getLogger("ray").setLevel(logging.CRITICAL + 1)
    # It prints errors of nodes to standard output, whatever its settings.
    printing: Any = import_module("ray._private.worker")
    printing.print_to_stdstream = lambda *_, **__: None
    authentication = {"RAY_AUTH_MODE": "disabled"} if token is None else {"RAY_AUTH_MODE": "token"}
    variables = authentication | ({} if token is None else {security.TOKEN_VARIABLE: token})
    with _environment(variables), noted_interrupts() as raise_if_interrupted, _kept_signals():
        _reload_authentication()
        try:
            ray.init(
                **arguments,
                log_to_driver=False,
                logging_level=logging.CRITICAL + 1,
                configure_logging=False,
                _skip_env_hook=True,
            )
        except Exception as error:  # noqa: BLE001 - it raises several kinds, with long texts
            with suppress(Exception):
                _shut_down(ray)
            reason = printable(" ".join(str(error).split()), 300)
            raise_if_interrupted()
            raise Failure(f"Ray cannot use the cluster {printable(arguments['address'])}: {reason}") from None
        try:
            raise_if_interrupted()
        except KeyboardInterrupt:
            _shut_down(ray)
            raise


def _reload_authentication() -> None:
    """Ray reads these variables once; a second connection of a process may have another token."""
    compiled: Any = import_module("ray._raylet")
    compiled.Config.initialize("")
    compiled.AuthenticationTokenLoader.instance().reset_cache()


def _shut_down(ray: Any) -> None:
    with _kept_signals():
        ray.shutdown()
    while _local_folders:
        _remove(_local_folders.pop())


def _remove(folder: str) -> None:
    """Remove the folder of a local cluster, in which processes that are ending still write."""
    deadline_s = monotonic() + REMOVE_S
    while os.path.exists(folder) and monotonic() < deadline_s:
        shutil.rmtree(folder, ignore_errors=True)
        sleep(0.05)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _on_loopback() -> Iterator[None]:
    """Ray uses the loopback address, as it does by default on other systems."""
    constants: Any = import_module("ray._private.ray_constants")
    before, constants.ENABLE_RAY_CLUSTER = constants.ENABLE_RAY_CLUSTER, False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before


@contextmanager
def _kept_signals() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with restored_signals(signal.SIGTERM, signal.SIGINT):
        yield
