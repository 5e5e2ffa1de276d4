"""The options of recorded webs, simulated crawls, experiments and searches."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any

from scenthound.errors import InvalidParameter, UsageError
from scenthound.options import (
    Cluster,
    FolderLike,
    FoldersLike,
    FollowNofollow,
    Force,
    Option,
    PathLike,
    PluginLike,
    PluginsLike,
    ProgressLike,
    PythonOnly,
    RandomSeed,
    ReplaceFile,
    SeedPages,
    TopicId,
    TopicsLike,
    TrainFrom,
    Workers,
    installed,
)

STUDIES = ("menczer2001", "pant2002", "wang2009", "johnson2003")
#: Best-First in johnson2003 is the rank function of the direct parents only.
BEST_FIRST = "rank_function:preset=best_first"
JOHNSON2003_BUDGETS = (10_000, 20_000, 30_000)
#: All starts are drawn before the first crawl.
MOST_REPEATS = 10_000
WEB_HELP = "A recorded web or a crawl folder, as `scenthound record` and `crawl` make them."
TOPICS_HELP = "A topic file: TOML or JSON Lines."
#: On a narrow terminal a word of more than 26 letters is cut off.
MODE_HELP = (
    "The order in which requested pages return. sequential: one after the other. roulette (size=100, "
    "refill_at=50): drawn from a current list, as in johnson2003. polite (workers=30, delay_s=1, fetch_s=0.5, "
    "patience=0, fetch_list=none): workers and crawl delays in simulated time; polite:preset=wang2009 has the fetch "
    "list of wang2009. Parameters are written like those of strategies: polite:delay_s=2."
)
Web = Annotated[FolderLike, Option(WEB_HELP, type=Path)]
Topics = Annotated[TopicsLike, Option(TOPICS_HELP, type=Path)]
#: For commands that can do without, for example to resume.
OptionalWeb = Annotated[FolderLike, Option(WEB_HELP, type=Path, is_required=False)]
OptionalTopics = Annotated[TopicsLike, Option(TOPICS_HELP, type=Path, is_required=False)]
TopicIds = Annotated[str | Sequence[str] | None, Option("Only this topic; repeatable.", metavar="ID")]
Relevance = Annotated[
    PluginLike | None,
    Option(
        "Scores pages and links for all strategies: rocchio, cosine, svm; `scenthound relevance` lists the models.",
        metavar="MODEL",
        values=installed("relevance"),
        shown="rocchio; for evolved:file=..., that of the file",
    ),
]
TrainingPages = Annotated[
    str,
    Option(
        "How many pages train relevance models. wang2009: up to 75 of the topic, and twice as many examples of other "
        "topics. johnson2003: up to 139 of the topic, and five times as many random pages of the web.",
        metavar="STUDY",
        values=lambda: ("johnson2003", "wang2009"),
    ),
]
Mode = Annotated[str, Option(MODE_HELP, metavar="MODE", values=lambda: ("polite", "roulette", "sequential"))]
STRATEGIES_HELP = "name or name:parameter=value,...; repeatable."


@dataclass(frozen=True, kw_only=True)
class Running:
    """How work is made, which does not change its result."""

    workers: Workers = None
    cluster: Cluster = None
    progress: PythonOnly[ProgressLike] = None


@dataclass(frozen=True, kw_only=True)
class ChosenTopics:
    """Which topics of a file are crawled for.

    topics_max: Only the first N topics.
    skip_missing: Skip topics without start pages in the web or without usable keywords.
    """

    topic: TopicIds = None
    topics_max: Annotated[int | None, Option(ge=1)] = None
    skip_missing: bool = False


@dataclass(frozen=True, kw_only=True)
class Links:
    """Which links crawls follow.

    closed_world: Hide links to pages that were not recorded.
    """

    closed_world: bool = False
    follow_nofollow: FollowNofollow = False


@dataclass(frozen=True, kw_only=True)
class Plain:
    """Whether C takes part, which changes no trace.

    plain: Run all strategies in Python: slower, with the same results and comparable CPU times.
    """

    plain: bool = False


@dataclass(frozen=True, kw_only=True)
class Training:
    """What relevance models, and classifiers that label pages, learn from.

    train: Set up to N examples of each topic aside to train relevance models, in addition to the start pages; they
        are not targets. At most half of the targets, and in all as many pages as --training-pages says.
    judge: Set up to N examples of each topic aside to train the classifiers of the metric harvest; 75 in wang2009.
    as_published: Train relevance models on any example, targets too, as in wang2009.
    """

    train: Annotated[int, Option(metavar="N", ge=0, stored="n_train")] = 0
    train_from: TrainFrom = None
    training_pages: TrainingPages = "wang2009"
    judge: Annotated[int, Option(metavar="N", ge=0, stored="n_judge")] = 0
    as_published: bool = False


@dataclass(frozen=True, kw_only=True)
class Conditions(Links, Training, Plain):
    """The conditions of simulated crawls.

    task: Start from `examples`, or from their `neighbours` two links away.
    start: Pages each crawl starts from; the other examples are targets.
    """

    task: Annotated[str, Option(values=lambda: ("examples", "neighbours"))] = "examples"
    start: Annotated[int, Option(ge=1, stored="n_start")] = 10
    relevance: Relevance = None


@dataclass(frozen=True)
class SimulateOptions(ChosenTopics, Conditions, Running):
    """Simulated crawls of strategies on a recorded web.

    out: Folder for the traces.
    pages: Page budget of each crawl.
    repeats: Independent starts of each topic, each with its own start pages.
    random_seed: Seed of the random generator for the first start; others have the next ones.
    """

    web: Web
    topics: Topics
    strategies: Annotated[
        PluginsLike, Option(STRATEGIES_HELP, flag="--strategy", type=list[str], values=installed("strategies"))
    ]
    _: KW_ONLY
    out: Annotated[PathLike | None, Option(is_required=True)] = None
    seeds: SeedPages = None
    pages: Annotated[int, Option(ge=1, stored="page_budget")] = 2000
    repeats: Annotated[int, Option(ge=1, le=MOST_REPEATS)] = 1
    random_seed: Annotated[int, Option(ge=0)] = 0
    mode: Mode = "sequential"
    force: Force = False


@dataclass(frozen=True)
class CompareOptions(ChosenTopics, Conditions, Running):
    """A comparison of strategies.

    topic: The topic; repeatable. Required if the file has several.
    sweep: Run the strategies with each of these values, e.g. buffer=64,256,1024; repeatable for a grid.
    by: The metric that decides, at the end or after some pages: target_recall, precision@500.
    pages: Page budget of each crawl; at most half of the web.
    repeats: Independent starts of each topic.
    out: Folder for the report, ranking, figures and crawls; a second run makes only new crawls.
    """

    web: Web
    topics: Topics
    strategies: Annotated[
        PluginsLike | None,
        Option(
            STRATEGIES_HELP,
            flag="--strategy",
            type=list[str],
            values=installed("strategies"),
            shown="all installed, with their defaults",
        ),
    ] = None
    _: KW_ONLY
    topic: Annotated[str | Sequence[str] | None, Option(metavar="ID")] = None
    as_published: PythonOnly[bool] = False
    plain: PythonOnly[bool] = False
    seeds: SeedPages = None
    sweep: Annotated[
        Mapping[str, Any] | str | Sequence[str], Option(metavar="PARAMETER=VALUE,...", type=list[str])
    ] = ()
    by: Annotated[
        PluginLike | None,
        Option(
            metavar="METRIC",
            values=installed("metrics"),
            shown="target_recall; on_topic if no topic has examples to find",
        ),
    ] = None
    pages: Annotated[int, Option(ge=1, stored="page_budget")] = 2000
    repeats: Annotated[
        int | None, Option(ge=1, le=MOST_REPEATS, shown="10, divided among the topics if there are five or more")
    ] = None
    mode: Annotated[
        str | None, Option(MODE_HELP, metavar="MODE", shown="polite if the web has several hosts, otherwise sequential")
    ] = None
    out: Annotated[PathLike | None, Option(metavar="DIR")] = None


@dataclass(frozen=True, kw_only=True)
class StudySize:
    """What may differ from the settings of a study.

    pages: Page budget; at most half of the web.
    topics_max: Maximum number of topics, drawn at random; for johnson2003, of topics that no search saw.
    repeats: Independent starts: crawls for each topic.
    settings: A settings file instead of the study's own.
    arm: Also run this optional experiment: buffer (sizes of the frontier) or more (further crawlers), both of
        pant2002; repeatable.
    """

    pages: Annotated[int | None, Option(ge=1, shown="the study's")] = None
    topics_max: Annotated[int | None, Option(metavar="N", ge=1, shown="the study's")] = None
    repeats: Annotated[int | None, Option(ge=1, le=MOST_REPEATS, shown="the study's")] = None
    settings: Annotated[PathLike | None, Option(metavar="FILE")] = None
    arm: Annotated[str | Sequence[str] | None, Option(metavar="NAME")] = None


@dataclass(frozen=True)
class StudyOptions(StudySize, Running):
    """A study of the literature.

    name: menczer2001, pant2002, wang2009 or johnson2003.
    out: Folder for findings, figures, tables and the report; an interrupted study continues there.
    cache: Folder for cached crawls, which studies can share; not for johnson2003, whose crawls are in --out.
    """

    name: Annotated[str, Option(metavar="STUDY", is_argument=True, values=lambda: sorted(STUDIES))]
    web: OptionalWeb
    topics: OptionalTopics
    out: Annotated[PathLike, Option(is_required=False)]
    _: KW_ONLY
    cache: Annotated[PathLike | None, Option(metavar="DIR", shown="crawls within --out")] = None

    def check(self) -> None:
        if missing := [f"--{option}" for option in ("web", "topics", "out") if getattr(self, option) is None]:
            raise InvalidParameter(f"A study needs {', '.join(missing)}; see `scenthound study --help`.")


@dataclass(frozen=True)
class ValidateOptions(Links, Plain, Running):
    """A validation of evolved strategies.

    strategies: A strategy to validate, e.g. evolved:file=evolved.toml; repeatable.
    out: Folder for findings, measurements and figures.
    topic: A topic that the strategies were evolved on; repeatable.
    unseen: A topic that no search saw; repeatable.
    unseen_max: N more topics that no search saw, drawn at random with a fixed seed; none shares an example with the
        topics of the search.
    against: The strategy to compare with.
    pages: Page budget; repeatable. All are scaled down if the largest is more than half of the web.
    large: Pages in the large seed set; at most half of the examples are used.
    small: Pages in the small one, a random part of the large one for each repeat.
    repeats: Independent starts: crawls of each strategy from each seed set.
    relevance: Relevance model of all strategies; also decides which pages are relevant.
    threshold: Pages with at least this relevance are relevant.
    """

    web: Web
    topics: Topics
    strategies: Annotated[PluginsLike, Option(flag="--strategy", type=list[str], values=installed("strategies"))]
    out: PathLike
    _: KW_ONLY
    topic: Annotated[str | Sequence[str] | None, Option(metavar="ID", shown="those that their files name")] = None
    unseen: Annotated[str | Sequence[str], Option(metavar="ID")] = ()
    unseen_max: Annotated[int | None, Option(metavar="N", ge=1)] = None
    against: Annotated[PluginLike, Option(metavar="STRATEGY", values=installed("strategies"))] = BEST_FIRST
    pages: Annotated[int | Sequence[int], Option(ge=1, shown=" ".join(map(str, JOHNSON2003_BUDGETS)))] = (
        JOHNSON2003_BUDGETS
    )
    large: Annotated[int, Option(ge=2)] = 250
    small: Annotated[int, Option(ge=1)] = 50
    repeats: Annotated[int, Option(ge=1, le=MOST_REPEATS)] = 15
    mode: Mode = "roulette"
    relevance: Annotated[PluginLike, Option(metavar="MODEL", values=installed("relevance"))] = "svm"
    training_pages: TrainingPages = "wang2009"
    threshold: float = 0.5
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class Written:
    """What a search writes.

    best: Write the N best individuals with different weights: evolved.toml, evolved-2.toml and so on.
    """

    best: Annotated[int, Option(metavar="N", ge=1, le=100)] = 1


@dataclass(frozen=True)
class ResumeSearchOptions(Written, Running):
    """What may differ when a search is resumed."""

    folder: PythonOnly[FolderLike]
    _: KW_ONLY
    web: Web = None


@dataclass(frozen=True)
class EvolveOptions(Written, ChosenTopics, Conditions, Running):
    """A search for the weights of a rank function.

    What to search on:
        web, topics
        out: Folder for the search.
        topic: Crawl for this topic; repeatable, fitness is then the mean over topics.
        best, skip_missing
    The search:
        search: johnson2003, chc or cma, with parameters as in cma:population=20,generations=50.
        fitness: harvest, new_hosts, distance, target_recall, or a sum as in '0.7*harvest + 0.3*target_recall'.
        random_seed: Seed of the random generator.
        scores: Scores with weights: nine (as in johnson2003), all thirteen, or names such as comm_out,parent_1,anchor.
        split: Several rules: distance:2,4 (links from the seeds) or phase:1000 (pages into the crawl).
        renew: The ranks that a good page renews: those of its links, or of its siblings, too.
        seed_with: Add the rules of an earlier evolved.toml to the first population; repeatable.
        reevaluate: Crawl again for individuals whose fitness is known, as in johnson2003: the same result at full
            cost, unless with --random-streams individual.
    The crawls of an evaluation:
        crawls: Crawls for each topic.
        pages: Page budget of each crawl.
        same_start: Start all crawls of a topic from the same pages, or each from its own.
        random_streams: Random numbers of crawls: common (the same for all searches), search (the same for all
            individuals) or individual (new ones for each).
        mode, task, start, closed_world, follow_nofollow, plain
    Relevance:
        relevance: Scores pages; `scenthound relevance` lists the models.
        threshold: Pages with at least this relevance are relevant: between 0 and 1.
        train, train_from, training_pages, as_published
    """

    web: OptionalWeb
    topics: OptionalTopics
    out: Annotated[PathLike, Option(metavar="DIR", is_required=False)]
    _: KW_ONLY
    topic: Annotated[str | Sequence[str] | None, Option(metavar="ID", shown="all of the file")] = None
    topics_max: PythonOnly[int | None] = None
    judge: PythonOnly[int] = 0
    search: Annotated[str, Option(metavar="NAME", values=lambda: ("chc", "cma", "johnson2003"))] = "johnson2003"
    fitness: Annotated[str, Option(metavar="SUM")] = "harvest"
    random_seed: Annotated[int, Option(stored="seed")] = 0
    scores: Annotated[str, Option(metavar="NAMES")] = "nine"
    split: Annotated[str, Option(metavar="BY")] = "nothing"
    renew: Annotated[str, Option(metavar="WHICH")] = "links"
    seed_with: Annotated[PathLike | Sequence[PathLike], Option(metavar="FILE")] = ()
    reevaluate: bool = False
    crawls: Annotated[int, Option(ge=1, le=MOST_REPEATS, stored="n_crawls")] = 3
    pages: Annotated[int, Option(ge=1, stored="page_budget")] = 10_000
    same_start: Annotated[bool, Option(flag="--same-start/--own-starts")] = True
    random_streams: Annotated[str, Option(metavar="BY")] = "common"
    mode: Mode = "roulette"
    relevance: Annotated[PluginLike | None, Option(metavar="MODEL", values=installed("relevance"), shown="svm")] = None
    threshold: float = 0.5
    force: Force = False


@dataclass(frozen=True)
class FitScentOptions:
    """A fit of the weights of the strategy scent.

    What to fit on:
        web, topics
        out: File for the weights: .toml.
        topics_max: At most N topics of each web, drawn at random.
    The crawls:
        pages
        rounds: Rounds of crawls and fits; each crawls with the weights of the one before.
        relevance: Scores pages and links, as it will in crawls with these weights; `scenthound relevance` lists the
            models. Models that need training pages cannot be used.
        random_seed
    """

    web: Annotated[FoldersLike, Option(f"{WEB_HELP} Repeatable, with --topics for each.", type=list[Path])]
    topics: Annotated[
        TopicsLike,
        Option(f"{TOPICS_HELP} Pages of a topic are its examples, and those labelled with it.", type=list[Path]),
    ]
    out: Annotated[PathLike, Option(metavar="FILE")]
    _: KW_ONLY
    pages: Annotated[int, Option("Page budget of each crawl.", ge=10)] = 1000
    rounds: Annotated[int, Option(ge=1)] = 2
    topics_max: Annotated[int | None, Option(ge=1, shown="all")] = None
    relevance: Annotated[PluginLike, Option(metavar="MODEL", values=installed("relevance"))] = "rocchio"
    random_seed: Annotated[int, Option("Seed of the random generator.", ge=0)] = 0
    workers: Workers = None
    force: ReplaceFile = False
    progress: PythonOnly[ProgressLike] = None


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """How pages are scored that are labelled, or are to be labelled.

    How the labelled pages are scored:
        web, topics, topic
        relevance: The model to find a threshold for; `scenthound relevance` lists them. rocchio, the default of crawls,
            needs none: its scores are probabilities, with the threshold 0.5, and it learns during a crawl.
        train_from: Train the model on DIR/positive and DIR/negative. Without it, on the examples of the topic file that
            are not labelled.
    """

    web: Web = None
    topics: Annotated[TopicsLike | None, Option(TOPICS_HELP, type=Path)] = None
    topic: TopicId = None
    relevance: Annotated[PluginLike | None, Option(metavar="MODEL", values=installed("relevance"), shown="cosine")] = (
        None
    )
    train_from: Annotated[PathLike | None, Option(metavar="DIR")] = None


@dataclass(frozen=True)
class ThresholdOptions(Scoring):
    """A threshold from labelled pages.

    labels: CSV or JSON Lines: url,label or score,label; labels are yes or no.
    precision: The highest recall with at least this precision.
    recall: The highest precision with at least this recall.

    How the labelled pages are scored:
        cross_validate: Train the model on the labelled pages; each page is scored by a model that did not see it.
    """

    labels: Annotated[PathLike, Option(metavar="LABELS", is_argument=True)]
    _: KW_ONLY
    cross_validate: bool = False
    precision: Annotated[float | None, Option(metavar="P")] = None
    recall: Annotated[float | None, Option(metavar="R")] = None
    progress: PythonOnly[ProgressLike] = None

    def check(self) -> None:
        if self.topics is None and (self.topic or self.relevance or self.train_from or self.cross_validate):
            raise UsageError("--topic, --relevance, --train-from and --cross-validate need --topics.")


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Pages drawn at random, in a new file.

    force: Let --suggest replace the file.
    """

    random_seed: RandomSeed = 0
    force: bool = False


@dataclass(frozen=True)
class LabelOptions(Scoring, Drawing):
    """Pages to label, in a file."""

    labels: PythonOnly[PathLike]
    n: PythonOnly[int]
    _: KW_ONLY
    progress: PythonOnly[ProgressLike] = None

    def check(self) -> None:
        if self.web is None or self.topics is None:
            raise UsageError("--suggest draws pages of a web by their scores: give --web and --topics.")


@dataclass(frozen=True)
class EvaluateOptions:
    """How a run is evaluated.

    run: A folder made by `scenthound simulate`.
    metrics: A metric, or name@pages; repeatable.
    at: Show values after N pages; repeatable.
    web: The recorded web, if it was moved.
    """

    run: Annotated[FolderLike, Option(metavar="DIR", is_argument=True, type=Path)]
    metrics: Annotated[
        Sequence[Any], Option(flag="--metric", type=list[str], values=installed("metrics"), stars="*")
    ] = ()
    _: KW_ONLY
    at: Annotated[int | Sequence[int], Option(ge=1)] = ()
    web: Annotated[FolderLike | None, Option(type=Path)] = None
    progress: PythonOnly[ProgressLike] = None


@dataclass(frozen=True)
class SynthesizeOptions:
    """A synthetic web.

    out: Folder for the web.
    pages: Number of pages, up to 10 million.
    links: Mean number of links of a page.
    words: Mean number of words of a page, without its anchors.
    topics: Number of topics.
    random_seed: Seed of the random generator; the same seed makes the same bytes.
    settings: Any other setting, e.g. on_host=0.9, pages_per_host=50; repeatable. An unknown name lists all.
    """

    out: PathLike
    _: KW_ONLY
    pages: int = 100_000
    links: float = 20.0
    words: int = 30
    topics: int = 50
    random_seed: int = 1
    settings: Annotated[
        Mapping[str, float] | Sequence[str], Option(metavar="NAME=VALUE", flag="--set", type=list[str], stars="**")
    ] = ()
    force: Force = False
    progress: PythonOnly[ProgressLike] = None


@dataclass(frozen=True)
class RecordOptions:
    """A recorded web.

    sources: A JSON Lines, WARC, ARC or Parquet file, also .gz and .zst, or a crawl; repeatable.
    out: Folder for the recorded web.
    without_leaks: Remove the spans in the field `leak`, which show a topic label.
    where: Keep only records with this value, e.g. kind=article.
    """

    sources: Annotated[FoldersLike, Option(flag="--from", type=list[Path])]
    out: PathLike
    _: KW_ONLY
    without_leaks: bool = False
    where: Annotated[Mapping[str, str] | Sequence[str] | None, Option(metavar="FIELD=VALUE", type=list[str])] = None
    workers: Workers = None
    force: Force = False
    progress: PythonOnly[ProgressLike] = None
