"""URLs: canonical form, resolution as in browsers, domains, fingerprints."""

import csv
import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import ada_url
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.urls import (
    MAX_URL_BYTES,
    canonical,
    fingerprint,
    fingerprints,
    host_of,
    registrable_domain,
    resolve,
    resolve_all,
)


def as_browsers_do(base: str, href: str) -> str | None:
    """As browsers do, without fragment, user and password."""
    try:
        parts = ada_url.URL(href, base)
    except ValueError:
        return None
    if parts.protocol not in ("http:", "https:"):
        return None
    parts.hash = parts.username = parts.password = ""
    return parts.href if len(parts.href) <= MAX_URL_BYTES else None


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("HTTP://Example.COM", "http://example.com/"),
        ("https://example.com:443/a/../b/./c", "https://example.com/b/c"),
        ("http://example.com/a?q=1#part", "http://example.com/a?q=1"),
        ("http://example.com/a//b/", "http://example.com/a//b/"),
        ("http://example.com/?", "http://example.com/?"),
        ("http://example.com/%7e%2F%c3", "http://example.com/%7e%2F%c3"),
        ("http://example.com/?b=1&a=2&a=", "http://example.com/?b=1&a=2&a="),
        ("http://b\u00fccher.de/\u00e9 \u00e9", "http://xn--bcher-kva.de/%C3%A9%20%C3%A9"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://example.com/\ud800", "http://example.com/%EF%BF%BD"),
    ],
)
def test_the_canonical_form_changes_nothing_else_that_a_server_could_see(url: str, form: str) -> None:
    assert canonical(url) == form


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/a",
        "example.com",
        "mailto:a@b.c",
        "ftp://a/b",
        "javascript:void(0)",
        "http://",
        "http://a b/",
        "http://[::1/",
    ],
)
def test_uncrawlable_urls_have_no_canonical_form(url: str) -> None:
    assert canonical(url) is None


def test_a_url_longer_than_the_limit_is_not_crawlable() -> None:
    base = "http://a.b/"
    longest = "x" * (MAX_URL_BYTES - len(base))
    assert canonical(base + longest) == resolve(base, longest) == base + longest
    assert canonical(base + longest + "x") is None
    assert resolve(base, longest + "x") is None


@given(st.text() | st.text(st.sampled_from("htp:/.?#@[]%2e\\\t -a0\u00e9")))
def test_canonical_is_idempotent_and_never_raises(text: str) -> None:
    for url in (text, "http://" + text, "https://h/" + text):
        form = canonical(url)
        assert form is None or canonical(form) == form


PIECES = st.sampled_from(
    (
        *("..", ".", "", "a", "b.html", "%2e", ".%2E", "%2e.", "~x", "_", "a%20b", "c:d", "http:", "x;p=1", "(y)", "@"),
        *(
            "?",
            "?q=1",
            "#f",
            "\\",
            " ",
            "\t",
            "\u00e9",
            "...",
            ".a",
            "a.",
            "&amp;",
            "'",
            '"',
            "|",
            "^",
            "{",
            "`",
            "*",
            "!",
        ),
    )
)
#: Hosts and ports that are brought into form, or are none: numbers, capitals, labels that are empty or encoded.
AUTHORITIES = st.sampled_from(
    (
        *("h", "H.Example", "a-b.c", "1.2.3", "1.2.3.4", "0x7f.1", "a..b", "a.", ".", "-", "xn--a", "xn--bcher-kva.de"),
        *("h:80", "h:443", "h:081", "h:99999", "h:", "u@h", "[::1]", "h.1", "256.256.256.256", "a_b.c"),
    )
)
ABSOLUTE = st.builds(
    lambda scheme, authority, pieces, tail: f"{scheme}://{authority}/{'/'.join(pieces)}{tail}",
    st.sampled_from(["http", "https", "HTTP", "ftp"]),
    AUTHORITIES,
    st.lists(PIECES, max_size=4),
    st.sampled_from(["", "?", "?a=1&b=:/?", "?q='", "?x#y", "#f", '?"', "?{", "?%zz"]),
)
REFERENCES = st.one_of(
    ABSOLUTE,
    st.builds(lambda pieces, query: f"{'/'.join(pieces)}?{query}", st.lists(PIECES, max_size=3), st.text("a=&?/:#' ")),
    st.lists(PIECES, max_size=6).map("/".join),
    st.lists(PIECES, max_size=4).map("".join),
    st.integers(28, 40).map(lambda steps: "../" * steps + "a"),
    st.text(max_size=12),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=12),
)
BASES = st.one_of(
    st.sampled_from(["http://h/", "https://h.example/a/b/c.html", "http://u:p@h:81/a//b?x=/y/z#/f/", "http://h/a/b/?"]),
    st.lists(PIECES, max_size=5).map(lambda pieces: "http://h/" + "/".join(pieces)),
    st.integers(28, 40).map(lambda depth: "http://h/" + "a/" * depth),
    st.sampled_from(["", "a/b", "mailto:x", "file:///a/b", "about:blank"]),
)


@given(ABSOLUTE)
def test_the_canonical_form_is_that_of_the_library(url: str) -> None:
    assert canonical(url) == as_browsers_do(url, url)


@given(BASES, st.lists(REFERENCES, max_size=5))
def test_resolve_all_equals_resolve(base: str, references: list[str]) -> None:
    assert resolve_all(base, references) == [as_browsers_do(base, reference) for reference in references]


@given(BASES, REFERENCES)
def test_a_reference_is_resolved_as_by_the_library(base: str, href: str) -> None:
    assert resolve(base, href) == as_browsers_do(base, href)


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("", "http://h/a/b/c?x"),
        ("#part", "http://h/a/b/c?x"),
        ("?y", "http://h/a/b/c?y"),
        ("d#part", "http://h/a/b/d"),
        ("./d", "http://h/a/b/d"),
        ("../d/", "http://h/a/d/"),
        ("../../../../d", "http://h/d"),
        ("/d", "http://h/d"),
        ("//other/d", "http://other/d"),
        ("https:d", "https://d/"),
        ("http:d", "http://h/a/b/d"),
        (" d\n", "http://h/a/b/d"),
        ("tel:123", None),
    ],
)
def test_references_are_resolved_against_their_page(href: str, url: str | None) -> None:
    assert resolve("http://h/a/b/c?x", href) == url


def test_every_case_of_the_web_platform_tests_holds(shared: Path) -> None:
    cases = json.loads((shared / "suites" / "url" / "urltestdata.json").read_text("utf-8"))
    wrong = []
    for case in (case for case in cases if isinstance(case, dict)):
        is_crawlable = not case.get("failure") and case["protocol"] in ("http:", "https:")
        # All parts but fragment, user and password. An empty query is a part only of the whole.
        query = case.get("search") or ("?" if is_crawlable and case["href"].partition("#")[0].endswith("?") else "")
        expected = f"{case['protocol']}//{case['host']}{case['pathname']}{query}" if is_crawlable else None
        found = canonical(case["input"]) if case["base"] is None else resolve(case["base"], case["input"])
        if found != expected:
            wrong.append((case["input"], case["base"], found, expected))
    assert wrong == []


def rows(path: Path) -> list[list[str]]:
    lines = [line for line in path.read_text("utf-8").split("\n") if line.strip() and not line.startswith("#")]
    return [[cell.strip() for cell in row] for row in csv.reader(lines, skipinitialspace=True)]


def test_references_of_crawler_commons_are_resolved(shared: Path) -> None:
    cases = [row for row in rows(shared / "suites" / "url" / "url-resolve.csv") if row[2].startswith("http")]
    assert len(cases) >= 18
    for href, base, url in cases:
        found = resolve(base, href) if base else canonical(href)
        # Fragment and user are no part of our canonical form.
        assert found == url.partition("#")[0].replace("user:pass@", "")


def test_invalid_urls_of_crawler_commons_are_not_crawlable(shared: Path) -> None:
    for (url,) in rows(shared / "suites" / "url" / "invalidUrls.csv"):
        assert canonical(url) is None


def without_what_a_server_could_see(url: str) -> tuple[str, str, list[str]]:
    """What is left of a URL after the rules of crawler-commons that are not ours: they decode and re-case
    percent-encodings and add others, merge slashes, sort and clean query parameters, drop an empty query and the dot
    after a host. Each of them can lead to another page."""
    parts = urlsplit(unquote(url))
    parameters = sorted(parameter.rstrip("=") for parameter in parts.query.split("&") if parameter[:1] not in ("", "="))
    return parts.netloc.rstrip("."), re.sub("/+", "/", parts.path), parameters


def test_urls_of_crawler_commons_differ_only_by_known_rules(shared: Path) -> None:
    same = 0
    for weird, normal in rows(shared / "suites" / "url" / "weirdToNormalizedUrls.csv"):
        found = canonical(weird)
        if found is None:
            # Nothing to crawl, or the guess at a missing scheme.
            assert normal == "http:/" or not weird.startswith("http"), weird
        else:
            same += found == normal
            assert without_what_a_server_could_see(found) == without_what_a_server_could_see(normal)
    assert same >= 60


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://example.com/", "example.com"),
        ("http://example.com:8080/a@b:c", "example.com"),
        ("https://[2001:db8::1]:8443/", "[2001:db8::1]"),
        ("http://127.0.0.1/?q=//x@y", "127.0.0.1"),
    ],
)
def test_the_host_of_a_url_has_no_port(url: str, host: str) -> None:
    assert canonical(url) == url
    assert host_of(url) == host


def test_registrable_domains_are_those_of_the_public_suffix_tests(shared: Path) -> None:
    lines = (shared / "suites" / "suffix" / "tests.txt").read_text("utf-8").splitlines()
    cases = [line.split() for line in lines if line and not line.startswith("//")]
    cases = [(host, domain) for host, domain in cases if host != "null" and not host.startswith(".")]
    assert len(cases) > 60
    for host, domain in cases:
        # Where the suite has no result, ours is the host itself.
        assert registrable_domain(host) == (host.lower() if domain == "null" else domain)


@pytest.mark.parametrize(
    ("host_or_url", "domain"),
    [
        ("http://www.example.co.uk:81/a", "example.co.uk"),
        ("http://192.168.1.77/", "192.168.1.77"),
        ("http://[::1]/", "[::1]"),
        ("localhost", "localhost"),
        ("https://co.uk/", "co.uk"),
        ("www.example.com.", "example.com"),
    ],
)
def test_every_host_has_a_domain(host_or_url: str, domain: str) -> None:
    assert registrable_domain(host_or_url) == domain


def test_a_fingerprint_is_64_bits_of_blake2b() -> None:
    assert fingerprint("http://example.com/").to_bytes(8, "little").hex() == "fb2241160c9dad06"
    assert fingerprint("http://example.com/") != fingerprint("http://example.com/a")
    assert all(0 <= fingerprint(f"http://h/{number}") < 2**64 for number in range(100))


def test_many_fingerprints_are_those_of_each() -> None:
    urls = ["http://a.org/", "http://a.org/%C3%A9", "http://a.org/" + "x" * 500]
    assert fingerprints(url.encode() for url in urls).tolist() == [fingerprint(url) for url in urls]
    assert fingerprints([]).dtype == np.uint64
