"""Proxies: which one a request goes through, and what it may be asked for.

Rules
- A proxy is connected to at its own addresses, which may be private.
- The addresses of a host are checked before a proxy is asked for it (`may_request`). A socks5 proxy is asked for one of
  these addresses; others resolve the name again, and so do all if only the proxy can resolve it.
- User name and password never appear in messages.
"""

import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

from scenthound.errors import InvalidParameter, UsageError, printable
from scenthound.web.addresses import is_address, is_public, normalize_address
from scenthound.web.urls import host_of

MASK = "***"
SCHEMES = ("http", "https", "socks5", "socks5h")
CONNECT_TIMEOUT_S = 10.0
#: Names that are not public, whoever resolves them.
LOCAL_NAMES = ("localhost", "local", "internal", "intranet", "lan", "home.arpa")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy with its credentials; `addresses` are its IP addresses, once they are resolved."""

    url: str = field(repr=False)
    addresses: tuple[str, ...] = ()

    @property
    def scheme(self) -> str:
        return urlsplit(self.url).scheme

    @property
    def authority(self) -> str:
        """Host and port."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

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
        is_valid = parts.scheme in SCHEMES and bool(parts.hostname) and bool(parts.port)
    except ValueError:
        is_valid = False
    is_plain = written.isascii() and written.isprintable()
    if not is_valid or not is_plain or parts.path.strip("/") or parts.query or parts.fragment:
        raise InvalidParameter(
            f"{option} {printable(masked_proxy(text), 80)} is not a proxy: write it as http://proxy.example:3128, with "
            f"scheme ({', '.join(SCHEMES)}), host and port."
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

    def __init__(self, proxies: Mapping[str, Proxy] | None = None, environment: dict[str, str] | None = None) -> None:
        """`proxies` are by scheme of the URL. `environment` is that of `getproxies_environment`."""
        self._of_scheme = proxies or {}
        self._environment = environment

    def __bool__(self) -> bool:
        """Whether there is any proxy."""
        return bool(self._of_scheme)

    @classmethod
    def of(cls, proxy: str | None, *, from_environment: bool = False) -> "Proxies":
        if proxy is not None and from_environment:
            raise UsageError("Use either --proxy or --proxy-from-environment.")
        if proxy is not None:
            parsed = parse_proxy(proxy)
            return cls({"http": parsed, "https": parsed})
        if not from_environment:
            return cls()
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


def may_request(addresses: tuple[str, ...], also_allowed: frozenset[str]) -> bool:
    """Whether a proxy may be asked for a host with these addresses: all are public, or allowed. A name instead of an
    address means that only the proxy can resolve it."""
    return all(
        normalize_address(address) in also_allowed or is_public(address) or _may_be_public(address)
        for address in addresses
    )


def _may_be_public(name: str) -> bool:
    labels = name.lower().rstrip(".")
    is_local = any(labels == local or labels.endswith(f".{local}") for local in LOCAL_NAMES)
    return not is_address(name) and "." in labels and not is_local
