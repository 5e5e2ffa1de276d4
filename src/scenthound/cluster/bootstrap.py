"""The actor that a worker starts with. It is sent by value, so that it can report that Scenthound is missing there.

It imports nothing of Scenthound before it is known that the worker has the same version.
"""

from __future__ import annotations

from typing import Any


class Bootstrap:
    """Reports what is installed on its machine, then passes calls on to `cluster.worker.Worker`."""

    def __init__(self) -> None:
        self._worker: Any = None

    def hello(self) -> dict[str, Any]:
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

    def become(self, module: str, name: str, *arguments: Any) -> None:
        """Make an object of a class of Scenthound, and start it. Then `call` passes calls on to it."""
        from importlib import import_module

        worker = getattr(import_module(module), name)()
        worker.start(*arguments)
        self._worker = worker

    def call(self, method: str, *arguments: Any) -> Any:
        return getattr(self._worker, method)(*arguments)

    def prepare(self, setup: bytes, is_on_callers_machine: bool, files: Any) -> list[str]:
        from scenthound.cluster.worker import Worker

        self._worker = self._worker or Worker()
        missing: list[str] = self._worker.prepare(setup, is_on_callers_machine, files)
        return missing

    def receive(self, *arguments: Any) -> None:
        self._worker.receive(*arguments)

    def work(self, items: bytes) -> bytes:
        result: bytes = self._worker.work(items)
        return result

    def compiling(self) -> bytes:
        return self._worker.compiling() if self._worker is not None else b""
