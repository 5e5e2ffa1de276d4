"""Fitted weights of the strategy `scent`: what a fit finds, the file it writes, and `scenthound fit-scent`."""

import inspect
import json
import tomllib

import numpy as np
import pytest

import scenthound as sh
from live_site import N_PAGES, live_site
from scenthound.cli.app import load
from scenthound.errors import InvalidInput, InvalidParameter, UnknownName, UsageError
from scenthound.experiments.scent_fit import SCORES, STRUCTURAL, Snapshot, fit_weights
from scenthound.strategies.link_evidence import FEATURES, N_FEATURES
from scenthound.strategies.scent_weights import read_weights, scent_file_of
from scenthound.testing import topical_web
from scenthound.topics.files import read_topics, write_topics

N_TOPICS = 4
SMALL = {"pages": 60, "workers": 1}


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A web with its topics. Tests must not change it."""
    folder = tmp_path_factory.mktemp("fit") / "web"
    topical_web(folder, pages=800, topics=N_TOPICS, pages_per_host=20.0, seed=3)
    return folder


@pytest.fixture(scope="module")
def other_web(tmp_path_factory):
    """A smaller one whose topics have the same ids."""
    folder = tmp_path_factory.mktemp("fit") / "other"
    topical_web(folder, pages=300, topics=2, pages_per_host=20.0, seed=4)
    return folder


@pytest.fixture(scope="module")
def fitted(web, tmp_path_factory):
    return sh.fit_scent(web, web / "topics.jsonl", tmp_path_factory.mktemp("fitted") / "scent.toml", **SMALL)


@pytest.fixture
def fit(web, tmp_path):
    """Fit on the web, with some other arguments."""

    def call(**arguments):
        given = {"web": web, "topics": web / "topics.jsonl", "out": tmp_path / "scent.toml", **SMALL, **arguments}
        return sh.fit_scent(**given)

    return call


def snapshots(n_topics=20, n_urls=60, **effects):
    """Made-up snapshots with random features; those of relevant URLs, a third, are shifted by these effects."""
    rng = np.random.default_rng(7)
    shift = np.array([effects.get(name, 0.0) for name in FEATURES])
    made = []
    for topic in range(n_topics):
        is_relevant = np.arange(n_urls) < n_urls // 3
        features = rng.normal(size=(n_urls, N_FEATURES)) + is_relevant[:, None] * shift
        # What all URLs of a moment have in common does not matter.
        made.append(Snapshot(f"topic{topic}", features + rng.normal(size=N_FEATURES), is_relevant))
    return made


def test_a_fit_recovers_which_features_decide():
    found = fit_weights(snapshots(siblings=2.0, n_links=-1.0))
    assert found["siblings"].weight > 1.0
    assert found["n_links"].weight < -0.5
    others = [found[name] for name in FEATURES if name not in ("siblings", "n_links")]
    assert all(abs(each.weight) < 0.5 for each in others)
    assert not holds_zero(found["siblings"])
    assert not holds_zero(found["n_links"])
    # By chance some intervals miss the true weight.
    assert sum(map(holds_zero, others)) >= len(others) - 4


def holds_zero(feature):
    """Whether the weight may be 0; features that are left out have no interval."""
    first, last = feature.interval or (0.0, 0.0)
    return first <= 0 <= last


@pytest.mark.parametrize("effect", [0.0, 0.3, 3.0, 300.0])
def test_intervals_hold_the_weights_and_limits_hold_most_values(effect):
    made = snapshots(cash=effect, n_links=-effect)
    values = np.concatenate([each.features for each in made])
    for number, (name, found) in enumerate(fit_weights(made).items()):
        assert (found.interval is None) == (found.weight == 0), name
        first, last = found.interval or (0.0, 0.0)
        assert first <= found.weight <= last, name
        inside = (values[:, number] >= found.low) & (values[:, number] <= found.high)
        assert inside.mean() == 1 if name in SCORES else 0.98 < inside.mean() < 1, name


def test_what_measures_relevance_never_speaks_against_it():
    found = fit_weights(snapshots(page_mean=-2.0, anchor_best=1.0, n_parents=-2.0))
    assert found["page_mean"].weight == 0
    assert found["anchor_best"].weight > 0.5
    assert found["n_parents"].weight < -0.5
    assert all(each.weight >= 0 for name, each in found.items() if name not in STRUCTURAL)


@pytest.mark.parametrize("n_topics", [1, 2, 3, 5, 8])
def test_a_constant_feature_has_no_weight_and_a_finite_interval(n_topics):
    made = snapshots(n_topics, cash=1.0)
    for each in made:
        each.features[:, 4] = 0.5
    found = fit_weights(made)["enrichment"]
    assert found.weight == pytest.approx(0.0, abs=1e-9)
    assert found.interval is None or np.isfinite(found.interval).all()


def test_every_topic_counts_the_same_however_many_urls_it_has():
    """A topic in which a feature speaks for relevance, and one with fifty times the URLs in which it speaks against."""
    few, many = snapshots(1, 30, cash=1.0), snapshots(1, 1500, cash=-1.0)
    weight = fit_weights([*few, *many])["cash"].weight
    assert abs(weight) < 0.5
    assert fit_weights(few)["cash"].weight > 0.5
    assert fit_weights(many)["cash"].weight < -0.5


def test_the_file_is_read_back_and_gives_a_strategy(fitted, web):
    text = fitted.file.read_text(encoding="utf-8")
    assert fitted.file.suffix == ".toml"
    assert scent_file_of(tomllib.loads(text)) == fitted.finished.file
    weights = read_weights(fitted.file)
    assert weights[0].tolist() == [row.weight for row in fitted.features]
    assert (weights[1].tolist(), weights[2].tolist()) == (
        [row.low for row in fitted.features],
        [row.high for row in fitted.features],
    )
    assert fitted.strategy == f"scent:file={fitted.file}"
    options = {"pages": 60, "start": 3, "workers": 1}
    run = sh.simulate(web, web / "topics.jsonl", [fitted.strategy, "breadth_first"], **options)
    recall = {score.strategy: score.mean for score in run.evaluate("target_recall", at=60).scores if score.pages == 60}
    assert recall[fitted.strategy] > recall["breadth_first"]


def test_the_result_has_a_row_for_each_feature(fitted):
    table = fitted.features
    assert [row.feature for row in table] == list(FEATURES)
    assert all(row.low <= row.high for row in table)
    with_interval = [row for row in table if row.interval_low is not None]
    assert with_interval
    assert all(row.interval_low <= row.weight <= row.interval_high for row in with_interval)
    assert table.columns[:6] == ["feature", "weight", "interval_low", "interval_high", "low", "high"]
    assert fitted.table.to_dict()["description"] == list(FEATURES.values())
    printed = repr(fitted)
    assert printed.startswith(f"Weights in {fitted.file}, fitted on {N_TOPICS} topics, ")
    assert all(text in printed for text in (fitted.strategy, "page_words_for", "interval_low"))


def test_the_file_names_what_it_was_fitted_on(fitted):
    about = tomllib.loads(fitted.file.read_text(encoding="utf-8"))["fit"]
    assert (about["webs"], about["pages"], about["rounds"], about["relevance"]) == (["web"], 60, 2, "rocchio")
    assert (about["n_topics"], about["random_seed"]) == (N_TOPICS, 0)
    # Snapshots of 10, 20 and 40 pages in two rounds, as far as relevant pages were queued.
    assert N_TOPICS < about["n_snapshots"] <= 2 * 3 * N_TOPICS


def test_the_same_seed_gives_the_same_bytes_with_any_number_of_workers(fit, fitted, tmp_path):
    same = fitted.file.read_bytes()
    assert fit(workers=2).file.read_bytes() == same
    assert fit(out=tmp_path / "again.toml").file.read_bytes() == same
    other = fit(out=tmp_path / "other.toml", random_seed=1).finished.file
    assert other.features != fitted.finished.file.features


def test_topics_are_drawn_and_rounds_differ(fit, fitted, tmp_path):
    assert fit(topics_max=2).finished.n_topics == 2
    one_round = fit(out=tmp_path / "one.toml", rounds=1)
    assert one_round.finished.n_snapshots < fitted.finished.n_snapshots
    assert one_round.finished.file.features != fitted.finished.file.features


def test_webs_and_topic_files_pair_up(web, other_web, tmp_path):
    webs, topics = [web, sh.open_web(other_web)], [str(web / "topics.jsonl"), other_web / "topics.jsonl"]
    done = sh.fit_scent(webs, topics, tmp_path / "both.toml", pages=30, rounds=1, workers=1)
    assert done.finished.n_topics == N_TOPICS + 2
    assert done.finished.file.fit["webs"] == ["web", "other"]


def test_topics_may_be_objects(web, fitted, tmp_path):
    done = sh.fit_scent(web, list(read_topics(web / "topics.jsonl")), tmp_path / "objects.toml", **SMALL)
    assert done.file.read_bytes() == fitted.file.read_bytes()


def test_a_crawl_may_be_the_web(scenthound, tmp_path):
    with live_site(tmp_path) as site:
        assert scenthound(*site.crawl("--no-throttle", "--out", tmp_path / "crawl"))[0] == 0
        balloon = sh.Topic("balloon", "balloon", examples=[site.url(page) for page in range(0, N_PAGES, 2)])
    done = sh.fit_scent(tmp_path / "crawl", balloon, tmp_path / "scent.toml", pages=30, rounds=1, workers=1)
    assert done.finished.n_snapshots


def test_progress_is_reported(fit):
    reported = []
    fit(rounds=1, progress=lambda share, text: reported.append((share, text)))
    assert [share for share, _ in reported] == [number / N_TOPICS for number in range(1, N_TOPICS + 1)]
    assert f"{N_TOPICS} of {N_TOPICS}" in reported[-1][1]


def test_an_existing_file_is_replaced_only_with_force(fit, tmp_path, fitted):
    out = tmp_path / "scent.toml"
    out.write_text("my own weights")
    with pytest.raises(InvalidInput, match=r"scent\.toml exists already.*force=True"):
        fit()
    assert out.read_text() == "my own weights"
    fit(force=True)
    assert out.read_bytes() == fitted.file.read_bytes()


def test_a_fit_that_is_stopped_leaves_no_file(fit, tmp_path):
    def interrupt(share, text):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(progress=interrupt)
    assert list(tmp_path.iterdir()) == []


WRONG = {
    "no pages": ({"pages": 0}, InvalidParameter, "pages=0 must be at least 1"),
    "no rounds": ({"rounds": 0}, InvalidParameter, "rounds=0 must be at least 1"),
    "no topics of a web": ({"topics_max": 0}, InvalidParameter, "topics_max=0 must be at least 1"),
    "a negative seed": ({"random_seed": -1}, InvalidParameter, "random_seed=-1 must be at least 0"),
    "too few pages": ({"pages": 5}, InvalidParameter, "pages=5 must be at least 10"),
    "two topic files": ({"topics": ["a.toml", "b.toml"]}, UsageError, "1 web and 2 topic files.*topics=.*web="),
    "no web": ({"web": [], "topics": []}, UsageError, "0 webs and 0 topic files"),
    "a web that is missing": ({"web": "nowhere"}, InvalidInput, "There is no folder nowhere"),
    "no folder": ({"out": "nowhere/scent.toml"}, InvalidInput, "there is no folder nowhere.*out="),
    "a folder": ({"out": "."}, InvalidInput, "is not a file"),
    "a path that no name can have": ({"out": "a,b.toml"}, InvalidParameter, "commas.*another name"),
    "a model that trains": ({"relevance": "svm"}, InvalidParameter, "svm needs training pages.*rocchio"),
    "an unknown model": ({"relevance": "rochio"}, UnknownName, "'rocchio'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_one_line_and_write_nothing(case, fit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments, error, says = WRONG[case]
    with pytest.raises(error, match=says) as raised:
        fit(**arguments)
    assert "\n" not in str(raised.value)
    assert "--" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_web_without_pages_of_the_topics_is_rejected(web_path, web, topics_file, tmp_path):
    for webs, topics in ((web, topics_file), (web_path, web / "topics.jsonl")):
        with pytest.raises(InvalidInput, match=r"topics\.jsonl: no topic with at least 15 pages") as raised:
            sh.fit_scent(webs, topics, tmp_path / "scent.toml", **SMALL)
        assert "\n" not in str(raised.value)
        assert not (tmp_path / "scent.toml").exists()


def test_topics_with_too_few_pages_are_left_out(fit, web, tmp_path):
    topics = list(read_topics(web / "topics.jsonl"))
    rare = sh.Topic("rare", "balloon", examples=topics[0].examples[:14])
    write_topics(tmp_path / "topics.jsonl", [rare, *topics])
    assert fit(topics=tmp_path / "topics.jsonl", rounds=1).finished.n_topics == N_TOPICS


@pytest.fixture
def command(scenthound, web, tmp_path):
    """Call `scenthound fit-scent`, with further options."""

    def call(*more):
        given = ("--web", web, "--topics", web / "topics.jsonl", "--out", tmp_path / "scent.toml")
        return scenthound("fit-scent", *given, "--pages", 60, "--workers", 1, *more)

    return call


def test_the_command_prints_the_weights_and_what_to_do_next(command, fitted, tmp_path):
    code, out, err = command()
    assert code == 0, err
    assert (tmp_path / "scent.toml").read_bytes() == fitted.file.read_bytes()
    first = next(row for row in fitted.features if row.interval_low is not None)
    assert f"{first.interval_low:.3f} to {first.interval_high:.3f}" in out
    assert all(f" {name} " in out for name in FEATURES)
    assert f"crawls for {N_TOPICS} topics" in out
    assert "the intervals are too narrow" in out
    strategy = f"--strategy scent:file={tmp_path / 'scent.toml'}"
    assert f"scenthound simulate ... {strategy}" in out[out.index("Next:") :]
    assert f"scenthound crawl ... {strategy}" in out[out.index("Next:") :]
    assert "crawl 8 of 8" in err


def test_the_command_prints_json_for_programs(command, fitted, tmp_path):
    code, out, _ = command("--json")
    assert code == 0
    values = json.loads(out)
    assert values["file"] == str(tmp_path / "scent.toml")
    assert values["strategy"] == f"scent:file={tmp_path / 'scent.toml'}"
    assert (values["n_topics"], values["n_urls"]) == (N_TOPICS, fitted.finished.n_urls)
    assert list(values["features"]) == list(FEATURES)
    row = fitted.features[0]
    assert values["features"][row.feature] == {
        "weight": row.weight,
        "low": row.low,
        "high": row.high,
        "interval": None if row.interval_low is None else [row.interval_low, row.interval_high],
    }


def test_the_command_takes_several_webs_and_replaces_files_with_force(command, other_web, tmp_path):
    (tmp_path / "scent.toml").write_text("my own weights")
    more = ("--web", other_web, "--topics", other_web / "topics.jsonl", "--rounds", 1)
    code, _, err = command(*more)
    assert code == 2
    assert "--force" in err
    code, _, err = command(*more, "--force", "--topics-max", 1)
    assert code == 0, err
    assert scent_file_of(tomllib.loads((tmp_path / "scent.toml").read_text())).fit["n_topics"] == 2


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--web", "another"), "2 webs and 1 topic file: give one --topics for each --web"),
        (("--pages", 0), "--pages"),
        (("--rounds", 0), "--rounds"),
        (("--topics-max", 0), "--topics-max"),
        (("--out", "nowhere/scent.toml"), "there is no folder nowhere. Create it, or choose another file with --out"),
        (("--relevance", "svm"), "another --relevance"),
    ],
)
def test_wrong_use_of_the_command_is_one_clear_line(more, says, command, tmp_path):
    code, out, err = command(*more)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says in err
    assert list(tmp_path.iterdir()) == []


def test_the_command_and_the_function_have_the_same_options_and_defaults():
    arguments = inspect.signature(sh.fit_scent).parameters
    options = {option.name: option.default for option in load("fit-scent").params}
    assert set(options) - {"as_json", "help"} == set(arguments) - {"progress"}
    given = {name: default for name, default in options.items() if default is not None and name in arguments}
    assert given == {name: arguments[name].default for name in given}
