"""URLs to numbers and back."""

import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.frontier.url_table import NEW, FoundUrls, UrlTable, UrlTexts
from scenthound.web.urls import host_of

urls_of_few_hosts = st.builds(
    lambda scheme, host, rest: f"{scheme}://{host}{rest}",
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.org", "b.org:8080", "me:pw@a.org", "[::1]:81", "ü.example"]),
    st.text("/?#@:aé\U0001f600", max_size=6),
)
any_text = st.text(st.characters(exclude_categories=()), max_size=12)


def test_urls_are_numbered_in_order_of_discovery():
    table = UrlTable()
    numbers = table.add_all(["http://a.org/", "http://b.org/x", "http://a.org/", "http://a.org/y"])
    assert numbers.tolist() == [0, 1, 0, 2]
    assert numbers.dtype == np.int32
    assert table.add_all(["http://a.org/y", "http://c.org/"]).tolist() == [2, 3]
    assert [table.url(number) for number in range(len(table))] == [
        "http://a.org/",
        "http://b.org/x",
        "http://a.org/y",
        "http://c.org/",
    ]


def test_finding_adds_nothing():
    table = UrlTable()
    table.add_all(["http://a.org/x"])
    assert table.find("http://a.org/x") == 0
    # Known origin and new rest, new origin and known rest, neither known.
    assert [table.find(url) for url in ("http://a.org/y", "http://b.org/x", "")] == [None, None, None]
    assert len(table) == 1


def test_an_empty_table():
    table = UrlTable()
    assert len(table) == 0
    assert table.find("http://a.org/") is None
    assert table.add_all([]).tolist() == []
    assert table.hosts(np.zeros(0, np.int32)).tolist() == []
    for number in (0, -1):
        with pytest.raises(IndexError, match=rf" {number} .* 0\."):
            table.url(number)


def test_schemes_and_ports_of_one_name_are_one_host():
    table = UrlTable()
    numbers = table.add_all(
        ["http://a.org/", "https://a.org/", "http://b.org", "http://a.org:8080/x", "http://u:p@a.org/", "mailto:x"]
    )
    hosts = table.hosts(numbers)
    assert hosts.tolist() == [0, 0, 1, 0, 0, 2]
    assert hosts.dtype == np.int32
    assert [table.host(host) for host in range(3)] == ["a.org", "b.org", ""]


@pytest.mark.parametrize(
    "url", ["http://a.org/", "https://u:p@a.org:81/?q", "http://[::1]:80/", "http://[::1]/", "http://a.org/@b:c"]
)
def test_hosts_are_those_of_canonical_urls(url):
    table = UrlTable()
    assert table.host(int(table.hosts(table.add_all([url]))[0])) == host_of(url)


def test_a_scheme_does_not_make_two_urls_one():
    assert UrlTable().add_all(["http://a.org/x", "https://a.org/x"]).tolist() == [0, 1]


@given(st.lists(st.one_of(urls_of_few_hosts, any_text), max_size=40))
def test_every_string_keeps_its_number_and_is_returned_unchanged(urls):
    table = UrlTable()
    numbers = table.add_all(urls).tolist()
    number_of = {}
    for url in urls:
        number_of.setdefault(url, len(number_of))
    assert numbers == [number_of[url] for url in urls]
    assert [table.url(number) for number in numbers] == urls
    assert [table.find(url) for url in urls] == numbers
    assert len(table) == len(number_of)


def test_found_urls_are_added_in_order():
    table = UrlTable()
    table.add_all(["http://a.org/0", "http://a.org/1"])
    found = FoundUrls(np.array([1, NEW, 0, NEW, NEW], np.int32), ["http://a.org/2", "http://a.org/3", "http://a.org/2"])
    # The last one was found twice before it was added; another page added one meanwhile.
    table.add_all(["http://a.org/3"])
    assert table.add_found(found).tolist() == [1, 3, 0, 2, 3]
    assert found.numbers.tolist() == [1, NEW, 0, NEW, NEW]


def test_found_urls_can_be_filtered_and_extended():
    found = FoundUrls(np.array([7, NEW, 5, NEW], np.int32), ["x", "y"])
    kept = found.kept(np.array([True, False, False, True]))
    assert (kept.numbers.tolist(), kept.new) == ([7, NEW], ["y"])
    longer = kept.followed_by(["z"])
    assert (longer.numbers.tolist(), longer.new, len(longer)) == ([7, NEW, NEW], ["y", "z"], 3)
    assert longer.numbers.dtype == np.int32


@pytest.mark.parametrize("urls", [["x", "y\ud800", "\u00e9"], []])
def test_texts_of_urls_are_a_sequence_of_strings(urls):
    texts = UrlTexts.of(urls)
    assert (list(texts), len(texts), texts[:2]) == (urls, len(urls), urls[:2])
    assert UrlTexts.of(texts) is texts
    last = np.arange(len(urls)) == len(urls) - 1
    assert list(texts.kept(last)) == urls[-1:]
    found = FoundUrls(np.full(len(urls), NEW, np.int32), texts)
    assert list(found.kept(last).new) == urls[-1:]
    assert list(found.followed_by(["z"]).new) == [*urls, "z"]


class SlowTable:
    """A list of URLs."""

    def __init__(self):
        self.urls = []

    def add_all(self, urls):
        self.urls = list(dict.fromkeys([*self.urls, *urls]))
        return [self.urls.index(url) for url in urls]

    def host_names(self):
        authority = re.compile(r"[^/?#]*//(?:[^/?#]*@)?(\[[^/?#]*\]|[^:/?#]*)")
        origins = [url[: url.find("/", len("https://"))] if "/" in url[len("https://") :] else url for url in self.urls]
        return [found[1] if (found := authority.match(origin)) else "" for origin in origins]


def check_same(table, slow, urls):
    numbers = np.arange(len(slow.urls), dtype=np.int32)
    assert len(table) == len(slow.urls)
    assert table.urls(0, len(table)) == slow.urls
    known = {url: number for number, url in enumerate(slow.urls)}
    assert [table.find(url) for url in urls] == list(map(known.get, urls))
    names = slow.host_names()
    in_order = list(dict.fromkeys(names))
    hosts = table.hosts(numbers).tolist()
    assert hosts == [in_order.index(name) for name in names]
    assert [table.host(host) for host in range(len(in_order))] == in_order


@given(
    st.lists(st.lists(st.one_of(urls_of_few_hosts, any_text), max_size=12), max_size=6),
    st.lists(st.booleans(), min_size=6),
)
def test_a_table_does_what_a_list_does(batches, as_found):
    table, slow = UrlTable(), SlowTable()
    for urls, is_found in zip(batches, as_found, strict=False):
        if is_found:
            known = [table.find(url) for url in urls]
            numbers = np.array([NEW if number is None else number for number in known], np.int32)
            new = [url for url, number in zip(urls, known, strict=True) if number is None]
            added = table.add_found(FoundUrls(numbers, UrlTexts.of(new)))
        else:
            added = table.add_all(urls)
        assert added.tolist() == slow.add_all(urls)
    check_same(table, slow, [url for urls in batches for url in urls] + ["", "http://a.org", "http://a.org/"])


def test_a_large_table_finds_everything():
    table = UrlTable()
    urls = [f"http://host{i % 97}.org/{i}/{'x' * (i % 50)}" for i in range(40_000)]
    assert table.add_all(urls).tolist() == list(range(40_000))
    assert table.add_all(urls[::-1]).tolist() == list(range(40_000))[::-1]
    assert table.urls(0, len(table)) == urls
    assert [table.find(url + "?") for url in urls[::7]] == [None] * len(urls[::7])


def test_a_table_needs_little_memory_besides_the_text():
    table, n = UrlTable(), 50_000
    table.add_all([f"http://host{i % 100}.example.org/{'x' * 40}{i:08}" for i in range(n)])
    # The rest of each has 49 bytes. End and origin have 8, a slot 5, and four fifths of the slots or less are used. A
    # ninth of the arrays may be room to grow.
    assert 49 + 8 + 5 / 0.8 < table.n_bytes() / n < (49 + 8) * 1.13 + 5 * 1.5 / 0.8 + 1


def test_wrong_arguments_are_rejected():
    table = UrlTable()
    table.add_all(["http://a.org/"])
    ends = np.array([3, 2], np.uint32)
    new = np.array([NEW, NEW], np.int32)
    for found in (UrlTexts(b"abc", ends), UrlTexts(b"abc", ends[:1]), UrlTexts(b"ab", ends[:1])):
        with pytest.raises(ValueError, match="texts"):
            table.add_found(FoundUrls(new, found))
    for first, last in ((-1, 1), (0, 99), (2, 1)):
        with pytest.raises(IndexError):
            table.urls(first, last)
    for number in (-1, 99):
        with pytest.raises(IndexError):
            table.hosts(np.array([0, number], np.int32))
        with pytest.raises(IndexError):
            table.host(number)
    with pytest.raises(TypeError):
        table.add_all([b"http://a.org/"])
    with pytest.raises(TypeError):
        table.find(None)


PROGRAM_WITHOUT_MEMORY = """
import resource
from scenthound.frontier.url_table import UrlTable

table = UrlTable()
chunks = [[f"http://host{chunk}.example/{'x' * 900}/{i}" for i in range(500)] for chunk in range(200)]
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 40_000_000, resource.RLIM_INFINITY))
try:
    for chunk in chunks:
        table.add_all(chunk)
except MemoryError:
    print("no memory")
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
urls = [url for chunk in chunks for url in chunk]
n = len(table)
print(0 < n < len(urls), table.urls(0, n) == urls[:n], [table.find(url) for url in urls[:n]] == list(range(n)))
print(table.add_all(urls).tolist() == list(range(len(urls))))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit of memory is Linux's")
def test_a_table_without_memory_keeps_what_it_has():
    done = subprocess.run([sys.executable, "-c", PROGRAM_WITHOUT_MEMORY], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["no memory", "True True True", "True", ""]
