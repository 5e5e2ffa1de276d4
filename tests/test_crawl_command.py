"""The command line that makes such a crawl again."""

import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from overview_crawls import SEEDS, plan
from scenthound.api.runs import CrawlRun
from scenthound.command_line import in_lines
from scenthound.crawler.command import reproduce_command
from scenthound.crawler.rendering import RenderMode
from scenthound.crawler.scope import Scope
from scenthound.crawler.settings import STUDY_LIMITS, CrawlSettings, StopConditions
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import Topic

Call = Callable[..., tuple[int, str, str]]

PLANS = {
    "plain": {},
    "choices": {
        "strategy": "best_n_first:n=4",
        "relevance": "cosine",
        "strict_order": True,
        "scope": Scope.of(
            allow_domain=["a.test", "b.test", "example.org"],
            deny_domain=["c.test"],
            include=["*"],
            exclude=["re:x y"],
            max_depth=3,
        ),
        "proxy": "socks5://127.0.0.1:1",
        "random_seed": 7,
        "contact": "me@example.org",
        "agent": "Hound",
        "respect_nofollow": False,
        "sitemaps": True,
        "traps": False,
        "throttle": False,
        "near_duplicates": False,
        "soft_404s": False,
        "render": RenderMode.ALWAYS,
        "allow_private": True,
        "connections": 3,
        "redirects": 2,
        "politeness": PolitenessSettings(delay_s=0.25, pages_per_host=9, pages_per_domain=20),
    },
    "patience": {"patience": 0.0},
    "neither sitemaps nor a proxy of its own": {"sitemaps": False, "proxy_from_environment": True},
    "limits of the studies": {"limits": STUDY_LIMITS, "topic": Topic("a 'quoted' id", ("two words", "-dash"))},
    "a topic from a file": {
        "topic": Topic("ballooning", ("balloon",), description='Line one\nand "two" \u2028', examples=SEEDS),
        "hosts": {"a.test": "127.0.0.1", "b.test": "127.0.0.2"},
    },
    "other seeds than its own": {"topic": Topic("ballooning", ("balloon",), seeds=("http://c.test/",))},
    "its own seeds": {"topic": Topic("ballooning", ("balloon",), seeds=SEEDS)},
}


@pytest.mark.parametrize("name", PLANS)
def test_the_command_makes_the_plan_again(
    name: str, tmp_path: Path, scenthound: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[CrawlSettings, Path]] = []

    def carry_out(run: CrawlRun, **_: object) -> SimpleNamespace:
        made.append((run.settings, run.folder))
        return SimpleNamespace(ended=None, ending=SimpleNamespace(is_failure=False))

    monkeypatch.setattr("scenthound.cli.crawl._carry_out", carry_out)
    monkeypatch.setattr("scenthound.cli.crawl._print", lambda *_, **__: None)
    monkeypatch.setenv("SCENTHOUND_BROWSER", sys.executable)  # Any program will do.
    monkeypatch.chdir(tmp_path)
    wanted = plan(**PLANS[name])
    repeat = reproduce_command(wanted, StopConditions(page_budget=77), "again")
    for file, text in repeat.files:
        Path(file).write_text(text, encoding="utf-8")
    program, *words = shlex.split(in_lines(repeat.line).replace("\\\n", " "))
    code, _, err = scenthound(*words)
    assert (program, code) == ("scenthound", 0), err
    assert made == [(replace(wanted, page_budget=77), Path("again"))]
    assert not repeat.unsaid


def test_options_that_are_as_usual_are_left_out() -> None:
    line = reproduce_command(plan(), StopConditions(), "again").line
    assert line == (
        "scenthound crawl --keywords 'hot air balloon' --keywords ballooning "
        f"--seed {SEEDS[0]} --seed {SEEDS[1]} --topic ballooning --pages 1000 --out again --render never"
    )


def test_the_recall_to_reach_is_an_option_unless_it_was_removed() -> None:
    lines = [reproduce_command(plan(), StopConditions(until_recall=each), "again").line for each in (0.8, 0.0)]
    assert [shlex.split(line).count("--until-recall") for line in lines] == [1, 0]


def test_strict_order_leaves_no_patience_to_choose() -> None:
    earlier = plan(strict_order=True, sitemaps=False, patience=0.0)
    line = reproduce_command(earlier, StopConditions(), "again").line
    assert "--strict-order" in line
    assert "--patience" not in line


def test_settings_without_an_option_are_listed() -> None:
    odd = plan(tries=9, politeness=PolitenessSettings(delay_factor=2.0))
    assert reproduce_command(odd, StopConditions(), "again").unsaid == (
        "tries=9",
        "delay_factor=2.0",
    )


def test_credentials_are_listed_without_their_values() -> None:
    secret = plan(proxy="http://me:secret@p.test:1", headers=("Authorization: secret",))
    reproduced = reproduce_command(secret, StopConditions(), "again")
    assert reproduced.unsaid == ("proxy=http://***@p.test:1", "header=Authorization: ***")
    assert "secret" not in reproduced.line


def test_files_may_be_elsewhere() -> None:
    invalid = plan(topic=Topic("ballooning", ("balloon",), description="Flights"), hosts={"a.test": "127.0.0.1"})
    repeat = reproduce_command(invalid, StopConditions(), "again", Path("my files"))
    words = shlex.split(repeat.line)
    assert (words[2], words[words.index("--hosts") + 1]) == ("my files/topic.jsonl", "my files/hosts")
    assert [name for name, _ in repeat.files] == ["topic.jsonl", "hosts"]
