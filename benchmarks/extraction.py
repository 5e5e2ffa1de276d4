"""Main text of pages: F1 on news with known text, recall on documentation, CPU time (two minutes).

News: the pages of Scrapinghub's article extraction benchmark in ../shared/suites/extraction, with its definition of F1.
A text is the multiset of its sequences of four words. Precision and recall of each page are those of its sequences; F1
is the harmonic mean of the mean precision and the mean recall over pages. Only the texts of every other page, by ID,
were looked at when rules were made (`1st half`). The scores of the others (`2nd half`) were seen whenever variants were
compared, so neither half is a test on unseen pages.

Documentation: pages of ../shared/data, from all over each collection; other pages of the same collections were used to
make the rules. What is to be found are the words in the element that the site's own template marks as content
(`CONTENT_OF`), scripts and navigation excluded: recall is the share of them that is in the text, precision the share of
the text that is among them, both by multiset and as means over pages.

Times are CPU milliseconds for each page, the minimum of three rounds; `text` finds and renders the text alone, `all`
adds Markdown, title, author, date, language and quality rules. trafilatura is measured beside them if it is installed.
"""

import gzip
import itertools
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import mean

import orjson
import turbohtml

from benchmarks import command_parser, target
from benchmarks.data import COLLECTIONS, collection
from scenthound.corpus.content_element import find_content, parse_page
from scenthound.corpus.main_text import extract
from scenthound.corpus.rendering import plain_text
from scenthound.files import opened
from scenthound.web.decode import decode_html

NEWS = COLLECTIONS.parent / "suites" / "extraction"
ROUNDS = 3
N_PAGES = 300
N_SHINGLEWORDS = 4
MINWORDS = 30
#: Selectors of the element with the content in the templates of each collection, the first that matches. Those of
#: debdocs are the ones of Sphinx, Javadoc and Doxygen; its other pages are left out.
CONTENT_OF = {
    "wpschools": ("#bodyContent", "#content"),
    "nlab": ("#revision",),
    "mdn": ("body",),
    "debdocs": ("div.body", "[role=main]", "main", "article", "div.contents", "div.contentContainer"),
}
_NOT_CONTENT = "script,style,noscript,template,nav,annotation,annotation-xml,[hidden]"
WORD = re.compile(r"\w+")

Extractor = Callable[[bytes, str], str]


def main(arguments: Sequence[str] | None = None) -> None:
    command_parser("extraction", __doc__).parse_args(arguments)
    if NEWS.is_dir():
        _print_news(load_news())
    else:
        print("  skipped: news pages not found at ../shared/suites/extraction")
    for name in CONTENT_OF:
        folder = collection(name)
        if folder is not None:
            _print_documentation(name, load_documentation(name, folder))


# Ways to extract


def default_text(html: bytes, url: str) -> str:
    """The text alone, without what else `extract` finds out."""
    source = decode_html(html)
    content = find_content(parse_page(source))
    return plain_text(content.element, len(source)) if content else ""


def extracted_text(html: bytes, url: str) -> str:
    return extract(html, url).text


def library_text(html: bytes, url: str) -> str:
    return turbohtml.parse(decode_html(html), positions=False).main_text()


def trafilatura_text(html: bytes, url: str) -> str:
    import trafilatura

    return trafilatura.extract(decode_html(html), url=url) or ""


def extractors() -> Iterator[tuple[str, Extractor]]:
    yield "turbohtml", library_text
    yield "default, text", default_text
    yield "default, all", extracted_text
    if find_spec("trafilatura") is None:
        print("  without trafilatura, which is not installed")
        return
    yield "trafilatura", trafilatura_text


# News


@dataclass(frozen=True, slots=True)
class NewsPage:
    html: bytes
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Overlap:
    """Sequences of words in both texts, only in the extracted one, and only in the true one; as shares of all."""

    both: float
    extracted: float
    true: float


def load_news() -> list[NewsPage]:
    """All pages, by ID."""
    truth = orjson.loads((NEWS / "ground-truth.json").read_bytes())
    return [
        NewsPage(gzip.decompress((NEWS / "html" / f"{page}.html.gz").read_bytes()), each["url"], each["articleBody"])
        for page, each in sorted(truth.items())
    ]


def overlap(extracted: str, true: str) -> Overlap:
    ours, theirs = shingles(extracted), shingles(true)
    counts = (ours & theirs).total(), (ours - theirs).total(), (theirs - ours).total()
    total = sum(counts) or 1
    return Overlap(*(count / total for count in counts))


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """The sequences of four words of a text; a shorter text is one sequence."""
    words = WORD.findall(text)
    n_shingles = max(1, len(words) - N_SHINGLEWORDS + 1)
    return Counter(tuple(words[start : start + N_SHINGLEWORDS]) for start in range(n_shingles) if words)


def f1(overlaps: Sequence[Overlap]) -> tuple[float, float, float]:
    """F1, precision and recall. A page without an extracted (true) text counts only in recall (precision)."""
    precision = mean(each.both / (each.both + each.extracted) for each in overlaps if each.both + each.extracted)
    recall = mean(each.both / (each.both + each.true) for each in overlaps if each.both + each.true)
    return 2 * precision * recall / (precision + recall), precision, recall


def _print_news(pages: list[NewsPage]) -> None:
    n_kb = mean(len(page.html) for page in pages) / 1000
    print(f"  news: {len(pages)} pages of {n_kb:.0f} KB on average")
    print(f"    {'':22}{'F1':>6}{'precision':>11}{'recall':>8}{'1st half':>10}{'2nd half':>10}{'ms':>7}")
    times_ms = {}
    for name, work in extractors():
        texts, times_ms[name] = timed(work, [(page.html, page.url) for page in pages])
        overlaps = [overlap(text, page.text) for text, page in zip(texts, pages, strict=True)]
        value, precision, recall = f1(overlaps)
        first, second = f1(overlaps[::2])[0], f1(overlaps[1::2])[0]
        print(
            f"    {name:22}{value:6.3f}{precision:11.3f}{recall:8.3f}{first:10.3f}{second:10.3f}{times_ms[name]:7.2f}"
            + _news_target(name, value, times_ms)
        )


def _news_target(name: str, value: float, times_ms: dict[str, float]) -> str:
    if name == "default, text":
        return "  " + target("F1 .925 at 1 ms", is_met=value >= 0.925 and times_ms[name] <= 1)
    if name == "with the extra, all":
        text_ms = times_ms["default, text"] + times_ms[name] - times_ms["default, all"]
        is_met = value >= 0.945 and text_ms <= 5
        return f"  {text_ms:.2f} ms for the text alone; " + target("F1 .945 at 5 ms", is_met=is_met)
    return ""


# Documentation


def load_documentation(name: str, folder: Path) -> list[tuple[bytes, str, Counter[str]]]:
    """HTML, URL and words of the content of some pages."""
    files = sorted(folder.glob("pages*.jsonl.zst"))
    step = max(1, sum(_n_rows(file) for file in files) // N_PAGES)
    pages = []
    for file in files:
        with opened(file) as source:
            # From the middle of each step: the first page of each was used to make the rules.
            for line in itertools.islice(source.content, step // 2, None, step):
                row = orjson.loads(line)
                words = _content_words(row["html"], CONTENT_OF[name])
                if words.total() >= MINWORDS and row.get("kind") != "index":
                    pages.append((row["html"].encode(), row["url"], words))
    return pages


def _n_rows(file: Path) -> int:
    with opened(file) as source:
        return sum(1 for _ in source.content)


def _content_words(html: str, selectors: Sequence[str]) -> Counter[str]:
    document = turbohtml.parse(html, positions=False)
    document.remove(_NOT_CONTENT)
    elements = next((found for selector in selectors if (found := document.select(selector))), [])
    return Counter(word for element in elements for word in WORD.findall(element.to_text()))


def _print_documentation(name: str, pages: list[tuple[bytes, str, Counter[str]]]) -> None:
    print(f"  {name}: {len(pages)} pages of {mean(len(html) for html, _, _ in pages) / 1000:.0f} KB on average")
    print(f"    {'':22}{'recall':>7}{'precision':>11}{'pages below .5':>16}{'ms':>7}")
    for extractor, work in extractors():
        texts, time_ms = timed(work, [(html, url) for html, url, _ in pages], rounds=1)
        found = [Counter(WORD.findall(text)) for text in texts]
        common = [(ours & words).total() for ours, (_, _, words) in zip(found, pages, strict=True)]
        recalls = [n_common / words.total() for n_common, (_, _, words) in zip(common, pages, strict=True)]
        precision = mean(n_common / max(1, ours.total()) for n_common, ours in zip(common, found, strict=True))
        below = mean(recall < 0.5 for recall in recalls)
        print(f"    {extractor:22}{mean(recalls):7.3f}{precision:11.3f}{below:16.1%}{time_ms:7.2f}")


def timed(work: Extractor, pages: Sequence[tuple[bytes, str]], rounds: int = ROUNDS) -> tuple[list[str], float]:
    """The texts of the pages, and CPU milliseconds for each page."""
    texts: list[str] = []
    times_s = []
    for _ in range(rounds):
        started_s = time.process_time()
        texts = [work(html, url) for html, url in pages]
        times_s.append(time.process_time() - started_s)
    return texts, 1e3 * min(times_s) / len(pages)


if __name__ == "__main__":
    main()
