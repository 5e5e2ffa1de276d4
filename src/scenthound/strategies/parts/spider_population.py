"""The agents of an InfoSpiders crawl that are alive, and what keeps them so (menczer2001 Fig. 4).

Rules
- An agent is idle, or it is fetching: it waits for the one page that it asked for.
- At `theta` an agent reproduces if the population is below its limit; out of energy it dies. It is looked at after each
  of its steps, and at no other time.
- Energy comes from relevance alone and is spent on steps alone: `EnergyAccount` says where all of it is.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from scenthound.strategies.base import SeenWeb, State
from scenthound.strategies.parts.spider import Spider


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
