"""The report of a search: the best rank function, its fitness by generation, its formula, and commands to use it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.command_line import command_line, in_lines
from scenthound.errors import InvalidInput, UsageError, printable
from scenthound.experiments.compare.live_command import PLACEHOLDER
from scenthound.experiments.evolve.folder import ABOUT_FILE, RESULT_FILE, TOPICS_FILE, SearchFolder, read_about
from scenthound.experiments.options import EvolveOptions, ValidateOptions
from scenthound.experiments.search.methods import parse_search
from scenthound.experiments.setup import reproduce_command
from scenthound.relevance.base import RELEVANCE, trains
from scenthound.store.locks import is_locked
from scenthound.strategies.evolved import choice_of
from scenthound.strategies.rank_file import Generation, RankFile, read_rank_file
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules, formula_of
from scenthound.topics.files import read_topics
from scenthound.ui.document import (
    Block,
    Cell,
    Chart,
    CodeBlock,
    Document,
    Section,
    Series,
    Table,
    settings_section,
)
from scenthound.ui.formats import counted, format_number, setting_rows

#: The number of unseen topics that the proposed validation uses.
UNSEEN_PROPOSED = 4


class StoredSearch:
    """A finished, running or stopped search; InvalidInput if the folder is not a search, or damaged.

    Nothing in the folder is changed, so a running search is not disturbed. The last line of its log may be incomplete;
    it is ignored until it is complete.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        #: The content of `search.json`: all of it, the settings, and those of the crawls.
        self.about, files = read_about(folder), SearchFolder(folder)
        #: None until the first generation is complete.
        self.result = read_rank_file(files.result) if files.result.is_file() else None
        #: The fitness of known strategies; empty until the search has finished.
        self.compared = files.compared()
        #: Of each evaluation.
        self.visits = list(_visits(files.log))
        try:
            self.settings: Mapping[str, Any] = self.about["settings"]
            self.crawls: Mapping[str, Any] = self.settings["crawls_of"]
            self.max_evaluations = parse_search(str(self.settings["search"])).most_evaluations
            _ = self.crawls["web"], self.settings["fitness"], self.about["web_fingerprint"]
        except (KeyError, TypeError):
            raise InvalidInput(f"{printable(folder / ABOUT_FILE)} is damaged: start a new search.") from None
        is_complete = self.result is not None and bool(self.result.training.get("is_complete")) and bool(self.compared)
        self.state = "running" if is_locked(folder) else "finished" if is_complete else "stopped"


def _visits(log: Path) -> Iterator[int]:
    for line in log.read_bytes().splitlines() if log.is_file() else ():
        try:
            yield int(json.loads(line)["visits"])
        except (ValueError, TypeError, KeyError):
            continue


def search_report(folder: Path) -> Document:
    search = StoredSearch(folder)
    return Document(
        kind="search",
        title=f"Search for rank functions: {_topics_text(search)}",
        summary=tuple(_summary(search)),
        sections=tuple(_sections(search)),
        key_facts=tuple(_key_facts(search)),
    )


def _sections(search: StoredSearch) -> Iterator[Section]:
    result = search.result
    if result is not None:
        if result.history:
            curves, fitness = tuple(history_series(result.history)), str(search.settings["fitness"])
            chart = Chart("fitness", "Best individual, and mean of all", "generation", fitness, curves)
            yield Section("Fitness by generation", (chart,))
        yield Section("Rank function", (_formula(result.rules), _weights(result.rules)))
    yield Section("Known strategies", tuple(_compared(search)))
    if result is not None:
        yield Section("How to use it", tuple(use_blocks(search, result.relevance_model)))
    yield _settings(search)


# Text


def _topics_text(search: StoredSearch) -> str:
    topics = search.crawls["topics"]
    return str(topics[0]) if len(topics) == 1 else f"{len(topics):,} topics"


def _best_fitness(result: RankFile) -> float:
    """NaN if the file has no history."""
    return max((each.best for each in result.history), default=float("nan"))


def _summary(search: StoredSearch) -> Iterator[str]:
    if search.result is None:
        yield "No generation is complete yet, so there is no rank function."
    else:
        yield " ".join(_conclusion(search, search.result))
    yield (
        f"Fitness is {search.settings['fitness']}: the mean of {search.settings['n_crawls']} crawls of "
        f"{search.crawls['page_budget']:,} pages on {_topics_text(search)}. {len(search.visits):,} individuals were "
        f"evaluated so far, with {sum(search.visits):,} visits. The search requests {search.max_evaluations:,} "
        "evaluations at most; unless --reevaluate is given, the same genes are evaluated once."
    )
    if search.state == "running":
        yield "The search is running; this report shows its state at the time the report was made."
    elif search.state == "stopped":
        command = command_line(("scenthound", "evolve"), [("--resume", search.folder.absolute())])
        yield f"The search was stopped before it finished. To continue: {command}"


def _conclusion(search: StoredSearch, result: RankFile) -> Iterator[str]:
    best = _best_fitness(result)
    if isnan(best):
        yield "The fitness of the best rank function is not on record."
    else:
        n_generations = result.history[-1].generation
        when = f"after {counted(n_generations, 'generation')}" if n_generations else "of the initial population"
        yield f"The best rank function {when} has a fitness of {format_number(best)}."
    others = ", ".join(f"{name} {format_number(value)}" for name, value in search.compared.items())
    if others:
        yield f"On the same crawls: {others}."
    as_good = [name for name, value in search.compared.items() if _is_as_good(value, best)]
    if as_good:
        yield f"As good or better: {', '.join(as_good)}."


def _is_as_good(fitness: float, best: float) -> bool:
    """Differences in digits that are not shown do not count."""
    return fitness > best or format_number(fitness) == format_number(best)


def _key_facts(search: StoredSearch) -> Iterator[tuple[str, str]]:
    yield "state", search.state
    if search.result is not None and search.result.history:
        yield "best fitness", format_number(_best_fitness(search.result))
        yield "generations", f"{search.result.history[-1].generation:,}"
    yield "individuals evaluated", f"{len(search.visits):,}"
    yield "visits", f"{sum(search.visits):,}"


# Charts and tables


def history_series(history: Sequence[Generation], prefix: str = "") -> Iterator[Series]:
    """The fitness of the best individual, and the mean of all, by generation."""
    generations = np.array([each.generation for each in history], np.float64)
    for kind in ("best", "mean"):
        yield Series(f"{prefix}{kind}", generations, np.array([getattr(each, kind) for each in history], np.float64))


def _formula(rules: RankRules) -> CodeBlock:
    lines = [f"{_condition(rules, at)}{formula_of(row)}" for at, row in enumerate(rules.weights)]
    return CodeBlock("The score of a URL; the one with the highest is next", "\n".join(lines))


def _condition(rules: RankRules, at: int) -> str:
    """The URLs that a rule is for, if there are several rules."""
    if len(rules.weights) == 1:
        return ""
    if at == len(rules.bounds):
        return "else: "
    bound = rules.bounds[at]
    return f"up to {bound:,} links from the seeds: " if rules.split_by == "distance" else f"before page {bound:,}: "


def _weights(rules: RankRules) -> Table:
    columns: dict[str, Callable[[int], str]] = {"score": lambda score: SCORE_NAMES[score].upper()}
    for number, weights in enumerate(rules.weights, 1):
        title = "weight" if len(rules.weights) == 1 else f"rule {number}"
        columns[title] = lambda score, weights=weights: f"{weights[score]:.4f}"  # type: ignore[misc]
    used = [score for score in range(len(SCORE_NAMES)) if any(row[score] for row in rules.weights)]
    note = "The weights of a rule sum to 1. Scores that are not shown have weight 0."
    return Table.build("weights", "Weights", columns, used, note=note)


def _compared(search: StoredSearch) -> Iterator[Block]:
    if search.result is None or not search.compared:
        return
    fitness = {"best of the search": _best_fitness(search.result), **search.compared}
    rows = sorted(((name, value) for name, value in fitness.items() if not isnan(value)), key=lambda each: -each[1])
    best = rows[0][1]
    yield Table(
        name="compared",
        caption="Known rank functions on the same crawls",
        columns=("rank function", "fitness"),
        rows=tuple((Cell(name), Cell(format_number(value), emphasis=_is_as_good(value, best))) for name, value in rows),
        note="On the crawls that it was selected by, the best of a search looks better than it is. A validation "
        "compares it with Best-First on other crawls.",
    )


# Commands


def use_blocks(search: StoredSearch, relevance_model: str) -> Iterator[Block]:
    """How to validate the result and how to crawl with it. `relevance_model` is the one that the weights were found
    with. If the topics or the relevance model are not available any more, the commands omit what depends on them."""
    yield CodeBlock("Compare it with Best-First", in_lines(_validate_command(search, relevance_model)))
    is_trained = _is_trained(relevance_model)
    yield CodeBlock("Crawl with it live", in_lines(_crawl_command(search, is_trained)))
    if is_trained and search.crawls["train_from"] is None:
        yield (
            f"{printable(relevance_model)} needs training: put pages of the topic into {PLACEHOLDER}/positive, others "
            f"into {PLACEHOLDER}/negative."
        )


def _validate_command(search: StoredSearch, relevance_model: str) -> str:
    folder = search.folder.absolute()
    values = {
        **search.settings,
        **search.crawls,
        "topics": folder / TOPICS_FILE,
        "strategies": choice_of(folder / RESULT_FILE),
        "unseen_max": UNSEEN_PROPOSED if _has_unseen_topics(search) else None,
        "relevance": relevance_model,
        "plain": False,
        "out": folder.with_name(f"{folder.name}-validation"),
    }
    return reproduce_command("validate", ValidateOptions, values)


def _crawl_command(search: StoredSearch, is_trained: bool) -> str:
    folder, crawls = search.folder.absolute(), search.crawls
    return command_line(
        ("scenthound", "crawl", str(folder / TOPICS_FILE)),
        [
            ("--topic", crawls["topics"][0]),
            ("--strategy", choice_of(folder / RESULT_FILE)),
            ("--train-from", (crawls["train_from"] or PLACEHOLDER) if is_trained else None),
            ("--follow-nofollow", not crawls["respect_nofollow"]),
        ],
    )


def _has_unseen_topics(search: StoredSearch) -> bool:
    """Whether the file has topics that neither this search used nor those whose winners it was seeded with."""
    seen = {*search.crawls["topics"], *search.settings["seeded_topics"]}
    try:
        return any(topic.id not in seen for topic in read_topics(search.folder / TOPICS_FILE))
    except UsageError:
        return False


def _is_trained(relevance_model: str) -> bool:
    try:
        return trains(RELEVANCE.make(relevance_model))
    except UsageError:
        return False


def _settings(search: StoredSearch) -> Section:
    own = {name: value for name, value in search.settings.items() if name not in ("crawls_of", "winners")}
    n_winners = len(search.settings["winners"])
    return settings_section(
        setting_rows({**own, **search.crawls}),
        search.about,
        _repeat(search.settings, search.folder),
        "Command to repeat the search",
        *([f"{n_winners} earlier winners took part: name their files with --seed-with."] if n_winners else []),
    )


def _repeat(settings: Mapping[str, Any], folder: Path) -> str:
    """The command that makes the search again, into a folder beside this one. Earlier winners that took part are not
    included: only their weights are stored."""
    crawls, search = settings["crawls_of"], folder.absolute()
    values = {
        **settings,
        **crawls,
        "topics": search / TOPICS_FILE,
        "topic": tuple(crawls["topics"]),
        "scores": ",".join(settings["scores"]),
        "out": search.with_name(f"{search.name}-again"),
    }
    return reproduce_command("evolve", EvolveOptions, values)
