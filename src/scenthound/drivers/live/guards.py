"""Pages that are had and still not taken: near-duplicates of others, and those that only say that there is no page."""

from scenthound.drivers.live.orders import Order, Refused
from scenthound.drivers.live.page_facts import PageFacts
from scenthound.reasons import Reason
from scenthound.web.near_duplicates import NearDuplicates
from scenthound.web.parse import ParsedPage
from scenthound.web.soft_404 import Soft404s, is_soft_404
from scenthound.web.urls import host_of


class PageGuards:
    """Judges pages by those before them. It learns only from what is noted, so that a crawl that is taken up judges as
    before."""

    def __init__(self, *, near_duplicates: bool = True, soft_404s: bool = True) -> None:
        self._near_duplicates = NearDuplicates() if near_duplicates else None
        self._soft_404s = Soft404s() if soft_404s else None

    def refusal(self, order: Order, facts: PageFacts, page: ParsedPage) -> Refused | None:
        """Why the page is not taken; None if it is."""
        if self._soft_404s is not None and (
            is_soft_404(page.title, len(page.words), order.asked)
            or self._soft_404s.recognises(host_of(order.url), page.words, order.asked)
        ):
            return Refused(Reason.SOFT_404, status=facts.status)
        if self._near_duplicates is not None and facts.simhash is not None:
            like = self._near_duplicates.find(facts.simhash)
            return None if like is None else Refused(Reason.NEAR_DUPLICATE, status=facts.status, like=like)
        return None

    def note_page(self, page: int, simhash: int | None) -> None:
        """A page was taken."""
        if self._near_duplicates is not None and simhash is not None:
            self._near_duplicates.add(simhash, page)

    def wants_error_page(self, order: Order) -> bool:
        """Whether a page that came with a 404 is worth parsing."""
        return self._soft_404s is not None and self._soft_404s.wants_example(host_of(order.url))

    def note_error_page(self, order: Order, fingerprint: int) -> None:
        """A page came with a 404; `fingerprint` is its `error_fingerprint`."""
        if self._soft_404s is not None:
            self._soft_404s.learn(host_of(order.url), fingerprint)
