"""Is `scent` better than other strategies where it was not fitted? Mean target recall under many conditions (3
hours; with --quick 15 minutes).

`scent` was fitted on wpschools and mdn: its rows there are for topics that it has seen. Other webs were not used for
any choice: nlab, and two webs of many hosts (`benchmarks.many_hosts`); more than half of the links of the made-up one
are dead. The mean is over the first 2,000 pages of a crawl, 1,000 on webs of many hosts, and over topics. In the base
condition crawls start from ten pages of the topic and visit one page after the other, with the default relevance model
and frontiers without bound. Each other condition changes one thing. `scenthound compare` does the work: differences are
in pairs of crawls from the same start, p is corrected by Holm's method for all comparisons with the best.

The folder keeps recorded webs and crawls, so that a second run makes only what is missing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import scenthound as sh
from benchmarks import command_parser
from benchmarks.data import COLLECTIONS
from benchmarks.many_hosts import DEBDOCS, MADE_UP
from benchmarks.many_hosts import main as make_many_hosts
from benchmarks.relevance import recorded_webs
from scenthound.api.laboratory import Comparison
from scenthound.crawler.options import DEFAULT_PATIENCE

BY = "area:of=target_recall"
#: `pagerank`, `keyword_pagerank` and `infospiders` are slow and were behind in every earlier comparison; `evolved` is
#: `rank_function` without a file.
ALL = (
    "scent",
    "best_first",
    "best_n_first:n=16",
    "best_n_first:n=64",
    "adaptive_n_first",
    "fish_search:threshold=0.5",
    "shark_search",
    "link_context",
    "opic",
    "otie",
    "hub_otie",
    "rank_function",
)
LEADING = ("scent", "best_first", "shark_search", "link_context", "otie", "hub_otie")
BOUNDED = tuple(f"{name}:buffer=256" for name in ("scent", "best_first", "shark_search", "link_context"))
POLITE = f"polite:workers=16,patience={DEFAULT_PATIENCE:g}"


@dataclass(frozen=True, slots=True)
class Condition:
    """What is changed, and the strategies that are compared."""

    name: str
    strategies: tuple[str, ...] = LEADING
    options: dict[str, Any] = field(default_factory=dict)


BASE = Condition("base", ALL)
CONDITIONS = (
    BASE,
    Condition("1 start page", options={"start": 1}),
    Condition("3 start pages", options={"start": 3}),
    Condition("starts two links away", options={"task": "neighbours"}),
    Condition("polite", options={"mode": POLITE}),
    Condition("frontier of 256", BOUNDED),
    Condition("words of similar meaning", options={"relevance": "rocchio:semantic=true"}),
    Condition("cosine", options={"relevance": "cosine"}),
    Condition("svm", options={"relevance": "svm"}),
)
#: Politeness changes nothing on a single host but the time.
WEBS: dict[str, tuple[Condition, ...]] = {
    "wpschools": (BASE,),
    "mdn": (BASE,),
    "nlab": tuple(each for each in CONDITIONS if each.name != "polite"),
    DEBDOCS: CONDITIONS,
    MADE_UP: CONDITIONS,
}
N_PAGES, N_PAGES_MANY_HOSTS = 2000, 1000


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_parser("judging", __doc__)
    parser.add_argument("folder", type=Path, help="folder for recorded webs and crawls")
    parser.add_argument("--webs", nargs="+", choices=WEBS, default=list(WEBS), metavar="WEB")
    parser.add_argument("--conditions", nargs="+", choices=[each.name for each in CONDITIONS], metavar="CONDITION")
    parser.add_argument("--repeats", type=int, default=5, help="starts of each topic")
    parser.add_argument("--quick", action="store_true", help="15 topics, one start each, a quarter of the pages")
    options = parser.parse_args(arguments)
    for name in options.webs:
        found = prepared(name, options.folder)
        if found is None:
            print(f"  skipped: collection of {name} not found in ../shared/data")
            continue
        settings = crawl_settings(name, options)
        for condition in WEBS[name]:
            if options.conditions is None or condition.name in options.conditions:
                out = options.folder / "crawls" / f"{name}, {condition.name}".replace(" ", "_")
                print_table(name, condition, compared(found, condition, out, settings))


def prepared(name: str, folder: Path) -> tuple[Path, Path] | None:
    """A recorded web, made if it is missing, and its topics; None if its collection is absent."""
    if name in (DEBDOCS, MADE_UP):
        web, topics = folder / name / "web", folder / name / "topics.jsonl"
        if not web.exists():
            make_many_hosts([str(folder)])
        return (web, topics) if web.exists() else None
    if not (COLLECTIONS / name).is_dir():
        return None
    return recorded_webs([name], folder / "webs")[name], COLLECTIONS / name / "topics.jsonl"


def crawl_settings(name: str, options: Any) -> dict[str, Any]:
    """The page budget, and the numbers of topics and starts."""
    n_pages = N_PAGES_MANY_HOSTS if name in (DEBDOCS, MADE_UP) else N_PAGES
    if options.quick:
        return {"pages": n_pages // 4, "repeats": 1, "topics_max": 15}
    return {"pages": n_pages, "repeats": options.repeats, "topics_max": 10_000}


def compared(web: tuple[Path, Path], condition: Condition, out: Path, settings: dict[str, Any]) -> Comparison:
    chosen = {"mode": "sequential", "skip_missing": True, **settings, **condition.options}
    return sh.compare(*web, list(condition.strategies), by=BY, out=out, progress=True, **chosen)


def print_table(web: str, condition: Condition, comparison: Comparison) -> None:
    print(f"  {web}, {condition.name}: {len(comparison.compared.topics)} topics")
    print("| strategy | mean | minus the best | 95 % interval | p |")
    print("|---|---|---|---|---|")
    for row in rows_of(comparison):
        print(f"| {' | '.join(row)} |")


def rows_of(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    for each in comparison.ranking:
        if each.rank == 1:
            yield f"`{each.strategy}`", f"{each.mean:.3f}", "", "", ""
        else:
            interval = f"{each.low:+.3f} to {each.high:+.3f}"
            yield f"`{each.strategy}`", f"{each.mean:.3f}", f"{each.difference:+.3f}", interval, f"{each.p:.3f}"


if __name__ == "__main__":
    main()
