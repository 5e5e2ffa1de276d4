"""InfoSpiders (menczer2001 section 6.3 and Fig. 4): agents that live on the relevance of the pages they find.

One agent sits on each seed. In turn, at random, an agent follows a link of its page, chosen by its net from the words
around the links; what it finds there feeds it, what it does costs it. The well fed have offspring, the starved die. The
crawl ends with the last agent. There are no regrets: a choice is a draw among the links of one page, and no score is
shared by all.

How the figure is read where it is silent
- Agents are situated on their seeds: to get one's own is free, and brings nothing. An agent whose seed cannot be had
  dies, as such URLs leave the study altogether (section 5.2).
- A page that any agent had before is not fetched again: the agent goes there at once, for a share of the cost and
  without gain (footnote 5). The net learns from that step too, since the footnote excepts energy alone.
- Dead links are no choice for anybody; who chose one chooses again, free of charge. Nor is a page that another agent is
  about to get, until it is there. Who has no other choice waits.
- An agent whose choice is on a host that rests, or that another agent has asked in the same answer, keeps it and waits.
  Once somebody waits, or a page is on its way, nobody takes more than one step over visited pages before the strategy
  is asked again: none should starve on a slow network.
- When agents have gone on and on over visited pages, those die who can come upon no other however they choose. Nothing
  that they did could be seen any more, but that in a full population they would stand in the way of births.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from random import Random
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from scenthound.frontier.base import Ready, ReadyHosts
from scenthound.model import IntArray, Seed, Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import BY_DESCRIPTION, MemoryBound, Presets, SeenWeb, State, Strategy, restored_rng
from scenthound.strategies.frontier_strategy import Buffer
from scenthound.strategies.spider import BYTES_PER_AGENT, BYTES_PER_KEYWORD, Choice, Mind, Spider, lost_agents
from scenthound.strategies.spider_net import (
    BYTES_PER_PAGE,
    BackPropagation,
    Distance,
    Mark,
    Perceptron,
    Senses,
    SpiderMap,
)
from scenthound.text.vectors import count_words

# The agents of an InfoSpiders crawl that are alive, and what keeps them so (menczer2001 Fig. 4).
#
# Rules
# - An agent is idle, or it is fetching: it waits for the one page that it asked for.
# - At `theta` an agent reproduces if the population is below its limit; out of energy it dies. It is looked at after
#   each of its steps, and at no other time.
# - Energy comes from relevance alone and is spent on steps alone: `EnergyAccount` says where all of it is.


@dataclass(slots=True)
class EnergyAccount:
    """Where a population's energy came from and went: the living have `given + gained - paid - lost`."""

    given: float = 0.0  #: to the first agents
    gained: float = 0.0  #: from the relevance of new pages
    paid: float = 0.0  #: for steps
    lost: float = 0.0  #: with the dead; those that starved owed some, which counts below 0


class Population:
    """At most `most` agents, None lifts the bound; more only if there are more at first."""

    def __init__(self, theta: float, most: int | None, first: Iterable[Spider] = ()) -> None:
        self._theta = theta
        self._most = most
        self.idle = list(first)
        self.fetching: dict[int, Spider] = {}
        self.account = EnergyAccount(given=sum(agent.energy for agent in self.idle))

    def __len__(self) -> int:
        return len(self.idle) + len(self.fetching)

    def send(self, agent: Spider, page: int) -> None:
        """Let an idle agent wait for a page."""
        self.idle.remove(agent)
        self.fetching[page] = agent

    def call_back(self, page: int) -> Spider:
        """The agent that waited for a page, idle again."""
        agent = self.fetching.pop(page)
        self.idle.append(agent)
        return agent

    def settle(self, agent: Spider, gain: float, cost: float, seen: SeenWeb) -> bool:
        """Let an idle agent live with the outcome of a step: it may reproduce or die. Whether it is alive."""
        agent.energy += gain - cost
        self.account.gained += gain
        self.account.paid += cost
        if agent.energy >= self._theta and (self._most is None or len(self) < self._most):
            self.idle.append(agent.offspring(seen.words(agent.page)))
        elif agent.energy <= 0:
            self.bury(agent)
            return False
        return True

    def bury(self, agent: Spider) -> None:
        """Let an idle agent die."""
        self.idle.remove(agent)
        self.account.lost += agent.energy

    def state(self) -> dict[str, Any]:
        return {
            "idle": [agent.state() for agent in self.idle],
            "fetching": [[page, agent.state()] for page, agent in self.fetching.items()],
            "account": asdict(self.account),
        }

    def restore(self, state: State) -> None:
        self.idle = [Spider.restored(agent) for agent in state["idle"]]
        self.fetching = {page: Spider.restored(agent) for page, agent in state["fetching"]}
        self.account = EnergyAccount(**state["account"])


#: Steps over visited pages, at least, before it is asked who can come upon any other page.
FEWEST_STEPS = 64
#: For so many `memory_bound` speaks before `start` tells how many the topic has.
KEYWORDS_BEFORE_START = 10


class Turn(Enum):
    """What an agent did when it was its turn."""

    ASKED = "asked for a page"
    STEPPED = "went to a page that was visited already"
    WAITS = "can do nothing now"
    DIED = "is no more"


class InfoSpiders(Strategy):
    """`theta` is the energy at which agents reproduce (Fig. 4: 2; at first they have half of it), `max_pages` the page
    budget that the cost of a step, seeds * theta / (2 * max_pages), is derived from (1,000), `buffer` the most agents
    (200; there may be more seeds), none lifts the bound, `seen_cost` the share of the cost that a step to a page seen
    before takes (footnote 5: 0.1).

    The choice of a link: `temperature` of the Boltzmann distribution (footnote 3: 0.125); `distance` counts `words` or
    `links` between a keyword and a link (SPEC R: words), up to `window` words (R: 20) or `links_between` (R: 5).

    The net: weights uniform in +-`initial_weight` (R: 0.1), and a `bias` that is learnt beside them (our reading);
    `epochs`, `rate` and `momentum` of learning (footnote 4: 5, 0.5, 0.9); `learn_towards` the similarity of the page to
    the keywords of the `agent` (R) or to the `topic`, which is the relevance that the visit tells. `description` starts
    agents from the words of the topic's description instead of its keywords (menczer2001 had no other). `dead_end`: the
    full cost is paid for a step `back` along the agent's own path, from its beginning to a random seed (R), or for a
    step to a random `seed` at once. `patience`: an agent dies after so many steps in a row that brought no new page,
    whatever its energy (ours: the study's web had no end; in one that has, agents may wander over a few pages for as
    long as their energy lasts, which is long where `max_pages` is large), none lifts the bound.
    """

    summary = "agents that live on relevance, follow links by the words near them, learn, reproduce and die"
    presets: ClassVar[Presets] = {
        "menczer2001": {"max_pages": 1000, "buffer": 200, "description": True, "patience": None}
    }

    _rng: Random
    _seen: SeenWeb

    def __init__(
        self,
        *,
        theta: Annotated[float, Bounds(0, 1_000_000, above=True)] = 2.0,
        max_pages: Annotated[int, Bounds(1)] = 1000,
        buffer: Buffer = 200,
        temperature: Annotated[float, Bounds(1e-6)] = 0.125,
        epochs: Annotated[int, Bounds(0, 1000)] = 5,
        rate: Annotated[float, Bounds(0, 100)] = 0.5,
        momentum: Annotated[float, Bounds(0, 1)] = 0.9,
        initial_weight: Annotated[float, Bounds(0, 100)] = 0.1,
        bias: bool = True,
        distance: Distance = "words",
        window: Annotated[int, Bounds(1, 10_000)] = 20,
        links_between: Annotated[int, Bounds(0, 10_000)] = 5,
        learn_towards: Literal["agent", "topic"] = "agent",
        # A step over known pages must cost something, or an agent that finds no other page would wander for ever.
        seen_cost: Annotated[float, Bounds(0.001, 1)] = 0.1,
        description: bool = False,
        dead_end: Literal["back", "seed"] = "back",
        patience: Annotated[int | None, Bounds(1)] = 1000,
    ) -> None:
        self._theta = theta
        self._max_pages = max_pages
        self._buffer = buffer
        self._initial_weight = initial_weight
        self._seen_cost = seen_cost
        self._description = description
        self._steps_back = dead_end == "back"
        self._patience = patience
        self.reads_topic = "description" if description else "keywords"
        if description:
            self.relevance_model = BY_DESCRIPTION
        senses, learning = Senses(distance, window, links_between), BackPropagation(epochs, rate, momentum, bias)
        self._mind = Mind(senses, learning, temperature, learn_towards == "agent")
        self._seeds: list[int] = []
        self._n_keywords = KEYWORDS_BEFORE_START
        self._population = Population(theta, buffer)
        self._map = SpiderMap()

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        self._rng, self._seen, self._map = rng, seen, SpiderMap()
        keywords = count_words(seen.topic_words(description=self._description)).term
        host_of = {seed.page: seed.host for seed in seeds}
        self._seeds, self._n_keywords = list(host_of), len(keywords)
        first = [self._newcomer(page, host, keywords) for page, host in host_of.items()]
        self._population = Population(self._theta, self._buffer, first)

    def _newcomer(self, seed: int, host: int, keywords: IntArray) -> Spider:
        net = Perceptron.random(len(keywords), self._initial_weight, self._rng)
        return Spider(seed, self._theta / 2, keywords, net, [Choice(seed, host, np.zeros(len(keywords)))])

    @property
    def account(self) -> EnergyAccount:
        """Where the energy of the crawl came from and went."""
        return self._population.account

    @property
    def _cost(self) -> float:
        """Of a step (Fig. 4): if nothing were gained, the first agents' energy would last for `max_pages` pages."""
        return len(self._seeds) * self._theta / (2 * self._max_pages)

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        ready_hosts, idle = ReadyHosts.of(ready), self._population.idle
        asked: list[int] = []
        # No more than `len` told of, though some may be born meanwhile.
        wanted = min(n, len(idle))
        # Those whose turn is over stand in front.
        n_done = n_steps = 0
        while len(asked) < wanted and n_done < len(idle):
            place = self._rng.randrange(n_done, len(idle))
            agent = idle[place]
            turn = self._turn(agent, ready_hosts)
            if turn is Turn.ASKED:
                asked.append(agent.choices[-1].page)
            elif turn is Turn.WAITS or (turn is Turn.STEPPED and (n_done or self._population.fetching)):
                idle[place], idle[n_done] = idle[n_done], idle[place]
                n_done += 1
            elif turn is Turn.STEPPED:
                n_steps += 1
                # So seldom that it costs little beside the steps.
                if n_steps % max(FEWEST_STEPS, self._map.n_visited) == 0:
                    self._bury_the_lost()
        return asked

    def _bury_the_lost(self) -> None:
        seeds = set(self._visited_seeds())
        for agent in lost_agents(self._population.idle, self._map, self._seen, seeds, steps_back=self._steps_back):
            self._population.bury(agent)

    def _turn(self, agent: Spider, ready_hosts: ReadyHosts | None) -> Turn:
        """Let an idle agent go on to a page that is known, or ask for one."""
        choice = self._choice(agent)
        if choice is None:
            return self._leave_dead_end(agent)
        became = self._map[choice.page]
        if became is Mark.VISITED:
            self._follow(agent)
            return self._settle_in_vain(agent, self._seen_cost * self._cost)
        if became is Mark.DEAD:  # its own seed, then: no other dead page is ever gone for
            self._population.bury(agent)
            return Turn.DIED
        if became is Mark.ON_THE_WAY or (ready_hosts is not None and not ready_hosts(choice.host)):
            return Turn.WAITS
        if ready_hosts is not None:
            ready_hosts.use(choice.host)
        self._map[choice.page] = Mark.ON_THE_WAY
        self._population.send(agent, choice.page)
        return Turn.ASKED

    def _choice(self, agent: Spider) -> Choice | None:
        """The link that an agent goes for; None if it may follow none now. As long as its seed is not visited, that is
        all it can go for, whatever became of it."""
        if self._map[agent.page] is not Mark.VISITED:
            return agent.choices[-1]
        while agent.choices and not self._may_go(agent, agent.choices[-1].page):
            agent.choices.pop()
        if not agent.choices:
            agent.choices = self._mind.choices(agent, self._seen, self._map, self._rng)
        return agent.choices[-1] if agent.choices else None

    def _may_go(self, agent: Spider, page: int) -> bool:
        return page != agent.page and self._map[page] < Mark.ON_THE_WAY

    def _leave_dead_end(self, agent: Spider) -> Turn:
        if self._map.any_on_the_way(self._seen.links(agent.page).pages):
            return Turn.WAITS
        if self._steps_back and agent.path:
            agent.step_back()
        else:
            agent.jump_to(self._rng.choice(self._visited_seeds()))
        return self._settle_in_vain(agent, self._cost)

    def _visited_seeds(self) -> list[int]:
        return [seed for seed in self._seeds if self._map[seed] is Mark.VISITED]

    def _follow(self, agent: Spider) -> None:
        """Let an agent follow the link that it chose, and learn where it led."""
        choice = agent.choices[-1]
        self._mind.learn(agent, choice, self._seen, self._map)
        agent.go_to(choice.page)

    def _settle_in_vain(self, agent: Spider, cost: float) -> Turn:
        """Let an agent live with a step that brought no new page, if it has the patience."""
        agent.n_unproductive_steps += 1
        turn = self._settle(agent, 0.0, cost)
        if turn is Turn.STEPPED and self._patience is not None and agent.n_unproductive_steps >= self._patience:
            self._population.bury(agent)
            return Turn.DIED
        return turn

    def _settle(self, agent: Spider, gain: float, cost: float) -> Turn:
        alive = self._population.settle(agent, gain, cost, self._seen)
        return Turn.STEPPED if alive else Turn.DIED

    def tell(self, visit: Visit) -> None:
        agent = self._population.call_back(visit.page)
        self._map.visit(visit.page, visit.relevance)
        agent.n_unproductive_steps = 0
        if agent.page != visit.page:  # else it is its seed, where it was from the beginning
            self._follow(agent)
            self._settle(agent, visit.relevance, self._cost)

    def drop(self, page: int) -> None:
        """The agent chooses again, when it is its turn; the link is lost to everybody."""
        self._map[page] = Mark.DEAD
        self._population.call_back(page)

    def __len__(self) -> int:
        """How many agents are free to ask for a page; each asks for one at a time."""
        return len(self._population.idle)

    def state(self) -> State:
        return {
            "rng": self._rng.getstate(),
            "seeds": list(self._seeds),
            "n_keywords": self._n_keywords,
            "population": self._population.state(),
            "map": self._map.state(),
        }

    def restore(self, state: State, seen: SeenWeb) -> None:
        self._rng, self._seen = restored_rng(state), seen
        self._seeds, self._n_keywords = list(state["seeds"]), state["n_keywords"]
        self._population = Population(self._theta, self._buffer)
        self._population.restore(state["population"])
        self._map = SpiderMap.restored(state["map"])

    def memory_bound(self) -> MemoryBound:
        most_agents = None if self._buffer is None else max(self._buffer, len(self._seeds))
        return MemoryBound(most_agents, BYTES_PER_AGENT + BYTES_PER_KEYWORD * self._n_keywords, BYTES_PER_PAGE)
