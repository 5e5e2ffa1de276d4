"""Made-up topical webs beside the real collections, measured alike: degrees, hosts, and how topics live on along links.

Beside each collection stands a web of its size: as many pages, links a page and topics, on one host, all other settings
at their defaults; the last column has the defaults alone, with many hosts. Quantiles are multiples of the mean, and
chances of the topic multiples of the base rate too, because sizes differ.

What the collections agree on, the made-up webs have too: exponents of tails, links both ways and out of the recording,
topics that fade within three or four links. Where they differ: popularity is less uneven (half of the pages have up to
0.47 times the mean of in-links, not 0.25 to 0.40; one in a hundred has 8.8 to 9.1 times it, not 9.2 to 11.6; no page is
linked to by nearly all), and with few links a page more pages have none to them. Topics fade as in wpschools and nlab,
faster than in mdn. Each collection is one site, so nothing here tells whether links between hosts are as in reality.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import collection, recorded
from scenthound.experiments.realism import QUANTILES, Degrees, Realism, realism
from scenthound.store.recorded_web import RecordedWeb
from scenthound.testing import topical_web
from scenthound.topics.files import read_topics
from scenthound.ui.terminal import print_rows

COLLECTIONS = ("wpschools", "nlab", "mdn")
N_WALKS = 200
#: Few, because nothing here reads words.
WORDS_PER_PAGE = 5
DEFAULT_PAGES = 20_000


def main() -> None:
    columns: list[str] = []
    measured: list[Realism] = []
    for name in COLLECTIONS:
        folder = collection(name)
        if folder is not None:
            with recorded(folder) as path:
                web = RecordedWeb.open(path)
                measured += [_measured(path), _made(**_size_of(web, len(read_topics(folder / "topics.jsonl"))))]
            columns += [name, "made up"]
    measured.append(_made(pages=DEFAULT_PAGES))
    rows = zip(*map(_figures, measured), strict=True)
    table = [[row[0][0], *(figure for _, figure in row)] for row in rows]
    print_rows("real and made-up webs", ["", *columns, "defaults"], table)


def _size_of(web: RecordedWeb, n_topics: int) -> dict[str, Any]:
    return {
        "pages": web.n_pages,
        "links_per_page": web.n_links / web.n_pages,
        "topics": n_topics,
        "pages_per_host": web.n_pages,
        # The one host has no topic of its own.
        "host_focus": 0.0,
    }


def _made(**settings: Any) -> Realism:
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as place:
        topical_web(Path(place) / "web", words_per_page=WORDS_PER_PAGE, **settings)
        return _measured(Path(place) / "web")


def _measured(path: Path) -> Realism:
    return realism(RecordedWeb.open(path), np.random.default_rng(1), N_WALKS)


def _figures(web: Realism) -> list[tuple[str, str]]:
    """What is measured, and how much it is."""
    return [
        ("pages", f"{web.pages:,}"),
        ("hosts", f"{web.hosts:,}"),
        ("links between pages", f"{web.links:,}"),
        ("within a host", f"{web.within_host:.2f}"),
        ("linked both ways", f"{web.reciprocal:.2f}"),
        ("to what is not recorded", f"{web.not_recorded:.2f}"),
        *_of_degrees("in-links", web.in_degrees),
        *_of_degrees("out-links", web.out_degrees),
        ("pages with a label", f"{web.labelled:.2f}"),
        ("labels of these", f"{web.labels_per_page:.2f}"),
        ("base rate of a topic", f"{web.base_rate:.3f}"),
        *_by_distance(web),
    ]


def _of_degrees(name: str, degrees: Degrees) -> Iterator[tuple[str, str]]:
    yield f"{name}: mean", f"{degrees.mean:.1f}"
    yield f"{name}: none", f"{degrees.none:.3f}"
    for share, value in zip(QUANTILES, degrees.quantiles, strict=True):
        yield f"{name}: {share:.0%} have at most", f"{value / degrees.mean:.2f} x"
    yield f"{name}: most", f"{degrees.most:,}"
    yield f"{name}: exponent of the tail", f"{degrees.tail_exponent:.2f}"


def _by_distance(web: Realism) -> Iterator[tuple[str, str]]:
    for at in web.autocorrelation[1:]:
        times = at.chance / web.base_rate
        yield f"of the topic {at.distance} links on", f"{at.chance:.3f} = {times:.1f} x"


if __name__ == "__main__":
    main()
