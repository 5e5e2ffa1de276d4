"""Topic files: what is written reads back, what collections carry is understood, what is wrong is named."""

import errno
import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import Failure, InvalidInput, InvalidTopic, ScenthoundError
from scenthound.model import Topic
from scenthound.topics.files import MAX_LEVELS, parent_path, path_words, read_topics, write_topics

SUFFIXES = [".toml", ".jsonl", ".toml.gz", ".toml.zst", ".jsonl.gz", ".jsonl.zst"]
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
FILLED = TEXT.filter(str.strip)
TOPIC = st.builds(
    Topic,
    id=FILLED,
    keywords=st.lists(FILLED, min_size=1, max_size=3).map(tuple),
    path=TEXT,
    description=TEXT,
    examples=st.lists(TEXT, max_size=3).map(tuple),
    seeds=st.lists(TEXT, max_size=2).map(tuple),
    targets=st.lists(TEXT, max_size=2).map(tuple),
    description_from=st.lists(TEXT, max_size=2).map(tuple),
)
CHEMISTRY = Topic(id="chemistry", keywords=("acid", "base"), examples=("http://a.test/",))


def written(tmp_path: Path, name: str, content: str) -> Path:
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    return file


def complaint(file: Path) -> str:
    with pytest.raises(ScenthoundError) as caught:
        read_topics(file)
    message = str(caught.value)
    assert "\n" not in message
    assert str(file) in message
    return message


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(topics=st.lists(TOPIC, min_size=1, max_size=3, unique_by=lambda topic: topic.id))
def test_what_is_written_reads_back_as_the_same_topics(
    suffix: str, topics: list[Topic], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.getbasetemp() / f"topics{suffix}"
    write_topics(file, topics)
    assert read_topics(file) == topics


def test_a_toml_file_may_be_written_by_hand(tmp_path: Path) -> None:
    file = written(tmp_path, "t.toml", '[[topic]]\nid = "chemistry"\nkeywords = ["acid", "base"]\n')
    assert read_topics(file) == [Topic(id="chemistry", keywords=("acid", "base"))]


def test_fields_that_collections_add_are_ignored_and_null_means_missing(tmp_path: Path) -> None:
    line = '{"id": "a", "keywords": ["k"], "n_pages": 3, "main_page": null, "label_source": "x"}\n\n'
    assert read_topics(written(tmp_path, "t.jsonl", line)) == [Topic(id="a", keywords=("k",))]


def test_the_main_page_counts_as_a_page_the_description_was_taken_from(tmp_path: Path) -> None:
    lines = (
        '{"id": "a", "keywords": ["k"], "main_page": "http://m.test/"}\n'
        '{"id": "b", "keywords": ["k"], "main_page": "http://m.test/", "description_from": ["http://m.test/"]}\n'
    )
    topics = read_topics(written(tmp_path, "t.jsonl", lines))
    assert [topic.description_from for topic in topics] == [("http://m.test/",), ("http://m.test/",)]


def test_missing_keywords_are_the_words_of_the_path(tmp_path: Path) -> None:
    line = '{"id": "a", "path": "Top/Recreation/Hot_Air_Ballooning/Air"}'
    assert read_topics(written(tmp_path, "t.jsonl", line))[0].keywords == (
        "Recreation",
        "Hot",
        "Air",
        "Ballooning",
    )


def test_a_string_may_hold_line_separators_that_are_no_line_feeds(tmp_path: Path) -> None:
    line = '{"id": "a\u2028b\x85c", "keywords": ["k"]}'
    assert read_topics(written(tmp_path, "t.jsonl", line))[0].id == "a\u2028b\x85c"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.toml", "[[topic]\n", "line 1"),
        ("t.toml", 'topic = "chemistry"', "[[topic]]"),
        ("t.jsonl", '{"id": "a", "keywords": ["k"]}\n{"id": ', "line 2: invalid JSON"),
        ("t.jsonl", '["a"]', "not list"),
        ("t.jsonl", '{"keywords": ["k"]}', "no id"),
        ("t.jsonl", '{"id": " ", "keywords": ["k"]}', "no id"),
        ("t.jsonl", '{"id": "a", "keywords": [" "]}', "line 1 ('a'): the topic has no keywords"),
        ("t.jsonl", '{"id": "a", "path": "Top/_/&"}', "no keywords"),
        ("t.jsonl", '{"id": 7, "keywords": ["k"]}', "id must be a string, not int"),
        ("t.jsonl", '{"id": "a", "keywords": "k"}', "keywords must be a list"),
        ("t.jsonl", '{"id": "a", "keywords": ["k"], "examples": [1]}', "examples must be a list"),
        ("t.toml", '[[topic]]\nid="a"\nkeywords=["k"]\n[[topic]]\nid="a"\nkeywords=["k"]', "topic 2: duplicate"),
        ("t.jsonl", "\n", "no topics"),
        ("t.toml", "", "no topics"),
        ("t.csv", "id,keywords", ".toml or .jsonl"),
        ("t.toml", "x = " + "[" * 5_000, "nested too deeply"),
        ("t.toml", "x = " + "{a = " * 5_000, "nested too deeply"),
        ("t.toml", "x = " + "1" * 5_000, "too long"),
        ("t.jsonl", '{"x": ' + "[" * 5_000, "line 1: invalid JSON"),
        ("t.jsonl", '{"x": ' + "1" * 5_000 + "}", "line 1: invalid JSON"),
        ("t.jsonl", '{"id": "a", "path": "Top' + "/x" * (MAX_LEVELS + 1) + '"}', "more than 100 levels"),
    ],
)
def test_errors_in_a_file_are_reported_in_one_line_with_their_position(
    tmp_path: Path, name: str, content: str, words: str
) -> None:
    assert words in complaint(written(tmp_path, name, content))


def test_a_missing_file_is_invalid_input(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=rf"nowhere\.toml: {os.strerror(errno.ENOENT)}"):
        read_topics(tmp_path / "nowhere.toml")


def test_a_file_that_is_not_utf8_is_invalid_input(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(b'{"id": "caf\xe9"}')
    with pytest.raises(InvalidInput, match=r"t\.jsonl .*\bUTF-8 .*\b11: "):
        read_topics(tmp_path / "t.jsonl")


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_truncated_compressed_file_is_invalid_input(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"t.jsonl{suffix}"
    write_topics(file, [CHEMISTRY])
    file.write_bytes(file.read_bytes()[:-9])
    assert complaint(file).startswith(f"{file} ")


def test_compression_is_detected_by_content(tmp_path: Path) -> None:
    line = b'{"id": "a", "keywords": ["k"]}'
    for name, content in (("t.jsonl.gz", line), ("t.jsonl", gzip.compress(line)), ("t.jsonl.zst", gzip.compress(line))):
        (tmp_path / name).write_bytes(content)
        assert read_topics(tmp_path / name) == [Topic(id="a", keywords=("k",))]


def test_a_path_may_have_a_hundred_levels(tmp_path: Path) -> None:
    path = "Top" + "/x" * MAX_LEVELS
    line = f'{{"id": "a", "path": "{path}"}}'
    assert read_topics(written(tmp_path, "t.jsonl", line))[0].path == path


def test_errors_about_files_with_unprintable_names_are_printable(tmp_path: Path) -> None:
    with pytest.raises(InvalidTopic) as caught:
        read_topics(written(tmp_path, "t\x1b[31m\n.jsonl", "\n"))
    assert str(caught.value).isprintable()


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "t.jsonl"
    write_topics(file, [CHEMISTRY])

    def full_disk(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(Failure, match=os.strerror(errno.ENOSPC)):
        write_topics(file, [Topic(id="other", keywords=("k",))])
    assert read_topics(file) == [CHEMISTRY]
    assert list(tmp_path.iterdir()) == [file]


def test_writing_no_topics_or_invalid_text_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InvalidTopic, match=r"t\.toml: .*\btopics\b"):
        write_topics(tmp_path / "t.toml", [])
    with pytest.raises(InvalidTopic, match="Unicode"):
        write_topics(tmp_path / "t.jsonl", [Topic(id="\ud800", keywords=("k",))])
    assert list(tmp_path.iterdir()) == []


def test_the_words_and_the_parent_of_a_path() -> None:
    assert path_words("Top/Arts/PB_&_J_Otter") == ("Arts", "PB", "J", "Otter")
    assert path_words("Science/top_science") == ("Science", "top")
    assert path_words("") == ()
    assert parent_path("Top/Arts/Animation") == "Top/Arts"
    assert parent_path("Top") == ""


@pytest.mark.parametrize(("name", "n"), [("wpschools", 145), ("nlab", 108), ("mdn", 280), ("debdocs", 70)])
def test_the_topics_of_real_collections_are_read(shared: Path, name: str, n: int) -> None:
    topics = read_topics(shared / "data" / name / "topics.jsonl")
    assert len(topics) == n
    assert all(topic.keywords and topic.examples for topic in topics)
