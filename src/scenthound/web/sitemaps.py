"""The addresses that a site lists of itself: sitemaps.org XML and indexes, plain lists, RSS and Atom.

Rules
- Broken files give what can be read. So tags are looked for by name, whatever the namespace says; only their prefix has
  to be that of the root, which tells `loc` from `image:loc`. No XML parser is asked: it would stop at the first bare
  ampersand, the most common fault of such files, and could be made to expand or to fetch entities.
- Addresses are canonical, each once, in the order of the file; those of other hosts are left out.
- Of a file, unpacked if it is gzip, the first `READ_BYTES` count, and `most` addresses; it is given up when twice as
  many were looked at, or `MOST_TAGS`. An address that the end of the file cuts is no address, nor is a very long one.
- Time grows with the length of the file and no faster, whatever is in it: a pattern never gives back what it has read
  ("*+"), and never reads past a sign that another attempt could begin with.
"""

import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from scenthound.files import GZIP_BEGINNING
from scenthound.web.decode import decode_html
from scenthound.web.urls import host_of, resolve

#: The standard's 50,000 addresses take about 10 MB.
READ_BYTES = 10 * 1024 * 1024
MOST_ADDRESSES = 50_000
#: Ten for each address: entries of many languages name them all.
MOST_TAGS = 500_000
#: No page is crawled at a longer one, with room for its entities.
LONGEST_ADDRESS = 4_000
_ROOT_WITHIN = 100_000
#: Of a gzip file: each costs a copy of all that follow.
_MOST_MEMBERS = 100

_ROOT = re.compile(r"<(?:([A-Za-z_][\w.-]{0,50}):)?(urlset|sitemapindex|rss|feed|RDF)(?=[\s>])", re.IGNORECASE)
_TAG = re.compile(
    r"<(?:([A-Za-z_][\w.-]{0,50}):)?(loc|url|sitemap|link)(?=[\s>/])([^<>]*+)>\s*+"
    r"(?:<!\[CDATA\[)?+([^<>\]]*+)(?=[<\]])",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""\b(href|rel)\s{0,9}=\s{0,9}["']([^"'<>]*)["']""", re.IGNORECASE)
_LINE = re.compile(r"(?:\A|[\r\n])[^\S\r\n]*+(https?://\S[^\r\n]*+)", re.IGNORECASE)
# Those of XML, and no others: a bare ampersand before `copy=1` is none.
_ENTITY = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#x([0-9A-Fa-f]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_FEEDS = frozenset({"rss", "feed", "rdf"})
_ADDRESS = re.compile(r"https?://\S", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What a file lists: `urls` of pages, and further `sitemaps` to read."""

    urls: tuple[str, ...]
    sitemaps: tuple[str, ...]


def read_sitemap(body: bytes, url: str, most: int = MOST_ADDRESSES, host: str | None = None) -> Sitemap:
    """Read the file at `url`. `host` is whose addresses to keep, if it is another than the file's own: robots.txt may
    name sitemaps that lie elsewhere."""
    kept = {True: dict[str, None](), False: dict[str, None]()}
    owner = host or host_of(url)
    for is_sitemap, reference in islice(_listed(_text(body)), 2 * most):
        if len(kept[True]) + len(kept[False]) >= most:
            break
        address = _address(url, reference.strip())
        if address is not None and host_of(address) == owner:
            kept[is_sitemap][address] = None
    return Sitemap(tuple(kept[False]), tuple(kept[True]))


def _address(base: str, reference: str) -> str | None:
    if len(reference) > LONGEST_ADDRESS:
        return None
    return resolve(base, _ENTITY.sub(_sign, reference) if "&" in reference else reference)


def _sign(entity: re.Match[str]) -> str:
    name, decimal, hexadecimal = entity.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if code <= sys.maxunicode else entity[0]


def _text(body: bytes) -> str:
    if body.startswith(GZIP_BEGINNING):
        body = _unpacked(body)
    return decode_html(body[:READ_BYTES])


def _unpacked(body: bytes) -> bytes:
    """The beginning of what is packed, as far as it is whole."""
    content = b""
    for _ in range(_MOST_MEMBERS):
        if not body.startswith(GZIP_BEGINNING) or len(content) >= READ_BYTES:
            break
        unpacker = zlib.decompressobj(wbits=31)
        try:
            content += unpacker.decompress(body, READ_BYTES - len(content))
        except zlib.error:
            break
        body = unpacker.unused_data
    return content


def _listed(text: str) -> Iterator[tuple[bool, str]]:
    """Whether it is a sitemap, and the reference as written, of all that a file lists."""
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):
        return ((False, line[1]) for line in _LINE.finditer(text.lstrip("\ufeff")))
    text = _without_comments(text)
    root = _ROOT.search(text, 0, _ROOT_WITHIN)
    prefix, kind = (root[1], root[2].lower()) if root else (None, "urlset")
    return _linked(text) if kind in _FEEDS else _located(text, prefix, kind == "sitemapindex")


def _located(text: str, prefix: str | None, in_sitemap: bool) -> Iterator[tuple[bool, str]]:
    for tag in islice(_TAG.finditer(text), MOST_TAGS):
        name = tag[2].lower()
        if tag[1] != prefix or name == "link":
            continue
        if name != "loc":
            in_sitemap = name == "sitemap"
        # Some write the address into the entry itself and leave out its loc.
        if _ADDRESS.match(tag[4].strip()) or (name == "loc" and tag[4].strip()):
            yield in_sitemap, tag[4]


def _linked(text: str) -> Iterator[tuple[bool, str]]:
    for tag in islice(_TAG.finditer(text), MOST_TAGS):
        if tag[1] is None and tag[2].lower() == "link":
            attributes = {name.lower(): value for name, value in _ATTRIBUTE.findall(tag[3])}
            reference: str = attributes.get("href") or tag[4]
            if reference.strip() and attributes.get("rel", "alternate").lower() == "alternate":
                yield False, reference


def _without_comments(text: str) -> str:
    """The text without its comments, and without the rest if one does not end."""
    parts = []
    end = 0
    while (start := text.find("<!--", end)) >= 0:
        parts.append(text[end:start])
        close = text.find("-->", start + 4)
        end = close + 3 if close >= 0 else len(text)
    return "".join((*parts, text[end:]))
