"""One connection of the hostile site, from the server's side."""

import asyncio
import socket
import struct
from dataclasses import dataclass

PAGE = b"<!doctype html><title>A page</title><p>words of a page <a href='/page'>link</a>"


@dataclass(frozen=True, slots=True)
class Wire:
    """A connection. Slow cases send a byte every `pace_s`."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    host: str
    path: str
    pace_s: float

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def trickle(self, data: bytes) -> None:
        for byte in data:
            await self.send(bytes((byte,)))
            await asyncio.sleep(self.pace_s)

    async def flood(self, data: bytes, max_bytes: int = 200_000_000, pause_s: float = 0.0) -> None:
        """Send the same data repeatedly, until the client disconnects."""
        for _ in range(max_bytes // len(data)):
            await self.send(data)
            await asyncio.sleep(pause_s)

    async def hold(self) -> None:
        """Send nothing more, until the client disconnects."""
        while await self.reader.read(4_096):
            pass

    async def reset(self) -> None:
        """End the connection with RST instead of FIN."""
        connection = self.writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.close()

    async def answer(self, body: bytes = PAGE, status: str = "200 OK", **headers: str) -> None:
        """Send a valid response; underscores in header names become hyphens."""
        await self.send(response_bytes(body, status, **headers))


def response_bytes(body: bytes = PAGE, status: str = "200 OK", **headers: str) -> bytes:
    lines = {"Content-Type": "text/html", "Content-Length": str(len(body))}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode("latin-1") + body
