"""New relevant hosts: how many sites with pages of the topic a crawl has found, beside those it started on.

A crawl that stays on the sites of its seeds can be precise and still tell nobody anything new.
"""

import numpy as np

from scenthound.metrics.base import Judgement, Metric, padded, undefined
from scenthound.model import FloatArray, Trace


class NewRelevantHosts(Metric):
    """The number of hosts with a relevant page among the first t pages that no seed is on."""

    name = "new_relevant_hosts"
    summary = "number of hosts without seeds on which a page known to belong to the topic was visited"
    needs = "known relevant pages in a web of more than one host"

    def curve(self, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
        hosts = judgement.facts.hosts()
        if not len(hosts) or not len(judgement.relevant):
            return undefined(n_steps)
        visited = hosts[judgement.places(trace)]
        counts = np.isin(trace.pages, judgement.relevant) & ~np.isin(visited, judgement.facts.seed_hosts())
        is_new = np.zeros(len(visited), np.bool_)
        steps = np.flatnonzero(counts)
        is_new[steps[np.unique(visited[steps], return_index=True)[1]]] = True
        return np.cumsum(padded(is_new, n_steps))
