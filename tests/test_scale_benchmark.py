"""What large crawls need: the arithmetic, and the tables of the documentation."""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("msgpack", reason="the extra `cluster` is not installed")

from benchmarks.cluster_scale import RESULTS, Assumed, Scale, tables
from benchmarks.scale_figures import Figures, Speed, Work, page_memory
from benchmarks.shard_speed import KINDS

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "scale.md"

FIGURES = Figures(
    n_pages=1_000,
    n_hosts=10,
    speeds={kind: Speed(crawl_ms=0.7, other_ms=0.1, pages_per_s=1_000.0) for kind in KINDS},
    page_log_bytes=5_000.0,
    page_archive_bytes=4_000.0,
    page_database_bytes=1_000.0,
    page_urls=2.0,
    page_links_away=3.0,
    link_bytes=25.0,
    url_copies={4: 1.5, 16: 2.0},
    shard_url_bytes=100.0,
    shard_page_bytes=1_000.0,
    page_takeover_us=120.0,
    page_assembly_us=50.0,
    assembly_url_bytes=75.0,
    exchange_call_us=800.0,
    exchange_coordinator_us={4: 40.0, 16: 50.0},
    parcel_us=600.0,
)


def test_a_crawl_computed_by_hand():
    # 86.4 million pages in a day are 1,000 a second.
    assumed = Assumed(page_urls=10, page_links_away=8, takeover_s=600.0, load=0.7, shard_memory_gb=20)
    scale = Scale(86_400_000, 1, FIGURES, assumed)
    assert scale.pages_per_s == scale.hosts == 1_000
    # 1,000 pages take 0.7 s of CPU time each second, on cores that may be busy 70% of the time.
    assert scale.shards_for_cpu == 1
    # 86.4 million pages are replayed in 10,368 s.
    assert scale.shards_for_takeover == scale.n_shards == 18
    assert scale.copies == 2.0
    # A page has 1,000 bytes, and ten URLs of 100 bytes that two shards know.
    assert scale.memory_bytes == pytest.approx(86_400_000 * 3_000)
    # 259.2 GB are 13 shards of 20 GB at most; each of the 18 shards has 14.4 GB, and 44.8 GB hold three of them.
    assert scale.shards_for_memory == 13
    assert scale.n_machines == 6
    assert scale.log_bytes == pytest.approx(432e9)
    assert scale.folder_bytes == pytest.approx(432e9)
    # 18 shards commit once a second.
    assert scale.commits == 18 * 86_400
    assert scale.links_per_s == pytest.approx(8_000 * 17 / 18)
    # Each commit has parcels for 17 shards.
    assert scale.parcels_per_s == pytest.approx(18 * 17)
    assert scale.parcel_cores == pytest.approx(18 * 17 * 600e-6)
    assert scale.exchanges_per_s == 36
    assert scale.supervisor_cores == pytest.approx(36 * 850e-6 + 1_000 * 50e-6)
    assert scale.supervisor_bytes == pytest.approx(86_400_000 * 10 * 75)


def test_slow_shards_commit_each_page_and_send_each_link():
    assumed = Assumed(page_links_away=2)
    scale = Scale(86_400, 1, replace(FIGURES, page_takeover_us=120e6), assumed)
    assert scale.n_shards == 17_280
    assert scale.commits == 86_400
    assert scale.parcels_per_s == pytest.approx(2 * (1 - 1 / 17_280))


def test_what_does_not_grow_is_not_counted_for_pages():
    # 5 MB of caches, 100 bytes for a URL and 1,000 for a page.
    large = Work(1.0, n_pages=4_000, grown_bytes=5_000_000 + 100 * 9_000 + 1_000 * 4_000, n_urls=9_000)
    small = [Work(1.0, n_pages=n, grown_bytes=5_000_000 + 100 * 3_000 + 1_000 * n, n_urls=3_000) for n in (900, 1_100)]
    assert page_memory(large, small, 100.0) == pytest.approx(1_000)


def test_figures_are_read_as_they_were_written():
    assert Figures.from_json(FIGURES.to_json()) == FIGURES


def test_the_documentation_has_the_computed_tables():
    text = DOCUMENT.read_text("utf-8")
    for table in tables(Figures.from_json(RESULTS.read_text("utf-8"))):
        assert table in text
