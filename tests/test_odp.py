"""Open Directory dumps: content, repairs, truncation."""

import errno
import gzip
import os
import random
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidInput
from scenthound.files import compressed_as
from scenthound.topics import odp as rdf_text
from scenthound.topics.directory import odp_tree
from scenthound.topics.odp import Category, ListedPage, Listing, Truncation, read_categories, read_listings

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<RDF xmlns:r="http://www.w3.org/TR/RDF/" '
    'xmlns:d="http://purl.org/dc/elements/1.0/" xmlns="http://dmoz.org/rdf/">\n'
)


def listings(file: Path) -> tuple[list[Listing], list[Truncation]]:
    truncations: list[Truncation] = []
    return list(read_listings(file, truncations.append)), truncations


def dump(tmp_path: Path, body: str | bytes, name: str = "content.rdf.u8") -> Path:
    file = tmp_path / name
    content = HEAD.encode() + (body if isinstance(body, bytes) else body.encode()) + b"</RDF>"
    file.write_bytes(compressed_as(file, content))
    return file


def page(url: str, title: str, description: str = "", topic: str = "Top/A") -> str:
    return (
        f'<ExternalPage about="{url}"><d:Title>{title}</d:Title><d:Description>{description}</d:Description>'
        f"<topic>{topic}</topic></ExternalPage>\n"
    )


def topic(path: str, *urls: str) -> str:
    links = "".join(f'<link r:resource="{url}"></link>' for url in urls)
    return f'<Topic r:id="{path}">{links}</Topic>\n'


def test_the_sample_structure_gives_children_but_not_symbolic_links_or_aliases(shared: Path) -> None:
    truncations: list[Truncation] = []
    file = shared / "data/odp/structure_sample.rdf.u8"
    world, arts = read_categories(file, truncations.append)
    assert truncations == []
    assert world == Category("Top/World", ("Top/Arts",))
    assert arts.path == "Top/Arts"
    assert arts.children == (
        "Top/Arts/Directories",
        "Top/Arts/News_and_Media",
        "Top/Arts/Weblogs",
        "Top/Arts/Chats_and_Forums",
        "Top/Arts/Art_History",
        "Top/Arts/Crafts",
    )


def test_the_sample_content_gives_pages_in_order_with_the_editors_text(shared: Path) -> None:
    found, truncations = listings(shared / "data/odp/content_sample.rdf.u8")
    assert truncations == []
    assert [(listing.path, len(listing.pages)) for listing in found] == [
        ("Top/Arts/Animation", 7),
        ("Top/Arts/Animation/Cartoons/Titles/P/PB_&_J_Otter", 1),
        ("Top/World/Armenian/Առողջություն", 5),
    ]
    assert found[0].pages[0].url == "http://www.awn.com/"
    assert found[0].pages[0].title == "Animation World Network"
    assert found[0].pages[5] == ListedPage(
        "http://www.spark-online.com/august00/media/romano.html", "", ""
    )  # listed, but the sample does not describe it
    assert found[1].pages[0].title == "PB &J Otter"


def test_a_dump_truncated_anywhere_is_read_up_to_there(shared: Path, tmp_path: Path) -> None:
    complete = (shared / "data/odp/cosr_dmoz_content_head.rdf").read_bytes()
    for n_bytes in range(1000, len(complete) - 10, 997):
        file = tmp_path / "cut.rdf"
        file.write_bytes(complete[:n_bytes])
        found, truncations = listings(file)
        assert [cut.line for cut in truncations] == [complete[:n_bytes].count(b"\n") + 1]
        described = sum(bool(page.title) for listing in found for page in listing.pages)
        assert described == complete[:n_bytes].count(b"</ExternalPage>")
    assert listings(shared / "data/odp/cosr_dmoz_content_head.rdf")[1] == []


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_truncated_compressed_dump_is_read_and_reported(tmp_path: Path, suffix: str) -> None:
    rng = random.Random(0)
    body = "".join(topic(f"Top/{n}", f"http://a.test/{rng.random()}") for n in range(20_000))
    complete = dump(tmp_path, body, f"content.rdf.u8{suffix}")
    assert len(listings(complete)[0]) == 20_000
    truncated_file = tmp_path / f"cut.rdf{suffix}"
    truncated_file.write_bytes(complete.read_bytes()[: complete.stat().st_size // 2])
    found, truncations = listings(truncated_file)
    assert 4_000 < len(found) < 20_000
    assert len(truncations) == 1
    assert "\n" not in str(truncations[0])


def test_a_dump_corrupt_at_its_end_is_read_completely_and_reported(tmp_path: Path) -> None:
    file = dump(tmp_path, topic("Top/A", "u"), "content.rdf.gz")
    content = bytearray(file.read_bytes())
    content[-8] ^= 0xFF  # the checksum
    file.write_bytes(content)
    found, (cut,) = listings(file)
    assert found == [Listing("Top/A", (ListedPage("u", "", ""),))]
    assert "CRC" in cut.reason


def test_a_dump_corrupt_from_the_start_is_invalid_input(tmp_path: Path) -> None:
    file = tmp_path / "content.rdf.gz"
    file.write_bytes(gzip.compress(b"x" * 1_000)[:12])
    with pytest.raises(InvalidInput, match="corrupt"):
        listings(file)


def test_categories_that_are_too_deep_are_omitted(tmp_path: Path) -> None:
    deep = "Top" + "/x" * 1_500
    content = dump(tmp_path, topic(deep, "u1") + topic("Top/A", "u2") + page("u3", "three", topic=deep))
    assert [listing.path for listing in listings(content)[0]] == ["Top/A"]
    body = f'<Topic r:id="Top"><narrow r:resource="{deep}"/><narrow r:resource="Top/A"/></Topic><Topic r:id="{deep}"/>'
    structure = dump(tmp_path, body, "structure.rdf")
    assert list(read_categories(structure, pytest.fail)) == [Category("Top", ("Top/A",))]
    assert list(odp_tree(structure, content, pytest.fail).paths) == ["Top", "Top/A"]


def test_invalid_characters_and_html_entities_are_repaired(tmp_path: Path) -> None:
    body = (
        topic("Top/A", "http://a.test/?x=1&amp;copy=2").encode()
        + b'<ExternalPage about="http://a.test/?x=1&amp;copy=2"><d:Title>A\x0bT&T &nbsp;caf\xe9 &#1;</d:Title>'
        + b"<d:Description>&lt;b&gt;Fine&lt;/b&gt; &amp;eacute;t&eacute; 1 &lt; 2</d:Description></ExternalPage>"
    )
    found, truncations = listings(dump(tmp_path, body))
    assert truncations == []
    (only,) = found[0].pages
    assert only == ListedPage("http://a.test/?x=1&copy=2", "AT&T caf\ufffd \ufffd", "Fine été 1 < 2")


def test_all_kinds_of_links_are_pages(tmp_path: Path) -> None:
    body = (
        '<Topic r:id="Top/A"><link1 r:resource="u1"/><link r:resource="u2"/><pdf r:resource="u3"/>'
        '<rss r:resource="u4"/></Topic>' + page("u5", "five") + page("u6", "six", topic="Top/B") + topic("Top/C")
    )
    found, _ = listings(dump(tmp_path, body))
    assert [(listing.path, [page.url for page in listing.pages]) for listing in found] == [
        ("Top/A", ["u1", "u2", "u3", "u4", "u5"]),
        ("Top/B", ["u6"]),
    ]


def test_the_root_without_a_name_is_top_and_aliases_are_no_categories(tmp_path: Path) -> None:
    body = (
        '<Topic r:id=""><narrow r:resource="Top/A"/><letterbar r:resource="Top/B"/></Topic>'
        '<Alias r:id="X:Top/A"><d:Title>X</d:Title><Target r:resource="Top/A"/></Alias><Topic r:id="Top/A"/>'
    )
    found = list(read_categories(dump(tmp_path, body), pytest.fail))
    assert found == [Category("Top", ("Top/A", "Top/B")), Category("Top/A", ())]


@given(
    text=st.text(st.sampled_from("ab&;#x1amp é\x01\ufffe<")).map(lambda text: text.replace("<", "&lt;")),
    chunk_bytes=st.integers(1, 12),
)
def test_the_chunk_size_does_not_change_the_result(
    text: str, chunk_bytes: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.getbasetemp() / "pieces.rdf"
    file.write_bytes((HEAD + topic("Top/A", "u") + page("u", text) + "</RDF>").encode())
    complete = listings(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rdf_text, "CHUNK_BYTES", chunk_bytes)
        assert listings(file) == complete
    assert complete[1] == []


@pytest.mark.parametrize("content", [b"", b"hello", b"<html><body></body></html>", b'{"id": 1}'])
def test_other_files_are_invalid_input(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.rdf"
    file.write_bytes(content)
    with pytest.raises(InvalidInput, match="RDF"):
        listings(file)


def test_exchanged_files_are_detected(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"structure\.rdf"):
        list(read_categories(dump(tmp_path, page("u", "t")), pytest.fail))
    with pytest.raises(InvalidInput, match=r"content\.rdf"):
        listings(dump(tmp_path, '<Topic r:id="Top"><narrow r:resource="Top/A"/></Topic>'))


def test_a_missing_file_is_invalid_input(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=rf"nowhere\.rdf: {os.strerror(errno.ENOENT)}"):
        listings(tmp_path / "nowhere.rdf")


def peak_bytes(file: Path) -> int:
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_listings(file, pytest.fail)) > 0
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    one = "".join(topic(f"Top/{n}", f"u{n}") + page(f"u{n}", "title " * 9, topic=f"Top/{n}") for n in range(2000))
    small = dump(tmp_path, one, "small.rdf")
    large = dump(tmp_path, one * 8, "large.rdf")
    assert large.stat().st_size > 3_000_000
    assert peak_bytes(large) < 1.2 * peak_bytes(small)
