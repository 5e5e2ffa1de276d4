"""The study johnson2003 on a small web: its results, what it reuses, and what it rejects."""

import csv
import json
import re
from dataclasses import replace

import pytest

from evolution_web import record_topical, write_topical
from scenthound.errors import InvalidInput, InvalidParameter, InvalidTopic
from scenthound.experiments.evolve.folder import COMPARED_FILE, LOG_FILE, RESULT_FILE
from scenthound.experiments.findings import Verdict
from scenthound.experiments.johnson2003.results import johnson2003_into, run_johnson2003
from scenthound.experiments.johnson2003.study import ROUNDS_FOLDER, SEARCH_FOLDER
from scenthound.experiments.study.settings import SearchSettings, parse_settings, preset_text, read_settings
from scenthound.experiments.validate.crawls import Measurements, measured_rounds
from scenthound.experiments.validate.settings import SeedSet
from scenthound.store.recorded_web import RecordedWeb
from scenthound.ui.figures import figure_files
from scenthound.ui.reports.johnson2003 import (
    RENDERER,
    figure_sections,
    figure_specs,
    study_figures,
    win_loss_grid,
)

#: Of 240 pages, crawls of 16, 32 and 48.
SMALL = replace(
    read_settings("johnson2003"),
    pages=16,
    seeds=2,
    topics_max=1,
    search=SearchSettings(
        examples=20,
        population=6,
        generations=2,
        crawls=1,
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
    study = johnson2003_into(
        out, SMALL, web, topics, render=RENDERER, workers=1, progress=lambda share, _: shares.append(share)
    )
    return study, out


def with_search(**changed):
    return replace(SMALL, search=replace(SMALL.search, **changed))


def searches_in(folder):
    return sorted(path.name for path in (folder / SEARCH_FOLDER).iterdir())


def test_every_finding_has_a_verdict_for_every_strategy(done):
    _, out = done
    written = json.loads((out / "findings.json").read_text())["findings"]
    expected = [("H17", "E1, topics searched on"), ("H17", "E2, topics searched on")] + [
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
    assert says["H18", "E1, topics searched on"][2:] == [
        "higher fitness at 48 pages on dense topics",
        "no higher fitness at 48 pages on others",
    ]
    assert says["H18", "E1, unseen topics"][2:] == ["fitness at 48 pages: is this topic dense or not?"]
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
    assert "E1 the best individual of the search on" in page


def test_each_figure_has_the_topic_and_measure_of_the_paper(done):
    study, out = done
    sparse, dense = (topic.id for topic in study.validation.settings.trained)
    assert [spec.caption for spec in figure_specs(study)][:8] == [
        f"Figure 3: Fitness, topic {sparse}",
        f"Figure 4: Fitness, topic {dense}",
        f"Figure 5: Community cohesiveness, topic {sparse}",
        f"Figure 6: Overall cohesiveness, topic {sparse}",
        f"Figure 7: Community cohesiveness, topic {dense}",
        f"Figure 8: Overall cohesiveness, topic {dense}",
        f"Figure 9: Distances from the seeds, topic {dense}",
        f"Figure 10: Distances from the seeds, topic {sparse}",
    ]
    titles = {section.title: [chart.title for chart in section.blocks] for section in figure_sections(study)}
    assert titles[f"Topic {sparse}"][::2] == [
        "Figure 3: Fitness, large seed set",
        "Figure 5: Community cohesiveness, large seed set",
        "Figure 6: Overall cohesiveness, large seed set",
        "Figure 10: Distances from the seeds, pages among the first 48",
    ]
    figure = (out / "figures" / "figure-3.svg").read_text()
    for label in ("strategy", "BF", "E1", "E2", "16 pages", "48 pages"):
        assert f">{label}<" in figure, label
    for seed_set in SeedSet:
        assert f"{seed_set} seed set" in figure


def test_charts_of_the_report_show_the_measurements(done):
    study, _ = done
    sparse, dense = (topic.id for topic in study.validation.settings.trained)
    sections = {section.title: section.blocks for section in figure_sections(study)}
    fitness = study.validation.measurements.values["fitness"]
    for index, topic in enumerate((sparse, dense)):
        large, small = sections[f"Topic {topic}"][:2]
        assert large.categories == study.labels
        for seed_set, chart in enumerate((large, small)):
            assert [series.name for series in chart.series] == ["16 pages", "32 pages", "48 pages"]
            for length, series in enumerate(chart.series):
                means = fitness[:, index, seed_set].mean(axis=1)[:, length]
                assert series.y.tolist() == pytest.approx(means.tolist())
    (searches,) = sections["Fitness in the searches: of the best individual, and the mean"]
    assert [series.name for series in searches.series] == ["E1, best", "E1, mean", "E2, best", "E2, mean"]
    grid = win_loss_grid(study)
    end = fitness[..., -1].mean(axis=(2, 3))
    assert grid.against == "BF"
    assert grid.differences.ravel().tolist() == pytest.approx((end[1:] - end[0]).ravel().tolist())


def test_table_1_has_the_evolved_weights_beside_the_published_ones(done):
    study, out = done
    rows = list(csv.DictReader((out / "tables" / "table-1.csv").read_text().splitlines()))
    # johnson2003 prints 0.196382 for COMM_IN and 0.312661 for COMM_OUT: 76 and 121 of 387.
    published = {row["score"]: row["P"] for row in rows}
    assert (published["COMM_IN"], published["COMM_OUT"], len(rows)) == ("0.196382", "0.312661", 9)
    for label, search in zip(("E1", "E2"), study.searches.values(), strict=True):
        assert [float(row[label]) for row in rows] == pytest.approx(search.best.rules.weights[0][:9], abs=1e-6)
        assert sum(float(row[label]) for row in rows) == pytest.approx(1, abs=1e-5)


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
    assert re.match(r"BF .*\bBest-First, E1 .*", study.notes[0])
    assert any(re.match(r"E1 .*\btrained on topic", note) for note in study.notes)
    assert str(out) not in (out / "findings.json").read_text()


def test_a_second_run_repeats_nothing_and_has_the_same_result(done, web, topics):
    study, out = done
    again = run_johnson2003(SMALL, web, topics, out, workers=1)
    assert (study.n_made, again.n_made) == (study.n_crawls, 0)
    assert [search.n_visits_now for search in again.searches.values()] == [0, 0]
    assert repr(again.findings) == repr(study.findings)
    images = figure_files([next(study_figures(again))], "figures/")
    assert images["figures/figure-3.svg"] == (out / "figures" / "figure-3.svg").read_bytes()


def test_other_sizes_make_only_missing_crawls(web, topics, tmp_path):
    few = run_johnson2003(SMALL, web, topics, tmp_path, workers=1)
    more = run_johnson2003(replace(SMALL, seeds=3), web, topics, tmp_path, workers=1)
    # Three topics, four strategies, two seed sets: one more random seed is 24 crawls more.
    assert (few.n_made, more.n_crawls, more.n_made) == (48, 72, 24)
    assert [search.n_visits_now for search in more.searches.values()] == [0, 0]
    assert len(searches_in(tmp_path)) == 2


def test_a_changed_search_starts_beside_the_old_one(web, topics, tmp_path):
    first = run_johnson2003(SMALL, web, topics, tmp_path, workers=1)
    names = searches_in(tmp_path)
    longer = run_johnson2003(with_search(generations=3), web, topics, tmp_path, workers=1)
    assert set(names) < set(searches_in(tmp_path))
    assert len(searches_in(tmp_path)) == 4
    results = [{search.result for search in study.searches.values()} for study in (first, longer)]
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
    visits = {search.folder.name: search.n_visits_now for search in again.searches.values()}
    assert visits[broken.name] == (len(log) - 4) * 16
    assert sorted(visits.values())[0] == 0, "the other one was finished"


def test_cached_rounds_equal_measured_ones(done, web):
    study, out = done
    settings, recorded = study.validation.settings, RecordedWeb.open(web)
    planned = list(zip(settings.topics, study.validation.starts, strict=True))
    cached = measured_rounds(recorded, settings, planned, cache=out / ROUNDS_FOLDER, workers=1)
    measured = measured_rounds(recorded, settings, planned, workers=1)
    assert (cached.n_new, measured.n_new) == (0, 6)
    # Compared as text, because NaN is not equal to itself.
    assert repr(cached.rounds) == repr(measured.rounds)
    assert Measurements.of(settings, cached.rounds).values.keys() == study.validation.measurements.values.keys()


@pytest.mark.parametrize("damage", [b"", b'{"topic": "balloon"}', b"[1, 2"])
def test_a_corrupt_cached_round_is_measured_again(done, web, tmp_path, damage):
    study, out = done
    settings, recorded = study.validation.settings, RecordedWeb.open(web)
    planned = list(zip(settings.topics, study.validation.starts, strict=True))[:1]
    for file in (out / ROUNDS_FOLDER).iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    first, *_ = measured_rounds(recorded, settings, planned, cache=tmp_path, workers=1).rounds
    complete = {file: file.read_bytes() for file in tmp_path.iterdir()}
    file = next(file for file, content in complete.items() if json.loads(content)["topic"] == first.topic)
    file.write_bytes(damage)
    assert measured_rounds(recorded, settings, planned, cache=tmp_path, workers=1).n_new == 1
    assert file.read_bytes() == complete[file]


def test_a_folder_with_other_files_is_rejected(web, topics, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InvalidInput, match=rf"{tmp_path} .*\bstudy: .*--out\b"):
        johnson2003_into(tmp_path, SMALL, web, topics, workers=1)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_too_few_topics_are_rejected_with_what_is_possible(web, topics, tmp_path):
    with pytest.raises(InvalidTopic, match=r"\b2 topics .*\b100 examples .*\b0 .*`examples = 20` .*\[search\]"):
        johnson2003_into(tmp_path / "out", with_search(examples=100), web, topics, workers=1)
    assert not (tmp_path / "out").exists()


def test_too_short_crawls_are_rejected(web, topics, tmp_path):
    with pytest.raises(InvalidParameter, match=r"\b7 .*\b8: .*--pages\b"):
        run_johnson2003(replace(SMALL, pages=7), web, topics, tmp_path, workers=1)


def test_figures_of_a_single_search_are_named_by_their_measure(web, topics, tmp_path):
    study = run_johnson2003(with_search(topics=1, generations=1), web, topics, tmp_path, workers=1)
    names = [spec.name for spec in figure_specs(study)]
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
        ("pages_share = 1.5", r"\bpages_share .* 1\.5; .* 0 .* 1\b"),
        ("topics = 0", r"\btopics .* 0; .* 1\b"),
        ("unseen = -1", r"\bunseen .* -1; .* 0\b"),
        ("examples = 1", r"\bexamples .* 1; "),
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
