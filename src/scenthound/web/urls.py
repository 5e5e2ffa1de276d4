"""URLs: canonical form, resolution, hosts, domains, fingerprints.

The canonical form is the WHATWG serialisation without fragment, user name and password. A page must not choose
credentials that are sent to others, and URLs that differ by them are one page. Nothing else that a server could see is
changed: no slash is stripped, no percent-encoding rewritten; an empty query stays. A URL is crawlable if it is http or
https, has a host, and at most `MAX_URL_BYTES`. Functions return None for other URLs and never raise.
"""

import functools
import hashlib
import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

import ada_url
import numpy as np
import numpy.typing as npt
from publicsuffixlist import PublicSuffixList

from scenthound import native
from scenthound.frontier.url_index import NEW, NO_TARGET
from scenthound.web.addresses import is_address

#: A long-standing limit of browsers and servers; longer URLs are traps or data.
MAX_URL_BYTES = 2_083

_SCHEMES = ("http://", "https://")
_CACHED_BASES = 256
_CACHED_HOSTS = 1_024
_CACHED_DOMAINS = 65_536

_CACHED_ORIGINS = 4_096

# A plain reference, which resolution only appends to an origin (canonicalised separately) or to a directory: an origin
# or steps up, then segments of characters that are never encoded, not starting with a dot or a percent sign (an encoded
# dot), the first without the colon of a scheme, then a query. No part can match in two ways, so quantifiers are
# possessive ("*+").
_SEGMENT = r"[A-Za-z0-9_~-][A-Za-z0-9_~.%!$&'()*+,;=@{colon}-]*+"
_PATH = rf"{_SEGMENT.format(colon='')}(?:/{_SEGMENT.format(colon=':')})*+/?"
_QUERY = r"\?[A-Za-z0-9_~.%!$&()*+,;=@:/?-]*+"
_PLAIN_REFERENCE = re.compile(
    rf"(https?://[A-Za-z0-9.-]++(?::[0-9]++)?/|/|(?:\.\./){{0,32}}+)((?:{_PATH}(?:{_QUERY})?+)?+)(?:#[!-~]*+)?+"
)


def canonical(url: str) -> str | None:
    """The canonical form of an absolute URL, or None if it is not crawlable."""
    plain = _PLAIN_REFERENCE.fullmatch(url)
    if plain is None or not plain[1].startswith(_SCHEMES):
        return _canonical(url)
    origin = _origins[plain[1]]
    return origin + plain[2] if origin is not None and len(origin) + len(plain[2]) <= MAX_URL_BYTES else None


def resolve(base: str, href: str) -> str | None:
    """The canonical URL of a reference on the page at `base`, or None if it is not crawlable."""
    return resolve_plainly(base, [href])[0]


def resolve_all(base: str, references: Sequence[str]) -> list[str | None]:
    """`resolve` for each reference of a page."""
    url = canonical(base) if native.is_available() and references else None
    return resolve_plainly(base, references) if url is None else _resolve_natively(url, references)


def _resolve_natively(base: str, references: Sequence[str]) -> list[str | None]:
    """`resolve_plainly` by the extension, for a canonical base."""
    from scenthound.native import _native

    texts = list(map(encoded, references))
    ends = np.fromiter(accumulate(map(len, texts)), np.uint32, len(texts))
    marks, urls, url_ends = _native.resolve_references(base.encode(), b"".join(texts), ends)
    text, start, resolved = urls.decode("ascii"), 0, list[str | None]()
    for reference, mark, end in zip(
        references, memoryview(marks).cast("i"), memoryview(url_ends).cast("I"), strict=True
    ):
        if mark == NEW:
            resolved.append(text[start:end])
        else:
            resolved.append(None if mark == NO_TARGET else _resolve_any(base, reference))
        start = end
    return resolved


def resolve_plainly(base: str, references: Iterable[str]) -> list[str | None]:
    """`resolve` for each reference of a page, without the extension."""
    directories = _directories(base)
    if directories is None:
        return [_resolve_any(base, reference) for reference in references]
    resolved: list[str | None] = []
    plain_reference, origins, add = _PLAIN_REFERENCE.fullmatch, _origins, resolved.append
    for reference in references:
        plain = plain_reference(reference)
        if plain is None:
            add(_resolve_any(base, reference))
            continue
        before, path = plain.groups()
        if not path and not before:
            # Only a fragment.
            add(directories.url)
            continue
        directory = origins[before] if before.startswith("h") else directories[before]
        add(directory + path if directory is not None and len(directory) + len(path) <= MAX_URL_BYTES else None)
    return resolved


def has_user(url: str) -> bool:
    """Whether an absolute URL has a user name or a password."""
    try:
        parts = ada_url.URL(_scalars(url))
    except ValueError:
        return False
    return bool(parts.username or parts.password)


def without_user(serialised: str) -> str:
    """An http or https URL in WHATWG serialisation, where the first @ before the path ends the user, without user name
    and password."""
    start = serialised.index("//") + len("//")
    at = serialised.find("@", start, serialised.index("/", len("https://")))
    return serialised if at < 0 else serialised[:start] + serialised[at + 1 :]


@functools.lru_cache(_CACHED_HOSTS)
def host_of(url: str) -> str:
    """The host of a canonical URL: no port, IPv6 addresses in brackets. URLs of crawls before version 0.8 may have a
    user, which is no part of the host."""
    authority = url.split("/", 3)[2].partition("?")[0].rpartition("@")[2]
    return authority[: authority.index("]") + 1] if authority.startswith("[") else authority.partition(":")[0]


@functools.lru_cache(_CACHED_DOMAINS)
def registrable_domain(host_or_url: str) -> str:
    """The public suffix and one more label. IP addresses and public suffixes are returned unchanged, so that every host
    has a domain."""
    host = host_of(host_or_url) if host_or_url.startswith(_SCHEMES) else host_or_url
    host = host.lower().rstrip(".")
    if is_address(host.strip("[]")):
        return host
    return _public_suffixes().privatesuffix(host) or host


def is_public_suffix(host: str) -> bool:
    """Whether a host name is a public suffix, such as `org` or `co.uk`, below which anyone can register names."""
    host = host.lower().rstrip(".")
    return not is_address(host.strip("[]")) and _public_suffixes().privatesuffix(host) is None


def fingerprint(url: str) -> int:
    """A 64-bit cryptographic hash of a canonical URL, so that collisions cannot be forged cheaply."""
    return int.from_bytes(_digest(url.encode()), "little")


def fingerprints(urls: Iterable[bytes]) -> npt.NDArray[np.uint64]:
    """The fingerprints of many URLs in UTF-8."""
    return np.frombuffer(b"".join(map(_digest, urls)), "<u8").astype(np.uint64, copy=False)


def _digest(url: bytes) -> bytes:
    return hashlib.blake2b(url, digest_size=8).digest()


def _canonical(url: str) -> str | None:
    try:
        return _crawlable(ada_url.normalize_url(_scalars(url)))
    except ValueError:
        return None


def _resolve_any(base: str, href: str) -> str | None:
    try:
        return _crawlable(ada_url.join_url(_scalars(base), _scalars(href)))
    except ValueError:
        return None


def encoded(text: str) -> bytes:
    """UTF-8 with lone surrogates, which strings may contain."""
    return text.encode("utf-8", "surrogatepass")


def _scalars(text: str) -> str:
    """The text with U+FFFD for lone surrogates, which no URL can contain."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _crawlable(serialised: str) -> str | None:
    """The canonical form of a WHATWG serialisation, if it is crawlable. Those of http and https always have a host."""
    if not serialised.startswith(_SCHEMES):
        return None
    url = without_user(serialised.partition("#")[0])
    return url if len(url) <= MAX_URL_BYTES else None


class _Origins(dict[str, str | None]):
    """Canonical origins by their spelling; cleared when there are too many."""

    def __missing__(self, written: str) -> str | None:
        if len(self) >= _CACHED_ORIGINS:
            self.clear()
        return self.setdefault(written, _canonical(written))


_origins = _Origins()


class _Directories(dict[str, str]):
    """The directories of a URL by the prefix of a reference: "/", "", "../", ... Filled on demand, because a URL may
    have a thousand directories."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._root = url.index("/", len("https://"))
        self["/"] = url[: self._root + 1]

    def __missing__(self, before: str) -> str:
        return self.setdefault(before, self._directory(before))

    def _directory(self, steps: str) -> str:
        end = len(self.url.partition("?")[0])
        for _ in range(len(steps) // len("../") + 1):
            # The root has no parent.
            end = max(self._root, self.url.rfind("/", self._root, end))
        return self.url[: end + 1]


@functools.lru_cache(_CACHED_BASES)
def _directories(base: str) -> _Directories | None:
    url = canonical(base)
    return None if url is None else _Directories(url)


@functools.cache
def _public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()
