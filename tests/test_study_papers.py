"""The findings of the papers: reproduced where what the paper found is planted, and not where the contrary is."""

import re
from dataclasses import replace
from itertools import chain
from math import nan
from types import SimpleNamespace

import numpy as np
import pytest

from measured_arms import planted_arm, verdicts
from scenthound.experiments.papers import differences_from_paper, menczer2001, pant2002, paper_of, wang2009
from scenthound.experiments.study import measures, study
from scenthound.experiments.study.arms import even_hosts
from scenthound.experiments.study.classifiers import CALIBRATED_HARVEST
from scenthound.experiments.study.measures import MISSING_COUNT, VISITED_PAGES
from scenthound.experiments.study.settings import read_settings
from scenthound.experiments.study.tables import end_tables
from scenthound.model import Trace

REPRODUCED, NOT, NOT_ASKED = "reproduced", "not reproduced", "cannot be asked here"
CLASSIFIED = [f"classified:by={name}" for name in menczer2001.CLASSIFIERS]


def by(table: dict[str, float]):
    """The same at all indices."""
    return lambda label, _x: table[label]


# --- menczer2001 -----------------------------------------------------------------------------------------------------


def menczer(
    order: tuple[str, str, str],
    early: dict[str, float],
    middle: dict[str, float],
    end: dict[str, float],
    **more,
):
    """Classifiers and similarity say `order`, best first; mean ranks are given at 100, 500 and 1,000 pages."""
    quality = {label: 0.3 - 0.1 * index for index, label in enumerate(order)}
    ranks = {50: early, 100: early, 250: middle, 500: middle, 1000: end}
    planted = {name: by(quality) for name in [*CLASSIFIED, "mean_similarity"]}
    planted["rank:by=lexical"] = lambda label, x: ranks[x][label]
    return planted_arm("menczer2001", "crawls", planted, low=("rank:by=lexical",), **more)


AS_FOUND = ("BestFirst", "InfoSpiders", "PageRank")
EARLY = {"BestFirst": 500.0, "InfoSpiders": 505.0, "PageRank": 800.0}
MIDDLE = {"BestFirst": 500.0, "InfoSpiders": 600.0, "PageRank": 900.0}
END = {"BestFirst": 500.0, "InfoSpiders": 600.0, "PageRank": 800.0}


def test_findings_of_menczer2001_are_reproduced_if_they_hold():
    arm = menczer(AS_FOUND, EARLY, MIDDLE, END)
    assert verdicts(menczer2001.findings([arm])) == dict.fromkeys(("H1", "H2", "H3", "H4"), REPRODUCED)


def test_findings_of_menczer2001_are_not_reproduced_in_another_order():
    worse = {"BestFirst": 500.0, "InfoSpiders": 600.0, "PageRank": 950.0}
    arm = menczer(AS_FOUND[::-1], {**EARLY, "InfoSpiders": 700.0}, MIDDLE, worse)
    assert verdicts(menczer2001.findings([arm])) == dict.fromkeys(("H1", "H2", "H3", "H4"), NOT)


@pytest.mark.parametrize("leaving_share", [0.0, 0.009])
def test_claims_about_pagerank_cannot_be_asked_where_hardly_a_link_leads_to_another_domain(leaving_share):
    arm = menczer(AS_FOUND, EARLY, MIDDLE, END, leaving_share=leaving_share)
    found = {each.name: each for each in menczer2001.findings([arm])}
    assert {name: each.verdict.value for name, each in found.items()} == dict.fromkeys(
        ("H1", "H2", "H3", "H4"), NOT_ASKED
    )
    best, spiders = found["H1"].claims[:2]
    assert (best.verdict.value, spiders.verdict.value) == (REPRODUCED, NOT_ASKED)
    # The effect is shown even so.
    assert spiders.effect is not None
    assert spiders.effect.mean == pytest.approx(0.1, abs=0.01)


def test_few_links_to_other_domains_are_remarked():
    arms = [menczer(AS_FOUND, EARLY, MIDDLE, END, leaving_share=share) for share in (0.02, 0.2)]
    few, many = (next(iter(menczer2001.findings([arm]))) for arm in arms)
    assert few.verdict.value == many.verdict.value == REPRODUCED
    assert "2.0%" in few.remark
    assert not many.remark


def test_crawls_that_ended_are_not_compared_twice_and_claims_say_where():
    lengths = dict.fromkeys(AS_FOUND, 300)
    arm = menczer(AS_FOUND, EARLY, MIDDLE, END, lengths={**lengths, "BestFirst": 1000})
    found = {f"{each.name} {each.protocol}": each for each in menczer2001.findings([arm])}
    visited, padded = found[f"H3 {VISITED_PAGES}"], found[f"H3 {MISSING_COUNT}"]
    # After 100 pages, and where the crawls of 300 pages ended.
    assert (len(visited.claims), len(padded.claims)) == (4, 6)
    assert "300 pages in the mean" in visited.claims[1].says
    assert found[f"H4 {VISITED_PAGES}"].verdict.value == NOT_ASKED


def test_the_end_of_crawls_that_visited_all_pages_cannot_be_asked_about():
    found = {
        f"{each.name} {each.protocol}": each
        for each in wang2009.findings(wang(FIRST, LAST, HARVEST, 2.9, exhausted=12))
    }
    assert found["H12 corrected"].verdict.value == NOT_ASKED
    assert found[f"H15 corrected, {VISITED_PAGES}"].verdict.value == NOT_ASKED
    assert found[f"H15 corrected, {MISSING_COUNT}"].verdict.value == NOT_ASKED
    # After 50 pages they still differed.
    early, end = found["H13 corrected"].claims[0], found["H13 corrected"].claims[-1]
    assert (early.verdict.value, end.verdict.value) == (REPRODUCED, NOT_ASKED)
    assert (early.effect.n_topics, end.effect.n_topics) == (12, 0)
    assert re.search(r"\b12 of 12 topics\b.*\b300\b", end.why)


def test_a_claim_cannot_be_asked_if_crawls_of_all_but_four_topics_visited_all_pages():
    arms = {n: wang(FIRST, LAST, HARVEST, 2.9, exhausted=n) for n in (3, 8)}
    found = {n: {each.name: each for each in wang2009.findings(arms[n]) if "corrected" in each.protocol} for n in arms}
    assert {name: each.verdict.value for name, each in found[3].items()} == dict.fromkeys(
        ("H11", "H12", "H13", "H14", "H15"), REPRODUCED
    )
    assert {claim.effect.n_topics for claim in found[3]["H12"].claims} == {9}
    assert {claim.verdict.value for claim in found[8]["H12"].claims} == {NOT_ASKED}
    assert {claim.verdict.value for claim in found[8]["H15"].claims} == {NOT_ASKED}
    assert "8 of 12 topics" in found[8]["H15"].claims[0].why


def test_crawls_of_equal_length_that_visited_other_pages_are_compared():
    arms = wang(FIRST, LAST, HARVEST, 2.9, exhausted=12)
    for arm in arms:
        arm.visited_sets[:] = np.arange(len(arm.labels))[:, np.newaxis]
    found = verdicts(wang2009.findings(arms))
    assert found[f"H15 corrected, {VISITED_PAGES}"] == REPRODUCED


def test_missing_pages_are_not_counted_if_they_are_most_pages():
    found = {n: {f"{each.name} {each.protocol}": each for each in menczer2001.findings([ended(n)])} for n in (499, 500)}
    assert found[500][f"H1 {MISSING_COUNT}"].verdict.value == REPRODUCED
    best, spiders = found[499][f"H1 {MISSING_COUNT}"].claims[:2]
    assert (best.verdict.value, spiders.verdict.value) == (NOT_ASKED, NOT_ASKED)
    assert re.search(r"\bInfoSpiders\b.*\b499 of the 1,000\b", best.why)
    # After 100 pages there are enough.
    assert found[499][f"H3 {MISSING_COUNT}"].claims[0].verdict.value == REPRODUCED
    assert found[499][f"H1 {VISITED_PAGES}"].verdict.value == REPRODUCED


def ended(n_pages: int):
    """What menczer2001 found, with crawls of InfoSpiders that ended early."""
    return menczer(AS_FOUND, EARLY, MIDDLE, END, lengths={"InfoSpiders": n_pages})


def test_sets_of_pages_are_equal_whatever_the_order_and_only_of_crawls_that_ended():
    visits = [([1, 2, 3], [5, 6]), ([3, 1, 2], [6, 5]), ([3, 1, 2], [6, 7]), ([1, 2, 3, 4], [5, 6])]
    runs = [[SimpleNamespace(trace=trace(pages)) for pages in of_start] for of_start in zip(*visits, strict=True)]
    assert measures._visited_sets(runs, 4).tolist() == [0, 0, 1, measures.NOT_ENDED]


def trace(pages: list[int]) -> Trace:
    return Trace("t0", "BFS1", 0, np.array(pages, np.int32), np.zeros(len(pages)))


def test_crawls_that_are_mostly_start_pages_cannot_be_asked_about():
    # They start from 10 pages.
    found = {n: verdicts(menczer2001.findings([ended(n)])) for n in (19, 20)}
    assert found[19][f"H1 {VISITED_PAGES}"] == found[19][f"H3 {VISITED_PAGES}"] == NOT_ASKED
    assert found[20][f"H1 {VISITED_PAGES}"] == found[20][f"H3 {VISITED_PAGES}"] == REPRODUCED
    # BestFirst and PageRank have all pages.
    assert found[19][f"H4 {VISITED_PAGES}"] == REPRODUCED


def test_crawls_that_hardly_have_more_pages_are_not_compared_again():
    found = {}
    for n_pages in (109, 111):
        arm = menczer(AS_FOUND, EARLY, MIDDLE, END, lengths={"InfoSpiders": n_pages})
        found[n_pages] = {each.name: each for each in menczer2001.findings([arm]) if each.protocol == VISITED_PAGES}
    assert [len(found[n]["H3"].claims) for n in (109, 111)] == [2, 4]
    # Three early claims, and one for each pair of which nothing is known later.
    early, later = found[109]["H2"].claims[:3], found[109]["H2"].claims[3:]
    assert {claim.verdict.value for claim in early} == {REPRODUCED}
    assert {claim.verdict.value for claim in later} == {NOT_ASKED}
    assert len(later) == 2


def test_recovery_cannot_be_asked_about_if_crawls_ended_early_on():
    arms = pant(0.2, (50, 60), (-90, 20), {"BFS1": 0.5, "BFS256": 0.6, "Breadth-First": 0.3})
    missed = tuple(replace(each, n_pages=210) if each.strategy == "BFS1" else each for each in arms[0].missed)
    found = [each for each in pant2002.findings([replace(arms[0], missed=missed), arms[1]]) if each.name == "H8"]
    assert [[claim.verdict.value for claim in each.claims] for each in found] == [
        [REPRODUCED, NOT_ASKED],
        [REPRODUCED, NOT_ASKED],
    ]


def test_claims_over_visited_pages_say_how_many_there_are():
    lengths = {"Link-context": 400, "BFS1": 400, "InfoSpiders": 400, wang2009.USUAL: 400}
    arms = wang(FIRST, LAST, HARVEST, times=2.9, lengths=lengths)
    arms[2:4] = [
        planted_arm("wang2009", arm.settings.name, REVISION, lengths={wang2009.USUAL: 400}) for arm in arms[2:4]
    ]
    one, two = pant(0.2, (50, 60), (-90, 20), {"BFS1": 0.5, "BFS256": 0.6, "Breadth-First": 0.3})
    missed = tuple(replace(each, n_pages=400) if each.strategy == "BFS1" else each for each in two.missed)
    found = [
        *menczer2001.findings([ended(400)]),
        *pant2002.findings([replace(one, missed=missed), replace(two, missed=missed)]),
        *wang2009.findings(arms),
    ]
    visited = [each for each in found if VISITED_PAGES in each.protocol and each.name not in {"H4", "H9"}]
    assert {each.name for each in visited} == {"H1", "H2", "H3", "H7", "H8", "H10", "H11", "H15"}
    for each in visited:
        assert all(re.search(r"after [\d,]+ pages", claim.says) for claim in each.claims)
        assert any("(400 pages in the mean)" in claim.says for claim in each.claims)


def test_low_ranks_are_better():
    arm = menczer(AS_FOUND, EARLY, MIDDLE, END)
    # 600 - 500 ranks at the end.
    assert arm.better("rank:by=lexical", "BestFirst", "InfoSpiders").mean() == pytest.approx(100, abs=2)


def test_crawls_of_unequal_length_are_compared_where_the_shorter_one_ended():
    quality = {"BestFirst": 0.3, "InfoSpiders": 0.2, "PageRank": 0.1}
    # After InfoSpiders ended missing pages count, and its means fall below those of PageRank.
    late = {**quality, "InfoSpiders": 0.05}
    planted = {
        name: lambda label, x: (quality if x <= 500 else late)[label] for name in [*CLASSIFIED, "mean_similarity"]
    }
    ranks = {50: EARLY, 100: EARLY, 250: MIDDLE, 500: MIDDLE, 1000: END}
    planted["rank:by=lexical"] = lambda label, x: ranks[x][label]
    arm = planted_arm("menczer2001", "crawls", planted, low=("rank:by=lexical",), lengths={"InfoSpiders": 700})
    found = verdicts(menczer2001.findings([arm]))
    assert (found[f"H1 {VISITED_PAGES}"], found[f"H1 {MISSING_COUNT}"]) == (REPRODUCED, NOT)
    assert (found[f"H3 {VISITED_PAGES}"], found[f"H3 {MISSING_COUNT}"]) == (REPRODUCED, NOT)


def test_values_over_visited_pages_are_those_where_the_shortest_crawl_ended():
    similarity = {"mean_similarity": lambda label, x: {"BestFirst": 0.3, "InfoSpiders": 0.2}.get(label, 0.1) * 100 / x}
    arm = planted_arm("menczer2001", "crawls", similarity, lengths={"InfoSpiders": 300, "PageRank": 700})
    # At 250 pages, the last step that all crawls reached.
    assert arm.at_equal_length("mean_similarity", "BestFirst").mean() == pytest.approx(0.12, abs=0.01)
    padded, visited = end_tables(arm, {"mean_similarity": "similarity"})
    assert [row[0] for row in visited.rows] == [row[0] for row in padded.rows] == list(AS_FOUND)
    assert [row[1].split(" ")[0] for row in visited.rows] == ["1,000", "300", "700"]
    assert [float(row[2].split(" ")[0]) for row in visited.rows] == pytest.approx([0.12, 0.08, 0.04], abs=0.01)
    assert [float(row[1].split(" ")[0]) for row in padded.rows] == pytest.approx([0.03, 0.02, 0.01], abs=0.005)
    assert len([*end_tables(planted_arm("menczer2001", "crawls", similarity), {"mean_similarity": "similarity"})]) == 1


# --- pant2002 --------------------------------------------------------------------------------------------------------


def coverage(gain: float):
    """BFS256 covers more than BFS1 by `gain` at a small n, and by half of it at a large one; the others between."""
    share = {"BFS1": 0.0, "BFS16": 0.4, "BFS64": 0.5, "BFS128": 0.6, "BFS256": 1.0, "Breadth-First": -1.0}
    return lambda label, n: 0.5 + share.get(label, 0.0) * gain * (1.0 if n < 200 else 0.5)


def mean_rank(early: float, late: float):
    """BFS256 is ahead of BFS1 by this many ranks after up to 200 pages, and after more."""
    return lambda label, x: 1000.0 - (label == "BFS256") * (early if x <= 200 else late)


def pant(
    gain: float,
    lexical: tuple[float, float],
    penalty: tuple[float, float],
    recall: dict[str, float],
    page_budget: int = 2000,
):
    ranks = {"rank:by=lexical": mean_rank(*lexical), "rank:by=linkage": mean_rank(*penalty)}
    static = {f"coverage:by={rank}": coverage(gain) for rank in pant2002.RANKS}
    one = planted_arm("pant2002", "task 1", {**static, **ranks}, low=tuple(ranks), page_budget=page_budget)
    two_ranks = {"rank:by=lexical": mean_rank(*penalty), "rank:by=linkage": mean_rank(*penalty)}
    two = planted_arm(
        "pant2002",
        "task 2",
        {**static, **two_ranks, "target_recall": lambda label, _x: recall.get(label, 0.5)},
        low=tuple(two_ranks),
        page_budget=page_budget,
    )
    return [one, two]


def test_findings_of_pant2002_are_reproduced_if_they_hold():
    arms = pant(0.2, (50, 60), (-90, 20), {"BFS1": 0.5, "BFS256": 0.6, "Breadth-First": 0.3})
    assert verdicts(pant2002.findings(arms)) == dict.fromkeys(("H5", "H6", "H7", "H8", "H9", "H10"), REPRODUCED)


def test_findings_of_pant2002_are_not_reproduced_if_the_greedy_crawler_is_better():
    arms = pant(-0.2, (-50, -60), (90, 120), {"BFS1": 0.6, "BFS256": 0.5, "Breadth-First": 0.7})
    assert verdicts(pant2002.findings(arms)) == dict.fromkeys(("H5", "H6", "H7", "H8", "H9", "H10"), NOT)


def test_claims_about_bfs256_cannot_be_asked_of_crawls_that_end_before_it_can_learn():
    arms = pant(0.2, (50, 60), (-90, 20), {"BFS1": 0.5, "BFS256": 0.6, "Breadth-First": 0.3}, page_budget=1000)
    found = {each.name: each for each in pant2002.findings(arms)}
    assert {each.verdict.value for each in found.values()} == {NOT_ASKED}
    exploring, greedy = found["H10"].claims
    assert (exploring.verdict.value, greedy.verdict.value) == (NOT_ASKED, REPRODUCED)
    # 256 of 1,000.
    assert "26%" in exploring.why
    assert exploring.effect is not None
    assert exploring.effect.mean == pytest.approx(0.1, abs=0.01)
    assert found["H10"].why.startswith("1 of 2 claims cannot be asked here: after 1,000 pages BFS256 finds")


def test_coverage_of_crawls_of_unequal_length_cannot_be_asked_about():
    arms = pant(0.2, (50, 60), (-90, 20), {"BFS1": 0.5, "BFS256": 0.6, "Breadth-First": 0.3})
    one, two = (
        replace(
            arm,
            missed=tuple(replace(each, n_pages=1000) if each.strategy == "BFS1" else each for each in arm.missed),
        )
        for arm in arms
    )
    found = verdicts(pant2002.findings([one, two]))
    assert (found["H5"], found["H6"]) == (NOT_ASKED, NOT_ASKED)
    # Recall is compared after as many pages.
    assert found[f"H10 {VISITED_PAGES}"] == found[f"H10 {MISSING_COUNT}"] == REPRODUCED


def test_claims_about_the_others_cannot_be_asked_if_the_n_of_one_of_them_is_too_large():
    arms = pant(0.2, (50, 60), (-90, 20), {"BFS1": 0.5, "BFS256": 0.6, "Breadth-First": 0.3}, page_budget=400)
    order = next(each for each in pant2002.findings(arms) if each.name == "H5")
    assert {claim.verdict.value for claim in order.claims} == {NOT_ASKED}
    # 128 of 400.
    assert re.search(r"\bBFS128\b.*\b32%", order.claims[2].why)


def test_n_is_beside_the_pages_of_crawls_that_ended_early():
    arms = pant(0.2, (50, 60), (-90, 20), {"BFS1": 0.5, "BFS256": 0.6, "Breadth-First": 0.3})
    missed = tuple(replace(each, n_pages=1000) if each.strategy == "BFS256" else each for each in arms[1].missed)
    recall = [each for each in pant2002.findings([arms[0], replace(arms[1], missed=missed)]) if each.name == "H10"]
    assert [each.claims[0].verdict.value for each in recall] == [NOT_ASKED, NOT_ASKED]
    assert "26%" in recall[0].claims[0].why


def test_n_is_that_of_the_settings():
    arms = pant(0.2, (50, 60), (-90, 20), {"BFS1": 0.5, "BFS256": 0.6, "Breadth-First": 0.3}, page_budget=1000)
    arms = [replace(arm, n_of={**arm.n_of, "BFS256": 128}) for arm in arms]
    assert verdicts(pant2002.findings(arms))["H10"] == REPRODUCED
    # The paper's share is 256 of 2,000.
    assert "largest N" not in differences_from_paper(pant2002.PUBLISHED["task 1"], arms[0])


def test_a_refuted_claim_refutes_a_finding_of_which_other_claims_cannot_be_asked():
    arms = pant(0.2, (50, 60), (-90, 20), {"BFS1": 0.2, "BFS256": 0.6, "Breadth-First": 0.3}, page_budget=1000)
    assert verdicts(pant2002.findings(arms))["H10"] == NOT


def by_any(value: float):
    return lambda _label, _x: value


def test_optional_arms_change_no_finding_and_are_shown_if_they_were_run():
    required = pant(0.2, (50, 60), (-90, 20), {})
    more = planted_arm("pant2002", "more, task 1", {"target_recall": by_any(0.5)})
    assert verdicts(pant2002.findings([*required, more])) == verdicts(pant2002.findings(required))
    names = {picture.name for picture in pant2002.pictures([*required, more])}
    assert names - {picture.name for picture in pant2002.pictures(required)} == {"more-task-1"}
    assert {"Keyword-PageRank", "Hub-OTIE", "Shark-Search", "InfoSpiders"} <= set(more.labels)


def test_a_lasting_penalty_is_no_recovery():
    arms = pant(0.2, (50, 60), (-90, -90), {})
    claims = next(each for each in pant2002.findings(arms) if each.name == "H8").claims
    assert claims[0].verdict.value == REPRODUCED
    assert claims[1].verdict.value != REPRODUCED


# --- wang2009 --------------------------------------------------------------------------------------------------------


def wang(
    recall_early: dict[str, float],
    recall: dict[str, float],
    harvest: dict[str, float],
    times: float,
    n_accepted: float = 1000.0,
    lengths: dict[str, int] | None = None,
    exhausted: int = 0,
    **more,
):
    """Recall after up to 100 pages and later; harvest; how many times as long link-context takes as OTIE."""
    crawls = {
        "target_recall": lambda label, x: (recall_early if x <= 100 else recall)[label],
        "harvest": by(harvest),
    }
    seconds = {"Link-context": 600.0 * times, "OPIC": 610.0, "OTIE": 600.0}
    arms = [
        planted_arm(
            "wang2009", f"crawls, {words}", crawls, n_accepted=n_accepted, lengths=lengths, n_exhausted=exhausted
        )
        for words in wang2009.PROTOCOLS.values()
    ]
    arms += [planted_arm("wang2009", f"revision, {words}", REVISION) for words in wang2009.PROTOCOLS.values()]
    return [*arms, planted_arm("wang2009", "time", {"running_s": by(seconds)}, **more)]


def revised(usual: float, small: float, large: float):
    values = {wang2009.SMALL_A: small, wang2009.LARGE_A: large}
    return lambda label, _x: values.get(label, usual)


REVISION = {"harvest": revised(0.3, 0.25, 0.35), "target_recall": revised(0.5, 0.4, 0.45)}
FIRST = {"Breadth-First": 0.02, "Link-context": 0.10, "OPIC": 0.03, "OTIE": 0.05}
LAST = {"Breadth-First": 0.20, "Link-context": 0.42, "OPIC": 0.40, "OTIE": 0.60}
HARVEST = {"Breadth-First": 0.10, "Link-context": 0.41, "OPIC": 0.101, "OTIE": 0.40}
NAMES = [f"{name} {protocol}" for protocol in wang2009.PROTOCOLS for name in ("H11", "H12", "H13", "H14", "H15")]


def test_findings_of_wang2009_are_reproduced_if_they_hold():
    found = verdicts(wang2009.findings(wang(FIRST, LAST, HARVEST, times=2.9)))
    assert found == dict.fromkeys([*NAMES, "H16"], REPRODUCED)


def test_findings_of_wang2009_are_not_reproduced_if_link_context_stays_ahead():
    later = {**LAST, "Link-context": 0.7}
    found = verdicts(wang2009.findings(wang(FIRST, later, {**HARVEST, "OTIE": 0.1}, times=1.1)))
    expected = {f"{name} {protocol}": NOT for protocol in wang2009.PROTOCOLS for name in ("H12", "H13", "H14", "H15")}
    assert {name: verdict for name, verdict in found.items() if "H11" not in name} == {**expected, "H16": NOT}


def test_a_harvest_that_is_only_a_little_higher_is_not_far_above():
    near = {"Breadth-First": 0.38, "Link-context": 0.40, "OPIC": 0.38, "OTIE": 0.40}
    found = verdicts(wang2009.findings(wang(FIRST, LAST, near, times=2.9)))
    assert found["H15 corrected"] == NOT


def test_findings_are_about_the_calibrated_harvest_of_the_corrected_protocol():
    near = {"Breadth-First": 0.38, "Link-context": 0.40, "OPIC": 0.38, "OTIE": 0.40}
    arms = {arm.settings.name: arm for arm in wang(FIRST, LAST, near, times=2.9)}
    corrected = arms["crawls, corrected"]
    planted = planted_arm("wang2009", "crawls, corrected", {CALIBRATED_HARVEST: by(HARVEST)})
    arms["crawls, corrected"] = replace(corrected, measured={**corrected.measured, **planted.measured})
    found = verdicts(wang2009.findings([*arms.values()]))
    assert (found["H15 corrected"], found["H15 as_published"]) == (REPRODUCED, NOT)
    drawn = {
        picture.name: picture.panels[1].measures
        for picture in wang2009.pictures([*arms.values()])
        if picture.name.startswith("figure-3")
    }
    assert drawn == {"figure-3": ("harvest",), "figure-3-corrected": (CALIBRATED_HARVEST,)}


def test_far_above_cannot_be_asked_if_there_are_too_few_accepted_pages():
    # 150 of 1,000 pages at most, and Breadth-First has 100.
    found = {f"{each.name} {each.protocol}": each for each in wang2009.findings(wang(FIRST, LAST, HARVEST, 2.9, 150))}
    far_above = [claim for claim in found["H15 corrected"].claims if "2 times" in claim.says]
    assert {claim.verdict.value for claim in far_above} == {NOT_ASKED}
    assert re.search(r"\b1\.(49|50) times\b.*Breadth-First", far_above[0].why)
    assert found["H15 corrected"].verdict.value == NOT_ASKED


def test_the_ceiling_of_crawls_that_ended_early_is_of_their_pages():
    arms = wang(FIRST, LAST, HARVEST, 2.9, n_accepted=150, lengths={"Breadth-First": 200, "OPIC": 200})
    found = {f"{each.name} {each.protocol}": each for each in wang2009.findings(arms)}
    # Of 200 pages 150 can be accepted; of 1,000 with missing ones 150.
    assert found[f"H15 corrected, {VISITED_PAGES}"].verdict.value == REPRODUCED
    assert found[f"H15 corrected, {MISSING_COUNT}"].verdict.value == NOT_ASKED


def at(arm, measure: str, crawlers: tuple[str, ...], value: float, n_topics: int = 12):
    """The arm with crawlers that have exactly this value for the first topics."""
    values = arm.measured[measure].values.copy()
    for crawler in crawlers:
        values[arm.index(crawler), :n_topics] = value
    return replace(arm, measured={**arm.measured, measure: replace(arm.measured[measure], values=values)})


@pytest.mark.parametrize(("n_topics", "verdict"), [(12, NOT_ASKED), (8, NOT_ASKED), (7, NOT)])
def test_more_than_all_targets_cannot_be_asked_for(n_topics, verdict):
    last = {"Breadth-First": 0.4, "Link-context": 0.2, "OPIC": 0.4, "OTIE": 0.3}
    arms = wang(FIRST, last, HARVEST, times=2.9)
    arms[0] = at(arms[0], "target_recall", ("Breadth-First", "OPIC"), 1.0, n_topics)
    found = {each.name: each for each in wang2009.findings(arms) if "corrected" in each.protocol}
    assert [claim.verdict.value for claim in found["H12"].claims] == [verdict, REPRODUCED, verdict]
    # Link-context is behind OPIC even so.
    assert found["H14"].claims[0].verdict.value == verdict
    if n_topics == 12:
        assert {claim.verdict.value for claim in found["H13"].claims[1:3]} == {NOT_ASKED}


def test_more_than_all_examples_cannot_be_asked_for():
    arms = pant(0.2, (50, 60), (-90, 20), {"BFS1": 0.5, "BFS256": 0.6, "Breadth-First": 0.3})
    arms[1] = at(arms[1], "target_recall", ("BFS1",), 1.0)
    (recall,) = [each for each in pant2002.findings(arms) if each.name == "H10"]
    assert [claim.verdict.value for claim in recall.claims] == [NOT_ASKED, REPRODUCED]


def test_parameters_that_find_all_targets_are_not_about_equal_because_of_that():
    arms = wang(FIRST, LAST, HARVEST, times=2.9)
    arms[2] = at(arms[2], "target_recall", (*wang2009.OTHER_D, wang2009.USUAL), 1.0)
    (revision,) = [each for each in wang2009.findings(arms) if (each.name, each.protocol) == ("H11", "corrected")]
    about = [claim for claim in revision.claims if "recalls as much as d = 3" in claim.says]
    assert [claim.verdict.value for claim in about] == [NOT_ASKED, NOT_ASKED]


def test_less_than_no_targets_cannot_be_asked_for():
    arms = wang(FIRST, LAST, HARVEST, times=2.9)
    arms[2] = at(arms[2], "target_recall", (wang2009.USUAL,), 0.0)
    (revision,) = [each for each in wang2009.findings(arms) if (each.name, each.protocol) == ("H11", "corrected")]
    less = [claim for claim in revision.claims if "recalls less" in claim.says]
    assert [claim.verdict.value for claim in less] == [NOT_ASKED, NOT_ASKED]


def test_nothing_can_be_asked_of_crawls_that_request_most_pages_at_once():
    arms = [replace(arm, n_of=dict.fromkeys(arm.labels, 300)) for arm in wang(FIRST, LAST, HARVEST, times=2.9)]
    found = verdicts(wang2009.findings(arms))
    assert found == dict.fromkeys([*NAMES, "H16"], NOT_ASKED)


@pytest.mark.parametrize(("value", "reason"), [(nan, "No topic"), (0.0, "0 for all")])
def test_about_as_much_cannot_be_asked_if_no_topic_has_the_measure_or_the_other_crawler_has_nothing(value, reason):
    arms = wang(FIRST, LAST, HARVEST, times=2.9)
    lacking = {name: replace(each, values=np.full_like(each.values, value)) for name, each in arms[2].measured.items()}
    arms = [replace(arm, measured=lacking) if arm.settings.name.startswith("revision") else arm for arm in arms]
    found = {f"{each.name} {each.protocol}": each for each in wang2009.findings(arms)}
    about = [claim for claim in found["H11 corrected"].claims if "as much as d = 3" in claim.says]
    assert [claim.verdict.value for claim in about] == [NOT_ASKED] * 4
    assert all(reason in claim.why for claim in about)
    assert found["H11 corrected"].verdict.value == NOT_ASKED
    assert found["H12 corrected"].verdict.value == REPRODUCED


def test_ranks_that_no_topic_has_cannot_be_asked_about():
    arm = menczer(AS_FOUND, EARLY, MIDDLE, END)
    ranks = arm.measured["rank:by=lexical"]
    lacking = replace(ranks, values=np.full_like(ranks.values, nan))
    found = verdicts(menczer2001.findings([replace(arm, measured={**arm.measured, "rank:by=lexical": lacking})]))
    assert found == {"H1": REPRODUCED, "H2": NOT_ASKED, "H3": REPRODUCED, "H4": NOT_ASKED}


def test_far_above_a_crawler_that_harvests_nothing_is_any_harvest():
    arms = wang(FIRST, LAST, HARVEST, times=2.9)
    arms[0].measured["harvest"].values[arms[0].index("Breadth-First")] = 0.0
    harvest = next(each for each in wang2009.findings(arms) if each.name == "H15")
    assert harvest.claims[1].verdict.value == REPRODUCED


def test_running_times_cannot_be_asked_if_no_crawl_was_long_enough():
    arms = wang(FIRST, LAST, HARVEST, times=nan)
    assert verdicts(wang2009.findings(arms))["H16"] == NOT_ASKED
    assert [*wang2009.tables(arms)]


def test_running_times_cannot_be_asked_of_a_mode_without_a_clock():
    arms = wang(FIRST, LAST, HARVEST, times=2.9)
    arms[-1] = replace(arms[-1], measured={}, settings=replace(arms[-1].settings, mode="sequential"))
    assert verdicts(wang2009.findings(arms))["H16"] == NOT_ASKED
    assert "table-2-running-times" not in {table.name for table in wang2009.tables(arms)}


@pytest.mark.parametrize(
    ("mode", "hosts", "verdict"),
    [
        ("polite:preset=wang2009", {"n_hosts": 1}, NOT_ASKED),
        ("polite:preset=wang2009", {"n_hosts": 30, "even_hosts": 1.1}, NOT_ASKED),
        ("polite:preset=wang2009", {"n_hosts": 30}, REPRODUCED),
        ("polite:workers=31", {"n_hosts": 30}, NOT_ASKED),
        ("polite:workers=5", {"n_hosts": 40, "even_hosts": 5.0}, REPRODUCED),
    ],
)
def test_running_times_cannot_be_asked_if_pages_are_on_fewer_hosts_than_there_are_workers(mode, hosts, verdict):
    arms = wang(FIRST, LAST, HARVEST, times=2.9, **hosts)
    arms[-1] = replace(arms[-1], settings=replace(arms[-1].settings, mode=mode))
    running = next(each for each in wang2009.findings(arms) if each.name == "H16")
    assert (len(running.claims), running.verdict.value) == (2, verdict)


@pytest.mark.parametrize(
    ("sizes", "n_pages", "hosts"),
    [
        # One host must serve 271 of 300 pages if 29 others have one page each.
        ((500, *[1] * 29), 300, 300 / 271),
        ((10,) * 60, 300, 60),
        ((10,) * 60, 61, 61 / 2),
        ((1000, 1000), 10, 2),
        ((7,), 7, 1),
    ],
)
def test_pages_are_on_as_many_hosts_as_they_can_be_spread_over(sizes, n_pages, hosts):
    web = SimpleNamespace(n_pages=sum(sizes), url_host=np.repeat(np.arange(len(sizes)), sizes))
    assert even_hosts(web, n_pages) == pytest.approx(hosts)


def test_arms_are_compared_with_the_experiment_of_the_paper_that_they_repeat():
    published = wang2009.PUBLISHED
    sizes = {name: (each.pages, each.topics) for name, each in published.items()}
    assert sizes == {
        "crawls, corrected": (20_000, 30),
        "crawls, as published": (20_000, 30),
        "revision, corrected": (10_000, 3),
        "revision, as published": (10_000, 3),
        "time": (100_000, 10),
    }
    arms = {arm.settings.name: arm for arm in wang(FIRST, LAST, HARVEST, times=2.9)}
    difference = differences_from_paper(published["revision, corrected"], arms["revision, corrected"])
    assert difference == (
        "crawls of 1,000 pages instead of 10,000; the largest N is 5.0% of the pages instead of 0.5%; "
        "12 topics instead of 3"
    )


def test_notes_compare_only_arms_that_the_paper_has():
    settings = read_settings("pant2002").with_arms(["buffer"])
    arms = [*pant(0.2, (50, 60), (-90, 20), {}), planted_arm("pant2002", "buffer", {"target_recall": by_any(0.5)})]
    arms[2] = replace(arms[2], settings=next(arm for arm in settings.arms if arm.name == "buffer"))
    (note,) = study._differences(pant2002.PUBLISHED, arms)
    assert note.startswith("task 1; task 2 - ")
    assert (
        study._differences(pant2002.PUBLISHED, [replace(arms[0], settings=replace(arms[0].settings, name="x"))]) == []
    )


@pytest.mark.parametrize("name", ["menczer2001", "pant2002", "wang2009"])
def test_published_experiments_are_arms(name):
    assert set(paper_of(name).PUBLISHED) <= {arm.name for arm in read_settings(name).arms if not arm.optional}


# --- all -------------------------------------------------------------------------------------------------------------


def all_arms(study: str):
    if study == "menczer2001":
        return [menczer(AS_FOUND, EARLY, MIDDLE, END)]
    return pant(0.2, (50, 60), (-90, 20), {}) if study == "pant2002" else wang(FIRST, LAST, HARVEST, times=2.9)


@pytest.mark.parametrize("study", ["menczer2001", "pant2002", "wang2009"])
def test_figures_use_measures_of_their_arms(study):
    arms = {arm.name: arm for arm in planted_settings(study)}
    pictures = list(paper_of(study).pictures(all_arms(study)))
    assert len({picture.name for picture in pictures}) == len(pictures)
    for panel in chain.from_iterable(picture.panels for picture in pictures):
        arm = arms[panel.arm]
        static = {f"coverage:by={rank}" for rank in pant2002.RANKS} if arm.tops else set()
        assert set(panel.measures) <= {*arm.measures, *static}
        assert set(panel.crawlers) <= set(arm.strategies)


def planted_settings(study: str):
    return read_settings(study).arms


@pytest.mark.parametrize(
    ("study", "figures"),
    [
        ("menczer2001", {"figure-5", "figure-6", "figure-7"}),
        ("pant2002", {"figure-2", "figure-3", "figure-4"}),
        ("wang2009", {"figure-2", "figure-3"}),
    ],
)
def test_every_figure_of_results_in_the_papers_is_drawn(study, figures):
    assert figures <= {picture.name for picture in paper_of(study).pictures(all_arms(study))}
