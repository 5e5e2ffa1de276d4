"""What compiled crawls need before they start, between two calls of their loop, and when they are over.

Importing this file needs numba (the extra `fast`).
"""

from scenthound.compiling import compiled
from scenthound.drivers.compiled.compiled_queue import clear_ghosts, room
from scenthound.drivers.compiled.crawl_records import N_FOUND, N_VISITED, Crawling, Web
from scenthound.drivers.compiled.queue_records import UNSEEN, Queue, Records
from scenthound.model import IntArray, LongArray


@compiled
def wipe(web: Web, crawl: Crawling, queue: Queue, hosts: Records) -> None:
    """Forget a crawl, at the cost of what it touched."""
    for place in range(crawl.numbers[N_FOUND]):
        url = crawl.found[place]
        queue.pages[url].bucket = UNSEEN
        if len(hosts):
            hosts[web.url_host[url]].n_downloaded = hosts[web.url_host[url]].n_good = 0
    for turn in range(crawl.numbers[N_VISITED]):
        crawl.visit_of[crawl.visits[turn]] = -1


@compiled
def clear_away(queue: Queue) -> int:
    """Clear ghosts away; how much room there is then."""
    clear_ghosts(queue)
    return room(queue)


@compiled
def without_repeats(
    link_offset: LongArray, link_url: IntArray, seen_on: IntArray, offset: LongArray, url: IntArray
) -> int:
    """The distinct links of each page, where they stand first. How many; `seen_on` has a place for each URL."""
    end = 0
    for page in range(len(link_offset) - 1):
        for link in range(link_offset[page], link_offset[page + 1]):
            if seen_on[link_url[link]] != page:
                seen_on[link_url[link]] = page
                url[end] = link_url[link]
                end += 1
        offset[page + 1] = end
    return end


@compiled
def turn_round(web: Web, parent_offset: LongArray, parent_page: IntArray) -> None:
    """The pages with a link to each URL, ascending. The offsets, one more than there are URLs, are 0 at first."""
    for url in web.distinct_url:
        parent_offset[url + 1] += 1
    for url in range(len(parent_offset) - 1):
        parent_offset[url + 1] += parent_offset[url]
    for page in range(len(web.distinct_offset) - 2, -1, -1):
        for link in range(web.distinct_offset[page], web.distinct_offset[page + 1]):
            url = web.distinct_url[link]
            # Filled from the end, so that the end of one is the start of the next when all is done.
            parent_offset[url + 1] -= 1
            parent_page[parent_offset[url + 1]] = page
    for url in range(len(parent_offset) - 1):
        parent_offset[url] = parent_offset[url + 1]
    parent_offset[len(parent_offset) - 1] = len(parent_page)
