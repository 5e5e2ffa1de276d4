"""The study of johnson2003 on a small web: what it leaves, what it does not do twice, what it refuses."""

import csv
import json
import re
from dataclasses import replace

import pytest

from evolution_web import record_topical, write_topical
from scenthound.errors import InvalidInput, InvalidParameter, InvalidTopic
from scenthound.experiments.evolve.folder import COMPARED_FILE, LOG_FILE, RESULT_FILE
from scenthound.experiments.findings import Verdict
from scenthound.experiments.johnson2003.results import johnson2003_into
from scenthound.experiments.johnson2003.searches import kept_rounds
from scenthound.experiments.johnson2003.study import ROUNDS_FOLDER, SEARCH_FOLDER, run_johnson2003
from scenthound.experiments.study.settings import SearchSettings, parse_settings, preset_text, read_settings
from scenthound.experiments.validate.crawls import Measurements, measured_rounds, rounds_of
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
        # A short list of pages under way, so that there is something left to choose on so small a web.
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
def told():
    return []


@pytest.fixture(scope="module")
def done(web, topics, told, tmp_path_factory):
    """The study, run once for all tests that only look, and its folder."""
    out = tmp_path_factory.mktemp("study") / "out"
    study = johnson2003_into(
        out, SMALL, web, topics, render=RENDERER, workers=1, progress=lambda share, _: told.append(share)
    )
    return study, out


def with_search(**changed):
    return replace(SMALL, search=replace(SMALL.search, **changed))


def searches_in(folder):
    return sorted(place.name for place in (folder / SEARCH_FOLDER).iterdir())


def test_every_finding_has_a_verdict_for_every_strategy_it_is_about(done):
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


def test_which_topic_is_dense_is_told_within_its_group(done):
    study, _ = done
    shares = study.validation.measurements.good_share
    assert shares[0] > shares[1] > shares[2], "the unseen topic, the last, has the fewest good pages"
    says = {(each.name, each.protocol): [claim.says for claim in each.claims] for each in study.findings}
    # Of the two topics searched on, one is dense and the other is not; the unseen one has no other to be denser than.
    assert says["H18", "E1, topics searched on"][2:] == [
        "higher fitness at 48 pages on dense topics",
        "no higher fitness at 48 pages on others",
    ]
    assert says["H18", "E1, unseen topics"][2:] == ["fitness at 48 pages: is this topic dense or not?"]
    topics = next(table for table in study.tables if table.name == "topics")
    assert [row[3] for row in topics.rows] == ["dense", "sparse", "sparse"]


def test_the_figures_and_tables_of_the_paper_are_there(done):
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


def test_a_figure_is_of_the_topic_and_measure_that_the_paper_has_there(done):
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
    shown = {section.title: [chart.title for chart in section.blocks] for section in figure_sections(study)}
    assert shown[f"Topic {sparse}"][::2] == [
        "Figure 3: Fitness, large seed set",
        "Figure 5: Community cohesiveness, large seed set",
        "Figure 6: Overall cohesiveness, large seed set",
        "Figure 10: Distances from the seeds, pages among the first 48",
    ]
    figure = (out / "figures" / "figure-3.svg").read_text()
    for words in ("strategy", "BF", "E1", "E2", "16 pages", "48 pages"):
        assert f">{words}<" in figure, words
    assert "large seed set" in figure
    assert "small seed set" in figure


def test_charts_of_the_page_show_what_was_measured(done):
    study, _ = done
    sparse, dense = (topic.id for topic in study.validation.settings.trained)
    sections = {section.title: section.blocks for section in figure_sections(study)}
    fitness = study.validation.measurements.values["fitness"]
    for place, topic in enumerate((sparse, dense)):
        large, small = sections[f"Topic {topic}"][:2]
        assert large.categories == study.labels
        for seed_set, chart in enumerate((large, small)):
            assert [series.name for series in chart.series] == ["16 pages", "32 pages", "48 pages"]
            for length, series in enumerate(chart.series):
                means = fitness[:, place, seed_set].mean(axis=1)[:, length]
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
    for label, search in zip(("E1", "E2"), study.searches, strict=True):
        assert [float(row[label]) for row in rows] == pytest.approx(
            search.evolution.best.rules.weights[0][:9], abs=1e-6
        )
        assert sum(float(row[label]) for row in rows) == pytest.approx(1, abs=1e-5)


def test_what_was_run_can_be_run_again_from_its_settings(done):
    _, out = done
    assert read_settings("johnson2003", out / "settings.toml") == SMALL


def test_progress_is_of_the_whole_and_never_falls(done, told):
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert sum(0.05 < share < 0.95 for share in told) > 10, "searches and rounds are told one by one"


def test_no_note_and_no_finding_has_the_path_of_a_file(done):
    study, out = done
    assert all(str(out) not in note for note in study.notes)
    assert study.notes[0].startswith("BF is Best-First, E1 the best individual of the search on "), "names are told"
    assert any(note.startswith("E1 was not trained on topic") for note in study.notes)
    assert str(out) not in (out / "findings.json").read_text()


def test_a_second_run_does_nothing_again_and_comes_to_the_same(done, web, topics):
    study, out = done
    again = run_johnson2003(SMALL, web, topics, out, workers=1)
    assert (study.n_made, again.n_made) == (study.n_crawls, 0)
    assert [search.evolution.n_visits_now for search in again.searches] == [0, 0]
    assert repr(again.findings) == repr(study.findings)
    images = figure_files([next(study_figures(again))], "figures/")
    assert images["figures/figure-3.svg"] == (out / "figures" / "figure-3.svg").read_bytes()


def test_other_sizes_make_only_what_is_new(web, topics, tmp_path):
    few = run_johnson2003(SMALL, web, topics, tmp_path, workers=1)
    more = run_johnson2003(replace(SMALL, seeds=3), web, topics, tmp_path, workers=1)
    # Three topics, four strategies, two seed sets: one more random seed is 24 crawls more.
    assert (few.n_made, more.n_crawls, more.n_made) == (48, 72, 24)
    assert [search.evolution.n_visits_now for search in more.searches] == [0, 0]
    assert len(searches_in(tmp_path)) == 2


def test_another_search_begins_beside_the_one_that_was_there(web, topics, tmp_path):
    first = run_johnson2003(SMALL, web, topics, tmp_path, workers=1)
    names = searches_in(tmp_path)
    longer = run_johnson2003(with_search(generations=3), web, topics, tmp_path, workers=1)
    assert set(names) < set(searches_in(tmp_path))
    assert len(searches_in(tmp_path)) == 4
    assert {search.strategy for search in longer.searches}.isdisjoint(search.strategy for search in first.searches)


def test_a_search_that_was_broken_off_goes_on_to_the_same_result(done, web, topics, tmp_path):
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
    visits = {search.evolution.folder.name: search.evolution.n_visits_now for search in again.searches}
    assert visits[broken.name] == (len(log) - 4) * 16
    assert sorted(visits.values())[0] == 0, "the other one was finished"


def test_kept_rounds_are_those_that_a_validation_measures(done, web):
    study, out = done
    settings, recorded = study.validation.settings, RecordedWeb.open(web)
    planned = list(zip(settings.topics, study.validation.starts, strict=True))
    kept = kept_rounds(recorded, settings, planned, out / ROUNDS_FOLDER, workers=1)
    measured = tuple(measured_rounds(recorded, settings, rounds_of(settings, planned), workers=1))
    assert kept.n_new == 0
    # Compared as text, because what cannot be measured is not equal to itself.
    assert repr(kept.measured) == repr(measured)
    assert Measurements.of(settings, kept.measured).values.keys() == study.validation.measurements.values.keys()


@pytest.mark.parametrize("damage", [b"", b'{"topic": "balloon"}', b"[1, 2"])
def test_a_damaged_measurement_is_made_again(done, web, tmp_path, damage):
    study, out = done
    settings, recorded = study.validation.settings, RecordedWeb.open(web)
    planned = list(zip(settings.topics, study.validation.starts, strict=True))[:1]
    for file in (out / ROUNDS_FOLDER).iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    first, *_ = kept_rounds(recorded, settings, planned, tmp_path, workers=1).measured
    whole = {file: file.read_bytes() for file in tmp_path.iterdir()}
    file = next(file for file, content in whole.items() if json.loads(content)["topic"] == first.topic)
    file.write_bytes(damage)
    assert kept_rounds(recorded, settings, planned, tmp_path, workers=1).n_new == 1
    assert file.read_bytes() == whole[file]


def test_a_folder_that_has_something_else_is_refused(web, topics, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InvalidInput, match="is not a study"):
        johnson2003_into(tmp_path, SMALL, web, topics, workers=1)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_too_few_topics_to_search_on_are_told_with_what_is_possible(web, topics, tmp_path):
    with pytest.raises(
        InvalidTopic, match=r"2 topics with 100 examples .* 0 have that, .* `examples = 20` under \[search\]"
    ):
        johnson2003_into(tmp_path / "out", with_search(examples=100), web, topics, workers=1)
    assert not (tmp_path / "out").exists(), "what came to nothing leaves nothing"


def test_crawls_that_are_too_short_are_refused(web, topics, tmp_path):
    with pytest.raises(InvalidParameter, match="have 7 pages, and need 8: give larger --pages"):
        run_johnson2003(replace(SMALL, pages=7), web, topics, tmp_path, workers=1)


def test_one_search_alone_has_figures_named_for_what_they_show(web, topics, tmp_path):
    study = run_johnson2003(with_search(topics=1, generations=1), web, topics, tmp_path, workers=1)
    names = [spec.name for spec in figure_specs(study)]
    assert names == [
        f"{measure}-{ending}"
        for ending in ("topic-1", "unseen")
        for measure in ("fitness", "community-cohesiveness", "overall-cohesiveness", "distances")
    ]
    assert study.labels == ("BF", "E1", "P")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("small = 250", "small is 250 and large 250; small must be the smaller"),
        ("pages_share = 1.5", "pages_share is 1.5; it is above 0 and at most 1"),
        ("topics = 0", "topics is 0; it must be at least 1"),
        ("unseen = -1", "unseen is -1; it must be at least 0"),
        ("examples = 1", "examples is 1"),
    ],
)
def test_settings_of_a_search_that_make_no_sense_are_refused(line, complaint):
    name = line.partition(" ")[0]
    head, search = preset_text("johnson2003").split("[search]")
    text = f"{head}[search]{re.sub(rf'^{name} = .*$', line, search, flags=re.MULTILINE)}"
    with pytest.raises(InvalidInput, match=re.escape(complaint)):
        parse_settings(text, "the file")


def test_the_study_cannot_do_without_the_settings_of_its_search():
    head, _ = preset_text("johnson2003").split("[search]")
    with pytest.raises(InvalidInput, match=r"table \[search\] is for johnson2003, which needs one"):
        parse_settings(head, "the file")
