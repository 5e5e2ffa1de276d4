"""URLs to numbers and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import PluginError
from scenthound.frontier import url_index, url_table
from scenthound.frontier.url_index import NEW, FoundUrls
from scenthound.frontier.url_table import MIN_ROOM, Growing, UrlTable
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


@pytest.mark.parametrize("chunk", [url_index.CHUNK, 300])
def test_a_grown_table_finds_everything(monkeypatch, chunk):
    monkeypatch.setattr(url_index, "CHUNK", chunk)
    table = UrlTable()
    urls = [f"http://host{i % 97}.org/{i}" for i in range(20_000)]
    assert table.add_all(urls).tolist() == list(range(20_000))
    assert table.add_all(urls[::-1]).tolist() == list(range(20_000))[::-1]
    assert table.find("http://host1.org/20000") is None


@pytest.mark.parametrize("of_hash", [lambda _: 0, lambda _: url_index.LOWER_HALF, lambda url: len(url) << 27])
def test_urls_with_equal_hashes_are_distinguished_by_text(monkeypatch, of_hash):
    # The first slot of the largest hash is the last one, so that all other entries wrap around.
    monkeypatch.setattr(url_table, "_hash", of_hash)
    table = UrlTable()
    urls = [f"http://{'ab'[i % 2]}.org/{i // 2}" for i in range(1200)]
    assert table.add_all(urls).tolist() == list(range(1200))
    assert [table.find(url) for url in urls] == list(range(1200))
    assert table.find("http://a.org/1200") is None


@pytest.mark.parametrize("recent", [1, 2, 3, 8])
@given(st.lists(st.integers(0, 12), max_size=60))
def test_the_cache_of_recent_urls_does_not_change_results(recent, pages):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(url_table, "RECENT_URLS", recent)
        table = UrlTable()
        numbers = [int(number) for page in pages for number in table.add_all([f"http://a.org/{page}"])]
    in_order = list(dict.fromkeys(pages))
    assert numbers == [in_order.index(page) for page in pages]
    assert len(table) == len(in_order)


def test_the_cache_of_recent_urls_is_bounded():
    table = UrlTable()
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
    table = UrlTable()
    n = 50_000
    table.add_all([f"http://host{i % 100}.example.org/{'x' * 40}{i:08}" for i in range(n)])
    # The rest of each has 49 bytes. Ends, origins and the index take 4 + 4 + at most 8 * 1.5 / 0.7. A sixteenth of the
    # arrays, and an eighth of the text, may be room to grow.
    assert 49 + 8 + 8 / 0.7 < table.n_bytes() / n < 49 * 1.13 + 8 * 1.07 + 8 * 1.5 / 0.7 + 1


def test_ends_beyond_the_limit_of_their_bytes(monkeypatch):
    monkeypatch.setattr(url_table, "END_LIMIT", 64)
    table = UrlTable()
    # Rests of 32 bytes reach the limit exactly, those of 63 exceed it as far as possible.
    urls = [f"http://a.org/{i:0{31 if i < 10 else i % 63}}" for i in range(200)]
    numbers = table.add_all(urls).tolist()
    assert [table.url(number) for number in numbers] == urls
    assert [table.find(url) for url in urls] == numbers


@pytest.fixture
def compiled() -> UrlTable:
    pytest.importorskip("compiled_code")
    return UrlTable(compiled=True)


def pieces(*rows: tuple[int, int, int]) -> np.ndarray:
    return np.array(rows, np.int64).reshape(-1, 3)


def test_urls_are_found_in_two_pieces(compiled):
    compiled.add_all(["http://a.org/x/y", "http://a.org/", "http://b.org/x/y"])
    base, data = b"http://a.org/x/z", b".http://b.org/x/y/xy"
    prefixes = [0, 7, 12, 13, 15, 16]
    rows = pieces(
        (4, 19, 20),  # http://a.org/x/ and y
        (3, 0, 0),  # http://a.org/ and nothing
        (0, 1, 17),  # nothing and http://b.org/x/y
        (2, 17, 18),  # http://a.org and /
        (1, 8, 17),  # http:// and b.org/x/y, parted within the origin
        (5, 0, 0),  # http://a.org/x/z, which is unknown
        (4, 18, 19),  # http://a.org/x/ and x
        (-1, 1, 17),  # not to be looked for
    )
    assert compiled.find_pieces(base, prefixes, data, rows).tolist() == [0, 1, 2, 1, 2, NEW, NEW, NEW]
    # Beyond the last prefix the last one counts.
    assert compiled.find_pieces(base, [0, 13], data, pieces((9, 0, 0), (9, 18, 19))).tolist() == [1, NEW]
    assert len(compiled) == 3


def test_an_empty_table_finds_no_pieces(compiled):
    assert compiled.find_pieces(b"http://a.org/", [0, 13], b"x", pieces((1, 0, 1), (0, 0, 0))).tolist() == [NEW, NEW]
    assert compiled.find_pieces(b"", [0], b"", pieces()).tolist() == []


@given(st.lists(st.one_of(urls_of_few_hosts, any_text), max_size=40), st.data())
def test_pieces_are_found_wherever_a_url_is_split(urls, data):
    pytest.importorskip("compiled_code")
    table = UrlTable(compiled=True)
    known = urls[: len(urls) // 2]
    table.add_all(known)
    for url in urls:
        text = url.encode("utf-8", "surrogatepass")
        offset = data.draw(st.integers(0, len(text)))
        rows = pieces((0, 1, 1 + len(text) - offset))
        [number] = table.find_pieces(text[:offset] + b"!", [offset], b"?" + text[offset:] + b"?", rows)
        assert number == (table.find(url) if url in known else NEW)


def test_pieces_are_found_beyond_the_limit_of_ends(monkeypatch, compiled):
    monkeypatch.setattr(url_table, "END_LIMIT", 64)
    urls = [f"http://a.org/{i:0{31 if i < 10 else i % 63}}" for i in range(200)]
    numbers = compiled.add_all(urls).tolist()
    found = [compiled.find_pieces(b"", [0], url.encode(), pieces((0, 0, len(url))))[0] for url in urls]
    assert found == numbers


def test_a_compiled_table_gives_the_same_numbers(compiled):
    plain, n = UrlTable(), 5_000
    urls = [f"http://host{i % 97}.org/{(i * i) % 3_001}" for i in range(n)]
    assert compiled.add_all(urls).tolist() == plain.add_all(urls).tolist()
    assert [compiled.url(number) for number in range(len(compiled))] == [plain.url(i) for i in range(len(plain))]
    assert [compiled.find(url) for url in urls] == [plain.find(url) for url in urls]


def test_hashes_of_two_compiled_tables_differ(compiled):
    urls = [f"http://a.org/{i}" for i in range(50)]
    other = UrlTable(compiled=True)
    assert [compiled._hash(url) for url in urls] != [other._hash(url) for url in urls]
    assert len({compiled._hash(url) for url in urls}) == 50


def test_a_plain_table_cannot_find_pieces():
    with pytest.raises(PluginError, match="find_pieces"):
        UrlTable().find_pieces(b"", [0], b"", pieces())


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


def test_a_table_can_grow_while_there_are_views(compiled):
    urls = [f"http://host{i % 9}.org/{i}" for i in range(3_000)]
    compiled.add_all(urls[:100])
    looked_at = [compiled._text.filled(), compiled._end.filled(), compiled._origin_text.filled()]
    before = [one.tobytes() for one in looked_at]
    assert compiled.add_all(urls).tolist() == list(range(3_000))
    assert [one.tobytes() for one in looked_at] == before
    assert [compiled.url(number) for number in range(3_000)] == urls


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
