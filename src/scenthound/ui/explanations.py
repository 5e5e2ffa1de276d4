"""Why a crawl visited or skipped a page, in sentences."""

import math

from scenthound.crawler.explain import Explanation, Outcome
from scenthound.reasons import SkipReason
from scenthound.store.crawl_records import VisitRecord, share_given_up
from scenthound.ui.formats import counted, rendering_text
from scenthound.ui.reports.crawl_summary import format_score, format_time


def explanation_sentences(explained: Explanation) -> list[str]:
    """Why the page was visited or not, and where its URL was found."""
    skipped = explained.skipped
    if explained.visit is not None:
        sentences = _visited(explained, explained.visit)
    elif skipped is not None:
        sentences = [f"Skipped on {format_time(skipped.time_s)}: {skipped.reason.text} ({skipped.reason})."]
    elif explained.reason is not None:
        sentences = [f"Out of scope: it is excluded by {explained.excluded_by}."]
        if explained.reason is SkipReason.OUT_OF_SCOPE:
            return sentences
    elif explained.outcome is Outcome.QUEUED:
        sentences = ["Neither visited nor skipped: it is queued, or was in flight when the crawl stopped."]
    else:
        return ["The crawl does not know this URL: no visited page has a link to it that may be followed."]
    return [*sentences, *_discovered(explained)]


def _visited(explained: Explanation, row: VisitRecord) -> list[str]:
    queued = f"{counted(row.queue_size, 'page')} queued"
    with_score = ""
    if row.score is not None and math.isfinite(row.score):
        with_score = f" and a score of {format_score(row.score)}"
    sentences = [
        f"Visited on {format_time(row.time_s)} as visit {row.visit:,}, counted from 0.",
        f"Requested after {counted(row.rank, 'other page')}, with {queued}{with_score}.",
    ]
    if row.regret == math.inf:
        sentences.append("A seed had to wait for its host.")
    elif row.regret:
        share = share_given_up(row.score, row.regret)
        cost = "" if share is None else f"; {share:.1%} of its score was given up"
        sentences.append(f"A better page had to wait for its host{cost}.")
    sentences.append(f"Its relevance is {format_score(row.relevance)}.")
    if explained.rendering is not None:
        sentences.append(f"It was rendered {rendering_text(explained.rendering)}.")
    if explained.requested_url not in (None, row.url):
        sentences.append(f"It was requested as {explained.requested_url}, which redirects to it.")
    if row.noindex:
        sentences.append("It asks not to be indexed; exports leave it out by default.")
    return sentences


def _discovered(explained: Explanation) -> list[str]:
    sentences = ["It is a seed of the crawl."] if explained.is_seed else []
    if explained.n_parents or not explained.is_seed:
        links = counted(explained.n_parents, "visited page links", "visited pages link")
        sentences.append(f"{links} to it." if explained.n_parents else "No visited page links to it.")
    if (evidence := explained.evidence) is not None:
        when = "so far" if explained.visit is None else "before its visit"
        mean, of_all = format_score(evidence.relevance), format_score(evidence.relevance_of_all)
        sentences.append(
            f"{counted(evidence.n_parents, 'page')} linked to it {when}, with a mean relevance of {mean}; "
            f"that of all pages was {of_all}."
        )
    return sentences
