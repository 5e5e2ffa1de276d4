"""The settings of the Scrapy scheduler, and its order without Scrapy."""

import importlib.util
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from scenthound.errors import InvalidInput, InvalidParameter, InvalidTopic, MissingExtra, UnknownName, UsageError
from scenthound.scrapy.job import JobFolder, packed, unpacked
from scenthound.scrapy.order import CrawlOrder
from scenthound.scrapy.page_file import PageFile
from scenthound.scrapy.settings import START_PAGES, read_settings


class ProjectSettings(dict):
    """As those of Scrapy, as far as they are used."""

    def getlist(self, name):
        value = self.get(name, [])
        return value.split(",") if isinstance(value, str) else list(value)

    def getint(self, name, default=0):
        return int(self.get(name, default))

    def getfloat(self, name, default=0.0):
        return float(self.get(name, default))

    def getbool(self, name, default=False):
        value = self.get(name, default)
        if value in ("True", "true", "1", 1, True):
            return True
        if value in ("False", "false", "0", 0, False):
            return False
        raise ValueError(value)


def read(**settings):
    values = {f"SCENTHOUND_{name.upper()}" if name.islower() else name: value for name, value in settings.items()}
    return read_settings(ProjectSettings({"CONCURRENT_REQUESTS": 10, **values}))


def test_defaults_are_those_of_a_live_crawl() -> None:
    settings = read()
    assert (settings.strategy, settings.relevance) == ("link_context", "rocchio")
    assert (settings.topic.id, settings.random_seed, settings.strict_order) == (START_PAGES, 0, False)
    assert settings.max_better == float("inf")
    assert read(DOWNLOAD_DELAY=1).max_better == pytest.approx(3)
    assert read(AUTOTHROTTLE_ENABLED=True, AUTOTHROTTLE_START_DELAY=5, patience="0.5").max_better == pytest.approx(5)


def test_settings_of_the_command_line_are_texts() -> None:
    settings = read(keywords="sea,wave", random_seed="7", strict_order="True", topic="ocean")
    assert settings.topic.keywords == ("sea", "wave")
    assert settings.topic.id == "ocean"
    assert (settings.random_seed, settings.strict_order) == (7, True)


@pytest.mark.parametrize(
    ("settings", "error", "named"),
    [
        ({"startegy": "otie"}, UnknownName, "SCENTHOUND_STRATEGY"),
        ({"strategy": "oties"}, UnknownName, "otie"),
        ({"strategy": "otie:a=x"}, InvalidParameter, "otie"),
        ({"relevance": "rochio"}, UnknownName, "rocchio"),
        ({"relevance": "svm", "keywords": "sea"}, InvalidTopic, "SCENTHOUND_TRAIN_FROM"),
        ({"train_from": "nowhere"}, InvalidInput, "nowhere"),
        ({"train_from": "nowhere", "relevance": "cosine", "keywords": "sea"}, UsageError, "SCENTHOUND_RELEVANCE"),
        ({"keywords": ["a"], "relevance": "cosine"}, InvalidTopic, "a"),
        ({"keywords": "sea", "topics": "topics.toml"}, UsageError, "SCENTHOUND_KEYWORDS"),
        ({"topics": "missing.toml"}, UsageError, "missing.toml"),
        ({"patience": 2}, InvalidParameter, "SCENTHOUND_PATIENCE"),
        ({"patience": "much"}, InvalidParameter, "SCENTHOUND_PATIENCE"),
        ({"random_seed": 1.5}, InvalidParameter, "SCENTHOUND_RANDOM_SEED"),
        ({"strict_order": "perhaps"}, InvalidParameter, "SCENTHOUND_STRICT_ORDER"),
        ({"DEPTH_PRIORITY": 1}, UsageError, "DEPTH_PRIORITY"),
    ],
)
def test_settings_that_cannot_be_used_are_one_line(settings, error, named) -> None:
    with pytest.raises(error) as raised:
        read(**settings)
    assert named in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "--" not in str(raised.value)


@pytest.mark.skipif(importlib.util.find_spec("scrapy") is not None, reason="Scrapy is installed")
def test_without_scrapy_the_scheduler_is_an_extra_that_is_missing() -> None:
    with pytest.raises(ImportError) as raised:
        from scenthound.scrapy import Scheduler  # noqa: F401
    assert isinstance(raised.value, MissingExtra)


PAGE = b"<title>sea</title><p>waves <a href='/near'>sea wave</a><p>bread <a href='/far'>bread</a> <a href='/near'>x</a>"


@contextmanager
def order_of(folder: Path, saved=None) -> Iterator[CrawlOrder]:
    settings = read(keywords="sea,wave", relevance="cosine", strategy="link_context")
    with closing(CrawlOrder(settings, PageFile(folder / "pages"), saved)) as order:
        yield order


def test_links_that_the_page_does_not_have_come_last_and_score_as_the_mean(tmp_path: Path) -> None:
    with order_of(tmp_path) as order:
        assert order.start(["http://a.test/"]) == [0] == [order.ask()]
        read_page = order.read(0, PAGE, "http://a.test/", None)
        assert read_page is not None
        made, far, near = "http://a.test/made", "http://a.test/far", "http://a.test/near"
        assert order.visit(0, read_page, [made, near, far]) == [3, 1, 2]
        assert order.ask() == 1
        ends = order.state()["page_ends"]
    with closing(PageFile(tmp_path / "pages")) as pages:
        pages.restore(ends)
        numbers, predicted, _ = pages.links(0)
    assert numbers.tolist() == [1, 2, 1, 3]
    assert predicted is not None
    assert predicted[3] == pytest.approx(read_page.predicted.mean())


def test_links_that_the_spider_did_not_request_are_unknown(tmp_path: Path) -> None:
    with order_of(tmp_path) as order:
        order.start(["http://a.test/"])
        order.ask()
        read_page = order.read(0, PAGE, "http://a.test/", None)
        assert read_page is not None
        assert order.visit(0, read_page, ["http://a.test/far"]) == [1]
        assert [order.ask(), order.ask()] == [1, None]


def test_an_order_that_was_saved_continues(tmp_path: Path) -> None:
    with order_of(tmp_path) as order:
        order.start(["http://a.test/"])
        order.ask()
        read_page = order.read(0, PAGE, "http://a.test/", None)
        assert read_page is not None
        order.visit(0, read_page, ["http://a.test/far", "http://a.test/near"])
        saved = order.state()
    with order_of(tmp_path, saved) as again:
        assert again.table.url(1) == "http://a.test/near"
        assert [again.ask(), again.ask(), again.ask()] == [1, 2, None]
        read_again = again.read(1, PAGE, "http://a.test/near", None)
    assert read_again is not None
    assert read_again.relevance == read_page.relevance


def job_of(folder: Path, **settings) -> JobFolder:
    return JobFolder(str(folder), read(keywords="sea", **settings).identity())


def test_a_job_is_resumed_with_the_settings_that_it_was_started_with(tmp_path: Path) -> None:
    assert job_of(tmp_path / "job", strategy="otie").saved() is None
    job_of(tmp_path / "job", strategy="otie").save({"queue": packed([{"url": b"x"}])})
    saved = job_of(tmp_path / "job", strategy="otie").saved()
    assert saved is not None
    assert unpacked(saved["queue"]) == [{"url": b"x"}]
    with pytest.raises(UsageError, match="SCENTHOUND_STRATEGY"):
        job_of(tmp_path / "job", strategy="opic").saved()


def test_a_job_that_was_killed_is_damaged_or_is_not_ours_is_refused(tmp_path: Path) -> None:
    assert job_of(tmp_path / "killed").saved() is None
    job_of(tmp_path / "killed").save({})
    job_of(tmp_path / "killed").begin()
    assert job_of(tmp_path / "damaged").saved() is None
    job_of(tmp_path / "damaged").save({})
    for file in (tmp_path / "damaged" / "scenthound" / "state").iterdir():
        file.write_bytes(file.read_bytes()[:-20])
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "requests.seen").write_text("0123456789abcdef\n")
    (tmp_path / "file").touch()
    for name in ("killed", "damaged", "other", "file/job"):
        with pytest.raises(InvalidInput) as raised:
            job_of(tmp_path / name).saved()
        assert "JOBDIR" in str(raised.value)
        assert "\n" not in str(raised.value)
