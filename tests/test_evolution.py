"""Searches for rank rules on a small web, from topics to a strategy, also with earlier winners."""

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet
import pytest

from evolution_web import SMALL, record_topical, search_for, small_search, write_topical
from scenthound.errors import InvalidInput, InvalidParameter, InvalidTopic, UnknownName
from scenthound.experiments.evolve.evaluation import Evaluation, Evaluator, Individual
from scenthound.experiments.evolve.evolution import Evolution, resume_search
from scenthound.experiments.evolve.folder import LOG_FILE, RESULT_FILE, SearchFolder
from scenthound.experiments.pipeline import plan, relevance_models_for
from scenthound.experiments.runs import simulate_topics
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import TopicChoice
from scenthound.simulator.modes import parse_mode
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.rank_file import RankFile, rank_file_text, read_rank_file
from scenthound.strategies.rank_function import RankByRules, RankFunction
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules

pytestmark = pytest.mark.usefixtures("no_figures")


@pytest.fixture(scope="module")
def topical(tmp_path_factory) -> tuple[Path, Path]:
    """The web and its topics; no test changes them."""
    folder = tmp_path_factory.mktemp("topical")
    return record_topical(folder), write_topical(folder)


@pytest.fixture(scope="module")
def done(topical, tmp_path_factory) -> Evolution:
    """A finished search."""
    return small_search(*topical, tmp_path_factory.mktemp("done") / "search")


def test_a_search_writes_the_best_rules_and_how_they_were_found(topical, done):
    written = read_rank_file(done.folder / RESULT_FILE)
    assert written.rules == done.best.rules
    assert written.relevance_model == "cosine"
    assert [row.evaluations for row in written.history] == [4, 8, 12, 16]
    assert [row.generation for row in written.history] == [0, 1, 2, 3]
    assert written.history[-1].best == done.best.fitness == written.training["best_fitness"]
    assert written.training["topics"] == ["balloon"]
    assert written.training["web_fingerprint"] == RecordedWeb.open(topical[0]).fingerprint
    assert written.training["is_complete"] is True


def test_the_best_individual_has_the_highest_fitness_of_all_evaluated_ones(done):
    logged = SearchFolder(done.folder).logged()
    assert done.best.fitness == max(each.evaluation.fitness for each in logged)
    assert len({each.evaluation.fitness for each in logged}) > 3
    assert done.n_distinct == len(logged) == len({each.genes for each in logged}) <= 16
    assert done.n_visits == done.n_visits_now == sum(each.evaluation.visits for each in logged)


@pytest.mark.parametrize("search", ["johnson2003:population=4,generations=2", "cma:population=4,generations=2"])
def test_the_number_of_workers_does_not_change_the_search(topical, tmp_path, search):
    for workers in (1, 2):
        small_search(*topical, tmp_path / str(workers), search=search, workers=workers)
    for file in (RESULT_FILE, LOG_FILE):
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes()


def test_another_seed_gives_another_search(topical, done, tmp_path):
    assert small_search(*topical, tmp_path / "search", seed=1).best.rules != done.best.rules


def test_crawl_k_has_random_seed_k_and_the_start_of_seed_0(topical, tmp_path):
    done = small_search(*topical, tmp_path / "search", n_crawls=3, mode="roulette:size=6,refill_at=3")
    experiment, web = done.settings.experiment, RecordedWeb.open(topical[0])
    ((topic, start),) = plan(experiment, web)
    assert len(start.seeds) == 3
    fitnesses = []
    for k in range(3):
        crawl = simulate(
            web,
            RankByRules(done.best.rules),
            start.seeds,
            relevance_models_for(experiment, web).scores("rank_function", topic, start),
            rng=Random(f"crawl/{k}/balloon"),
            page_budget=40,
            links=VisibleLinks(web),
            mode=parse_mode("roulette:size=6,refill_at=3"),
        )
        fitnesses.append((crawl.relevance >= 0.5).sum() / 40)
    assert len(set(fitnesses)) > 1
    (best,) = (
        each.evaluation
        for each in SearchFolder(tmp_path / "search").logged()
        if done.settings.rules_of(tuple(map(float, each.genes))) == done.best.rules
    )
    assert best == Evaluation.of((tuple(fitnesses),), 120)
    assert best.fitness == pytest.approx(sum(fitnesses) / 3)


def test_with_own_starts_crawl_k_starts_like_a_simulation_with_seed_k(topical, tmp_path):
    web, topics = topical
    done = small_search(web, topics, tmp_path / "search", same_start=False)
    setup = ExperimentSetup(
        web=web,
        topics=TopicChoice(topics, ("balloon",)),
        strategies=(f"evolved:file={done.result}",),
        page_budget=40,
        n_start=3,
        repeats=2,
        relevance="cosine",
    )
    simulated = simulate_topics(setup, tmp_path / "run", workers=1)
    assert simulated.n_crawls == 2
    rows = pyarrow.parquet.read_table(tmp_path / "run" / "traces.parquet").to_pylist()
    harvests = [sum(row["relevance"] >= 0.5 for row in rows if row["seed"] == seed) / 40 for seed in range(2)]
    assert done.best.fitness == pytest.approx(sum(harvests) / 2)


def test_all_topics_have_the_same_weight(topical, tmp_path):
    done = small_search(*topical, tmp_path / "search", "balloon", "train")
    for each in SearchFolder(tmp_path / "search").logged():
        means = [sum(crawls) / 2 for crawls in each.evaluation.crawls]
        assert len(means) == 2
        assert each.evaluation.fitness == pytest.approx(sum(means) / 2)
    assert done.n_visits == done.n_distinct * 2 * 2 * 40


def test_known_rank_functions_are_measured_on_the_same_crawls(topical, done):
    assert [each.name for each in done.others] == [
        "rank_function:preset=best_first",
        "rank_function:preset=johnson2003",
    ]
    planned = plan(done.settings.experiment, RecordedWeb.open(topical[0]))
    evaluator = Evaluator(done.settings, planned)
    for each in done.others:
        assert evaluator(Individual(each.rules)).fitness == each.fitness
    assert RankFunction().rules == done.others[1].rules


def crawls_in(folder):
    """The fitness of each crawl, by genes, of all that was evaluated."""
    return {each.genes: each.evaluation.crawls for each in SearchFolder(folder).logged()}


def test_searches_with_common_random_numbers_measure_an_individual_alike(topical, tmp_path):
    # All searches start with the same winner, their first individual.
    (tmp_path / "winner.toml").write_text('formula = "0.5*COMM_OUT + 0.5*PARENT_1"\n')
    measured = {}
    for streams in ("common", "search", "individual"):
        for seed in range(4):
            out = tmp_path / f"{streams}-{seed}"
            small_search(*topical, out, seed=seed, random_streams=streams, seed_with=[tmp_path / "winner.toml"])
            measured.setdefault(streams, set()).add(SearchFolder(out).logged()[0].evaluation.crawls)
    assert len(measured["common"]) == 1
    assert len(measured["search"]) > 1
    assert len(measured["individual"]) > 1


def test_individuals_with_their_own_random_streams_are_not_compared_in_pairs(topical, tmp_path):
    # With one score all individuals are the same rule, so that their fitness differs by random numbers only.
    alike = {}
    for streams in ("common", "search", "individual"):
        small_search(*topical, tmp_path / streams, scores=("parent_1",), random_streams=streams)
        alike[streams] = set(crawls_in(tmp_path / streams).values())
    assert (len(alike["common"]), len(alike["search"])) == (1, 1)
    assert len(alike["individual"]) > 1


def test_with_their_own_streams_equal_genes_evaluated_again_have_another_fitness(topical, tmp_path):
    settings = {"random_streams": "individual", "reevaluate": True, "scores": ("parent_1",)}
    search = "johnson2003:population=4,generations=4,crossover=0,mutation=0"
    done = small_search(*topical, tmp_path / "search", search=search, **settings)
    by_genes = {}
    for each in SearchFolder(tmp_path / "search").logged():
        by_genes.setdefault(each.genes, set()).add(each.evaluation.fitness)
    assert max(map(len, by_genes.values())) > 1
    assert done.best.fitness == max(fitness for values in by_genes.values() for fitness in values)
    # The log is replayed as it was.
    again = resume_search(tmp_path / "search", workers=1)
    assert (again.best, again.n_visits_now) == (done.best, 0)


def test_the_best_individuals_are_written_best_first(topical, tmp_path):
    out = tmp_path / "search"
    done = small_search(*topical, out, n_best=3)
    assert [each.file.name for each in done.individuals] == ["evolved.toml", "evolved-2.toml", "evolved-3.toml"]
    assert len({each.rules for each in done.individuals}) == 3
    fitnesses = [each.fitness for each in done.individuals]
    assert fitnesses == sorted(fitnesses, reverse=True)
    assert (done.individuals[0].rules, fitnesses[0]) == (done.best.rules, done.best.fitness)
    for rank, each in enumerate(done.individuals, 1):
        read = read_rank_file(each.file)
        assert read.rules == each.rules
        assert (read.training["individual"], read.training["best_fitness"]) == (rank, each.fitness)
    everything = sorted((each.evaluation.fitness for each in SearchFolder(out).logged()), reverse=True)
    assert fitnesses == everything[:3], "the search has no two individuals with the same rules here"


def test_more_individuals_of_a_finished_search_can_be_written(topical, tmp_path):
    first = small_search(*topical, tmp_path / "search")
    assert len(first.individuals) == 1
    again = resume_search(tmp_path / "search", n_best=2, workers=1)
    assert (again.n_visits_now, again.individuals[0]) == (0, first.individuals[0])
    assert (tmp_path / "search" / "evolved-2.toml").is_file()


def test_siblings_can_be_renewed_in_the_crawls_of_a_search(topical, tmp_path):
    by_links = small_search(*topical, tmp_path / "links")
    by_siblings = small_search(*topical, tmp_path / "siblings", renew="siblings")
    assert crawls_in(tmp_path / "links") != crawls_in(tmp_path / "siblings")
    assert (read_rank_file(by_links.result).renew, read_rank_file(by_siblings.result).renew) == ("links", "siblings")


def test_the_range_of_scores_is_that_of_the_relevance_model(topical, tmp_path):
    assert read_rank_file(small_search(*topical, tmp_path / "a").result).score_range == 1
    by_margin = small_search(*topical, tmp_path / "b", relevance="svm:scores=margin", n_start=6)
    assert read_rank_file(by_margin.result).score_range == 4


@pytest.mark.parametrize("wrong", [{"random_streams": "mine"}, {"renew": "cousins"}])
def test_unknown_choices_are_rejected(topical, tmp_path, wrong):
    (name,) = wrong
    with pytest.raises(UnknownName, match=rf"{name} '{wrong[name]}'"):
        small_search(*topical, tmp_path / "search", **wrong)
    assert not (tmp_path / "search").exists()


def test_an_individual_is_not_evaluated_twice(topical, tmp_path):
    # With one score all weights are the same rule, but not the same genes.
    done = small_search(*topical, tmp_path / "search", scores=("parent_1",), search="chc:population=4,generations=9")
    logged = SearchFolder(tmp_path / "search").logged()
    assert len({each.genes for each in logged}) == len(logged) == done.n_distinct
    assert done.summary.n_evaluated >= len(logged)


@pytest.mark.parametrize("fitness", ["new_hosts", "distance", "target_recall", "0.5*harvest + 0.5*target_recall"])
def test_a_search_maximises_its_fitness_measure(topical, done, tmp_path, fitness):
    other = small_search(*topical, tmp_path / "search", fitness=fitness)
    assert other.settings.fitness == fitness
    assert 0 < other.best.fitness < 1
    assert other.best.fitness != done.best.fitness


def test_rules_can_be_split_by_distance(topical, tmp_path):
    done = small_search(*topical, tmp_path / "search", split="distance:1", scores=("comm_out", "parent_1", "anchor"))
    assert done.best.rules.split_by == "distance"
    assert read_rank_file(done.result).rules == done.best.rules
    assert len(done.best.rules.weights) == 2


def test_an_earlier_winner_takes_part_in_a_search(topical, done, tmp_path):
    earlier = small_search(*topical, tmp_path / "earlier", search="johnson2003:population=12,generations=6")
    later = small_search(
        *topical,
        tmp_path / "later",
        seed=9,
        seed_with=[earlier.result],
        search="johnson2003:population=2,generations=1",
    )
    assert later.best.fitness == pytest.approx(earlier.best.fitness, abs=0.03)
    assert later.settings.winners == (tuple(earlier.best.rules.weights[0][:9]),)
    assert tomllib.loads(later.result.read_text())["training"]["seeded_with"] == 1


def test_the_page_budget_is_no_larger_than_the_web(topical, tmp_path):
    search = "johnson2003:population=2,generations=1"
    done = small_search(*topical, tmp_path / "search", page_budget=10_000, search=search)
    assert (done.pages_wanted, done.settings.experiment.page_budget) == (10_000, 240)


def test_topics_without_start_pages_are_skipped_on_request(topical, tmp_path):
    web, topics = topical
    more = tmp_path / "more.jsonl"
    more.write_text(topics.read_text() + '{"id": "sea", "keywords": ["sea"], "examples": ["http://no.test/"]}\n')
    choice = TopicChoice(more, ("balloon", "sea"), skip_missing=True)
    done = search_for(choice, web, tmp_path / "search", **SMALL)
    assert [topic.id for topic in done.settings.experiment.topics] == ["balloon"]
    assert list(done.skipped_topics) == ["sea"]
    assert "'sea'" in done.skipped_topics["sea"]
    with pytest.raises(InvalidTopic, match="'sea'"):
        search_for(replace(choice, skip_missing=False), web, tmp_path / "other", **SMALL)


def test_topics_without_usable_keywords_are_skipped_on_request(topical, tmp_path):
    web, topics = topical
    more = tmp_path / "more.jsonl"
    lines = topics.read_text().splitlines()
    more.write_text("\n".join([*lines, json.dumps({**json.loads(lines[0]), "id": "odd", "keywords": ["go"]})]) + "\n")
    choice = TopicChoice(more, ("balloon", "odd"), skip_missing=True)
    assert SMALL["relevance"] == "cosine"
    done = search_for(choice, web, tmp_path / "search", **SMALL)
    assert [topic.id for topic in done.settings.experiment.topics] == ["balloon"]
    assert list(done.skipped_topics) == ["odd"]
    with pytest.raises(InvalidTopic, match=r"'odd'.*--skip-missing"):
        search_for(replace(choice, skip_missing=False), web, tmp_path / "other", **SMALL)


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"n_start": 241}, InvalidParameter, "241"),
        ({"page_budget": 0}, InvalidParameter, "pages"),
        ({"page_budget": 3}, InvalidParameter, "'balloon'"),
        ({"page_budget": 4, "n_start": 9}, InvalidParameter, "--start"),
        ({"search": "johnson2003:population=1"}, InvalidParameter, "population=1"),
        ({"search": "jonson2003"}, UnknownName, "'johnson2003'"),
        ({"mode": "rulette"}, UnknownName, "'roulette'"),
        ({"relevance": "svn"}, UnknownName, "'svm'"),
        ({"seed_with": [Path("nowhere.toml")]}, InvalidInput, "nowhere.toml"),
    ],
)
def test_invalid_input_is_rejected_before_a_folder_is_created(topical, tmp_path, settings, kind, message):
    with pytest.raises(kind) as raised:
        small_search(*topical, tmp_path / "search", **settings)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "search").exists()


def test_an_unknown_topic_is_rejected(topical, tmp_path):
    with pytest.raises(UnknownName, match="'balloon'"):
        small_search(*topical, tmp_path / "search", "baloon")


def test_target_recall_without_targets_is_rejected(topical, tmp_path):
    web, _ = topical
    topics = tmp_path / "topics.jsonl"
    topics.write_text('{"id": "balloon", "keywords": ["balloon"], "seeds": ["http://host0.test/0"]}\n')
    small_search(web, topics, tmp_path / "harvest")
    with pytest.raises(InvalidTopic, match=r"'balloon' .*target_recall"):
        small_search(web, topics, tmp_path / "search", fitness="target_recall")


def test_a_folder_name_that_no_strategy_can_contain_is_rejected(topical, tmp_path):
    with pytest.raises(InvalidParameter, match="evolved:file="):
        small_search(*topical, tmp_path / "a,b")
    with pytest.raises(InvalidParameter, match="evolved:file="):
        resume_search(tmp_path / "a,b")


# Earlier winners

TINY = {"search": "johnson2003:population=2,generations=1"}
HUB = tuple(float(name == "hub") for name in SCORE_NAMES)
AUTHORITY = tuple(float(name == "authority") for name in SCORE_NAMES)


def winner(file: Path, rules: RankRules | None = None, **training: Any) -> Path:
    """Write the rank file of an earlier search."""
    file.write_text(rank_file_text(RankFile(rules or RankRules((HUB,)), training=training)))
    return file


def test_the_topics_of_winners_are_recorded_from_search_to_search(topical, tmp_path):
    first = small_search(*topical, tmp_path / "1", "balloon", **TINY)
    second = small_search(*topical, tmp_path / "2", "train", seed_with=[first.result], **TINY)
    third = small_search(*topical, tmp_path / "3", "garden", seed_with=[second.result, second.result], **TINY)
    records = [read_rank_file(each.result).training for each in (first, second, third)]
    assert [record["topics"] for record in records] == [["balloon"], ["train"], ["garden"]]
    # The third has the topic of the first through the second. A file given twice counts once.
    assert [record["seeded_topics"] for record in records] == [[], ["balloon"], ["train", "balloon"]]


def test_a_resumed_search_remembers_the_topics_of_its_winners(topical, tmp_path):
    earlier = winner(tmp_path / "earlier.toml", topics=["kites"])
    done = small_search(*topical, tmp_path / "search", seed_with=[earlier], **TINY)
    before = done.result.read_bytes()
    done.result.unlink()
    resume_search(done.folder, workers=1)
    assert done.result.read_bytes() == before
    assert read_rank_file(done.result).training["seeded_topics"] == ["kites"]


def test_winners_without_room_in_the_population_are_ignored_with_their_topics(topical, tmp_path):
    files = [winner(tmp_path / f"{i}.toml", topics=[f"topic{i}"]) for i in range(5)]
    done = small_search(*topical, tmp_path / "search", seed_with=files, **TINY)
    training = read_rank_file(done.result).training
    assert training["seeded_with"] == len(done.settings.winners) == 2
    assert training["seeded_topics"] == ["topic0", "topic1"]
    (note,) = done.notes
    assert "2 of 5" in note


def test_winners_that_all_have_room_need_no_note(topical, tmp_path):
    files = [winner(tmp_path / f"{i}.toml") for i in range(2)]
    done = small_search(*topical, tmp_path / "search", seed_with=files, **TINY)
    assert (done.notes, read_rank_file(done.result).training["seeded_with"]) == ((), 2)


@pytest.mark.parametrize(
    ("own", "split"),
    [
        (("distance", (1,)), "distance:2"),
        (("distance", (1,)), "phase:1"),
        (("phase", (7,)), "phase:7,9"),
        (("phase", (7,)), "nothing"),
    ],
)
def test_a_winner_with_another_split_is_rejected(topical, tmp_path, own, split):
    file = winner(tmp_path / "earlier.toml", RankRules((HUB, AUTHORITY), *own))
    with pytest.raises(InvalidParameter) as raised:
        small_search(*topical, tmp_path / "search", seed_with=[file], split=split, **TINY)
    its = f"{own[0]}:{own[1][0]}"
    assert re.search(rf"{file} .*\b{its}, .*\b{split}\b.*--split {its}\b", str(raised.value))
    assert not (tmp_path / "search").exists()


def test_a_winner_with_the_same_split_keeps_its_rules(topical, tmp_path):
    file = winner(tmp_path / "earlier.toml", RankRules((HUB, AUTHORITY), "distance", (1,)))
    settings = {"split": "distance:1", "scores": ("hub", "authority")}
    done = small_search(*topical, tmp_path / "search", seed_with=[file], **settings, **TINY)
    assert done.settings.winners == ((1.0, 0.0, 0.0, 1.0),)
    assert done.notes == ()


def test_a_winner_with_one_rule_is_used_for_all_rules_with_a_note(topical, tmp_path):
    settings = {"split": "distance:1", "scores": ("hub", "authority")}
    file = winner(tmp_path / "earlier.toml")
    done = small_search(*topical, tmp_path / "search", seed_with=[file], **settings, **TINY)
    assert done.settings.winners == ((1.0, 0.0, 1.0, 0.0),)
    (note,) = done.notes
    assert re.match(rf"{file} .*\b2 rules\b", note)


@pytest.mark.parametrize("key", ["topics", "seeded_topics"])
@pytest.mark.parametrize("value", ["balloon", [1]])
def test_a_training_record_without_a_list_of_topics_is_rejected(topical, tmp_path, key, value):
    file = winner(tmp_path / "earlier.toml", **{key: value})
    with pytest.raises(InvalidInput, match=f"`{key}`"):
        small_search(*topical, tmp_path / "search", seed_with=[file], **TINY)
    assert not (tmp_path / "search").exists()
