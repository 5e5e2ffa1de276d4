"""Full-text search: queries, excerpts, and the index of a crawl."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from time import monotonic
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidInput
from scenthound.store.crawl_folder import ArchiveSettings
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.search_index import APPLICATION_ID, INDEX_FILE, PageSearch
from scenthound.store.search_query import MAX_TERMS, SearchQuery, Term, excerpt
from scenthound.store.stored_crawl import StoredCrawl
from stored_crawls import add_page, new_crawl, response, visit
from timing import WAIT_S


def test_words_phrases_prefixes_and_exclusions_are_parsed() -> None:
    query = SearchQuery.typed('hot "air balloon" -"gas burner" -rent ballo* e-mail')
    phrase = Term("air balloon", is_quoted=True)
    assert query.wanted == (Term("hot"), phrase, Term("ballo", is_prefix=True), Term("e-mail"))
    assert query.unwanted == (Term("gas burner", is_quoted=True), Term("rent"))


@pytest.mark.parametrize("typed", ["", "  ", "*", "-", '"', '""', "-balloon", "!? ...", "\0", "-*"])
def test_a_query_without_words_is_empty(typed: str) -> None:
    assert not SearchQuery.typed(typed)


def test_quotes_may_be_left_open_or_be_of_the_printed_kind() -> None:
    assert SearchQuery.typed('"hot air').wanted == SearchQuery.typed("\u201chot air\u201d").wanted
    assert SearchQuery.typed('"hot air').wanted == (Term("hot air", is_quoted=True),)


def test_a_quote_within_a_term_does_not_end_it() -> None:
    assert Term('a" OR "b').exact() == '"a"" OR ""b"'


def test_one_letter_begins_too_many_words() -> None:
    assert SearchQuery.typed("b*").wanted == (Term("b"),)


def test_more_terms_than_a_person_types_are_left_out() -> None:
    assert len(SearchQuery.typed("dog " * 100).wanted) == MAX_TERMS


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("balloon", {"balloons", "ballooning", "ballooned"}),
        ("Races", {"race", "raced", "racing"}),
        ("running", {"run", "runs"}),
        ("party", {"parties"}),
    ],
)
def test_a_word_has_other_forms_of_the_same_stem(word: str, forms: set[str]) -> None:
    (term,) = SearchQuery.typed(word).wanted
    assert forms <= set(term.forms())


@pytest.mark.parametrize("typed", ['"balloon"', "balloon*", "an", "the", "b2", "été"])
def test_phrases_prefixes_and_short_words_have_no_other_forms(typed: str) -> None:
    assert not SearchQuery.typed(typed).has_forms


@given(st.text(max_size=60) | st.text(alphabet="ab\"*-+^():{}'AND OR NOT NEAR\0\n", max_size=60))
def test_no_query_is_an_error(typed: str) -> None:
    query = SearchQuery.typed(typed)
    if query:
        for match in (query.exact(), query.widened(), query.only_other_forms()):
            INDEX.execute("SELECT rowid FROM page WHERE page MATCH ?", (match,)).fetchall()
    excerpt("some text about ballo\u00f6ns", typed)


INDEX = sqlite3.connect(":memory:")
INDEX.execute("CREATE VIRTUAL TABLE page USING fts5(title, url, text, content='')")


def test_an_excerpt_shows_where_the_words_stand_together() -> None:
    text = "hot soup. " + "x " * 300 + "the hot air rises and a balloon follows " + "y " * 300
    text_part = excerpt(text, "balloon hot air", 120)
    assert "hot air rises and a balloon follows" in text_part
    assert text_part.startswith("… x")
    assert text_part.endswith("y …")
    assert len(text_part) <= 120 + len("…  …")


def test_earlier_matches_do_not_count_for_a_later_position() -> None:
    text = "the air balloon " + "x " * 300 + "hot soup " + "y " * 300
    assert excerpt(text, "balloon hot air", 80).startswith("the air balloon")


def test_excerpts_match_other_forms_and_ignore_accents() -> None:
    text = "a " * 300 + "les montgolfi\u00e8res: BALLOONS " + "b " * 300
    assert "BALLOONS" in excerpt(text, "ballooning", 60)
    assert "montgolfi\u00e8res" in excerpt(text, "montgolfieres", 60)


def test_excerpts_match_words_without_spaces_within_others() -> None:
    text = "자동차 저자거리 " + "가나 " * 200 + "새 자전거를 샀다"
    assert "자전거를" in excerpt(text, "자전거", 40)
    assert "機械学習" in excerpt("機械の学習。" + "あいう、" * 100 + "最近の機械学習の本", "機械学習", 40)


def test_a_word_does_not_match_inside_another_unless_as_a_prefix() -> None:
    text = "overheated and heated " + "c " * 300 + "heat"
    assert excerpt(text, '"heat"', 80).endswith("heat")
    assert excerpt(text, "heat*", 80).startswith("overheated and heated")


def test_an_excerpt_without_matches_is_the_start() -> None:
    assert excerpt("one two three", "balloon") == "one two three"
    assert excerpt("one two three", "") == "one two three"
    assert excerpt("one " * 100, "balloon", 40) == "one one one one one one one one one one …"


def test_white_space_of_an_excerpt_is_joined() -> None:
    assert excerpt("one\n two\t three", "two") == "one two three"


TEXTS = [
    "Hot air balloons rise.",
    "A balloon race with burners.",
    "Air race of planes, hot engines.",
    "Trains &lt;script&gt;alert(1)&lt;/script&gt; montgolfi\u00e8re",
    "\u6c14\u7403\u6bd4\u8d5b\u5f88\u597d\u770b",
]


def add_text(store: CrawlStore, number: int, text: str, title: str = "") -> None:
    html = f"<title>{title}</title><p>{text}".encode()
    headers = ("Content-Type: text/html; charset=utf-8",)
    add_page(store, number, response(f"http://a.test/page{number}", html, headers=headers), title=title)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with new_crawl(tmp_path / "crawl") as store:
        for number, text in enumerate(TEXTS):
            add_text(store, number, text)
        store.commit()
    return tmp_path / "crawl"


@pytest.fixture
def crawl(folder: Path) -> Iterator[StoredCrawl]:
    with StoredCrawl.open(folder) as crawl:
        yield crawl


@pytest.fixture
def search(crawl: StoredCrawl) -> Iterator[PageSearch]:
    with PageSearch.open(crawl) as search:
        index_all(search, crawl)
        yield search


def index_all(search: PageSearch, crawl: StoredCrawl, most_pages: int = 2) -> None:
    while search.index_on(crawl, most_pages):
        pass


def found(search: PageSearch, typed: str) -> list[int]:
    return [hit.visit for hit in search.search(typed)]


@pytest.mark.parametrize(
    ("typed", "visits"),
    [
        ("balloon", {1, 0}),
        ('"balloon"', {1}),
        ("hot air", {0, 2}),
        ('"hot air"', {0}),
        ("race -planes", {1}),
        ('hot -"hot air"', {2}),
        ("ballo*", {0, 1}),
        ("bal*", {0, 1}),
        ("MONTGOLFIERE", {3}),
        ("script", {3}),
        ("page2", {2}),
        ("zeppelin", set()),
        ("hot zeppelin", set()),
        ("\u6bd4\u8d5b", {4}),
        ("\u8d5b\u6bd4", set()),
        ("OR AND NOT (", set()),
        ("-hot", set()),
    ],
)
def test_queries_find_pages(search: PageSearch, typed: str, visits: set[int]) -> None:
    assert set(found(search, typed)) == visits
    assert search.count(typed) == len(visits)


def test_words_without_spaces_are_found_within_others(tmp_path: Path) -> None:
    texts = ["최근에 자전거를 타고 달립니다", "자동차로 전거리를 달립니다", "เราชอบปีนเขาในฤดูหนาว", "熱気球の大会"]
    with new_crawl(tmp_path / "crawl") as store:
        for number, text in enumerate(texts):
            add_text(store, number, text)
        store.commit()
    with StoredCrawl.open(tmp_path / "crawl") as crawl, PageSearch.open(crawl) as search:
        index_all(search, crawl)
        queries = {"자전거": {0}, "달립니다": {0, 1}, "ปีนเขา": {2}, "เขาปีน": set(), "気球": {3}, "球気": set()}
        assert {typed: set(found(search, typed)) for typed in queries} == queries


def test_pages_with_the_words_as_typed_come_before_those_with_other_forms(search: PageSearch) -> None:
    assert found(search, "balloon") == [1, 0]
    assert found(search, "balloons") == [0, 1]


def test_pagination_keeps_the_order(search: PageSearch) -> None:
    for typed in ("balloon", "balloons", "race", "hot"):
        in_one_page = found(search, typed)
        assert [hit.visit for start in range(4) for hit in search.search(typed, 1, start)] == in_one_page


def test_a_word_of_the_title_weighs_more_than_one_of_the_text(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        add_text(store, 0, "dogs are here", title="some animals")
        add_text(store, 1, "animals are here", title="some dogs")
        for number in range(2, 6):
            add_text(store, number, "nothing of it")
        store.commit()
    with StoredCrawl.open(tmp_path / "crawl") as crawl, PageSearch.open(crawl) as search:
        index_all(search, crawl)
        assert found(search, "dogs") == [1, 0]
        first, second = search.search("dogs")
        assert first.score > second.score > 0


def test_of_very_many_pages_the_first_are_ordered(search: PageSearch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenthound.store.search_index.MAX_ORDERED", 1)
    assert found(search, '"hot"') == [0]
    assert search.count("hot") == 2
    assert search.count("hot", limit=1) == 1


def test_an_index_grows_in_steps_and_with_the_crawl(folder: Path, crawl: StoredCrawl) -> None:
    with PageSearch.open(crawl) as search:
        assert search.index_on(crawl, 3)
        assert search.n_indexed == 3
        assert found(search, "trains") == []
        assert not search.index_on(crawl, 3)
        assert found(search, "trains") == [3]
        with CrawlStore.open(folder) as store:
            add_text(store, 5, "zeppelin")
            store.commit()
        index_all(search, crawl)
        assert (search.n_indexed, found(search, "zeppelin")) == (6, [5])


def test_an_existing_index_is_reused_without_duplicates(crawl: StoredCrawl) -> None:
    for _ in range(2):
        with PageSearch.open(crawl) as search:
            index_all(search, crawl)
            assert search.count("hot") == 2
    assert (crawl.folder / INDEX_FILE).is_file()


def test_an_interrupted_step_is_rolled_back(crawl: StoredCrawl, monkeypatch: pytest.MonkeyPatch) -> None:
    text_of = StoredCrawl.text_of

    def killed(stored: StoredCrawl, row: VisitRecord) -> str:
        if row.visit == 2:
            raise KeyboardInterrupt
        return text_of(stored, row)

    with PageSearch.open(crawl) as search:
        with monkeypatch.context() as patch:
            patch.setattr(StoredCrawl, "text_of", killed)
            with pytest.raises(KeyboardInterrupt):
                search.index_on(crawl, 4)
        assert (search.n_indexed, found(search, "hot")) == (0, [])
        index_all(search, crawl)
        assert search.n_indexed == len(TEXTS)


def test_a_page_without_text_is_found_by_title_and_url(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        store.add(visit(0, title="Zeppelins"))
        store.add(visit(1, url="http://b.test/airship"))
        add_text(store, 2, "lost words", title="Damaged")
        store.commit()
    archive = next((tmp_path / "crawl" / "archive").iterdir())
    archive.write_bytes(bytes(len(archive.read_bytes())))
    with StoredCrawl.open(tmp_path / "crawl") as crawl, PageSearch.open(crawl) as search:
        index_all(search, crawl)
        assert [found(search, typed) for typed in ("zeppelin", "airship", "damaged", "lost")] == [[0], [1], [2], []]


def test_the_index_of_another_crawl_is_replaced(folder: Path, crawl: StoredCrawl, search: PageSearch) -> None:
    archive = ArchiveSettings("agent")
    with CrawlStore.create(folder.parent / "other", {}, archive, crawl_id=uuid4()) as store:
        add_text(store, 0, "zeppelin")
        store.commit()
        search.close()
        (folder / INDEX_FILE).rename(store.folder / INDEX_FILE)
        with PageSearch.open(store) as other:
            assert (other.n_indexed, other.search("hot")) == (0, [])
            index_all(other, store)
            assert found(other, "zeppelin") == [0]
            with pytest.raises(InvalidInput, match=f"{crawl.folder} "):
                other.index_on(crawl)


def test_a_file_that_is_not_an_index_is_replaced(crawl: StoredCrawl) -> None:
    (crawl.folder / INDEX_FILE).write_bytes(b"no database, whatever its name says " * 100)
    with PageSearch.open(crawl) as search:
        index_all(search, crawl)
        assert search.count("hot") == 2


def database_of_another(file: Path) -> Path:
    with closing(sqlite3.connect(file)) as database:
        database.executescript("CREATE TABLE page (x); CREATE TABLE about (y); INSERT INTO page VALUES ('precious');")
    return file


def is_untouched(file: Path) -> bool:
    with closing(sqlite3.connect(file)) as database:
        tables = database.execute("SELECT name FROM sqlite_master").fetchall()
        mode = database.execute("PRAGMA journal_mode").fetchone()[0]
        return (tables, mode) == ([("page",), ("about",)], "delete")


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("leads", [True, False])
def test_a_symbolic_link_is_not_followed(crawl: StoredCrawl, ending: str, leads: bool) -> None:
    theirs = database_of_another(crawl.folder.parent / "theirs")
    (crawl.folder / f"{INDEX_FILE}{ending}").symlink_to(theirs if leads else crawl.folder.parent / "nowhere")
    before = theirs.read_bytes()
    with PageSearch.open(crawl) as search:
        index_all(search, crawl)
        assert search.count("hot") == 2
    assert theirs.read_bytes() == before
    assert not (crawl.folder.parent / "nowhere").exists()


def test_a_database_of_another_program_is_left_alone(crawl: StoredCrawl) -> None:
    theirs = database_of_another(crawl.folder / INDEX_FILE)
    with PageSearch.open(crawl) as search:
        index_all(search, crawl)
        assert search.count("hot") == 2
    assert is_untouched(theirs)


def test_an_unfinished_index_is_continued(crawl: StoredCrawl) -> None:
    with closing(sqlite3.connect(crawl.folder / INDEX_FILE)) as begun:
        begun.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    with PageSearch.open(crawl) as search:
        index_all(search, crawl)
    with closing(sqlite3.connect(crawl.folder / INDEX_FILE)) as index:
        assert index.execute("SELECT pages FROM about").fetchone() == (len(TEXTS),)


def test_closing_waits_for_indexing(crawl: StoredCrawl, monkeypatch: pytest.MonkeyPatch) -> None:
    adds, may_end = threading.Event(), threading.Event()

    def slow(*_: object) -> str:
        adds.set()
        assert may_end.wait(WAIT_S)
        return ""

    monkeypatch.setattr(StoredCrawl, "text_of", slow)
    search = PageSearch.open(crawl)
    adding = threading.Thread(target=search.index_on, args=(crawl, 1))
    closer = threading.Thread(target=search.close)
    adding.start()
    assert adds.wait(WAIT_S)
    closer.start()
    closer.join(0.05)
    assert closer.is_alive()
    may_end.set()
    for thread in (adding, closer):
        thread.join(WAIT_S)
    with pytest.raises(InvalidInput, match=f"{crawl.folder / INDEX_FILE} "):
        search.count("hot")


def test_the_index_of_a_read_only_folder_is_temporary(crawl: StoredCrawl) -> None:
    (crawl.folder / INDEX_FILE).mkdir()
    with PageSearch.open(crawl) as search:
        index_all(search, crawl)
        file = search.file
        assert not file.is_relative_to(crawl.folder)
        assert search.count("hot") == 2
    assert not file.exists()


def test_others_search_while_one_process_indexes(crawl: StoredCrawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenthound.store.search_index._TIMEOUT_S", 2 * WAIT_S)
    with ExitStack() as opened:
        one, other = (opened.enter_context(PageSearch.open(crawl)) for _ in range(2))
        one.index_on(crawl, 1)
        with one._transaction() as is_ours:
            assert is_ours
            one._writer.execute("INSERT INTO page (rowid, text) VALUES (1, 'hot')")
            began_s = monotonic()
            assert not other.index_on(crawl, 10)
            assert monotonic() - began_s < WAIT_S
            assert not one.index_on(crawl, 10)
            assert found(other, "hot") == found(one, "hot") == [0]
            with PageSearch.open(crawl) as third:
                assert third.n_indexed == 1
        assert set(found(other, "hot")) == {0, 1}


def test_threads_may_search_while_pages_are_added(crawl: StoredCrawl) -> None:
    with PageSearch.open(crawl) as search:
        faults: list[BaseException] = []

        def look() -> None:
            try:
                for _ in range(30):
                    search.search("hot air")
            except BaseException as fault:
                faults.append(fault)
                raise

        threads = [threading.Thread(target=look) for _ in range(3)]
        for thread in threads:
            thread.start()
        index_all(search, crawl, 1)
        for thread in threads:
            thread.join()
        assert not faults
        assert search.count("hot") == 2


def test_a_damaged_index_is_reported_in_one_line(crawl: StoredCrawl) -> None:
    with PageSearch.open(crawl) as search:
        index_all(search, crawl)
        with sqlite3.connect(crawl.folder / INDEX_FILE) as connection:
            connection.execute("DELETE FROM page_data")
        connection.close()
        with pytest.raises(InvalidInput, match=rf"{crawl.folder / INDEX_FILE} \(.+\): "):
            search.search("hot air race")
