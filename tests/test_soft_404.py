"""Soft 404s: error pages by wording and by example, and articles about errors."""

from pathlib import Path

import numpy as np
import pytest

from scenthound.text.tokenizer import WordScanner
from scenthound.web import soft_404
from scenthound.web.parse import parse_html
from scenthound.web.soft_404 import (
    EXAMPLES_PER_HOST,
    HINTS,
    MAX_WORDS,
    PARTS,
    PHRASES,
    Soft404s,
    error_fingerprint,
    is_soft_404,
)
from shared_pages import pages_where

REQUESTED = "http://a.example/products/17"


@pytest.mark.parametrize(
    "title",
    [
        "404",
        "404 Not Found",
        "Error 404 (Not Found)!!1",
        "Page not found | A Shop",
        "A Shop - Page Not Found",
        "Page Not Found (404)",
        "404 - File or directory not found.",
        "Oops! That page can\u2019t be found.",
        "Sorry, this page isn't available",
        "The page you requested was not found",
        "The page you are looking for could not be found",
        "Nothing Found",
        "Object not found!",
        "HTTP 404",
        "Fehler 404 - Seite nicht gefunden",
        "Seite nicht gefunden \u2013 Firma",
        "Page introuvable \u00b7 Boutique",
        "Cette page n'existe pas",
        "P\u00e1gina no encontrada",
        "P\u00e1gina n\u00e3o encontrada",
        "PAGINA NON TROVATA",
        "Pagina niet gevonden",
        "Nie znaleziono strony",
        "Sayfa bulunamad\u0131",
        "\u0421\u0442\u0440\u0430\u043d\u0438\u0446\u0430 \u043d\u0435 \u043d\u0430\u0439\u0434\u0435\u043d\u0430",
        "\u30da\u30fc\u30b8\u304c\u898b\u3064\u304b\u308a\u307e\u305b\u3093\u3067\u3057\u305f",
        "\u9875\u9762\u4e0d\u5b58\u5728_\u65b0\u95fb",
        "\ud398\uc774\uc9c0\ub97c \ucc3e\uc744 \uc218 \uc5c6\uc2b5\ub2c8\ub2e4",
    ],
)
def test_a_short_page_with_a_not_found_title_is_a_soft_404(title: str) -> None:
    assert is_soft_404(title, 60, REQUESTED)
    assert is_soft_404("A Shop", 60, REQUESTED, heading=title)
    assert not is_soft_404(title, MAX_WORDS + 1, REQUESTED)


@pytest.mark.parametrize(
    "title",
    [
        "",
        "A Shop",
        "Command not found",
        "Lost and found",
        "Not found: a history of lost films",
        "How to make a 404 page",
        "404 ways to cook potatoes",
        "Area code 404",
        "Peugeot 404",
        "Error",
        "The page",
        "A Shop | 404",
        "New pages found in Qumran",
    ],
)
def test_a_title_that_says_more_is_no_soft_404(title: str) -> None:
    assert not is_soft_404(title, 60, REQUESTED)


def test_a_page_whose_url_is_about_errors_is_no_soft_404() -> None:
    assert not is_soft_404("404 Not Found", 60, "https://a.example/docs/Web/HTTP/Status/404")
    assert not is_soft_404("Page not found", 60, "https://a.example/glossary/page-not-found")
    # The host name does not count.
    assert is_soft_404("Page not found", 60, "https://error404.example/shoes")


def test_documentation_about_http_has_no_soft_404s(shared: Path) -> None:
    pages = pages_where(
        shared / "data/mdn/pages.jsonl.zst", lambda url: "/HTTP/" in url or "404" in url or "Error" in url
    )
    scanner = WordScanner()
    parsed = {url: parse_html(html, url, scanner) for url, html in pages.items()}
    assert [url for url, page in parsed.items() if is_soft_404(page.title, len(page.words), url)] == []
    # These two are excluded by their URLs.
    said = {page.title for page in parsed.values() if is_soft_404(page.title, len(page.words), REQUESTED)}
    assert said == {"404 | MDN", "404 Not Found | MDN"}
    assert len(parsed) > 300


def test_every_ascii_phrase_contains_a_hint() -> None:
    assert [phrase for phrase in (*PHRASES, *PARTS) if phrase.isascii() and not HINTS.search(phrase)] == []
    assert all(phrase == phrase.strip() and phrase for phrase in (*PHRASES, *PARTS))


def error_page(scanner: WordScanner, path: str) -> np.ndarray:
    menu = " ".join(f"menu{number} entry{number}" for number in range(150))
    html = f"<title>Shop</title><p>{menu}</p><p>We looked for {path} everywhere, alas.</p>"
    return parse_html(html, "http://a.example/", scanner).words


def learn(known: Soft404s, host: str, fingerprint: int | None) -> None:
    assert fingerprint is not None
    known.learn(host, fingerprint)


def test_a_near_duplicate_of_an_error_page_of_the_host_is_a_soft_404() -> None:
    scanner, known = WordScanner(), Soft404s()
    assert not known.is_error_page("a", error_page(scanner, "/shoes"), REQUESTED)
    learn(known, "a", error_fingerprint(error_page(scanner, "/hats")))
    assert known.is_error_page("a", error_page(scanner, "/shoes"), REQUESTED)
    # Not on another host, not at the root, and not a page with content.
    assert not known.is_error_page("b", error_page(scanner, "/shoes"), REQUESTED)
    assert not known.is_error_page("a", error_page(scanner, "/shoes"), "http://a.example/")
    assert known.is_error_page("a", error_page(scanner, "/shoes"), "http://a.example/shoes/")
    article = parse_html(" ".join(f"word{number}" for number in range(300)), REQUESTED, scanner).words
    assert not known.is_error_page("a", article, REQUESTED)


def test_a_very_short_error_page_is_no_example() -> None:
    known = Soft404s()
    words = np.arange(1, 6, dtype=np.int32)
    assert error_fingerprint(words) is None
    assert not known.is_error_page("a", words, REQUESTED)
    assert known.needs_example("a")


def test_the_number_of_distinct_examples_per_host_is_limited() -> None:
    known = Soft404s()
    pages = [np.random.default_rng(seed).integers(1, 1_000, 80).astype(np.int32) for seed in range(6)]
    for _ in range(5):
        learn(known, "a", error_fingerprint(pages[0]))
    assert known.needs_example("a")
    for page in pages:
        learn(known, "a", error_fingerprint(page))
    assert not known.needs_example("a")
    assert [known.is_error_page("a", page, REQUESTED) for page in pages] == [False, False] + [True] * EXAMPLES_PER_HOST


def test_the_number_of_hosts_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soft_404, "MAX_HOSTS", 3)
    known = Soft404s()
    words = np.arange(1, 40, dtype=np.int32)
    for host in range(5):
        learn(known, str(host), error_fingerprint(words))
    assert [known.is_error_page(str(host), words, REQUESTED) for host in range(5)] == [False, False, True, True, True]
