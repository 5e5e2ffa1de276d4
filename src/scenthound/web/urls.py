"""URLs: canonical form, resolution, hosts, domains, fingerprints.

The canonical form is the WHATWG serialisation without fragment, user name and password. A page must not choose
credentials that are sent to others, and URLs that differ by them are one page. Nothing else that a server could see is
changed: no slash is stripped, no percent-encoding rewritten; an empty query stays. A URL is crawlable if it is http or
https, has a host, and at most `MAX_URL_BYTES`. Functions return None for other URLs and never raise.
"""

import functools
import hashlib
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

import can_ada
import numpy as np
import numpy.typing as npt
from publicsuffixlist import PublicSuffixList

from scenthound.frontier.url_table import NEW, NO_TARGET
from scenthound.native import _native
from scenthound.web.addresses import is_address

#: A long-standing limit of browsers and servers; longer URLs are traps or data.
MAX_URL_BYTES = 2_083

_SCHEMES = ("http://", "https://")
#: What the standard strips from both ends of a reference: controls and spaces.
_STRIPPED = "".join(map(chr, range(0x21)))
#: A table that knows no URL.
_NO_URLS = _native.UrlTable(0)
_CACHED_HOSTS = 1_024
_CACHED_DOMAINS = 65_536


def canonical(url: str) -> str | None:
    """The canonical form of an absolute URL, or None if it is not crawlable."""
    try:
        return _crawlable(can_ada.parse(_scalars(url)).href)
    except ValueError:
        return _with_ascii_host("http://h/", url) if url.lower().startswith(_SCHEMES) else None


def resolve(base: str, href: str) -> str | None:
    """The canonical URL of a reference on the page at `base`, or None if it is not crawlable."""
    if href.strip(_STRIPPED)[:1] in ("", "#"):
        return canonical(base)  # The library drops an empty query of the base.
    try:
        return _crawlable((can_ada.parse(_scalars(base)) + _scalars(href)).href)
    except ValueError:
        url = canonical(base)
        return None if url is None else _with_ascii_host(url, href)


def _with_ascii_host(base: str, href: str) -> str | None:
    """The URL of a reference that the library rejects. It is older than two rules of the standard: names in ASCII need
    not be valid Punycode, and "^" is encoded in paths."""
    text = encoded(href)
    _, url, _ = _NO_URLS.resolve_texts(base.encode(), text, np.array([len(text)], np.uint32))
    return url.decode("ascii") or None


def resolve_all(base: str, references: Sequence[str]) -> list[str | None]:
    """`resolve` for each reference of a page."""
    url = canonical(base) if references else None
    if url is None:
        return [resolve(base, reference) for reference in references]
    texts = list(map(encoded, references))
    ends = np.fromiter(accumulate(map(len, texts)), np.uint32, len(texts))
    marks, urls, url_ends = _NO_URLS.resolve_texts(url.encode(), b"".join(texts), ends)
    text, url_bounds = urls.decode("ascii"), pairwise([0, *memoryview(url_ends).cast("I")])
    resolved = list[str | None]()
    for reference, mark in zip(references, memoryview(marks).cast("i"), strict=True):
        if mark == NEW:
            resolved.append(text[slice(*next(url_bounds))])
        else:
            resolved.append(None if mark == NO_TARGET else resolve(url, reference))
    return resolved


def has_user(url: str) -> bool:
    """Whether an absolute URL has a user name or a password."""
    try:
        parts = can_ada.parse(_scalars(url))
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
    before_query, mark, query = without_user(serialised.partition("#")[0]).partition("?")
    url = before_query.replace("^", "%5E") + mark + query
    return url if len(url) <= MAX_URL_BYTES else None


@functools.cache
def _public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()
