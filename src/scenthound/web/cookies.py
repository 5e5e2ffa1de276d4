"""Cookies from a file in the Netscape format (`cookies.txt`), as browsers and curl export it.

Rules
- A line has seven fields between tabs: domain, whether subdomains are included, path, whether it needs https, expiry in
  seconds since 1970 (0 for none), name, value. `#HttpOnly_` may precede the domain; other lines with # are comments.
- A cookie is sent as RFC 6265 (5.4) says: to its domain, on its path, only over https if it is secure, and not after
  its expiry; longer paths first. Cookies that servers set are not kept.
- Errors name the line, never a value.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import InvalidInput, printable
from scenthound.files import text_of
from scenthound.web.urls import canonical, host_of, is_public_suffix

_HTTP_ONLY = "#HttpOnly_"
_FLAGS = {"TRUE": True, "FALSE": False}
_N_FIELDS = 7
#: RFC 6265, 4.1.1, with the spaces and quotes that servers send anyway.
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[ -:<-~]*")
_MAX_EXPIRY_DIGITS = 15


@dataclass(frozen=True, slots=True, repr=False)
class Cookie:
    """`expires_s` is None for a cookie without expiry."""

    domain: str
    subdomains: bool
    path: str
    secure: bool
    expires_s: float | None
    name: str
    value: str

    def is_for(self, url: str, now_s: float) -> bool:
        """Whether it is sent with a request for a canonical URL."""
        if self.expires_s is not None and self.expires_s <= now_s:
            return False
        if self.secure and not url.startswith("https:"):
            return False
        host = host_of(url)
        if host != self.domain and not (self.subdomains and host.endswith(f".{self.domain}")):
            return False
        return _is_below("/" + url.partition("?")[0].split("/", 3)[3], self.path)


def _is_below(path: str, parent: str) -> bool:
    """RFC 6265, 5.1.4."""
    return path == parent or path.startswith(parent if parent.endswith("/") else f"{parent}/")


class Cookies:
    """The cookies of a file. `clock` returns seconds since 1970."""

    def __init__(self, cookies: Iterable[Cookie], clock: Callable[[], float]) -> None:
        # The sort is stable: of equally long paths, the order of the file.
        self._cookies = sorted(cookies, key=lambda cookie: -len(cookie.path))
        self._clock = clock

    def header(self, url: str) -> str | None:
        """The value of the Cookie header; None if there are no cookies for the URL."""
        now_s = self._clock()
        pairs = [f"{each.name}={each.value}" for each in self._cookies if each.is_for(url, now_s)]
        return "; ".join(pairs) or None


def read_cookies(path: Path) -> list[Cookie]:
    """InvalidInput if a line cannot be read."""
    cookies = []
    for number, line in enumerate(text_of(path).splitlines(), 1):
        written = line.removeprefix(_HTTP_ONLY)
        if not written.strip() or written.startswith("#"):
            continue
        cookie = _cookie(written)
        if isinstance(cookie, str):
            raise InvalidInput(f"{printable(path)}, line {number}: {cookie}.")
        cookies.append(cookie)
    if not cookies:
        raise InvalidInput(f"{printable(path)} has no cookies: export them in the Netscape format (cookies.txt).")
    return cookies


def _cookie(line: str) -> Cookie | str:
    """The cookie of a line, or what is wrong with the line."""
    fields = line.split("\t")
    if len(fields) != _N_FIELDS:
        return f"expected {_N_FIELDS} fields between tabs, as in the Netscape format (cookies.txt)"
    domain, subdomains, path, secure, expiry, name, value = fields
    url = canonical(f"http://{domain.removeprefix('.')}/")
    if url is None or subdomains not in _FLAGS or secure not in _FLAGS:
        return "expected a domain, TRUE or FALSE, a path, and TRUE or FALSE"
    host, has_subdomains = host_of(url), _FLAGS[subdomains] or domain.startswith(".")
    if has_subdomains and is_public_suffix(host):
        return f"a cookie for {printable(host, 80)} would be sent to all sites below this public suffix"
    if not expiry.isdecimal() or len(expiry) > _MAX_EXPIRY_DIGITS:
        return "the expiry is not a number of seconds since 1970"
    if not path.startswith("/") or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        return "the path must start with /, and name and value must be printable ASCII without semicolons"
    expires_s = float(expiry) if int(expiry) else None
    return Cookie(host, has_subdomains, path, _FLAGS[secure], expires_s, name, value)
