"""Pages of a recorded web in a live crawl: what is recorded is read, and only what is missing is fetched.

The crawl's vocabulary begins with that of the recording, so that words have the same numbers in both. With `offline`
nothing is fetched: what the recording lacks cannot be had.
"""

from scenthound.drivers.live.orders import Order, Refused
from scenthound.drivers.live.page_facts import PageFacts
from scenthound.drivers.live.reading import Read, Reader
from scenthound.reasons import Reason
from scenthound.store.recorded_web import RecordedWeb
from scenthound.web.parse import ParsedPage


class RecordedPages:
    """Answers for the pages of one recording."""

    def __init__(self, web: RecordedWeb, reader: Reader, *, offline: bool = False) -> None:
        self._web = web
        self._reader = reader
        self._offline = offline

    def at_hand(self, url: str) -> bool:
        """Whether no request is to be made for the page."""
        return self._offline or self._web.page_of(url) is not None

    def read(self, order: Order) -> Read:
        page = self._web.page_of(order.url)
        if page is None:
            return Read(Refused(Reason.NOT_RECORDED))
        parsed = parsed_again(self._web, page)
        facts = PageFacts(200, parsed.title, 0, None, parsed.noindex, truncated=False)
        return Read(self._reader.got(parsed, self._web.url(page)), facts)


def parsed_again(web: RecordedWeb, page: int) -> ParsedPage:
    """A recorded page as parsing it made it."""
    links = slice(*web.link_offset[page : page + 2].tolist())
    return ParsedPage(
        title=web.title(page),
        base_url=web.url(page),
        words=web.words_alone(page),
        link_urls=[web.url(url) for url in web.link_url[links].tolist()],
        link_start=web.link_start[links].copy(),
        link_end=web.link_end[links].copy(),
        link_nofollow=web.link_nofollow[links].copy(),
        noindex=bool(web.page_noindex[page]),
        nofollow=False,
    )
