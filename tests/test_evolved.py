"""`evolved`: a rank function from a file, in simulated and live crawls alike."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from live_site import LiveSite, live_site
from scenthound.crawler.assembly import with_digests
from scenthound.crawler.settings import CrawlSettings
from scenthound.errors import InvalidParameter, UsageError
from scenthound.model import Topic
from scenthound.store.crawl_folder import CrawlAbout
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.evolved import Evolved, choice_of
from scenthound.strategies.rank_file import RankFile, rank_file_text
from scenthound.strategies.rank_function import RankByRules, RankFunction
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules
from scenthound.testing import SyntheticWeb, visited

Call = Callable[..., tuple[int, str, str]]
HUBS = RankRules((tuple(float(name in ("hub", "anchor")) for name in SCORE_NAMES),))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "best.toml"
    folder.write_text(
        rank_file_text(
            RankFile(HUBS, relevance_model="cosine", threshold=0.3, hub_over="max", score_range=4.0, renew="siblings")
        )
    )
    return folder


def test_all_that_decides_comes_from_the_file(file: Path) -> None:
    strategy = STRATEGIES.make(f"evolved:file={file},n=3")
    assert isinstance(strategy, RankByRules)
    assert strategy.rules == HUBS
    assert (strategy.relevance_model, strategy.threshold, strategy.hub_over) == ("cosine", 0.3, "max")
    assert (strategy.score_range, strategy.renew) == (4.0, "siblings")
    assert strategy.needs_anchors


def test_it_crawls_as_the_rank_function_with_these_rules(file: Path) -> None:
    for seed in range(5):
        web = SyntheticWeb.random(Random(seed))
        ranked = RankByRules(HUBS, threshold=0.3, hub_over="max", score_range=4, renew="siblings", n=2)
        assert visited(Evolved(file=str(file), n=2), web, seed=seed) == visited(ranked, web, seed=seed)


def test_what_is_not_in_the_file_is_as_in_the_rank_function(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('formula = "PARENT_1"')
    mine, other = Evolved(file=str(tmp_path / "mine.toml")), RankFunction(**RankFunction.presets["best_first"])
    assert (mine.rules, mine.threshold, mine.hub_over) == (other.rules, other.threshold, other.hub_over)
    assert mine.relevance_model == "svm"


def test_without_a_file_it_is_the_published_individual() -> None:
    assert Evolved().rules == RankFunction().rules
    assert STRATEGIES.presets("evolved") == {}


@pytest.mark.parametrize("name", ["best.toml", "a=b.toml", "a:b.toml", "two words.toml", "größer.toml", "None.toml"])
def test_a_path_that_can_be_written_leads_to_its_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('formula = "CASH"')
    choice = choice_of(tmp_path / name)
    assert str(STRATEGIES.parse(choice)) == choice
    strategy = STRATEGIES.make(choice)
    assert isinstance(strategy, RankByRules)
    assert strategy.rules.weighs("cash")


@pytest.mark.parametrize("name", ["a,b.toml", "blank ", "none"])
def test_a_path_that_cannot_be_written_is_refused(name: str) -> None:
    with pytest.raises(InvalidParameter, match=rf"{name}.* evolved:file=\.\.\."):
        choice_of(Path(name))


def test_the_list_of_strategies_has_it(scenthound: Call) -> None:
    _, out, _ = scenthound("strategies", "evolved", "--json")
    (described,) = json.loads(out)
    assert described["relevance_model"] == "rocchio"


def test_a_bad_file_costs_one_line(scenthound: Call, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('formula = "HUBB"')
    site = (
        "crawl",
        "--seed",
        "http://a.test/",
        "--keywords",
        "balloon",
        "--out",
        tmp_path / "out",
        "--contact",
        "a@b.c",
    )
    code, _, err = scenthound(*site, "--strategy", f"evolved:file={tmp_path / 'bad.toml'}")
    assert code == 2
    (line,) = err.splitlines()
    assert re.search(r"bad\.toml: .*'HUBB'.*'HUB'", line)
    assert not (tmp_path / "out").exists()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[LiveSite]:
    with live_site(tmp_path) as running:
        yield running


def test_a_live_crawl_goes_on_only_with_the_file_it_began_with(
    site: LiveSite, file: Path, tmp_path: Path, scenthound: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = site.crawl("--out", "out", "--pages", 4, "--strategy", "evolved:n=2,file=best.toml")
    assert scenthound(*command)[0] == 0
    kept = CrawlAbout.read(tmp_path / "out").settings
    assert kept["strategy"] == f"evolved:file={file},n=2"
    assert len(kept["strategy_digest"]) == 32
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert scenthound("crawl", "--resume", tmp_path / "out", "--pages", 5)[0] == 0
    text = file.read_text()
    file.write_text(text.replace("0.5", "0.6"))
    code, _, err = scenthound("crawl", "--resume", tmp_path / "out", "--pages", 6)
    assert code == 2
    assert f", {file}," in err
    file.unlink()
    code, _, err = scenthound("crawl", "--resume", tmp_path / "out", "--pages", 6)
    assert code == 2
    assert f", {file}," in err
    file.write_text(text)
    assert scenthound("crawl", "--resume", tmp_path / "out", "--pages", 6)[0] == 0


def plan(strategy: str) -> CrawlSettings:
    return CrawlSettings(Topic("balloons", ("balloon",)), ("http://a.test/",), strategy=strategy)


def test_a_file_whose_full_path_cannot_be_kept_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a,b").mkdir()
    (tmp_path / "a,b" / "best.toml").write_text('formula = "HUB"')
    monkeypatch.chdir(tmp_path / "a,b")
    with pytest.raises(UsageError, match=r"^evolved .*a,b/best\.toml"):
        with_digests(plan("evolved:file=best.toml"))


def test_a_strategy_without_a_file_keeps_its_name() -> None:
    for strategy in ("evolved", "otie:n=3", "evolved:file=none"):
        assert with_digests(plan(strategy)) == plan(strategy)
    assert CrawlSettings.from_settings(plan("otie").as_settings()) == plan("otie")
