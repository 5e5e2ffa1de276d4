"""The dashboard as a program, and clients of it on sockets."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse

from timing import WAIT_S

COMMAND = ("-m", "scenthound", "dashboard")


@dataclass(frozen=True)
class Program:
    process: "subprocess.Popen[str]"
    port: int
    token: str

    def connection(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)

    def get(self, path: str, *, has_token: bool = True) -> HTTPResponse:
        """The response, which is to be closed."""
        connection = self.connection()
        headers = {"Authorization": f"Bearer {self.token}"} if has_token else {}
        # So that the connection is closed with the response.
        connection.request("GET", path, headers={**headers, "Connection": "close"})
        return connection.getresponse()

    def status(self, path: str = "/api/folders", *, has_token: bool = True) -> int:
        """The status of a complete response."""
        with self.get(path, has_token=has_token) as response:
            response.read()
            return response.status

    def client(self, sent: bytes = b"", address: str = "127.0.0.1") -> socket.socket:
        """A client at an address that sent something."""
        made = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S, source_address=(address, 0))
        made.sendall(sent)
        return made

    def head(self, path: str, method: str = "GET", *more: str) -> bytes:
        """A request without its end."""
        return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *more]).encode()


@contextmanager
def started(*arguments: object, program: tuple[str, ...] = COMMAND) -> Iterator[Program]:
    command = [sys.executable, *program, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line)
        assert found is not None, line
        yield Program(process, int(found[1]), found[2])
    finally:
        process.kill()
        process.communicate()
