"""Questions to the head node of a Ray cluster before Ray connects: is it there, which token, which versions.

Ray itself needs 20 seconds to say that nobody answers or that the token is wrong. Its services are gRPC: requests over
HTTP/2, with messages in the format of protocol buffers, of which only the few fields are read that are needed.
"""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pycurl

from scenthound.errors import Failure, InvalidParameter, printable

#: How long an answer may take.
TIMEOUT_S = 2.0
#: Status codes of gRPC.
OK, UNAUTHENTICATED = 0, 16
#: The states of nodes in Ray's messages.
ALIVE = 0

_CLUSTER_ID = "NodeInfoGcsService/GetClusterId"
_NODES = "NodeInfoGcsService/GetAllNodeInfo"
_VALUE = "InternalKVGcsService/InternalKVGet"


class WrongToken(Exception):
    """The cluster demands a token, and this is not it."""


@dataclass(frozen=True, slots=True)
class NodeAddress:
    """A node that is alive: its address, and the path of the socket that a process on the node connects to."""

    address: str
    socket: str


class HeadNode:
    """The head node at an address, `host:port`."""

    def __init__(self, address: str, token: str | None) -> None:
        self._address = address
        self._token = token

    def demands_token(self) -> bool:
        """Whether it refuses requests without a token."""
        return self._call(_CLUSTER_ID, token=None)[0] == UNAUTHENTICATED

    def check_token(self) -> None:
        """WrongToken if it refuses this one, or no token."""
        self._answer(_CLUSTER_ID)

    def versions(self) -> dict[str, str]:
        """The versions of Ray and Python that the cluster was started with."""
        request = _text_field(1, "CLUSTER_METADATA") + _text_field(2, "cluster")
        value = next((value for number, value in _fields(self._answer(_VALUE, request)) if number == 2), b"")
        try:
            found = json.loads(value)
            return {"Ray": str(found["ray_version"]), "Python": str(found["python_version"])}
        except (ValueError, LookupError, TypeError):
            return {}

    def nodes(self) -> list[NodeAddress]:
        """The nodes that are alive."""
        found = []
        for number, value in _fields(self._answer(_NODES)):
            if number == 2 and isinstance(value, bytes):
                fields = dict(_fields(value))
                if fields.get(7, ALIVE) == ALIVE:
                    found.append(NodeAddress(_text(fields.get(2)), _text(fields.get(3))))
        return found

    def _answer(self, method: str, request: bytes = b"") -> bytes:
        status, answer = self._call(method, request, token=self._token)
        if status == UNAUTHENTICATED:
            raise WrongToken
        if status != OK:
            raise Failure(f"The Ray cluster at {printable(self._address)} does not answer: gRPC status {status}.")
        return answer

    def _call(self, method: str, request: bytes = b"", *, token: str | None) -> tuple[int, bytes]:
        """The status of a call and the message of the answer."""
        content, status = io.BytesIO(), -1

        def on_header(line: bytes) -> None:
            nonlocal status
            name, _, value = line.partition(b":")
            if name.lower() == b"grpc-status":
                status = int(value)

        headers = ["content-type: application/grpc", "te: trailers", "expect:"]
        if token is not None:
            headers.append(f"authorization: Bearer {token}")
        curl = pycurl.Curl()
        try:
            curl.setopt(pycurl.URL, f"http://{self._address}/ray.rpc.{method}")
            curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
            curl.setopt(pycurl.PROXY, "")
            curl.setopt(pycurl.NOSIGNAL, 1)
            curl.setopt(pycurl.TIMEOUT_MS, round(1000 * TIMEOUT_S))
            curl.setopt(pycurl.HTTPHEADER, headers)
            curl.setopt(pycurl.POSTFIELDS, b"\0" + len(request).to_bytes(4, "big") + request)
            curl.setopt(pycurl.HEADERFUNCTION, on_header)
            curl.setopt(pycurl.WRITEDATA, content)
            curl.perform()
        except pycurl.error as error:
            raise self._unreachable(error.args[0]) from None
        finally:
            curl.close()
        if status < 0:
            raise self._unreachable(pycurl.E_RECV_ERROR)
        return status, content.getvalue()[5:]

    def _unreachable(self, code: int) -> InvalidParameter:
        address = printable(self._address)
        if code == pycurl.E_COULDNT_RESOLVE_HOST:
            return InvalidParameter(f"--cluster {address}: no machine of that name is known.")
        if code in (pycurl.E_COULDNT_CONNECT, pycurl.E_OPERATION_TIMEDOUT):
            return InvalidParameter(
                f"--cluster {address}: nobody answers there. Start a Ray cluster with `ray start --head`, or check the "
                "host and the port, usually 6379."
            )
        return InvalidParameter(
            f"--cluster {address}: what answers there is no Ray cluster. Give the port of `ray start --head`, usually "
            "6379."
        )


# Protocol buffers


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """The numbers and values of the fields of a message: integers and bytes."""
    at = 0
    while at < len(message):
        key, at = _integer(message, at)
        if key & 7 == 0:
            value: Any
            value, at = _integer(message, at)
        else:
            size, at = _integer(message, at) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], at)
            value, at = message[at : at + size], at + size
        yield key >> 3, value


def _integer(message: bytes, at: int) -> tuple[int, int]:
    """A number and where it ends."""
    value = shift = 0
    while True:
        value |= (message[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if message[at - 1] < 128:
            return value, at


def _text_field(number: int, text: str) -> bytes:
    return bytes([number << 3 | 2, len(text)]) + text.encode()


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else ""
