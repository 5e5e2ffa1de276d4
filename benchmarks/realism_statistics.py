"""Statistics of a recorded web, to compare synthetic webs with real ones.

Rules
- Links are counted between pages: aliases followed, each pair once, without links of a page to itself and nofollow
  links.
- The exponent of a tail is the maximum likelihood estimate for a power law of the largest tenth of the degrees:
  1 + n / sum of ln(x / (x_min - 1/2)) (Clauset, Shalizi, Newman: Power-law distributions in empirical data, 2009,
  Eq. 3.7).
- The topic of a page is one of its labels. Topic locality along links is estimated from randomly drawn pages, by the
  topics of the pages at each distance from them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scenthound.errors import InvalidInput
from scenthound.metrics.page_graph import PageGraph
from scenthound.model import BoolArray, FloatArray, IntArray, LongArray
from scenthound.store.recorded_web import RecordedWeb

MOST_DISTANCE = 5
TAIL_SHARE = 0.1
QUANTILES = (0.1, 0.5, 0.9, 0.99)


@dataclass(frozen=True, slots=True)
class Degrees:
    """The distribution of links per page."""

    mean: float
    none: float  #: share of pages without any
    quantiles: tuple[float, ...]  #: at QUANTILES
    most: int
    tail_exponent: float  #: NaN if there is no tail


@dataclass(frozen=True, slots=True)
class TopicAtDistance:
    """The mean probability that a page at a distance from a page of a topic is of it, and the number of such pages."""

    distance: int
    chance: float  #: NaN if nothing is that far away
    pages: float


@dataclass(frozen=True, slots=True)
class Realism:
    """`labelled` is the share of pages with a topic, `base_rate` the probability that any page is of the topic of
    another, and `autocorrelation` that probability by distance."""

    pages: int
    links: int
    hosts: int
    in_degrees: Degrees
    out_degrees: Degrees
    within_host: float
    reciprocal: float  #: share of links whose target links back
    not_recorded: float  #: share of links to URLs that are not recorded, duplicates counted
    labelled: float
    labels_per_page: float  #: of those that have any
    base_rate: float
    autocorrelation: tuple[TopicAtDistance, ...]


def realism(web: RecordedWeb, rng: np.random.Generator, n_walks: int = 200) -> Realism:
    """Measure a web; InvalidInput if no page has a label."""
    links = page_links(web)
    n_in, n_out = np.bincount(links.target, minlength=web.n_pages), np.diff(links.offset)
    source = np.repeat(np.arange(web.n_pages), n_out)
    host = web.url_host[: web.n_pages]
    n_labels = np.diff(web.label_offset)
    if not len(web.label):
        raise InvalidInput("No page of this web has a label, so topic locality along links cannot be measured.")
    base_rate, autocorrelation = topic_by_distance(web, links, rng, n_walks)
    return Realism(
        pages=web.n_pages,
        links=len(links.target),
        hosts=len(np.unique(host)),
        in_degrees=degrees_of(n_in),
        out_degrees=degrees_of(n_out),
        within_host=_share(host[source] == host[links.target]),
        reciprocal=_share(_is_reciprocal(source, links)),
        not_recorded=_share(web.url_page[web.link_url] < 0),
        labelled=_share(n_labels > 0),
        labels_per_page=float(n_labels[n_labels > 0].mean()),
        base_rate=base_rate,
        autocorrelation=autocorrelation,
    )


def page_links(web: RecordedWeb) -> PageGraph:
    """The links that are counted."""
    source = np.repeat(np.arange(web.n_pages, dtype=np.int32), np.diff(web.link_offset))
    target = web.url_page[web.link_url]
    target[(target == source) | web.link_nofollow] = -1
    return PageGraph.of(web.link_offset, target)


def degrees_of(n_links: LongArray) -> Degrees:
    return Degrees(
        mean=float(n_links.mean()),
        none=_share(n_links == 0),
        quantiles=tuple(np.quantile(n_links, QUANTILES).tolist()),
        most=int(n_links.max()),
        tail_exponent=tail_exponent(n_links),
    )


def tail_exponent(values: LongArray) -> float:
    """The exponent for the largest tenth of the values; NaN if they are all equal, or 0."""
    least = max(1, int(np.quantile(values, 1 - TAIL_SHARE)))
    tail = values[values >= least]
    if not len(tail) or tail.max() == least:
        return float("nan")
    return 1.0 + len(tail) / float(np.log(tail / (least - 0.5)).sum())


def topic_by_distance(
    web: RecordedWeb, links: PageGraph, rng: np.random.Generator, n_walks: int
) -> tuple[float, tuple[TopicAtDistance, ...]]:
    """The probability that any page is of a topic, and the same by distance from a page of it; means over walks."""
    of_topic = np.zeros(web.n_pages, np.bool_)
    chances = np.full((n_walks, MOST_DISTANCE + 1), np.nan)
    n_pages = np.zeros((n_walks, MOST_DISTANCE + 1))
    base_rates = np.zeros(n_walks)
    label_page = np.repeat(np.arange(web.n_pages), np.diff(web.label_offset))
    for walk, drawn in enumerate(rng.integers(0, len(web.label), n_walks).tolist()):
        of_topic[:] = False
        of_topic[label_page[web.label == web.label[drawn]]] = True
        base_rates[walk] = _share(of_topic)
        for distance, pages in enumerate(_levels(links, int(label_page[drawn]))):
            chances[walk, distance], n_pages[walk, distance] = _share(of_topic[pages]), len(pages)
    return float(base_rates.mean()), tuple(
        TopicAtDistance(distance, _mean_known(chances[:, distance]), float(n_pages[:, distance].mean()))
        for distance in range(MOST_DISTANCE + 1)
    )


def _levels(links: PageGraph, start: int) -> Iterator[IntArray]:
    """The pages at distance 0, 1, 2, ... from a page, as long as there are any."""
    is_new = np.ones(links.n_pages, np.bool_)
    level: IntArray = np.array([start], np.int32)
    for _ in range(MOST_DISTANCE + 1):
        if not len(level):
            return
        yield level
        is_new[level] = False
        is_next = np.zeros(links.n_pages, np.bool_)
        is_next[links.targets_of(level)] = True
        level = np.flatnonzero(is_next & is_new).astype(np.int32)


def _is_reciprocal(source: LongArray, links: PageGraph) -> BoolArray:
    there = source * links.n_pages + links.target
    back = np.sort(links.target.astype(np.int64) * links.n_pages + source)
    # Both are ascending, so that the search has good locality.
    index = np.searchsorted(back, there)
    is_there: BoolArray = back[index.clip(max=len(back) - 1)] == there
    return is_there


def _share(holds: BoolArray) -> float:
    return float(np.count_nonzero(holds) / len(holds)) if len(holds) else float("nan")


def _mean_known(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
