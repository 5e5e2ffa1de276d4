"""A relevance model trained anew on labels: how good it is, and what becomes of it."""

import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labelled_crawl import TOPIC, label, labelled_crawl
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.errors import MissingExtra, UsageError
from scenthound.experiments.retraining import (
    ModelQuality,
    TrainingPage,
    TrainingPages,
    area_held_out,
    area_under_roc,
    first_scored,
    learning_model,
    model_quality,
    new_crawl,
    retrain,
)
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import FloatArray
from scenthound.relevance.base import RELEVANCE
from scenthound.store.crawl_records import RelevanceRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from stored_crawls import NOON_S

pytest.importorskip("sklearn", reason="the extra `learn` is not installed")


def area(scores: list[float], relevant: list[int], by: list[int] | None = None) -> float | None:
    is_relevant = np.isin(np.arange(len(scores)), relevant)
    return area_under_roc(np.array(scores), is_relevant, None if by is None else np.array(by, np.int32))


def test_the_area_is_the_share_of_pairs_in_order_and_a_tie_counts_half() -> None:
    # Pairs of (0.9, 0.5) with (0.5, 0.1): above, above, tie, above.
    assert area([0.9, 0.5, 0.5, 0.1], relevant=[0, 1]) == 3.5 / 4
    assert area([0.1, 0.9], relevant=[0]) == 0
    assert area([0.4, 0.4], relevant=[0]) == 0.5


def test_without_pages_of_both_kinds_there_is_no_area() -> None:
    assert area([0.9, 0.5], relevant=[0, 1]) is None
    assert area([], relevant=[]) is None


def test_scores_of_two_models_are_not_compared() -> None:
    # By the first model 0.3 is above 0.2; by the second 0.6 is below 0.7.
    assert area([0.3, 0.2, 0.6, 0.7], relevant=[0, 2], by=[0, 0, 1, 1]) == 0.5
    assert area([0.3, 0.7], relevant=[0], by=[0, 1]) is None


def test_with_few_labels_every_pair_is_held_out_once() -> None:
    asked: list[list[int]] = []

    def held_out(places: list[int]) -> FloatArray:
        asked.append(places)
        # The second relevant page, at place 2, is below the others.
        return np.array([{0: 0.9, 1: 0.5, 2: 0.1, 3: 0.2}[place] for place in places])

    assert area_held_out(np.array([True, False, True, False]), held_out) == 0.5
    assert asked == [[0, 1], [0, 3], [2, 1], [2, 3]]


def test_with_many_labels_there_are_folds_with_both_kinds_in_each() -> None:
    asked: list[list[int]] = []

    def held_out(places: list[int]) -> FloatArray:
        asked.append(places)
        # Each model has a scale of its own, but all put even pages above odd ones.
        return np.array([1.0 - place % 2 for place in places]) + 10 * len(asked)

    is_relevant = np.arange(20) % 2 == 0
    assert area_held_out(is_relevant, held_out) == 1
    assert sorted(place for places in asked for place in places) == list(range(20))
    assert all(len({place % 2 for place in places}) == 2 for places in asked)
    assert len(asked) == 5


def test_one_page_of_a_kind_among_many_is_still_held_out() -> None:
    is_relevant = np.arange(50) == 7
    assert area_held_out(is_relevant, lambda places: np.array([float(place == 7) for place in places])) == 1


def pages(*texts: tuple[str, bool, float], seeds: int = 0) -> TrainingPages:
    return TrainingPages(
        tuple(
            TrainingPage(visit, text, relevance, is_positive, visit >= seeds)
            for visit, (text, is_positive, relevance) in enumerate(texts)
        )
    )


BALLOONS = [(f"balloon basket own{number}", True, 0.1 * number) for number in range(3)]
TRAINS = [(f"train rails own{number}", False, 0.05 + 0.1 * number) for number in range(3, 6)]


def test_a_new_model_is_measured_on_held_out_pages() -> None:
    quality = model_quality(pages(*BALLOONS, *TRAINS), 0, RELEVANCE.make("svm"), TOPIC)
    assert quality == ModelQuality(0.0, 1.0, 3, 3)
    assert not quality.is_worse
    # Of pages that share no word nothing is learnt, however well they are known by heart.
    alone = [(f"own{number}", number % 2 == 0, 0.0) for number in range(6)]
    assert model_quality(pages(*alone), 0, RELEVANCE.make("svm"), TOPIC).area_after == 0.5


def test_seeds_are_trained_on_and_not_measured() -> None:
    seeds = [(f"balloon basket seed{number}", True, 0.0) for number in range(3)]
    quality = model_quality(pages(*seeds, *TRAINS, seeds=3), 0, RELEVANCE.make("svm"), TOPIC)
    assert quality == ModelQuality(None, None, 0, 3)


def test_the_current_model_is_measured_by_its_own_scores() -> None:
    """The relevance model before had everything in order; the one in use has all the wrong way round."""
    before = [("balloon a", True, 0.9), ("balloon b", True, 0.8), ("train a", False, 0.1)]
    since = [("balloon c", True, 0.2), ("balloon d", True, 0.3), ("train b", False, 0.7)]
    quality = model_quality(pages(*before, *since), 3, RELEVANCE.make("svm"), TOPIC)
    # The new one is measured by the same three pages, and learns from the others too.
    assert quality == ModelQuality(0.0, 1.0, 2, 1)
    assert not quality.is_worse


def test_without_a_scored_pair_the_current_quality_is_unknown_and_the_new_model_not_worse() -> None:
    labelled = pages(*BALLOONS, *TRAINS)
    # Of the trains alone no pair is made.
    for since in (3, 6):
        quality = model_quality(labelled, since, RELEVANCE.make("svm"), TOPIC)
        assert quality == ModelQuality(None, 1.0, 3, 3)
        assert not quality.is_worse


def test_initial_training_pages_do_not_measure_the_current_model(tmp_path: Path) -> None:
    """A crawl by a relevance model that learnt from pages of another meets those pages again."""
    for kind, text in (("positive", "the balloon and the basket own0"), ("negative", "train rails own3")):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "page.txt").write_text(text)
    known = [("the balloon and the basket own0", True, 1.0), ("train rails own3", False, 0.0)]
    unknown = [("balloon basket own1", True, 0.2), ("train rails own4", False, 0.6)]
    training = replace(pages(*known, *unknown), initial=tmp_path)
    quality = model_quality(training, 0, RELEVANCE.make("svm"), TOPIC)
    assert quality == ModelQuality(0.0, 1.0, 1, 1)


def ready(folder: Path, **settings: object) -> Path:
    """A crawl whose relevance model put trains first, and enough labels."""
    labelled_crawl(folder, relevance=lambda number: number % 2, **settings)
    label(folder, v2=True, v4=True, v1=False, v3=False, v5=False)
    return folder


def test_a_new_model_is_used_by_the_crawl_and_changes_no_visit(tmp_path: Path) -> None:
    folder = ready(tmp_path / "crawl")
    with StoredCrawl.open(folder) as crawl:
        before = [(row.visit, row.relevance) for row in crawl.visits()]
    done = retrain(folder)
    assert done.quality == ModelQuality(0.0, 1.0, 2, 3)
    assert (done.folder_name, done.is_used_now) == ("relevance_models/1", False)
    assert StopConditions.read(folder).relevance_model == "relevance_models/1"
    assert re.search(r"\b100%.*\b0%.*\bresume\b", done.says)
    with StoredCrawl.open(folder) as crawl:
        assert [(row.visit, row.relevance) for row in crawl.visits()] == before


def test_a_worse_model_is_not_used_unless_requested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ready(tmp_path / "crawl")
    worse = ModelQuality(0.9, 0.6, 2, 3)
    monkeypatch.setattr("scenthound.experiments.retraining.model_quality", lambda *_: worse)
    done = retrain(folder)
    assert StopConditions.read(folder).relevance_model is None
    assert not done.is_used_now
    assert re.search(r"\b60%.*\b90%.*\bworse\b", done.says)
    assert (folder / done.folder_name / "positive").is_dir()
    assert retrain(folder, even_if_worse=True).folder_name == "relevance_models/2"
    assert StopConditions.read(folder).relevance_model == "relevance_models/2"


def test_too_few_labels_raise_and_write_nothing(tmp_path: Path) -> None:
    folder = labelled_crawl(tmp_path / "crawl")
    with pytest.raises(UsageError, match=r"\b2 .*\brelevant .*\b3 .*\birrelevant: "):
        retrain(folder)
    assert not (folder / "relevance_models").exists()


def test_without_the_extra_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ready(tmp_path / "crawl")
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(MissingExtra, match="learn"):
        retrain(folder)
    assert not (folder / "relevance_models").exists()


def a_model(visit: int, folder: str) -> RelevanceRecord:
    return RelevanceRecord(visit, NOON_S, "svm", folder, 3, 3)


def test_the_current_model_is_the_last_used_one(tmp_path: Path) -> None:
    folder = labelled_crawl(tmp_path / "crawl")
    with CrawlStore.open(folder) as store:
        assert first_scored(store, StopConditions()) == 0
        store.add(a_model(4, "relevance_models/1"))
        store.add(a_model(7, "relevance_models/2"))
        store.commit()
        assert first_scored(store, StopConditions(relevance_model="relevance_models/2")) == 7
        # Handed over, and to be used by the next run: it has scored none of the 12 pages.
        assert first_scored(store, StopConditions(relevance_model="relevance_models/3")) == 12


def test_a_model_that_was_never_used_has_unknown_quality(tmp_path: Path) -> None:
    folder = ready(tmp_path / "crawl")
    retrain(folder)
    again = retrain(folder)
    assert again.quality.area_before is None
    assert re.search(r"\d%.*\bunknown\b", again.says)
    assert again.says.count("%") == 1
    assert StopConditions.read(folder).relevance_model == "relevance_models/2"


def options(plan: CrawlSettings, folder: Path, goals: StopConditions | None = None) -> dict[str, str]:
    """Of the command that crawls anew by relevance model 3; all its options have values."""
    words = shlex.split(new_crawl(folder, plan, goals or StopConditions(), "relevance_models/3").line)
    assert words[:2] == ["scenthound", "crawl"]
    return dict(zip(words[2::2], words[3::2], strict=True))


def test_the_command_starts_a_crawl_with_the_new_model(tmp_path: Path) -> None:
    folder = tmp_path / "my crawl"
    plan = CrawlSettings(TOPIC, ("http://a.test/",), page_budget=50, contact="me@a.test")
    assert options(plan, folder) == {
        "--topic": "ballooning",
        "--keywords": "hot air balloon",
        "--seed": "http://a.test/",
        "--relevance": "svm",
        "--train-from": str(folder / "relevance_models/3"),
        "--pages": "50",
        "--contact": "me@a.test",
        "--render": "never",
        "--web": str(folder),
        "--out": f"{folder}-relevance_models-3",
    }


def test_the_command_has_the_settings_of_the_crawl(tmp_path: Path) -> None:
    plan = CrawlSettings(
        TOPIC,
        ("http://a.test/",),
        agent="Hound",
        random_seed=7,
        hosts={"a.test": "127.0.0.1"},
        politeness=PolitenessSettings(delay_s=2.5, pages_per_host=9),
    )
    result = options(plan, tmp_path, StopConditions(page_budget=77))
    wanted = {
        "--user-agent": "Hound",
        "--random-seed": "7",
        "--delay": "2.5",
        "--pages-per-host": "9",
        "--pages": "77",
        "--hosts": str(tmp_path / "relevance_models/3/hosts"),
    }
    assert {name: result.get(name) for name in wanted} == wanted


def test_files_that_the_command_reads_are_there(tmp_path: Path) -> None:
    folder = ready(tmp_path / "crawl", hosts={"a.test": "127.0.0.1"}, tries=9)
    done = retrain(folder)
    words = shlex.split(done.command)
    assert Path(words[words.index("--hosts") + 1]).read_text() == "127.0.0.1 a.test\n"
    assert "tries=9" in done.says


def test_a_crawl_of_a_recording_reads_pages_from_it(tmp_path: Path) -> None:
    assert options(CrawlSettings(TOPIC, ("http://a.test/",), web="recording"), tmp_path)["--web"] == "recording"


def test_a_crawl_with_a_trained_model_keeps_its_kind() -> None:
    assert (
        learning_model(CrawlSettings(TOPIC, ("http://a.test/",), relevance="svm:cost=2", train_from="x"))
        == "svm:cost=2"
    )
    assert learning_model(CrawlSettings(TOPIC, ("http://a.test/",), relevance="cosine")) == "svm"
