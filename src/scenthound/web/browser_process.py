"""The process of the browser, as the crawl sees it (`browser` is what runs in it).

Rules
- Nothing here waits. Messages are received on the event loop; errors of a callback are those of the loop.
- `on_end` is called once if the process is lost, and not after `end`.
- The process is in a session of its own: signals of the terminal are for the crawl, which ends it. It ends by itself
  when the crawl dies, and with it the browser.
- A process that hangs is killed, together with the browser; so is one that does not end soon.
"""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from scenthound.web.browser import FOLDER_VARIABLE, BrowserSettings, serve
from scenthound.web.browser_messages import Header, MessageReader, frame

#: How long the process may take to close the browser.
END_S = 5.0
_CHUNK_BYTES = 1 << 18
_POLL_S = 0.05

OnMessage = Callable[[Header, bytes], None]


class BrowserProcess:
    """A process that has been started. Raises OSError if that is not possible."""

    def __init__(
        self,
        settings: BrowserSettings,
        loop: asyncio.AbstractEventLoop,
        on_message: OnMessage,
        on_end: Callable[[], None],
    ) -> None:
        self._loop, self._on_message, self._on_end = loop, on_message, on_end
        self._messages = MessageReader()
        self._outgoing = bytearray()
        self._is_open = True
        #: The ID of the browser's own process, once it is known.
        self.browser = 0
        self._folder = tempfile.mkdtemp(prefix="scenthound-browser-")
        self._socket, theirs = socket.socketpair()
        try:
            self._process = _launch(theirs, self._folder)
        except OSError:
            self._socket.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        finally:
            theirs.close()
        self._socket.setblocking(False)
        loop.add_reader(self._socket.fileno(), self._read)
        self.send(asdict(settings))

    def send(self, header: Mapping[str, object], body: bytes = b"") -> None:
        if self._is_open:
            self._outgoing += frame(header, body)
            self._write()

    def end(self, *, hangs: bool = False) -> None:
        """End the process; at once if it hangs."""
        if self._is_open:
            self._is_open = False
            self._loop.remove_reader(self._socket.fileno())
            self._loop.remove_writer(self._socket.fileno())
            self._socket.close()
            if hangs:
                self._kill()
            # Not a daemon: the program ends when the browser has.
            threading.Thread(target=self._reap, name="scenthound-browser").start()

    def _write(self) -> None:
        try:
            sent = self._socket.send(self._outgoing)
        except BlockingIOError:
            sent = 0
        except OSError:
            # Reading says so, too.
            self._outgoing.clear()
            return
        del self._outgoing[:sent]
        if self._outgoing:
            self._loop.add_writer(self._socket.fileno(), self._write)
        else:
            self._loop.remove_writer(self._socket.fileno())

    def _read(self) -> None:
        try:
            data = self._socket.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.end()
            self._on_end()
            return
        self._messages.add(data)
        while self._is_open and (message := self._messages.next()) is not None:
            header, body = message
            if header["is"] == "ready":
                self.browser = header["process"]
            self._on_message(header, body)

    def _kill(self) -> None:
        # It has not been waited for, so its ID is not that of another process.
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._kill_browser()

    def _kill_browser(self) -> None:
        if self._has_browser():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.browser, signal.SIGKILL)

    def _has_browser(self) -> bool:
        """Whether the browser runs: its command line names the folder. Another process may have its ID by now."""
        try:
            return self._folder.encode() in Path(f"/proc/{self.browser}/cmdline").read_bytes()
        except OSError:
            return False

    def _reap(self) -> None:
        end_s = time.monotonic() + END_S
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()
        # A browser that hangs does not notice that nobody is connected to it any more.
        while self._has_browser() and time.monotonic() < end_s:
            time.sleep(_POLL_S)
        self._kill_browser()
        shutil.rmtree(self._folder, ignore_errors=True)


def _launch(channel: socket.socket, folder: str) -> "subprocess.Popen[bytes]":
    paths = os.pathsep.join(sys.path)
    return subprocess.Popen(
        [sys.executable, "-c", f"from {serve.__module__} import serve; serve()"],
        stdin=channel.fileno(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": paths, "TMPDIR": folder, FOLDER_VARIABLE: folder},
        start_new_session=True,
    )
