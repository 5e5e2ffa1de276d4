"""Tests of labels: a crawl of pages about balloons and about trains, and labels for it."""

from pathlib import Path
from typing import Any

from scenthound.crawler.settings import CrawlSettings
from scenthound.experiments.labels import Labels
from scenthound.model import Topic
from scenthound.store.crawl_folder import CrawlAbout
from scenthound.store.stored_crawl import StoredCrawl
from stored_crawls import NOON_S, add_page, new_crawl, response

SEED = "http://a.test/0"
N_PAGES = 12
TOPIC = Topic("ballooning", keywords=("hot air balloon",))


def text_of(number: int) -> str:
    """Even pages are about balloons, odd ones about trains; each has a unique word."""
    words = "balloon basket burner" if number % 2 == 0 else "train station rails"
    return f"{words} own{number}"


def labelled_crawl(folder: Path, relevance: Any = lambda number: 0.5, **settings: Any) -> Path:
    """The first page is the seed. `relevance` returns the relevance of a page in the crawl."""
    plan = CrawlSettings(TOPIC, (SEED,), **settings)
    with new_crawl(folder, **plan.as_settings()) as store:
        store.add_urls([f"http://a.test/{number}" for number in range(N_PAGES)])
        for number in range(N_PAGES):
            html = f"<title>Page {number}</title><p>{text_of(number)}".encode()
            add_page(store, number, response(f"http://a.test/{number}", html), relevance=relevance(number))
        store.commit()
    return folder


def labels_of(folder: Path) -> Labels:
    return Labels.of_crawl(folder, CrawlAbout.read(folder).crawl_id)


def label(folder: Path, **labels: bool | None) -> Labels:
    """Label pages: `v4=True` calls visit 4 relevant."""
    with StoredCrawl.open(folder) as crawl:
        for name, is_relevant in labels.items():
            row = next(crawl.visits(int(name[1:])))
            labels_of(folder).add(row, is_relevant, lambda: NOON_S)
    return labels_of(folder)
