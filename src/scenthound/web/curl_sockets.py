"""The sockets of libcurl in an event loop: which of them it waits for, and the calls when they are ready.

On Linux all of them are in one epoll set of their own, and the loop watches only that: a socket is then taken in and
out by one call of the system instead of by the loop's books, and one turn of the loop serves all that are ready.
Elsewhere the loop watches each.
"""

import select
from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Protocol

import pycurl

#: Called with the sockets that are ready and how (CSELECT_IN, CSELECT_OUT, or both).
OnReady = Callable[[list[tuple[int, int]]], None]

_EVENTS_AT_A_TIME = 1_024
_NOTHING = (pycurl.POLL_REMOVE, pycurl.POLL_NONE)
#: What libcurl waits for, as epoll has it (EPOLLIN is 1, EPOLLOUT 4).
_EPOLL = {pycurl.POLL_IN: 1, pycurl.POLL_OUT: 4, pycurl.POLL_INOUT: 5}


class SocketWatch(Protocol):
    """Told by libcurl what it waits for, tells when it is there."""

    def on_wish(self, wish: int, fd: int, multi: object, data: object) -> None:
        """The socket callback of libcurl: POLL_IN, POLL_OUT, POLL_INOUT or POLL_REMOVE."""

    def close(self) -> None:
        """Watch nothing any more."""


def watch_sockets(loop: AbstractEventLoop, on_ready: OnReady) -> SocketWatch:
    """A watch that calls back from the loop."""
    return EpollWatch(loop, on_ready) if hasattr(select, "epoll") else LoopWatch(loop, on_ready)


class EpollWatch:
    """One epoll set for all sockets."""

    def __init__(self, loop: AbstractEventLoop, on_ready: OnReady) -> None:
        self._loop = loop
        self._on_ready = on_ready
        self._epoll = select.epoll()
        self._watched: set[int] = set()
        loop.add_reader(self._epoll.fileno(), self._poll)

    def on_wish(self, wish: int, fd: int, multi: object, data: object) -> None:
        if wish in _NOTHING:
            if fd in self._watched:
                self._watched.remove(fd)
                self._epoll.unregister(fd)
        elif fd in self._watched:
            self._epoll.modify(fd, _EPOLL[wish])
        else:
            self._watched.add(fd)
            self._epoll.register(fd, _EPOLL[wish])

    def close(self) -> None:
        self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()

    def _poll(self) -> None:
        self._on_ready([(fd, _cselect(event)) for fd, event in self._epoll.poll(0, _EVENTS_AT_A_TIME)])


def _cselect(event: int) -> int:
    """What an event of epoll is to libcurl, which finds out about errors and hang-ups by reading and writing."""
    readable = event & ~select.EPOLLOUT != 0
    writable = event & (select.EPOLLOUT | select.EPOLLERR | select.EPOLLHUP) != 0
    return (pycurl.CSELECT_IN if readable else 0) | (pycurl.CSELECT_OUT if writable else 0)


class LoopWatch:
    """The loop's own readers and writers, one of each for a socket."""

    def __init__(self, loop: AbstractEventLoop, on_ready: OnReady) -> None:
        self._loop = loop
        self._on_ready = on_ready
        self._watched: dict[int, int] = {}

    def on_wish(self, wish: int, fd: int, multi: object, data: object) -> None:
        wanted = 0 if wish in _NOTHING else wish
        had = self._watched.pop(fd, 0)
        if wanted:
            self._watched[fd] = wanted
        self._change(fd, had, wanted)

    def close(self) -> None:
        for fd, wish in self._watched.items():
            self._change(fd, wish, 0)
        self._watched.clear()

    def _change(self, fd: int, had: int, wanted: int) -> None:
        if wanted & ~had & pycurl.POLL_IN:
            self._loop.add_reader(fd, self._on_ready, [(fd, pycurl.CSELECT_IN)])
        if wanted & ~had & pycurl.POLL_OUT:
            self._loop.add_writer(fd, self._on_ready, [(fd, pycurl.CSELECT_OUT)])
        if had & ~wanted & pycurl.POLL_IN:
            self._loop.remove_reader(fd)
        if had & ~wanted & pycurl.POLL_OUT:
            self._loop.remove_writer(fd)
