"""One libcurl easy handle, reused for many requests, and the reader that assembles responses.

Most options of the handle are set once. libcurl does no content decoding, follows no redirects, keeps no cookies, reads
no .netrc, takes no proxy from the environment, resolves no names, and uses http and https only. The address of every
socket it opens is checked here.

Through a proxy, sockets lead to the proxy only, and the addresses of the host are checked before (`proxies`).

`ResponseReader` assembles a response from header lines and pieces of the body, within limits, and has no sockets.
Everything is checked as early as possible: the size of the headers with every line, the type at their end, the size of
the body with every piece. A method that returns STOP ends the transfer; `result` says why: not HTML, an error in
headers or body, or enough of the body received. One object reads response after response; `clear` resets it.
"""

import math
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pycurl

from scenthound.errors import printable
from scenthound.reasons import SkipReason
from scenthound.web.addresses import is_public, normalize_address
from scenthound.web.content_coding import BodyDecoder, codings_of
from scenthound.web.decode import is_html_type, looks_like_html, type_of
from scenthound.web.fetch import FetchLimits, NotFetched, Request, Response, header_values, status_of
from scenthound.web.open_files import NO_FILES_LEFT, can_open_files
from scenthound.web.proxies import Proxy
from scenthound.web.urls import without_user

STOP = -1
_EMPTY_LINES = (b"\r\n", b"\n")
_SWITCHING_PROTOCOLS = 101
_INTERIM = range(100, 200)
_CONTENT_ENCODING = b"\ncontent-encoding:"
_MAX_DETAIL_CHARACTERS = 120
#: A body in chunks of one byte costs a call and an object each. It is truncated after `_PIECES`, plus one piece per
#: `_MEAN_PIECE_BYTES` of the limit.
_PIECES = 256
_MEAN_PIECE_BYTES = 32


class ResponseReader:
    """A response being received."""

    def __init__(self, limits: FetchLimits) -> None:
        self._limits = limits
        self._lines: list[bytes] = []
        self._pieces: list[bytes] = []

    def begin(self, request: Request) -> None:
        """Prepare for the response to a request."""
        self._request = request
        self._header_room_bytes = self._limits.header_bytes
        self._room_bytes = self._limits.body_bytes if request.body_bytes is None else request.body_bytes
        self._pieces_left = _PIECES + self._room_bytes // _MEAN_PIECE_BYTES
        self._status = 0
        self._head = b""
        self._has_type = True
        self._decoder: BodyDecoder | None = None
        self._truncated = False
        self._rejected: tuple[SkipReason, str] | None = None
        self.headers_ended = False
        #: A method has returned STOP.
        self.stopped = False
        self._started_s = time.monotonic()

    def clear(self) -> None:
        """Free the data of the last response."""
        self._lines.clear()
        self._pieces.clear()
        self._decoder = None

    def add_line(self, line: bytes) -> int | None:
        """Add one header line with its line end; the empty line ends the headers."""
        self._header_room_bytes -= len(line)
        if self._header_room_bytes < 0:
            return self._reject(
                SkipReason.HEADERS_TOO_LARGE, f"more than {self._limits.header_bytes:,} bytes of headers"
            )
        if self.headers_ended:
            # Trailers (RFC 9110, 6.5) are ignored.
            return None
        if line in _EMPTY_LINES:
            return self._end_head()
        self._lines.append(line)
        return None

    def add_body(self, data: bytes) -> int | None:
        """Add a piece of the body."""
        self._pieces_left -= 1
        if self._decoder is not None:
            self._pieces.append(data)
            return None if self._decoder.feed(data) and self._pieces_left else self._stop()
        if len(data) > self._room_bytes or not self._pieces_left:
            self._pieces.append(data[: self._room_bytes])
            self._truncated = True
            return self._stop()
        self._room_bytes -= len(data)
        self._pieces.append(data)
        return None

    def result(self, address: str, elapsed_s: float) -> Response | NotFetched:
        """The result of a transfer that was completed, or stopped from here."""
        if self._rejected is not None:
            return self.failed(*self._rejected)
        if not self.headers_ended:
            return self.failed(SkipReason.PROTOCOL_ERROR, "incomplete headers")
        body = b"".join(self._pieces)
        content, truncated = body, self._truncated
        if self._decoder is not None:
            decoded = self._decoder.finish()
            if decoded.fault is not None:
                return self.failed(decoded.fault, f"Content-Encoding: {self._header('content-encoding')}")
            content, truncated = decoded.content, decoded.truncated
        if not self._has_type and not looks_like_html(content):
            return self.failed(SkipReason.NOT_HTML, "no Content-Type, and the content does not look like HTML")
        return Response(self._request.url, self._status, self._head, body, content, truncated, address, elapsed_s)

    def failed(self, reason: SkipReason, detail: str) -> NotFetched:
        """The result of a failed transfer."""
        return NotFetched(reason, detail, time.monotonic() - self._started_s)

    def _end_head(self) -> int | None:
        status = status_of(self._lines[0]) if self._lines else None
        if status is None:
            return self._reject(SkipReason.PROTOCOL_ERROR, "invalid status line")
        if status == _SWITCHING_PROTOCOLS:
            return self._reject(SkipReason.PROTOCOL_ERROR, "unexpected 101 Switching Protocols")
        if status in _INTERIM:
            self._lines.clear()
            return None
        self._status = status
        self._head = _with_crlf(self._lines)
        self.headers_ended = True
        if _CONTENT_ENCODING in self._head.lower() and (
            codings := codings_of(header_values(self._head, "content-encoding"))
        ):
            self._decoder = BodyDecoder(codings, self._room_bytes, self._limits.expansion)
        return self._check_type() if status == 200 and self._request.html_only else None

    def _check_type(self) -> int | None:
        values = header_values(self._head, "content-type")
        essence = type_of(values[-1]) if values else None
        self._has_type = essence is not None
        if essence is None or is_html_type(essence):
            return None
        return self._reject(SkipReason.NOT_HTML, f"Content-Type: {self._header('content-type')}")

    def _reject(self, reason: SkipReason, detail: str) -> int:
        self._rejected = (reason, detail)
        return self._stop()

    def _stop(self) -> int:
        self.stopped = True
        return STOP

    def _header(self, name: str) -> str:
        return printable(", ".join(header_values(self._head, name)), _MAX_DETAIL_CHARACTERS)


def _with_crlf(lines: list[bytes]) -> bytes:
    """The joined lines; some servers end them with LF only."""
    head = b"".join(lines)
    if head.count(b"\r\n") == len(lines):
        return head
    return b"".join(line.rstrip(b"\r\n") + b"\r\n" for line in lines)


#: Error codes of libcurl other than protocol errors, by their names in pycurl. The one code of timeouts is handled
#: separately.
_ERRORS = {
    # Among them a URL that libcurl cannot parse, though the URL library could.
    SkipReason.CONNECT_FAILED: "URL_MALFORMAT COULDNT_RESOLVE_PROXY COULDNT_CONNECT INTERFACE_FAILED OUT_OF_MEMORY",
    # A name without addresses, which libcurl is not allowed to resolve.
    SkipReason.DNS_FAILED: "COULDNT_RESOLVE_HOST ABORTED_BY_CALLBACK",
    SkipReason.TLS_FAILED: "SSL_CONNECT_ERROR PEER_FAILED_VERIFICATION SSL_CERTPROBLEM SSL_CIPHER SSL_ISSUER_ERROR "
    "SSL_ENGINE_INITFAILED SSL_SHUTDOWN_FAILED SSL_INVALIDCERTSTATUS USE_SSL_FAILED",
}
_REASON_OF = {getattr(pycurl, f"E_{name}"): reason for reason, names in _ERRORS.items() for name in names.split()}
#: libcurl's own limit on headers, which has no name in pycurl.
_REASON_OF[100] = SkipReason.HEADERS_TOO_LARGE
#: Errors that are those of this machine if it cannot open files.
_LOCAL_CODES = (pycurl.E_COULDNT_CONNECT, pycurl.E_FAILED_INIT, pycurl.E_OUT_OF_MEMORY)
#: The file of certificates, which was there, cannot be read.
_FILE_CODES = (pycurl.E_SSL_CACERT_BADFILE, pycurl.E_SSL_CRL_BADFILE)
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
            entries.append(pinned(authority, addresses))
        return entries

    def release(self, authority: str) -> None:
        """Record that a request has ended."""
        self._users[authority] -= 1
        if not self._users[authority]:
            del self._users[authority]
            self._to_drop.append(f"-{authority}")


def pinned(authority: str, addresses: tuple[str, ...]) -> str:
    """An entry of CURLOPT_RESOLVE."""
    return f"{authority}:{','.join(f'[{each}]' if ':' in each else each for each in addresses)}"


def host_and_port(url: str) -> str:
    """Host and port of a canonical URL."""
    scheme, _, authority, *_ = url.split("/", 3)
    authority = authority.rpartition("@")[2]
    has_port = authority.rfind(":") > authority.rfind("]")
    return authority if has_port else f"{authority}:{_DEFAULT_PORTS[scheme[:-1]]}"


#: A typical page is read from its socket at once.
_BUFFER_BYTES = 131_072
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
    #: Connections are opened only while the process has fewer files open.
    max_files: float = math.inf


#: The detail of a proxy that rejects our credentials, or asks for some.
PROXY_CREDENTIALS = "it asks for other credentials (407)"
_AUTHENTICATION_REQUIRED = 407
#: Codes of libcurl without a name in pycurl: an option that keeps the response to CONNECT from the reader, an error of
#: the proxy, and its details (CURLPX): the host did not respond, or the proxy does not allow the request.
_SUPPRESS_CONNECT_HEADERS = 265
_PROXY_ERROR = 97
_REASON_OF_PROXY = {
    **dict.fromkeys((19, 20, 21, 22, 24, 27), SkipReason.CONNECT_FAILED),
    23: SkipReason.PROXY_REFUSED,
}


def _refusal(status: int) -> SkipReason:
    """What the status of a proxy's own response means: it could not reach the host, or would not."""
    return SkipReason.CONNECT_FAILED if status >= 500 else SkipReason.PROXY_REFUSED


def _is_of_proxy(response: Response) -> bool:
    """Whether a proxy says that an error is its own: Squid, and proxies that implement RFC 9209. `Via` does not tell,
    because a proxy adds it to responses of hosts, too."""
    statuses = response.headers("proxy-status")
    has_sign = response.header("x-squid-error") is not None or any("error=" in each for each in statuses)
    return response.status >= 400 and has_sign


class CurlHandle:
    """A handle and the response being received."""

    def __init__(self, settings: CurlSettings) -> None:
        self.curl: Any = pycurl.Curl()
        self.reader = ResponseReader(settings.limits)
        self.in_flight = False
        self._n_requests = 0
        self._settings = settings
        self._proxy: Proxy | None = None
        self._proxy_url = ""
        self._headers: tuple[str, ...] = ()
        for option, value in _options(settings).items():
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.HEADERFUNCTION, self.reader.add_line)
        self.curl.setopt(pycurl.WRITEFUNCTION, self.reader.add_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        # Called when libcurl would resolve a name that is not pinned.
        self.curl.setopt(pycurl.RESOLVER_START_FUNCTION, lambda: _ABORT)

    def begin(
        self, request: Request, on_done: OnDone, proxy: Proxy | None = None, headers: tuple[str, ...] = ()
    ) -> int:
        """Prepare for a request; return its number on this handle."""
        self._proxy = proxy
        if self._proxy_url != (url := "" if proxy is None else proxy.url):
            self.curl.setopt(pycurl.PROXY, url)
            self._proxy_url = url
        if self._headers != headers:
            self.curl.setopt(pycurl.HTTPHEADER, _header_lines(self._settings, headers))
            self._headers = headers
        self.authority = host_and_port(request.url)
        self._addresses = request.addresses
        self._on_done = on_done
        self._n_requests += 1
        self.in_flight = True
        self._forbidden: str | None = None
        self._is_short_of_files = False
        self._opened = False
        self._is_tls = request.url.startswith("https:")
        self.reader.begin(request)
        # URLs of crawls before version 0.8 may have a user, which libcurl would send as credentials.
        self.curl.setopt(pycurl.URL, without_user(request.url))
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
        if self._proxy is not None and getinfo(pycurl.RESPONSE_CODE) == _AUTHENTICATION_REQUIRED:
            return self._proxy_failed(SkipReason.PROXY_FAILED, PROXY_CREDENTIALS)
        result = self.reader.result(getinfo(pycurl.PRIMARY_IP), getinfo(pycurl.STARTTRANSFER_TIME))
        # What comes through a tunnel, as for https, is from the host.
        if self._proxy is None or self._is_tls or isinstance(result, NotFetched) or not _is_of_proxy(result):
            return result
        return self._proxy_failed(_refusal(result.status), f"it responded itself, with status {result.status}")

    def failed(self, code: int, message: str) -> Response | NotFetched:
        """The result of a transfer that ended with an error of libcurl, perhaps because the reader stopped it."""
        reader = self.reader
        if reader.stopped:
            return self.succeeded()
        if self._forbidden is not None:
            return reader.failed(SkipReason.ADDRESS_FORBIDDEN, f"connections to {self._forbidden} are not allowed")
        if self._is_short_of_files or code in _FILE_CODES or (code in _LOCAL_CODES and not can_open_files()):
            return reader.failed(SkipReason.TOO_MANY_FILES, printable(message, _MAX_DETAIL_CHARACTERS))
        proxy_reason = None if self._proxy is None else self._proxy_reason(code)
        if proxy_reason is not None:
            is_rejected = self.curl.getinfo(pycurl.HTTP_CONNECTCODE) == _AUTHENTICATION_REQUIRED
            return self._proxy_failed(proxy_reason, PROXY_CREDENTIALS if is_rejected else message)
        is_timeout = code == pycurl.E_OPERATION_TIMEDOUT
        reason = self._timeout_reason() if is_timeout else _REASON_OF.get(code, SkipReason.PROTOCOL_ERROR)
        return reader.failed(reason, printable(message, _MAX_DETAIL_CHARACTERS))

    def _proxy_reason(self, code: int) -> SkipReason | None:
        """Why a request through a proxy failed, if the proxy failed or says so; None for other failures of the host."""
        status = self.curl.getinfo(pycurl.HTTP_CONNECTCODE)
        if status == _AUTHENTICATION_REQUIRED:
            return SkipReason.PROXY_FAILED
        if status >= 300:
            return _refusal(status)
        if code == _PROXY_ERROR:
            return _REASON_OF_PROXY.get(self.curl.getinfo(pycurl.PROXY_ERROR), SkipReason.PROXY_FAILED)
        # Every connection leads to the proxy.
        is_late = code == pycurl.E_OPERATION_TIMEDOUT and self._opened and self.curl.getinfo(pycurl.CONNECT_TIME) == 0
        is_unconnected = is_late or code in (pycurl.E_COULDNT_CONNECT, pycurl.E_COULDNT_RESOLVE_PROXY)
        # Before CONNECT, TLS is that of the proxy.
        is_secured = self._proxy is not None and self._proxy.scheme == "https" and status == 0
        is_unconnected = is_unconnected or (is_secured and _REASON_OF.get(code) is SkipReason.TLS_FAILED)
        return SkipReason.PROXY_FAILED if is_unconnected else None

    def _proxy_failed(self, reason: SkipReason, message: str) -> NotFetched:
        proxy = "" if self._proxy is None else self._proxy.masked
        return self.reader.failed(reason, f"{proxy}: {printable(message, _MAX_DETAIL_CHARACTERS)}")

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
            opened = socket.socket(family, kind, protocol)
        except OSError as error:
            # Too many open files, or no IPv6.
            self._is_short_of_files |= error.errno in NO_FILES_LEFT
            return pycurl.SOCKET_BAD
        # A new file has the lowest free number, so this tells how many are left.
        if opened.fileno() >= self._settings.max_files:
            opened.close()
            self._is_short_of_files = True
            return pycurl.SOCKET_BAD
        return _DetachedSocket(opened.detach())

    def may_connect(self, host: str) -> bool:
        """Whether an address belongs to the request and may be connected to."""
        host = normalize_address(host)
        if self._proxy is not None:
            return host in map(normalize_address, self._proxy.addresses)
        if all(normalize_address(address) != host for address in self._addresses):
            return False
        return self._settings.allow_private or host in self._settings.also_allowed or is_public(host)


def _header_lines(settings: CurlSettings, more: tuple[str, ...]) -> list[str]:
    headers = [
        f"User-Agent: {settings.user_agent}",
        "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.5",
        "Accept-Encoding: gzip, deflate, br, zstd",
    ]
    if settings.from_address is not None:
        headers.append(f"From: {settings.from_address}")
    names = {line.partition(":")[0].lower() for line in more}
    return [*(line for line in headers if line.partition(":")[0].lower() not in names), *more]


def _options(settings: CurlSettings) -> dict[int, object]:
    limits = settings.limits
    return {
        pycurl.HTTPHEADER: _header_lines(settings, ()),
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS,
        pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
        pycurl.HTTP_CONTENT_DECODING: 0,
        pycurl.HTTP09_ALLOWED: 0,
        pycurl.FOLLOWLOCATION: 0,
        pycurl.PATH_AS_IS: 1,
        pycurl.NETRC: pycurl.NETRC_IGNORED,
        # An empty name disables the proxies of the environment.
        pycurl.PROXY: "",
        pycurl.NOPROXY: "",
        pycurl.PROXY_CAINFO: settings.ca_file,
        _SUPPRESS_CONNECT_HEADERS: 1,
        pycurl.CAINFO: settings.ca_file,
        pycurl.SSL_VERIFYPEER: 1,
        pycurl.SSL_VERIFYHOST: 2,
        pycurl.CONNECTTIMEOUT_MS: round(1000 * limits.connect_s),
        pycurl.TIMEOUT_MS: round(1000 * limits.total_s),
        pycurl.NOSIGNAL: 1,
        pycurl.BUFFERSIZE: _BUFFER_BYTES,
    }
