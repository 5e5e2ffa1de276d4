"""Traps: the page limit of each kind, and that ordinary sites have hardly any cost."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.reasons import SkipReason
from scenthound.web.traps import MAX_DEPTH, MAX_FAMILIES, TrapCosts, trap_sign
from scenthound.web.urls import host_of
from shared_pages import urls_of
from timing import cpu_cost_s

SITE = "http://site.example"


def spent(traps: TrapCosts, host: int = 1) -> float:
    """The total cost of the pages of a host."""
    return sum(traps._budget_per_kind - budget.left for (owner, _), budget in traps._budgets.items() if owner == host)


def n_allowed(urls: Iterable[str], traps: TrapCosts | None = None) -> int:
    traps = traps or TrapCosts()
    return sum(traps.charge(url, host=1) is None for url in urls)


def months(years: int) -> Iterator[tuple[int, int]]:
    return itertools.product(range(2000, 2000 + years), range(1, 13))


def days(count: int) -> Iterator[date]:
    return (date(2000, 1, 1) + timedelta(number) for number in range(count))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("/", None),
        ("/a/b/a/b.html", None),
        ("/a/b/a/c/a/", SkipReason.TRAP_PATH),
        ("/a//b//c//d", SkipReason.TRAP_PATH),
        ("/" + "/".join("abcdefghijkl"), None),
        ("/" + "/".join("abcdefghijklm"), SkipReason.TRAP_PATH),
        ("/10/10/1/2", None),
        ("/a;jsessionid=0123456789ABCDEF0123", SkipReason.TRAP_SESSION),
        ("/a?x=1&PHPSESSID=0123456789abcdef0123456789", SkipReason.TRAP_SESSION),
        ("/(S(lit3py55t21z5v55vlm25s55))/a.aspx", SkipReason.TRAP_SESSION),
        ("/a?s=0123456789abcdef0123456789abcdef", SkipReason.TRAP_SESSION),
        ("/a?s=a-long-search-for-python-3.11", SkipReason.TRAP_QUERY),
        ("/a?sid=17", SkipReason.TRAP_QUERY),
        ("/a?utm_source=0123456789abcdef0123456789", SkipReason.TRAP_QUERY),
        ("/2031/07/", SkipReason.TRAP_CALENDAR),
        ("/events/2031-7-1", SkipReason.TRAP_CALENDAR),
        ("/events_20310701.html", SkipReason.TRAP_CALENDAR),
        ("/events/2031/13/", None),
        ("/wiki/1999", None),
        ("/item/120310701", None),
        ("/a?month=2031-07", SkipReason.TRAP_CALENDAR),
        ("/a?x=1&year=2031&y=2", SkipReason.TRAP_CALENDAR),
        ("/a?tribe-bar-date=2031-07-01", SkipReason.TRAP_CALENDAR),
        ("/?m=203107", SkipReason.TRAP_CALENDAR),
        ("/a?update=1", SkipReason.TRAP_QUERY),
        ("/a?d=123", SkipReason.TRAP_QUERY),
        ("/a?date=today", SkipReason.TRAP_QUERY),
    ],
)
def test_signs(url: str, reason: SkipReason | None) -> None:
    sign = trap_sign(SITE + url)
    assert (sign.reason if sign else None) == reason


def test_an_endless_calendar_ends_after_some_hundred_pages() -> None:
    assert n_allowed(f"{SITE}/calendar?month={year}-{month:02}" for year, month in months(600)) == 529
    assert n_allowed(f"{SITE}/events/{year}/{month}/" for year, month in months(200)) == 529
    assert n_allowed(f"{SITE}/day/{day:%Y-%m-%d}" for day in days(5_000)) == 786
    assert n_allowed(f"{SITE}/c?year={day.year}&month={day.month}&day={day.day}" for day in days(5_000)) == 786


def test_a_site_with_ever_new_sessions_ends_after_145_pages() -> None:
    assert n_allowed(f"{SITE}/page{number};jsessionid={number:032X}" for number in range(3_000)) == 145


def test_a_constant_session_id_costs_little() -> None:
    assert n_allowed(f"{SITE}/page{number}?PHPSESSID={7:032x}" for number in range(3_000)) == 3_000


def test_a_shop_with_facets_ends_before_a_thousand_pages() -> None:
    names = ("color", "size", "brand", "sort", "page", "price", "view")
    queries = (
        "&".join(f"{name}={value}" for name, value in zip(chosen, values, strict=True))
        for count in range(1, 8)
        for chosen in itertools.combinations(names, count)
        for values in itertools.product("123", repeat=count)
    )
    assert n_allowed(f"{SITE}/shop?{query}" for query in queries) < 1_000


def test_repeating_folders_end_after_a_few_levels() -> None:
    assert n_allowed(f"{SITE}/{'a/b/' * steps}" for steps in range(1, 200)) == 6
    paths = ("/".join(path) for depth in range(3, 9) for path in itertools.product("abc", repeat=depth))
    assert n_allowed(f"{SITE}/{path}" for path in paths) < 500


def test_endless_depth_ends_after_some_hundred_pages() -> None:
    folders = ["/".join(f"{step}-{number}" for step in range(MAX_DEPTH + 1)) for number in range(1_000)]
    assert n_allowed(f"{SITE}/{folder}" for folder in folders) == 145
    assert n_allowed(f"{SITE}/{folders[0]}{number}" for number in range(1_000)) == 1_000


@pytest.mark.parametrize(
    ("urls", "at_least"),
    [
        ((f"/viewtopic.php?t={number}" for number in range(9_000)), 3_500),
        ((f"/index.php?title=Page_{number}" for number in range(9_000)), 3_500),
        ((f"/viewtopic.php?f={number % 7}&t={number}" for number in range(9_000)), 1_700),
        ((f"/wiki/Page_{number}?action=history" for number in range(9_000)), 9_000),
        ((f"/{year}/{month:02}/" for year, month in months(20)), 240),
        ((f"/{day:%Y/%m/%d}/story-{number}" for number, day in enumerate(days(5_000))), 5_000),
        ((f"/node/{number}" for number in range(9_000)), 9_000),
    ],
    ids=["forum", "wiki by title", "forum with two parameters", "wiki histories", "blog by month", "news", "numbers"],
)
def test_ordinary_sites_are_crawled_for_thousands_of_pages(urls: Iterator[str], at_least: int) -> None:
    assert n_allowed(SITE + url for url in urls) >= at_least


def test_costs_are_those_of_the_table() -> None:
    traps = TrapCosts()
    n_allowed((f"{SITE}/a?x={number}&z=1" for number in range(5)), traps)
    assert spent(traps) == 0
    # Two parameters: 0.1 * 3, times 1 + 5 / 1,000 and then 1 + 6 / 1,000.
    n_allowed((f"{SITE}/a?x={number}&z=1" for number in (5, 6)), traps)
    assert spent(traps) == pytest.approx(0.3 * 1.005 + 0.3 * 1.006)
    # One repetition costs 4; in the same folder 0.25; a second folder that repeats 4 * 1.01.
    traps = TrapCosts()
    n_allowed((f"{SITE}/a/a/a/{page}" for page in ("", "b", "c")), traps)
    n_allowed([f"{SITE}/a/b/a/b/a/"], traps)
    assert spent(traps) == pytest.approx(4 + 0.25 + 0.25 + 4 * 1.01)
    # The sixth date of a family, ten years after the first: 0.25 * (1 + 10 / 25) * (1 + 5 / 100).
    traps = TrapCosts()
    n_allowed([f"{SITE}/{2000 + year}/5/" for year in (0, 1, 2, 3, 4, 10)], traps)
    assert spent(traps) == pytest.approx(0.25 * 1.4 * 1.05)


def test_skipped_pages_cost_nothing_and_cheaper_ones_are_allowed() -> None:
    traps = TrapCosts(budget=10)
    assert traps.charge(f"{SITE}/a/b/a/b/a/b/", 1) is SkipReason.TRAP_PATH
    assert spent(traps) == 0
    assert traps.charge(f"{SITE}/a/b/a/b/a/", 1) is None
    assert spent(traps) == 4


def test_skipped_pages_do_not_raise_the_cost_of_others() -> None:
    traps = TrapCosts(budget=10)
    n_allowed((f"{SITE}/a?x={number}" for number in range(5)), traps)
    # Six parameters cost 24.3, more than the budget.
    assert n_allowed((f"{SITE}/a?a&b&c&d&e&f={number}" for number in range(50)), traps) == 0
    n_allowed([f"{SITE}/a?x=5"], traps)
    assert spent(traps) == pytest.approx(0.1 * 1.005)


def test_pages_of_one_repeating_folder_are_one_family() -> None:
    traps = TrapCosts()
    n_allowed([f"{SITE}/a/a/a/b/1", f"{SITE}/a/a/a/c/2", f"{SITE}/a/a/a/d/"], traps)
    assert spent(traps) == 4 + 0.25 + 0.25


def test_each_host_and_kind_has_its_own_budget() -> None:
    traps = TrapCosts(budget=5)
    sessions = [f"{SITE}/;jsessionid={number:020}" for number in range(3)]
    assert [traps.charge(url, 1) for url in sessions] == [None, SkipReason.TRAP_SESSION, SkipReason.TRAP_SESSION]
    assert traps.charge(sessions[1], 2) is None
    assert traps.charge(f"{SITE}/a/a/a/", 1) is None
    assert traps.charge(SITE, 1) is None


def test_the_number_of_families_per_host_is_bounded() -> None:
    traps = TrapCosts(budget=1e9)
    urls = (f"{SITE}/{number}?x={number}" for number in range(5_000))
    assert n_allowed(urls, traps) == 5_000
    assert {len(account.families) for account in traps._budgets.values()} == {MAX_FAMILIES}


def test_a_recently_used_family_is_not_dropped() -> None:
    trap = [f"{SITE}/trap?a&b&c&d&e&f={number}" for number in range(2_000)]
    others = [f"{SITE}/other{number}?x=1" for number in range(2_000)]
    mixed = list(itertools.chain.from_iterable(zip(trap, others, strict=True)))
    # 24.3 * (40 + (5 + 6 + ... + 44) / 1,000) = 995.8, after five free ones.
    assert n_allowed(mixed) - len(others) == n_allowed(trap) == 45


@pytest.mark.parametrize("unit", ["a/", "date-", "?", "20", "&sid=a1", "a.", ";", "/2031/07", "=1", "&month"])
def test_hostile_urls_take_bounded_time(unit: str) -> None:
    url = f"{SITE}/?{unit * 1_000}"[:2_083]
    assert cpu_cost_s(lambda: (trap_sign(url), trap_sign(url.replace("?", ""))), 0.01) < 0.01


@given(st.lists(st.from_regex(r"http://a/[ab2/?&=;019-]{0,20}", fullmatch=True), max_size=30))
def test_the_same_pages_cost_the_same(urls: list[str]) -> None:
    first, second = TrapCosts(3), TrapCosts(3)
    assert [first.charge(url, 1) for url in urls] == [second.charge(url, 1) for url in urls]
    assert 0 <= spent(first) == spent(second) <= 12


@pytest.mark.parametrize("collection", ["wpschools/pages", "mdn/pages", "nlab/pages", "debdocs/pages-1"])
def test_real_sites_cost_next_to_nothing(shared: Path, collection: str) -> None:
    urls = list(urls_of(shared / f"data/{collection}.jsonl.zst", limit=6_000))
    numbers = {host: number for number, host in enumerate(dict.fromkeys(map(host_of, urls)))}
    tries: list[tuple[TrapCosts, Counter[SkipReason | None]]] = []

    def charge_all() -> None:
        traps = TrapCosts()
        tries.append((traps, Counter(traps.charge(url, numbers[host_of(url)]) for url in urls)))

    # Measured 1.4 microseconds each, the host among them.
    most_s = 0.000_02 * len(urls)
    assert cpu_cost_s(charge_all, most_s) < most_s
    traps, refused = tries[0]
    assert refused == {None: len(urls)}
    assert sum(spent(traps, host) for host in numbers.values()) < 0.03 * len(urls)
