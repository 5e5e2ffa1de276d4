"""What a process of the cluster begins with: sent by value, so that it can report that Scenthound is missing there.

It imports nothing of Scenthound before it is known that the process has the same version.
"""

from __future__ import annotations

from typing import Any


def hello() -> dict[str, Any]:
    """Where this is, and what is installed there; `problem` if Scenthound cannot be used."""
    import os
    import socket
    from importlib import import_module

    ray: Any = import_module("ray")
    found = {
        "node": ray.get_runtime_context().get_node_id(),
        "host": f"{socket.gethostname()} ({ray.util.get_node_ip_address()})",
        "pid": os.getpid(),
        "identity": {},
        "problem": "",
    }
    try:
        from scenthound.cluster.identity import identity
    except ImportError as error:
        found["problem"] = f"{type(error).__name__}: {error}"
    else:
        found["identity"] = identity()
    return found


#: What `hello` says of this process.
_here: dict[str, Any] = {}


def work(caller: dict[str, Any], setup: bytes, items: bytes, server: Any) -> Any:
    """Pickled results of items, as by `cluster.worker.work`; what is here if it differs from the caller, or if a server
    is needed for its files."""
    if not _here:
        _here.update(hello())
    if _here["identity"] != caller["identity"]:
        return dict(_here)
    from scenthound.cluster import worker

    is_elsewhere = _here["node"] != caller["node"]
    if is_elsewhere and server is None and worker.needs_server(setup):
        return dict(_here)
    return worker.work(setup, items, server if is_elsewhere else None)


class Bootstrap:
    """An actor that becomes an object of Scenthound."""

    def __init__(self) -> None:
        self._worker: Any = None

    def hello(self) -> dict[str, Any]:
        return hello()

    def become(self, module: str, name: str, *arguments: Any) -> None:
        """Make an object of a class of Scenthound, and start it. Then `call` passes calls on to it."""
        from importlib import import_module

        worker = getattr(import_module(module), name)()
        worker.start(*arguments)
        self._worker = worker

    def call(self, method: str, *arguments: Any) -> Any:
        return getattr(self._worker, method)(*arguments)
