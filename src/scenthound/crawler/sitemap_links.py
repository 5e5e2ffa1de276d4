"""Sitemaps of a live crawl: which are requested for which host, and how their links reach the strategy.

Rules
- The *owner* of a sitemap is the host whose robots.txt names it. The sitemap may be on another host: the owner vouches
  for it (sitemaps.org, cross submits). Only its links to pages of the owner are used.
- An index on the owner's host may list sitemaps on any host. One on another host may list those of that host and of the
  owner; nobody vouches for others.
- A sitemap on another host is requested as a job of that host, with its robots.txt and its crawl delay, if the domains
  of the scope include it and it belongs to this shard of the crawl. Many hosts may name the same one: it is requested
  `MAX_REPEATS` times at most.
- A strategy learns of links from visits only. So the links of a host's sitemaps are appended to the links of the next
  pages that are visited on that host, a few to each. Sitemaps are requested one after the other, the next one when the
  links of the others are used up: most hosts list more than a crawl needs.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scenthound.crawler.scope import ScopeFilter
from scenthound.crawler.shard import ShardMap
from scenthound.crawler.tasks import Fetched, Hosts, Job, Kind, PageText, SavedJobs, SitemapFetched
from scenthound.model import FloatArray
from scenthound.reasons import SkipReason
from scenthound.saved_state import State, restore_attributes, saved_attributes
from scenthound.web.urls import host_of, resolve_all

#: Sitemaps requested per owner, including those that an index lists.
MAX_SITEMAPS = 5
#: Requests for one sitemap by other owners than its host.
MAX_REPEATS = 5
#: Links of sitemaps that are added to one page, so that they do not outnumber its own; the next page brings the next
#: ones.
LINKS_PER_PAGE = 20
#: Links read from one sitemap, and links of all hosts that wait for a page.
MAX_SITEMAP_LINKS = 1_000
MAX_WAITING_LINKS = 100_000


class SitemapLinks:
    """Sitemaps by owner, and the links that they list."""

    _SAVED = "_n_named", "_to_request", "_n_for_others", "_links", "_n_links", "n_elsewhere"

    def __init__(self, hosts: Hosts, scope: ScopeFilter, shards: ShardMap | None = None) -> None:
        self._hosts = hosts
        self._scope = scope
        self._shards = shards
        self._n_named: dict[int, int] = {}
        self._to_request: dict[int, list[str]] = {}
        self._jobs: dict[int, Job] = {}
        self._n_for_others: Counter[str] = Counter()
        self._links: dict[int, list[str]] = {}
        self._n_links = 0
        #: Sitemaps that were not read, and listed pages of other hosts than the owner.
        self.skipped: Counter[SkipReason] = Counter()
        self.n_elsewhere = 0

    def state(self, saved: SavedJobs) -> State:
        """A checkpoint for `restore`."""
        jobs = [list(self._jobs), saved.numbers(self._jobs.values())]
        skipped = {reason.value: count for reason, count in self.skipped.items()}
        return {**saved_attributes(self, self._SAVED), "jobs": jobs, "skipped": skipped}

    def restore(self, state: State, saved: SavedJobs) -> None:
        """Continue from a checkpoint."""
        restore_attributes(self, self._SAVED, state)
        owners, numbers = state["jobs"]
        self._jobs = dict(zip(owners, saved.jobs(numbers), strict=True))
        self.skipped = Counter({SkipReason(reason): count for reason, count in state["skipped"].items()})

    def forget_requests(self) -> None:
        """No sitemap is requested any more; those that were are lost."""
        self._jobs.clear()

    def name(self, owner: int, base: str, references: Sequence[str]) -> None:
        """Further sitemaps of a host, as its robots.txt or an index at `base` names them; their number is limited."""
        n_left = MAX_SITEMAPS - self._n_named.get(owner, 0)
        urls = filter(None, resolve_all(base, references))
        new = [url for url in urls if self._is_accepted(url, owner, base)][:n_left]
        if new:
            self._n_named[owner] = self._n_named.get(owner, 0) + len(new)
            self._to_request.setdefault(owner, []).extend(new)

    def _is_accepted(self, url: str, owner: int, base: str) -> bool:
        """Whether a sitemap may be requested for its owner; if not, it is counted."""
        host, owner_host = host_of(url), self._hosts.names[owner]
        if host == owner_host:
            return True
        if host_of(base) not in (owner_host, host):
            self.skipped[SkipReason.SITEMAP_ELSEWHERE] += 1
            return False
        if self._scope.domain_exclusion(url) is not None:
            self.skipped[SkipReason.OUT_OF_SCOPE] += 1
            return False
        if self._shards is not None and not self._shards.is_home_url(url):
            self.skipped[SkipReason.OTHER_SHARD] += 1
            return False
        return True

    def next_job(self, owner: int) -> Job | None:
        """The sitemap to request now, if links are needed; `completed` or `skip` must follow."""
        if owner in self._jobs or len(self._links.get(owner, ())) >= LINKS_PER_PAGE:
            return None
        waiting = self._to_request.get(owner)
        while waiting:
            url = waiting.pop(0)
            host = self._hosts.of_url(url)
            if host == owner or self._n_for_others[url] < MAX_REPEATS:
                self._n_for_others[url] += host != owner
                self._jobs[owner] = job = Job(Kind.SITEMAP, url, host, owner=owner)
                return job
            self.skipped[SkipReason.SITEMAP_REPEATED] += 1
        return None

    def completed(self, job: Job, fetched: SitemapFetched) -> None:
        """A sitemap was read."""
        del self._jobs[job.owner]
        in_scope = [url for url in fetched.urls if self._scope.exclusion(url) is None]
        new = in_scope[: min(MAX_SITEMAP_LINKS, MAX_WAITING_LINKS - self._n_links)]
        if new:
            self._links.setdefault(job.owner, []).extend(new)
            self._n_links += len(new)
        self.n_elsewhere += fetched.n_elsewhere
        self.name(job.owner, job.url, fetched.sitemaps)

    def skip(self, job: Job, reason: SkipReason) -> None:
        """A sitemap could not be read."""
        del self._jobs[job.owner]
        self.skipped[reason] += 1

    def awaited_host(self, owner: int) -> int | None:
        """The other host that the first links of the owner will come from; None if no sitemap is requested there."""
        job = self._jobs.get(owner)
        return None if job is None or job.host == owner or owner in self._links else job.host

    def next_links(self, owner: int) -> list[str]:
        """The links for the next page; they are not returned again."""
        waiting = self._links.get(owner)
        if not waiting:
            return []
        links, rest = waiting[:LINKS_PER_PAGE], waiting[LINKS_PER_PAGE:]
        self._n_links -= len(links)
        if rest:
            self._links[owner] = rest
        else:
            del self._links[owner]
        return links


def with_sitemap_links(fetched: Fetched, links: list[str]) -> Fetched:
    """A page with links appended to its own. They have no context: they score as low as the lowest of its own links."""
    if not links or isinstance(fetched.links, np.ndarray):
        return fetched
    all_links = fetched.links + links if isinstance(fetched.links, list) else fetched.links.followed_by(links)
    return replace(
        fetched,
        links=all_links,
        predicted=_filled(fetched.predicted, len(links)),
        anchors=_filled(fetched.anchors, len(links)),
        text=fetched.text and with_positions_at_end(fetched.text, len(all_links)),
    )


def with_positions_at_end(text: PageText, n_links: int) -> PageText:
    """The text of a page whose further links are positioned after its last word."""
    if len(text.link_start) >= n_links:
        return text
    end = np.full(n_links - len(text.link_start), len(text.words), np.int32)
    return PageText(text.words, np.concatenate((text.link_start, end)), np.concatenate((text.link_end, end)))


def _filled(scores: FloatArray | None, n_more: int) -> FloatArray | None:
    if scores is None:
        return None
    return np.concatenate((scores, np.full(n_more, scores.min() if len(scores) else 0.0)))
