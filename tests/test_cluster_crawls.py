"""Crawls in shards on a real cluster of local nodes, in which something fails; and errors in one line."""

import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the extra `cluster` is not installed")

from benchmarks.cluster_faults import LoopbackWeb, run_fault

import scenthound as sh
from scenthound.errors import InvalidInput, InvalidParameter, UsageError
from scenthound.shards.actor import FOLDER_PREFIX, ShardPlan, check_storage, remove_leftovers
from scenthound.store.commit_log import CommitLog
from scenthound.store.crawl_folder import ShardLogs
from scenthound.store.stored_crawl import StoredCrawl
from test_shard_crawls import settings_of
from timing import WAIT_S
from virtual_site import random_site

N_PAGES = 150


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["shard-killed", "supervisor-killed"])
def test_faults_lose_nothing(fault):
    result = run_fault(fault, N_PAGES)
    assert result.is_correct, result
    assert result.n_writers > 4


@pytest.mark.slow
def test_counts_are_those_of_a_plain_crawl_also_after_a_stop(tmp_path):
    web = LoopbackWeb(60, tmp_path)
    common = {"delay": 0, "hosts": web.hosts_file, "allow_private": True, "progress": False, "keep_duplicates": True}
    common |= {"deny_domain": ["h7.test"], "contact": "test@example.org"}
    with web.server:
        plain = sh.crawl("sea", web.url(0), out=tmp_path / "plain", **common)
        assert plain.summary.status.n_out_of_scope > 5
        folder = tmp_path / "crawl"
        first = sh.crawl("sea", web.url(0), out=folder, pages=20, cluster="local", shards=2, **common)
        assert (first.summary.status.n_pages, first.summary.status.in_flight) == (20, 0)
        assert first.summary.status.pages_per_s > 0
        assert first.summary.status.recent_harvest is not None
        assert first.summary.status.frontier > 0
        last = sh.resume(folder, pages=1_000, cluster="local", progress=False)
    assert last.summary.status.n_pages == plain.summary.status.n_pages
    assert last.summary.status.n_out_of_scope == plain.summary.status.n_out_of_scope
    with StoredCrawl.open(folder) as stored:
        assert [run.n_pages_before for run in stored.runs()] == [0, 20]
        n_pages = [sample.n_pages for _, sample in stored.samples()]
        assert n_pages == sorted(n_pages)


BESIDE = """
from scenthound.strategies.base import Sharding
from scenthound.strategies.best_n_first import BestNFirst


class Beside(BestNFirst):
    sharding = Sharding("exact", "like that of best_n_first")
"""
SCRIPT = """
import sys
import scenthound as sh
from strategy_beside import Beside

if __name__ == "__main__":
    url, hosts, folder = sys.argv[1:]
    options = {"delay": 0, "hosts": hosts, "allow_private": True, "progress": False, "strategy": Beside}
    crawl = sh.crawl("sea", url, out=folder, pages=5, cluster="local", shards=2, **options)
    print(crawl.summary.status.n_pages)
"""


@pytest.mark.slow
def test_a_strategy_in_a_module_beside_the_script_is_found(tmp_path):
    (tmp_path / "strategy_beside.py").write_text(BESIDE)
    (tmp_path / "script.py").write_text(SCRIPT)
    web = LoopbackWeb(20, tmp_path)
    with web.server:
        command = [
            sys.executable,
            str(tmp_path / "script.py"),
            web.url(0),
            str(web.hosts_file),
            str(tmp_path / "crawl"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=2 * WAIT_S)
    assert done.stdout.strip() == "5", done.stderr


# Bad input


def crawl(**arguments: object) -> None:
    sh.crawl("sea", "http://h.test/", progress=False, allow_private=True, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shards": 2}, "shards= needs cluster="),
        ({"cluster": "local", "shards": 2, "strategy": "pagerank"}, "cannot be split into shards: PageRank"),
        ({"cluster": "local", "shards": 2, "strategy": "infospiders"}, "cannot be split into shards: agents"),
        ({"cluster": "local", "shards": 2, "max_depth": 2}, "max_depth= needs one shard"),
        ({"cluster": "local", "shards": 2, "strict_order": True}, "strict_order=True needs one shard"),
        ({"cluster": "local", "min_harvest": 0.1}, "min_harvest= cannot be used with cluster="),
        ({"cluster": "local", "until_recall": 0.5}, "until_recall= cannot be used with cluster="),
        ({"cluster": "local", "render": "always"}, "render= cannot be used with cluster="),
        ({"cluster": "127.0.0.1:1", "shards": 2}, "nobody answers"),
    ],
)
def test_what_cannot_work_costs_one_line(tmp_path, arguments, message):
    with pytest.raises(UsageError, match=message):
        crawl(out=tmp_path / "crawl", **arguments)
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize("shards", [0, 5_000])
def test_the_number_of_shards_is_limited(tmp_path, shards):
    with pytest.raises(InvalidParameter, match=f"shards={shards} must be from 1 to 4,096"):
        crawl(out=tmp_path / "crawl", cluster="local", shards=shards)


def test_start_pages_alone_are_not_enough_for_several_shards(tmp_path):
    with pytest.raises(UsageError, match="need keywords="):
        sh.crawl(sh.Topic("start pages", seeds=("http://h.test/",)), out=tmp_path / "crawl", cluster="local", shards=2)


def plan_at(location: Path, name: str, content: bytes) -> ShardPlan:
    from uuid import uuid4

    return ShardPlan(settings_of(random_site(1)), uuid4(), str(location), (name, content), 1.0, b"", (), {})


def test_storage_that_is_not_shared_is_refused(tmp_path):
    content = secrets.token_bytes(8)
    (tmp_path / "probe").write_bytes(content)
    check_storage(plan_at(tmp_path, "probe", content))
    for location, name in ((tmp_path / "elsewhere", "probe"), (tmp_path, "other")):
        with pytest.raises(InvalidInput, match="does not see the files in"):
            check_storage(plan_at(location, name, content))
    with pytest.raises(InvalidInput, match="does not see the files in"):
        check_storage(plan_at(tmp_path, "probe", b"of another crawl"))


def test_folders_of_killed_shards_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    names = [f"{FOLDER_PREFIX}{ended.pid}-a", f"{FOLDER_PREFIX}{os.getpid()}-b", f"{FOLDER_PREFIX}c", "other"]
    for name in names:
        (tmp_path / name).mkdir()
    remove_leftovers()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])


@pytest.fixture
def crawl_in_shards(tmp_path: Path) -> Path:
    """The folder of a crawl in three shards that has not begun."""
    from scenthound.store.crawl_folder import ArchiveSettings
    from scenthound.store.crawl_store import CrawlStore

    folder = tmp_path / "crawl"
    settings = settings_of(random_site(1))
    CrawlStore.create(folder, settings.as_settings(), ArchiveSettings("test")).close()
    ShardLogs(3).write(folder)
    return folder


def test_the_number_of_shards_cannot_change(crawl_in_shards):
    with pytest.raises(UsageError, match="has 3 shards, and their number cannot be changed"):
        sh.resume(crawl_in_shards, cluster="local", shards=4, progress=False)


def test_a_crawl_in_shards_is_resumed_on_a_cluster_only(crawl_in_shards):
    with pytest.raises(UsageError, match="3 shards on a cluster"):
        sh.resume(crawl_in_shards, progress=False)


def assemble(folder: Path, commits: dict[int, int]) -> None:
    """Note that the folder has commits of shards."""
    from scenthound.store.crawl_records import AssembledRecord
    from scenthound.store.crawl_store import CrawlStore

    with CrawlStore.open(folder) as store:
        for shard, number in commits.items():
            store.add(AssembledRecord(shard, number))
        store.commit()


def test_logs_that_are_gone_do_not_start_again(crawl_in_shards):
    with pytest.raises(InvalidInput, match=r"are not at .*log: mount or restore that location"):
        sh.resume(crawl_in_shards, cluster="local", progress=False)
    assert not (crawl_in_shards / "log").exists()


def test_logs_of_another_crawl_are_not_continued(crawl_in_shards):
    CommitLog.at(crawl_in_shards / "log").begin(b'{"id": "5d9ce6ea-33b4-4b5e-a19a-000000000000"}')
    with pytest.raises(InvalidInput, match="logs of another crawl"):
        sh.resume(crawl_in_shards, cluster="local", progress=False)


def test_a_log_that_lacks_commits_of_the_folder_is_not_continued(crawl_in_shards):
    CommitLog.at(crawl_in_shards / "log").begin((crawl_in_shards / "crawl.json").read_bytes())
    assemble(crawl_in_shards, {0: 0, 1: 3})
    with pytest.raises(InvalidInput, match=r"Commit 3 of .*0001 is missing"):
        sh.resume(crawl_in_shards, cluster="local", progress=False)


@pytest.mark.slow
def test_a_crawl_that_was_refused_leaves_nothing(tmp_path):
    with pytest.raises(InvalidInput, match="does not see the files in"):
        crawl(out=tmp_path / "crawl", cluster="local", shards=2, commit_log="memory://elsewhere")
    assert not (tmp_path / "crawl").exists()


def test_a_crawl_without_shards_is_not_resumed_on_a_cluster(crawl_in_shards):
    (crawl_in_shards / "shards.json").unlink()
    with pytest.raises(UsageError, match="was not crawled on a cluster"):
        sh.resume(crawl_in_shards, cluster="local", progress=False)
