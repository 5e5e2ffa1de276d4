"""Synthetic topical webs: recorded webs drawn with a seed, of the requested shape."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.realism_statistics import realism

from recording_input import nothing_but
from scenthound.errors import InvalidInput, InvalidParameter, UnknownName
from scenthound.model import IntArray
from scenthound.registry import parameters_of
from scenthound.store.batches import RawPage
from scenthound.store.builder import web_of
from scenthound.store.recorded_web import RecordedWeb
from scenthound.testing import TopicalWeb, topical_web
from scenthound.testing import topical_text as vocabulary
from scenthound.testing.topical_graph import UNPAIRED, pages_of, paired, row_of
from scenthound.text.tokenizer import stems_of
from scenthound.topics.files import read_topics

SMALL = {"pages": 600, "links_per_page": 8, "words_per_page": 12, "topics": 6, "pages_per_host": 40, "seed": 3}


def made(folder: Path, **settings: float) -> RecordedWeb:
    topical_web(folder / "web", force=True, **(SMALL | settings))
    return RecordedWeb.open(folder / "web")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> RecordedWeb:
    return made(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> RecordedWeb:
    """Of two pieces."""
    return made(tmp_path_factory.mktemp("larger"), pages=40_000, topics=20, pages_per_host=100)


def targets(web: RecordedWeb) -> tuple[IntArray, IntArray]:
    """The pages at both ends of links between pages."""
    source = np.repeat(np.arange(web.n_pages, dtype=np.int32), np.diff(web.link_offset))
    target = web.url_page[web.link_url]
    return source[target >= 0], target[target >= 0]


def first_topic(web: RecordedWeb) -> IntArray:
    """The first label of each page, -1 without."""
    has = np.diff(web.label_offset) > 0
    topic = np.full(web.n_pages, -1, np.int32)
    topic[has] = web.label[web.label_offset[:-1][has]]
    return topic


def as_html(web: RecordedWeb, page: int) -> str:
    """The page as its author might have written it: stop words are "the"."""
    words = [web.vocabulary[word] or "the" for word in web.words(page)]
    title, marked = web.title(page), list(words)
    for link in range(web.link_offset[page], web.link_offset[page + 1]):
        start, end = web.link_start[link], web.link_end[link]
        nofollow = " rel=nofollow" if web.link_nofollow[link] else ""
        marked[start] = f"<a href='{web.url(web.link_url[link])}'{nofollow}>{marked[start]}"
        marked[end - 1] += "</a>"
    return f"<title>{title}</title><p>{' '.join(marked[len(title.split()) :])}"


def test_recording_the_pages_that_it_stands_for_gives_the_same_web(small: RecordedWeb) -> None:
    aliases = {page: small.url(url) for url, page in enumerate(small.url_page.tolist()) if url >= small.n_pages}
    pages = range(small.n_pages)
    again = web_of(
        RawPage(
            small.url(page),
            html=as_html(small, page),
            aliases=(aliases[page],) if page in aliases else (),
            topics=tuple(small.labels(page)),
        )
        for page in pages
    )
    assert list(again.urls) == list(small.urls)
    for name in ("link_offset", "link_url", "link_start", "link_end", "link_nofollow", "word_offset", "url_page"):
        np.testing.assert_array_equal(again.arrays[name], small.arrays[name], err_msg=name)
    for name in ("fingerprint_key", "fingerprint_url", "term_offset", "page_norm", "title_text", "label_offset"):
        np.testing.assert_array_equal(again.arrays[name], small.arrays[name], err_msg=name)
    for page in pages:
        assert [again.vocabulary[word] for word in again.words(page)] == [
            small.vocabulary[word] for word in small.words(page)
        ]
        assert again.labels(page) == small.labels(page)
    assert list(again.hosts) == list(small.hosts)
    assert again.url_host.tolist() == small.url_host.tolist()
    frequency = dict(zip(again.vocabulary, again.document_frequency.tolist(), strict=True))
    assert frequency == dict(zip(small.vocabulary, small.document_frequency.tolist(), strict=True))


def test_terms_are_the_distinct_words_of_a_page_with_their_counts(small: RecordedWeb) -> None:
    for page in range(0, small.n_pages, 50):
        words = small.words(page)
        term, count = np.unique(words[words > 0], return_counts=True)
        here = slice(small.term_offset[page], small.term_offset[page + 1])
        assert small.term[here].tolist() == term.tolist()
        assert small.term_count[here].tolist() == count.tolist()


def test_pages_are_counted_over_all_pieces(larger: RecordedWeb) -> None:
    assert larger.document_frequency.tolist() == np.bincount(larger.term, minlength=larger.n_words).tolist()
    assert larger.document_frequency[1:].min() >= 1


def test_every_url_is_found_by_its_text_and_has_a_host_of_its_own_name(larger: RecordedWeb) -> None:
    for url in [*range(0, larger.n_urls, 997), larger.n_urls - 1]:
        text = larger.url(url)
        assert larger.find(text) == url
        assert text.startswith(f"http://{larger.hosts[larger.url_host[url]]}/")


def test_the_same_seed_gives_the_same_bytes_and_another_seed_another_web(tmp_path: Path) -> None:
    files = {}
    for name, seed in (("one", 3), ("same", 3), ("other", 4)):
        topical_web(tmp_path / name, **(SMALL | {"seed": seed}))
        files[name] = {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()}
    assert files["one"] == files["same"]
    alike = {name for name, content in files["one"].items() if files["other"][name] == content}
    # Only what does not depend on draws may be alike: names of topics and hosts, and that no page is noindex.
    names = {f"{kind}_{part}.npy" for kind in ("label_name", "host") for part in ("text", "offset")}
    assert alike <= {*names, "page_noindex.npy"}


def test_the_web_is_of_the_size_that_was_asked_for(larger: RecordedWeb) -> None:
    assert larger.n_pages == 40_000
    assert larger.n_links == pytest.approx(8 * 40_000, rel=0.02)
    own_words = len(larger.word) - int((larger.link_end - larger.link_start).sum())
    assert own_words == pytest.approx(12 * 40_000, rel=0.02)
    assert len(np.unique(larger.url_host[: larger.n_pages])) == pytest.approx(400, rel=0.05)


def test_links_keep_to_the_host_and_to_the_topic_as_often_as_told(tmp_path: Path) -> None:
    # Without mutual links and hubs, on 100 hosts that do not favour a topic: what is not on the host by choice is there
    # by chance, which is rare but for the largest hosts.
    plain = {"pages": 20_000, "pages_per_host": 200, "host_size_exponent": 4, "mutual": 0, "hubs": 0, "host_focus": 0}
    web = made(tmp_path, **plain, topics=50, topical=1, on_host=0.6, on_topic=0.3)
    source, target = targets(web)
    host, topic = web.url_host[: web.n_pages], first_topic(web)
    assert np.mean(host[source] == host[target]) == pytest.approx(0.6 + 0.4 * 0.02, abs=0.03)
    sizes = np.bincount(topic) / web.n_pages
    by_chance = float(np.square(sizes).sum())
    assert np.mean(topic[source] == topic[target]) == pytest.approx(0.3 + 0.7 * by_chance, abs=0.04)
    nowhere = made(tmp_path, **plain, topics=50, on_host=0, on_topic=0)
    source, target = targets(nowhere)
    host = nowhere.url_host[: nowhere.n_pages]
    assert np.mean(host[source] == host[target]) < 0.05


def test_mutual_links_are_linked_back(tmp_path: Path) -> None:
    # On one host and of one topic all pages may be partners; other links lead anywhere, and hardly ever back.
    alone = {"pages_per_host": 5000, "topics": 1, "topical": 1, "hubs": 0, "dead_links": 0, "in_degree_exponent": 5}
    for mutual in (0.0, 0.4):
        source, target = targets(made(tmp_path, pages=5000, mutual=mutual, **alone))
        pairs = set(zip(source.tolist(), target.tolist(), strict=True))
        linked_back = np.mean([(there, here) in pairs for here, there in pairs])
        assert linked_back == pytest.approx(mutual, abs=0.03)


def test_slots_are_paired_within_their_group_and_the_odd_one_out_is_left() -> None:
    group = np.array([0, 0, 1, 1, 1])
    times = np.array([2, 2, 0, 3, 2], np.int32)
    rng = np.random.default_rng(5)
    row = row_of(group, 2, times, rng)
    assert (row.start.tolist(), row.size.tolist()) == ([0, 4], [4, 5])
    assert sorted(row.page[:4].tolist()) == [0, 0, 1, 1]
    assert sorted(row.page[4:].tolist()) == [3, 3, 3, 4, 4]
    slots = list(zip(np.repeat(np.arange(5), times).tolist(), paired(row, group).tolist(), strict=True))
    # Whoever has a partner is the partner of that one, as often.
    assert all(slots.count((a, b)) == slots.count((b, a)) for a, b in slots if b != UNPAIRED)
    assert all(group[a] == group[b] != -1 and a != b for a, b in slots if b != UNPAIRED)
    assert (3, UNPAIRED) in slots or (4, UNPAIRED) in slots


def test_hubs_have_many_links_to_their_topic_on_other_hosts(larger: RecordedWeb) -> None:
    # What is drawn is drawn again, because a recorded web does not say which pages are hubs.
    drawn = pages_of(TopicalWeb(**(SMALL | {"pages": 40_000, "topics": 20, "pages_per_host": 100})))
    source, target = targets(larger)
    topic, host = first_topic(larger), larger.url_host[: larger.n_pages]
    is_hub = drawn.is_hub & (topic >= 0)
    assert np.mean(drawn.is_hub) == pytest.approx(0.01, rel=0.3)
    n_links = np.diff(larger.link_offset)
    assert n_links[is_hub].mean() > 8 * n_links[~is_hub].mean()
    of_hubs = is_hub[source]
    same_topic = topic[source] == topic[target]
    assert np.mean(same_topic[of_hubs]) > 0.75 > np.mean(same_topic[~of_hubs])
    assert np.mean((host[source] == host[target])[of_hubs]) < 0.4


def test_some_links_are_dead_nofollow_or_lead_by_way_of_an_alias(larger: RecordedWeb) -> None:
    # Links to aliases: 1 % of pages have one, and 30 % of the links to them use it.
    url = larger.link_url
    assert np.mean(larger.url_page[url] < 0) == pytest.approx(0.2, abs=0.03)
    assert np.mean(larger.link_nofollow) == pytest.approx(0.01, abs=0.003)
    n_aliases = np.count_nonzero(larger.url_page[larger.n_pages :] >= 0)
    assert n_aliases == pytest.approx(400, rel=0.2)
    by_alias = (url >= larger.n_pages) & (larger.url_page[url] >= 0)
    assert 0.0005 < np.mean(by_alias) < 0.01
    # Every dead URL is linked to, or it would not be in the web.
    dead = np.flatnonzero(larger.url_page < 0)
    assert np.isin(dead, url).all()


def test_the_anchor_of_a_link_is_the_title_of_its_page(small: RecordedWeb) -> None:
    for page in range(0, small.n_pages, 20):
        words = small.words(page)
        for link in range(small.link_offset[page], small.link_offset[page + 1]):
            target = small.url_page[small.link_url[link]]
            anchor = [small.vocabulary[word] for word in words[small.link_start[link] : small.link_end[link]]]
            assert anchor == small.title(target).split() if target >= 0 else len(anchor) == 1


def test_the_words_of_a_topic_stand_on_its_pages_more_than_elsewhere(larger: RecordedWeb) -> None:
    topic = read_topics(larger.path / "topics.jsonl")[0]
    keywords = larger.find_words(topic.keywords)
    own = np.zeros(larger.n_pages, np.bool_)
    own[larger.labelled(topic.id)] = True
    has = np.add.reduceat(np.isin(larger.word, keywords), larger.word_offset[:-1]) > 0
    assert has[own].mean() > 0.7
    assert has[~own].mean() < 0.5


def test_topics_have_keywords_descriptions_and_examples_that_are_labelled_with_them(larger: RecordedWeb) -> None:
    topics, of_page = read_topics(larger.path / "topics.jsonl"), first_topic(larger)
    assert len(topics) == 20
    for topic in topics:
        pages = [larger.page_of(url) for url in topic.examples]
        assert set(pages) <= set(larger.labelled(topic.id).tolist())
        assert len(set(pages)) == min(500, np.count_nonzero(of_page == int(topic.id.removeprefix("topic"))))
        assert len(larger.find_words(topic.keywords)) == len(topic.keywords) == 5
        assert set(topic.keywords) < set(topic.description.split())


def test_made_up_words_are_stems_and_no_stop_words() -> None:
    stems = vocabulary.Vocabulary(n_topics=3).stems
    assert len(set(stems)) == len(stems) == 1 + 5000 + 3 * 200
    assert all(stems_of(stem) == [stem] for stem in stems[1:])


def test_words_are_drawn_by_zipfs_law() -> None:
    words = vocabulary.Vocabulary(n_topics=1)
    bits = np.arange(1 << 16, dtype=np.uint32)
    common = np.bincount(words.common[bits])[1:]
    # Each of 5,000 words has one entry of its own; the 60,536 others follow 1/rank, and 1 + 1/2 + ... + 1/5000 is
    # 9.0945: the first word has 1 + 60536/9.0945 = 6657 of them, the second 3329.
    assert common[:2].tolist() == [6657, 3329]
    assert common.min() >= 1
    assert np.mean(words.background[bits] == 0) == pytest.approx(0.3, abs=1e-4)
    of_topic = words.of_topics(np.zeros(len(bits), np.int32), bits)
    assert (of_topic.min(), of_topic.max()) == (5001, 5200)


def test_a_web_of_one_host_and_one_of_few_pages_can_be_made(tmp_path: Path) -> None:
    one = made(tmp_path, pages_per_host=600)
    assert len(np.unique(one.url_host[: one.n_pages])) == 1
    few = made(tmp_path, pages=10, topics=10, links_per_page=1, pages_per_host=1)
    assert few.n_pages == 10


def test_a_web_without_dead_links_aliases_or_second_topics_has_none(tmp_path: Path) -> None:
    web = made(tmp_path, dead_links=0, aliases=0, second_topics=0, nofollow=0, topical=1)
    assert web.n_urls == web.n_pages
    assert np.diff(web.label_offset).tolist() == [1] * web.n_pages
    assert not web.link_nofollow.any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pages": 5}, "pages=5 .* 10 to 10000000"),
        ({"pages": 100.5}, "pages=100.5"),
        ({"topics": True}, "topics=True"),
        ({"on_host": 1.5}, "on_host=1.5 .* 0 to 1"),
        ({"on_topic": "much"}, "on_topic=much"),
        ({"hub_factor": float("nan")}, "hub_factor=nan .* 1 to 100"),
        ({"pages": 20, "topics": 30}, "topics=30 .* 20"),
    ],
)
def test_settings_out_of_bounds_are_rejected(tmp_path: Path, settings: dict, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        topical_web(tmp_path / "web", **settings)
    assert nothing_but(tmp_path)


def test_a_setting_that_there_is_none_of_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"'topic'.*'topics'"):
        topical_web(tmp_path / "web", topic=3)


def test_a_web_that_is_there_stays_unless_told_otherwise(tmp_path: Path) -> None:
    web = made(tmp_path)
    with pytest.raises(InvalidInput, match="--force"):
        topical_web(tmp_path / "web", **(SMALL | {"seed": 9}))
    assert RecordedWeb.open(tmp_path / "web").fingerprint == web.fingerprint
    assert made(tmp_path, seed=9).fingerprint != web.fingerprint


def test_a_web_by_the_defaults_lies_within_the_range_of_real_collections(tmp_path: Path) -> None:
    """The ranges are those of wpschools, nlab and mdn in `benchmarks.realism`, a little widened."""
    topical_web(tmp_path / "web", pages=20_000, words_per_page=5)
    measured = realism(RecordedWeb.open(tmp_path / "web"), np.random.default_rng(1), n_walks=100)
    assert 2.3 < measured.in_degrees.tail_exponent < 2.6
    assert 2.6 < measured.out_degrees.tail_exponent < 3.8
    assert 0.18 < measured.reciprocal < 0.36
    assert 0.17 < measured.not_recorded < 0.29
    chances = [at.chance for at in measured.autocorrelation]
    assert chances == sorted(chances, reverse=True)
    assert 0.17 < chances[1] < 0.5
    assert chances[2] > 3 * measured.base_rate
    assert chances[5] < measured.base_rate


def test_the_command_makes_a_web_that_can_be_crawled_at_once(tmp_path: Path, scenthound) -> None:
    web, run = tmp_path / "web", tmp_path / "run"
    code, said, _ = scenthound("synthesize", "--pages", 600, "--topics", 6, "--set", "pages_per_host=40", "--out", web)
    assert code == 0
    assert said.startswith("Generated 600 pages on 15 hosts")
    assert f"Next: scenthound simulate --web {web} --topics {web / 'topics.jsonl'}" in said
    crawl = ("--strategy", "best_first", "--pages", 50, "--topics-max", 2, "--workers", 1, "--out", run)
    code, said, _ = scenthound("simulate", "--web", web, "--topics", web / "topics.jsonl", *crawl)
    assert code == 0
    assert "visited 100 pages" in said


def test_the_help_names_the_largest_web_there_is(scenthound) -> None:
    _, help_text, _ = scenthound("synthesize", "--help")
    (most_pages,) = (setting.bounds.high for setting in parameters_of(TopicalWeb) if setting.name == "pages")
    assert f"up to {most_pages / 1e6:.0f} million" in " ".join(help_text.replace("│", " ").split())


def test_the_command_answers_with_json_and_says_what_is_wrong_in_one_line(tmp_path: Path, scenthound) -> None:
    small = ("--pages", 50, "--topics", 2, "--out", tmp_path / "web")
    code, said, _ = scenthound("synthesize", *small, "--json")
    assert code == 0
    assert json.loads(said)["pages"] == 50
    for wrong, text in (
        ("on_host=x", "NAME=NUMBER"),
        ("on_hots=1", "Did you mean 'on_host'"),
        ("on_host=2", "0 to 1"),
    ):
        code, said, error = scenthound("synthesize", *small, "--force", "--set", wrong)
        assert (code, said) == (2, "")
        assert error.count("\n") == 1
        assert text in error
