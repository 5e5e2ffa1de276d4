"""The study johnson2003 on a small web: its results, what it reuses, and what it rejects."""

import csv
import json
import re
from dataclasses import replace
from statistics import fmean

import pytest

from evolution_web import record_topical, write_topical
from scenthound.errors import InvalidInput, InvalidParameter, InvalidTopic
from scenthound.experiments.evolve.folder import COMPARED_FILE, LOG_FILE, RESULT_FILE
from scenthound.experiments.findings import Verdict
from scenthound.experiments.johnson2003.findings import weights_finding
from scenthound.experiments.johnson2003.results import run_johnson2003
from scenthound.experiments.johnson2003.study import CRAWLS_FOLDER, SEARCH_FOLDER
from scenthound.experiments.study.results import study_into
from scenthound.experiments.study.settings import SearchSettings, parse_settings, preset_text, read_settings
from scenthound.experiments.validate.crawls import measured_rounds
from scenthound.experiments.validate.settings import SeedSet
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.rank_rules import SCORE_NAMES, STUDY_SCORES, RankRules
from scenthound.ui.figures import figure_files
from scenthound.ui.reports.johnson2003 import SEARCHES_CAPTION, johnson2003_figures
from scenthound.ui.reports.study import RENDERER

#: Of 240 pages, crawls of 16, 32 and 48.
SMALL = replace(
    read_settings("johnson2003"),
    pages=16,
    seeds=2,
    topics_max=1,
    search=SearchSettings(
        examples=20,
        repeats=2,
        population=6,
        generations=2,
        crawls=1,
        validated=2,
        unseen=1,
        # A small pool, so that there is something left to choose on a small web.
        mode="roulette:size=4,refill_at=2",
        relevance="cosine",
    ),
)


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    return record_topical(tmp_path_factory.mktemp("topical"))


@pytest.fixture(scope="module")
def topics(tmp_path_factory):
    return write_topical(tmp_path_factory.mktemp("topics"))


@pytest.fixture(scope="module")
def shares():
    return []


@pytest.fixture(scope="module")
def done(web, topics, shares, tmp_path_factory):
    """The study and its folder; no test changes them."""
    out = tmp_path_factory.mktemp("study") / "out"
    study = study_into(
        out, SMALL, web, topics, render=RENDERER, workers=1, progress=lambda share, _: shares.append(share)
    )
    return study, out


def with_search(**changed):
    return replace(SMALL, search=replace(SMALL.search, **changed))


def searches_of(study):
    return [search for each in study.searches for search in each.searches]


def searches_in(folder):
    return sorted(path.name for path in (folder / SEARCH_FOLDER).iterdir())


def test_every_finding_has_a_verdict_for_every_strategy(done):
    _, out = done
    written = json.loads((out / "findings.json").read_text())["findings"]
    expected = [("H17", "2 searches of each topic")] + [
        (name, f"{label}, {group}")
        for name in ("H18", "H19", "H20")
        for group in ("topics searched on", "unseen topics")
        for label in ("E1", "E2", "P")
    ]
    assert [(finding["name"], finding["protocol"]) for finding in written] == expected
    assert {finding["verdict"] for finding in written} <= {verdict.value for verdict in Verdict}
    assert all(claim["why"] for finding in written for claim in finding["claims"])


def test_density_is_decided_within_each_group_of_topics(done):
    study, _ = done
    good = study.validation.measurements.good_share
    assert good[0] > good[1] > good[2], "the unseen topic, the last, has the fewest good pages"
    says = {(each.name, each.protocol): [claim.says for claim in each.claims] for each in study.findings}
    # Of the two topics searched on, one is dense and the other is not; the unseen one has no other to be denser than.
    dense, others = says["H18", "P, topics searched on"][2:]
    assert dense == "higher fitness at 48 pages on dense topics"
    assert others.startswith("no higher fitness at 48 pages on others, or by less than 0.")
    assert says["H18", "P, unseen topics"][2:] == ["fitness at 48 pages: is this topic dense or not?"]
    topics = next(table for table in study.tables if table.name == "topics")
    assert [row[3] for row in topics.rows] == ["dense", "sparse", "sparse"]


def test_the_figures_and_tables_of_the_paper_are_written(done):
    _, out = done
    for number in range(3, 11):
        assert (out / "figures" / f"figure-{number}.svg").read_text().count("<svg") == 1
        assert (out / "figures" / f"figure-{number}.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "tables" / "table-1.md").read_text().startswith("**Table 1")
    page = (out / "report.html").read_text()
    charts = [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page)]
    titles = [chart["title"] for chart in charts if "series" in chart]
    # Eight of the paper and four of unseen topics, each for two seed sets or two kinds of pages; one of the searches.
    assert len(titles) == 25
    for number in range(3, 11):
        assert sum(title.startswith(f"Figure {number}:") for title in titles) == 2
    assert "E1.1 to E1.2 the 2 best individuals of the best of 2 searches on" in page


def test_each_figure_has_the_topic_and_measure_of_the_paper(done):
    study, out = done
    sparse, dense = (topic.id for topic in study.validation.settings.trained)
    assert [figure.caption for figure in johnson2003_figures(study)][:8] == [
        f"Figure 3: Fitness, topic {sparse}",
        f"Figure 4: Fitness, topic {dense}",
        f"Figure 5: Community cohesiveness, topic {sparse}",
        f"Figure 6: Overall cohesiveness, topic {sparse}",
        f"Figure 7: Community cohesiveness, topic {dense}",
        f"Figure 8: Overall cohesiveness, topic {dense}",
        f"Figure 9: Distances from the seeds, topic {dense}",
        f"Figure 10: Distances from the seeds, topic {sparse}",
    ]
    titles = {figure.name: [chart.title for chart in figure.charts] for figure in johnson2003_figures(study)}
    assert titles["figure-3"] == ["Figure 3: Fitness, large seed set", "Figure 3: Fitness, small seed set"]
    assert titles["figure-10"][0] == "Figure 10: Distances from the seeds, pages among the first 48"
    figure = (out / "figures" / "figure-3.svg").read_text()
    for label in ("strategy", "BF", "E1.1", "E2.2", "16 pages", "48 pages"):
        assert f">{label}<" in figure, label
    for seed_set in SeedSet:
        assert f"{seed_set} seed set" in figure


def test_charts_of_the_report_show_the_measurements(done):
    study, _ = done
    sparse, dense = (topic.id for topic in study.validation.settings.trained)
    figures = {figure.caption: figure.charts for figure in johnson2003_figures(study)}
    fitness = study.validation.measurements.values["fitness"]
    for index, topic in enumerate((sparse, dense)):
        large, small = figures[f"Figure {3 + index}: Fitness, topic {topic}"]
        assert large.categories == study.labels
        for seed_set, chart in enumerate((large, small)):
            assert [series.name for series in chart.series] == ["16 pages", "32 pages", "48 pages"]
            for length, series in enumerate(chart.series):
                means = fitness[:, index, seed_set].mean(axis=1)[:, length]
                assert series.y.tolist() == pytest.approx(means.tolist())
    (searches,) = figures[SEARCHES_CAPTION]
    assert [series.name for series in searches.series] == ["E1, best", "E1, mean", "E2, best", "E2, mean"]


def test_table_1_has_the_evolved_weights_beside_the_published_ones(done):
    study, out = done
    rows = list(csv.DictReader((out / "tables" / "table-1.csv").read_text().splitlines()))
    # johnson2003 prints 0.196382 for COMM_IN and 0.312661 for COMM_OUT: 76 and 121 of 387.
    published = {row["score"]: row["P"] for row in rows}
    assert (published["COMM_IN"], published["COMM_OUT"], len(rows)) == ("0.196382", "0.312661", 9)
    for number, searches in enumerate(study.searches, 1):
        for rank, individual in enumerate(searches.best.individuals, 1):
            found = [float(row[f"E{number}.{rank}"]) for row in rows]
            assert found == pytest.approx(individual.rules.weights[0][:9], abs=1e-6)
            assert sum(found) == pytest.approx(1, abs=1e-5)


def table(study, name):
    return next(table for table in study.tables if table.name == name)


def test_h17_is_about_all_searches_and_says_what_they_found(done):
    study, _ = done
    finding = study.findings[0]
    # Small searches, and two of each topic.
    assert finding.verdict is Verdict.CANNOT_BE_ASKED
    assert len(finding.claims) == 4
    for searches in study.searches:
        fitnesses = [search.best.fitness for search in searches.searches]
        assert f"({min(fitnesses):.4f} to {max(fitnesses):.4f})" in finding.remark
        assert f"{fmean(search.others[0].fitness for search in searches.searches):.4f} on" in finding.remark


def made_search(search, comm_out, fitness):
    """A search like another one, of the size of the study's, with other results."""
    weights = {"hub": 1, "authority": 1, "comm_in": 20, "comm_out": comm_out, "parent_1": 30}
    best = replace(
        search.best, rules=RankRules((tuple(weights.get(name, 0) for name in SCORE_NAMES),)), fitness=fitness
    )
    settings = replace(search.settings, search="johnson2003", n_crawls=3)
    return replace(search, best=best, settings=settings, summary=replace(search.summary, generation=50))


@pytest.mark.parametrize(
    ("comm_out", "verdict"),
    [
        ((40, 50, 45, 42, 55), Verdict.REPRODUCED),
        ((24, 20, 25, 22, 21), Verdict.NOT_REPRODUCED),
        ((40, 20, 50, 22, 31), Verdict.UNDECIDED),
        ((40, 50, 45, 42), Verdict.CANNOT_BE_ASKED),
    ],
)
def test_the_verdict_on_weights_is_decided_over_the_searches(done, comm_out, verdict):
    study, _ = done
    searches = [
        replace(each, searches=tuple(made_search(each.searches[0], weight, 0.5) for weight in comm_out))
        for each in study.searches
    ]
    finding = weights_finding(searches)
    assert finding.verdict is verdict
    assert finding.protocol == f"{len(comm_out)} searches of each topic"


def test_the_weights_of_searches_have_a_mean_and_an_interval(done):
    study, out = done
    rows = {row[0]: row[1:] for row in table(study, "search-weights").rows}
    assert list(rows) == [name.upper() for name in STUDY_SCORES]
    for column, each in enumerate(study.searches):
        weights = [search.best.rules.weights[0][SCORE_NAMES.index("comm_out")] for search in each.searches]
        mean, low, high = map(float, re.findall(r"[\d.]+", rows["COMM_OUT"][column]))
        assert mean == pytest.approx(fmean(weights), abs=1e-4)
        assert min(weights) - 1e-4 <= low <= mean <= high <= max(weights) + 1e-4
    assert rows["COMM_OUT"][-1] == "0.3127"
    assert (out / "tables" / "search-weights.csv").is_file()
    assert table(study, "search-weights").caption in (out / "report.html").read_text()


def test_the_fitness_of_best_first_is_beside_that_of_the_evolved(done):
    study, out = done
    each_search = table(study, "searches")
    known = [search.others[0].fitness for search in searches_of(study)]
    column = each_search.heads.index("BF")
    assert [row[column] for row in each_search.rows] == [f"{fitness:.4f}" for fitness in known]
    assert len(each_search.rows) == 4
    stored = json.loads((out / "study.json").read_text())["searches"]
    assert [each["seed"] for each in stored] == [0, 1, 2, 3]
    assert [each["best_first_fitness"] for each in stored] == [each.others[0].fitness for each in searches_of(study)]
    assert sum(stored[0]["weights"].values()) == pytest.approx(1)


def test_searches_of_a_topic_have_other_random_numbers(done):
    study, _ = done
    assert [search.settings.seed for search in searches_of(study)] == [0, 1, 2, 3]
    assert {search.settings.random_streams for search in searches_of(study)} == {"search"}


def test_the_best_individuals_of_the_best_search_are_validated(done):
    study, _ = done
    assert study.labels == ("BF", "E1.1", "E1.2", "E2.1", "E2.2", "P")
    for each in study.searches:
        assert each.best.best.fitness == max(search.best.fitness for search in each.searches)
    files = [individual.file for each in study.searches for individual in each.best.individuals]
    assert study.validation.settings.strategies[:-1] == tuple(f"evolved:file={file.resolve()}" for file in files)
    assert [file.name for file in files] == ["evolved.toml", "evolved-2.toml"] * 2


def test_a_finding_about_a_search_has_claims_about_all_its_individuals(done):
    study, _ = done
    says = {(each.name, each.protocol): [claim.says for claim in each.claims] for each in study.findings}
    assert says["H20", "E1, unseen topics"] == [
        "E1.1: smaller mean distance at 48 pages",
        "E1.2: smaller mean distance at 48 pages",
    ]


@pytest.mark.usefixtures("no_figures")
def test_other_numbers_of_validated_individuals_need_no_new_search(web, topics, tmp_path):
    run_johnson2003(with_search(validated=1), web, topics, tmp_path, workers=1)
    more = run_johnson2003(SMALL, web, topics, tmp_path, workers=1)
    assert [search.n_visits_now for search in searches_of(more)] == [0] * 4
    assert more.labels == ("BF", "E1.1", "E1.2", "E2.1", "E2.2", "P")


def test_a_note_says_how_the_study_differs_from_the_paper(done):
    study, _ = done
    note = study.notes[-1]
    assert "16 pages instead of 10,000" in note
    assert "cosine instead of svm:" in note
    assert "4 start pages instead of 139" in note


@pytest.mark.usefixtures("no_figures")
def test_a_note_says_on_how_many_pages_classifiers_were_trained(web, topics, tmp_path):
    settings = with_search(repeats=1, validated=1, generations=1, relevance="svm:bigrams=true,scores=margin")
    study = run_johnson2003(settings, web, topics, tmp_path, workers=1)
    # Searches and crawls of the large seed set start from four examples: 4 * 700 / 139 = 20.1.
    assert "trained on 4 pages of a topic and 20 random pages instead of 139 and about 700" in study.notes[-1]
    assert "relevance model" not in study.notes[-1]
    assert {len(start.negatives) for start in study.validation.starts} == {20}
    assert study.validation.settings.strategies[-1] == "rank_function:preset=johnson2003,score_range=4.0"


def test_the_written_settings_reproduce_the_study(done):
    _, out = done
    assert read_settings("johnson2003", out / "settings.toml") == SMALL


def test_progress_covers_all_parts_and_never_decreases(done, shares):
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert sum(0.05 < share < 0.95 for share in shares) > 10, "searches and rounds are reported one by one"


def test_notes_and_findings_contain_no_paths(done):
    study, out = done
    assert all(str(out) not in note for note in study.notes)
    assert re.match(r"BF .*\bBest-First, E1\.1 to E1\.2 .*", study.notes[0])
    assert sum(bool(re.match(r"E1\b.*\btrained on topic", note)) for note in study.notes) == 1
    assert str(out) not in (out / "findings.json").read_text()


def test_a_second_run_repeats_nothing_and_has_the_same_result(done, web, topics):
    study, out = done
    again = run_johnson2003(SMALL, web, topics, out, workers=1)
    assert (study.n_made, again.n_made) == (study.n_crawls, 0)
    assert [search.n_visits_now for search in searches_of(again)] == [0] * 4
    assert repr(again.findings) == repr(study.findings)
    images = figure_files([next(johnson2003_figures(again))], "figures/")
    assert images["figures/figure-3.svg"] == (out / "figures" / "figure-3.svg").read_bytes()


@pytest.mark.usefixtures("no_figures")
def test_other_sizes_make_only_missing_crawls(web, topics, tmp_path):
    few = run_johnson2003(SMALL, web, topics, tmp_path, workers=1)
    more = run_johnson2003(replace(SMALL, seeds=3), web, topics, tmp_path, workers=1)
    # Three topics, six strategies, two seed sets: one more random seed is 36 crawls more.
    assert (few.n_made, more.n_crawls, more.n_made) == (72, 108, 36)
    assert [search.n_visits_now for search in searches_of(more)] == [0] * 4
    assert len(searches_in(tmp_path)) == 4


@pytest.mark.usefixtures("no_figures")
def test_a_changed_search_starts_beside_the_old_one(web, topics, tmp_path):
    first = run_johnson2003(SMALL, web, topics, tmp_path, workers=1)
    names = searches_in(tmp_path)
    longer = run_johnson2003(with_search(generations=3), web, topics, tmp_path, workers=1)
    assert set(names) < set(searches_in(tmp_path))
    assert len(searches_in(tmp_path)) == 8
    results = [{search.result for search in searches_of(study)} for study in (first, longer)]
    assert results[0].isdisjoint(results[1])


def test_an_interrupted_search_continues_to_the_same_result(done, web, topics, tmp_path):
    _, out = done
    folder = tmp_path / SEARCH_FOLDER
    for name in searches_in(out):
        (folder / name).mkdir(parents=True)
        for file in (out / SEARCH_FOLDER / name).iterdir():
            (folder / name / file.name).write_bytes(file.read_bytes())
    broken = folder / searches_in(out)[0]
    log = (broken / LOG_FILE).read_bytes().splitlines(keepends=True)
    (broken / LOG_FILE).write_bytes(b"".join(log[:4]))
    (broken / COMPARED_FILE).unlink()
    result = (broken / RESULT_FILE).read_bytes()
    again = run_johnson2003(SMALL, web, topics, tmp_path, workers=1)
    assert (broken / RESULT_FILE).read_bytes() == result
    visits = {search.folder.name: search.n_visits_now for search in searches_of(again)}
    assert visits.pop(broken.name) == (len(log) - 4) * 16
    assert list(visits.values()) == [0] * 3, "the others were finished"


def test_cached_crawls_are_measured_like_new_ones(done, web):
    study, out = done
    settings, recorded = study.validation.settings, RecordedWeb.open(web)
    planned = list(zip(settings.topics, study.validation.starts, strict=True))
    cached = measured_rounds(recorded, settings, planned, cache=out / CRAWLS_FOLDER, workers=1)
    measured = measured_rounds(recorded, settings, planned, workers=1)
    assert {each.n_made for each in cached} == {0} != {each.n_made for each in measured}
    # Compared as text, because NaN is not equal to itself.
    assert repr([replace(each, n_made=0) for each in measured]) == repr(cached)


def test_a_folder_with_other_files_is_rejected(web, topics, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InvalidInput, match=rf"{tmp_path} .*\bstudy: .*--out\b"):
        study_into(tmp_path, SMALL, web, topics, workers=1)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_too_few_topics_are_rejected_with_what_is_possible(web, topics, tmp_path):
    with pytest.raises(InvalidTopic, match=r"\b2 topics .*\b100 examples .*\b0 .*`examples = 20` .*\[search\]"):
        study_into(tmp_path / "out", with_search(examples=100), web, topics, workers=1)
    assert not (tmp_path / "out").exists()


def test_too_short_crawls_are_rejected(web, topics, tmp_path):
    with pytest.raises(InvalidParameter, match=r"\b7 .*\b8: .*--pages\b"):
        run_johnson2003(replace(SMALL, pages=7), web, topics, tmp_path, workers=1)


def test_figures_of_a_single_search_are_named_by_their_measure(web, topics, tmp_path):
    settings = with_search(topics=1, repeats=1, generations=1, validated=1)
    study = run_johnson2003(settings, web, topics, tmp_path, workers=1)
    *names, searches = [figure.name for figure in johnson2003_figures(study)]
    assert searches == "searches"
    assert names == [
        f"{measure}-{ending}"
        for ending in ("topic-1", "unseen")
        for measure in ("fitness", "community-cohesiveness", "overall-cohesiveness", "distances")
    ]
    assert study.labels == ("BF", "E1", "P")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("small = 250", r"\bsmall .*\b250 .*\blarge 250; "),
        ("pages_share = 1.5", r"\[search\], pages_share: .* <= 1\.0"),
        ("topics = 0", r"\[search\], topics: .* >= 1\b"),
        ("unseen = -1", r"\[search\], unseen: .* >= 0\b"),
        ("examples = 1", r"\[search\], examples: .* >= 2\b"),
        ("repeats = 0", r"\[search\], repeats: .* >= 1\b"),
        ("validated = 0", r"\[search\], validated: .* >= 1\b"),
    ],
)
def test_invalid_settings_of_a_search_are_rejected(line, message):
    name = line.partition(" ")[0]
    head, search = preset_text("johnson2003").split("[search]")
    text = f"{head}[search]{re.sub(rf'^{name} = .*$', line, search, flags=re.MULTILINE)}"
    with pytest.raises(InvalidInput, match=message):
        parse_settings(text, "the file")


def test_the_study_needs_the_settings_of_its_search():
    head, _ = preset_text("johnson2003").split("[search]")
    with pytest.raises(InvalidInput, match=r"\[search\]"):
        parse_settings(head, "the file")
