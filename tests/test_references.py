"""References resolved in bulk have the URLs that the library gives them one by one."""

import json
import re
from html import unescape
from itertools import islice

import ada_url
import numpy as np
import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scenthound.files import opened
from scenthound.frontier.url_table import NEW, NO_TARGET, UNUSUAL, UrlTable
from scenthound.web.references import References, resolve_links
from scenthound.web.urls import MAX_URL_BYTES, canonical, encoded, resolve, resolve_all
from timing import cpu_cost_s

BASES = [
    "http://h/",
    "https://h.example/a/b/c.html",
    "http://h:81/a//b?x=/y/z",
    "http://1.2.3.4/a/b/?",
    "https://xn--bcher-kva.example/a/b",
]


def by_library(base: str, reference: str) -> str | None:
    """The canonical URL, by the library alone."""
    text = reference.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    try:
        url = ada_url.URL(text, base)
    except ValueError:
        return None
    if url.protocol not in ("http:", "https:"):
        return None
    form = f"{url.protocol}//{url.host}{url.pathname}"
    query = url.href.partition("#")[0].partition("?")
    form += query[1] + query[2]
    return form if len(form) <= MAX_URL_BYTES else None


def natively(base: str, references: list[str]) -> list[str | int | None]:
    """The URL of each reference, None, or `UNUSUAL`."""
    texts = References.of(map(encoded, references))
    found = UrlTable().resolve(base.encode(), texts.text, texts.ends)
    urls = iter(found.new)
    results = [
        next(urls) if kind == NEW else {NO_TARGET: None, UNUSUAL: UNUSUAL}[kind] for kind in found.numbers.tolist()
    ]
    assert next(urls, None) is None
    return results


def n_unusual(base: str, references: list[str]) -> int:
    """How many are unusual, after all others were compared."""
    n = 0
    for reference, url in zip(references, natively(base, references), strict=True):
        if url == UNUSUAL:
            n += 1
        else:
            assert url == by_library(base, reference), (base, reference)
    return n


def test_references_of_the_url_standard(shared):
    files = [shared / "suites" / "url" / f"urltestdata{name}.json" for name in ("", "-javascript-only")]
    if not all(file.exists() for file in files):
        pytest.skip("the test suite of the URL standard was not found at ../shared/suites/url")
    cases = [case for file in files for case in json.loads(file.read_text("utf-8")) if isinstance(case, dict)]
    bases = {canonical(case["base"]) for case in cases if case.get("base")} - {None}
    references = [case["input"] for case in cases]
    assert len(references) > 800
    for base in [*BASES, *sorted(bases)]:
        # Most cases are about unusual hosts.
        assert n_unusual(base, references) < 0.3 * len(references)


@pytest.mark.parametrize(
    "form",
    ["a{}b", "?a{}b", "/{}", "{}", "//h{}x/", "http://h:8{}0/", "#{}", ".{}", "..{}/", "%2e{}", "http:{}x", "{}:x"],
)
def test_every_character_in_every_part(form):
    characters = [*map(chr, range(0x180)), "\u2028", "\ud800", "\udfff", "\uffff", "\U0001f600"]
    references = [form.format(character) for character in characters]
    for base in BASES:
        n_unusual(base, references)


PARTS = (
    *("http:", "https:", "HTTP:", "ftp:", "mailto:", "x:", "/", "//", "\\", "..", ".", "%2e", "%2E", "%2f", "a", "B.c"),
    *("h.org", "h", "h.example", "1.2.3.4", "0x1", "255.1", "999", "xn--a", "\u00e9", "\ud800", "\U0001f600"),
    *(":", "80", ":80", ":443", ":081", ":65536", ":81", "@", "u:p@", "?", "#", "'", '"', "<", "^", "`", "{", "|", " "),
    *("\t", "\n", "\x00", "\x1f", "\x7f", "%", "%zz", "[", "]", "_", "-", "~", "a-b", "&", "=", "+", ";", "../../"),
)
references = st.lists(st.sampled_from(PARTS), max_size=9).map("".join)


@given(st.sampled_from(BASES), st.lists(references | st.text(max_size=8), max_size=8))
@example("https://h/a", ["http:", "http:b", "https:b", "https:", "https:\\\\b", "//", "///b", "http://@/", "//u@"])
def test_any_references(base, written):
    n_unusual(base, written)
    assert resolve_all(base, written) == [by_library(base, reference) for reference in written]


@pytest.mark.parametrize("name", ["wpschools", "nlab", "mdn", "debdocs"])
def test_references_of_real_pages(shared, name):
    files = sorted((shared / "data" / name).glob("pages*.jsonl.zst"))
    if not files:
        pytest.skip(f"the collection {name} was not found at ../shared/data")
    href = re.compile(r"""\bhref\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)""", re.IGNORECASE)
    n = unusual = 0
    with opened(files[0]) as lines:
        for line in islice(lines.content, 0, 2_000, 20):
            page = orjson.loads(line)
            written = [unescape(value.strip("\"'")) for value in href.findall(page["html"])]
            unusual += n_unusual(canonical(page["url"]), written)
            n += len(written)
    assert n > 500
    assert unusual < 0.005 * n


# With a table

WRITTEN = {
    "x": "http://h/a/x",
    "mailto:me@h": None,
    "//b\u00fccher.example/y": "http://xn--bcher-kva.example/y",
    "http://[::1]/z": "http://[::1]/z",
    "http://exa mple/": None,
    "../x": "http://h/x",
    "./x": "http://h/a/x",
}


def found(table, written):
    return resolve_links("http://h/a/b", References.of(map(encoded, written)), table)


def test_known_urls_are_numbers_and_duplicates_get_one():
    table = UrlTable()
    table.add_all(["http://h/a/b", "http://h/x", "http://[::1]/z"])
    expected = [url for url in WRITTEN.values() if url is not None]
    links, has_target = found(table, WRITTEN)
    assert links.numbers.tolist() == [NEW, NEW, 2, 1, NEW]
    assert links.numbers.dtype == np.int32
    assert list(links.new) == ["http://h/a/x", "http://xn--bcher-kva.example/y", "http://h/a/x"]
    assert has_target.tolist() == [url is not None for url in WRITTEN.values()]
    assert len(table) == 3
    numbers = table.add_found(links)
    assert numbers.tolist() == [3, 4, 2, 1, 3]
    assert [table.url(number) for number in numbers] == expected
    again, _ = found(table, WRITTEN)
    assert (again.numbers.tolist(), list(again.new)) == (numbers.tolist(), [])


@given(st.sampled_from(BASES), st.lists(st.lists(references, max_size=40), max_size=3))
def test_a_table_gives_the_urls_of_any_references(base, pages):
    table = UrlTable()
    for written in pages:
        links, _ = resolve_links(base, References.of(map(encoded, written)), table)
        urls = table.urls(0, len(table))
        new = iter(links.new)
        seen = [next(new) if number == NEW else urls[number] for number in links.numbers]
        assert seen == [url for url in (by_library(base, reference) for reference in written) if url is not None]
        assert not set(links.new) & set(urls)
        table.add_found(links)


@pytest.mark.parametrize("text", [b"\xff", b"a\xc3", b"/\xed\xa0\x80", b"?\xf5\x80\x80\x80", b"\xc0\xaf"])
def test_invalid_utf_8_is_resolved_as_text_with_replacements(text):
    url = found_url = None
    links, _ = resolve_links("http://h/a/b", References.of([text]), UrlTable())
    [found_url] = links.new
    try:
        url = resolve("http://h/a/b", text.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        url = resolve("http://h/a/b", text.decode("utf-8", "replace"))
    assert found_url == url


# Hostile input


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("../" * 100_000 + "x", "http://h/x"),
        ("a/../" * 100_000 + "x", "http://h/a/b/x"),
        ("a/%2e%2E/" * 100_000 + "x", "http://h/a/b/x"),
        ("./" * 100_000, "http://h/a/b/"),
        ("x" * 1_000_000 + "/../y", "http://h/a/b/y"),
        ("#" + "x" * 1_000_000, "http://h/a/b/c"),
        ("\t\n" * 500_000 + "x", "http://h/a/b/x"),
        ("x\t" * 1_000, "http://h/a/b/" + "x" * 1_000),
        ("//" + "u" * 1_000_000 + "@h2/", "http://h2/"),
        ("//" + "@" * 1_000_000 + "h2", "http://h2/"),
        ("//h2:" + "0" * 1_000_000 + "80/", "http://h2/"),
        ("//h2:" + "9" * 1_000_000, None),
        ("/" * 1_000_000 + "h2/x", "http://h2/x"),
        ("x" * 1_000_000, None),
        ("?" + "\u00e9" * 500_000, None),
        ("a:" * 500_000, None),
    ],
)
def test_long_references_are_resolved(reference, url):
    assert natively("http://h/a/b/c", [reference]) == [url]


@pytest.mark.parametrize(
    "part", ["../", "a/../", "%2e%2e/a/", "\t", "@", "\u00e9", "#", "/", "\\", ":", "a", " ", "?", "//a@", "%2"]
)
def test_time_is_linear_in_the_length(part):
    text = encoded(f"x{part * 1_000_000}")
    table, ends = UrlTable(), np.array([len(text)], np.uint32)
    # Quadratic time would be minutes.
    assert cpu_cost_s(lambda: table.resolve(b"http://h/a/b/c", text, ends), 0.1) < 1.0


def test_urls_of_the_greatest_length():
    base = "http://a.b/"
    longest = MAX_URL_BYTES - len(base)
    written = [
        "x" * longest,
        "x" * (longest + 1),
        "\u00e9" * (longest // 6),
        "?" + " " * longest,
        "x" * longest + "/..",
    ]
    assert n_unusual(base, written) == 0
    assert natively(base, written)[:2] == [base + "x" * longest, None]


@pytest.mark.parametrize(
    "base", ["", "http://", "http:///x", "http://h", "ftp://h/", "https:/h/x", f"http://h/{'x' * 3000}"]
)
def test_a_base_that_is_not_canonical_is_rejected(base):
    with pytest.raises(ValueError, match="canonical"):
        natively(base, ["x"])


@pytest.mark.parametrize("ends", [[2], [1, 0], [1 << 31], [0, 4_000_000_000]])
def test_ends_beyond_the_text_are_rejected(ends):
    with pytest.raises(ValueError, match="ends"):
        UrlTable().resolve(b"http://h/", b"x", np.array(ends, np.uint32))


def test_no_references():
    assert natively("http://h/", []) == []
    links, has_target = found(UrlTable(), [])
    assert (links.numbers.tolist(), list(links.new), has_target) == ([], [], None)
