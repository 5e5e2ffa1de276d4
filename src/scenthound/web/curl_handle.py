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
from scenthound.reasons import SkipReason
from scenthound.web.dns import is_public, same_address
from scenthound.web.fetch import FetchLimits, NotFetched, Request, Response
from scenthound.web.reception import Reception

# What libcurl's error codes mean to a crawl: a table.
#
# Time-outs are not in it, because their one code says nothing of what was waited for; codes that are not listed are
# answers that broke off in a way nobody foresaw.

# Codes that pycurl has no name for.
_HTTP2_STREAM = 92
_TOO_LARGE = 100

SKIP_REASONS: dict[int, SkipReason] = {
    # No connection. An address that libcurl cannot read, though our URL library could, is one nobody can connect to.
    pycurl.E_URL_MALFORMAT: SkipReason.CONNECT_FAILED,
    pycurl.E_COULDNT_RESOLVE_PROXY: SkipReason.CONNECT_FAILED,
    pycurl.E_COULDNT_CONNECT: SkipReason.CONNECT_FAILED,
    pycurl.E_INTERFACE_FAILED: SkipReason.CONNECT_FAILED,
    pycurl.E_OUT_OF_MEMORY: SkipReason.CONNECT_FAILED,
    # A name without addresses: libcurl is not let look it up.
    pycurl.E_COULDNT_RESOLVE_HOST: SkipReason.DNS_FAILED,
    pycurl.E_ABORTED_BY_CALLBACK: SkipReason.DNS_FAILED,
    # No trust.
    pycurl.E_SSL_CONNECT_ERROR: SkipReason.TLS_FAILED,
    pycurl.E_PEER_FAILED_VERIFICATION: SkipReason.TLS_FAILED,
    pycurl.E_SSL_CERTPROBLEM: SkipReason.TLS_FAILED,
    pycurl.E_SSL_CIPHER: SkipReason.TLS_FAILED,
    pycurl.E_SSL_ENGINE_INITFAILED: SkipReason.TLS_FAILED,
    pycurl.E_SSL_CACERT_BADFILE: SkipReason.TLS_FAILED,
    pycurl.E_SSL_SHUTDOWN_FAILED: SkipReason.TLS_FAILED,
    pycurl.E_SSL_CRL_BADFILE: SkipReason.TLS_FAILED,
    pycurl.E_SSL_ISSUER_ERROR: SkipReason.TLS_FAILED,
    pycurl.E_SSL_INVALIDCERTSTATUS: SkipReason.TLS_FAILED,
    pycurl.E_USE_SSL_FAILED: SkipReason.TLS_FAILED,
    # A broken answer. A body without a head (HTTP/0.9) is an unsupported protocol to libcurl.
    pycurl.E_UNSUPPORTED_PROTOCOL: SkipReason.PROTOCOL_ERROR,
    pycurl.E_FTP_WEIRD_SERVER_REPLY: SkipReason.PROTOCOL_ERROR,
    pycurl.E_HTTP2: SkipReason.PROTOCOL_ERROR,
    _HTTP2_STREAM: SkipReason.PROTOCOL_ERROR,
    pycurl.E_PARTIAL_FILE: SkipReason.PROTOCOL_ERROR,
    pycurl.E_GOT_NOTHING: SkipReason.PROTOCOL_ERROR,
    pycurl.E_SEND_ERROR: SkipReason.PROTOCOL_ERROR,
    pycurl.E_RECV_ERROR: SkipReason.PROTOCOL_ERROR,
    pycurl.E_BAD_CONTENT_ENCODING: SkipReason.PROTOCOL_ERROR,
    # libcurl's own bound on headers, which counts if it is the narrower one.
    _TOO_LARGE: SkipReason.HEADERS_TOO_LARGE,
}


def reason_of(code: int) -> SkipReason:
    """The reason behind an error code other than that of a time-out."""
    return SKIP_REASONS.get(code, SkipReason.PROTOCOL_ERROR)


# Which addresses libcurl is told for which hosts (CURLOPT_RESOLVE), so that it connects to those and looks up
# nothing.
#
# What libcurl is told stays in its cache of names until it is told to drop it, and it walks through all of that cache
# whenever a transfer ends. So a host is pinned with its request, and dropped again with the first request that starts
# after its last one has ended: there are hardly more pins than transfers.

_DEFAULT_PORTS = {"http": "80", "https": "443"}


class HostPins:
    """Makes the lists for CURLOPT_RESOLVE. Every `pin` is followed by one `release`."""

    def __init__(self) -> None:
        self._users: dict[str, int] = {}
        self._to_drop: list[str] = []

    def pin(self, place: str, addresses: tuple[str, ...]) -> list[str]:
        """What libcurl must be told before a request to a place ("host:port")."""
        self._users[place] = self._users.get(place, 0) + 1
        news, self._to_drop = self._to_drop, []
        if addresses:
            news.append(f"{place}:{','.join(map(_bracketed, addresses))}")
        return news

    def release(self, place: str) -> None:
        """A request has ended."""
        self._users[place] -= 1
        if not self._users[place]:
            del self._users[place]
            self._to_drop.append(f"-{place}")


def place_of(url: str) -> str:
    """Host and port of a canonical URL."""
    scheme, _, authority, *_ = url.split("/", 3)
    authority = authority.rpartition("@")[2]
    has_port = authority.rfind(":") > authority.rfind("]")
    return authority if has_port else f"{authority}:{_DEFAULT_PORTS[scheme[:-1]]}"


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


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
            return reception.failed(SkipReason.ADDRESS_FORBIDDEN, f"{self._forbidden} is not an address to connect to")
        reason = self._reason_of_time_out() if code == pycurl.E_OPERATION_TIMEDOUT else reason_of(code)
        return reception.failed(reason, printable(message, _SHOWN_CHARACTERS))

    def _reason_of_time_out(self) -> SkipReason:
        if self.reception.headers_ended:
            return SkipReason.BODY_TIMEOUT
        # Of a connection that was there before, libcurl tells no time at all.
        time_of_connecting = pycurl.APPCONNECT_TIME if self._is_tls else pycurl.CONNECT_TIME
        connected = not self._opened or self.curl.getinfo(time_of_connecting) > 0
        return SkipReason.HEADERS_TIMEOUT if connected else SkipReason.CONNECT_TIMEOUT

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
