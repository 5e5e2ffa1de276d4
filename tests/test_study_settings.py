"""The settings files of studies: what is shipped can be read, and slips of the pen are result."""

import pytest

from scenthound.errors import InvalidInput, UnknownName
from scenthound.experiments.setup import fitting_pages
from scenthound.experiments.study.settings import STUDIES, parse_settings, preset_text, read_settings
from scenthound.metrics.base import METRICS
from scenthound.strategies.base import STRATEGIES

SEARCHING = preset_text("johnson2003")
SMALLEST = """
study = "pant2002"
title = "small"
pages = 10
[[arm]]
name = "one"
measures = ["recall"]
strategies = { A = "best_first" }
"""


@pytest.mark.parametrize("study", STUDIES)
def test_every_study_is_shipped_with_strategies_and_measures_that_exist(study):
    settings = read_settings(study)
    assert settings.study == study
    assert settings.arms or settings.search
    for arm in settings.arms:
        for spec in arm.strategies.values():
            STRATEGIES.make(spec.replace("{pages}", "10").replace("{many_domains}", "true"))
        for measure in arm.measures:
            METRICS.make(measure)


def test_the_sizes_of_the_papers_are_the_presets():
    assert [read_settings(study).pages for study in STUDIES] == [1000, 2000, 20_000, 10_000]
    assert read_settings("johnson2003").seeds == 15


def test_top_sizes_are_those_of_the_paper_at_its_budget():
    assert read_settings("pant2002").arms[0].top_sizes(2000) == (5, 10, 25, 50, 100, 200, 400, 600, 800, 1000)
    assert read_settings("pant2002").arms[0].top_sizes(100) == (1, 2, 5, 10, 20, 30, 40, 50)


def test_scaling_changes_the_named_sizes_only():
    settings = read_settings("pant2002")
    scaled = settings.scaled(pages=300, topics_max=7)
    assert (scaled.pages, scaled.topics_max, scaled.seeds) == (300, 7, settings.seeds)
    assert scaled.arms == settings.arms


def test_optional_arms_are_switched_on_by_name():
    settings = read_settings("pant2002")
    assert [arm.name for arm in settings.arms if arm.optional] == ["buffer", "more, task 1", "more, task 2"]
    assert settings.with_arms([]) == settings
    chosen = settings.with_arms(["more"])
    assert [arm.name for arm in chosen.arms if arm.optional] == ["buffer"]
    with pytest.raises(UnknownName, match="buffer, more"):
        settings.with_arms(["bufer"])
    with pytest.raises(UnknownName, match="none"):
        read_settings("johnson2003").with_arms(["buffer"])


def test_a_settings_file_may_lack_optional_arms_and_switch_them_on(tmp_path):
    text = preset_text("pant2002")
    file = tmp_path / "mine.toml"
    file.write_text(text[: text.index("# The remaining arms are optional")])
    assert len(read_settings("pant2002", file).arms) == 3
    file.write_text(text.replace('optional = "buffer"\n', ""))
    assert [arm.name for arm in read_settings("pant2002", file).arms if not arm.optional][-1] == "buffer"


def test_a_settings_file_may_lack_measures_that_findings_do_without(tmp_path):
    file = tmp_path / "mine.toml"
    text = (
        preset_text("wang2009").replace('  "harvest:calibrated=true",\n', "").replace(' "harvest:calibrated=true",', "")
    )
    file.write_text(text)
    assert all("harvest:calibrated=true" not in arm.measures for arm in read_settings("wang2009", file).arms)


def test_an_arm_that_findings_are_about_cannot_become_optional(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(preset_text("pant2002").replace('name = "task 2"', 'name = "task 2"\noptional = "later"'))
    with pytest.raises(InvalidInput, match=r"\[\[arm\]\] task 2"):
        read_settings("pant2002", file)


def test_a_crawl_visits_at_most_half_of_the_web():
    assert fitting_pages(2000, 10_000) == 2000
    assert fitting_pages(2000, 999) == 499
    assert fitting_pages(2000, 1) == 1


def test_a_user_settings_file_is_read(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        preset_text("pant2002").replace('BFS1 = "best_n_first:n=1,', 'X = "opic"\nBFS1 = "best_n_first:n=2,')
    )
    arm = read_settings("pant2002", file).arms[0]
    assert (arm.strategies["BFS1"], arm.strategies["X"]) == ("best_n_first:n=2,buffer=256", "opic")


@pytest.mark.parametrize(
    ("gone", "result"),
    [
        ('BFS128 = "best_n_first:n=128,buffer=256"', "BFS128 in [[arm]] task 1"),
        ('  "rank:by=lexical",\n', "rank:by=lexical in [[arm]] task 1"),
        ("tops = [0.0025, 0.005, 0.0125, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5]", "tops in [[arm]] task 1"),
        ('name = "cost"', "Object missing required field `name`"),
    ],
)
def test_a_settings_file_must_have_what_the_findings_are_about(tmp_path, gone, result):
    file = tmp_path / "mine.toml"
    file.write_text(preset_text("pant2002").replace(gone, ""))
    with pytest.raises(InvalidInput) as error:
        read_settings("pant2002", file)
    assert result in str(error.value)


def test_a_missing_arm_raises(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(preset_text("pant2002").replace('name = "cost"', 'name = "time"'))
    with pytest.raises(InvalidInput, match=r"mine\.toml: .*\bpant2002 .*\[\[arm\]\] cost;"):
        read_settings("pant2002", file)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("study = ", "not TOML"),
        (SMALLEST.replace("pages = 10", "pages = 0"), "the file, pages: Expected `int` >= 1"),
        (SMALLEST.replace("pages = 10", 'pages = "10"'), "the file, pages: Expected `int`, got `str`"),
        (SMALLEST.replace("pages = 10", "pages = true"), "the file, pages: Expected `int`, got `bool`"),
        (SMALLEST.replace("pages = 10\n", ""), "the file: Object missing required field `pages`"),
        (SMALLEST.replace("title", "titel"), "No key 'titel'. Did you mean 'title'?"),
        (SMALLEST.replace('name = "one"', 'name = "one"\nstarts = 3'), "[[arm]] one: No key 'starts'"),
        (SMALLEST.replace("pant2002", "pant2003"), "pant2003"),
        (
            SMALLEST.replace('measures = ["recall"]', "measures = []"),
            "[[arm]] one, measures: Expected `array` of length >= 1",
        ),
        (SMALLEST + "pages_share = 1.5", "[[arm]] one, pages_share: Expected `float` <= 1.0"),
        (SMALLEST + "tops = [5]", "[[arm]] one, tops[0]: Expected `float` <= 1.0"),
        ("arm = 3", "[[arm]] must be a list"),
        ("arms = []\n" + SMALLEST, "experiments are tables [[arm]]"),
        (SMALLEST.replace('["recall"]', "[5]"), "[[arm]] one, measures[0]: Expected `str`"),
        (SMALLEST.replace('"best_first"', "5"), "[[arm]] one, strategies[...]: Expected `str`"),
        (SMALLEST + 'protocol = "foo"', "[[arm]] one: No protocol 'foo'"),
        (SMALLEST + "topics = -3", "[[arm]] one, topics: Expected `int` >= 1"),
        (SMALLEST + 'task = "foo"', "[[arm]] one, task: No task 'foo'"),
        (SMALLEST + 'mode = "foo"', "[[arm]] one, mode: No mode 'foo'"),
        (SMALLEST + 'relevance = "foo"', "[[arm]] one, relevance: No relevance model 'foo'"),
        (SMALLEST + "relevance = 5", "[[arm]] one, relevance: Expected `str | null`, got `int`"),
        (SMALLEST.replace('["recall"]', '["foo"]'), "[[arm]] one, measures: No metric 'foo'"),
        (SMALLEST.replace('"best_first"', '"foo"'), "No strategy 'foo'"),
        (SMALLEST.replace('"best_first"', '"best_first:foo=1"'), "foo"),
        (SEARCHING.replace('"links"', '"foo"'), "[search]: No renew 'foo'"),
        (SEARCHING.replace('"search"', '"foo"'), "[search]: No random_streams 'foo'"),
        (SEARCHING.replace('"roulette"', '"foo"'), "[search], mode: No mode 'foo'"),
        (SEARCHING.replace('"svm:bigrams=true,scores=margin"', '"foo"'), "[search], relevance: No relevance model"),
        (SEARCHING.replace('training_pages = "johnson2003"', 'training_pages = "foo"'), "[search], training_pages: No"),
        (SEARCHING.replace("validated = 3", "validated = 51"), "validated is 51 and population 50"),
        (SMALLEST + "start = 0", "start: Expected `int` >= 1"),
        (SMALLEST + "judge = -1", "judge: Expected `int` >= 0"),
        (SMALLEST.replace("pages = 10", "pages = 10\ntopics_max = -4"), "topics_max: Expected `int` >= 1"),
        (SMALLEST.replace("[[arm]]", "[needs]\ntopics = 0\n[[arm]]"), "[needs], topics: Expected `int` >= 1"),
        (SMALLEST.replace("[[arm]]", "[search]\n[[arm]]"), "[search] is for johnson2003"),
        ("a = " + "[" * 5000, "nested too deeply"),
        ("a = " + "9" * 6000, "too long"),
        (SMALLEST + SMALLEST[SMALLEST.index("[[arm]]") :], "two arms have the same name"),
    ],
)
def test_an_invalid_settings_file_raises(text, result):
    with pytest.raises(InvalidInput) as error:
        parse_settings(text, "mine.toml")
    assert str(error.value).startswith("mine.toml: ")
    assert result in str(error.value)
    assert "\n" not in str(error.value)


def test_settings_of_another_study_are_refused(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(preset_text("pant2002"))
    with pytest.raises(InvalidInput, match=r"mine\.toml .*\bpant2002, .*\bwang2009\."):
        read_settings("wang2009", file)


def test_an_unknown_study_raises_with_the_known_ones():
    with pytest.raises(UnknownName, match="pant2002"):
        read_settings("pant2001")
