"""Building a recorded web: which page, alias and link wins, in whatever batches pages come."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recording_input import terms_of, three_pages
from scenthound.errors import InvalidInput
from scenthound.store import batches as batch_maker
from scenthound.store.batches import BatchMaker, RawPage, RawRedirect
from scenthound.store.builder import WebBuilder, web_of
from scenthound.store.layout import LAYOUT, FileColumns, MemoryColumns
from scenthound.store.recorded_web import RecordedWeb
from scenthound.text.tokenizer import WordScanner
from scenthound.web.parse import MAX_LINKS, MAX_PAGE_BYTES


def test_all_links_of_a_nofollow_page_are_marked() -> None:
    head = "<meta name=robots content='noindex, nofollow'>"
    web = web_of([RawPage("http://a.org/", html=f"{head}<a href=b>b</a>"), RawPage("http://a.org/c", text="c")])
    assert web.link_nofollow.tolist() == [True]
    assert web.page_noindex.tolist() == [True, False]


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


def test_the_salt_is_random_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    salts: list[int] = []

    class Listening(WordScanner):
        def __init__(self, salt: int = 0) -> None:
            salts.append(salt)
            super().__init__(salt)

    monkeypatch.setattr(batch_maker, "WordScanner", Listening)
    webs = []
    for salt in (None, None, 0, 12345):
        builder = WebBuilder(MemoryColumns())
        builder.add(BatchMaker(salt).batch(three_pages()))
        webs.append(RecordedWeb(builder.finish()))
    assert len(set(salts)) == 4
    assert min(salts[:2]) > 1 << 32
    assert {web.fingerprint for web in webs} == {web_of(three_pages()).fingerprint}


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
