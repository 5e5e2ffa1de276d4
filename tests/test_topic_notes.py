"""Notes on keywords that are ignored, and on start pages that were skipped or do not look on topic."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import scenthound as sh
from scenthound.crawler.topic_notes import NO_NOTES, OffTopicSeed, SeedProblem, TopicNotes, ignored_keywords
from scenthound.errors import InvalidTopic
from scenthound.reasons import SkipReason
from scenthound.relevance.rocchio import Rocchio
from scenthound.text.tokenizer import WordScanner
from scenthound.ui.topic_notes import MAX_SKIPPED, ignored_keywords_text, note_texts
from scenthound.web.static_server import StaticServer, pages_of

Call = Callable[..., tuple[int, str, str]]
ADDRESS = "127.64.0.1"
HOST = "start.test"
PAGES = {
    "balloons": "<title>Balloons</title><p>Hot air balloons rise with warm air; a balloon has a burner and a basket.",
    "empty": "<title></title><script>render()</script><div id=app></div>",
    "japanese": "<title>気球</title><p>熱気球は暖かい空気が軽いことを利用して空に浮かびます。",
    "russian": "<title>Шары</title><p>Воздушные шары поднимаются, потому что тёплый воздух легче холодного.",
    "german": "<title>Ballone</title><p>Heissluftballone steigen, weil warme Luft leichter ist als die Luft daneben.",
}


@pytest.fixture(scope="module")
def server() -> Iterator[StaticServer]:
    pages = {f"http://{HOST}/{name}": html for name, html in PAGES.items()}
    with StaticServer(pages_of(pages), [ADDRESS]) as served:
        yield served


def crawl_from(server: StaticServer, out: Path, keywords: list[str], *names: str) -> sh.Crawl:
    return sh.crawl(
        sh.Topic("t", keywords=keywords),
        [server.url(f"http://{HOST}/{name}") for name in names],
        out=out,
        pages=len(names),
        hosts={HOST: ADDRESS},
        allow_private=True,
        delay=0,
        progress=False,
    )


def problems(crawl: sh.Crawl) -> dict[str, SeedProblem]:
    assert crawl.summary is not None
    return {seed.url.rpartition("/")[2]: seed.problem for seed in crawl.summary.topic_notes.off_topic_seeds}


def test_start_pages_that_do_not_look_on_topic_have_a_reason(server: StaticServer, tmp_path: Path) -> None:
    crawl = crawl_from(server, tmp_path / "crawl", ["balloon", "basket"], *PAGES)
    assert problems(crawl) == {
        "empty": SeedProblem.NO_TEXT,
        "japanese": SeedProblem.OTHER_SCRIPT,
        "russian": SeedProblem.OTHER_SCRIPT,
        "german": SeedProblem.NO_KEYWORD,
    }
    assert len(crawl.notes) == 3
    assert sh.open_crawl(tmp_path / "crawl").notes == crawl.notes


def test_keywords_in_the_language_of_the_start_page_are_found(server: StaticServer, tmp_path: Path) -> None:
    crawl = crawl_from(server, tmp_path / "crawl", ["熱気球"], "japanese", "balloons")
    assert problems(crawl) == {"balloons": SeedProblem.OTHER_SCRIPT}


def test_a_start_page_without_text_is_named_without_keywords_too(server: StaticServer, tmp_path: Path) -> None:
    crawl = crawl_from(server, tmp_path / "crawl", [], "empty")
    assert problems(crawl) == {"empty": SeedProblem.NO_TEXT}
    assert len(crawl.notes) == 1


def test_start_pages_of_a_recording_are_named_without_reading_them(tmp_path: Path) -> None:
    lines = [json.dumps({"url": f"http://{HOST}/{name}", "html": html}) for name, html in PAGES.items()]
    (tmp_path / "pages.jsonl").write_text("\n".join(lines), "utf-8")
    sh.record([tmp_path / "pages.jsonl"], tmp_path / "web", progress=False)
    crawl = sh.crawl(
        sh.Topic(keywords=["balloon"]),
        [f"http://{HOST}/balloons", f"http://{HOST}/german"],
        web=tmp_path / "web",
        offline=True,
        out=tmp_path / "crawl",
        progress=False,
    )
    assert problems(crawl) == {"german": SeedProblem.LOW_SCORE}


def test_a_crawl_without_problems_has_no_notes(server: StaticServer, tmp_path: Path) -> None:
    crawl = crawl_from(server, tmp_path / "crawl", ["balloon", "basket"], "balloons")
    assert crawl.summary is not None
    assert (crawl.summary.topic_notes, crawl.notes) == (NO_NOTES, ())


@pytest.mark.parametrize(
    ("keywords", "ignored"),
    [
        (("C++", "C", "R", "C#", "Go", "!?"), ("C++", "C", "R", "C#", "Go", "!?")),
        ((".NET", "C++", "R programming language", "山", "A型", "茶 tea", "熱気球", "3"), ("C++", "山", "A型")),
    ],
)
def test_keywords_without_words_are_ignored(keywords: tuple[str, ...], ignored: tuple[str, ...]) -> None:
    assert ignored_keywords(sh.Topic("t", keywords=keywords)) == ignored


@pytest.mark.parametrize(("keywords", "example"), [(["the"], '"the"'), (["C++", "to The"], '"to"'), (["C++"], "")])
def test_the_example_of_a_stop_word_is_one_of_the_keywords(keywords: list[str], example: str) -> None:
    _, such_as, rest = ignored_keywords_text(keywords).partition("stop words such as ")
    assert bool(such_as) == bool(example)
    assert rest.startswith(example)


def test_start_pages_that_were_skipped_are_named(server: StaticServer, tmp_path: Path) -> None:
    missing = [f"missing{number}" for number in range(MAX_SKIPPED + 2)]
    crawl = crawl_from(server, tmp_path / "crawl", ["balloon"], "balloons", *missing)
    assert crawl.summary is not None
    skipped = crawl.summary.topic_notes.skipped_seeds
    assert [(seed.url.rpartition("/")[2], seed.reason) for seed in skipped] == [
        (name, SkipReason.CLIENT_ERROR) for name in missing
    ]
    (line,) = crawl.notes
    assert line.count("http://") == MAX_SKIPPED
    assert sh.open_crawl(tmp_path / "crawl").notes == crawl.notes
    failed = crawl_from(server, tmp_path / "failed", ["balloon"], *missing)
    assert failed.notes == ()


def test_a_note_names_all_that_it_is_about() -> None:
    seeds = tuple(OffTopicSeed(f"http://a.test/{n}", SeedProblem.NO_KEYWORD) for n in range(3))
    keywords, pages = note_texts(
        TopicNotes(("C#", "Go"), (*seeds, OffTopicSeed("http://b.test/", SeedProblem.NO_TEXT)))
    )[::2]
    assert '"C#", "Go"' in keywords
    assert "3 start pages" in pages
    assert "http://a.test/0" in pages
    one = note_texts(TopicNotes(off_topic_seeds=(OffTopicSeed("http://b.test/\n", SeedProblem.NO_TEXT),)))
    assert len(one) == 1
    assert "\n" not in one[0]


@pytest.mark.parametrize("keywords", [("C++",), ("Go", "R"), ("!",), ("茶",), ("x" * 5_000,)])
def test_keywords_without_any_word_are_refused_with_advice(keywords: tuple[str, ...]) -> None:
    with pytest.raises(InvalidTopic, match='"R programming language"') as error:
        Rocchio().for_topic(sh.Topic(keywords=keywords), WordScanner())
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_the_command_names_ignored_keywords_and_start_pages(
    server: StaticServer, tmp_path: Path, scenthound: Call
) -> None:
    (tmp_path / "hosts").write_text(f"{ADDRESS} {HOST}\n")
    seed = server.url(f"http://{HOST}/empty")
    options = ("--seed", seed, "--hosts", tmp_path / "hosts", "--allow-private", "--delay", 0, "--pages", 1, "--json")
    code, out, err = scenthound(
        "crawl", "--keywords", "balloon", "--keywords", "C++", *options, "--out", tmp_path / "crawl"
    )
    assert code == 0
    values = json.loads(out)
    assert values["ignored_keywords"] == ["C++"]
    assert values["off_topic_seeds"] == [{"url": seed, "problem": "no-text"}]
    assert sum('"C++"' in line for line in err.splitlines()) == 1
    code, _, err = scenthound("crawl", "--keywords", "C++", "--keywords", "R", *options, "--out", tmp_path / "other")
    assert (code, len(err.strip().splitlines())) == (2, 1)
    assert not (tmp_path / "other").exists()
