"""Which InfoSpiders agents can still come upon a page that is not visited, however they choose.

The others can be let die: all they could do is walk over visited pages until their energy is spent. Since links do not
change, who is lost once is lost for good. Asked while no page is on its way, for such a page may show new links.
"""

from collections.abc import Callable, Collection

from scenthound.strategies.base import SeenWeb
from scenthound.strategies.parts.spider import Spider
from scenthound.strategies.parts.spider_map import Mark, SpiderMap

#: The pages that can be gone to from a page.
WaysOn = Callable[[int], set[int]]


def lost_agents(
    agents: Collection[Spider], spider_map: SpiderMap, seen: SeenWeb, seeds: set[int], *, steps_back: bool
) -> list[Spider]:
    """Those without hope; from a dead end agents step back, or else go to one of the visited `seeds`."""
    retreats: dict[int, set[int]] = {}
    for agent in agents if steps_back else ():
        retreats.setdefault(agent.page, set()).update(agent.path[-1:] or seeds)
    # Who comes upon a dead end later steps back to a page from which a link leads on: to the dead end.
    later_retreats = set[int]() if steps_back else seeds

    def ways_on(page: int) -> set[int]:
        if spider_map[page] is not Mark.VISITED:
            return set()
        pages = seen.links(page).pages
        ways = set(pages[spider_map.may_follow(pages)].tolist()) - {page}
        return ways or retreats.get(page, later_retreats)

    hopeful = _leading_to_open({agent.page for agent in agents}, ways_on, spider_map)
    return [agent for agent in agents if agent.page not in hopeful]


def _leading_to_open(starts: set[int], ways_on: WaysOn, spider_map: SpiderMap) -> set[int]:
    """The open pages that can be come upon from `starts`, and all pages on the ways to them."""
    came_from = _came_from(starts, ways_on)
    hopeful: set[int] = set()
    waiting = [page for page in came_from if spider_map[page] is Mark.OPEN]
    while waiting:
        page = waiting.pop()
        if page not in hopeful:
            hopeful.add(page)
            waiting += came_from[page]
    return hopeful


def _came_from(starts: set[int], ways_on: WaysOn) -> dict[int, list[int]]:
    """All pages that can be come to, and from where."""
    came_from: dict[int, list[int]] = {page: [] for page in starts}
    waiting = list(starts)
    while waiting:
        page = waiting.pop()
        for way in ways_on(page):
            if way not in came_from:
                came_from[way] = []
                waiting.append(way)
            came_from[way].append(page)
    return came_from
