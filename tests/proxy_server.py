"""A small HTTP and SOCKS5 proxy on loopback, which records what it is asked for."""

import base64
import socket
import socketserver
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

ADDRESS = "127.0.0.1"
SOCKS_VERSION = 5
#: The kinds of address in a SOCKS5 request.
IPV4, NAME = 1, 3


@dataclass
class ProxyServer:
    """`hosts` are the addresses of names. `credentials` ("user:password") are required if they are set; `refuses` is
    the status of the response to CONNECT, or the reply of a SOCKS5 proxy, if it is not 0."""

    hosts: dict[str, str] = field(default_factory=dict)
    credentials: str = ""
    refuses: int = 0
    #: The head of its own response to all requests but CONNECT, if it is set.
    responds: str = ""
    #: The certificate of an https proxy.
    certificate: Path | None = None
    #: Request lines; for SOCKS5 the host that it is asked for.
    requests: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    port: int = 0

    def url(self, scheme: str = "http", user: str = "") -> str:
        return f"{scheme}://{f'{user}@' if user else ''}{ADDRESS}:{self.port}"

    def handle(self, client: socket.socket) -> None:
        if self.certificate is not None:
            with served_tls(client, self.certificate) as secured:
                self._http(secured)
            return
        first = client.recv(1, socket.MSG_PEEK)
        if first == bytes([SOCKS_VERSION]):
            self._socks(client)
        elif first:
            self._http(client)

    def _http(self, client: socket.socket) -> None:
        head = _head(client)
        while head:
            self.heads.append(head)
            line = head.split("\r\n")[0]
            self.requests.append(line)
            method, target, _ = line.split(" ")
            expected = base64.b64encode(self.credentials.encode()).decode()
            if self.credentials and f"Proxy-Authorization: Basic {expected}" not in head:
                client.sendall(b"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
            elif method == "CONNECT":
                self._connect(client, target)
                return
            elif self.responds:
                client.sendall(f"{self.responds}\r\nContent-Length: 0\r\n\r\n".encode())
            else:
                self._forward(client, target, head)
            head = _head(client)

    def _connect(self, client: socket.socket, target: str) -> None:
        if self.refuses:
            client.sendall(f"HTTP/1.1 {self.refuses} No\r\nContent-Length: 0\r\n\r\n".encode())
            return
        host, _, port = target.rpartition(":")
        with socket.create_connection((self.hosts.get(host, host), int(port))) as server:
            client.sendall(b"HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n")
            _tunnel(client, server)

    def _forward(self, client: socket.socket, target: str, head: str) -> None:
        parts = urlsplit(target)
        host = parts.hostname or ""
        path = target.split("/", 3)[3]
        lines = [f"GET /{path} HTTP/1.1", *head.split("\r\n")[1:-2], "Connection: close", "", ""]
        with socket.create_connection((self.hosts.get(host, host), parts.port or 80)) as server:
            server.sendall("\r\n".join(lines).encode())
            while data := server.recv(65_536):
                client.sendall(data)
        client.shutdown(socket.SHUT_RDWR)

    def _socks(self, client: socket.socket) -> None:
        _, n_methods = client.recv(2)
        client.recv(n_methods)
        client.sendall(bytes([SOCKS_VERSION, 0]))
        _, _, _, kind = client.recv(4)
        if kind == IPV4:
            host = socket.inet_ntoa(client.recv(4))
        else:
            assert kind == NAME
            host = client.recv(client.recv(1)[0]).decode()
        (port,) = struct.unpack(">H", client.recv(2))
        self.requests.append(host)
        client.sendall(bytes([SOCKS_VERSION, self.refuses, 0, IPV4, 0, 0, 0, 0, 0, 0]))
        if not self.refuses:
            with socket.create_connection((self.hosts.get(host, host), port)) as server:
                _tunnel(client, server)


def served_tls(client: socket.socket, certificate: Path) -> ssl.SSLSocket:
    """The connection of a client with the certificate of a server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context.wrap_socket(client, server_side=True)


def _head(client: socket.socket) -> str:
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        piece = client.recv(1)
        if not piece:
            return ""
        data += piece
    return data.decode()


def _tunnel(client: socket.socket, server: socket.socket) -> None:
    def copy(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    back = threading.Thread(target=copy, args=(server, client), daemon=True)
    back.start()
    copy(client, server)
    back.join()


@contextmanager
def proxy_server(**settings: object) -> Iterator[ProxyServer]:
    proxy = ProxyServer(**settings)  # type: ignore[arg-type]

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                proxy.handle(self.request)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    with Server((ADDRESS, 0), Handler) as server:
        proxy.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            server.shutdown()
            thread.join()


def unused_port() -> int:
    """A port that nothing listens on."""
    with socket.create_server((ADDRESS, 0)) as server:
        port: int = server.getsockname()[1]
        return port
