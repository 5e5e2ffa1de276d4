"""The options of `scenthound crawl`: what they make of the plan, without crawling."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenthound.api import runs
from scenthound.crawler import start
from scenthound.crawler.runner import RunOptions
from scenthound.crawler.scope import Scope
from scenthound.crawler.settings import CrawlSettings
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import Topic
from scenthound.web.fetch import FetchLimits

Call = Callable[..., tuple[int, str, str]]
SEED = "https://a.test/"


class Caught(Exception):
    """The crawl would have begun."""

    def __init__(
        self, plan: CrawlSettings, folder: Path, options: RunOptions, *, force: bool, commit_log: str | None
    ) -> None:
        super().__init__()
        self.plan, self.folder, self.options, self.force = plan, folder, options, force
        self.commit_log = commit_log


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch, scenthound: Call) -> Callable[..., Caught]:
    """What the command would crawl, were it let."""

    def crawl(plan: CrawlSettings, folder: Path, options: RunOptions, **others: Any) -> Any:
        raise Caught(plan, folder, options, **others)

    monkeypatch.setattr(start, "crawl", crawl)
    # Otherwise the default depends on the machine.
    monkeypatch.setattr(runs, "has_playwright", lambda: False)

    def call(*more: object) -> Caught:
        with pytest.raises(Caught) as caught:
            scenthound("crawl", "--keywords", "hot air", "--seed", "a.test", *more)
        return caught.value

    return call


def test_without_options_the_plan_is_the_default_one(planned: Callable[..., Caught]) -> None:
    caught = planned()
    assert caught.plan == CrawlSettings(Topic("hot air", ("hot air",)), (SEED,))
    assert (caught.folder, caught.force) == (Path("crawl-hot-air"), False)
    assert caught.options.handle_signals


CHOICES = {
    "--strategy": (["otie"], {"strategy": "otie"}),
    "--relevance": (["cosine"], {"relevance": "cosine"}),
    "--pages": ([7], {"page_budget": 7}),
    "--random-seed": ([3], {"random_seed": 3}),
    "--patience": ([0.5], {"patience": 0.5}),
    # A simulated crawl has no sitemaps.
    "--strict-order": ([], {"strict_order": True, "sitemaps": False}),
    "--contact": (["me@a.test"], {"contact": "me@a.test"}),
    "--user-agent": (["Bot"], {"agent": "Bot"}),
    "--delay": ([2.5], {"politeness": PolitenessSettings(delay_s=2.5)}),
    "--pages-per-host": ([9], {"politeness": PolitenessSettings(pages_per_host=9)}),
    "--pages-per-domain": ([9], {"politeness": PolitenessSettings(pages_per_domain=9)}),
    "--follow-nofollow": ([], {"respect_nofollow": False}),
    "--connections": ([5], {"connections": 5}),
    "--timeout": ([4], {"limits": FetchLimits(connect_s=4, headers_s=4, total_s=4)}),
    "--page-bytes": ([1000], {"limits": FetchLimits(body_bytes=1000)}),
    "--as-studies": ([], {"limits": FetchLimits(total_s=10, body_bytes=100_000)}),
    "--redirects": ([0], {"redirects": 0}),
    "--sitemaps": (["--strict-order"], {"sitemaps": True, "strict_order": True}),
    "--no-sitemaps": ([], {"sitemaps": False}),
    "--allow-domain": (["a.test", "--allow-domain", "Bücher.test"], {"scope": Scope(("a.test", "xn--bcher-kva.test"))}),
    "--deny-domain": (["b.test"], {"scope": Scope(deny_domains=("b.test",))}),
    "--include": (["https://a.test/*"], {"scope": Scope(include=("https://a.test/*",))}),
    "--exclude": (["re:[.]pdf$"], {"scope": Scope(exclude=("re:[.]pdf$",))}),
    "--max-depth": ([0], {"scope": Scope(max_depth=0)}),
    "--proxy": (["p.test:3128"], {"proxy": "http://p.test:3128"}),
    "--proxy-from-environment": ([], {"proxy_from_environment": True}),
    "--header": (["x-key:  1", "--header", "X-Other: 2"], {"headers": ("x-key: 1", "X-Other: 2")}),
    "--allow-private": ([], {"allow_private": True}),
    "--no-traps": ([], {"traps": False}),
    "--no-throttle": ([], {"throttle": False}),
    "--keep-duplicates": ([], {"near_duplicates": False}),
    "--keep-soft-404s": ([], {"soft_404s": False}),
}


@pytest.mark.parametrize("option", CHOICES)
def test_each_option_changes_its_part_of_the_plan_and_nothing_else(option: str, planned: Callable[..., Caught]) -> None:
    values, changes = CHOICES[option]
    assert planned(option, *values).plan == CrawlSettings(Topic("hot air", ("hot air",)), (SEED,), **changes)


def test_explicit_limits_override_those_of_the_studies(planned: Callable[..., Caught]) -> None:
    limits = planned("--as-studies", "--timeout", 20).plan.limits
    assert (limits.total_s, limits.headers_s, limits.body_bytes) == (20, 10, 100_000)


def test_the_crawlers_name_may_have_what_robots_files_allow(planned: Callable[..., Caught]) -> None:
    assert planned("--user-agent", "my_Bot-x").plan.user_agent.startswith("my_Bot-x/")


def test_the_commit_log_is_no_part_of_the_plan(planned: Callable[..., Caught], tmp_path: Path) -> None:
    caught = planned("--commit-log", tmp_path / "log")
    assert caught.plan == planned().plan
    assert (caught.commit_log, planned().commit_log) == (str(tmp_path / "log"), None)


def test_how_a_run_ends_is_no_part_of_the_plan(planned: Callable[..., Caught]) -> None:
    options = planned("--time", "10m", "--min-harvest", 0.2, "--until-recall", 0.8).options
    assert (options.time_s, options.harvest_floor, options.until_recall) == (600, 0.2, 0.8)


def test_a_hosts_file_says_where_hosts_are(planned: Callable[..., Caught], tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("127.0.0.9 a.test b.test\n")
    assert planned("--hosts", tmp_path / "hosts").plan.hosts == {"a.test": "127.0.0.9", "b.test": "127.0.0.9"}


@pytest.mark.parametrize(("options", "notes"), [((), 1), (("--contact", "me@a.test"), 0), (("--allow-private",), 0)])
def test_a_contact_is_recommended_for_crawls_of_the_public_web(
    options: tuple[str, ...], notes: int, planned: Callable[..., Caught], capsys: pytest.CaptureFixture[str]
) -> None:
    planned(*options)
    assert capsys.readouterr().err.count("Note: no --contact.") == notes


def rank_file(folder: Path, relevance_model: str) -> str:
    (folder / "evolved.toml").write_text(
        f'formula = "PARENT_1"\nrelevance_model = "{relevance_model}"\nthreshold = 0.25\n'
    )
    return f"evolved:file={folder / 'evolved.toml'}"


def test_a_note_says_that_the_relevance_model_has_no_training_pages(
    planned: Callable[..., Caught], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    strategy = rank_file(tmp_path, "svm")
    planned("--contact", "me@a.test", "--strategy", strategy)
    note = capsys.readouterr().err
    assert strategy in note
    assert re.search(r"\bsvm\b.* --train-from\b.*\brocchio\b", note)


def test_there_is_no_note_on_the_strategy_s_own_relevance_model(
    planned: Callable[..., Caught], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    learning = ("--strategy", "rank_function")
    for fine in (
        # The default strategy was chosen with the cosine as relevance model.
        (),
        (*learning, "--train-from", tmp_path),
        (*learning, "--relevance", "cosine"),
        ("--strategy", rank_file(tmp_path, "cosine")),
    ):
        planned("--contact", "me@a.test", *fine)
        assert capsys.readouterr().err == "", fine
