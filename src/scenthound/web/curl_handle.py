"""One libcurl easy handle, reused for many requests; most options are set once.

libcurl does no content decoding, follows no redirects, keeps no cookies, reads no .netrc, takes no proxy from the
environment, resolves no names, and uses http and https only. The address of every socket it opens is checked here.
"""

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pycurl

from scenthound.errors import printable
from scenthound.reasons import SkipReason
from scenthound.web.dns import is_public, normalize_address
from scenthound.web.fetch import FetchLimits, NotFetched, Request, Response
from scenthound.web.response_reader import ResponseReader

#: The code of libcurl's own limit on headers, without a name in pycurl.
_TOO_LARGE = 100
#: Error codes of libcurl other than protocol errors. The one code of timeouts is handled separately.
_CODES_OF = {
    SkipReason.CONNECT_FAILED: (
        # A URL that libcurl cannot parse, though the URL library could.
        pycurl.E_URL_MALFORMAT,
        pycurl.E_COULDNT_RESOLVE_PROXY,
        pycurl.E_COULDNT_CONNECT,
        pycurl.E_INTERFACE_FAILED,
        pycurl.E_OUT_OF_MEMORY,
    ),
    # A name without addresses, which libcurl is not allowed to resolve.
    SkipReason.DNS_FAILED: (pycurl.E_COULDNT_RESOLVE_HOST, pycurl.E_ABORTED_BY_CALLBACK),
    SkipReason.TLS_FAILED: (
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
        pycurl.E_SSL_ENGINE_INITFAILED,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_SHUTDOWN_FAILED,
        pycurl.E_SSL_CRL_BADFILE,
        pycurl.E_SSL_ISSUER_ERROR,
        pycurl.E_SSL_INVALIDCERTSTATUS,
        pycurl.E_USE_SSL_FAILED,
    ),
    SkipReason.HEADERS_TOO_LARGE: (_TOO_LARGE,),
}
_REASON_OF = {code: reason for reason, codes in _CODES_OF.items() for code in codes}
_DEFAULT_PORTS = {"http": "80", "https": "443"}


class HostPins:
    """The lists for CURLOPT_RESOLVE, which pins hosts to addresses. Every `pin` is followed by one `release`.

    Pins stay in libcurl's DNS cache until they are removed, and libcurl scans all of that cache whenever a transfer
    ends. So a pin is removed with the first request that starts after the last one to its host has ended."""

    def __init__(self) -> None:
        self._users: dict[str, int] = {}
        self._to_drop: list[str] = []

    def pin(self, authority: str, addresses: tuple[str, ...]) -> list[str]:
        """The CURLOPT_RESOLVE entries for a request to an authority ("host:port")."""
        self._users[authority] = self._users.get(authority, 0) + 1
        entries, self._to_drop = self._to_drop, []
        if addresses:
            entries.append(f"{authority}:{','.join(map(_in_brackets, addresses))}")
        return entries

    def release(self, authority: str) -> None:
        """Record that a request has ended."""
        self._users[authority] -= 1
        if not self._users[authority]:
            del self._users[authority]
            self._to_drop.append(f"-{authority}")


def host_and_port(url: str) -> str:
    """Host and port of a canonical URL."""
    scheme, _, authority, *_ = url.split("/", 3)
    authority = authority.rpartition("@")[2]
    has_port = authority.rfind(":") > authority.rfind("]")
    return authority if has_port else f"{authority}:{_DEFAULT_PORTS[scheme[:-1]]}"


def _in_brackets(address: str) -> str:
    return f"[{address}]" if ":" in address else address


#: A typical page is read from its socket at once.
_BUFFER_BYTES = 131_072
_MAX_DETAIL_CHARACTERS = 120
_ABORT = 1

OnDone = Callable[[Response | NotFetched], None]


class _DetachedSocket:
    """A socket for pycurl, which duplicates it for libcurl and drops this object."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fileno(self) -> int:
        return self._fd

    def __del__(self) -> None:
        os.close(self._fd)


@dataclass(frozen=True, slots=True)
class CurlSettings:
    """The settings of all requests of a fetcher."""

    limits: FetchLimits
    user_agent: str
    from_address: str | None
    allow_private: bool
    also_allowed: frozenset[str]
    ca_file: str


class CurlHandle:
    """A handle and the response being received."""

    def __init__(self, settings: CurlSettings) -> None:
        self.curl: Any = pycurl.Curl()
        self.reader = ResponseReader(settings.limits)
        self.in_flight = False
        self._n_requests = 0
        self._allow_private = settings.allow_private
        self._also_allowed = settings.also_allowed
        for option, value in _options(settings).items():
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.HEADERFUNCTION, self.reader.add_line)
        self.curl.setopt(pycurl.WRITEFUNCTION, self.reader.add_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        self.curl.setopt(pycurl.RESOLVER_START_FUNCTION, self._abort_lookup)

    def begin(self, request: Request, on_done: OnDone) -> int:
        """Prepare for a request; return its number on this handle."""
        self.authority = host_and_port(request.url)
        self._addresses = request.addresses
        self._on_done = on_done
        self._n_requests += 1
        self.in_flight = True
        self._forbidden: str | None = None
        self._opened = False
        self._is_tls = request.url.startswith("https:")
        self.reader.begin(request)
        self.curl.setopt(pycurl.URL, request.url)
        return self._n_requests

    def end(self) -> OnDone:
        """Clear the last response; return the callback of the request."""
        self.reader.clear()
        return self._on_done

    def is_waiting_for_headers(self, request_number: int) -> bool:
        return self.in_flight and self._n_requests == request_number and not self.reader.headers_ended

    def succeeded(self) -> Response | NotFetched:
        """The result of a transfer that libcurl reports as successful."""
        getinfo = self.curl.getinfo
        return self.reader.result(getinfo(pycurl.PRIMARY_IP), getinfo(pycurl.STARTTRANSFER_TIME))

    def failed(self, code: int, message: str) -> Response | NotFetched:
        """The result of a transfer that ended with an error of libcurl, perhaps because the reader stopped it."""
        reader = self.reader
        if reader.stopped:
            return self.succeeded()
        if self._forbidden is not None:
            return reader.failed(SkipReason.ADDRESS_FORBIDDEN, f"connections to {self._forbidden} are not allowed")
        is_timeout = code == pycurl.E_OPERATION_TIMEDOUT
        reason = self._timeout_reason() if is_timeout else _REASON_OF.get(code, SkipReason.PROTOCOL_ERROR)
        return reader.failed(reason, printable(message, _MAX_DETAIL_CHARACTERS))

    def _timeout_reason(self) -> SkipReason:
        if self.reader.headers_ended:
            return SkipReason.BODY_TIMEOUT
        # For a reused connection libcurl reports no time.
        connect_time = pycurl.APPCONNECT_TIME if self._is_tls else pycurl.CONNECT_TIME
        connected = not self._opened or self.curl.getinfo(connect_time) > 0
        return SkipReason.HEADERS_TIMEOUT if connected else SkipReason.CONNECT_TIMEOUT

    def _open_socket(self, purpose: int, address: Any) -> Any:
        """Open a socket for libcurl, if the address is allowed."""
        family, kind, protocol, authority = address
        host = authority[0].decode() if isinstance(authority[0], bytes) else authority[0]
        if not self.may_connect(host):
            self._forbidden = host
            return pycurl.SOCKET_BAD
        self._opened = True
        try:
            return _DetachedSocket(socket.socket(family, kind, protocol).detach())
        except OSError:
            # Too many open files, or no IPv6.
            return pycurl.SOCKET_BAD

    def may_connect(self, host: str) -> bool:
        """Whether an address belongs to the request and may be connected to."""
        host = normalize_address(host)
        if all(normalize_address(address) != host for address in self._addresses):
            return False
        return self._allow_private or host in self._also_allowed or is_public(host)

    def _abort_lookup(self) -> int:
        """Called when libcurl would resolve a name that is not pinned."""
        return _ABORT


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
        # An empty name disables the proxies of the environment.
        pycurl.PROXY: "",
        pycurl.CAINFO: settings.ca_file,
        pycurl.SSL_VERIFYPEER: 1,
        pycurl.SSL_VERIFYHOST: 2,
        pycurl.CONNECTTIMEOUT_MS: round(1000 * limits.connect_s),
        pycurl.TIMEOUT_MS: round(1000 * limits.total_s),
        pycurl.NOSIGNAL: 1,
        pycurl.BUFFERSIZE: _BUFFER_BYTES,
    }
