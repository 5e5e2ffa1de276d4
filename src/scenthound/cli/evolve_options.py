"""The options of `scenthound evolve`, in groups; the first group is enough to start."""

from pathlib import Path
from typing import Annotated

import typer

WHAT = "What to search on"
SEARCH = "The search"
CRAWLS = "The crawls of an evaluation"
GUIDE = "Relevance"

#: Options of a run, which may differ when a search is resumed; all others are settings of the search.
OF_A_RUN = ("resume", "web", "workers", "as_json")

Web = Annotated[Path | None, typer.Option(help="A recorded web, or a crawl.", rich_help_panel=WHAT)]
Topics = Annotated[Path | None, typer.Option(help="A topic file: TOML or JSON Lines.", rich_help_panel=WHAT)]
TopicIds = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ID",
        help="Crawl for this topic; repeatable, fitness is then the mean over topics.",
        show_default="all of the file",
        rich_help_panel=WHAT,
    ),
]
SkipMissing = Annotated[
    bool,
    typer.Option("--skip-missing", help="Leave out topics that have no start page in the web.", rich_help_panel=WHAT),
]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for the search.", rich_help_panel=WHAT)]
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Continue the search in this folder, however it ended; the folder has its settings.",
        rich_help_panel=WHAT,
    ),
]

Method = Annotated[
    str,
    typer.Option(
        "--search",
        metavar="NAME",
        help="johnson2003, chc or cma, with parameters as in cma:population=20,generations=50.",
        rich_help_panel=SEARCH,
    ),
]
FitnessSum = Annotated[
    str,
    typer.Option(
        "--fitness",
        metavar="SUM",
        help="harvest, new_hosts, distance, target_recall, or a sum as in '0.7*harvest + 0.3*target_recall'.",
        rich_help_panel=SEARCH,
    ),
]
RandomSeed = Annotated[int, typer.Option(help="Seed of the random generator.", rich_help_panel=SEARCH)]
Scores = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="Scores with weights: nine (as in johnson2003), all thirteen, or names such as comm_out,parent_1,anchor.",
        rich_help_panel=SEARCH,
    ),
]
Split = Annotated[
    str,
    typer.Option(
        metavar="BY",
        help="Several rules: distance:2,4 (links from the seeds) or phase:1000 (pages into the crawl).",
        rich_help_panel=SEARCH,
    ),
]
SeedWith = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Add the rules of an earlier evolved.toml to the first population; repeatable.",
        rich_help_panel=SEARCH,
    ),
]
Reevaluate = Annotated[
    bool,
    typer.Option(
        "--reevaluate",
        help="Crawl again for individuals whose fitness is known, as in johnson2003: the same result at full cost.",
        rich_help_panel=SEARCH,
    ),
]

Crawls = Annotated[int, typer.Option(min=1, help="Crawls for each topic.", rich_help_panel=CRAWLS)]
Pages = Annotated[int, typer.Option(min=1, help="Page budget of each crawl.", rich_help_panel=CRAWLS)]
StartPages = Annotated[
    int, typer.Option("--start", min=1, help="Pages each crawl starts from.", rich_help_panel=CRAWLS)
]
SameStart = Annotated[
    bool,
    typer.Option(
        "--same-start/--own-starts",
        help="Start all crawls of a topic from the same pages, or each from its own.",
        rich_help_panel=CRAWLS,
    ),
]
CrawlMode = Annotated[
    str,
    typer.Option(
        "--mode",
        metavar="MODE",
        help="The order in which requested pages return: roulette, sequential or polite, with parameters.",
        rich_help_panel=CRAWLS,
    ),
]
StartTask = Annotated[
    str,
    typer.Option(
        "--task", help="Start from `examples`, or from their `neighbours` two links away.", rich_help_panel=CRAWLS
    ),
]
ClosedWorld = Annotated[
    bool,
    typer.Option("--closed-world", help="Hide links to pages that were not recorded.", rich_help_panel=CRAWLS),
]
FollowNofollow = Annotated[
    bool,
    typer.Option("--follow-nofollow", help="Follow links marked rel=nofollow.", rich_help_panel=CRAWLS),
]
Plain = Annotated[
    bool, typer.Option("--plain", help="Use no compiled code: slower, with the same result.", rich_help_panel=CRAWLS)
]

ModelInfo = Annotated[
    str | None,
    typer.Option(
        "--relevance",
        metavar="MODEL",
        help="Scores pages; `scenthound relevance` lists the models.",
        show_default="svm",
        rich_help_panel=GUIDE,
    ),
]
Threshold = Annotated[
    float, typer.Option(help="Pages with at least this relevance are relevant: between 0 and 1.", rich_help_panel=GUIDE)
]
Train = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="Set up to N examples of each topic aside to train relevance models; they are not targets.",
        rich_help_panel=GUIDE,
    ),
]
TrainFrom = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Train relevance models on the pages of one topic in DIR/positive and DIR/negative.",
        rich_help_panel=GUIDE,
    ),
]
AsPublished = Annotated[
    bool,
    typer.Option(
        "--as-published",
        help="Train relevance models on any example, targets too, as in wang2009.",
        rich_help_panel=GUIDE,
    ),
]
