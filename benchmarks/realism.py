"""Structure of synthetic topical webs and of real collections: degrees, hosts, topical locality of links (2 minutes).

Next to each collection is a synthetic web of the same number of pages, links per page and topics, on one host, with
default settings otherwise; the last column has all defaults, with many hosts. Quantiles are printed as multiples of the
mean, and probabilities of a topic also as multiples of the base rate, because sizes differ.

The synthetic webs have what the collections have in common: exponents of tails, shares of reciprocal links and of links
out of the recording, topics that fade within three or four links. They differ as follows: popularity is less uneven
(half of the pages have up to 0.47 times the mean of in-links, not 0.25 to 0.40; one in a hundred has 8.8 to 9.1 times
the mean, not 9.2 to 11.6; no page is linked from nearly all others), and with few links per page more pages have no
in-links. Topics fade as in wpschools and nlab, faster than in mdn. Each collection is one site, so links between hosts
cannot be compared.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import command_parser
from benchmarks.data import collection, recorded, synthetic_web
from benchmarks.realism_statistics import QUANTILES, Degrees, Realism, realism
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import read_topics
from scenthound.ui.terminal import print_rows

COLLECTIONS = ("wpschools", "nlab", "mdn")
N_WALKS = 200
#: Few, because words are not measured.
WORDS_PER_PAGE = 5
DEFAULT_PAGES = 20_000


def main(arguments: Sequence[str] | None = None) -> None:
    command_parser("realism", __doc__).parse_args(arguments)
    columns: list[str] = []
    measured: list[Realism] = []
    for name in COLLECTIONS:
        folder = collection(name)
        if folder is not None:
            with recorded(folder) as path:
                web = RecordedWeb.open(path)
                measured += [_measured(path), _synthetic(**_size_of(web, len(read_topics(folder / "topics.jsonl"))))]
            columns += [name, "synthetic"]
    measured.append(_synthetic(pages=DEFAULT_PAGES))
    rows = zip(*map(_figures, measured), strict=True)
    table = [[row[0][0], *(figure for _, figure in row)] for row in rows]
    print_rows("real and synthetic webs", ["", *columns, "defaults"], table)


def _size_of(web: RecordedWeb, n_topics: int) -> dict[str, Any]:
    return {
        "pages": web.n_pages,
        "links_per_page": web.n_links / web.n_pages,
        "topics": n_topics,
        "pages_per_host": web.n_pages,
        # The single host has no topic of its own.
        "host_focus": 0.0,
    }


def _synthetic(**settings: Any) -> Realism:
    with synthetic_web(words_per_page=WORDS_PER_PAGE, **settings) as path:
        return _measured(path)


def _measured(path: Path) -> Realism:
    return realism(RecordedWeb.open(path), np.random.default_rng(1), N_WALKS)


def _figures(web: Realism) -> list[tuple[str, str]]:
    """The measures by name."""
    return [
        ("pages", f"{web.pages:,}"),
        ("hosts", f"{web.hosts:,}"),
        ("links between pages", f"{web.links:,}"),
        ("within a host", f"{web.within_host:.2f}"),
        ("reciprocal", f"{web.reciprocal:.2f}"),
        ("to pages not recorded", f"{web.not_recorded:.2f}"),
        *_of_degrees("in-links", web.in_degrees),
        *_of_degrees("out-links", web.out_degrees),
        ("pages with a topic", f"{web.labelled:.2f}"),
        ("topics of such a page", f"{web.labels_per_page:.2f}"),
        ("base rate of a topic", f"{web.base_rate:.3f}"),
        *_by_distance(web),
    ]


def _of_degrees(name: str, degrees: Degrees) -> Iterator[tuple[str, str]]:
    yield f"{name}: mean", f"{degrees.mean:.1f}"
    yield f"{name}: none", f"{degrees.none:.3f}"
    for share, value in zip(QUANTILES, degrees.quantiles, strict=True):
        yield f"{name}: {share:.0%} have at most", f"{value / degrees.mean:.2f} x"
    yield f"{name}: maximum", f"{degrees.most:,}"
    yield f"{name}: exponent of the tail", f"{degrees.tail_exponent:.2f}"


def _by_distance(web: Realism) -> Iterator[tuple[str, str]]:
    for step in web.autocorrelation[1:]:
        ratio = step.chance / web.base_rate
        yield f"same topic after {step.distance} links", f"{step.chance:.3f} = {ratio:.1f} x"


if __name__ == "__main__":
    main()
