"""Recording files into a web: what comes out, what is said of what was left out, and what is refused."""

import re
from pathlib import Path
from typing import Any

import pytest

from recording_input import contents, many_pages, nothing_but, write_pages
from scenthound.errors import InvalidInput, InvalidParameter
from scenthound.store import batches as batch_maker
from scenthound.store.batches import NOT_HTTP
from scenthound.store.record import SkippedCount, record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.sources.records import NOT_WANTED
from scenthound.store.sources.warc import UNKNOWN_TYPE
from scenthound.web.parse import parse_html


def test_a_recorded_web_holds_the_pages_of_all_files_in_order(tmp_path: Path) -> None:
    first = write_pages(tmp_path / "1.jsonl", {"url": "http://a.org/", "html": "<a href=b>b</a> <a href=x>x</a>"})
    second = write_pages(tmp_path / "2.jsonl", {"url": "http://a.org/b", "text": "dogs", "aliases": ["http://b.org"]})
    summary = record([first, str(second)], tmp_path / "web")
    web = RecordedWeb.open(tmp_path / "web")
    assert list(web.urls) == ["http://a.org/", "http://a.org/b", "http://b.org/", "http://a.org/x"]
    assert (summary.pages, summary.urls, summary.links, summary.links_recorded) == (2, 4, 2, 1)
    assert (summary.words, summary.vocabulary, summary.hosts, summary.aliases) == (3, 1, 1, 1)
    assert summary.bytes_read == first.stat().st_size + second.stat().st_size
    assert web.about["sources"][1] == {"file": "2.jsonl", "bytes": second.stat().st_size, "pages": 1}
    assert web.about["pages"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.jsonl", "2.jsonl", "web"]


def test_two_workers_write_the_same_bytes_as_one(tmp_path: Path) -> None:
    pages = many_pages(tmp_path / "pages.jsonl")
    summaries = [record([pages], tmp_path / f"web{workers}", workers=workers) for workers in (1, 2)]
    assert contents(tmp_path / "web1") == contents(tmp_path / "web2")
    assert summaries[0] == summaries[1]
    assert summaries[0].pages == 400
    assert summaries[0].aliases == 90


def test_leaks_are_removed_and_records_selected_on_request(tmp_path: Path) -> None:
    pages = write_pages(
        tmp_path / "pages.jsonl",
        {"url": "http://a.org/", "html": "dog<i>Pets</i>cat", "leak": [[3, 14]], "kind": "article"},
        {"url": "http://a.org/index", "html": "everything", "kind": "index"},
    )
    summary = record([pages], tmp_path / "web", without_leaks=True, where={"kind": "article"})
    web = RecordedWeb.open(tmp_path / "web")
    assert list(web.vocabulary) == ["", "dog", "cat"]
    ((reason, skipped),) = summary.skipped.items()
    assert re.fullmatch(rf"{NOT_WANTED}: kind .*\barticle", reason)
    assert skipped == SkippedCount(1, ("pages.jsonl, line 2",))
    assert web.about["options"] == {"without_leaks": True, "where": {"kind": "article"}}


def test_bad_records_are_counted_by_reason_and_the_first_few_named(tmp_path: Path) -> None:
    good = {"url": "http://a.org/", "html": "x"}
    nameless = [{"html": "x"}] * 5
    strange = [{"url": "gopher://a.org/", "html": "x"}, good | {"url": "HTTP://A.org"}]
    summary = record([write_pages(tmp_path / "p.jsonl", good, *nameless, *strange)], tmp_path / "web")
    assert summary.skipped == {
        "no url": SkippedCount(5, ("p.jsonl, line 2", "p.jsonl, line 3", "p.jsonl, line 4")),
        "duplicate url": SkippedCount(1, ("p.jsonl, line 8",)),
        NOT_HTTP: SkippedCount(1, ("p.jsonl, line 7",)),
    }


def test_a_page_that_cannot_be_parsed_does_not_stop_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = parse_html

    def easily_upset(html: str, *rest: Any, **options: Any) -> Any:
        if "poison" in html:
            raise RecursionError
        return parse(html, *rest, **options)

    monkeypatch.setattr(batch_maker, "parse_html", easily_upset)
    rows = [{"url": f"http://a.org/{i}", "html": "poison" if i == 1 else "dog"} for i in range(3)]
    summary = record([write_pages(tmp_path / "p.jsonl", *rows)], tmp_path / "web", workers=1)
    assert summary.pages == 2
    assert summary.skipped == {"cannot be parsed (RecursionError)": SkippedCount(1, ("p.jsonl, line 2",))}


def test_progress_ends_at_one_and_reports_pages(tmp_path: Path) -> None:
    told: list[tuple[float, str]] = []
    record([many_pages(tmp_path / "p.jsonl", 130)], tmp_path / "web", progress=lambda *news: told.append(news))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert told[0][1] == "64 pages"


@pytest.mark.parametrize("text", ["", "\n\n", "no json\n", '{"url": "ftp://a.org/", "text": "x"}\n'])
def test_a_file_without_pages_is_rejected_and_nothing_is_written(text: str, tmp_path: Path) -> None:
    good = write_pages(tmp_path / "good.jsonl", {"url": "http://a.org/", "text": "x"})
    (tmp_path / "bad.jsonl").write_text(text)
    with pytest.raises(InvalidInput, match=r"bad\.jsonl ") as refused:
        record([good, tmp_path / "bad.jsonl"], tmp_path / "web")
    assert "\n" not in str(refused.value)
    assert nothing_but(tmp_path, "good.jsonl", "bad.jsonl")


def test_a_file_without_rows_is_rejected(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    good = write_pages(tmp_path / "good.jsonl", {"url": "http://a.org/", "text": "x"})
    nothing = pyarrow.Table.from_pylist([], pyarrow.schema([("url", pyarrow.string())]))
    parquet.write_table(nothing, tmp_path / "empty.parquet")
    for files in ([good, tmp_path / "empty.parquet"], [tmp_path / "empty.parquet", good]):
        with pytest.raises(InvalidInput, match=r"empty\.parquet "):
            record(files, tmp_path / "web")


def test_a_file_of_duplicates_is_accepted(tmp_path: Path) -> None:
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/", "text": "x"})
    assert record([pages, pages], tmp_path / "web").skipped["duplicate url"].count == 1


def test_nothing_is_written_if_no_page_is_selected(tmp_path: Path) -> None:
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/", "text": "x"})
    with pytest.raises(InvalidInput, match=rf"{NOT_WANTED}: kind .*\barticle"):
        record([pages], tmp_path / "web", where={"kind": "article"})
    assert nothing_but(tmp_path, "p.jsonl")


def test_invalid_arguments_are_rejected_first(tmp_path: Path) -> None:
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/", "text": "x"})
    with pytest.raises(InvalidInput):
        record([], tmp_path / "web")
    with pytest.raises(InvalidInput, match="missing"):
        record([pages, tmp_path / "missing"], tmp_path / "web")
    with pytest.raises(InvalidParameter, match=r"workers\b.* 0\b"):
        record([pages], tmp_path / "web", workers=0)
    assert nothing_but(tmp_path, "p.jsonl")


def test_force_replaces_recorded_webs_only(tmp_path: Path) -> None:
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/", "text": "x"})
    out = tmp_path / "web"
    record([pages], out)
    with pytest.raises(InvalidInput, match="--force"):
        record([pages], out)
    write_pages(pages, {"url": "http://a.org/other", "text": "x"})
    record([pages], out, force=True)
    assert RecordedWeb.open(out).url(0) == "http://a.org/other"
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("years of work")
    with pytest.raises(InvalidInput, match="precious "):
        record([pages], tmp_path / "precious", force=True)
    assert nothing_but(tmp_path, "p.jsonl", "web", "precious")
    assert (tmp_path / "precious" / "thesis.txt").exists()


def test_messages_are_printable_whatever_a_file_contains(tmp_path: Path) -> None:
    path = tmp_path / "\x1b[2J.warc"
    path.write_bytes(
        b"WARC/1.0\r\nWARC-Type: \x1b]0;owned\x07" + b"y" * 5_000 + b"\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    )
    with pytest.raises(InvalidInput, match=rf"x1b\[2J\.warc .*\(1 x {UNKNOWN_TYPE}") as refused:
        record([path], tmp_path / "web")
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 1_000


def test_real_pages_are_recorded_as_their_files_describe_them(shared: Path, tmp_path: Path) -> None:
    """A real collection, small enough for a test: its counts are those of its description."""
    summary = record([shared / "data" / "mdn" / "pages.jsonl.zst"], tmp_path / "web")
    web = RecordedWeb.open(tmp_path / "web")
    assert summary.pages + summary.skipped.get("duplicate url", SkippedCount(0, ())).count == 11_635
    assert summary.hosts == 1
    offset, _ = web.inlinks
    assert 80_000 < offset[-1] < 96_000  # described as 88 k links inside
    anatomy = web.page_of("https://developer.mozilla.org/en-US/docs/Games/Anatomy_of_a_vIdeo_game")
    assert anatomy is not None
    assert web.title(anatomy) == "Anatomy of a video game"
    assert anatomy in web.labelled("Games/Anatomy")
    assert len(web.labelled("Web/CSS")) == 950
