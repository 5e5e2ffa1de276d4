"""Messages between a crawl and the process of its browser: a header in JSON, and a body in bytes.

JSON rather than pickle, because what a page sends must never become an object.
"""

import struct
from collections.abc import Mapping
from typing import Any

import orjson

Header = dict[str, Any]
LENGTHS = struct.Struct("<II")


def frame(header: Mapping[str, object], body: bytes = b"") -> bytes:
    written = orjson.dumps(header)
    return LENGTHS.pack(len(written), len(body)) + written + body


class MessageReader:
    """Messages from the pieces in which they arrive."""

    def __init__(self) -> None:
        self._received = bytearray()

    def add(self, data: bytes) -> None:
        self._received += data

    def next(self) -> tuple[Header, bytes] | None:
        """The next message, if it is complete."""
        received = self._received
        if len(received) < LENGTHS.size:
            return None
        n_header, n_body = LENGTHS.unpack_from(received)
        begin, end = LENGTHS.size + n_header, LENGTHS.size + n_header + n_body
        if len(received) < end:
            return None
        header, body = orjson.loads(received[LENGTHS.size : begin]), bytes(received[begin:end])
        del received[:end]
        return header, body
