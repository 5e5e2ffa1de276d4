"""Labels of the pages of a crawl, and the training pages made from them."""

import gzip
import json
import re
import threading
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from labelled_crawl import N_PAGES, SEED, TOPIC, label, labelled_crawl, labels_of
from ring_web import url
from scenthound.crawler.settings import CrawlSettings
from scenthound.errors import InvalidInput
from scenthound.experiments.labels import LABELS_FILE, MOST_BYTES, Labels, PageLabel
from scenthound.experiments.retraining import MODELS_FOLDER, missing_for_training, training_pages, write_training
from scenthound.experiments.threshold.labels import read_labels
from scenthound.store.locks import locked, try_lock
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.training_folder import read_training
from scenthound.text.tokenizer import WordScanner
from stored_crawls import NOON_S, new_crawl, visit
from timing import WAIT_S


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return labelled_crawl(tmp_path / "crawl")


def said(labels: Labels) -> dict[int, bool]:
    return labels.by_visit()


def test_a_crawl_without_labels_has_none(folder: Path) -> None:
    assert labels_of(folder).pages == ()


def test_labels_are_kept_in_order_and_the_last_one_of_a_page_counts(folder: Path) -> None:
    labels = label(folder, v2=True, v3=False, v4=True)
    assert labels.pages[0] == PageLabel(2, "http://a.test/2", True, NOON_S)
    assert list(said(label(folder, v2=False)).items()) == [(3, False), (4, True), (2, False)]
    assert said(label(folder, v3=None)) == {4: True, 2: False}
    assert [page.visit for page in labels_of(folder).pages if page.is_relevant] == [4]
    assert [page.visit for page in labels_of(folder).pages if not page.is_relevant] == [2]


def test_the_file_is_a_label_file_for_thresholds(folder: Path) -> None:
    label(folder, v2=True, v3=False)
    label(folder, v2=False)
    read = read_labels(folder / LABELS_FILE)
    assert [(each.url, each.is_relevant) for each in read.labels] == [
        ("http://a.test/3", False),
        ("http://a.test/2", False),
    ]


def test_an_incomplete_last_line_is_ignored(folder: Path) -> None:
    label(folder, v2=True, v3=False)
    file = folder / LABELS_FILE
    file.write_bytes(file.read_bytes()[:-20])
    assert said(labels_of(folder)) == {2: True}
    assert said(label(folder, v5=False)) == {2: True, 5: False}


@pytest.mark.parametrize(
    "line", ["nonsense", '{"visit": 2', '{"crawl": "ID", "visit": 2, "url": "x", "label": 1, "time_s": 0}']
)
def test_an_invalid_line_raises_with_its_number(folder: Path, line: str) -> None:
    label(folder, v2=True)
    file = folder / LABELS_FILE
    crawl_id = json.loads(file.read_text())["crawl"]
    file.write_text(f"{line.replace('ID', crawl_id)}\n{file.read_text()}")
    with pytest.raises(InvalidInput, match=f"{LABELS_FILE}, line 1: "):
        labels_of(folder)


def test_labels_of_another_crawl_are_ignored_and_kept(folder: Path) -> None:
    other = PageLabel(2, "http://b.test/", True, NOON_S).line(uuid4()).decode()
    (folder / LABELS_FILE).write_text(f'{other}\n{{"url": "http://c.test/", "label": "yes"}}\n')
    assert labels_of(folder).pages == ()
    assert said(label(folder, v2=False)) == {2: False}
    assert (folder / LABELS_FILE).read_text().startswith(other)
    assert len((folder / LABELS_FILE).read_text().splitlines()) == 3


def test_concurrent_labels_are_all_kept(folder: Path) -> None:
    before = labels_of(folder)
    label(folder, v3=False)
    with StoredCrawl.open(folder) as crawl:
        after = before.add(next(crawl.visits(4)), True)
    assert said(after) == {3: False, 4: True}


def test_a_label_file_is_not_decompressed_and_has_a_maximum_size(folder: Path) -> None:
    bomb = gzip.compress(b"\n" * (1 << 20))
    (folder / LABELS_FILE).write_bytes(bomb)
    with pytest.raises(InvalidInput, match="not UTF-8"):
        labels_of(folder)
    (folder / LABELS_FILE).write_bytes(b"\n" * (MOST_BYTES + 1))
    with pytest.raises(InvalidInput, match=rf"{LABELS_FILE} .*\b{MOST_BYTES:,} "):
        labels_of(folder)


def test_a_file_that_has_not_changed_is_not_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    label(folder, v2=True)
    first = labels_of(folder)
    with monkeypatch.context() as patch:
        patch.setattr("scenthound.experiments.labels.regular_bytes", None)
        assert labels_of(folder) == first
    assert said(label(folder, v3=False)) == {2: True, 3: False}


@pytest.mark.parametrize("visits", [(-1, -2, -3), (10**19, 2**63, 10**9), (1e300, "7", None), (N_PAGES, 50, 51)])
def test_labels_of_missing_visits_are_ignored(folder: Path, visits: tuple[Any, ...]) -> None:
    fields = {"url": "http://a.test/", "time_s": NOON_S, "crawl": str(labels_of(folder).crawl_id)}
    lines = [json.dumps({**fields, "visit": visit, "label": said}) for visit in visits for said in (True, False)]
    (folder / LABELS_FILE).write_text("\n".join(lines) + "\n")
    assert re.match(r"\D*\b2\b.*\brelevant .*\b3\b.*\birrelevant: ", str(missing_for_training(folder)))
    with StoredCrawl.open(folder) as crawl:
        assert Labels.of(crawl).pages == ()
        with pytest.raises(InvalidInput, match=r"^\d+ of \d+ "):
            training_pages(crawl, labels_of(folder))
    label(folder, v2=True, v4=True, v1=False, v3=False, v5=False)
    with StoredCrawl.open(folder) as crawl:
        assert [page.visit for page in training_pages(crawl, labels_of(folder)).pages] == [0, 1, 2, 3, 4, 5]


def test_a_locked_folder_raises_after_a_timeout(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenthound.experiments.labels.MAX_WAIT_S", 0.1)
    with locked(folder), pytest.raises(InvalidInput, match=rf"{folder} .*\blocked\b"):
        label(folder, v2=True)
    assert said(label(folder, v2=True)) == {2: True}


def test_a_lock_that_is_released_in_time_is_waited_for(folder: Path) -> None:
    holds, letting_go = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(folder):
            holds.set()
            letting_go.wait(0.2)

    threading.Thread(target=hold).start()
    assert holds.wait(WAIT_S)
    with try_lock(folder, WAIT_S) as is_ours:
        assert is_ours
        with try_lock(folder, 0.0) as is_others:
            assert not is_others


def test_nothing_is_written_through_links(folder: Path, tmp_path: Path) -> None:
    labels = label(folder, v2=True, v4=True, v1=False, v3=False, v5=False)
    (tmp_path / "elsewhere").mkdir()
    (folder / MODELS_FOLDER).symlink_to(tmp_path / "elsewhere")
    with StoredCrawl.open(folder) as crawl, pytest.raises(InvalidInput, match=f"{folder / MODELS_FOLDER} "):
        write_training(folder, training_pages(crawl, labels))
    (folder / LABELS_FILE).unlink()
    (folder / LABELS_FILE).symlink_to(tmp_path / "elsewhere" / "labels")
    with pytest.raises(InvalidInput, match=f"{folder / LABELS_FILE}: "):
        label(folder, v2=True)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_concurrent_training_folders_have_different_numbers(folder: Path) -> None:
    labels = label(folder, v2=True, v4=True, v1=False, v3=False, v5=False)
    with StoredCrawl.open(folder) as crawl:
        training = training_pages(crawl, labels)
    names: list[str] = []
    writers = [threading.Thread(target=lambda: names.append(write_training(folder, training))) for _ in range(5)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(names) == [f"relevance_models/{number}" for number in range(1, 6)]
    assert len(list((folder / "relevance_models").iterdir())) == 5


def test_missing_labels_are_counted_and_the_seed_is_relevant(folder: Path) -> None:
    said_first = missing_for_training(folder)
    assert said_first is not None
    assert re.match(r"\D*\b2 \w+ relevant .*\b3 \w+ irrelevant: ", said_first)
    label(folder, v2=True, v4=True)
    assert re.match(r"\D*\b3 \w+ irrelevant: ", str(missing_for_training(folder)))
    label(folder, v1=False, v3=False, v5=False)
    assert missing_for_training(folder) is None


def test_a_seed_labelled_irrelevant_is_no_positive(folder: Path) -> None:
    label(folder, v0=False, v2=True, v4=True, v1=False, v3=False)
    assert str(missing_for_training(folder)).startswith("Label 1 more relevant:")


def test_training_pages_are_labelled_pages_and_the_seed(folder: Path) -> None:
    labels = label(folder, v2=True, v4=True, v1=False, v3=False, v5=False)
    with StoredCrawl.open(folder) as crawl:
        training = training_pages(crawl, labels)
    assert [(page.visit, page.is_positive, page.is_labelled) for page in training.pages] == [
        (0, True, False),
        (1, False, True),
        (2, True, True),
        (3, False, True),
        (4, True, True),
        (5, False, True),
    ]
    assert training.pages[2].text == "Page 2\nballoon basket burner own2"


def test_training_pages_are_written_as_a_training_folder(folder: Path) -> None:
    labels = label(folder, v2=True, v4=True, v1=False, v3=False, v5=False)
    with StoredCrawl.open(folder) as crawl:
        training = training_pages(crawl, labels)
    assert [write_training(folder, training), write_training(folder, training)] == [
        "relevance_models/1",
        "relevance_models/2",
    ]
    scanner = WordScanner()
    read = read_training(folder / "relevance_models/2", scanner)
    words = [[scanner.stem(word) for word in page.tolist()] for page in (*read.positives, *read.negatives)]
    assert len(read.positives) == 3
    assert words[0] == ["page", "0", "balloon", "basket", "burner", "own0"]
    assert words[3] == ["page", "1", "train", "station", "rail", "own1"]


def test_the_initial_training_folder_is_copied(tmp_path: Path) -> None:
    for kind, word in (("positive", "zeppelin"), ("negative", "tram")):
        (tmp_path / "given" / kind / "deep").mkdir(parents=True)
        (tmp_path / "given" / kind / "deep" / "a.txt").write_text(word)
    folder = labelled_crawl(tmp_path / "crawl", train_from=str(tmp_path / "given"), relevance=lambda _: 0.5)
    labels = label(folder, v2=True, v4=True, v1=False, v3=False, v5=False)
    with StoredCrawl.open(folder) as crawl:
        name = write_training(folder, training_pages(crawl, labels))
    scanner = WordScanner()
    read = read_training(folder / name, scanner)
    assert [scanner.stem(page[0]) for page in (read.positives[-1], read.negatives[-1])] == ["zeppelin", "tram"]


def test_an_unfinished_training_folder_is_removed(folder: Path) -> None:
    labels = label(folder, v2=True, v4=True, v1=False, v3=False, v5=False)
    with StoredCrawl.open(folder) as crawl:
        training = training_pages(crawl, labels)
    (folder / MODELS_FOLDER).write_text("in the way")
    with pytest.raises(InvalidInput, match=f"{folder / MODELS_FOLDER}"):
        write_training(folder, training)
    assert not list(folder.glob("**/*.part"))


def test_pages_of_a_recording_are_written_as_words_with_their_stems(tmp_path: Path, web_path: Path) -> None:
    plan = CrawlSettings(TOPIC, (url(0),), web=str(web_path))
    with new_crawl(tmp_path / "crawl", **plan.as_settings()) as store:
        store.add_urls([url(number) for number in range(6)])
        for number in range(6):
            store.add(visit(number, url=url(number)))
        store.commit()
    labels = label(tmp_path / "crawl", v2=True, v4=True, v1=False, v3=False, v5=False)
    with StoredCrawl.open(tmp_path / "crawl") as crawl:
        training = training_pages(crawl, labels)
    assert training.pages[0].text.split()[:2] == ["balloon", "balloon"]
    assert training.pages[1].text.split()[:2] == ["train", "train"]


def test_training_pages_without_text_raise(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl", **CrawlSettings(TOPIC, (SEED,)).as_settings()) as store:
        store.add_urls([f"http://a.test/{number}" for number in range(N_PAGES)])
        for number in range(6):
            store.add(visit(number))
        store.commit()
    labels = label(tmp_path / "crawl", v2=True, v4=True, v1=False, v3=False, v5=False)
    with StoredCrawl.open(tmp_path / "crawl") as crawl, pytest.raises(InvalidInput, match=r"\b6 of 6 "):
        training_pages(crawl, labels)
