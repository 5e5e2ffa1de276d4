"""The options of `scenthound crawl`, in groups: a newcomer needs those of the first, and of it three."""

from pathlib import Path
from typing import Annotated

import typer

WHAT = "What to crawl for"
END = "When to end"
FOLDER = "The crawl's folder, and what is told"
CHOICE = "How pages are chosen"
POLITENESS = "Politeness"
FETCHING = "Fetching"
GUARDS = "Guards, all on unless taken off"
REPLAY = "Replaying a recording"

#: They decide nothing about the crawl itself, so a run that resumes it may have others.
OF_A_RUN = ("resume", "pages", "time", "min_harvest", "log_json", "as_json")

TopicFile = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="A topic file, like --topics.", rich_help_panel=WHAT)
]
TopicsOption = Annotated[
    Path | None,
    typer.Option("--topics", metavar="FILE", help="A topic file: TOML or JSON Lines.", rich_help_panel=WHAT),
]
TopicId = Annotated[
    str | None,
    typer.Option("--topic", metavar="ID", help="Which topic, if the file has several.", rich_help_panel=WHAT),
]
Keywords = Annotated[
    list[str] | None,
    typer.Option(metavar="WORDS", help="What the pages should be about, without a topic file.", rich_help_panel=WHAT),
]
Seeds = Annotated[
    list[str] | None,
    typer.Option(
        "--seed",
        metavar="URL",
        help="A page to start from, instead of the seeds, or else the examples, of the topic file.",
        rich_help_panel=WHAT,
    ),
]
Contact = Annotated[
    str,
    typer.Option(
        metavar="MAIL|URL", help="Who runs the crawl: told to every host, in the user agent.", rich_help_panel=WHAT
    ),
]

Pages = Annotated[
    int | None, typer.Option(min=1, show_default="1000", help="Page budget, kept for later runs.", rich_help_panel=END)
]
Time = Annotated[
    str | None, typer.Option(metavar="SPAN", help="Time for this run: 90, 90s, 10m, 2h or 1d.", rich_help_panel=END)
]
MinHarvest = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="End when the last 200 pages had less mean relevance; kept for later runs, 0 takes it away.",
        rich_help_panel=END,
    ),
]

Out = Annotated[
    Path | None, typer.Option(metavar="DIR", show_default="crawl-TOPIC", help="Folder to make.", rich_help_panel=FOLDER)
]
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Go on with the crawl in this folder, however it ended; its settings are kept there.",
        rich_help_panel=FOLDER,
    ),
]
ReplaceOld = Annotated[
    bool, typer.Option("--force", help="Replace an earlier crawl in the folder.", rich_help_panel=FOLDER)
]
LogJson = Annotated[
    bool,
    typer.Option("--log-json", help="Progress and summary as JSON lines on standard output.", rich_help_panel=FOLDER),
]
SummaryAsJson = Annotated[bool, typer.Option("--json", help="The summary as one JSON object.", rich_help_panel=FOLDER)]

StrategyName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default="otie",
        help="name or name:parameter=value,...; `scenthound strategies` lists them.",
        rich_help_panel=CHOICE,
    ),
]
RelevanceModel = Annotated[
    str | None,
    typer.Option(
        "--relevance",
        metavar="MODEL",
        show_default="the strategy's own, if it need not learn; else cosine",
        help="What scores pages and links; `scenthound relevance` lists them.",
        rich_help_panel=CHOICE,
    ),
]
TrainFrom = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Let a classifier learn from DIR/positive and DIR/negative: .html, .htm, .txt pages.",
        rich_help_panel=CHOICE,
    ),
]
StrictOrder = Annotated[
    bool,
    typer.Option(
        "--strict-order",
        help="Wait for the page that the strategy wants most, even if its host rests: slow, and the order of a "
        "simulated crawl.",
        rich_help_panel=CHOICE,
    ),
]
RandomSeed = Annotated[int, typer.Option(help="Seed of what is random in the strategy.", rich_help_panel=CHOICE)]

UserAgent = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default="Scenthound",
        help="The crawler's name: in the user agent, and where robots.txt files speak to it. Letters, _ and -.",
        rich_help_panel=POLITENESS,
    ),
]
Delay = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=0.0,
        help="Least rest of a host between two requests. It may ask for more, and slow hosts rest longer.",
        rich_help_panel=POLITENESS,
    ),
]
PagesPerHost = Annotated[int | None, typer.Option(min=1, help="Most pages of one host.", rich_help_panel=POLITENESS)]
PagesPerDomain = Annotated[
    int | None, typer.Option(min=1, help="Most pages of one registrable domain.", rich_help_panel=POLITENESS)
]
FollowNofollow = Annotated[
    bool,
    typer.Option("--follow-nofollow", help="Follow links that ask not to be followed.", rich_help_panel=POLITENESS),
]

Connections = Annotated[
    int, typer.Option(min=1, help="Requests in flight, all hosts together.", rich_help_panel=FETCHING)
]
Timeout = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=0.1, show_default="30", help="For one page.", rich_help_panel=FETCHING),
]
PageBytes = Annotated[
    int | None,
    typer.Option(min=1, show_default="2000000", help="Bytes kept of a page, decompressed.", rich_help_panel=FETCHING),
]
AsStudies = Annotated[
    bool,
    typer.Option("--as-studies", help="The studies' fetch rules: 10 s, 100 KB of a page.", rich_help_panel=FETCHING),
]
Redirects = Annotated[int, typer.Option(min=0, help="Redirects followed for one page.", rich_help_panel=FETCHING)]
Sitemaps = Annotated[
    bool, typer.Option("--sitemaps", help="Take links from sitemaps as well.", rich_help_panel=FETCHING)
]
HostsFile = Annotated[
    Path | None,
    typer.Option("--hosts", metavar="FILE", help="Addresses of hosts, as in /etc/hosts.", rich_help_panel=FETCHING),
]

AllowPrivate = Annotated[
    bool,
    typer.Option("--allow-private", help="Connect to addresses that are not public, too.", rich_help_panel=GUARDS),
]
NoTraps = Annotated[bool, typer.Option("--no-traps", help="Do not look for crawler traps.", rich_help_panel=GUARDS)]
KeepDuplicates = Annotated[
    bool, typer.Option("--keep-duplicates", help="Take pages that nearly repeat others.", rich_help_panel=GUARDS)
]
KeepSoft404s = Annotated[
    bool, typer.Option("--keep-soft-404s", help="Take pages that say there is no page.", rich_help_panel=GUARDS)
]

Web = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="A recorded web, or a crawl: its pages are read there, and only what it lacks is fetched.",
        rich_help_panel=REPLAY,
    ),
]
Offline = Annotated[bool, typer.Option("--offline", help="Fetch nothing that it lacks.", rich_help_panel=REPLAY)]
