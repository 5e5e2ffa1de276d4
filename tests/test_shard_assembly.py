"""The folder of a whole crawl: every visit of every shard once, whatever happens to the process that assembles it."""

import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np
import orjson
import pytest
from warcio.archiveiterator import ArchiveIterator

import scenthound as sh
from dashboard_client import Client, run_row, sample, status_values
from scenthound.crawler import control
from scenthound.crawler.explain import Outcome
from scenthound.crawler.recall import CrawlRecall
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.shard import shard_of
from scenthound.crawler.state import crawl_state
from scenthound.errors import InvalidInput, UsageError
from scenthound.reasons import EndReason
from scenthound.shards.assembly import Assembly
from scenthound.shards.logs import logs_of, shard_log_location
from scenthound.store.archive import ArchiveBatch, ArchiveEnd
from scenthound.store.commit_log import CommitLog, LoggedCommit
from scenthound.store.crawl_database import urls_in
from scenthound.store.crawl_folder import ArchiveSettings, ShardLogs, refuse_shards
from scenthound.store.crawl_records import RenderedRecord, VisitRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.reports.crawl_summary import resume_command
from scenthound.web.urls import host_of
from stored_crawls import NOON_S
from test_shard_crawls import N_SHARDS, settings_of
from virtual_shards import VirtualCluster
from virtual_site import TOPIC, VirtualSite, random_site, response


@dataclass
class Assembler:
    """A process that assembles the crawl of a cluster in the folder `out`."""

    out: Path
    logs: Path
    settings: CrawlSettings
    max_file_bytes: int = 1 << 30
    n_taken: int = 0
    n_kills: int = 0
    _open: tuple[CrawlStore, Assembly] | None = field(default=None, init=False)

    def start(self) -> Assembly:
        if self._open is None:
            store = CrawlStore.open(self.out) if self.out.exists() else self._created()
            self._open = store, Assembly(store, logs_of(self.logs, self.settings.shards))
        return self._open[1]

    def _created(self) -> CrawlStore:
        archive = ArchiveSettings("test", most_file_bytes=self.max_file_bytes)
        shards = ShardLogs(self.settings.shards, str(self.logs))
        return CrawlStore.create(self.out, self.settings.as_settings(), archive, shards=shards)

    @property
    def store(self) -> CrawlStore:
        assert self._open is not None
        return self._open[0]

    @staticmethod
    def n_commits_of(cluster: VirtualCluster) -> int:
        return sum(shard.store.change_counter() for shard in cluster.shards.values())

    def catch_up(self, max_commits: int | None = None) -> int:
        n_commits = self.start().catch_up(max_commits)
        self.n_taken += n_commits
        return n_commits

    def kill(self) -> None:
        """What was not committed is lost."""
        if self._open is not None:
            self._open[0].set_status(b"lost")
            self._open[0].close()
            self._open = None
            self.n_kills += 1

    def close(self) -> None:
        if self._open is not None:
            self._open[0].close()
            self._open = None


def site_with_rules(seed: int) -> VirtualSite:
    """A site whose hosts have robots.txt files."""
    site = random_site(seed, n_pages=80, n_hosts=10)
    for host in range(10):
        site.others[f"http://h{host}.test/robots.txt"] = (200, "", f"User-agent: *\nDisallow: /{host + 1}".encode())
    return site


def crawled(
    folder: Path, site: VirtualSite, *, faults: Callable[[VirtualCluster], None] = lambda _: None, **chosen: object
) -> VirtualCluster:
    """A crawl that has ended; its stores are open."""
    seed = int(chosen.pop("seed", 0))
    cluster = VirtualCluster(folder, settings_of(site, **chosen), site, Random(seed), faults=faults)
    cluster.run()
    return cluster


def assembler_of(cluster: VirtualCluster, out: Path, **chosen: int) -> Assembler:
    return Assembler(out, cluster.folder / "log", cluster.settings, **chosen)


def visit_facts(crawl: StoredCrawl) -> Iterator[tuple[object, ...]]:
    """What is the same in the shard and in the whole crawl."""
    urls = crawl.urls()
    for row in crawl.visits():
        assert row.location is not None
        yield (
            row.url,
            urls[row.page],
            row.time_s,
            row.relevance,
            row.score,
            row.rank,
            row.queue_size,
            row.title,
            [urls[link] for link in row.links.tolist()],
            None if row.predicted is None else row.predicted.tolist(),
            crawl.archive.record(row.location),
        )


def skip_facts(crawl: StoredCrawl) -> Iterator[tuple[object, ...]]:
    for row in crawl.skipped():
        yield crawl.url_of(row.page), row.url, row.reason, row.detail, row.time_s


def check_assembled(out: Path, cluster: VirtualCluster) -> list[VisitRecord]:
    """That a folder has all of the cluster's shards; returns its visits."""
    stores = [shard.store for shard in cluster.shards.values()]
    with StoredCrawl.open(out) as whole:
        expected = sorted(facts for store in stores for facts in visit_facts(store))
        assert sorted(visit_facts(whole)) == expected
        rows = list(whole.visits())
        assert [row.visit for row in rows] == list(range(len(rows)))
        seeds = list(cluster.settings.seeds)
        assert whole.urls()[: len(seeds)] == seeds
        assert len(set(whole.urls())) == len(whole.urls())
        assert Counter(whole.reasons()) == sum((Counter(store.reasons()) for store in stores), Counter())
        assert sorted(skip_facts(whole)) == sorted(facts for store in stores for facts in skip_facts(store))
        robots = sorted(each.origin for store in stores for each in store.robots())
        assert sorted(each.origin for each in whole.robots()) == robots
        check_archive(whole, stores)
    return rows


def check_archive(whole: StoredCrawl, stores: list[CrawlStore]) -> None:
    """The same records as in the shards, each file with a `warcinfo` record of its own at its beginning."""
    records = list(whole.archive.records(whole.archive_end()))
    firsts = [location.offset == 0 for location, _ in records]
    assert [record.kind == "warcinfo" for _, record in records] == firsts
    assert len({record.record_id for _, record in records}) == len(records)
    expected = [
        record.record_id
        for store in stores
        for _, record in store.archive.records(store.archive_end())
        if record.kind != "warcinfo"
    ]
    assert sorted(record.record_id for _, record in records if record.kind != "warcinfo") == sorted(expected)


@pytest.mark.parametrize("strategy", ["best_first", "link_context", "opic"])
def test_the_folder_has_every_visit_of_every_shard(memory_path, strategy):
    cluster = crawled(memory_path / "cluster", random_site(1, n_pages=80, n_hosts=10), strategy=strategy)
    with closing(assembler_of(cluster, memory_path / "out")) as assembler:
        n_commits = assembler.catch_up()
        assert n_commits == assembler.n_commits_of(cluster)
        assert assembler.catch_up() == 0
        rows = check_assembled(memory_path / "out", cluster)
    assert [row.time_s for row in rows] == sorted(row.time_s for row in rows)
    cluster.close()


@pytest.mark.parametrize("seed", range(2))
def test_a_crawl_is_assembled_while_it_runs_by_processes_that_are_killed(memory_path, seed):
    rng = Random(seed)
    site = site_with_rules(seed)
    assembler = Assembler(memory_path / "out", memory_path / "cluster" / "log", settings_of(site))

    def assemble(cluster: VirtualCluster) -> None:
        if rng.random() < 0.02:
            assembler.catch_up(rng.choice([1, 3, None]))
        if rng.random() < 0.01 and assembler.n_kills < 5:
            assembler.kill()
        if rng.random() < 0.005 and len(cluster.shards) == N_SHARDS and cluster.n_kills < 2:
            cluster.kill(rng.choice(sorted(cluster.shards)))

    cluster = crawled(memory_path / "cluster", site, faults=assemble, seed=seed)
    with closing(assembler):
        assembler.catch_up()
        assert assembler.n_kills > 1
        assert assembler.n_taken == assembler.n_commits_of(cluster)
        piecewise = check_assembled(memory_path / "out", cluster)
    with closing(assembler_of(cluster, memory_path / "again")) as at_once:
        at_once.catch_up()
        assert {row.url for row in check_assembled(memory_path / "again", cluster)} == {row.url for row in piecewise}
    cluster.close()


def test_a_commit_is_found_that_was_missing_when_the_log_was_read_ahead(memory_path):
    cluster = crawled(memory_path / "cluster", random_site(3, n_pages=30, n_hosts=6), page_budget=10)
    with closing(assembler_of(cluster, memory_path / "out")) as assembler:
        assembler.catch_up()
        for max_commits in (1, None):
            cluster.shards[1].store.set_status(b"{}")
            cluster.shards[1].store.commit()
            assert assembler.catch_up(max_commits) == 1
    cluster.close()


def test_files_of_the_archive_are_limited(memory_path):
    cluster = crawled(memory_path / "cluster", random_site(2, n_pages=60, n_hosts=8))
    with closing(assembler_of(cluster, memory_path / "out", max_file_bytes=5_000)) as assembler:
        while assembler.catch_up(1):
            pass
        check_assembled(memory_path / "out", cluster)
    files = sorted((memory_path / "out" / "archive").iterdir())
    assert len(files) > 3
    for file in files:
        with file.open("rb") as content:
            first, *others = ArchiveIterator(content, check_digests="raise")
            assert (first.rec_type, first.rec_headers["WARC-Filename"]) == ("warcinfo", file.name)
            assert others
    cluster.close()


def test_what_the_supervisor_adds_is_written_with_the_commits(memory_path):
    cluster = crawled(memory_path / "cluster", random_site(3, n_pages=30, n_hosts=6), page_budget=10)
    with closing(assembler_of(cluster, memory_path / "out")) as assembler:
        assembly = assembler.start()
        store = assembler.store
        store.add(run_row())
        store.set_status(orjson.dumps(status_values(10)))
        assembly.catch_up()
        with StoredCrawl.open(memory_path / "out") as whole:
            assert [run.run for run in whole.runs()] == [1]
            status = whole.status()
            assert status is not None
            assert status.n_pages == whole.n_visits() == 10
        store.add(sample(10, 1.0))
        store.commit()
        with StoredCrawl.open(memory_path / "out") as whole:
            assert len(whole.samples()) == 1
            assert sum(assembly.n_assembled) == assembler.n_commits_of(cluster)
    cluster.close()


def test_a_damaged_commit_ends_the_assembly_until_it_is_restored(memory_path):
    cluster = crawled(memory_path / "cluster", random_site(3, n_pages=30, n_hosts=6), page_budget=10)
    damaged = cluster.log_path(1) / f"{2:09}"
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-1])
    with closing(assembler_of(cluster, memory_path / "out")) as assembler:
        for _ in range(2):
            with pytest.raises(InvalidInput, match=r"Commit 2 of .* is damaged"):
                assembler.catch_up()
        assembler.store.commit()
        with StoredCrawl.open(memory_path / "out") as whole:
            assert (whole.n_visits(), whole.assembled()) == (0, {})
        damaged.write_bytes(content)
        assert assembler.catch_up() == assembler.n_commits_of(cluster)
        check_assembled(memory_path / "out", cluster)
    cluster.close()


def test_the_log_of_another_shard_is_refused(memory_path):
    cluster = crawled(memory_path / "cluster", random_site(3, n_pages=30, n_hosts=6), page_budget=10)
    cluster.close()
    with closing(assembler_of(cluster, memory_path / "out")) as assembler:
        assembler.start()
        logs = logs_of(cluster.folder / "log", N_SHARDS)
        with pytest.raises(InvalidInput, match="is not the commit log of shard 0 of the crawl"):
            Assembly(assembler.store, logs[::-1]).catch_up()
        with pytest.raises(InvalidInput, match="is not the commit log of shard 0 of the crawl"):
            Assembly(assembler.store, logs[:2]).catch_up()


def test_a_log_that_lacks_a_commit_with_urls_does_not_fit(memory_path):
    cluster = crawled(memory_path / "cluster", random_site(3, n_pages=30, n_hosts=6), page_budget=10)
    cluster.close()
    log = CommitLog.at(cluster.log_path(1))
    with_urls = [number for number in range(1, log.last() + 1) if any(urls_in(log.read(number).rows))]
    (cluster.log_path(1) / f"{with_urls[0]:09}").unlink()
    empty = LoggedCommit(ArchiveBatch((), ArchiveEnd()))
    log.append(with_urls[0], empty)
    with (
        closing(assembler_of(cluster, memory_path / "out")) as assembler,
        pytest.raises(InvalidInput, match="does not fit"),
    ):
        assembler.catch_up()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a crawl that has ended, with its logs inside, at another place than where it was made."""
    folder = tmp_path_factory.mktemp("whole")
    site = site_with_rules(1)
    cluster = VirtualCluster(folder / "made", settings_of(site, strategy="scent"), site, Random(1))
    cluster.run()
    cluster.close()
    shards = ShardLogs(N_SHARDS)
    out = folder / "elsewhere"
    with CrawlStore.create(out, cluster.settings.as_settings(), ArchiveSettings("test"), shards=shards) as store:
        shutil.copytree(folder / "made" / "log", out / "log")
        store.add(run_row())
        Assembly(store, logs_of(shards.location_in(out), N_SHARDS)).catch_up()
        n_pages = store.n_visits()
        store.add(run_row(ended_s=NOON_S + 5, ended=EndReason.FRONTIER.value))
        store.add(sample(n_pages, 1.0))
        store.set_status(orjson.dumps(status_values(n_pages)))
        store.commit()
    return out.rename(folder / "out")


def test_a_whole_crawl_has_tables_and_a_report(whole, memory_path):
    crawl = sh.open_crawl(whole)
    with StoredCrawl.open(whole) as stored:
        urls = [row.url for row in stored.visits()]
    assert [row.url for row in crawl.pages] == urls
    assert "links" in repr(crawl.skipped) or len(list(crawl.skipped)) > 0
    html = sh.report(whole, out=memory_path / "report.html").read_text()
    assert urls[0] in html


def test_a_whole_crawl_is_exported(whole, memory_path):
    n_pages = len(sh.open_crawl(whole))
    sh.export(whole, "jsonl", memory_path / "pages.jsonl", workers=1)
    documents = [orjson.loads(line) for line in (memory_path / "pages.jsonl").read_bytes().splitlines()]
    assert len(documents) == n_pages
    sh.export(whole, "warc", memory_path / "pages.warc.gz")
    sh.export(whole, "cdxj", memory_path / "index.cdxj")
    records = {}
    with (memory_path / "pages.warc.gz").open("rb") as content:
        for record in ArchiveIterator(content):
            if record.rec_type == "response":
                records[record.rec_headers["WARC-Record-ID"]] = record.rec_headers["WARC-Target-URI"]
    assert {each["metadata"]["warc_record_id"] for each in documents} <= records.keys()
    assert [records[each["metadata"]["warc_record_id"]] for each in documents] == [each["url"] for each in documents]
    assert len((memory_path / "index.cdxj").read_bytes().splitlines()) == len(records)


def test_a_whole_crawl_is_a_recorded_web(whole, memory_path):
    run = sh.simulate(whole, TOPIC, ["best_first"], seeds=list(sh.open_crawl(whole).settings.seeds), pages=20)
    assert len(run.pages) == 20
    assert "on topic" in repr(run.evaluate("on_topic"))
    web = sh.record(whole, out=memory_path / "web")
    assert len(web) == len(sh.open_crawl(whole))


def test_the_dashboard_shows_a_whole_crawl(whole):
    client = Client(whole)
    (folder,) = client.get("/api/folders").json["folders"]
    path = f"/api/crawls/{folder['id']}"
    n_pages = len(sh.open_crawl(whole))
    assert client.get(path).json["status"]["n_pages"] == n_pages
    assert len(client.get(f"{path}/pages?limit=10").json["pages"]) == 10
    for query in ("curves", "pages/3", "skipped", "hosts", "graph"):
        assert client.get(f"{path}/{query}").status == 200
    assert client.get(path).json["resume_command"] is None
    refused = client.post(f"{path}/stop")
    assert refused.status == 400
    assert "3 shards" in refused.text


def test_the_command_that_resumes_a_whole_crawl_names_a_cluster(whole):
    with StoredCrawl.open(whole) as stored:
        state = crawl_state(stored)
    assert shlex.split(resume_command(whole, state))[3:] == [str(whole), "--cluster", "ADDRESS"]


def test_pages_of_all_shards_are_explained(whole):
    explained = [sh.open_crawl(whole).explain(row.url) for row in list(sh.open_crawl(whole).pages)[2::7]]
    assert {each.outcome for each in explained} == {Outcome.VISITED}
    assert any(each.evidence is not None for each in explained)


def test_a_rendered_page_is_moved_with_its_response(memory_path):
    for shard in range(2):
        settings = {"seeds": [], "shards": 2, "shard": shard}
        log = shard_log_location(memory_path / "log", shard)
        with CrawlStore.create(memory_path / str(shard), settings, ArchiveSettings("test"), commit_log=log) as store:
            url = f"http://{shard}.test/"
            answer = response(url, 200, "Content-Type: text/html", b"before")
            location = store.archive_response(answer, NOON_S)
            rendered = store.archive_rendered(answer, b"<p>after", NOON_S, location)
            store.add(RenderedRecord(0, NOON_S, location, 1, 2, 3, 4))
            links = np.zeros(0, np.int32)
            row = {"visit": 0, "page": 0, "url": url, "time_s": NOON_S, "relevance": 0.5, "status": 200, "title": ""}
            store.add(VisitRecord(**row, links=links, location=rendered))
            store.add_urls([url])
            store.commit()
    settings = {"seeds": [], "shards": 2}
    with CrawlStore.create(memory_path / "out", settings, ArchiveSettings("test"), shards=ShardLogs(2)) as store:
        assert Assembly(store, logs_of(memory_path / "log", 2)).catch_up() == 2
        for row in store.visits():
            assert row.location is not None
            assert (row.url, store.archive.record(row.location).html) == (f"http://{row.visit}.test/", "<p>after")
            rendering = store.rendering_of(row)
            assert rendering is not None
            assert store.archive.record(rendering.location).body == b"before"
    CrawlStore.open(memory_path / "out").close()


def test_the_queue_of_all_shards_counts_for_the_recall(whole):
    recall = CrawlRecall(0.5, is_focused=True)
    with StoredCrawl.open(whole) as stored:
        recall.load(stored, 10)
        recall.load(stored, stored.n_visits(), 10)
        latest: dict[int, int] = {}
        sizes = []
        for row in stored.visits():
            latest[shard_of(host_of(row.url), N_SHARDS)] = row.queue_size
            sizes.append(sum(latest.values()))
    assert len(latest) == N_SHARDS
    assert list(recall._history._queue_sizes) == sizes


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        (sh.resume, "resume it with"),
        (sh.refresh, "cannot be refreshed"),
        (lambda folder: sh.open_crawl(folder).plan(), "dry run"),
        (control.pause, "Ctrl-C"),
        (control.resume, "Ctrl-C"),
        (control.stop, "Ctrl-C"),
        (lambda folder: control.set_page_budget(folder, 10), "Ctrl-C"),
        (lambda folder: control.use_relevance_model(folder, "relevance_models/1"), "Ctrl-C"),
    ],
)
def test_what_needs_the_engine_of_the_crawl_is_refused(whole, command, advice):
    with pytest.raises(UsageError, match="is a crawl in 3 shards on a cluster") as refused:
        command(whole)
    assert advice in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_crawl_in_one_shard_is_one_in_shards(memory_path):
    ShardLogs(1, "s3://bucket/log").write(memory_path)
    assert ShardLogs.read(memory_path) == ShardLogs(1, "s3://bucket/log")
    with pytest.raises(UsageError, match="is a crawl in one shard"):
        refuse_shards(memory_path, "resume it with --cluster")
    (memory_path / "shards.json").write_text("{")
    with pytest.raises(InvalidInput, match=r"shards\.json is damaged"):
        ShardLogs.read(memory_path)


def test_logs_are_below_one_location(memory_path):
    assert shard_log_location("s3://bucket/log/", 3) == "s3://bucket/log/0003"
    assert [log.location for log in logs_of(memory_path, 2)] == [f"{memory_path}/0000", f"{memory_path}/0001"]
    assert ShardLogs(2, "/logs").location_in(memory_path) == "/logs"
    assert ShardLogs(2).location_in(memory_path) == str(memory_path / "log")
    assert ShardLogs(2, "s3://bucket/log").location_in(memory_path) == "s3://bucket/log"
