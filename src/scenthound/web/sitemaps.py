"""Sitemaps: sitemaps.org XML files and indexes, plain text lists, RSS and Atom.

Rules
- Damaged files are read as far as possible. Tags are found by name, whatever their namespace; only their prefix must be
  that of the root, which distinguishes `loc` from `image:loc`. An XML parser would stop at the first bare ampersand,
  the most common error in such files, and could be made to expand or to fetch entities.
- URLs are canonical and unique, in the order of the file. Pages of other hosts are counted, but omitted.
- At most `READ_BYTES` of a file, decompressed if it is gzip, and `max_urls` URLs are read. Reading ends after twice as
  many references, or `MAX_TAGS` tags. A URL truncated by the end of the file is dropped, and so is a very long one.
- Time is linear in the length of the file: patterns are possessive ("*+") and never read past a character at which
  another match could start.
"""

import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from scenthound.files import GZIP_MAGIC
from scenthound.web.content_coding import decode_all
from scenthound.web.decode import decode_html
from scenthound.web.urls import host_of, resolve

#: The standard's 50,000 URLs take about 10 MB.
READ_BYTES = 10 * 1024 * 1024
MAX_URLS = 50_000
#: Ten for each URL, because entries may list many languages.
MAX_TAGS = 500_000
#: Longer than any crawlable URL, with its entities.
MAX_URL_CHARACTERS = 4_000
_ROOT_WITHIN = 100_000

_ROOT = re.compile(r"<(?:([A-Za-z_][\w.-]{0,50}):)?(urlset|sitemapindex|rss|feed|RDF)(?=[\s>])", re.IGNORECASE)
_TAG = re.compile(
    r"<(?:([A-Za-z_][\w.-]{0,50}):)?(loc|url|sitemap|link)(?=[\s>/])([^<>]*+)>\s*+"
    r"(?:<!\[CDATA\[)?+([^<>\]]*+)(?=[<\]])",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""\b(href|rel)\s{0,9}=\s{0,9}["']([^"'<>]*)["']""", re.IGNORECASE)
_LINE = re.compile(r"(?:\A|[\r\n])[^\S\r\n]*+(https?://\S[^\r\n]*+)", re.IGNORECASE)
# The entities of XML only: `&copy=1` is none.
_ENTITY = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#x([0-9A-Fa-f]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_FEEDS = frozenset({"rss", "feed", "rdf"})
_URL = re.compile(r"https?://\S", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The URLs of pages and of further sitemaps in a file. `n_elsewhere` counts references to pages of other hosts."""

    urls: tuple[str, ...]
    sitemaps: tuple[str, ...]
    n_elsewhere: int = 0


def read_sitemap(body: bytes, url: str, max_urls: int = MAX_URLS, host: str = "") -> Sitemap:
    """Read the file at `url`. Only pages of `host` are kept, by default the host of the file: a robots.txt may name
    sitemaps on other hosts. Further sitemaps may be on any host."""
    kept = {True: dict[str, None](), False: dict[str, None]()}
    n_elsewhere = 0
    owner = host or host_of(url)
    for is_sitemap, reference in islice(_references(_text(body)), 2 * max_urls):
        if len(kept[True]) + len(kept[False]) >= max_urls:
            break
        listed = _resolve(url, reference.strip())
        if listed is None:
            continue
        if is_sitemap or host_of(listed) == owner:
            kept[is_sitemap][listed] = None
        else:
            n_elsewhere += 1
    return Sitemap(tuple(kept[False]), tuple(kept[True]), n_elsewhere)


def _resolve(base: str, reference: str) -> str | None:
    if len(reference) > MAX_URL_CHARACTERS:
        return None
    return resolve(base, _ENTITY.sub(_character, reference) if "&" in reference else reference)


def _character(entity: re.Match[str]) -> str:
    name, decimal, hexadecimal = entity.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if code <= sys.maxunicode else entity[0]


def _text(body: bytes) -> str:
    if body.startswith(GZIP_MAGIC):
        # As far as it is valid.
        body = decode_all(body, ("gzip",), READ_BYTES, math.inf).content
    return decode_html(body[:READ_BYTES])


def _references(text: str) -> Iterator[tuple[bool, str]]:
    """(is a sitemap, reference as written) of everything that a file lists."""
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):
        return ((False, line[1]) for line in _LINE.finditer(text.lstrip("\ufeff")))
    text = _without_comments(text)
    root = _ROOT.search(text, 0, _ROOT_WITHIN)
    prefix, kind = (root[1], root[2].lower()) if root else (None, "urlset")
    return _feed_links(text) if kind in _FEEDS else _locations(text, prefix, kind == "sitemapindex")


def _locations(text: str, prefix: str | None, in_sitemap: bool) -> Iterator[tuple[bool, str]]:
    for tag in islice(_TAG.finditer(text), MAX_TAGS):
        name = tag[2].lower()
        if tag[1] != prefix or name == "link":
            continue
        if name != "loc":
            in_sitemap = name == "sitemap"
        # Some files have the URL in the entry itself, without loc.
        if _URL.match(tag[4].strip()) or (name == "loc" and tag[4].strip()):
            yield in_sitemap, tag[4]


def _feed_links(text: str) -> Iterator[tuple[bool, str]]:
    for tag in islice(_TAG.finditer(text), MAX_TAGS):
        if tag[1] is None and tag[2].lower() == "link":
            attributes = {name.lower(): value for name, value in _ATTRIBUTE.findall(tag[3])}
            reference: str = attributes.get("href") or tag[4]
            if reference.strip() and attributes.get("rel", "alternate").lower() == "alternate":
                yield False, reference


def _without_comments(text: str) -> str:
    """The text without comments; an unclosed one extends to the end."""
    parts = []
    end = 0
    while (start := text.find("<!--", end)) >= 0:
        parts.append(text[end:start])
        close = text.find("-->", start + 4)
        end = close + 3 if close >= 0 else len(text)
    return "".join((*parts, text[end:]))
