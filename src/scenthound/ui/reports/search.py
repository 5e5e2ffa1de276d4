"""The page of a search: how good the best rank function is, how the search went, the formula, and how to use it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.command_line import command_line, in_lines, unless
from scenthound.errors import InvalidInput, UsageError, printable
from scenthound.experiments.compare.live_command import PLACEHOLDER
from scenthound.experiments.evolve.folder import (
    ABOUT_FILE,
    LOG_FILE,
    RESULT_FILE,
    TOPICS_FILE,
    SearchFolder,
    read_about,
)
from scenthound.experiments.evolve.settings import DEFAULT_MODE
from scenthound.experiments.search.methods import parse_search
from scenthound.experiments.starts import Task
from scenthound.relevance.base import RELEVANCE, trains
from scenthound.store.locks import is_locked
from scenthound.strategies.evolved import choice_of
from scenthound.strategies.rank_file import Generation, RankFile, read_rank_file
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules, formula_of
from scenthound.topics.files import read_topics
from scenthound.ui.document import Block, Cell, Chart, Facts, Page, Prose, Section, Series, TableBlock, Verbatim
from scenthound.ui.formats import maker_rows, number_told, setting_rows

# How a search went, as curves: fitness by generation.


def history_series(history: Sequence[Generation], whose: str = "") -> Iterator[Series]:
    """The fitness of the best individual, and the mean of all, by generation."""
    generations = np.array([each.generation for each in history], np.float64)
    for kind in ("best", "mean"):
        yield Series(f"{whose}{kind}", generations, np.array([getattr(each, kind) for each in history], np.float64))


# The command line that makes a search again, for the topics that are kept with it.


def reproduce_command(settings: Mapping[str, Any], folder: Path) -> str:
    """`scenthound evolve` with the settings of `search.json`, into a folder beside this one; empty if no command line
    can say it. Earlier winners, if some took part, are not among them: only their weights are kept."""
    crawls, place = settings["crawls_of"], folder.absolute()
    return command_line(
        ("scenthound", "evolve"),
        [
            ("--web", crawls["web"]),
            ("--topics", place / TOPICS_FILE),
            ("--topic", tuple(crawls["topics"])),
            ("--search", settings["search"]),
            ("--fitness", settings["fitness"]),
            ("--random-seed", settings["seed"]),
            ("--scores", ",".join(settings["scores"])),
            ("--split", unless(settings["split"], "nothing")),
            ("--reevaluate", bool(settings["reevaluate"])),
            ("--crawls", settings["n_crawls"]),
            ("--pages", crawls["page_budget"]),
            ("--start", crawls["n_start"]),
            ("--own-starts", not settings["same_start"]),
            ("--mode", unless(crawls["mode"], DEFAULT_MODE)),
            ("--task", unless(crawls["task"], Task.EXAMPLES.value)),
            ("--closed-world", bool(crawls["closed_world"])),
            ("--follow-nofollow", not crawls["respect_nofollow"]),
            ("--relevance", crawls["relevance"]),
            ("--threshold", unless(settings["threshold"], 0.5)),
            ("--train", unless(crawls["n_train"], 0)),
            ("--train-from", crawls["train_from"]),
            ("--as-published", bool(crawls["as_published"])),
            ("--out", place.with_name(f"{place.name}-again")),
        ],
    )


# What the folder of a search tells, finished or on its way. Nothing in it is changed, so a search that runs is not
# disturbed.
#
# The log may end in a line that is being written; it counts when it is whole.


class SearchState(StrEnum):
    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class ToldSearch:
    """`result` is None until the first generation is whole; `compared` is the fitness of known strategies, empty until
    the search is at its end. `settings` are those of `search.json`, and `about` all of it."""

    folder: Path
    state: SearchState
    result: RankFile | None
    compared: Mapping[str, float]
    n_evaluated: int
    n_visits: int
    most_evaluations: int
    settings: Mapping[str, Any]
    about: Mapping[str, Any]


def read_search(folder: Path) -> ToldSearch:
    """BadInput if the folder is no search, or damaged."""
    about, place = read_about(folder), SearchFolder(folder)
    result = read_rank_file(place.result) if (folder / RESULT_FILE).is_file() else None
    visits = list(_visits(folder / LOG_FILE))
    try:
        settings = about["settings"]
        most = parse_search(str(settings["search"])).most_evaluations
        _ = settings["crawls_of"]["web"], settings["fitness"], about["web_fingerprint"]
    except (KeyError, TypeError):
        raise InvalidInput(f"{printable(folder / ABOUT_FILE)} is damaged: begin a new search.") from None
    compared = place.compared()
    return ToldSearch(
        folder, _state(folder, result, compared), result, compared, len(visits), sum(visits), most, settings, about
    )


def _state(folder: Path, result: RankFile | None, compared: Mapping[str, float]) -> SearchState:
    if is_locked(folder):
        return SearchState.RUNNING
    is_complete = result is not None and bool(result.training.get("is_complete")) and bool(compared)
    return SearchState.FINISHED if is_complete else SearchState.STOPPED


def _visits(log: Path) -> Iterator[int]:
    """Of every evaluation in the log that is whole."""
    for line in log.read_bytes().splitlines() if log.is_file() else ():
        try:
            yield int(json.loads(line)["visits"])
        except (ValueError, TypeError, KeyError):
            continue


# How to use what a search came to: the commands that hold it against Best-First, and that crawl by it live.
#
# A file of topics or a guide that is no longer there does not hide the page: the commands then leave out what it
# decides.

#: On how many topics that no search saw a validation is proposed.
UNSEEN_PROPOSED = 4


def use_blocks(told: ToldSearch, relevance_model: str) -> Iterator[Block]:
    """`relevance_model` is the relevance model that the weights were found with."""
    yield Verbatim("Hold it against Best-First", in_lines(_validation(told, relevance_model)))
    learns = _learns(relevance_model)
    yield Verbatim("Crawl by it live", in_lines(_live_crawl(told, learns)))
    if learns and told.settings["crawls_of"]["train_from"] is None:
        yield Prose(
            (
                f"{printable(relevance_model)} learns: put pages of the topic into {PLACEHOLDER}/positive, others into "
                f"{PLACEHOLDER}/negative.",
            )
        )


def _validation(told: ToldSearch, relevance_model: str) -> str:
    """By the guide and in the mode of the search, on its topics, and on others if there are any."""
    place, crawls = told.folder.absolute(), told.settings["crawls_of"]
    return command_line(
        ("scenthound", "validate"),
        [
            ("--web", crawls["web"]),
            ("--topics", place / TOPICS_FILE),
            ("--strategy", choice_of(place / RESULT_FILE)),
            ("--unseen-max", UNSEEN_PROPOSED if _has_unseen(told) else None),
            ("--relevance", relevance_model),
            ("--threshold", unless(told.settings["threshold"], 0.5)),
            ("--mode", crawls["mode"]),
            ("--closed-world", bool(crawls["closed_world"])),
            ("--follow-nofollow", not crawls["respect_nofollow"]),
            ("--out", place.with_name(f"{place.name}-validation")),
        ],
    )


def _live_crawl(told: ToldSearch, learns: bool) -> str:
    place, crawls = told.folder.absolute(), told.settings["crawls_of"]
    return command_line(
        ("scenthound", "crawl", str(place / TOPICS_FILE)),
        [
            ("--topic", crawls["topics"][0]),
            ("--strategy", choice_of(place / RESULT_FILE)),
            ("--train-from", (crawls["train_from"] or PLACEHOLDER) if learns else None),
            ("--follow-nofollow", not crawls["respect_nofollow"]),
        ],
    )


def _has_unseen(told: ToldSearch) -> bool:
    """Whether the file has topics that neither this search saw nor those whose winners took part in it."""
    seen = {*told.settings["crawls_of"]["topics"], *told.settings["seeded_topics"]}
    try:
        return any(topic.id not in seen for topic in read_topics(told.folder / TOPICS_FILE))
    except UsageError:
        return False


def _learns(relevance_model: str) -> bool:
    try:
        return trains(RELEVANCE.make(relevance_model))
    except UsageError:
        return False


def search_page(folder: Path) -> Page:
    """The page of the search in a folder, finished, running or stopped; BadInput if there is none."""
    told = read_search(folder)
    return Page(
        kind="search",
        title=f"A search for rank functions: {_topics_told(told)}",
        summary=tuple(_summary(told)),
        sections=tuple(section for section in _sections(told) if section.blocks),
        key_facts=tuple(_key_facts(told)),
    )


def _topics_told(told: ToldSearch) -> str:
    topics = told.settings["crawls_of"]["topics"]
    return str(topics[0]) if len(topics) == 1 else f"{len(topics):,} topics"


def _best_fitness(result: RankFile) -> float:
    """Not a number if the file has no history any more."""
    return max((each.best for each in result.history), default=float("nan"))


def _summary(told: ToldSearch) -> Iterator[str]:
    fitness = told.settings["fitness"]
    if told.result is None:
        yield "No generation is finished yet, so there is no rank function to show."
    else:
        yield " ".join(_answer(told, told.result))
    crawls = told.settings["crawls_of"]
    yield (
        f"Fitness is {fitness}: the mean of {told.settings['n_crawls']} crawls of {crawls['page_budget']:,} pages on "
        f"{_topics_told(told)}. {told.n_evaluated:,} individuals were crawled for so far, with {told.n_visits:,} "
        f"visits. The search asks for {told.most_evaluations:,} at most; those of the same genes are crawled for once, "
        "unless it was told otherwise."
    )
    yield from _state_told(told)


def _answer(told: ToldSearch, result: RankFile) -> Iterator[str]:
    best = _best_fitness(result)
    if isnan(best):
        yield "The best rank function has no fitness on record."
    else:
        yield f"The best rank function {_when(result)} has a fitness of {number_told(best)}."
    others = ", ".join(f"{name} {number_told(value)}" for name, value in told.compared.items())
    if others:
        yield f"On the same crawls: {others}."
    as_good = [name for name, value in told.compared.items() if _is_as_good(value, best)]
    if as_good:
        yield f"As good or better: {', '.join(as_good)}."


def _when(result: RankFile) -> str:
    """Generations are those that are over: the population that a search begins with is none."""
    n_generations = result.history[-1].generation
    if not n_generations:
        return "of the first population"
    return f"after {n_generations:,} generation{'s' if n_generations != 1 else ''}"


def _is_as_good(fitness: float, best: float) -> bool:
    """Whether a fitness is not shown to be lower: what differs in digits that nobody sees is the same."""
    return fitness > best or number_told(fitness) == number_told(best)


def _state_told(told: ToldSearch) -> Iterator[str]:
    if told.state is SearchState.RUNNING:
        yield "The search is running; this page shows what it had come to when the page was made."
    elif told.state is SearchState.STOPPED:
        command = command_line(("scenthound", "evolve"), [("--resume", told.folder.absolute())])
        yield f"The search was stopped before its end. Go on with it: {command}"


def _key_facts(told: ToldSearch) -> Iterator[tuple[str, str]]:
    yield "state", told.state.value
    if told.result is not None and told.result.history:
        yield "best fitness", number_told(_best_fitness(told.result))
        yield "generations", f"{told.result.history[-1].generation:,}"
    yield "individuals crawled for", f"{told.n_evaluated:,}"
    yield "visits", f"{told.n_visits:,}"


def _sections(told: ToldSearch) -> Iterator[Section]:
    result = told.result
    if result is not None:
        yield Section("Fitness by generation", tuple(_fitness(result, str(told.settings["fitness"]))))
        yield Section("The rank function", (_formula(result.rules), _weights(result.rules)))
    yield Section("Beside known strategies", tuple(_compared(told)))
    if result is not None:
        yield Section("How to use it", tuple(use_blocks(told, result.relevance_model)))
    yield Section("Settings and versions", tuple(_settings(told)), folded=True)


def _fitness(result: RankFile, fitness: str) -> Iterator[Block]:
    if result.history:
        yield Chart(
            name="fitness",
            title="The best individual, and all in the mean",
            x_label="generation",
            y_label=fitness,
            series=tuple(history_series(result.history)),
        )


def _formula(rules: RankRules) -> Verbatim:
    lines = [f"{_rule_told(rules, place)}{formula_of(row)}" for place, row in enumerate(rules.weights)]
    return Verbatim("The score of a URL; the one with the highest is next", "\n".join(lines))


def _rule_told(rules: RankRules, place: int) -> str:
    """Which URLs a rule is for, where there are several."""
    if len(rules.weights) == 1:
        return ""
    if place == len(rules.bounds):
        return "else: "
    bound = rules.bounds[place]
    return f"up to {bound:,} links from the seeds: " if rules.split_by == "distance" else f"before page {bound:,}: "


def _weights(rules: RankRules) -> TableBlock:
    used = [place for place in range(len(SCORE_NAMES)) if any(row[place] for row in rules.weights)]
    heads = ("weight",) if len(rules.weights) == 1 else tuple(f"rule {n}" for n in range(1, len(rules.weights) + 1))
    return TableBlock(
        name="weights",
        caption="Weights",
        heads=("score", *heads),
        rows=tuple(
            (Cell(SCORE_NAMES[place].upper()), *(Cell(f"{row[place]:.4f}") for row in rules.weights)) for place in used
        ),
        note="The weights of a rule sum to 1. Scores that are not shown weigh nothing.",
    )


def _compared(told: ToldSearch) -> Iterator[Block]:
    if told.result is None or not told.compared:
        return
    all_rows = [("the best of the search", _best_fitness(told.result)), *told.compared.items()]
    rows = sorted(((name, value) for name, value in all_rows if not isnan(value)), key=lambda each: -each[1])
    best = rows[0][1]
    yield TableBlock(
        name="compared",
        caption="The same crawls by known rank functions",
        heads=("rank function", "fitness"),
        rows=tuple((Cell(name), Cell(number_told(value), emphasis=_is_as_good(value, best))) for name, value in rows),
        note="On the very crawls that it was chosen by, the best of a search looks better than it is. A validation "
        "holds it against Best-First on other crawls.",
    )


def _settings(told: ToldSearch) -> Iterator[Block]:
    own = {name: value for name, value in told.settings.items() if name not in ("crawls_of", "winners")}
    fingerprint = [("fingerprint of the web", str(told.about["web_fingerprint"]))]
    yield Facts(
        (
            *setting_rows({**own, **told.settings["crawls_of"]}),
            *fingerprint,
            *maker_rows(told.about),
        )
    )
    yield Verbatim("This command makes the search again", in_lines(reproduce_command(told.settings, told.folder)))
    n_winners = len(told.settings["winners"])
    if n_winners:
        yield Prose((f"{n_winners} earlier winners took part: name their files with --seed-with.",))
