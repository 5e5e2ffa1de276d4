"""Recorded webs: building them from batches, opening and looking up."""

import gc
import json
import pickle
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recording_input import terms_of, three_pages
from scenthound.errors import InvalidInput
from scenthound.simulator.web import VisibleLinks
from scenthound.store import recorded_web
from scenthound.store.batches import BatchMaker, RawPage, RawRedirect
from scenthound.store.builder import WebBuilder, web_of
from scenthound.store.builder import terms_of as count_terms
from scenthound.store.folder import ResultFolder
from scenthound.store.layout import (
    DIVIDED_BY,
    LAYOUT,
    FileColumns,
    MemoryColumns,
    TextTable,
    content_fingerprint,
    packed,
)
from scenthound.store.recorded_web import RecordedWeb
from scenthound.web.parse import MAX_LINKS, MAX_PAGE_BYTES
from timing import cpu_cost_s


@pytest.fixture
def web() -> RecordedWeb:
    return web_of(three_pages())


def links_of(web: RecordedWeb, page: int) -> slice:
    return slice(web.link_offset[page], web.link_offset[page + 1])


def save(web: RecordedWeb, folder: Path) -> Path:
    folder.mkdir()
    for name, array in web.arrays.items():
        np.save(folder / f"{name}.npy", array)
    write_about(folder, {"fingerprint": web.fingerprint})
    return folder


def write_about(folder: Path, about: dict[str, str]) -> None:
    ResultFolder(folder, "web").write_json("web.json", about)


def test_urls_are_numbered_pages_first_then_aliases_then_the_rest(web: RecordedWeb) -> None:
    assert [web.url(i) for i in range(web.n_urls)] == [
        "http://a.org/dogs",
        "http://a.org/cats",
        "http://a.org/fish",
        "http://a.org/old-cats",
        "http://c.org/cats",
        "http://b.org/out",
    ]
    assert web.url_page.tolist() == [0, 1, 2, 1, 1, -1]
    assert [web.hosts[host] for host in web.url_host] == ["a.org"] * 4 + ["c.org", "b.org"]
    assert web.n_hosts == 3


def test_a_web_is_opened_in_several_threads_at_once(web: RecordedWeb, tmp_path: Path) -> None:
    folder = save(web, tmp_path / "web")
    threshold = gc.get_threshold()
    # Threads switch within the parser of Python only when it collects garbage.
    gc.callbacks.append(switch := lambda *_: sleep(0))
    gc.set_threshold(20)
    try:
        with ThreadPoolExecutor(4) as threads:
            opened = list(threads.map(RecordedWeb.open, [folder] * 40))
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(switch)
    assert {each.n_urls for each in opened} == {web.n_urls}


def test_links_are_kept_in_page_order_with_their_anchors(web: RecordedWeb) -> None:
    assert web.links(0).tolist() == [1, 3, 5]
    where = links_of(web, 0)
    anchors = [
        [web.vocabulary[word] for word in web.words(0)[start:end]]
        for start, end in zip(web.link_start[where], web.link_end[where], strict=True)
    ]
    assert anchors == [["", "cat"], ["cat"], ["dog"]]
    assert web.link_nofollow[where].tolist() == [False, True, False]


def test_links_of_a_text_page_stand_behind_its_last_word(web: RecordedWeb) -> None:
    where = links_of(web, 1)
    assert web.links(1).tolist() == [0, 1]
    assert web.link_start[where].tolist() == web.link_end[where].tolist() == [3, 3]
    assert web.links(2).tolist() == []


def test_words_are_numbered_in_order_of_appearance_with_stop_words_as_0(web: RecordedWeb) -> None:
    assert list(web.vocabulary) == ["", "dog", "chase", "cat", "fish"]
    assert web.words(0).tolist() == [1, 0, 1, 2, 0, 3, 0, 3, 3, 1]
    assert web.words(1).tolist() == [3, 3, 1]
    assert web.words(2).tolist() == [0, 4]


def test_terms_are_the_distinct_words_with_counts_and_no_stop_words(web: RecordedWeb) -> None:
    assert terms_of(web, 0) == {"dog": 3, "chase": 1, "cat": 3}
    assert web.document_frequency.tolist() == [0, 2, 1, 2, 1]
    assert web.page_norm.tolist() == [np.sqrt(19), np.sqrt(5), 1.0]


def test_a_url_is_found_in_any_spelling_and_aliases_are_followed(web: RecordedWeb) -> None:
    assert web.find("HTTP://A.org:80/cats#top") == 1
    assert web.find("http://a.org/old-cats") == 3
    assert web.page_of("http://a.org/old-cats") == 1
    assert web.find("http://b.org/out") == 5
    assert web.page_of("http://b.org/out") is None
    assert web.find("http://nowhere.org/") is None
    assert web.find("no url") is None


def test_inlinks_are_distinct_other_pages_with_aliases_followed(web: RecordedWeb) -> None:
    offset, page = web.inlinks
    assert offset.tolist() == [0, 1, 2, 2]
    assert page.tolist() == [1, 0]


def test_labels_titles_and_words_are_available(web: RecordedWeb) -> None:
    assert web.labelled("pets").tolist() == [0, 1]
    assert web.labelled("loud").tolist() == [0]
    assert web.labelled("unheard of").tolist() == []
    assert web.labels(0) == ["pets", "loud"]
    assert [web.title(page) for page in range(3)] == ["Dogs", "Cats", ""]
    assert web.find_words(["cat", "unicorn", "", "dog"]).tolist() == [3, 1]


def test_a_vocabulary_with_a_word_twice_or_offsets_out_of_order_is_damaged(web: RecordedWeb) -> None:
    texts, offsets = packed(["", "dog", "cat", "dog", "sea"])
    twice = {**web.arrays, "vocabulary_text": texts, "vocabulary_offset": offsets}
    frequency = {"document_frequency": np.zeros(5, np.int32)}
    unordered = {**twice, "vocabulary_offset": offsets[[0, 2, 1, 3, 4, 5]]}
    for arrays in (twice, unordered):
        with pytest.raises(InvalidInput, match="its words are not distinct"):
            RecordedWeb({**arrays, **frequency}).find_words(["dog"])


def test_a_web_in_a_folder_is_the_web_in_memory(web: RecordedWeb, tmp_path: Path) -> None:
    opened = RecordedWeb.open(save(web, tmp_path / "web"))
    assert opened.fingerprint == web.fingerprint == content_fingerprint(opened.arrays)
    for name in LAYOUT:
        assert np.array_equal(opened.arrays[name], web.arrays[name]), name
    assert opened.links(0).tolist() == web.links(0).tolist()


def test_a_web_can_be_sent_to_another_process(web: RecordedWeb, tmp_path: Path) -> None:
    assert pickle.loads(pickle.dumps(web)).fingerprint == web.fingerprint
    opened = RecordedWeb.open(save(web, tmp_path / "web"))
    sent = pickle.dumps(opened)
    assert len(sent) < 1_000
    assert pickle.loads(sent).find("http://a.org/fish") == 2


def test_another_content_has_another_fingerprint(web: RecordedWeb) -> None:
    assert web_of(three_pages()).fingerprint == web.fingerprint
    assert web_of(three_pages()[:2]).fingerprint != web.fingerprint


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (shutil.rmtree, r"/web: "),
        (lambda web: (web / "web.json").unlink(), "/web .*`scenthound record`"),
        (lambda web: (web / "web.json").write_text("{"), r"web\.json .*\bJSON\b"),
        (lambda web: (web / "web.json").write_text('{"format": "zip"}'), "/web .*`scenthound record`"),
        (lambda web: (web / "word.npy").unlink(), r"/web .*: word\.npy "),
        (lambda web: (web / "word.npy").write_bytes(b"nonsense"), r"/word\.npy .*\("),
        (lambda web: (web / "term.npy").write_bytes((web / "term.npy").read_bytes()[:-4]), r"/term\.npy .*\("),
        (lambda web: np.save(web / "word.npy", np.zeros(3, np.int32)), r"\bword_offset .*\bword\b"),
        (lambda web: np.save(web / "word.npy", np.zeros(15)), r"\bword .*\bint32\b"),
        (lambda web: np.save(web / "page_norm.npy", np.zeros(2)), r"\bpage_norm\b"),
        (lambda web: write_about(web, {"version": "\x1b[2J\n" * 99}), r" '\\x1b\[2J"),
    ],
)
def test_an_invalid_recorded_web_is_rejected_in_one_line(
    damage: Callable[[Path], object], words: str, web: RecordedWeb, tmp_path: Path
) -> None:
    folder = save(web, tmp_path / "web")
    damage(folder)
    with pytest.raises(InvalidInput, match=words) as refused:
        RecordedWeb.open(folder)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 1_000


def test_a_newer_format_is_rejected(web: RecordedWeb, tmp_path: Path) -> None:
    folder = save(web, tmp_path / "web")
    about = json.loads((folder / "web.json").read_text()) | {"version": 99}
    (folder / "web.json").write_text(json.dumps(about))
    with pytest.raises(InvalidInput, match=r"version 99.* install"):
        RecordedWeb.open(folder)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("link_offset", 2**31),
        ("link_offset", -1),
        ("link_url", 99),
        ("url_page", 99),
        ("url_page", -2),
        ("url_host", 99),
        ("link_start", -1),
        ("link_start", 90),
        ("link_end", 99),
    ],
)
def test_a_web_with_links_to_nowhere_is_refused_by_crawls(web: RecordedWeb, name: str, number: int) -> None:
    damaged = {**web.arrays, name: web.arrays[name].copy()}
    damaged[name][1] = number
    with pytest.raises(InvalidInput, match="is damaged"):
        VisibleLinks(RecordedWeb(damaged))


def test_words_are_cached_for_other_crawls_as_long_as_there_is_room(
    web: RecordedWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded_web, "WORD_CACHE_BYTES", web.words(0).nbytes + web.words(1).nbytes)
    web = web_of(three_pages())
    words = [web.cached_words(page) for page in range(2)]
    assert [web.cached_words(page) is words[page] for page in range(2)] == [True, True]
    assert words[0].tolist() == web.words(0).tolist()
    assert not words[0].flags.writeable
    web.cached_words(2)
    assert web.cached_words(0) is not words[0]


def test_a_text_table_gives_back_its_strings() -> None:
    table = TextTable(*packed(["", "Áedán", "\ud800"]))
    assert list(table) == [table[0], table[1], table[2]] == ["", "Áedán", "?"]
    with pytest.raises(IndexError):
        table[3]


def test_a_web_of_a_million_pages_and_twenty_million_links_opens_in_under_a_second(tmp_path: Path) -> None:
    million = 1_000_000
    sizes = {
        "pages": million,
        "urls": 2 * million,
        "links": 20 * million,
        "words": 500 * million,
        "terms": 200 * million,
    }
    for name, (dtype, unit) in LAYOUT.items():
        size = sizes.get(unit.removesuffix("+1"), 1) + unit.endswith("+1")
        # Files with holes: they take no room, but reading them through would take long.
        file = np.lib.format.open_memmap(tmp_path / f"{name}.npy", "w+", np.dtype(dtype), (size,))
        if name in DIVIDED_BY:
            cut = LAYOUT[DIVIDED_BY[name]][1]
            file[-1] = sizes.get(cut, 1)
    write_about(tmp_path, {})
    # Reading takes CPU time as well, to fill so much memory.
    assert cpu_cost_s(lambda: RecordedWeb.open(tmp_path), 1) < 1
    web = RecordedWeb.open(tmp_path)
    assert (web.n_pages, web.n_links, len(web.word)) == (million, 20 * million, 500 * million)


def test_nofollow_links_are_not_inlinks() -> None:
    pages = {"a": "<a href=b rel=nofollow>b</a>", "b": "", "c": "<a href=b>b</a>"}
    offset, page = web_of(RawPage(f"http://a.org/{name}", html=html) for name, html in pages.items()).inlinks
    assert page[offset[1] : offset[2]].tolist() == [2]


def test_all_links_of_a_nofollow_page_are_marked() -> None:
    head = "<meta name=robots content='noindex, nofollow'>"
    web = web_of([RawPage("http://a.org/", html=f"{head}<a href=b>b</a>"), RawPage("http://a.org/c", text="c")])
    assert web.link_nofollow.tolist() == [True]
    assert web.page_noindex.tolist() == [True, False]


def test_links_that_were_on_an_earlier_page_of_the_batch_are_found_again() -> None:
    pages = {
        "x": "<a href=y>1</a><a href='http://b\u00fc.example'>2</a><a href='mailto:c'>3</a>",
        "y": "<a href=z>4</a><a href='http://b\u00fc.example'>5</a><a href=x>6</a><a href=z>7</a>",
        "r": "<meta http-equiv=refresh content='0; url=x'><a href=unseen>8</a>",
    }
    web = web_of(RawPage(f"http://a.org/{name}", html=html) for name, html in pages.items())
    assert list(web.urls) == [
        "http://a.org/x",
        "http://a.org/y",
        "http://a.org/r",
        "http://xn--b-eha.example/",
        "http://a.org/z",
    ]
    assert [web.links(page).tolist() for page in range(web.n_pages)] == [[1, 3], [4, 3, 0, 4]]
    assert [web.hosts[host] for host in web.url_host] == ["a.org", "a.org", "a.org", "xn--b-eha.example", "a.org"]


def test_of_two_pages_with_one_url_the_first_is_kept() -> None:
    builder = WebBuilder(MemoryColumns())
    pages = [
        RawPage("http://a.org/", text="dog", location="line 1"),
        RawPage("http://a.org/#again", text="unicorn", links=("/b",), location="line 2"),
        RawPage("http://a.org/c", text="fish dog", links=("/d",), topics=("t",), location="line 3"),
    ]
    skipped = builder.add(BatchMaker().batch(pages))
    web = RecordedWeb(builder.finish())
    assert [(record.reason, record.location) for record in skipped] == [("duplicate url", "line 2")]
    assert list(web.urls) == ["http://a.org/", "http://a.org/c", "http://a.org/d"]
    assert list(web.vocabulary) == ["", "dog", "fish"]
    assert terms_of(web, 1) == {"dog": 1, "fish": 1}
    assert web.labelled("t").tolist() == [1]


def test_a_page_wins_over_an_alias_and_the_first_alias_over_the_second() -> None:
    pages = [
        RawPage("http://a.org/1", text="dog", aliases=("http://a.org/2", "http://a.org/x")),
        RawPage("http://a.org/2", text="cat", aliases=("http://a.org/x", "ftp://a.org/")),
    ]
    web = web_of(pages)
    assert list(web.urls) == ["http://a.org/1", "http://a.org/2", "http://a.org/x"]
    assert web.page_of("http://a.org/2") == 1
    assert web.page_of("http://a.org/x") == 0


def test_redirects_are_followed_in_chains_and_lead_nowhere_in_circles() -> None:
    web = web_of(
        [
            RawRedirect("http://a.org/old", "/older"),
            RawRedirect("http://a.org/older", "http://a.org/page"),
            RawRedirect("http://a.org/round", "/about"),
            RawRedirect("http://a.org/about", "/round"),
            RawRedirect("http://a.org/lost", "/never-recorded"),
            RawPage("http://a.org/page", text="", links=("lost", "round")),
        ]
    )
    assert web.page_of("http://a.org/old") == web.page_of("http://a.org/older") == 0
    assert web.page_of("http://a.org/round") is None
    assert list(web.urls)[3:] == ["http://a.org/round", "http://a.org/lost"]
    assert web.find("http://a.org/never-recorded") is None


def test_a_web_without_pages_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="no pages"):
        web_of([])


names = st.sampled_from("abcdefgh")
pages_made_up = st.lists(
    st.builds(
        lambda name, text, links, aliases: RawPage(
            f"http://{name}.org/", text=text, links=tuple(f"http://{x}.org/" for x in links), aliases=tuple(aliases)
        ),
        names,
        st.lists(st.sampled_from(["dog", "cat", "the", "fish"]), max_size=6).map(" ".join),
        st.lists(names, max_size=4),
        st.lists(st.sampled_from(["http://x.org/", "http://y.org/", "http://a.org/"]), max_size=2),
    ),
    min_size=1,
    max_size=9,
)


@given(pages_made_up, st.lists(st.tuples(st.integers(1, 3), st.booleans()), min_size=9, max_size=9))
def test_the_web_does_not_depend_on_processes_or_batches(pages: list[RawPage], cuts: list[tuple[int, bool]]) -> None:
    builder = WebBuilder(MemoryColumns())
    makers = BatchMaker(), BatchMaker()
    left = pages
    for size, which in cuts:
        builder.add(makers[which].batch(left[:size]))
        left = left[size:]
    assert not left
    assert RecordedWeb(builder.finish()).fingerprint == web_of(pages).fingerprint


@given(pages_made_up)
def test_the_arrays_contain_the_values_of_the_pages(pages: list[RawPage]) -> None:
    web = web_of(pages)
    first = {page.url: page for page in reversed(pages)}
    assert {web.url(page) for page in range(web.n_pages)} == set(first)
    for number in range(web.n_pages):
        page = first[web.url(number)]
        assert [web.url(link) for link in web.links(number)] == list(page.links)
        words = [web.vocabulary[word] for word in web.words(number) if word]
        assert terms_of(web, number) == {word: words.count(word) for word in words}
    assert all(web.find(web.url(i)) == i for i in range(web.n_urls))


@given(st.lists(st.lists(st.integers(0, 300), max_size=9), max_size=5))
def test_terms_are_the_distinct_words_of_each_page(pages: list[list[int]]) -> None:
    words = np.array([word for page in pages for word in page], np.int32)
    lengths = np.array([len(page) for page in pages], np.int32)
    distinct = [sorted({*page} - {0}) for page in pages]
    expected = [
        [word for page in distinct for word in page],
        [page.count(word) for page, terms in zip(pages, distinct, strict=True) for word in terms],
        [len(terms) for terms in distinct],
    ]
    counted = count_terms(words, lengths)
    assert [values.tolist() for values in counted] == expected
    assert {values.dtype for values in counted} == {np.dtype(np.int32)}


def test_words_of_a_duplicate_page_get_their_numbers_when_a_page_with_them_is_kept() -> None:
    builder = WebBuilder(MemoryColumns())
    maker = BatchMaker()
    builder.add(maker.batch([RawPage("http://a.org/", text="dog"), RawPage("http://a.org/", text="unicorn cat")]))
    builder.add(
        maker.batch([RawPage("http://a.org/b", text="fish cat fish dog"), RawPage("http://a.org/", text="owl")])
    )
    builder.add(BatchMaker().batch([RawPage("http://a.org/c", text="owl unicorn")]))
    web = RecordedWeb(builder.finish())
    assert list(web.vocabulary) == ["", "dog", "fish", "cat", "owl", "unicorn"]
    assert [web.words(page).tolist() for page in range(web.n_pages)] == [[1], [2, 3, 2, 1], [4, 5]]


def test_a_text_page_has_the_limits_of_an_html_page() -> None:
    many = tuple(f"/{i}" for i in range(MAX_LINKS + 5))
    web = web_of([RawPage("http://a.org/", text="a " * MAX_PAGE_BYTES, links=many)])
    assert len(web.links(0)) == MAX_LINKS
    assert len(web.words(0)) == MAX_PAGE_BYTES // 2


def test_columns_in_files_hold_what_columns_in_memory_hold(tmp_path: Path) -> None:
    columns = FileColumns(tmp_path)
    builder = WebBuilder(columns)
    builder.add(BatchMaker().batch(three_pages()))
    web = RecordedWeb(builder.finish())
    columns.close()
    assert web.fingerprint == web_of(three_pages()).fingerprint
    assert {file.stem for file in tmp_path.iterdir()} == set(LAYOUT)


def test_a_column_that_grew_long_is_the_file_that_numpy_itself_would_write(tmp_path: Path) -> None:
    columns = FileColumns(tmp_path)
    for start in range(0, 2_000_000, 500_000):
        columns.append("word", np.arange(start, start + 500_000))
    taken = columns.take("word")
    columns.close()
    np.save(tmp_path / "expected.npy", np.arange(2_000_000, dtype=np.int32))
    assert (tmp_path / "word.npy").read_bytes() == (tmp_path / "expected.npy").read_bytes()
    assert taken[-1] == 1_999_999


def test_the_words_of_a_text_pages_title_come_first() -> None:
    web = web_of([RawPage("http://a.org/", text="red kites", title="Birds")])
    assert [web.vocabulary[word] for word in web.words(0)] == ["bird", "red", "kite"]


def test_a_damaged_web_is_reported_where_it_is_read(web: RecordedWeb) -> None:
    arrays = {name: array.copy() for name, array in web.arrays.items()}
    arrays["fingerprint_url"][:] = -5
    with pytest.raises(InvalidInput, match="Record the web again"):
        RecordedWeb(arrays).find("http://a.org/dogs")
    arrays["url_text"][:] = 0xFF
    assert set(RecordedWeb(arrays).url(0)) == {"\N{REPLACEMENT CHARACTER}"}
