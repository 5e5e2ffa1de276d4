"""One easy handle of libcurl, used for request after request: most options are set once, when it is made.

libcurl decodes nothing, follows nothing, keeps no cookies, reads no .netrc and takes no proxy from the environment,
looks up no names, and speaks http and https only. Every socket it opens is checked here by the address it is for.
"""

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pycurl

from scenthound.errors import printable
from scenthound.reasons import Reason
from scenthound.web.addresses import is_public, same_address
from scenthound.web.curl_errors import reason_of
from scenthound.web.fetch import FetchLimits, NotFetched, Request, Response
from scenthound.web.host_pins import place_of
from scenthound.web.reception import Reception

#: A page of usual size is read from its socket in one go.
_BUFFER_BYTES = 131_072
_SHOWN_CHARACTERS = 120
_REFUSE = 1

OnDone = Callable[[Response | NotFetched], None]


class _Lent:
    """A socket for pycurl, which makes a copy of it for libcurl and drops this one."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fileno(self) -> int:
        return self._fd

    def __del__(self) -> None:
        os.close(self._fd)


@dataclass(frozen=True, slots=True)
class CurlSettings:
    """What is the same for all requests of a fetcher."""

    limits: FetchLimits
    user_agent: str
    from_address: str | None
    allow_private: bool
    also_allowed: frozenset[str]
    ca_file: str


class CurlHandle:
    """A handle and the answer that is coming in over it."""

    def __init__(self, settings: CurlSettings) -> None:
        self.curl: Any = pycurl.Curl()
        self.reception = Reception(settings.limits)
        self.in_flight = False
        self._turn = 0
        self._allow_private = settings.allow_private
        self._also_allowed = settings.also_allowed
        for option, value in _options(settings).items():
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.HEADERFUNCTION, self.reception.take_line)
        self.curl.setopt(pycurl.WRITEFUNCTION, self.reception.take_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        self.curl.setopt(pycurl.RESOLVER_START_FUNCTION, self._refuse_lookup)

    def begin(self, request: Request, on_done: OnDone) -> int:
        """Make ready for a request; the number tells its turn on this handle from others."""
        self.place = place_of(request.url)
        self._addresses = request.addresses
        self._on_done = on_done
        self._turn += 1
        self.in_flight = True
        self._forbidden: str | None = None
        self._opened = False
        self._is_tls = request.url.startswith("https:")
        self.reception.begin(request)
        self.curl.setopt(pycurl.URL, request.url)
        return self._turn

    def end(self) -> OnDone:
        """Drop what the last request left; whom to tell is the answer."""
        self.reception.forget()
        return self._on_done

    def waits_for_headers(self, turn: int) -> bool:
        return self.in_flight and self._turn == turn and not self.reception.headers_ended

    def succeeded(self) -> Response | NotFetched:
        """The answer of a transfer that libcurl found nothing wrong with."""
        getinfo = self.curl.getinfo
        return self.reception.answer(getinfo(pycurl.PRIMARY_IP), getinfo(pycurl.STARTTRANSFER_TIME))

    def failed(self, code: int, message: str) -> Response | NotFetched:
        """The answer of a transfer that ended with an error of libcurl, which may be that it was stopped by us."""
        reception = self.reception
        if reception.stopped:
            return self.succeeded()
        if self._forbidden is not None:
            return reception.failed(Reason.ADDRESS_FORBIDDEN, f"{self._forbidden} is not an address to connect to")
        reason = self._reason_of_time_out() if code == pycurl.E_OPERATION_TIMEDOUT else reason_of(code)
        return reception.failed(reason, printable(message, _SHOWN_CHARACTERS))

    def _reason_of_time_out(self) -> Reason:
        if self.reception.headers_ended:
            return Reason.BODY_TIMEOUT
        # Of a connection that was there before, libcurl tells no time at all.
        time_of_connecting = pycurl.APPCONNECT_TIME if self._is_tls else pycurl.CONNECT_TIME
        connected = not self._opened or self.curl.getinfo(time_of_connecting) > 0
        return Reason.HEADERS_TIMEOUT if connected else Reason.CONNECT_TIMEOUT

    def _open_socket(self, purpose: int, address: Any) -> Any:
        """A socket for libcurl to connect, if the address is one that was asked for and may be."""
        family, kind, protocol, place = address
        host = place[0].decode() if isinstance(place[0], bytes) else place[0]
        if not self.may_connect(host):
            self._forbidden = host
            return pycurl.SOCKET_BAD
        self._opened = True
        try:
            return _Lent(socket.socket(family, kind, protocol).detach())
        except OSError:
            # Too many open files, or a machine without IPv6: no connection, at least not to this address.
            return pycurl.SOCKET_BAD

    def may_connect(self, host: str) -> bool:
        """Whether an address is one of the request's own, and one that may be connected to."""
        host = same_address(host)
        if all(same_address(address) != host for address in self._addresses):
            return False
        return self._allow_private or host in self._also_allowed or is_public(host)

    def _refuse_lookup(self) -> int:
        """Called when libcurl would ask the system for a name that is not pinned."""
        return _REFUSE


def _options(settings: CurlSettings) -> dict[int, object]:
    limits = settings.limits
    headers = [
        f"User-Agent: {settings.user_agent}",
        "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.5",
        "Accept-Encoding: gzip, deflate, br, zstd",
    ]
    if settings.from_address is not None:
        headers.append(f"From: {settings.from_address}")
    return {
        pycurl.HTTPHEADER: headers,
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS,
        pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
        pycurl.HTTP_CONTENT_DECODING: 0,
        pycurl.HTTP09_ALLOWED: 0,
        pycurl.FOLLOWLOCATION: 0,
        pycurl.PATH_AS_IS: 1,
        pycurl.NETRC: pycurl.NETRC_IGNORED,
        # An empty name turns off the proxies of the environment.
        pycurl.PROXY: "",
        pycurl.CAINFO: settings.ca_file,
        pycurl.SSL_VERIFYPEER: 1,
        pycurl.SSL_VERIFYHOST: 2,
        pycurl.CONNECTTIMEOUT_MS: round(1000 * limits.connect_s),
        pycurl.TIMEOUT_MS: round(1000 * limits.total_s),
        pycurl.NOSIGNAL: 1,
        pycurl.BUFFERSIZE: _BUFFER_BYTES,
    }
