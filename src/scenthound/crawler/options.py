"""The options of live crawls. An option that the crawler needs as it is given is a field of `CrawlChoices`, which
`CrawlSettings` inherits."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from scenthound.errors import InvalidParameter, UsageError
from scenthound.options import (
    SEED_HELP,
    FolderLike,
    FollowNofollow,
    Option,
    PathLike,
    PluginLike,
    ProgressLike,
    PythonOnly,
    RandomSeed,
    TopicLike,
    TrainFrom,
    installed,
)

DEFAULT_PAGES = 1_000
#: Found the most targets with the default relevance model: `python -m benchmarks.default_strategy`.
DEFAULT_STRATEGY = "link_context"
#: Chosen on synthetic webs: `python -m benchmarks.patience`.
DEFAULT_PATIENCE = 0.7


@dataclass(frozen=True, kw_only=True)
class CrawlChoices:
    """Options that are stored with a crawl under their own names.

    What to crawl for:
        contact: Who runs the crawl; sent to every host in the user agent.
    Strategy:
        strict_order: Request one page at a time, always the best, even if its host has to wait: slow, but in the
            order of a simulated crawl.
    Fetching:
        connections: Maximum number of requests in flight.
        redirects: Redirects followed for one page.
    Access:
        proxy_from_environment: Use the proxies of http_proxy, https_proxy, all_proxy and no_proxy.
    Safeguards, on by default:
        allow_private: Allow connections to private addresses.
    Replay a recording:
        offline: Fetch nothing.
    """

    contact: Annotated[str, Option(metavar="MAIL|URL")] = ""
    strict_order: bool = False
    connections: Annotated[int, Option(ge=1)] = 16
    redirects: Annotated[int, Option(ge=0)] = 5
    proxy_from_environment: bool = False
    allow_private: bool = False
    offline: bool = False


@dataclass(frozen=True, kw_only=True)
class Ends:
    """When a crawl stops; may differ each time it is resumed.

    When to stop:
        pages: Stop after this many pages; kept for later runs.
        time: Stop this run after 90, 90s, 10m, 2h or 1d.
        min_harvest: Stop when the mean relevance of the last 200 pages is lower; kept for later runs, 0 removes it.
        until_recall: Stop when this share of the reachable pages on topic is likely to be found, by an estimate; kept
            for later runs, 0 removes it.
    """

    pages: Annotated[int | None, Option(ge=1, shown=str(DEFAULT_PAGES), stored="page_budget")] = None
    time: Annotated[str | float | None, Option(metavar="SPAN")] = None
    min_harvest: Annotated[float | None, Option(ge=0, le=1)] = None
    until_recall: Annotated[float | None, Option(ge=0, le=1)] = None


@dataclass(frozen=True, kw_only=True)
class Machines:
    """Where a crawl runs, which may differ each time it is resumed.

    Output:
        commit_log: Also write each commit to this folder or URL in common storage. With --resume, a crawl folder that
            is not on this machine is rebuilt from it.
    Several machines:
        cluster: Crawl on the Ray cluster at host:port, or on one of this machine. All nodes must see the crawl
            folder, or --commit-log.
        shards: How many processes of the cluster crawl together, each with the hosts of some domains and with
            --connections of its own.
    """

    commit_log: Annotated[PathLike | None, Option(metavar="DIR|URL", type=str)] = None
    cluster: Annotated[str | None, Option(metavar="ADDRESS|local")] = None
    #: More would be mostly messages.
    shards: Annotated[int | None, Option(ge=1, le=4096, shown="1")] = None

    def check(self) -> None:
        if self.shards is not None and self.cluster is None:
            raise UsageError("--shards needs --cluster: the address of a Ray cluster, or local.")


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """What may be renewed when a crawl is resumed.

    Access:
        proxy: Send all requests through this proxy: http, https, socks5 or socks5h.
        header: Send this header to hosts of the seeds' domains, and to no others; repeatable.
    """

    proxy: Annotated[str | None, Option(metavar="URL")] = None
    header: Annotated[str | Sequence[str], Option(metavar="'NAME: VALUE'", stored="headers")] = ()


@dataclass(frozen=True, kw_only=True)
class Models:
    """What decides the order of pages.

    Strategy:
        strategy: name or name:parameter=value,...; `scenthound strategies` lists them.
        relevance: Scores pages and links; `scenthound relevance` lists the models.
    """

    strategy: Annotated[
        PluginLike | None, Option(metavar="NAME", shown=DEFAULT_STRATEGY, values=installed("strategies"))
    ] = None
    relevance: Annotated[
        PluginLike | None,
        Option(metavar="MODEL", values=installed("relevance"), shown="rocchio; for evolved:file=..., that of the file"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class CrawlOptions(CrawlChoices, Ends, Machines, Credentials, Models):
    """A crawl, apart from its topic and start pages.

    What to crawl for:
        topic_id: Which topic, if the file has several.
        contact
    When to stop:
        pages, time, min_harvest, until_recall
    Scope:
        allow_domain: Crawl only hosts of this domain and its subdomains; repeatable.
        deny_domain: Crawl no host of this domain and its subdomains; repeatable.
        include: Crawl only URLs that match: '*/docs/*', where * stands for any characters, or a regular expression,
            're:/docs/[0-9]+'; repeatable.
        exclude: Crawl no URLs that match, like --include; repeatable.
        max_depth: Crawl only pages that are at most this many links from the nearest seed.
    Output:
        out: Crawl folder.
        force: Replace an earlier crawl in the folder.
        commit_log
    Several machines:
        cluster, shards
    Strategy:
        strategy, relevance, train_from
        patience: From 0, idle connections take the best page of any host that is ready, to 1, they wait for the best
            page of all: fast, or in order.
        strict_order, random_seed
    Politeness:
        user_agent: Product token, in the user agent and for robots.txt rules: letters, _ and -.
        delay: Minimum delay between two requests to a host; Crawl-delay and slow hosts lengthen it.
        pages_per_host: Maximum number of pages of one host.
        pages_per_domain: Maximum number of pages of one registrable domain.
        follow_nofollow
    Fetching:
        connections
        timeout: Time limit of one request.
        page_bytes: Bytes read of a page, decompressed.
        as_studies: Use the limits of the studies: 10 s and 100 KB per page.
        redirects
        sitemaps: Read the sitemaps that robots.txt files name.
        render: Render pages in a browser. auto: those with scripts and less than 200 characters of text, as long as
            that pays on their host; always: all with scripts.
        hosts: Addresses of hosts, in the format of /etc/hosts.
    Access:
        proxy, proxy_from_environment, header
        cookie_file: Send these cookies: a cookies.txt file (Netscape format).
    Safeguards, on by default:
        no_traps: Do not detect crawler traps.
        no_throttle: Do not throttle hosts and domains that bring nothing on topic.
        keep_duplicates: Keep near-duplicates.
        keep_soft_404s: Keep soft 404s.
    Replay a recording:
        web: Read pages from this recorded web or crawl, and fetch only pages that it lacks.
    """

    topic_id: Annotated[str | None, Option(metavar="ID", flag="--topic")] = None
    allow_domain: Annotated[str | Sequence[str], Option(metavar="DOMAIN", stored="scope.allow_domains")] = ()
    deny_domain: Annotated[str | Sequence[str], Option(metavar="DOMAIN", stored="scope.deny_domains")] = ()
    include: Annotated[str | Sequence[str], Option(metavar="PATTERN", stored="scope.include")] = ()
    exclude: Annotated[str | Sequence[str], Option(metavar="PATTERN", stored="scope.exclude")] = ()
    max_depth: Annotated[int | None, Option(ge=0, stored="scope.max_depth")] = None
    out: Annotated[PathLike | None, Option(metavar="DIR", shown="crawl-TOPIC")] = None
    force: bool = False
    train_from: TrainFrom = None
    patience: Annotated[float | None, Option(ge=0, le=1, shown=str(DEFAULT_PATIENCE))] = None
    random_seed: RandomSeed = 0
    user_agent: Annotated[str | None, Option(metavar="NAME", shown="Scenthound", stored="agent")] = None
    delay: Annotated[float, Option(metavar="SECONDS", ge=0, le=86_400, stored="politeness.delay_s")] = 1.0
    pages_per_host: Annotated[int | None, Option(ge=1, stored="politeness.pages_per_host")] = None
    pages_per_domain: Annotated[int | None, Option(ge=1, stored="politeness.pages_per_domain")] = None
    follow_nofollow: FollowNofollow = False
    timeout: Annotated[
        float | None, Option(metavar="SECONDS", ge=0.1, le=86_400, shown="30", stored="limits.total_s")
    ] = None
    page_bytes: Annotated[int | None, Option(ge=1, shown="2000000", stored="limits.body_bytes")] = None
    as_studies: bool = False
    sitemaps: Annotated[
        bool | None, Option(flag="--sitemaps/--no-sitemaps", shown="on, but off with --strict-order")
    ] = None
    render: Annotated[
        str | None,
        Option(
            metavar="auto|always|never",
            shown="auto with the extra `browser` and Chromium, otherwise never",
            values=lambda: ("auto", "always", "never"),
        ),
    ] = None
    hosts: Annotated[PathLike | Mapping[str, str] | None, Option(metavar="FILE")] = None
    cookie_file: Annotated[PathLike | None, Option(metavar="FILE")] = None
    no_traps: Annotated[bool, Option(stored="!traps")] = False
    no_throttle: Annotated[bool, Option(stored="!throttle")] = False
    keep_duplicates: Annotated[bool, Option(stored="!near_duplicates")] = False
    keep_soft_404s: Annotated[bool, Option(stored="!soft_404s")] = False
    web: Annotated[FolderLike | None, Option(metavar="DIR", type=Path)] = None
    progress: PythonOnly[ProgressLike] = None

    def check(self) -> None:
        if self.until_recall == 0:
            raise InvalidParameter("--until-recall 0 would stop at once: give a recall up to 1, for example 0.8.")
        if self.strict_order and self.patience is not None:
            raise UsageError(
                "--patience has no effect with --strict-order, which waits for the best page however long it takes: "
                "remove one of them."
            )
        if self.cluster is not None and self.render not in (None, "never"):
            raise UsageError("--render cannot be used with --cluster: shards have no browser.")


@dataclass(frozen=True)
class CrawlArguments(CrawlOptions):
    """A crawl with its topic and start pages."""

    topic: PythonOnly[TopicLike]
    seeds: Annotated[str | Sequence[str], Option(SEED_HELP, metavar="URL", flag="--seed")] = ()


@dataclass(frozen=True)
class ResumeArguments(Ends, Machines, Credentials, Models):
    """What may differ when a crawl is resumed."""

    crawl: PythonOnly[FolderLike]
    _: KW_ONLY
    progress: PythonOnly[ProgressLike] = None


@dataclass(frozen=True)
class RefreshArguments:
    """How the pages of a crawl are checked again.

    pages: How many pages are checked.
    time: Stop this run after 90, 90s, 10m, 2h or 1d.
    """

    crawl: PythonOnly[FolderLike]
    _: KW_ONLY
    pages: Annotated[int | None, Option(ge=1, shown="all")] = None
    time: Annotated[str | float | None, Option(metavar="SPAN")] = None
    progress: PythonOnly[ProgressLike] = None
