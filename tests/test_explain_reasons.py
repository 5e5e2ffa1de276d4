"""Why the strategy ranked a page high: reasons from a replay of the stored visits.

Three guides and two pages on gardening are the start pages. All guides link to `burners`, with an anchor that names the
topic, and each to a page of its own; the others link to `soil`, to a page that does not exist, and to each other.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scenthound.crawler import explain_ranking
from scenthound.crawler.explain import Explanation, Outcome
from scenthound.crawler.explain_ranking import explain_with_reasons
from scenthound.crawler.reader import StoredPages
from scenthound.crawler.replay import started
from scenthound.crawler.settings import CrawlSettings
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.link_evidence import FEATURES
from scenthound.strategies.scent import Scent
from scenthound.strategies.scent_weights import FittedFeature, ScentFile
from scenthound.web.static_server import StaticPage, StaticServer

Call = Callable[..., tuple[int, str, str]]

ADDRESS, HOST = "127.61.2.1", "http://a.test"
GUIDES, GARDENS = ("guide1", "guide2", "guide3"), ("garden1", "garden2")
PARENTS = re.compile(r"([\d.]+) of 3 pages that link to it are relevant, ([\d.]+) expected")
WORDS = "words around its best link are typical of relevant pages"
#: The weights of the features in the tests; the others count nothing.
WEIGHTS = {"enrichment": 2.0, "page_words_for": 10.0}


def filler(name: str, n_words: int) -> str:
    """Words of one page only, so that no page is a near-duplicate."""
    return " ".join(f"{name}x{number}" for number in range(n_words))


def guide(name: str) -> str:
    burners = "<a href=/burners>Gas <b>burners</b></a> for your balloon."
    return f"<title>{name}</title>{filler(name, 30)} {burners} {filler(f'{name}y', 30)} <a href=/{name}-more>more</a>"


def garden(name: str) -> str:
    links = "".join(f"<a href=/{each}>{each}</a> " for each in ("soil", "gone", *GARDENS))
    return f"<title>{name}</title>{filler(name, 30)} {links} {filler(f'{name}y', 30)}"


@dataclass
class Site:
    """Pages by path, which a test may change."""

    folder: Path
    pages: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pages |= {name: guide(name) for name in GUIDES} | {name: garden(name) for name in GARDENS}
        self.pages |= {name: filler(name, 60) for name in ("burners", "soil", *(f"{name}-more" for name in GUIDES))}
        self.server = StaticServer(self._page, [ADDRESS])
        (self.folder / "hosts").write_text(f"{ADDRESS} a.test\n")
        (self.folder / "weights.toml").write_text(weights_text(WEIGHTS))

    def _page(self, _host: str, path: str) -> StaticPage | None:
        html = self.pages.get(path[1:])
        return None if html is None else StaticPage(html.encode())

    def url(self, name: str) -> str:
        return self.server.url(f"{HOST}/{name}")

    @property
    def strategy(self) -> str:
        return f"scent:file={self.folder / 'weights.toml'}"

    def crawl(self, *more: object) -> list[object]:
        """The arguments of the command that crawls the site."""
        seeds = [argument for name in (*GUIDES, *GARDENS) for argument in ("--seed", self.url(name))]
        topic = ("--keywords", "gas balloon burners", "--relevance", "cosine", *seeds)
        return ["crawl", *topic, "--hosts", self.folder / "hosts", "--allow-private", "--delay", 0, *more]


def weights_text(weights: dict[str, float]) -> str:
    return ScentFile({name: FittedFeature(weights.get(name, 0.0), -9.0, 9.0) for name in FEATURES}).text()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    with site.server:
        yield site


@pytest.fixture
def crawled(site: Site, scenthound: Call) -> Callable[..., Path]:
    """Crawls the site to so many pages, and returns the crawl folder."""

    def crawled(pages: int, strategy: str = site.strategy, *more: object) -> Path:
        folder = site.folder / f"crawl{pages}"
        order = ("--strategy", strategy, "--strict-order", "--no-throttle")
        code, _, err = scenthound(*site.crawl("--pages", pages, *order, *more, "--out", folder))
        assert code == 0, err
        return folder

    return crawled


def texts(explained: Explanation) -> list[str]:
    return [reason.text for reason in explained.reasons]


def test_a_visited_page_is_explained_as_of_before_its_visit(site: Site, crawled: Callable[..., Path]) -> None:
    folder = crawled(9)
    explained = explain_with_reasons(folder, site.url("burners"))
    assert explained.visit is not None
    assert (explained.outcome, explained.visit.visit, explained.n_parents) == (Outcome.VISITED, 5, 3)
    assert explained.no_reasons == ""
    with StoredCrawl.open(folder) as crawl:
        relevance = {row.url: row.relevance for row in crawl.visits()}
    of_guides = [relevance[site.url(name)] for name in GUIDES]
    by_text = {reason.text: reason.contribution for reason in explained.reasons}
    (of_parents,) = (text for text in by_text if PARENTS.fullmatch(text))
    # Each guide has two links, and each of the others four, of which one leads to itself.
    expected = 3 * (2 * sum(of_guides)) / (3 * 2 + 2 * 4)
    assert of_parents == f"{sum(of_guides):.1f} of 3 pages that link to it are relevant, {expected:.1f} expected"
    # Queued are this page, one page of each guide, and two that both irrelevant pages link to. The guides are equally
    # relevant, so that each counts fully.
    assert len(set(of_guides)) == 1

    def enrichment(n_relevant: int, n_parents: int, share: float = 6 / 14) -> float:
        return math.sqrt((n_relevant + 2 * share) / ((n_parents + 2) * share))

    above = enrichment(3, 3) - (enrichment(3, 3) + 3 * enrichment(1, 1) + 2 * enrichment(0, 2)) / 6
    assert by_text[of_parents] == pytest.approx(2.0 * above, abs=1e-5)
    assert by_text.pop("everything else") == pytest.approx(0, abs=1e-6)
    assert set(by_text) == {of_parents, f'{WORDS}: gas, burners, balloon (anchor "Gas burners")'}
    assert list(by_text.values()) == sorted(by_text.values(), reverse=True)


def test_a_queued_page_is_explained_as_of_now(site: Site, crawled: Callable[..., Path]) -> None:
    queued = explain_with_reasons(crawled(5), site.url("burners"))
    assert (queued.outcome, queued.visit) == (Outcome.QUEUED, None)
    assert len(queued.reasons) == 3  # with everything else
    # The visits before its own are the same.
    assert queued.reasons == explain_with_reasons(crawled(6), site.url("burners")).reasons


def test_the_reasons_are_those_of_the_strategy_of_the_resumed_crawl(site: Site, crawled: Callable[..., Path]) -> None:
    folder = crawled(6)
    with CrawlStore.open(folder) as store:
        parts, _ = started(CrawlSettings.from_settings(store.about.settings), store)
        table, strategy = parts.crawl.engine.web.table, parts.crawl.engine.strategy
        pages = {name: table.find(site.url(name)) for name in ("guide1-more", "guide2-more", "soil")}
        reasons = {name: strategy.reasons(page) for name, page in pages.items() if page is not None}
        parts.close()
    assert any(reasons.values())
    for name, expected in reasons.items():
        found = explain_with_reasons(folder, site.url(name)).reasons
        assert [each.contribution for each in found] == pytest.approx([each.contribution for each in expected])
        assert all(each.text.startswith(same.text) for each, same in zip(found, expected, strict=True))


def test_the_command_prints_the_reasons(site: Site, crawled: Callable[..., Path], scenthound: Call) -> None:
    for folder, when in ((crawled(6), "just before its visit"), (crawled(5), "now")):
        code, out, err = scenthound("explain", folder, site.url("burners"))
        assert (code, err) == (0, "")
        lines = out.splitlines()
        [heading] = [
            line for line in lines if line.startswith(f"Its score {when}, compared with the average queued URL: +")
        ]
        first = lines.index(heading) + 1
        assert re.fullmatch(rf"  \+\d+\.\d\d  {WORDS}: gas, burners, balloon \(anchor \"Gas burners\"\)", lines[first])
        assert re.fullmatch(rf"  \+\d+\.\d\d  {PARENTS.pattern}", lines[first + 1])
        assert re.fullmatch(r"  [+-]\d+\.\d\d  everything else", lines[first + 2])
        assert lines[first + 3].startswith("Visited pages that link to it")


def test_programs_get_the_reasons_as_json(site: Site, crawled: Callable[..., Path], scenthound: Call) -> None:
    folder = crawled(5)
    explained = json.loads(scenthound("explain", folder, site.url("burners"), "--json")[1])
    found = explain_with_reasons(folder, site.url("burners"))
    expected = [{"text": each.text, "contribution": each.contribution} for each in found.reasons]
    assert (explained["reasons"], explained["no_reasons"]) == (expected, "")


def fails(*_: object) -> None:
    pytest.fail("no page should be read again")


def test_start_pages_skipped_and_unknown_pages_have_no_reasons(
    site: Site, crawled: Callable[..., Path], scenthound: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = crawled(20)
    monkeypatch.setattr(StoredPages, "text", fails)
    outcomes = {"guide1": Outcome.VISITED, "gone": Outcome.SKIPPED, "unheard-of": Outcome.UNKNOWN}
    for name, outcome in outcomes.items():
        explained = explain_with_reasons(folder, site.url(name))
        assert (explained.outcome, explained.reasons, explained.no_reasons) == (outcome, (), "")
        assert "ranked" not in scenthound("explain", folder, site.url(name))[1]


def test_a_strategy_that_gives_no_reasons_is_not_replayed(
    site: Site, crawled: Callable[..., Path], scenthound: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = crawled(6, "link_context")
    monkeypatch.setattr(StoredPages, "text", fails)
    for name in ("burners", "soil"):
        explained = explain_with_reasons(folder, site.url(name))
        assert (explained.is_seed, explained.reasons, explained.no_reasons) == (False, (), "")
    assert "ranked" not in scenthound("explain", folder, site.url("burners"))[1]


def test_too_many_visits_are_not_replayed(
    site: Site, crawled: Callable[..., Path], scenthound: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = crawled(6)
    monkeypatch.setattr(explain_ranking, "MAX_REPLAYED", 5)
    # Five pages were visited before the one, and six so far.
    assert explain_with_reasons(folder, site.url("burners")).reasons
    queued = explain_with_reasons(folder, site.url("guide1-more"))
    assert queued.reasons == ()
    assert re.match(r"6 pages .* at most 5 ", queued.no_reasons)
    code, out, _ = scenthound("explain", folder, site.url("guide1-more"))
    assert (code, out.count("\nWhat speaks for it is unknown: 6 pages ")) == (0, 1)


def test_a_page_that_cannot_be_read_back_costs_the_reasons_only(
    site: Site, crawled: Callable[..., Path], scenthound: Call
) -> None:
    folder = crawled(6)
    with StoredCrawl.open(folder) as crawl:
        (location,) = (row.location for row in crawl.visits() if row.url == site.url("garden1"))
    assert location is not None
    (file,) = (folder / "archive").iterdir()
    content = bytearray(file.read_bytes())
    content[location.offset : location.offset + location.length] = bytes(location.length)
    file.write_bytes(content)
    code, out, err = scenthound("explain", folder, site.url("burners"))
    assert (code, err) == (0, "")
    assert len(re.findall(rf"^What speaks for it is unknown: .*{re.escape(file.name)}", out, re.MULTILINE)) == 1
    assert "Gas burners" in out
    explained = explain_with_reasons(folder, site.url("burners"))
    assert (explained.reasons, explained.n_parents) == ((), 3)
    assert "\n" not in explained.no_reasons


def test_a_crawl_is_explained_while_another_process_writes_to_it(site: Site, crawled: Callable[..., Path]) -> None:
    folder = crawled(6)
    before = sorted((file, file.read_bytes()) for file in folder.rglob("*") if file.suffix in (".json", ".gz"))
    with CrawlStore.open(folder):
        assert explain_with_reasons(folder, site.url("burners")).reasons
    assert sorted((file, file.read_bytes()) for file, _ in before) == before


def test_pages_are_replayed_as_the_crawl_saw_them(site: Site, crawled: Callable[..., Path], scenthound: Call) -> None:
    folder = crawled(6)
    before = explain_with_reasons(folder, site.url("burners"))
    site.pages["guide1"] = f"<title>guide1</title>{filler('other', 60)}"
    assert scenthound("crawl", "--refresh", folder)[0] == 0
    after = explain_with_reasons(folder, site.url("burners"))
    assert after.reasons == before.reasons
    with StoredCrawl.open(folder) as crawl:
        assert crawl.n_versions() == 1


def test_pages_of_a_recorded_web_are_read_there(site: Site, crawled: Callable[..., Path]) -> None:
    recorded = crawled(9)
    folder = crawled(6, site.strategy, "--web", recorded, "--offline")
    explained = explain_with_reasons(folder, site.url("burners"))
    assert explained.visit is not None
    assert explained.visit.location is None
    # A recording has no texts, only stems.
    assert texts(explained)[0] == f"{WORDS}: ga, burner, balloon"


def test_changed_weights_give_no_reasons(site: Site, crawled: Callable[..., Path]) -> None:
    folder = crawled(6)
    (site.folder / "weights.toml").write_text(weights_text({"cash": 1.0}))
    explained = explain_with_reasons(folder, site.url("burners"))
    assert explained.reasons == ()
    assert "weights.toml" in explained.no_reasons


def test_a_strategy_that_fails_costs_the_reasons_only(
    site: Site, crawled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = crawled(6)
    monkeypatch.setattr(Scent, "reasons", lambda _self, page: 1 // (page - page))
    explained = explain_with_reasons(folder, site.url("burners"))
    assert explained.reasons == ()
    assert "failed in `reasons`: ZeroDivisionError" in explained.no_reasons
