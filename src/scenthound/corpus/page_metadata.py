"""What a page says about itself: title, author, when it was published, and whether it is an article.

The publication date is turbohtml's (`turbohtml.extract.dates`), in its order of signals: URL, meta elements, JSON-LD,
time elements. What a page says about its last change is read only if it does not say when it was published. The library
is given these elements alone, which saves parsing the page twice.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from html import escape
from itertools import islice
from typing import Any

from turbohtml import Document, Element
from turbohtml.extract import DateExtraction, dates

from scenthound.corpus.rendering import tidied

_MAX_ELEMENTS = 300
_MAX_CHARACTERS = 200_000
_MAX_TITLE_CHARACTERS = 2_000
_MAX_AUTHOR_CHARACTERS = 300
#: Names of meta elements with dates, and of elements with dates of changes.
_DATED = re.compile(r"date|time|publ|creat|issu|modif|revis|release|posted", re.IGNORECASE)
_CHANGED = re.compile(r"modif|updat|revis", re.IGNORECASE)
_OF_PUBLICATION = "datePublished", "dateCreated", "uploadDate"
_AUTHOR_NAMES = "author", "article:author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author"


def read_metadata(document: Document, url: str, latest: date | None) -> dict[str, Any]:
    """What a page says about itself, by field of its `MainText`. Dates after `latest` are ignored. `published_from` is
    the signal: `url`, `meta`, `json-ld` or `time`; with `-modified` after it, of the last change."""
    metas = document.select("meta[content]")[:_MAX_ELEMENTS]
    by_name = _by_name(metas)
    # Most pages with JSON-LD are articles; parsing it takes longer than all the rest.
    scripts = document.select('script[type="application/ld+json"]')[:_MAX_ELEMENTS]
    objects = list(_objects(document.json_ld())) if scripts else []
    candidates = (" ".join(each.split()) for each in _authors(document, by_name, objects))
    names = (each for each in candidates if each and not each.startswith(("http:", "https:")))
    author = next((each for each in names if len(each) <= _MAX_AUTHOR_CHARACTERS), None)
    published, published_from = _published(document, url, metas, scripts, latest) or (None, None)
    return {
        "title": tidied(_title(document, by_name)),
        "author": author and tidied(author),
        "published": published,
        "published_from": published_from,
    }


def _by_name(metas: Iterable[Element]) -> dict[str, str]:
    """Contents of meta elements by name or property, in lower case. The first of a name counts."""
    by_name: dict[str, str] = {}
    for meta in metas:
        content = " ".join((meta.attr("content") or "").split())
        for name in (meta.attr("name"), meta.attr("property")):
            if name and content:
                by_name.setdefault(name.lower(), content)
    return by_name


def _title(document: Document, by_name: Mapping[str, str]) -> str:
    for selector in ("title", "h1"):
        for element in document.select(selector)[:_MAX_ELEMENTS]:
            if title := " ".join(element.text.split()):
                return title[:_MAX_TITLE_CHARACTERS]
        if title := by_name.get("og:title", ""):
            return title[:_MAX_TITLE_CHARACTERS]
    return ""


# Author


def _authors(document: Document, by_name: Mapping[str, str], objects: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What may be the author, the most reliable first."""
    for each in objects:
        if "author" in each:
            yield ", ".join(_names(each["author"]))
    for name in _AUTHOR_NAMES:
        yield by_name.get(name, "")
    for selector in ("[itemprop=author] [itemprop=name]", "[itemprop=author]", "a[rel=author]"):
        if (element := document.select_one(selector)) is not None:
            yield element.attr("content") or element.text


def _names(author: Any) -> Iterator[str]:
    for each in islice(author, 20) if isinstance(author, list) else (author,):
        name = each.get("name") if isinstance(each, dict) else each
        if isinstance(name, str) and name.strip():
            yield name


def _objects(json_ld: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """The objects of a page's JSON-LD: of each script, of its array, and of its graph."""
    for value in islice(json_ld, _MAX_ELEMENTS):
        for each in islice(value, _MAX_ELEMENTS) if isinstance(value, list) else (value,):
            if isinstance(each, dict):
                yield each
                graph = each.get("@graph")
                if isinstance(graph, list):
                    yield from (node for node in islice(graph, _MAX_ELEMENTS) if isinstance(node, dict))


# Dates


def _published(
    document: Document, url: str, metas: Sequence[Element], scripts: Sequence[Element], latest: date | None
) -> tuple[str, str] | None:
    original, changed = _dated_elements(document, url, metas, scripts)
    options = DateExtraction(original=True, extensive_search=False, max_date=latest or date.max)
    if (found := dates(original, options)) is not None:
        return found.date, found.signal
    if changed and (found := dates(changed, options)) is not None:
        return found.date, f"{found.signal}-modified"
    return None


def _dated_elements(
    document: Document, url: str, metas: Sequence[Element], scripts: Sequence[Element]
) -> tuple[str, str]:
    """HTML of the elements that say when a page was published, and of those that say when it was changed."""
    original: list[str] = []
    changed: list[str] = []
    canonical = document.select_one('link[rel="canonical"]')
    address = (canonical.attr("href") if canonical is not None else None) or url
    original.append(f'<link rel="canonical" href="{escape(address[:_MAX_TITLE_CHARACTERS])}">')
    for meta in metas:
        names = f"{meta.attr('name')} {meta.attr('property')} {meta.attr('itemprop')}"
        if _DATED.search(names):
            (changed if _CHANGED.search(names) else original).append(meta.html)
    for script in scripts:
        text = script.text
        (original if any(name in text for name in _OF_PUBLICATION) else changed).append(script.html)
    for time in document.select("time,abbr[title]")[:_MAX_ELEMENTS]:
        is_changed = _CHANGED.search(f"{time.attr('itemprop')} {time.attr('class')}")
        (changed if is_changed else original).append(time.html)
    return "".join(original)[:_MAX_CHARACTERS], "".join(changed)[:_MAX_CHARACTERS]
