"""How a crawl reaches hosts: its proxies, and the headers and cookies that it sends to some of them.

Rules
- Headers of the user may hold credentials. They are sent to hosts of the seeds' registrable domains only, and over http
  only if a seed of the domain is http. A redirect to another site does not take them along.
- Headers that the fetcher sets itself, or that decide how a message is framed, are rejected.
- Passwords never appear in messages: `masked_proxy` and `masked_header` hide them.
- A proxy is connected to at its own addresses, which may be private. What it may be asked for is checked before
  (`curl_handle`).
"""

import re
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies_environment

from scenthound.errors import InvalidParameter, UsageError, printable
from scenthound.web.cookies import Cookies
from scenthound.web.urls import host_of, registrable_domain

MASK = "***"
PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")
#: Where the environment may name proxies.
ENVIRONMENT = "--proxy-from-environment"
CONNECT_TIMEOUT_S = 10.0

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
#: Set by the fetcher, by another option, or a matter of the connection.
_SET_ELSEWHERE = {
    "user-agent": "use --user-agent",
    "from": "use --contact",
    "cookie": "use --cookie-file",
    "proxy-authorization": "write the credentials into the URL of --proxy",
}
_RESERVED = frozenset(
    (
        *("host", "content-length", "content-type", "transfer-encoding", "te", "trailer", "connection", "keep-alive"),
        *("upgrade", "expect", "accept-encoding", "range", "proxy-connection"),
        *("if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"),
    )
)


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy with its credentials; `addresses` are its IP addresses, once they are resolved."""

    url: str = field(repr=False)
    addresses: tuple[str, ...] = ()

    @property
    def _parts(self) -> SplitResult:
        return urlsplit(self.url)

    @property
    def scheme(self) -> str:
        return self._parts.scheme

    @property
    def authority(self) -> str:
        """Host and port."""
        return self._parts.netloc.rpartition("@")[2]

    @property
    def masked(self) -> str:
        return masked_proxy(self.url)

    def for_name(self) -> "Proxy":
        """The same proxy, which resolves host names itself."""
        return Proxy(f"socks5h:{self.url.partition(':')[2]}", self.addresses) if self.scheme == "socks5" else self


def parse_proxy(text: str, option: str = "--proxy") -> Proxy:
    """InvalidParameter for a URL that names no proxy."""
    written = text.strip()
    if "://" not in written:
        written = f"http://{written}"
    try:
        parts = urlsplit(written)
        is_valid = parts.scheme in PROXY_SCHEMES and bool(parts.hostname) and bool(parts.port)
    except ValueError:
        is_valid = False
    if not is_valid or parts.path.strip("/") or parts.query or parts.fragment or not _is_sendable(written):
        raise InvalidParameter(
            f"{option} {printable(masked_proxy(text), 80)} is not a proxy: write it as http://proxy.example:3128, with "
            f"scheme ({', '.join(PROXY_SCHEMES)}), host and port."
        )
    return Proxy(f"{parts.scheme}://{parts.netloc}")


def masked_proxy(url: str) -> str:
    """Without user name and password."""
    scheme, separator, rest = url.rpartition("://")
    _, at, authority = rest.rpartition("@")
    return f"{scheme}{separator}{MASK}@{authority}" if at else url


def is_bypassed(host: str, no_proxy: str) -> bool:
    """Whether a host is in a list such as `localhost,.example.org,10.0.0.0/8`. A domain covers its subdomains."""
    for item in no_proxy.replace(",", " ").lower().split():
        name = item.lstrip("*").lstrip(".")
        if item == "*" or (name and (host == name or host.endswith(f".{name}"))):
            return True
        with suppress(ValueError):
            if ip_address(host.strip("[]")) in ip_network(item.strip("[]"), strict=False):
                return True
    return False


class Proxies:
    """Which proxy a request goes through: always the same one, or those that the environment names."""

    def __init__(self, proxies: Mapping[str, Proxy], environment: dict[str, str] | None = None) -> None:
        """`proxies` are by scheme of the URL. `environment` is that of `getproxies_environment`."""
        self._of_scheme = proxies
        self._environment = environment

    @classmethod
    def none(cls) -> "Proxies":
        return cls({})

    @classmethod
    def of(cls, proxy: str | None, *, from_environment: bool = False) -> "Proxies":
        if proxy is not None and from_environment:
            raise UsageError("Use either --proxy or --proxy-from-environment.")
        if proxy is not None:
            parsed = parse_proxy(proxy)
            return cls({"http": parsed, "https": parsed})
        if not from_environment:
            return cls.none()
        environment = {name: value for name, value in getproxies_environment().items() if value}
        named = {scheme: environment.get(scheme) or environment.get("all") for scheme in ("http", "https")}
        found = {scheme: parse_proxy(url, f"{scheme}_proxy") for scheme, url in named.items() if url}
        return cls(found, environment)

    def for_url(self, url: str) -> Proxy | None:
        """None for a direct connection."""
        proxy = self._of_scheme.get(url.partition(":")[0])
        if proxy is None or self._environment is None:
            return proxy
        return None if is_bypassed(host_of(url), self._environment.get("no", "")) else proxy

    def connected(self, connect: "Connect | None" = None) -> "Proxies":
        """With the addresses of each proxy. UsageError if one does not accept connections."""
        connect = connect or connect_to
        known = {proxy.url: Proxy(proxy.url, connect(proxy)) for proxy in set(self._of_scheme.values())}
        return Proxies({scheme: known[proxy.url] for scheme, proxy in self._of_scheme.items()}, self._environment)


#: Connects to a proxy and returns its addresses.
Connect = Callable[[Proxy], tuple[str, ...]]


def connect_to(proxy: Proxy) -> tuple[str, ...]:
    """The addresses of a proxy that accepts connections."""
    host, _, port = proxy.authority.rpartition(":")
    name = host.strip("[]")
    try:
        found = socket.getaddrinfo(name, int(port), type=socket.SOCK_STREAM)
        with socket.create_connection((name, int(port)), timeout=CONNECT_TIMEOUT_S):
            return tuple(dict.fromkeys(str(each[4][0]) for each in found))
    except (OSError, UnicodeError) as problem:
        why = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        raise UsageError(
            f"Cannot connect to the proxy {printable(proxy.masked, 200)} ({printable(why, 100)}): check its name and "
            "port, and whether it is running."
        ) from None


def check_header(line: str) -> str:
    """A header `Name: value` in its usual form. InvalidParameter if it must not be sent."""
    name, colon, value = (part.strip(" \t") for part in line.partition(":"))
    if not colon or not _NAME.fullmatch(name) or not value or not _is_sendable(line):
        # The value is a secret, and may be where the name should be.
        raise InvalidParameter(
            f"--header {printable(name, 40) if colon else MASK!r} is not a header: write it as 'Name: value', in "
            "printable ASCII characters."
        )
    known = name.lower()
    if known in _SET_ELSEWHERE:
        raise InvalidParameter(f"--header cannot set {name}: {_SET_ELSEWHERE[known]}.")
    if known in _RESERVED:
        raise InvalidParameter(f"--header cannot set {name}: the crawler sets it itself.")
    return f"{name}: {value}"


def masked_header(line: str) -> str:
    return f"{line.partition(':')[0]}: {MASK}"


def _is_sendable(text: str) -> bool:
    """Whether it has no line breaks, which would start another header."""
    return text.isascii() and text.isprintable()


class RequestHeaders:
    """The headers of the user and the cookies for each request."""

    def __init__(self, headers: Sequence[str] = (), seeds: Iterable[str] = (), cookies: Cookies | None = None) -> None:
        self._headers = tuple(headers)
        self._cookies = cookies
        self._domains = frozenset(
            (scheme, registrable_domain(seed))
            for seed in seeds
            for scheme in ({"http", "https"} if seed.startswith("http:") else {"https"})
        )

    def for_url(self, url: str) -> tuple[str, ...]:
        headers: tuple[str, ...] = ()
        if self._headers and (url.partition(":")[0], registrable_domain(host_of(url))) in self._domains:
            headers = self._headers
        cookie = None if self._cookies is None else self._cookies.header(url)
        return headers if cookie is None else (*headers, f"Cookie: {cookie}")


@dataclass(frozen=True, slots=True)
class Access:
    """What the fetcher needs to know."""

    proxies: Proxies = field(default_factory=Proxies.none)
    headers: RequestHeaders = field(default_factory=RequestHeaders)
