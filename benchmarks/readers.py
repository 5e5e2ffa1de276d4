"""HTML readers on real pages: CPU time of the extension beside turbohtml, selectolax and lxml (half a minute).

Readers do the same as far as their libraries go: parse a page, take its text, and list its links. The extension also
says where links are in the text. Words and links are measured separately: splitting, stemming and numbering the words,
first with an empty vocabulary and then with all of them known; resolving all references and finding them in a table
that knows them. selectolax and lxml are measured if they are installed (`pip install selectolax lxml`).
"""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import orjson
import turbohtml

from benchmarks import command_parser
from benchmarks.data import collection
from scenthound.files import opened
from scenthound.frontier.url_table import UrlTable
from scenthound.native import _native
from scenthound.text.tokenizer import WordScanner
from scenthound.web.html import read_html
from scenthound.web.parse import MAX_LINKS
from scenthound.web.urls import canonical

COLLECTIONS = "wpschools", "nlab", "mdn", "debdocs"
N_PAGES = 300
#: Pages are taken from all over the first file of a collection.
EVERY = 10
ROUNDS = 3


def main(arguments: Sequence[str] | None = None) -> None:
    command_parser("readers", __doc__).parse_args(arguments)
    print("  CPU microseconds for each KB of HTML")
    for name in COLLECTIONS:
        folder = collection(name)
        if folder is not None:
            _print_collection(name, _pages(folder))


def _pages(folder: Path) -> list[tuple[str, bytes]]:
    """URLs and HTML of some pages."""
    with opened(min(folder.glob("pages*.jsonl.zst"))) as source:
        rows = map(orjson.loads, itertools.islice(source.content, 0, EVERY * N_PAGES, EVERY))
        return [(canonical(row["url"]) or row["url"], row["html"].encode()) for row in rows if row["html"]]


def _print_collection(name: str, pages: list[tuple[str, bytes]]) -> None:
    n_kb = sum(len(html) for _, html in pages) / 1000
    print(f"  {name}: {len(pages)} pages of {n_kb / len(pages):.0f} KB on average")
    bodies = [html for _, html in pages]
    readers = {reader: _fastest(work, bodies) / n_kb for reader, work in _readers()}
    print("    " + ", ".join(f"{reader} {us:.1f}" for reader, us in readers.items()))
    cold_us, warm_us, links_us = _words_and_links(pages)
    print(
        f"    of the extension: words {warm_us / n_kb:.1f}, {cold_us / n_kb:.1f} with a new vocabulary; "
        f"links {links_us / n_kb:.1f}"
    )


def _readers() -> Iterator[tuple[str, Callable[[bytes], object]]]:
    yield "extension", lambda html: _native.read_html(html, MAX_LINKS)
    yield "turbohtml", _read_with_turbohtml
    for name, read in (("selectolax", _read_with_selectolax), ("lxml", _read_with_lxml)):
        if find_spec(name) is not None:
            yield name, read
        else:
            print(f"    without {name}, which is not installed")


def _read_with_turbohtml(html: bytes) -> object:
    document = turbohtml.parse(html.decode(), positions=False)
    return document.to_text(), [link.attr("href") for link in document.select("a[href]")]


def _read_with_selectolax(html: bytes) -> object:
    from selectolax.lexbor import LexborHTMLParser

    document = LexborHTMLParser(html)
    links = [link.attributes.get("href") for link in document.css("a[href]")]
    return document.text(separator=" "), links


def _read_with_lxml(html: bytes) -> object:
    import lxml.html

    document = lxml.html.document_fromstring(html.decode().encode("ascii", "xmlcharrefreplace"))
    return document.text_content(), document.xpath("//a/@href")


def _words_and_links(pages: list[tuple[str, bytes]]) -> tuple[float, float, float]:
    read = [(url, read_html(html, MAX_LINKS)) for url, html in pages]
    texts = [(page.text, page.edges) for _, page in read]
    references = [(url.encode(), page.references.text, page.references.ends) for url, page in read]
    scanner, table = WordScanner(), UrlTable()
    cold_us = _once(lambda text: scanner.scan_utf_8(*text), texts)
    for each in references:
        table.add_found(table.resolve(*each))
    return (
        cold_us,
        _fastest(lambda text: scanner.scan_utf_8(*text), texts),
        _fastest(lambda each: table.resolve(*each), references),
    )


def _fastest(work: Callable[..., object], items: Sequence[object]) -> float:
    return min(_once(work, items) for _ in range(ROUNDS))


def _once(work: Callable[..., object], items: Sequence[object]) -> float:
    """Microseconds of CPU time for all items."""
    before = time.process_time()
    for item in items:
        work(item)
    return 1e6 * (time.process_time() - before)


if __name__ == "__main__":
    main()
