"""InfoSpiders (menczer2001 section 6.3 and Fig. 4): agents that live on the relevance of the pages they find.

One agent starts on each seed. In random order, agents follow a link of their page, chosen by a neural net from the
words around the links. Relevant pages give energy, steps cost energy. Agents with much energy reproduce, agents without
die. The crawl ends with the last agent. There are no regrets: a choice is a random draw among the links of one page,
and there is no common score.

Where the figure leaves details open
- Agents start on their seeds: fetching the own seed costs and gains nothing. An agent whose seed cannot be fetched
  dies, as such URLs are excluded from the study (section 5.2).
- A page that any agent has visited is not fetched again: the agent moves there at once, for a fraction of the cost and
  without gain (footnote 5). The net learns from that step too, because the footnote concerns energy only.
- Dead links cannot be chosen; an agent that chose one chooses again at no cost. Pages that another agent is fetching
  cannot be chosen until they have arrived. An agent without another choice waits.
- An agent whose choice is on a host that is not ready keeps its choice and waits. While an agent waits or a page is in
  flight, no agent takes more than one step over visited pages per `ask`: agents must not starve on a slow network.
- After many steps over visited pages, agents die that can reach no unvisited page whatever they choose. Their steps
  have no effect except that they prevent births in a full population.

With the parameters of the paper, choices are nearly random and agents hardly die: similarities differ by a few
hundredths, at a temperature of 0.125, and are larger than the cost. `diagnostics` tells it: the mean entropy of choices
relative to random ones, births and deaths. The preset `selective` changes that.
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
from scenthound.strategies.base import (
    BY_DESCRIPTION,
    MemoryBound,
    Presets,
    SeenWeb,
    Sharding,
    State,
    Strategy,
    restored_rng,
)
from scenthound.strategies.frontier_strategy import Buffer
from scenthound.strategies.spider import (
    BYTES_PER_AGENT,
    BYTES_PER_KEYWORD,
    CHOICES_DRAWN,
    Choice,
    ChoiceCounts,
    Mind,
    Spider,
    TemperatureUnit,
    lost_agents,
)
from scenthound.strategies.spider_net import (
    BYTES_PER_PAGE,
    BackPropagation,
    Distance,
    Inputs,
    Mark,
    Perceptron,
    Senses,
    SpiderMap,
)
from scenthound.text.vectors import count_words


@dataclass(slots=True)
class EnergyAccount:
    """The energy balance of a population: living agents have `initial + gained - paid - lost`."""

    initial: float = 0.0  #: of the first agents
    gained: float = 0.0  #: from the relevance of new pages
    paid: float = 0.0  #: for steps
    lost: float = 0.0  #: with dead agents; negative for those that died below 0


class Population:
    """The living agents, at most `most` (None: unbounded) unless there are more seeds (menczer2001 Fig. 4).

    An agent is idle, or it waits for the one page that it requested. After each of its steps an agent reproduces if it
    has the energy `theta` and the population is below its limit, and dies if it has no energy left. Energy comes from
    relevance only and is spent on steps only."""

    def __init__(self, theta: float, most: int | None, first: Iterable[Spider] = ()) -> None:
        self.theta = theta
        self._most = most
        self.idle = list(first)
        self.n_born = self.n_died = 0
        self.fetching: dict[int, Spider] = {}
        self.account = EnergyAccount(initial=sum(agent.energy for agent in self.idle))

    def __len__(self) -> int:
        return len(self.idle) + len(self.fetching)

    def send(self, agent: Spider, page: int) -> None:
        """Let an idle agent fetch a page."""
        self.idle.remove(agent)
        self.fetching[page] = agent

    def call_back(self, page: int) -> Spider:
        """The agent that fetched a page, idle again."""
        agent = self.fetching.pop(page)
        self.idle.append(agent)
        return agent

    def settle(self, agent: Spider, gain: float, cost: float, seen: SeenWeb) -> bool:
        """Account for a step of an idle agent, which may reproduce or die; returns whether it is alive."""
        agent.energy += gain - cost
        self.account.gained += gain
        self.account.paid += cost
        if agent.energy >= self.theta and (self._most is None or len(self) < self._most):
            self.idle.append(agent.offspring(seen.words(agent.page)))
            self.n_born += 1
        elif agent.energy <= 0:
            self.remove(agent)
            return False
        return True

    def remove(self, agent: Spider) -> None:
        """Remove an idle agent."""
        self.idle.remove(agent)
        self.n_died += 1
        self.account.lost += agent.energy

    def state(self) -> dict[str, Any]:
        return {
            "idle": [agent.state() for agent in self.idle],
            "fetching": [[page, agent.state()] for page, agent in self.fetching.items()],
            "account": asdict(self.account),
            "born_and_died": [self.n_born, self.n_died],
        }

    def restore(self, state: State) -> None:
        self.idle = [Spider.restored(agent) for agent in state["idle"]]
        self.fetching = {page: Spider.restored(agent) for page, agent in state["fetching"]}
        self.account = EnergyAccount(**state["account"])
        self.n_born, self.n_died = state["born_and_died"]


#: The minimum number of steps over visited pages before agents are checked for reachable pages.
MIN_STEPS = 64
#: The number of keywords that `memory_bound` assumes before `start`.
KEYWORDS_BEFORE_START = 10


class Turn(Enum):
    """What an agent did in its turn."""

    REQUESTED = "requested a page"
    STEPPED = "moved to a visited page"
    WAITS = "cannot move now"
    DIED = "died"


PUBLISHED = {"max_pages": 1000, "buffer": 200, "description": True, "patience": None}


@dataclass(eq=False, kw_only=True)
class InfoSpiders(Strategy):
    """`theta` is the energy at which agents reproduce (Fig. 4: 2; they start with half of it), `max_pages` the page
    budget that determines the cost of a step, seeds * theta / (2 * max_pages) (1,000), `buffer` the maximum number of
    agents (200, or the number of seeds; none: unbounded), `seen_cost` the fraction of the cost for a step to a visited
    page (footnote 5: 0.1). `cost` is the `fixed` one, or `average`: a fraction `of_average` of the mean relevance of
    the pages visited so far, so that agents on poorer pages die (ours).

    The choice of a link: `temperature` of the Boltzmann distribution (footnote 3: 0.125), in units of the `output`, or
    of its `spread` over the links of a page (ours); `distance` counts `words` or `links` between a keyword and a link
    (our choice: words), up to `window` words (20) or `links_between` (5); `inputs` are sums of the `nearness` of
    keywords (our choice) or their `frequency` there. `lookahead`: an agent fetches the pages of this many links before
    it follows the one to the most similar page (section 8: future research).

    The net: initial weights uniform in +-`initial_weight` (our choice: 0.1), and a learned `bias` (our choice);
    `epochs`, `rate` and `momentum` of learning (footnote 4: 5, 0.5, 0.9); `learn_towards` the similarity of the page to
    the keywords of the `agent` (our choice) or to the `topic`, i.e. the relevance of the visit. `discount` makes it
    Q-learning, as in the original InfoSpiders (Menczer and Belew 2000): the discounted best output for a link of the
    new page is added. With `description` agents start with the words of the topic's description instead of its
    keywords, as in menczer2001. `dead_end`: for the full cost an agent steps `back` along its path, and from its start
    to a random seed (our choice), or directly to a random `seed`. `patience`: an agent dies after this many consecutive
    steps without a new page, whatever its energy (ours: in a finite web agents may wander over a few pages as long as
    their energy lasts, which is long if `max_pages` is large); none: unlimited.
    """

    sharding = Sharding("refused", "agents follow links from page to page, and would have to change shards")
    summary = "agents that gain energy from relevant pages, follow links by nearby words, learn, reproduce and die"
    empty_advice = (
        "set max_pages to the page budget or lower of_average, so that agents live longer, or add start pages"
    )
    presets: ClassVar[Presets] = {
        "menczer2001": PUBLISHED,
        "lookahead": {**PUBLISHED, "lookahead": 3},
        "q_learning": {**PUBLISHED, "discount": 0.5},
        "selective": {"temperature": 0.1, "temperature_unit": "spread", "inputs": "frequency", "cost": "average"},
    }

    theta: Annotated[float, Bounds(0, 1_000_000, above=True)] = 2.0
    max_pages: Annotated[int, Bounds(1)] = 1000
    buffer: Buffer = None
    temperature: Annotated[float, Bounds(1e-6)] = 0.125
    epochs: Annotated[int, Bounds(0, 1000)] = 5
    rate: Annotated[float, Bounds(0, 100)] = 0.5
    momentum: Annotated[float, Bounds(0, 1)] = 0.9
    initial_weight: Annotated[float, Bounds(0, 100)] = 0.1
    bias: bool = True
    distance: Distance = "words"
    window: Annotated[int, Bounds(1, 10_000)] = 20
    links_between: Annotated[int, Bounds(0, 10_000)] = 5
    learn_towards: Literal["agent", "topic"] = "agent"
    # Must be positive, or an agent that finds no new page would wander forever.
    seen_cost: Annotated[float, Bounds(0.001, 1)] = 0.1
    cost: Literal["fixed", "average"] = "fixed"
    of_average: Annotated[float, Bounds(0.001, 10)] = 0.5
    temperature_unit: TemperatureUnit = "output"
    inputs: Inputs = "nearness"
    lookahead: Annotated[int, Bounds(1, CHOICES_DRAWN)] = 1
    discount: Annotated[float, Bounds(0, 1)] = 0.0
    description: bool = False
    dead_end: Literal["back", "seed"] = "back"
    patience: Annotated[int | None, Bounds(1)] = 1000

    def __post_init__(self) -> None:
        self.reads_topic = "description" if self.description else "keywords"
        if self.description:
            self.relevance_model = BY_DESCRIPTION
        senses = Senses(self.distance, self.window, self.links_between, self.inputs)
        learning = BackPropagation(self.epochs, self.rate, self.momentum, self.bias)
        learns_towards_agent = self.learn_towards == "agent"
        self._mind = Mind(
            senses, learning, self.temperature, learns_towards_agent, self.temperature_unit, self.discount
        )
        self._counts = ChoiceCounts()
        self._seeds: list[int] = []
        self._n_keywords = KEYWORDS_BEFORE_START
        self._population = Population(self.theta, self.buffer)
        self._map = SpiderMap()

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        self._rng, self._seen, self._map, self._counts = rng, seen, SpiderMap(), ChoiceCounts()
        keywords = count_words(seen.topic_words(description=self.description)).term
        host_of = {seed.page: seed.host for seed in seeds}
        self._seeds, self._n_keywords = list(host_of), len(keywords)
        first = [self._first_agent(page, host, keywords) for page, host in host_of.items()]
        self._population = Population(self.theta, self.buffer, first)

    def _first_agent(self, seed: int, host: int, keywords: IntArray) -> Spider:
        net = Perceptron.random(len(keywords), self.initial_weight, self._rng)
        return Spider(seed, self.theta / 2, keywords, net, [Choice(seed, host, np.zeros(len(keywords)))])

    def diagnostics(self) -> dict[str, float]:
        population = self._population
        counts = {"births": population.n_born, "deaths": population.n_died, "agents": len(population)}
        return {**({"choice_entropy": self._counts.mean_entropy} if self._counts.n_choices else {}), **counts}

    @property
    def account(self) -> EnergyAccount:
        """The energy balance of the crawl."""
        return self._population.account

    @property
    def _cost(self) -> float:
        """The cost of a step (Fig. 4): without gains, the initial energy would last for `max_pages` pages."""
        fixed = len(self._seeds) * self.theta / (2 * self.max_pages)
        if self.cost == "fixed":
            return fixed
        # A positive cost also where nothing is relevant, or agents would live forever.
        return max(fixed, self.of_average * self._map.mean_relevance)

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        ready_hosts, idle = ReadyHosts.of(ready), self._population.idle
        requested: list[int] = []
        # At most `len(self)`, although agents may be born meanwhile.
        wanted = min(n, len(idle))
        # Agents whose turn is over are at the start of the list.
        n_done = n_steps = 0
        while len(requested) < wanted and n_done < len(idle):
            index = self._rng.randrange(n_done, len(idle))
            agent = idle[index]
            turn = self._turn(agent, ready_hosts)
            if turn is Turn.REQUESTED:
                requested.append(agent.choices[-1].page)
            elif turn is Turn.WAITS or (turn is Turn.STEPPED and (n_done or self._population.fetching)):
                idle[index], idle[n_done] = idle[n_done], idle[index]
                n_done += 1
            elif turn is Turn.STEPPED:
                n_steps += 1
                # Rare enough to cost little compared with the steps.
                if n_steps % max(MIN_STEPS, self._map.n_visited) == 0:
                    self._remove_lost_agents()
        return requested

    def _remove_lost_agents(self) -> None:
        seeds = set(self._visited_seeds())
        for agent in lost_agents(
            self._population.idle, self._map, self._seen, seeds, steps_back=self.dead_end == "back"
        ):
            self._population.remove(agent)

    def _turn(self, agent: Spider, ready_hosts: ReadyHosts | None) -> Turn:
        """Let an idle agent move to a visited page, or request a new one."""
        choice = self._choice(agent)
        if choice is None:
            return self._leave_dead_end(agent)
        mark = self._map[choice.page]
        if mark is Mark.VISITED:
            self._follow(agent)
            return self._settle_unproductive(agent, self.seen_cost * self._cost)
        if mark is Mark.DEAD:  # Its own seed: other dead pages are never chosen.
            self._population.remove(agent)
            return Turn.DIED
        if mark is Mark.IN_FLIGHT or (ready_hosts is not None and not ready_hosts(choice.host)):
            return Turn.WAITS
        if ready_hosts is not None:
            ready_hosts.use(choice.host)
        self._map[choice.page] = Mark.IN_FLIGHT
        self._population.send(agent, choice.page)
        return Turn.REQUESTED

    def _choice(self, agent: Spider) -> Choice | None:
        """The link that an agent follows next; None if there is none now. Until its seed is visited, the seed is its
        only choice."""
        if self._map[agent.page] is not Mark.VISITED:
            return agent.choices[-1]
        while agent.choices and not self._may_go(agent, agent.choices[-1].page):
            agent.choices.pop()
        if not agent.choices:
            if agent.ahead:
                agent.go_to_best()
            agent.choices = self._mind.choices(agent, self._seen, self._map, self._rng, self._counts)
        return agent.choices[-1] if agent.choices else None

    def _may_go(self, agent: Spider, page: int) -> bool:
        return page != agent.page and self._map[page] < Mark.IN_FLIGHT

    def _leave_dead_end(self, agent: Spider) -> Turn:
        if self._map.any_in_flight(self._seen.links(agent.page).pages):
            return Turn.WAITS
        if self.dead_end == "back" and agent.path:
            agent.step_back()
        else:
            agent.jump_to(self._rng.choice(self._visited_seeds()))
        return self._settle_unproductive(agent, self._cost)

    def _visited_seeds(self) -> list[int]:
        return [seed for seed in self._seeds if self._map[seed] is Mark.VISITED]

    def _follow(self, agent: Spider) -> None:
        """Let an agent follow its chosen link and learn from the page."""
        choice = agent.choices[-1]
        similarity = self._mind.learn(agent, choice, self._seen, self._map)
        agent.look_at(choice.page, similarity)
        if len(agent.ahead) >= self.lookahead or not agent.choices:
            agent.go_to_best()

    def _settle_unproductive(self, agent: Spider, cost: float) -> Turn:
        """Account for a step without a new page; the agent dies if it has run out of patience."""
        agent.n_unproductive_steps += 1
        turn = self._settle(agent, 0.0, cost)
        if turn is Turn.STEPPED and self.patience is not None and agent.n_unproductive_steps >= self.patience:
            self._population.remove(agent)
            return Turn.DIED
        return turn

    def _settle(self, agent: Spider, gain: float, cost: float) -> Turn:
        alive = self._population.settle(agent, gain, cost, self._seen)
        return Turn.STEPPED if alive else Turn.DIED

    def tell(self, visit: Visit) -> None:
        agent = self._population.call_back(visit.page)
        self._map.visit(visit.page, visit.relevance)
        agent.n_unproductive_steps = 0
        if agent.page != visit.page:  # Otherwise it is its seed, where it started.
            self._follow(agent)
            self._settle(agent, visit.relevance, self._cost)

    def drop(self, page: int) -> None:
        """Mark the link as dead; the agent chooses again in its next turn."""
        self._map[page] = Mark.DEAD
        self._population.call_back(page)

    def __len__(self) -> int:
        """The number of agents that can request a page; each requests one at a time."""
        return len(self._population.idle)

    def state(self) -> State:
        return {
            "rng": self._rng.getstate(),
            "seeds": list(self._seeds),
            "n_keywords": self._n_keywords,
            "population": self._population.state(),
            "map": self._map.state(),
            "choices": asdict(self._counts),
        }

    def restore(self, state: State, seen: SeenWeb) -> None:
        self._rng, self._seen = restored_rng(state), seen
        self._seeds, self._n_keywords = list(state["seeds"]), state["n_keywords"]
        self._population = Population(self.theta, self.buffer)
        self._population.restore(state["population"])
        self._map = SpiderMap()
        self._map.restore(state["map"])
        self._counts = ChoiceCounts(**state.get("choices", {}))

    def memory_bound(self) -> MemoryBound:
        max_agents = None if self.buffer is None else max(self.buffer, len(self._seeds))
        return MemoryBound(max_agents, BYTES_PER_AGENT + BYTES_PER_KEYWORD * self._n_keywords, BYTES_PER_PAGE)
