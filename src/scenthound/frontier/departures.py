"""What the pages of one shard of a crawl find for other shards.

A crawl may be split into shards, each of which is home to some of the pages. A shard queues only pages at home. Links
to other pages *depart*: they are kept until they are taken, to be pushed in the shard that is their home.

Rules
- Departures are combined by the update rule of their frontier, as pushes of a queued page are. So one arrival makes the
  same difference as the pushes that it stands for.
- Sums go from left to right, in the order of the pushes.
- A page departs whenever it is found, also if it departed earlier: only its home knows whether it was visited.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from scenthound.errors import PluginError
from scenthound.frontier.base import UpdateRule, nan_score_error
from scenthound.model import BoolArray, FloatArray, IntArray, LongArray

#: This many pages are compared faster by a set than by sorting. Most events have fewer.
_FEW = 200

#: Whether pages, given with their hosts, are at home in this shard.
Home = Callable[[IntArray, IntArray], BoolArray]


@dataclass(frozen=True, slots=True)
class Departures:
    """Pages that were found for other shards, their hosts and a row of values for each.

    The first value is the score, or the amount to add; others belong to the strategy. NaN means that a row has no such
    value."""

    pages: IntArray
    hosts: IntArray
    values: FloatArray
    rule: UpdateRule

    def __len__(self) -> int:
        return len(self.pages)


def no_departures(rule: UpdateRule = UpdateRule.MAX, n_values: int = 1) -> Departures:
    nothing = np.zeros(0, np.int32)
    return Departures(nothing, nothing, np.zeros((0, n_values)), rule)


def joined(parts: Sequence[Departures]) -> Departures:
    """Each page once, in the order of first appearance, with the host of that appearance.

    Its rows are combined by the rule, each column on its own: the highest, the sum, the latest or the first value."""
    if len(parts) == 1:
        return _distinct(parts[0])
    parts = [part for part in parts if len(part)] or list(parts[:1])
    if not parts:
        return no_departures()
    rule = parts[0].rule
    if any(part.rule is not rule for part in parts):
        raise ValueError("Departures with different update rules cannot be joined.")
    if len(parts) > 1:
        pages, hosts = (np.concatenate([getattr(part, name) for part in parts]) for name in ("pages", "hosts"))
        whole = Departures(pages, hosts, np.concatenate([part.values for part in parts]), rule)
    else:
        [whole] = parts
    return _distinct(whole)


def _distinct(rows: Departures) -> Departures:
    if len(rows) <= _FEW and len(set(rows.pages.tolist())) == len(rows):
        return rows
    # Sorted by page, and rows of the same page in their order.
    by_page = np.argsort(rows.pages, kind="stable")
    in_order = rows.pages[by_page]
    is_first = np.ones(len(in_order), np.bool_)
    np.not_equal(in_order[1:], in_order[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    if len(starts) == len(in_order):
        return rows
    first = by_page[starts]
    by_appearance = np.argsort(first)
    values = _combined(rows.values, rows.rule, by_page, starts)[by_appearance]
    first = first[by_appearance]
    return Departures(rows.pages[first], rows.hosts[first], values, rows.rule)


def _combined(values: FloatArray, rule: UpdateRule, by_page: LongArray, starts: LongArray) -> FloatArray:
    """One row for each page."""
    if rule is UpdateRule.SUM:
        page_of_row = np.empty(len(by_page), np.int64)
        page_of_row[by_page] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(by_page)))
        # Unlike `reduceat`, this adds from left to right.
        columns = [np.bincount(page_of_row, np.where(np.isnan(column), 0.0, column)) for column in values.T]
        return np.column_stack(columns)
    in_order = values[by_page]
    if rule is UpdateRule.MAX:
        highest: FloatArray = np.fmax.reduceat(in_order, starts)
        return highest
    is_latest = rule is UpdateRule.LATEST
    rows = np.append(starts[1:], len(by_page)) - 1 if is_latest else starts
    chosen: FloatArray = in_order[rows]
    return _without_gaps(chosen, in_order, starts, is_latest) if np.isnan(chosen).any() else chosen


def _without_gaps(chosen: FloatArray, in_order: FloatArray, starts: LongArray, is_latest: bool) -> FloatArray:
    """Replace NaN by the nearest value of the same page and column."""
    ends = np.append(starts[1:], len(in_order))
    for page, column in np.argwhere(np.isnan(chosen)).tolist():
        known = in_order[starts[page] : ends[page], column]
        known = known[~np.isnan(known)]
        if len(known):
            chosen[page, column] = known[-1 if is_latest else 0]
    return chosen


class Departing:
    """Keeps the pushes of pages that are not at home. They are taken before a checkpoint."""

    def __init__(self, home: Home, rule: UpdateRule) -> None:
        self._home = home
        self._rule = rule
        self._departed: list[Departures] = []

    def at_home(
        self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: UpdateRule
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Those of the pushed pages that are at home, with their hosts and scores; the others depart."""
        is_home = self._home(pages, hosts)
        # Ten times faster than `all` for the links of a page.
        if 0 not in is_home.tobytes():
            return pages, hosts, scores
        if rule is not self._rule:
            raise PluginError(
                f"Links to other shards are pushed by the rule {rule.value!r}, but the rule of their strategy is "
                f"{self._rule.value!r}. Set its `update_rule`."
            )
        is_away = ~is_home
        is_nan = np.isnan(scores) & is_away
        if is_nan.any():
            raise nan_score_error(int(pages[is_nan][0]))
        self._departed.append(Departures(pages[is_away], hosts[is_away], scores[is_away, np.newaxis], rule))
        return pages[is_home], hosts[is_home], scores[is_home]

    def take(self) -> Departures:
        """What was pushed for other shards since the last call."""
        departed, self._departed = self._departed, []
        return joined(departed) if departed else no_departures(self._rule)
