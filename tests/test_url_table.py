"""URLs to numbers and back."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import PluginError
from scenthound.frontier import url_index, url_table
from scenthound.frontier.url_index import NEW, FoundUrls, UrlTexts
from scenthound.frontier.url_table import MIN_ROOM, Growing, PlainUrlTable
from scenthound.web.urls import host_of
from url_tables import every_table, native_table, needs_native

urls_of_few_hosts = st.builds(
    lambda scheme, host, rest: f"{scheme}://{host}{rest}",
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.org", "b.org:8080", "me:pw@a.org", "[::1]:81", "ü.example"]),
    st.text("/?#@:aé\U0001f600", max_size=6),
)
any_text = st.text(st.characters(exclude_categories=()), max_size=12)


@every_table
def test_urls_are_numbered_in_order_of_discovery(new_table):
    table = new_table()
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


@every_table
def test_finding_adds_nothing(new_table):
    table = new_table()
    table.add_all(["http://a.org/x"])
    assert table.find("http://a.org/x") == 0
    # Known origin and new rest, new origin and known rest, neither known.
    assert [table.find(url) for url in ("http://a.org/y", "http://b.org/x", "")] == [None, None, None]
    assert len(table) == 1


@every_table
def test_an_empty_table(new_table):
    table = new_table()
    assert len(table) == 0
    assert table.find("http://a.org/") is None
    assert table.add_all([]).tolist() == []
    assert table.hosts(np.zeros(0, np.int32)).tolist() == []
    for number in (0, -1):
        with pytest.raises(IndexError, match=rf" {number} .* 0\."):
            table.url(number)


@every_table
def test_schemes_and_ports_of_one_name_are_one_host(new_table):
    table = new_table()
    numbers = table.add_all(
        ["http://a.org/", "https://a.org/", "http://b.org", "http://a.org:8080/x", "http://u:p@a.org/", "mailto:x"]
    )
    hosts = table.hosts(numbers)
    assert hosts.tolist() == [0, 0, 1, 0, 0, 2]
    assert hosts.dtype == np.int32
    assert [table.host(host) for host in range(3)] == ["a.org", "b.org", ""]


@every_table
@pytest.mark.parametrize(
    "url", ["http://a.org/", "https://u:p@a.org:81/?q", "http://[::1]:80/", "http://[::1]/", "http://a.org/@b:c"]
)
def test_hosts_are_those_of_canonical_urls(new_table, url):
    table = new_table()
    assert table.host(int(table.hosts(table.add_all([url]))[0])) == host_of(url)


@every_table
def test_a_scheme_does_not_make_two_urls_one(new_table):
    assert new_table().add_all(["http://a.org/x", "https://a.org/x"]).tolist() == [0, 1]


@every_table
@given(st.lists(st.one_of(urls_of_few_hosts, any_text), max_size=40))
def test_every_string_keeps_its_number_and_is_returned_unchanged(new_table, urls):
    table = new_table()
    numbers = table.add_all(urls).tolist()
    number_of = {}
    for url in urls:
        number_of.setdefault(url, len(number_of))
    assert numbers == [number_of[url] for url in urls]
    assert [table.url(number) for number in numbers] == urls
    assert [table.find(url) for url in urls] == numbers
    assert len(table) == len(number_of)


@pytest.mark.parametrize("chunk", [url_index.CHUNK, 300])
def test_a_grown_table_finds_everything(monkeypatch, chunk):
    monkeypatch.setattr(url_index, "CHUNK", chunk)
    table = PlainUrlTable()
    urls = [f"http://host{i % 97}.org/{i}" for i in range(20_000)]
    assert table.add_all(urls).tolist() == list(range(20_000))
    assert table.add_all(urls[::-1]).tolist() == list(range(20_000))[::-1]
    assert table.find("http://host1.org/20000") is None


@pytest.mark.parametrize("of_hash", [lambda _: 0, lambda _: url_index.LOWER_HALF, lambda url: len(url) << 27])
def test_urls_with_equal_hashes_are_distinguished_by_text(monkeypatch, of_hash):
    # The first slot of the largest hash is the last one, so that all other entries wrap around.
    monkeypatch.setattr(url_table, "_hash", of_hash)
    table = PlainUrlTable()
    urls = [f"http://{'ab'[i % 2]}.org/{i // 2}" for i in range(1200)]
    assert table.add_all(urls).tolist() == list(range(1200))
    assert [table.find(url) for url in urls] == list(range(1200))
    assert table.find("http://a.org/1200") is None


@pytest.mark.parametrize("recent", [1, 2, 3, 8])
@given(st.lists(st.integers(0, 12), max_size=60))
def test_the_cache_of_recent_urls_does_not_change_results(recent, pages):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(url_table, "RECENT_URLS", recent)
        table = PlainUrlTable()
        numbers = [int(number) for page in pages for number in table.add_all([f"http://a.org/{page}"])]
    in_order = list(dict.fromkeys(pages))
    assert numbers == [in_order.index(page) for page in pages]
    assert len(table) == len(in_order)


def test_the_cache_of_recent_urls_is_bounded():
    table = PlainUrlTable()
    n = 3 * url_table.RECENT_URLS
    for start in range(0, n, 1000):
        table.add_all([f"http://a.example.org/{i:08}" for i in range(start, min(n, start + 1000))])
    assert len(table._recent) + len(table._older) <= 2 * url_table.RECENT_URLS
    # A string of 30 characters has 79 bytes, a number 32 and an entry of a dictionary some 20 to 60.
    kept_twice = sum(map(url_table._n_bytes, (table._recent, table._older)))
    assert kept_twice < 2 * url_table.RECENT_URLS * (79 + 32 + 60)
    assert table.n_bytes() > kept_twice


def test_memory_besides_the_text_is_small(monkeypatch):
    # The cache is bounded, and small only relative to more URLs.
    monkeypatch.setattr(url_table, "RECENT_URLS", 1)
    table = PlainUrlTable()
    n = 50_000
    table.add_all([f"http://host{i % 100}.example.org/{'x' * 40}{i:08}" for i in range(n)])
    # The rest of each has 49 bytes. Ends, origins and the index take 4 + 4 + at most 8 * 1.5 / 0.7. A sixteenth of the
    # arrays, and an eighth of the text, may be room to grow.
    assert 49 + 8 + 8 / 0.7 < table.n_bytes() / n < 49 * 1.13 + 8 * 1.07 + 8 * 1.5 / 0.7 + 1


def test_ends_beyond_the_limit_of_their_bytes(monkeypatch):
    monkeypatch.setattr(url_table, "END_LIMIT", 64)
    table = PlainUrlTable()
    # Rests of 32 bytes reach the limit exactly, those of 63 exceed it as far as possible.
    urls = [f"http://a.org/{i:0{31 if i < 10 else i % 63}}" for i in range(200)]
    numbers = table.add_all(urls).tolist()
    assert [table.url(number) for number in numbers] == urls
    assert [table.find(url) for url in urls] == numbers


@every_table
def test_found_urls_are_added_in_order(new_table):
    table = new_table()
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


def test_a_plain_table_cannot_resolve():
    assert not PlainUrlTable().can_resolve
    with pytest.raises(PluginError, match="resolve_all"):
        PlainUrlTable().resolve(b"http://a.org/", b"", np.zeros(0, np.uint32))


# The table in C


def check_same(native, plain, urls):
    numbers = np.arange(len(plain), dtype=np.int32)
    assert len(native) == len(plain)
    assert native.urls(0, len(native)) == plain.urls(0, len(plain))
    assert [native.find(url) for url in urls] == [plain.find(url) for url in urls]
    assert native.hosts(numbers).tolist() == plain.hosts(numbers).tolist()
    for host in range(int(plain.hosts(numbers).max(initial=-1)) + 1):
        assert native.host(host) == plain.host(host)


@needs_native
@given(
    st.lists(st.lists(st.one_of(urls_of_few_hosts, any_text), max_size=12), max_size=6),
    st.lists(st.booleans(), min_size=6),
    st.sampled_from([32, 7]),
)
def test_the_table_in_c_does_what_the_plain_one_does(batches, as_found, end_bits):
    native, plain = native_table(end_bits), PlainUrlTable()
    for urls, is_found in zip(batches, as_found, strict=False):
        if is_found:
            known = [native.find(url) for url in urls]
            numbers = np.array([NEW if number is None else number for number in known], np.int32)
            new = [url for url, number in zip(urls, known, strict=True) if number is None]
            added = native.add_found(FoundUrls(numbers, UrlTexts.of(new)))
            assert added.tolist() == plain.add_found(FoundUrls(numbers, new)).tolist()
        else:
            assert native.add_all(urls).tolist() == plain.add_all(urls).tolist()
    check_same(native, plain, [url for urls in batches for url in urls] + ["", "http://a.org", "http://a.org/"])


@needs_native
def test_the_table_in_c_grows_as_the_plain_one_does():
    native, plain = native_table(), PlainUrlTable()
    urls = [f"http://host{i % 97}.org/{(i * i) % 30_011}/{'x' * (i % 50)}" for i in range(40_000)]
    assert native.add_all(urls).tolist() == plain.add_all(urls).tolist()
    check_same(native, plain, [*urls[::7], *(f"{url}?" for url in urls[::7])])


@needs_native
def test_ends_beyond_the_limit_of_their_bits():
    table = native_table(end_bits=6)
    # Rests of 32 bytes reach the limit exactly, those of 63 exceed it as far as possible.
    urls = [f"http://a.org/{i:0{31 if i < 10 else i % 63}}" for i in range(200)]
    assert table.add_all(urls).tolist() == list(range(200))
    assert table.urls(0, 200) == urls
    assert [table.find(url) for url in urls] == list(range(200))


@needs_native
def test_the_table_in_c_needs_little_memory_besides_the_text():
    table, n = native_table(), 50_000
    table.add_all([f"http://host{i % 100}.example.org/{'x' * 40}{i:08}" for i in range(n)])
    # The rest of each has 49 bytes. End and origin have 8, a slot 5, and four fifths of the slots or less are used. A
    # ninth of the arrays may be room to grow.
    assert 49 + 8 + 5 / 0.8 < table.n_bytes() / n < (49 + 8) * 1.13 + 5 * 1.5 / 0.8 + 1


@needs_native
def test_wrong_arguments_are_rejected():
    table = native_table()
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
from scenthound.frontier.native_url_table import NativeUrlTable

table = NativeUrlTable()
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


@needs_native
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit of memory is Linux's")
def test_a_table_without_memory_keeps_what_it_has():
    done = subprocess.run([sys.executable, "-c", PROGRAM_WITHOUT_MEMORY], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["no memory", "True True True", "True", ""]


# Growing arrays


def test_numbers_are_returned_in_order() -> None:
    numbers = Growing(np.int64)
    for number in range(-500, 500):
        numbers.append(number)
    assert len(numbers) == 1_000
    assert [numbers[position] for position in (0, 500, 999)] == [-500, 0, 499]
    assert numbers.filled().tolist() == list(range(-500, 500))
    assert numbers.filled().dtype == np.int64


def test_bytes_are_appended_at_once() -> None:
    text = Growing(np.uint8)
    for part in (b"red", b"", b"kite" * MIN_ROOM, b"s"):
        text.extend(part)
    assert text.between(0, 5) == b"redki"
    assert text.between(len(text) - 2, len(text)) == b"es"
    assert text.filled().tobytes() == b"red" + b"kite" * MIN_ROOM + b"s"


def test_a_number_out_of_range_is_rejected() -> None:
    with pytest.raises(ValueError, match="invalid value"):
        Growing(np.uint32).append(1 << 32)


def test_room_to_grow_is_small() -> None:
    numbers = Growing(np.int32)
    for number in range(10_000):
        numbers.append(number)
        assert 4 * len(numbers) <= numbers.nbytes <= 4 * (len(numbers) * 9 / 8 + MIN_ROOM + 1)
