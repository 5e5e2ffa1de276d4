"""The page of a search: how good the best rank function is, how the search went, the formula, and how to use it."""

from collections.abc import Iterator
from math import isnan
from pathlib import Path

from scenthound.lab.command_line import command_line, in_lines
from scenthound.report.number_words import number_told
from scenthound.report.page.values import Block, Cell, Chart, Facts, Page, Prose, Section, TableBlock, Verbatim
from scenthound.report.searches.history import history_series
from scenthound.report.searches.repeat import repeat_command
from scenthound.report.searches.told import SearchState, ToldSearch, read_search
from scenthound.report.searches.use import use_blocks
from scenthound.report.setting_rows import setting_rows
from scenthound.report.versions import maker_rows
from scenthound.strategies.parts.rank_formula import formula_of
from scenthound.strategies.parts.rank_rules import SCORE_NAMES, RankRules
from scenthound.strategies.rank_file import RankFile


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
        yield Section("How to use it", tuple(use_blocks(told, result.guide)))
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
    yield Verbatim("This command makes the search again", in_lines(repeat_command(told.settings, told.folder)))
    n_winners = len(told.settings["winners"])
    if n_winners:
        yield Prose((f"{n_winners} earlier winners took part: name their files with --seed-with.",))
