"""The options of `scenthound crawl`, in groups; the first group is enough to start."""

from pathlib import Path
from typing import Annotated

import typer

WHAT = "What to crawl for"
END = "When to stop"
FOLDER = "Output"
CHOICE = "Strategy"
POLITENESS = "Politeness"
FETCHING = "Fetching"
GUARDS = "Safeguards, on by default"
REPLAY = "Replay a recording"

#: Options of a run, which may differ when a crawl is resumed; all others are settings of the crawl.
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
    typer.Option(
        metavar="WORDS", help="Keywords of the topic, instead of a topic file; repeatable.", rich_help_panel=WHAT
    ),
]
Seeds = Annotated[
    list[str] | None,
    typer.Option(
        "--seed",
        metavar="URL",
        help="A page to start from; repeatable. Replaces the seeds or examples of the topic file.",
        rich_help_panel=WHAT,
    ),
]
Contact = Annotated[
    str,
    typer.Option(
        metavar="MAIL|URL", help="Who runs the crawl; sent to every host in the user agent.", rich_help_panel=WHAT
    ),
]

Pages = Annotated[
    int | None,
    typer.Option(
        min=1, show_default="1000", help="Stop after so many pages; kept for later runs.", rich_help_panel=END
    ),
]
Time = Annotated[
    str | None, typer.Option(metavar="SPAN", help="Stop this run after 90, 90s, 10m, 2h or 1d.", rich_help_panel=END)
]
MinHarvest = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="Stop when the mean relevance of the last 200 pages is lower; kept for later runs, 0 removes it.",
        rich_help_panel=END,
    ),
]

Out = Annotated[
    Path | None, typer.Option(metavar="DIR", show_default="crawl-TOPIC", help="Crawl folder.", rich_help_panel=FOLDER)
]
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Continue the crawl in this folder, however it ended; the folder has its settings.",
        rich_help_panel=FOLDER,
    ),
]
ReplaceOld = Annotated[
    bool, typer.Option("--force", help="Replace an earlier crawl in the folder.", rich_help_panel=FOLDER)
]
LogJson = Annotated[
    bool,
    typer.Option(
        "--log-json", help="Print progress and summary as JSON lines on standard output.", rich_help_panel=FOLDER
    ),
]
SummaryAsJson = Annotated[
    bool, typer.Option("--json", help="Print the summary as one JSON object.", rich_help_panel=FOLDER)
]

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
        show_default="the strategy's own, or cosine if that needs training",
        help="Scores pages and links; `scenthound relevance` lists the models.",
        rich_help_panel=CHOICE,
    ),
]
TrainFrom = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Train the relevance model on the .html, .htm and .txt pages in DIR/positive and DIR/negative.",
        rich_help_panel=CHOICE,
    ),
]
StrictOrder = Annotated[
    bool,
    typer.Option(
        "--strict-order",
        help="Always wait for the best page, even if its host has to wait: slow, but in the order of a simulated "
        "crawl.",
        rich_help_panel=CHOICE,
    ),
]
RandomSeed = Annotated[int, typer.Option(help="Seed of the random generator.", rich_help_panel=CHOICE)]

UserAgent = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default="Scenthound",
        help="Product token, in the user agent and for robots.txt rules: letters, _ and -.",
        rich_help_panel=POLITENESS,
    ),
]
Delay = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=0.0,
        help="Minimum delay between two requests to a host; Crawl-delay and slow hosts lengthen it.",
        rich_help_panel=POLITENESS,
    ),
]
PagesPerHost = Annotated[
    int | None, typer.Option(min=1, help="Maximum number of pages of one host.", rich_help_panel=POLITENESS)
]
PagesPerDomain = Annotated[
    int | None,
    typer.Option(min=1, help="Maximum number of pages of one registrable domain.", rich_help_panel=POLITENESS),
]
FollowNofollow = Annotated[
    bool,
    typer.Option("--follow-nofollow", help="Follow links marked rel=nofollow.", rich_help_panel=POLITENESS),
]

Connections = Annotated[
    int, typer.Option(min=1, help="Maximum number of requests in flight.", rich_help_panel=FETCHING)
]
Timeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", min=0.1, show_default="30", help="Time limit of one request.", rich_help_panel=FETCHING
    ),
]
PageBytes = Annotated[
    int | None,
    typer.Option(min=1, show_default="2000000", help="Bytes read of a page, decompressed.", rich_help_panel=FETCHING),
]
AsStudies = Annotated[
    bool,
    typer.Option(
        "--as-studies", help="Use the limits of the studies: 10 s and 100 KB per page.", rich_help_panel=FETCHING
    ),
]
Redirects = Annotated[int, typer.Option(min=0, help="Redirects followed for one page.", rich_help_panel=FETCHING)]
Sitemaps = Annotated[bool, typer.Option("--sitemaps", help="Read sitemaps for links.", rich_help_panel=FETCHING)]
HostsFile = Annotated[
    Path | None,
    typer.Option(
        "--hosts", metavar="FILE", help="Addresses of hosts, in the format of /etc/hosts.", rich_help_panel=FETCHING
    ),
]

AllowPrivate = Annotated[
    bool,
    typer.Option("--allow-private", help="Allow connections to private addresses.", rich_help_panel=GUARDS),
]
NoTraps = Annotated[bool, typer.Option("--no-traps", help="Do not detect crawler traps.", rich_help_panel=GUARDS)]
KeepDuplicates = Annotated[
    bool, typer.Option("--keep-duplicates", help="Keep near-duplicates.", rich_help_panel=GUARDS)
]
KeepSoft404s = Annotated[bool, typer.Option("--keep-soft-404s", help="Keep soft 404s.", rich_help_panel=GUARDS)]

Web = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Read pages from this recorded web or crawl, and fetch only pages that it lacks.",
        rich_help_panel=REPLAY,
    ),
]
Offline = Annotated[bool, typer.Option("--offline", help="Fetch nothing.", rich_help_panel=REPLAY)]
